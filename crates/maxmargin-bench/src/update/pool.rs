//! All samples of a cell of updates, and the figures of one update.

use crate::cell::job::Update as Cell;
use maxmargin::core::{Dual, DualError};
use maxmargin::data::{Par, Samples};
use maxmargin::kernel::KernelGram;
use maxmargin::path::{PathConfig, Update};

/// All samples of a cell, its kernel and its limits.
#[derive(Clone, Copy)]
pub(crate) struct Pool<'g> {
    pub(crate) cell: &'g Cell,
    pub(crate) samples: &'g Samples,
    pub(crate) signs: &'g [f64],
    pub(crate) gram: &'g KernelGram,
    /// Bytes of kernel values.
    pub(crate) budget: u64,
    pub(crate) par: Par,
}

impl Pool<'_> {
    /// Returns the problem of some of the samples.
    pub(crate) fn dual(&self, ids: Vec<usize>) -> Result<Dual, DualError> {
        let signs = ids.iter().map(|&id| self.signs[id]).collect();
        let upper = vec![self.cell.setting.c; ids.len()];
        Dual::c_svc(ids, signs, upper)
    }

    pub(crate) fn config(&self) -> PathConfig {
        PathConfig::default().with_memory(self.budget / 2)
    }
}

/// The figures of one update.
#[derive(Default)]
pub(crate) struct UpdateResult {
    pub(crate) seconds: f64,
    pub(crate) iterations: Option<u64>,
    pub(crate) path: Option<Update>,
    /// Kernel rows or columns computed.
    pub(crate) columns: u64,
    /// Samples with 0 < α < C.
    pub(crate) free: usize,
    pub(crate) support: usize,
    /// The status, where the update did not converge.
    pub(crate) status: Option<String>,
}

impl UpdateResult {
    pub(crate) fn new(seconds: f64, alpha: &[f64], c: f64) -> Self {
        let free = alpha.iter().filter(|a| **a > 0.0 && **a < c).count();
        Self { seconds, free, support: alpha.iter().filter(|a| **a > 0.0).count(), ..Self::default() }
    }
}
