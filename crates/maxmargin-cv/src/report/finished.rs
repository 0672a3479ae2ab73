//! A cell of a search that is done, and its bytes: what a search that was ended goes on from.

use crate::report::{CvReport, MachineReport};
use maxmargin_data::codec::{self, CodecError};
use maxmargin_data::sealed::{Seal, SealError};
use maxmargin_metrics::FoldStatistics;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A cross-validation at one value of C, and where the next value begins.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was found.
    pub report: CvReport,
    /// α of the machines of all data, one list a machine, one entry a variable; empty where the
    /// seeding trains no such machine.
    pub alpha: Vec<Vec<f64>>,
}

/// What reports leave out of documents.
#[derive(Serialize, Deserialize)]
struct Hidden {
    folds: Vec<HiddenFold>,
    full: Vec<MachineReport>,
    scores: Vec<(String, f64)>,
    spread: Vec<(String, FoldStatistics)>,
    counts: Vec<(String, u64)>,
    decisions: Vec<f64>,
    predicted: Vec<f64>,
    /// Length of α of each machine, and its entries that are not 0.
    alpha: Vec<(u64, Vec<(u32, f64)>)>,
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

fn known<V>(named: Vec<(String, V)>) -> Vec<(&'static str, V)> {
    named.into_iter().map(|(name, value)| (interned(&name), value)).collect()
}

/// The one copy of a name that lives as long as the program: there are a few dozen.
pub(crate) fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.into());
    names.insert(kept);
    kept
}

impl Finished {
    /// What the bytes of a cell begin with.
    pub const SEAL: Seal = Seal { magic: *b"mmcell\r\n", version: 1 };

    /// The bytes to store under `key`, which is of everything that the cell depends on.
    ///
    /// # Errors
    ///
    /// The encoder's; none for a cell as this version knows it.
    pub fn encode(&self, key: &[u8; 32]) -> Result<Vec<u8>, CodecError> {
        let Self { report, alpha } = self;
        let fold = |fold: &crate::report::FoldReport| HiddenFold {
            solved: fold.solved,
            scores: owned(&fold.scores),
            machines: fold.machines.clone(),
        };
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
            decisions: report.decisions.clone(),
            predicted: report.predicted.clone(),
            alpha: alpha.iter().map(sparse).collect(),
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
        let (mut report, hidden): (CvReport, Hidden) = codec::decode(payload, payload.len())?;
        let fits = report.folds.len() == hidden.folds.len();
        // Of each machine a variable for each sample at most, in regression two; there is a
        // decision for each of both.
        let all = hidden.alpha.iter().try_fold(0_u64, |sum, alpha| sum.checked_add(alpha.0));
        if !fits || all.is_none_or(|all| all > 2 * hidden.decisions.len() as u64) {
            return Err(SealError::Damaged);
        }
        let alpha = hidden.alpha.into_iter().map(dense).collect::<Option<Vec<_>>>().ok_or(SealError::Damaged)?;
        for (fold, own) in report.folds.iter_mut().zip(hidden.folds) {
            (fold.solved, fold.scores, fold.machines) = (own.solved, known(own.scores), own.machines);
        }
        report.full.iter_mut().for_each(|full| full.machines.clone_from(&hidden.full));
        (report.scores, report.spread, report.counts) = (known(hidden.scores), known(hidden.spread), known(hidden.counts));
        (report.decisions, report.predicted) = (hidden.decisions, hidden.predicted);
        Ok(Self { report, alpha })
    }
}

/// Nothing where an entry has no place.
fn dense((length, entries): (u64, Vec<(u32, f64)>)) -> Option<Vec<f64>> {
    let mut alpha = vec![0.0; usize::try_from(length).ok()?];
    for (k, value) in entries {
        *alpha.get_mut(k as usize)? = value;
    }
    Some(alpha)
}
