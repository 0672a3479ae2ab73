//! Searches: which cells are tried, to which goal, and which are given up.

mod bfgs;
mod choose;
mod descent;
mod run;

pub use bfgs::DescentEnd;
pub use descent::{Descent, DescentPoint, MOST_WIDTHS};

use super::Svm;
use super::grid::SearchHooks;
use super::ranges::{Ranges, SearchResult};
use maxmargin_core::{Goal, TargetKind};
use maxmargin_cv::{CvError, CvReport, FoldPlan, Seeding, SmoothLoss};
use maxmargin_data::Dataset;
use maxmargin_kernel::Gamma;
use maxmargin_metrics::{Metric, metrics_of};
use run::Run;
use std::time::Instant;

/// The relative gap that [`Search::fast`] asks of all cells first.
const LOOSE: f64 = 1e-3;

/// A search over combinations of parameters: all of some ranges, to their full tolerance, until its
/// other methods say otherwise.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools, reason = "choices that do not depend on each other, each made by a method")]
pub struct Search {
    ranges: Ranges,
    metric: Option<&'static Metric>,
    /// Points that rivals are from the best of a fast search.
    fast: Option<f64>,
    prune: bool,
    random: Option<usize>,
    halving: bool,
    extend: bool,
    refine: bool,
    gradient: bool,
    per_feature: bool,
}

impl Search {
    /// All combinations of `ranges`.
    pub fn new(ranges: Ranges) -> Self {
        Self {
            ranges,
            metric: None,
            fast: None,
            prune: false,
            random: None,
            halving: false,
            extend: false,
            refine: false,
            gradient: false,
            per_feature: false,
        }
    }

    /// What cells are compared by, instead of what the formulation is usually chosen by.
    #[must_use]
    pub fn metric(self, metric: &'static Metric) -> Self {
        Self { metric: Some(metric), ..self }
    }

    /// [`Search::fast_within`] a point.
    #[must_use]
    pub fn fast(self) -> Self {
        self.fast_within(1.0)
    }

    /// Solves all cells to a relative gap of 10⁻³ first, and then those within so many points of
    /// the best (0.01 each; of errors a twentieth) to the goal that is asked for, until the best
    /// and all its rivals meet it. Other cells stay as they are
    /// ([`CellScore::exact`](super::ranges::CellScore::exact)).
    #[must_use]
    pub fn fast_within(self, points: f64) -> Self {
        Self { fast: Some(points.max(0.0)), ..self }
    }

    /// Gives a cell up as soon as it has made more errors than the best finished cell has in all:
    /// it cannot win. For two classes, metrics that count errors (accuracy), and folds that start
    /// from the model of all data. The winner is that of the full search. Columns run in waves
    /// whose sizes are fixed, each held against what the waves before it found, so that results do
    /// not depend on the number of threads.
    #[must_use]
    pub fn prune(self) -> Self {
        Self { prune: true, ..self }
    }

    /// This many combinations instead of all: values of C and γ with logarithms spread evenly over
    /// their ranges, by the seed of the [`Svm`]; of other parameters those that are there.
    #[must_use]
    pub fn random(self, cells: usize) -> Self {
        Self { random: Some(cells), ..self }
    }

    /// Successive halving: all cells on a small part of the samples (to a relative gap of 10⁻³),
    /// the best third of them on three times as many, and so on; the last on all samples. Parts are
    /// nested, have the classes in their shares, and are drawn by the seed of the [`Svm`].
    #[must_use]
    pub fn halving(self) -> Self {
        Self { halving: true, ..self }
    }

    /// Goes on while the best has the least or greatest C or γ that was tried, by the factor
    /// between the values there: eight times at most, and not beyond 1,024 times the ends of the
    /// ranges.
    #[must_use]
    pub fn extend(self) -> Self {
        Self { extend: true, ..self }
    }

    /// Tries values of C and γ half way between the best and its neighbours besides.
    #[must_use]
    pub fn refine(self) -> Self {
        Self { refine: true, ..self }
    }

    /// From the best of all these goes down the gradient of a smooth loss ([`SmoothLoss`]) by log C
    /// and log γ, 20 losses at most, and adds the cell that it comes to, solved and scored like the
    /// others; [`SearchResult::descent`] tells of it, and [`SearchResult::taken`] is the cell of
    /// least loss. For two classes by C-SVC with the hinge loss, a free bias and a Gaussian kernel.
    #[must_use]
    pub fn gradient(self) -> Self {
        Self { gradient: true, ..self }
    }

    /// As [`Search::gradient`], and from what that comes to with a width for each feature that the
    /// kernel sees: the cell that is added has [`Svm::feature_weights`] ([`Descent::widths`]), and
    /// its γ is the geometric mean of all. For [`MOST_WIDTHS`] features at most, and 60 losses
    /// more.
    #[must_use]
    pub fn gradient_per_feature(self) -> Self {
        Self { gradient: true, per_feature: true, ..self }
    }

    /// What cells of `svm` are compared by.
    pub fn metric_of(&self, svm: &Svm) -> &'static Metric {
        self.metric.unwrap_or(metrics_of(svm.formulation.target_kind())[0])
    }

    /// Whether nothing but the ranges decides what is tried, and all of it is solved to its goal.
    pub fn is_full(&self) -> bool {
        !(self.fast.is_some()
            || self.prune
            || self.random.is_some()
            || self.halving
            || self.extend
            || self.refine
            || self.gradient)
    }
}

impl Svm {
    /// Searches by `plan`, with a log: cells that it has are not computed again, and all others are
    /// kept there as soon as they are done. What is found has the same bits whatever the log had.
    /// Of every report is kept what `each` makes of it. Fewer cells than [`SearchResult::wanted`]
    /// when the watch ended the run.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], when no combination is a problem; where some are, the others are
    /// told in [`SearchResult::failed`]. When the search is not one for these parameters.
    pub fn search<T: Send>(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        search: &Search,
        attended: SearchHooks,
        each: impl Fn(&Svm, CvReport) -> T + Sync,
    ) -> Result<SearchResult<T>, CvError> {
        let metric = search.metric_of(self);
        self.check_search(data, search, metric)?;
        self.check_gradient((data, plan), search)?;
        let asked = self.resolved_goal();
        // Who asks for no more than that has it at once.
        let loose = if asked.kkt().is_none() && asked.gap().is_some_and(|gap| gap >= LOOSE) { asked } else { Goal::Gap(LOOSE) };
        let run = Run { svm: self, data, plan, search, metric, attended, each: &each, asked, loose, begun: Instant::now() };
        let found = run.found()?;
        if found.cells.is_empty() && !found.failed.is_empty() {
            let mut failed = found.failed;
            return Err(failed.swap_remove(0).found);
        }
        Ok(found)
    }

    fn check_search(&self, data: &Dataset, search: &Search, metric: &Metric) -> Result<(), CvError> {
        let refused = |what: String| Err(CvError::Search(what));
        if search.prune {
            if !metric.counts_errors() {
                return refused(format!(
                    "prune: {} is no count of errors, which alone can be bounded before all folds are done; use accuracy",
                    metric.name()
                ));
            }
            if self.formulation.target_kind() != TargetKind::Classes
                || self.classes(data)?.is_some_and(|classes| classes.count() > 2)
            {
                return refused(
                    "prune: errors are counted fold by fold where one machine tells two classes apart; leave it out".to_owned(),
                );
            }
            if self.seeding != Seeding::Full {
                return refused("prune: folds are to start from the model of all data (seeding full)".to_owned());
            }
        }
        if search.random == Some(0) {
            return refused("a search needs one combination or more".to_owned());
        }
        Ok(())
    }

    /// Whether every column of a search has a loss to descend along, before there is any work.
    fn check_gradient(&self, (data, plan): (&Dataset, &FoldPlan), search: &Search) -> Result<(), CvError> {
        let mut checked = Vec::new();
        for column in search.ranges.columns(self).iter().filter(|_| search.gradient) {
            if !matches!(column.gamma, None | Some(Gamma::Value(_))) {
                return Err(CvError::Search(
                    "gradient: gamma moves from a number, not by a rule; give values with -g".to_owned(),
                ));
            }
            // Widths make no difference.
            let kind = column.kernel.clone().with_gamma(1.0);
            if !checked.contains(&kind) {
                let features = column.study(data, |study| Ok(SmoothLoss::new(*study, plan)?.features()))?;
                if search.per_feature && features > MOST_WIDTHS {
                    return Err(CvError::Search(format!(
                        "gradient: {features} features, and a width for each is found for {MOST_WIDTHS} at most; leave some out"
                    )));
                }
                checked.push(kind);
            }
        }
        Ok(())
    }
}
