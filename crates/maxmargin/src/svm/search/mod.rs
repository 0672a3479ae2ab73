//! Searches over parameters: grids, random search, halving, pruning, refinement and descent.

mod bfgs;
mod cell;
mod choose;
mod descend;
mod descent;
mod hooks;
mod options;
mod ranges;
mod result;
mod run;
mod select;
mod stage;

pub use bfgs::DescentEnd;
pub use cell::{Cell, CellScore};
pub use descent::{Descent, DescentPoint, MOST_WIDTHS};
pub use hooks::{ColumnKeys, Logs, SearchHooks};
pub use options::Search;
pub use ranges::Ranges;
pub(crate) use ranges::needless_parameter;
pub use result::SearchResult;
pub use select::{best, flattest, one_standard_error};

use crate::Svm;
use crate::svm::TrainingInput;
use maxmargin_core::{Goal, TargetKind};
use maxmargin_cv::{CvError, CvReport, FoldPlan, RunControl, Seeding, SmoothLoss, Unlogged};
use maxmargin_data::Dataset;
use maxmargin_kernel::Gamma;
use maxmargin_metrics::Metric;
use run::Run;
use std::time::Instant;

/// The relative duality gap of all cells in the first stage of [`Search::fast`].
const LOOSE: f64 = 1e-3;

impl Svm {
    /// Cross-validates every combination of `ranges` by `plan`, each to its full tolerance. Values
    /// of `C` share kernel rows, and each starts from the solution before. Different kernels run in
    /// parallel.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], when no combination is a problem; where some are, the others are
    /// told in [`SearchResult::failed`].
    pub fn grid(&self, data: &Dataset, plan: &FoldPlan, ranges: &Ranges) -> Result<SearchResult<CvReport>, CvError> {
        self.grid_with(data, plan, ranges, &RunControl::unlimited(), |_, report| report)
    }

    /// Searches as [`Svm::grid`], under a control. `each` maps every report to the
    /// stored result, because reports are large: they have the decision value of every machine for
    /// every sample. There are fewer cells than combinations if the run ended early.
    ///
    /// # Errors
    ///
    /// As [`Svm::grid`].
    pub fn grid_with<T: Send>(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        ranges: &Ranges,
        control: &RunControl,
        each: impl Fn(&Svm, CvReport) -> T + Sync,
    ) -> Result<SearchResult<T>, CvError> {
        self.search(data, plan, &Search::new(ranges.clone()), SearchHooks { control, logs: &Unlogged }, each)
    }

    /// Searches by `plan`, with a log. Cells in the log are not computed again, and all others are
    /// added as soon as they are finished. The result has the same bits for any content of the log.
    /// `each` maps every report to the stored result. There are fewer cells than
    /// [`SearchResult::planned`] if the run ended early.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], when no combination is a problem; where some are, the others are
    /// told in [`SearchResult::failed`]. When the search is not one for these parameters.
    pub fn search<'d, T: Send>(
        &self,
        input: impl Into<TrainingInput<'d>>,
        plan: &FoldPlan,
        search: &Search,
        hooks: SearchHooks,
        each: impl Fn(&Svm, CvReport) -> T + Sync,
    ) -> Result<SearchResult<T>, CvError> {
        let (metric, input) = (search.metric_of(self), input.into());
        let data = input.data;
        data.check()?;
        search.ranges.check(self.formulation())?;
        self.check_search(data, search, metric)?;
        self.check_gradient(input, plan, search)?;
        let asked = self.resolved_goal();
        // A goal that is no stricter than the loose one needs no second stage.
        let loose = if asked.kkt().is_none() && asked.gap().is_some_and(|gap| gap >= LOOSE) { asked } else { Goal::Gap(LOOSE) };
        let run = Run { svm: self, input, plan, search, metric, hooks, each: &each, asked, loose, begun: Instant::now() };
        let found = run.execute()?;
        if found.cells.is_empty() && !found.failed.is_empty() {
            let mut failed = found.failed;
            return Err(failed.swap_remove(0).result);
        }
        Ok(found)
    }

    fn check_search(&self, data: &Dataset, search: &Search, metric: &Metric) -> Result<(), CvError> {
        let refused = |option: &'static str, why: String| Err(CvError::Search { option, why });
        if metric.is_diagnostic() {
            let why = format!("{} tells no better cell from a worse one; search by another metric", metric.name());
            return refused("metric", why);
        }
        if search.prune {
            if !metric.counts_errors() {
                let why = format!(
                    "{} does not count errors, and only an error count can be bounded before all folds are finished; use accuracy",
                    metric.name()
                );
                return refused("prune", why);
            }
            if self.options.formulation.target_kind() != TargetKind::Classes
                || self.classes(data)?.is_some_and(|classes| classes.count() > 2)
            {
                return refused("prune", "only two-class problems count errors fold by fold; leave it out".to_owned());
            }
            if self.options.seeding != Seeding::Full {
                return refused("prune", "folds must start from the model of all data (seeding full)".to_owned());
            }
        }
        if search.random == Some(0) {
            return refused("random", "a search needs one combination or more".to_owned());
        }
        Ok(())
    }

    /// Checks, before any training, that every column of a search has a smooth loss.
    fn check_gradient(&self, input: TrainingInput, plan: &FoldPlan, search: &Search) -> Result<(), CvError> {
        let mut checked = Vec::new();
        for column in search.ranges.columns(self).iter().filter(|_| search.gradient) {
            if !matches!(column.options.gamma, None | Some(Gamma::Value(_))) {
                let why = "the start needs gamma as a number, not a rule; give it values".to_owned();
                return Err(CvError::Search { option: "gradient", why });
            }
            // The width of a kernel does not matter for this check.
            let kind = column.options.kernel.clone().with_gamma(1.0);
            if !checked.contains(&kind) {
                let features = column.study(input, |study| Ok(SmoothLoss::new(*study, plan)?.features()))?;
                if search.per_feature && features > MOST_WIDTHS {
                    let why = format!("{features} features are too many for a width each, at most {MOST_WIDTHS}; leave some out");
                    return Err(CvError::Search { option: "gradient", why });
                }
                checked.push(kind);
            }
        }
        Ok(())
    }
}
