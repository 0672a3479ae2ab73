//! Kernel sums of samples at their bound, kept from one value of C to the next, in trainings and
//! certificates.

use crate::folds::trainer::Trainer;
use crate::seed::bounded::{BoundedSums, KnownPart};
use crate::seed::problem::Trained;
use maxmargin_core::{Dual, Stage};
use maxmargin_data::Par;
use maxmargin_kernel::Exact;
use std::sync::{PoisonError, RwLockReadGuard};

impl Trainer<'_> {
    /// The kernel sums of bounded samples that are kept along C.
    pub(super) fn bounded(&self) -> RwLockReadGuard<'_, Option<BoundedSums>> {
        self.bounded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the bounded samples of the machine of all data, or drops their sums.
    pub(super) fn hold_bounded(&self, full: &Trained) {
        let mut place = self.bounded.write().unwrap_or_else(PoisonError::into_inner);
        let (Some(bounded), Some((boxes, _)), Some(rows)) = (place.as_mut(), &self.seeds, full.rows) else { return };
        let control = self.stage_control(Stage::Full);
        if !bounded.hold(&full.beta, boxes, rows, self.par, &control).is_ok_and(|held| held) {
            *place = None;
        }
    }

    /// The kept part of the kernel sums of a machine over `source`.
    pub(super) fn known_sums(&self, fold: Option<usize>, source: Exact) -> Option<KnownPart> {
        let (bounded, (boxes, _)) = (self.bounded(), self.seeds.as_ref()?);
        let rows = source.different().map_or(source, |(different, _)| different).len();
        bounded.as_ref().filter(|bounded| bounded.rows() == rows).map(|bounded| bounded.known(fold, boxes.scale()))
    }

    /// The gradient of all data at a start from the last value of C, whose bounded samples still
    /// are at their bound. `None` without their sums; the solver computes it then.
    pub(super) fn start_gradient(&self, dual: &Dual, alpha: &[f64], par: Par) -> Option<Vec<f64>> {
        let source = Exact::from(self.space);
        let known = self.known_sums(None, source)?;
        known.get().gradient(dual, source, alpha, par, &self.stage_control(Stage::Full)).ok()
    }
}
