//! Cross-validations whose machines are kept.

use crate::calibrate::OutOfFold;
use crate::conformal::spread_range::SpreadRange;
use crate::fold_machines::{FoldMachineCollector, FoldMachines};
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::run::error::CvError;
use crate::seed::Seeding;
use crate::study::Study;
use crate::study::matching::Terms;
use maxmargin_core::RunControl;
use maxmargin_model::Model;

/// Held-out decision values of every row, and the machines of the folds that have them.
pub(super) struct KeptFolds {
    /// Row-major rows × columns.
    pub(super) decisions: Vec<f64>,
    pub(super) columns: usize,
    pub(super) machines: FoldMachines,
    /// The range of the second column, if it is a spread.
    pub(super) spread: Option<SpreadRange>,
}

impl KeptFolds {
    /// Adds a column and the machines behind it.
    pub(super) fn beside(self, second: Self) -> Self {
        let columns = self.columns + second.columns;
        let rows = self.decisions.chunks_exact(self.columns).zip(second.decisions.chunks_exact(second.columns));
        let decisions = rows.flat_map(|(first, second)| first.iter().chain(second)).copied().collect();
        let FoldMachines { mut ensembles, mut places } = self.machines;
        let before = ensembles.len() as u32;
        ensembles.extend(second.machines.ensembles);
        for (places, more) in places.iter_mut().zip(second.machines.places) {
            places.extend(more.into_iter().map(|(ensemble, machine)| (before + ensemble, machine)));
        }
        Self { decisions, columns, machines: FoldMachines { ensembles, places }, spread: None }
    }
}

impl Study<'_> {
    /// Cross-validates, and keeps the machines of all folds; `None` if not all have a solution.
    pub(super) fn kept_folds(
        &self,
        model: &Model,
        start: Option<&[Terms]>,
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<(OutOfFold, Option<KeptFolds>), CvError> {
        let collected = FoldMachineCollector::new(model);
        let found = self.cross_validate_keeping(start, plan, seeding, control, &collected);
        let (run, found) = OutOfFold::of(plan, found)?;
        let found = found.filter(|found| found.folds_counted == found.folds.len());
        let kept = |found: CvReport| KeptFolds {
            decisions: found.decisions,
            columns: found.machines,
            machines: collected.into_machines(),
            spread: None,
        };
        Ok((run, found.map(kept)))
    }
}
