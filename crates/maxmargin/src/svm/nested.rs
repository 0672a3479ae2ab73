//! Nested cross-validation: a search, evaluated on samples that it did not use.

use super::Svm;
use super::search::{Search, SearchHooks};
use maxmargin_cv::{CvError, FoldPlan, PlanError};
use maxmargin_data::{ClassLabels, Dataset};
use maxmargin_metrics::{FoldStatistics, Metric, greatest_label, score_of};
use std::time::{Duration, Instant};

/// The result of a nested cross-validation: the choice of the search in every outer fold, and its
/// score there.
#[derive(Clone, Debug)]
pub struct Nested {
    /// The outer folds that were completed.
    pub folds: Vec<OuterFold>,
    /// The score of the samples of all folds together; `None` if a fold has no score.
    pub score: Option<f64>,
    /// The standard deviation of the scores of the folds; `None` for fewer than two scores.
    pub deviation: Option<f64>,
}

/// An outer fold of a nested cross-validation.
#[derive(Clone, Debug)]
pub struct OuterFold {
    /// The number of samples of the search.
    pub train: usize,
    /// The number of test samples.
    pub test: usize,
    /// The labels of classes without a sample in the search, which cannot be predicted. If only one
    /// class is left, it is the prediction for every sample, without a search.
    pub missing_classes: Vec<f64>,
    /// The chosen estimator and its score in the inner folds; `None` if nothing converged.
    pub chosen: Option<(Svm, Option<f64>)>,
    /// The score of the test samples.
    pub score: Option<f64>,
}

impl Svm {
    /// Searches the training set of every fold of `outer` by inner folds (`inner`), trains the best
    /// estimator, and scores it on the test samples of the fold. The score estimates the search
    /// itself on new samples. The score of the best cell of a search is slightly optimistic for
    /// this.
    ///
    /// # Errors
    ///
    /// As [`Svm::search`], and those of `inner`.
    pub fn nested(
        &self,
        data: &Dataset,
        outer: &FoldPlan,
        inner: impl Fn(&Dataset) -> Result<FoldPlan, PlanError>,
        search: &Search,
        hooks: SearchHooks,
    ) -> Result<Nested, CvError> {
        if outer.len() != data.samples.len() {
            return Err(CvError::Plan { plan: outer.len(), data: data.samples.len() });
        }
        let run = NestedRun { svm: self, data, search, hooks, metric: search.metric_of(self), begun: Instant::now() };
        let classes = self.classes(data)?;
        let labels = classes.as_ref().map_or(&[][..], ClassLabels::labels);
        let (mut truths, mut predictions) = (Vec::new(), Vec::new());
        let mut folds = Vec::new();
        for fold in 0..outer.folds() {
            let (test, train) = (outer.test(fold), outer.train(fold));
            let part = data.select(&train);
            let missing: Vec<f64> = labels.iter().copied().filter(|label| !part.labels.contains(label)).collect();
            let outcome = match &part.labels[..] {
                // A single class needs no search: it is the prediction for every sample.
                [only, ..] if missing.len() + 1 == labels.len() => {
                    let value = if run.metric.ranks() { f64::NAN } else { *only };
                    Some(FoldOutcome { chosen: None, values: Some(vec![value; test.len()]) })
                }
                _ => run.fold(&part, &inner(&part)?, &train, test, labels.len() == 2)?,
            };
            let Some(FoldOutcome { chosen, values }) = outcome else { break };
            let truth: Vec<f64> = test.iter().map(|&i| data.labels[i]).collect();
            let score = values.as_ref().and_then(|values| run.score(&truth, values));
            if let Some(values) = values {
                truths.extend(truth);
                predictions.extend(values);
            }
            folds.push(OuterFold { train: train.len(), test: test.len(), missing_classes: missing, chosen, score });
        }
        let complete =
            folds.len() == outer.folds() && truths.len() == (0..outer.folds()).map(|fold| outer.test(fold).len()).sum::<usize>();
        let score = complete.then(|| run.score(&truths, &predictions)).flatten();
        let spread =
            FoldStatistics::of(folds.iter().filter_map(|fold| Some((fold.score?, fold.train, fold.test))), run.metric.range());
        let deviation = Some(spread.deviation).filter(|deviation| !deviation.is_nan());
        Ok(Nested { folds, score, deviation })
    }
}

/// The result of an outer fold.
#[derive(Default)]
struct FoldOutcome {
    /// The chosen estimator with its score in the inner folds.
    chosen: Option<(Svm, Option<f64>)>,
    /// The decision values or labels of the test samples.
    values: Option<Vec<f64>>,
}

/// The parts of a nested cross-validation that all folds share.
struct NestedRun<'a> {
    svm: &'a Svm,
    data: &'a Dataset,
    search: &'a Search,
    hooks: SearchHooks<'a>,
    metric: &'static Metric,
    begun: Instant,
}

impl NestedRun<'_> {
    /// Searches one training set and predicts its test samples with the chosen estimator. `None` if
    /// the run was ended early.
    fn fold(
        &self,
        part: &Dataset,
        inner: &FoldPlan,
        train: &[usize],
        test: &[usize],
        two_classes: bool,
    ) -> Result<Option<FoldOutcome>, CvError> {
        let left = self.time_left();
        let svm = self.svm.among(&self.data.labels, train).with(|options| options.max_time = left);
        let found = svm.search(part, inner, self.search, self.hooks, |_, _| ())?;
        if found.is_cut() {
            return Ok(None);
        }
        let Some(cell) = found.best_cell(self.metric).map(|at| &found.cells[at]) else { return Ok(Some(FoldOutcome::default())) };
        let fitted = cell.svm.clone().with(|options| options.max_time = self.time_left()).fit_with(part, self.hooks.control)?;
        if fitted.status.ended_early() {
            return Ok(None);
        }
        let samples = self.data.samples.select(test);
        let ranks = self.metric.ranks() && two_classes;
        let values = if ranks { fitted.decision_values(&samples)? } else { fitted.predict(&samples)? };
        let chosen = cell.svm.clone().with_weights_of(self.svm).with(|options| options.max_time = self.svm.options.max_time);
        Ok(Some(FoldOutcome { chosen: Some((chosen, cell.score.value)), values: Some(values) }))
    }

    fn time_left(&self) -> Option<Duration> {
        self.svm.options.max_time.map(|most| most.saturating_sub(self.begun.elapsed()))
    }

    /// Returns the score of decision values or labels; `None` if it is undefined.
    fn score(&self, truth: &[f64], values: &[f64]) -> Option<f64> {
        // A ranking metric needs decision values that are positive for the greater label.
        Some(score_of(self.svm.formulation().into(), self.metric, greatest_label(&self.data.labels), truth, values))
            .filter(|score| !score.is_nan())
    }
}
