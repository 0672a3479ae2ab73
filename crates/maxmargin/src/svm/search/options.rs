//! The options of a search.

use super::ranges::Ranges;
use crate::Svm;
use maxmargin_metrics::{Metric, metrics_of};

/// The options of a search over combinations of parameters. The default is all combinations of the
/// ranges, each to its full tolerance.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools, reason = "choices that do not depend on each other, each made by a method")]
pub struct Search {
    pub(super) ranges: Ranges,
    pub(super) metric: Option<&'static Metric>,
    /// The distance of rivals from the best in a fast search, in points.
    pub(super) fast: Option<f64>,
    pub(super) prune: bool,
    pub(super) random: Option<usize>,
    pub(super) halving: bool,
    pub(super) extend: bool,
    pub(super) refine: bool,
    pub(super) gradient: bool,
    pub(super) per_feature: bool,
}

impl Search {
    /// Returns a search of all combinations of `ranges`.
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

    /// Sets the metric of comparison. The default depends on the formulation.
    #[must_use]
    pub fn metric(self, metric: &'static Metric) -> Self {
        Self { metric: Some(metric), ..self }
    }

    /// Sets [`Search::fast_within`] one point.
    #[must_use]
    pub fn fast(self) -> Self {
        self.fast_within(1.0)
    }

    /// Solves all cells to a relative duality gap of 10⁻³ first. Then it solves the cells within
    /// `points` of the best to the requested goal, until the best and all its rivals meet it. A
    /// point is 0.01, or a twentieth of the best for errors with units. Other cells are not solved
    /// again ([`CellScore::exact`](super::cell::CellScore::exact)).
    #[must_use]
    pub fn fast_within(self, points: f64) -> Self {
        Self { fast: Some(points.max(0.0)), ..self }
    }

    /// Prunes a cell as soon as it has more errors than the best finished cell in total, because it
    /// cannot be the best any more. The winner is that of the full search. This needs two classes,
    /// a metric that counts errors (accuracy), and folds that start from the model of all data.
    ///
    /// Columns run in waves of fixed sizes. Each wave is compared with the waves before it, so that
    /// results do not depend on the number of threads.
    #[must_use]
    pub fn prune(self) -> Self {
        Self { prune: true, ..self }
    }

    /// Tries `cells` random combinations instead of all. C and γ are log-uniform over their ranges,
    /// drawn by the seed of the [`Svm`]; other parameters have their given values.
    #[must_use]
    pub fn random(self, cells: usize) -> Self {
        Self { random: Some(cells), ..self }
    }

    /// Searches by successive halving. All cells are solved on a small part of the samples (to a
    /// relative duality gap of 10⁻³), the best third of them on three times as many samples, and so
    /// on, the last on all samples. The parts are nested and stratified, and drawn by the seed of
    /// the [`Svm`].
    #[must_use]
    pub fn halving(self) -> Self {
        Self { halving: true, ..self }
    }

    /// Extends the ranges while the best cell has the least or greatest tried C or γ. Each step
    /// continues with the factor between the last two values: at most eight steps, and at most
    /// 1,024 times beyond the ends of the ranges.
    #[must_use]
    pub fn extend(self) -> Self {
        Self { extend: true, ..self }
    }

    /// Tries additional values of C and γ half way between the best and its neighbours.
    #[must_use]
    pub fn refine(self) -> Self {
        Self { refine: true, ..self }
    }

    /// Descends from the best cell along the gradient of a smooth loss
    /// ([`maxmargin_cv::SmoothLoss`]) in log C and log γ, with at most 20 losses. The lowest point
    /// is added as a cell, solved and scored like the others.
    /// [`SearchResult::descent`](super::result::SearchResult::descent) reports the descent, and
    /// [`SearchResult::best_cell`](super::result::SearchResult::best_cell) is the added cell. This
    /// needs a C-SVC of two classes with the hinge loss, a free bias and a Gaussian kernel.
    #[must_use]
    pub fn gradient(self) -> Self {
        Self { gradient: true, ..self }
    }

    /// Descends as [`Search::gradient`], and then with a width for each feature, with at most 60
    /// more losses. The added cell has [`Svm::feature_weights`]
    /// ([`Descent::widths`](super::descent::Descent::widths)), and its γ is the geometric mean of
    /// all widths. This needs at most [`MOST_WIDTHS`](super::descent::MOST_WIDTHS) features.
    #[must_use]
    pub fn gradient_per_feature(self) -> Self {
        Self { gradient: true, per_feature: true, ..self }
    }

    /// Returns the metric by which cells of `svm` are compared.
    pub fn metric_of(&self, svm: &Svm) -> &'static Metric {
        self.metric.unwrap_or(metrics_of(svm.options.formulation)[0])
    }

    /// Returns true if the search tries all combinations of the ranges and solves each to its goal.
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
