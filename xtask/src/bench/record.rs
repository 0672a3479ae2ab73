//! One line of raw JSON: what was asked, what came out, where and when.

use super::cell::Cell;
use super::machine::Machine;
use super::spec::Settings;
use crate::failure::{Context, Outcome};
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

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
    pub(crate) machine: Machine,
}

/// What the measured program said. Absent means that it does not say.
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
    /// Whatever else it said.
    #[serde(flatten)]
    pub(crate) more: Settings,
}

impl Record {
    pub(crate) fn is_of(&self, cell: &Cell) -> bool {
        (self.table, &self.problem, &self.vary, &self.variant) == (cell.table, &cell.problem, &cell.vary, &cell.variant)
    }

    /// The tolerance that the cell asked for.
    pub(crate) fn tolerance(&self) -> f64 {
        self.settings.get("tol").and_then(serde_json::Value::as_f64).unwrap_or(1e-3)
    }

    /// Why this is no result, if it is none: it failed, or its certificate misses the tolerance.
    pub(crate) fn flaw(&self) -> Option<String> {
        match (&self.measured, &self.error) {
            (_, Some(error)) => Some(error.clone()),
            (None, None) => Some("no result".into()),
            (Some(measured), None) => match measured.kkt {
                // NaN is a flaw as well.
                Some(kkt) if kkt <= self.tolerance() => None,
                Some(kkt) => Some(format!("KKT violation {kkt:.2e} exceeds the tolerance {:.0e}", self.tolerance())),
                None => Some("no certificate".into()),
            },
        }
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
