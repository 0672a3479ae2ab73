//! The learning program of `SVMlight`, as a process on the file of the data. Its certificate is
//! computed from the α that it writes.

use crate::cell::job::{Data, Setting, Train};
use crate::failure::Failure;
use crate::measured::{Measured, WorkingSets};
use crate::system::process;
use maxmargin::core::{Dual, Solution, Status, Work, certify};
use maxmargin::data::{ClassLabels, Dataset, Par, RunControl};
use maxmargin::kernel::KernelGram;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const PROGRAM: &str = "svm_learn";

/// Megabytes of its kernel cache, large enough for every matrix of the benchmarks.
const CACHE: &str = "5000";

/// Trains by the program on the file of `data`.
pub(crate) fn program(cell: &Train, source: &Data, data: &Dataset, classes: &ClassLabels, par: Par) -> Result<Measured, Failure> {
    let wrong = |why: String| Failure::outside(PROGRAM, why);
    let (Data::File { file }, Some(labels)) = (source, classes.binary()) else {
        return Err(wrong("it is measured on files of two classes".into()));
    };
    if (labels.negative, labels.positive) != (-1.0, 1.0) {
        let found = format!("{} and {}", labels.negative, labels.positive);
        return Err(wrong(format!("it takes the labels -1 and 1, the data have {found}")));
    }
    let begun = Instant::now();
    let folder = tempfile::tempdir().map_err(Failure::Temporary)?;
    let (model, alphas) = (folder.path().join("model"), folder.path().join("alphas"));
    let setting = &cell.setting;
    let mut command = Command::new(cell.program.as_deref().unwrap_or(Path::new(PROGRAM)));
    command.args(arguments(setting)).arg("-a").args([&alphas, file, &model]);
    let ended = process::run(PROGRAM, &mut command, setting.time_limit())?;
    let total_seconds = begun.elapsed().as_secs_f64();
    let Some(said) = ended.output else {
        let none = Measured { objective: f64::NAN, kkt: f64::NAN, relative_gap: f64::NAN, ..Measured::default() };
        return Ok(Measured { status: "TimeLimit".into(), total_seconds, solve_seconds: ended.seconds, ..none });
    };

    let said = ProgramOutput::read(&said).map_err(wrong)?;
    let text = |path: &Path| fs::read_to_string(path).map_err(Failure::Temporary);
    let alpha = alpha(&text(&alphas)?, &labels.signs).map_err(wrong)?;
    let solution = Solution {
        bias: -threshold(&text(&model)?).map_err(wrong)?,
        gradient: Vec::new(),
        status: Status::Converged,
        work: Work::default(),
        alpha,
        weights: None,
    };
    let n = labels.signs.len();
    let dual = Dual::c_svc((0..n).collect(), labels.signs, vec![setting.c; n])?;
    let gram = KernelGram::new(&data.samples, setting.kernel()?, &RunControl::unlimited())?;
    let certificate = certify(&dual, &gram, &solution, par);
    let support = || solution.alpha.iter().filter(|alpha| **alpha > 0.0);
    let chunks = WorkingSets {
        chunks: Some(said.rounds),
        exact_chunks: None,
        idle_chunks: None,
        optimiser_seconds: None,
        given_up: None,
        kernel_values: said.kernel_values,
        free_vectors: support().filter(|alpha| **alpha < setting.c).count(),
    };
    Ok(Measured {
        objective: certificate.dual,
        kkt: certificate.kkt,
        relative_gap: certificate.relative_gap(),
        support_vectors: support().count(),
        status: "Converged".into(),
        solve_seconds: said.seconds,
        total_seconds,
        chunks: Some(chunks),
        ..Measured::default()
    })
}

fn arguments(setting: &Setting) -> Vec<String> {
    let gamma = setting.gamma.to_string();
    let pairs = [
        ("-t", setting.kernel.libsvm_number.unwrap_or_default().to_string()),
        ("-c", setting.c.to_string()),
        // `-g` is the γ of Gaussians; `-s` is the factor of products in other kernels.
        ("-g", gamma.clone()),
        ("-s", gamma),
        ("-r", setting.coef0.to_string()),
        ("-d", setting.degree.to_string()),
        ("-e", setting.tol.to_string()),
        ("-m", CACHE.into()),
    ];
    pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect()
}

/// The figures that the program prints.
#[derive(Debug, PartialEq)]
struct ProgramOutput {
    /// Working sets.
    rounds: u64,
    /// Seconds of training by the processor's clock, without reading and writing.
    seconds: f64,
    kernel_values: u64,
}

impl ProgramOutput {
    fn read(text: &str) -> Result<Self, String> {
        let after = |key: &str| text.split_once(key).and_then(|(_, rest)| rest.split_whitespace().next());
        let number = |word: Option<&str>, what| word.and_then(|word| word.parse().ok()).ok_or(format!("did not say its {what}"));
        // `done. (33171 iterations)`
        let rounds = text.rsplit_once(" iterations)").and_then(|(before, _)| before.rsplit_once('('));
        Ok(Self {
            rounds: number(rounds.map(|(_, count)| count), "number of iterations")? as u64,
            seconds: number(after("Runtime in cpu-seconds:"), "seconds")?,
            kernel_values: number(after("Number of kernel evaluations:"), "number of kernel values")? as u64,
        })
    }
}

/// Returns the α of every row, from a file of y α.
fn alpha(text: &str, signs: &[f64]) -> Result<Vec<f64>, String> {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() != signs.len() {
        return Err(format!("wrote {} alphas for {} rows", lines.len(), signs.len()));
    }
    let one = |(n, (line, sign)): (usize, (&&str, &f64))| {
        let value = line.trim().parse::<f64>().ok().map(|value| value * sign).filter(|value| *value >= 0.0);
        value.ok_or_else(|| format!("its alphas, line {}: `{line}` is no alpha of a row with the label {sign}", n + 1))
    };
    lines.iter().zip(signs).enumerate().map(one).collect()
}

/// Returns b of its decision function `Σ y α K − b`, from a model.
fn threshold(text: &str) -> Result<f64, String> {
    let line = text.lines().find(|line| line.contains("# threshold b")).ok_or("its model has no threshold")?;
    let value = line.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).filter(|value| value.is_finite());
    value.ok_or_else(|| format!("its model: `{line}` has no threshold"))
}

#[cfg(test)]
mod tests {
    use super::{ProgramOutput, alpha, threshold};
    use crate::cell::job::Job;
    use crate::measured::Measured;
    use maxmargin::data::Par;
    use serde_json::json;
    use std::path::Path;

    /// A program that writes these α and this threshold, on two rows at −1 and 1.
    fn judged(folder: &Path, rows: &str, alphas: &str, threshold: &str) -> Result<Measured, String> {
        let (program, data) = (folder.join("learn"), folder.join("data"));
        let script = format!(
            "while [ \"$1\" != -a ]; do shift; done\nprintf '%b' '{alphas}' > \"$2\"\necho '{threshold} # threshold b' > \"$4\"\n\
             echo 'done. (3 iterations)'; echo 'Runtime in cpu-seconds: 0.5'; echo 'Number of kernel evaluations: 4'\n"
        );
        std::fs::write(&program, format!("#!/bin/sh\n{script}")).expect("written");
        std::fs::write(&data, rows).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("mode");
        }
        let cell = json!({
            "job": "train", "solver": "svmlight", "program": program, "data": { "file": data }, "kernel": "linear", "c": 10, "tol": 1e-3,
        });
        let Ok(Job::Train(cell)) = serde_json::from_value(cell) else { return Err("no training".into()) };
        crate::train::measure::measure(&cell, Par::Seq).map_err(|failure| failure.to_string())
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_judged_by_its_alphas() {
        let folder = tempfile::tempdir().expect("folder");
        let rows = "-1 1:-1\n1 1:1\n";
        // w = 1 and no bias: both rows on the margin.
        let right = judged(folder.path(), rows, "-0.5\\n0.5\\n", "0").expect("judged");
        assert!(right.kkt < 1e-12 && right.relative_gap.abs() < 1e-12 && (right.objective - 0.5).abs() < 1e-12, "{right:?}");
        assert_eq!((right.support_vectors, right.solve_seconds), (2, 0.5));
        // Half of that does not separate, whatever the program says of it.
        let wrong = judged(folder.path(), rows, "-0.25\\n0.25\\n", "0").expect("judged");
        assert!(wrong.kkt > 0.4 && wrong.relative_gap > 0.5, "{wrong:?}");
        // A threshold is subtracted: at 0.5 the row at 1 is within the margin by as much.
        let moved = judged(folder.path(), rows, "-0.5\\n0.5\\n", "0.5").expect("judged");
        assert!((moved.relative_gap - 0.9).abs() < 0.1, "{moved:?}");
        let refused = judged(folder.path(), "3 1:-1\n7 1:1\n", "-0.5\\n0.5\\n", "0").expect_err("labels");
        assert!(refused.contains("svm_learn: it takes the labels -1 and 1, the data have 3 and 7"), "{refused}");
    }

    #[test]
    fn what_the_program_says() {
        let text = "Optimizing.....\n Checking optimality of inactive variables...done.\ndone. (7 iterations)\n\
                    Optimization finished (1 misclassified, maxdiff=0.00098).\nRuntime in cpu-seconds: 0.25\n\
                    Number of SV: 3 (including 1 at upper bound)\nNumber of kernel evaluations: 40\n";
        assert_eq!(ProgramOutput::read(text), Ok(ProgramOutput { rounds: 7, seconds: 0.25, kernel_values: 40 }));
        let without = |line: &str| ProgramOutput::read(&text.replace(line, "")).unwrap_err();
        assert!(without("done. (7 iterations)").contains("iterations"));
        assert!(without("Runtime in cpu-seconds: 0.25").contains("seconds"));
        assert!(without("Number of kernel evaluations: 40").contains("kernel values"));
    }

    #[test]
    fn alphas_belong_to_the_rows() {
        assert_eq!(alpha("-2.5\n-0\n3\n", &[-1.0, 1.0, 1.0]), Ok(vec![2.5, 0.0, 3.0]));
        let refused = |text: &str| alpha(text, &[-1.0, 1.0]).unwrap_err();
        assert!(refused("-1\n").contains("1 alphas for 2 rows"));
        assert!(refused("-1\n-2\n").contains("line 2: `-2`"));
        assert!(refused("-1\nnan\n").contains("line 2"));
    }

    #[test]
    fn thresholds_of_models() {
        assert_eq!(threshold("SVM-light Version V6.02\n-4.5 # threshold b, each following line is a SV\n1 1:1 #\n"), Ok(-4.5));
        assert!(threshold("SVM-light\n").is_err() && threshold("x # threshold b\n").is_err());
    }
}
