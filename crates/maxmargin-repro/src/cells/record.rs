//! A line of raw JSON: the settings of a process, its figures, the machine and the time.

use super::cell::Cell;
use super::machine::HostMachine;
use super::settings::Settings;
use crate::workspace::failure::{Context, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The relative rounding of sums of some hundred thousand terms.
const ROUNDING: f64 = 1e-9;

/// The program under test.
pub(crate) const OURS: &str = "maxmargin";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) table: u32,
    pub(crate) problem: String,
    pub(crate) vary: String,
    pub(crate) variant: String,
    /// `maxmargin` or a peer's name.
    pub(crate) program: String,
    pub(crate) settings: Settings,
    pub(crate) data: String,
    /// Hash of the file that was read; none for generated data.
    pub(crate) data_sha256: Option<String>,
    /// All records of one run have the same.
    pub(crate) run: u64,
    pub(crate) repeat: u32,
    /// Start to end of the process: reading the file, kernel, training, judging.
    pub(crate) wall_seconds: f64,
    pub(crate) measured: Option<Measured>,
    pub(crate) error: Option<String>,
    pub(crate) machine: HostMachine,
}

/// The figures that a measured program reports. Absent ones are not reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Measured {
    pub(crate) iterations: Option<u64>,
    /// Iterations of a model of all data, where the folds start from one.
    pub(crate) full_iterations: Option<u64>,
    /// Kernel rows computed.
    pub(crate) rows_computed: Option<u64>,
    /// Percent.
    pub(crate) accuracy: Option<f64>,
    /// Sum of the dual objectives.
    pub(crate) objective: Option<f64>,
    /// Largest KKT violation over the certificates.
    pub(crate) kkt: Option<f64>,
    /// Largest relative duality gap over the certificates.
    pub(crate) relative_gap: Option<f64>,
    pub(crate) peak_rss_bytes: Option<u64>,
    /// Updates that were measured; iterations and breakpoints are sums over them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updates: Option<u64>,
    /// Median of one update's seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) update_seconds: Option<f64>,
    /// Changes of the sets along the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) breakpoints: Option<u64>,
    /// One training alone, where that is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) train_seconds: Option<f64>,
    /// The same training with its start and the reading of its file, without its certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) process_seconds: Option<f64>,
    /// All further figures.
    #[serde(flatten)]
    pub(crate) more: Settings,
}

impl Measured {
    /// Returns a figure that only some jobs report.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.more.get(name).and_then(Value::as_f64)
    }

    pub(crate) fn status(&self) -> Option<&str> {
        self.more.get("status").and_then(Value::as_str)
    }

    /// Returns whether a time limit ended the run.
    pub(crate) fn cut_off(&self) -> bool {
        self.status() == Some("TimeLimit")
    }

    /// Returns the number of runs behind these figures that a time limit ended.
    pub(crate) fn cut_runs(&self) -> f64 {
        self.number("cut_runs").unwrap_or(f64::from(u8::from(self.cut_off())))
    }

    /// Returns the reason why a training that stops by its own rule is no result, if it is none. A
    /// training that a limit ended is a result.
    fn linear_flaw(&self, certified: bool, tolerance: f64) -> Option<String> {
        // An objective below a certified lower bound of all objectives, beyond the rounding of
        // both.
        if let Some(excess) = self.number("excess").filter(|excess| *excess < -ROUNDING) {
            return Some(format!("its objective is below the bound: {excess:.1e}"));
        }
        match self.status() {
            Some("Converged") if self.number("excess").is_none() => Some("no objective".into()),
            Some("Converged") if certified => self.misses(tolerance),
            Some("Converged" | "TimeLimit" | "IterationLimit") => None,
            Some(status) => Some(format!("ended as {status}")),
            None => Some("no status".into()),
        }
    }

    /// Returns the same for a training on the simplex. A run that a sample ended promises no gap,
    /// and its certified gap is part of the result. A run that promises a relative gap has to have
    /// it.
    fn simplex_flaw(&self, promised: Option<f64>) -> Option<String> {
        let gap = self.relative_gap.unwrap_or(f64::NAN);
        match self.status() {
            _ if gap.is_nan() => Some("no certificate".into()),
            Some("Converged") if promised.is_some_and(|most| gap > most) => {
                Some(format!("relative gap {gap:.2e} exceeds the tolerance"))
            }
            Some("Converged" | "TimeLimit") => None,
            Some(status) => Some(format!("ended as {status}")),
            None => Some("no status".into()),
        }
    }

    /// Returns how the certificate misses the tolerance, if it does.
    fn misses(&self, tolerance: f64) -> Option<String> {
        match self.kkt {
            // NaN is a flaw as well.
            Some(kkt) if kkt <= tolerance => None,
            Some(kkt) => Some(format!("KKT violation {kkt:.2e} exceeds the tolerance {tolerance:.0e}")),
            None => Some("no certificate".into()),
        }
    }
}

impl Record {
    pub(crate) fn is_of(&self, cell: &Cell) -> bool {
        (self.table, &self.problem, &self.vary, &self.variant) == (cell.table, &cell.problem, &cell.vary, &cell.variant)
    }

    /// Returns the tolerance of the cell.
    pub(crate) fn tolerance(&self) -> f64 {
        self.settings.get("tol").and_then(Value::as_f64).unwrap_or(1e-3)
    }

    /// Returns whether another program trained. LIBSVM's kernel values in `f32` and `SVMlight`'s
    /// own measure can miss a tolerance that these programs report as met.
    pub(crate) fn is_of_other_program(&self) -> bool {
        let word = |key: &str| self.settings.get(key).and_then(Value::as_str);
        word("method") == Some("svm-train") || word("solver") == Some("svmlight")
    }

    /// Returns the reason why this is no result, if it is none: an error, or a certificate that
    /// misses the tolerance.
    pub(crate) fn flaw(&self) -> Option<String> {
        match (&self.measured, &self.error) {
            (_, Some(error)) => Some(error.clone()),
            (None, None) => Some("no result".into()),
            // Another program's own report decides. Its certificate is shown beside it.
            (Some(measured), None) if self.is_of_other_program() => match measured.status() {
                Some("Converged") | None => measured.kkt.is_none().then(|| "no certificate".into()),
                Some(status) => Some(format!("gave up: {status}")),
            },
            (Some(measured), None) if self.settings.contains_key("bound_gap") => {
                let solver = self.settings.get("solver").and_then(Value::as_str);
                measured.linear_flaw(matches!(solver, Some("linear" | "linear-newton")), self.tolerance())
            }
            (Some(measured), None) if self.settings.contains_key("bound") => {
                let bound = self.settings.get("bound").and_then(Value::as_str);
                measured.simplex_flaw((bound == Some("relative-gap")).then(|| self.tolerance()))
            }
            (Some(measured), None) => measured.misses(self.tolerance()),
        }
    }

    /// Returns a line of made-up figures, of run 1 on an unnamed machine.
    #[cfg(test)]
    pub(crate) fn made(cell: &Cell, revision: &str, measured: &Value) -> Self {
        let machine = serde_json::json!({"cpu": "", "cores": 1, "memory_gib": 1, "os": "", "rustc": "", "revision": revision});
        let record = serde_json::json!({
            "table": cell.table, "problem": cell.problem, "vary": cell.vary, "variant": cell.variant, "program": OURS,
            "settings": cell.settings, "data": "heart", "run": 1, "repeat": 0, "wall_seconds": 1.0, "measured": measured,
            "machine": machine,
        });
        serde_json::from_value(record).expect("record")
    }

    pub(crate) fn read(path: &Path) -> Outcome<Vec<Self>> {
        let text = fs::read_to_string(path).context(path.display())?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(n, line)| serde_json::from_str(line).context(format_args!("{}:{}", path.display(), n + 1))).collect()
    }

    pub(crate) fn append(&self, path: &Path) -> Outcome<()> {
        let mut line = serde_json::to_string(self).context("record")?;
        line.push('\n');
        let mut file = OpenOptions::new().create(true).append(true).open(path).context(path.display())?;
        file.write_all(line.as_bytes()).context(path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::Record;
    use serde_json::json;

    fn record(settings: &serde_json::Value, kkt: f64) -> Record {
        let machine = json!({"cpu": "", "cores": 1, "memory_gib": 1, "os": "", "rustc": "", "revision": ""});
        let record = json!({
            "table": 4, "problem": "", "vary": "", "variant": "", "program": "maxmargin", "settings": settings, "data": "",
            "run": 1, "repeat": 0, "wall_seconds": 1.0, "measured": {"kkt": kkt, "update_seconds": 0.5, "zero_steps": 3},
            "machine": machine,
        });
        serde_json::from_value(record).expect("record")
    }

    #[test]
    fn certificates_judge_ours_and_inform_about_theirs() {
        assert_eq!(record(&json!({"tol": 1e-3}), 1e-4).flaw(), None);
        assert!(record(&json!({"tol": 1e-6}), 1e-4).flaw().expect("flaw").contains("exceeds"));
        let mut theirs = record(&json!({"tol": 1e-6, "method": "svm-train"}), 1e-4);
        assert_eq!(theirs.flaw(), None);
        let measured = theirs.measured.as_mut().expect("measured");
        measured.more.insert("status".into(), json!("IterationLimit"));
        assert_eq!(theirs.flaw().expect("flaw"), "gave up: IterationLimit");
    }

    #[test]
    fn linear_trainings_end_by_their_own_rule() {
        let judged = |solver: &str, status: &str, excess: f64| {
            let mut record = record(&json!({"tol": 1e-3, "bound_gap": 1e-9, "solver": solver}), 0.5);
            let more = &mut record.measured.as_mut().expect("measured").more;
            more.insert("status".into(), json!(status));
            more.insert("excess".into(), json!(excess));
            record.flaw()
        };
        assert_eq!(judged("avsf", "Converged", 1e-4), None);
        assert_eq!(judged("avsf", "TimeLimit", 1e-1), None);
        assert_eq!(judged("liblinear", "IterationLimit", 1e-2), None);
        assert!(judged("linear", "Converged", 1e-4).expect("flaw").contains("exceeds"));
        assert!(judged("linear", "Stalled", 1e-4).expect("flaw").contains("Stalled"));
        assert!(judged("avsf", "Converged", -1e-4).expect("flaw").contains("below the bound"));
    }

    #[test]
    fn figures_of_updates_survive_the_file() {
        let line = serde_json::to_string(&record(&json!({}), 0.0)).expect("line");
        let again: Record = serde_json::from_str(&line).expect("record");
        let measured = again.measured.expect("measured");
        assert_eq!((measured.update_seconds, measured.breakpoints), (Some(0.5), None));
        assert_eq!(measured.more.get("zero_steps"), Some(&json!(3)));
        assert!(!line.contains("breakpoints"));
    }
}
