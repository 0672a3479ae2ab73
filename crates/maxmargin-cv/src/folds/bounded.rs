//! Kernel sums of samples at their bound, kept from one value of C to the next, in trainings and
//! certificates.

use crate::folds::trainer::Trainer;
use crate::seed::bounded::BoundedSums;
use crate::seed::row_boxes::beta_of;
use crate::seed::rows::SeedRows;
use maxmargin_core::{Dual, KeptSums, Stage};
use maxmargin_data::Par;
use maxmargin_kernel::Exact;
use std::sync::{PoisonError, RwLockReadGuard};

impl Trainer<'_> {
    /// The kernel sums of bounded samples that are kept along C.
    pub(super) fn bounded(&self) -> RwLockReadGuard<'_, Option<BoundedSums>> {
        self.bounded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the bounded samples of the machine of all data. Without sums of them, what needs them
    /// computes its own.
    pub(super) fn hold_bounded(&self, beta: &[f64], rows: SeedRows) {
        let mut place = self.bounded.write().unwrap_or_else(PoisonError::into_inner);
        let (Some(bounded), Some((boxes, _))) = (place.as_mut(), &self.seeds) else { return };
        let _ = bounded.hold(beta, boxes, rows, self.par, &self.stage_control(Stage::Full));
    }

    /// The kept part of the kernel sums of a machine over `source`.
    pub(super) fn known_sums(&self, fold: Option<usize>, source: Exact) -> Option<KeptSums> {
        let (bounded, (boxes, _)) = (self.bounded(), self.seeds.as_ref()?);
        let rows = source.different().map_or(source, |(different, _)| different).len();
        bounded.as_ref().filter(|bounded| bounded.rows() == Some(rows)).map(|bounded| bounded.known(fold, boxes.scale()))
    }

    /// The gradient of all data at a start from the last value of C, most of whose bounded samples
    /// have been bounded there. `None` without their sums; the solver computes it then.
    pub(super) fn start_gradient(&self, dual: &Dual, alpha: &[f64], par: Par) -> Option<Vec<f64>> {
        self.bounded().as_ref()?;
        let control = self.stage_control(Stage::Full);
        // Equal samples are merged here if no solver has merged them yet.
        let source = self.space.exact(&control).ok()?;
        let beta = beta_of(dual, alpha, self.space.len());
        self.hold_bounded(&beta, SeedRows::of(self.space.rows()?));
        self.known_sums(None, source)?.get().gradient(dual, source, alpha, par, &control).ok()
    }
}
