//! Machines of several levels, each started from the one before.

use maxmargin_core::{Dual, warm};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last machine of several levels. The machine of the next level starts from it: most of its
/// support vectors are at the same bounds.
#[derive(Debug, Default)]
pub(crate) struct LevelChain(Mutex<Option<(Dual, Vec<f64>)>>);

impl LevelChain {
    /// Returns α of the last machine, moved to the bounds of `dual`.
    pub(crate) fn start(&self, dual: &Dual) -> Option<Vec<f64>> {
        self.lock().as_ref().map(|(last, alpha)| warm::along_c(last, alpha, dual))
    }

    /// Replaces the last machine.
    pub(crate) fn put(&self, dual: &Dual, alpha: &[f64]) {
        *self.lock() = Some((dual.clone(), alpha.to_vec()));
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Dual, Vec<f64>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
