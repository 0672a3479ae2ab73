//! LIBLINEAR's train program as it is installed, or another build of it: a process on the same
//! file.

use super::{LiblinearResult, Problem};
use crate::failure::Failure;
use crate::system::process;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(super) const PROGRAM: &str = "liblinear-train";

/// L1 loss, by coordinate descent on the dual.
const KIND: &str = "3";

pub(crate) fn train(problem: &Problem, data: &Path) -> Result<LiblinearResult, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::Temporary)?;
    let model = folder.path().join("model");
    let setting = &problem.cell.setting;
    let mut command = Command::new(problem.cell.program.as_deref().unwrap_or(Path::new(PROGRAM)));
    command.args(["-s", KIND, "-c", &setting.c.to_string(), "-e", &setting.tol.to_string()]).arg(data).arg(&model);
    let ended = process::run(PROGRAM, &mut command, setting.time_limit())?;

    let stopped = LiblinearResult {
        w: None,
        train_seconds: None,
        process_seconds: ended.seconds,
        sweeps: None,
        status: "TimeLimit".into(),
        support_vectors: 0,
    };
    let Some(said) = ended.output else { return Ok(stopped) };
    let wrong = |why| Failure::outside(PROGRAM, why);
    let said = ProgramOutput::read(&said).map_err(wrong)?;
    let text = fs::read_to_string(&model).map_err(Failure::Temporary)?;
    let Weights { positive, mut w } = Weights::read(&text).map_err(wrong)?;
    if positive == problem.labels.negative {
        // It calls the class of the first row positive.
        w.iter_mut().for_each(|v| *v = -*v);
    } else if positive != problem.labels.positive {
        return Err(wrong(format!("its model has a class {positive}, the data have not")));
    }
    Ok(LiblinearResult {
        w: Some(w),
        train_seconds: said.train_seconds,
        sweeps: Some(said.sweeps),
        status: if said.gave_up { "IterationLimit".into() } else { "Converged".into() },
        support_vectors: said.support_vectors.unwrap_or(0),
        ..stopped
    })
}

/// What the program prints.
#[derive(Debug, PartialEq)]
struct ProgramOutput {
    sweeps: u64,
    /// Whether it stopped at its limit of sweeps.
    gave_up: bool,
    support_vectors: Option<usize>,
    train_seconds: Option<f64>,
}

impl ProgramOutput {
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
    use super::{ProgramOutput, Weights};

    const MODEL: &str = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 3 7\nnr_feature 3\nbias -1\nw\n1 \n\
                         -0.99968000000000001 \n0 \n";

    #[test]
    fn what_the_program_says() {
        let text = "*\noptimization finished, #iter = 7\nObjective value = -1.725000\nnSV = 4\n";
        let said = ProgramOutput { sweeps: 7, gave_up: false, support_vectors: Some(4), train_seconds: None };
        assert_eq!(ProgramOutput::read(text), Ok(said));
        let capped = "....\noptimization finished, #iter = 1000\n\nWARNING: reaching max number of iterations\nUsing -s 2 may be \
                      faster (also see FAQ)\n\nObjective value = -5.5\nnSV = 12\n\ntrain seconds 0.25\n";
        let said = ProgramOutput { sweeps: 1000, gave_up: true, support_vectors: Some(12), train_seconds: Some(0.25) };
        assert_eq!(ProgramOutput::read(capped), Ok(said));
        assert!(ProgramOutput::read("can't open input file").unwrap_err().contains("iterations"));
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
}
