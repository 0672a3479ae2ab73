//! LIBLINEAR's train program as it is installed, or another build of it: a process on the same file.

use super::{Found, Problem};
use crate::cell::Train;
use crate::failure::Failure;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = "liblinear-train";

/// L1 loss, by coordinate descent on the dual.
const KIND: &str = "3";

/// How often to look whether a process with a time limit has ended.
const LOOK: Duration = Duration::from_millis(1);

pub(crate) fn train(problem: &Problem, data: &Path) -> Result<Found, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::Temporary)?;
    let (model, output) = (folder.path().join("model"), folder.path().join("output"));
    let begun = Instant::now();
    let limit = problem.cell.setting.time_limit_seconds.map(Duration::from_secs_f64);
    let ended = start(problem.cell, data, &model, &output)
        .and_then(|child| wait(child, limit))
        .map_err(|error| Failure::Liblinear(format!("cannot be run ({error}); install LIBLINEAR or name its program")))?;
    let process_seconds = begun.elapsed().as_secs_f64();

    let said = String::from_utf8_lossy(&fs::read(&output).map_err(Failure::Temporary)?).into_owned();
    let stopped =
        Found { w: None, train_seconds: None, process_seconds, sweeps: None, status: "TimeLimit".into(), support_vectors: 0 };
    let Some(status) = ended else { return Ok(stopped) };
    if !status.success() {
        return Err(Failure::Liblinear(format!("ended with {status}: {}", said.trim())));
    }
    let said = Said::read(&said).map_err(Failure::Liblinear)?;
    let text = fs::read_to_string(&model).map_err(Failure::Temporary)?;
    let Weights { positive, mut w } = Weights::read(&text).map_err(Failure::Liblinear)?;
    if positive == problem.labels.negative {
        // It calls the class of the first row positive.
        w.iter_mut().for_each(|v| *v = -*v);
    } else if positive != problem.labels.positive {
        return Err(Failure::Liblinear(format!("its model has a class {positive}, the data have not")));
    }
    Ok(Found {
        w: Some(w),
        train_seconds: said.train_seconds,
        sweeps: Some(said.sweeps),
        status: if said.gave_up { "IterationLimit".into() } else { "Converged".into() },
        support_vectors: said.support_vectors.unwrap_or(0),
        ..stopped
    })
}

/// Its output goes to a file: a pipe that nobody empties would stop it.
fn start(cell: &Train, data: &Path, model: &Path, output: &Path) -> std::io::Result<Child> {
    let file = File::create(output)?;
    let errors = file.try_clone()?;
    let program = cell.linear.program.as_deref().unwrap_or(Path::new(PROGRAM));
    let mut command = Command::new(program);
    command.args(["-s", KIND, "-c", &cell.setting.c.to_string(), "-e", &cell.setting.tol.to_string()]).arg(data).arg(model);
    command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn()
}

/// How the process ended; nothing when it took longer than `limit` and was stopped.
fn wait(mut child: Child, limit: Option<Duration>) -> std::io::Result<Option<ExitStatus>> {
    let Some(limit) = limit else { return child.wait().map(Some) };
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(LOOK);
    }
}

/// What the program prints.
#[derive(Debug, PartialEq)]
struct Said {
    sweeps: u64,
    /// Whether it stopped at its limit of sweeps.
    gave_up: bool,
    support_vectors: Option<usize>,
    train_seconds: Option<f64>,
}

impl Said {
    fn read(text: &str) -> Result<Self, String> {
        let after = |key: &str| text.split_once(key).and_then(|(_, rest)| rest.split_whitespace().next());
        let sweeps = after("#iter = ").and_then(|word| word.parse().ok());
        Ok(Self {
            sweeps: sweeps.ok_or("did not say its number of iterations")?,
            gave_up: text.contains("reaching max number of iterations"),
            support_vectors: after("nSV = ").and_then(|word| word.parse().ok()),
            train_seconds: after("train seconds ").and_then(|word| word.parse().ok()),
        })
    }
}

/// A model of two classes.
#[derive(Debug, PartialEq)]
struct Weights {
    /// The label of positive decision values.
    positive: f64,
    w: Vec<f64>,
}

impl Weights {
    fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let (mut positive, mut features) = (None, None);
        loop {
            let Some((n, line)) = lines.next() else { return Err("its model has no line `w`".into()) };
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let wrong = |what: &str| format!("its model, line {}: `{line}` {what}", n + 1);
            match key.trim() {
                "w" => break,
                "nr_class" if value.trim() != "2" => return Err(wrong("is not a model of two classes")),
                "label" => {
                    let first = value.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
                    positive = Some(first.ok_or_else(|| wrong("has no label"))?);
                }
                "nr_feature" => {
                    features = Some(value.trim().parse::<usize>().map_err(|_| wrong("has no number of features"))?);
                }
                "bias" if !value.trim().parse::<f64>().is_ok_and(|bias| bias < 0.0) => return Err(wrong("has a bias")),
                _ => {}
            }
        }
        let positive = positive.ok_or("its model has no line `label`")?;
        let features = features.ok_or("its model has no line `nr_feature`")?;
        let weight = |(n, line): (usize, &str)| {
            let value = line.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| format!("its model, line {}: `{line}` is no weight", n + 1))
        };
        let w: Vec<f64> = lines.filter(|(_, line)| !line.trim().is_empty()).map(weight).collect::<Result<_, _>>()?;
        if w.len() != features {
            return Err(format!("its model has {} weights for {features} features", w.len()));
        }
        Ok(Self { positive, w })
    }
}

#[cfg(test)]
mod tests {
    use super::{Said, Weights, wait};
    use std::process::Command;
    use std::time::Duration;

    const MODEL: &str = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 3 7\nnr_feature 3\nbias -1\nw\n1 \n\
                         -0.99968000000000001 \n0 \n";

    #[test]
    fn what_the_program_says() {
        let text = "*\noptimization finished, #iter = 7\nObjective value = -1.725000\nnSV = 4\n";
        let said = Said { sweeps: 7, gave_up: false, support_vectors: Some(4), train_seconds: None };
        assert_eq!(Said::read(text), Ok(said));
        let capped = "....\noptimization finished, #iter = 1000\n\nWARNING: reaching max number of iterations\nUsing -s 2 may be \
                      faster (also see FAQ)\n\nObjective value = -5.5\nnSV = 12\n\ntrain seconds 0.25\n";
        let said = Said { sweeps: 1000, gave_up: true, support_vectors: Some(12), train_seconds: Some(0.25) };
        assert_eq!(Said::read(capped), Ok(said));
        assert!(Said::read("can't open input file").unwrap_err().contains("iterations"));
    }

    #[test]
    fn what_its_model_says() {
        assert_eq!(Weights::read(MODEL), Ok(Weights { positive: 3.0, w: vec![1.0, -0.999_68, 0.0] }));
        let broken = |from: &str, to: &str| Weights::read(&MODEL.replace(from, to)).unwrap_err();
        assert!(broken("nr_class 2", "nr_class 3").contains("line 2: `nr_class 3`"));
        assert!(broken("bias -1", "bias 1").contains("line 5"));
        assert!(broken("-0.99968000000000001", "x").contains("line 8"));
        assert!(broken("-0.99968000000000001", "nan").contains("line 8"));
        assert!(broken("\n0 \n", "\n").contains("2 weights for 3 features"));
        assert!(broken("label 3 7\n", "").contains("`label`"));
        assert!(broken("w\n1 \n-0.99968000000000001 \n0 \n", "").contains("no line `w`"));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_takes_too_long_is_stopped() {
        let child = |seconds: &str| Command::new("sleep").arg(seconds).spawn().expect("starts");
        assert_eq!(wait(child("100"), Some(Duration::from_millis(20))).expect("waited"), None);
        assert!(wait(child("0"), Some(Duration::from_mins(1))).expect("waited").expect("ended").success());
    }
}
