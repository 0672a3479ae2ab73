//! A finished cell of a search, and its bytes in the log from which an interrupted search
//! continues.

use super::cross_validation::CvReport;
use super::fold::FoldReport;
use super::machine::MachineReport;
use super::name::interned;
use maxmargin_data::codec::{self, CodecError};
use maxmargin_data::sealed::{Seal, SealError};
use maxmargin_metrics::FoldStatistics;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A cross-validation at one value of C, and the solution from which the next value starts.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The report.
    pub report: CvReport,
    /// α of every variable of each machine of all data; empty if the seeding trains no such
    /// machine.
    pub alpha: Vec<Vec<f64>>,
    /// Number of values of C, this one last, that are run again before the next value if the run
    /// was interrupted after this one. Machines of their folds may be those of the next value, and
    /// are not stored.
    pub values_to_repeat: usize,
}

/// The fields of a report that are not written to documents.
#[derive(Serialize, Deserialize)]
struct Hidden<'a> {
    folds: Vec<HiddenFold>,
    full: Vec<MachineReport>,
    scores: Vec<(String, f64)>,
    spread: Vec<(String, FoldStatistics)>,
    counts: Vec<(String, u64)>,
    decisions: Cow<'a, [f64]>,
    predicted: Vec<f64>,
    /// Length of α of each machine, and its non-zero entries.
    alpha: Vec<(u64, Vec<(u32, f64)>)>,
    values_to_repeat: u64,
}

#[derive(Serialize, Deserialize)]
struct HiddenFold {
    solved: bool,
    scores: Vec<(String, f64)>,
    machines: Vec<MachineReport>,
}

fn owned<V: Copy>(named: &[(&'static str, V)]) -> Vec<(String, V)> {
    named.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn with_static_names<V>(named: Vec<(String, V)>) -> Vec<(&'static str, V)> {
    named.into_iter().map(|(name, value)| (interned(&name), value)).collect()
}

impl Finished {
    /// The first bytes of a stored cell.
    pub const SEAL: Seal = Seal { magic: *b"mmcell\r\n", version: 2 };

    /// The bytes to store under `key`, a hash of everything that the cell depends on.
    ///
    /// # Errors
    ///
    /// The encoder's. Cells of this version encode without error.
    pub fn encode(&self, key: &[u8; 32]) -> Result<Vec<u8>, CodecError> {
        let Self { report, alpha, values_to_repeat } = self;
        let fold =
            |fold: &FoldReport| HiddenFold { solved: fold.solved, scores: owned(&fold.scores), machines: fold.machines.clone() };
        let sparse = |alpha: &Vec<f64>| {
            let entries = alpha.iter().enumerate().filter(|(_, value)| **value != 0.0);
            (alpha.len() as u64, entries.map(|(k, value)| (k as u32, *value)).collect())
        };
        let hidden = Hidden {
            folds: report.folds.iter().map(fold).collect(),
            full: report.full.as_ref().map_or_else(Vec::new, |full| full.machines.clone()),
            scores: owned(&report.scores),
            spread: owned(&report.spread),
            counts: owned(&report.counts),
            decisions: Cow::Borrowed(&report.decisions),
            predicted: report.predicted.clone(),
            alpha: alpha.iter().map(sparse).collect(),
            values_to_repeat: *values_to_repeat as u64,
        };
        Ok(Self::SEAL.put(&codec::encode(&(report, hidden))?, key))
    }

    /// The cell that [`Finished::encode`] stored under `key`.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a cell, were stored under another key, or are damaged.
    pub fn decode(bytes: &[u8], key: &[u8; 32]) -> Result<Self, SealError> {
        let payload = Self::SEAL.open(bytes, key)?;
        let (mut report, hidden): (CvReport, Hidden<'_>) = codec::decode(payload, payload.len())?;
        let fits = report.folds.len() == hidden.folds.len();
        // A machine has at most two variables for each sample, and each sample of it has a decision
        // value. This bounds the length of α before memory is allocated.
        let all = hidden.alpha.iter().try_fold(0_u64, |sum, alpha| sum.checked_add(alpha.0));
        if !fits || all.is_none_or(|all| all > 2 * hidden.decisions.len() as u64) {
            return Err(SealError::Damaged);
        }
        let alpha = hidden
            .alpha
            .into_iter()
            .map(|(length, entries)| dense(length, entries))
            .collect::<Option<Vec<_>>>()
            .ok_or(SealError::Damaged)?;
        for (fold, own) in report.folds.iter_mut().zip(hidden.folds) {
            (fold.solved, fold.scores, fold.machines) = (own.solved, with_static_names(own.scores), own.machines);
        }
        report.full.iter_mut().for_each(|full| full.machines.clone_from(&hidden.full));
        (report.scores, report.spread, report.counts) =
            (with_static_names(hidden.scores), with_static_names(hidden.spread), with_static_names(hidden.counts));
        (report.decisions, report.predicted) = (hidden.decisions.into_owned(), hidden.predicted);
        let values_to_repeat = usize::try_from(hidden.values_to_repeat).unwrap_or(usize::MAX);
        Ok(Self { report, alpha, values_to_repeat })
    }
}

/// A dense vector from its length and non-zero entries; `None` if an index is out of range.
fn dense(length: u64, entries: Vec<(u32, f64)>) -> Option<Vec<f64>> {
    let mut alpha = vec![0.0; usize::try_from(length).ok()?];
    for (k, value) in entries {
        *alpha.get_mut(k as usize)? = value;
    }
    Some(alpha)
}
