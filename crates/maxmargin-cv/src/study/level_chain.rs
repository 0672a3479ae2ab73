//! Machines of several levels, each started from the one before.

use maxmargin_core::{Dual, warm};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last machine of several levels. The machine of the next level starts from it: most of its
/// support vectors are at the same bounds.
#[derive(Debug, Default)]
pub(crate) struct LevelChain(Mutex<Option<LastLevel>>);

#[derive(Debug)]
struct LastLevel {
    dual: Dual,
    alpha: Vec<f64>,
    /// The decision value of every sample, up to a constant.
    values: Vec<f64>,
}

impl LevelChain {
    /// Returns α of the last machine, moved to the bounds of `dual`.
    pub(crate) fn start(&self, dual: &Dual) -> Option<Vec<f64>> {
        self.lock().as_ref().map(|last| warm::along_level(&last.dual, &last.alpha, &last.values, dual))
    }

    /// Replaces the last machine; `values` are decision values of all samples, up to a constant.
    pub(crate) fn put(&self, dual: &Dual, alpha: &[f64], values: Vec<f64>) {
        *self.lock() = Some(LastLevel { dual: dual.clone(), alpha: alpha.to_vec(), values });
    }

    fn lock(&self) -> MutexGuard<'_, Option<LastLevel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
