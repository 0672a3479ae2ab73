//! Nested cross-validation: a whole search, judged by samples that it never saw.

use super::Svm;
use super::grid::SearchHooks;
use super::search::Search;
use maxmargin_cv::{CvError, FoldPlan, PlanError};
use maxmargin_data::{ClassLabels, Dataset};
use maxmargin_metrics::{FoldStatistics, score_of};
use std::time::Instant;

/// What a search is worth: its choices in every outer fold, and how they did there.
#[derive(Clone, Debug)]
pub struct Nested {
    /// One for each outer fold that was reached.
    pub folds: Vec<OuterFold>,
    /// The score of the samples of all folds together; none where a fold has none.
    pub score: Option<f64>,
    /// Standard deviation of the scores of the folds, where there are two or more.
    pub deviation: Option<f64>,
}

/// One outer fold.
#[derive(Clone, Debug)]
pub struct OuterFold {
    /// Samples that the search had.
    pub train: usize,
    /// Samples that it was judged by.
    pub test: usize,
    /// Labels of classes that no sample of the search has: they cannot be predicted. Where one
    /// class is alone it is said of every sample, without a search.
    pub missing_classes: Vec<f64>,
    /// The estimator that it chose, and its score in the inner folds; none where nothing converged.
    pub chosen: Option<(Svm, Option<f64>)>,
    /// The score of the test samples.
    pub score: Option<f64>,
}

impl Svm {
    /// Searches the training set of every fold of `outer` by folds of its own (`inner`), trains
    /// what is best there, and scores it on the fold. What is reported is what the search itself
    /// does for samples that had no part in its choices; the score of the best cell of a search is
    /// a little too good for that.
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
        attended: SearchHooks,
    ) -> Result<Nested, CvError> {
        if outer.len() != data.samples.len() {
            return Err(CvError::Plan { plan: outer.len(), data: data.samples.len() });
        }
        let (metric, begun) = (search.metric_of(self), Instant::now());
        let classes = self.classes(data)?;
        let labels = classes.as_ref().map_or(&[][..], ClassLabels::labels);
        // Positive for the greater label, where a metric ranks.
        let two = labels.len() == 2;
        let greater = data.labels.iter().copied().fold(f64::NAN, f64::max);
        let scored =
            |truth: &[f64], values: &[f64]| Some(score_of(metric, greater, truth, values)).filter(|score| !score.is_nan());
        let (mut truths, mut said) = (Vec::new(), Vec::new());
        let mut folds = Vec::new();
        for fold in 0..outer.folds() {
            let (test, train) = (outer.test(fold), outer.train(fold));
            let part = data.select(&train);
            let truth: Vec<f64> = test.iter().map(|&i| data.labels[i]).collect();
            let missing: Vec<f64> = labels.iter().copied().filter(|label| !part.labels.contains(label)).collect();
            if let (true, [only, ..]) = (missing.len() + 1 == labels.len(), &part.labels[..]) {
                // There is nothing to search where one class is alone: it is said of every sample.
                let values = vec![if metric.ranks() { f64::NAN } else { *only }; test.len()];
                let score = scored(&truth, &values);
                truths.extend(truth);
                said.extend(values);
                folds.push(OuterFold { train: train.len(), test: test.len(), missing_classes: missing, chosen: None, score });
                continue;
            }
            let left = self.max_time.map(|most| most.saturating_sub(begun.elapsed()));
            let svm = Svm { max_time: left, ..self.among(&data.labels, &train) };
            let found = svm.search(&part, &inner(&part)?, search, attended, |_, _| ())?;
            if found.cells.len() < found.wanted || found.cells.iter().any(|cell| cell.scored.ended) {
                break;
            }
            let chosen = found.taken(metric).map(|at| &found.cells[at]);
            let mut score = None;
            if let Some(cell) = chosen {
                let left = self.max_time.map(|most| most.saturating_sub(begun.elapsed()));
                let fitted = Svm { max_time: left, ..cell.svm.clone() }.fit_watched(&part, attended.watch)?;
                if fitted.status.ended_early() {
                    break;
                }
                let samples = data.samples.select(test);
                let values = if metric.ranks() && two { fitted.decision_values(&samples)? } else { fitted.predict(&samples)? };
                score = scored(&truth, &values);
                truths.extend(truth);
                said.extend(values);
            }
            let chosen =
                chosen.map(|cell| (Svm { max_time: self.max_time, ..cell.svm.clone().with_weights_of(self) }, cell.scored.score));
            folds.push(OuterFold { train: train.len(), test: test.len(), missing_classes: missing, chosen, score });
        }
        let complete =
            folds.len() == outer.folds() && truths.len() == (0..outer.folds()).map(|fold| outer.test(fold).len()).sum::<usize>();
        let score = complete.then(|| scored(&truths, &said)).flatten();
        let spread =
            FoldStatistics::of(folds.iter().filter_map(|fold| Some((fold.score?, fold.train, fold.test))), metric.range());
        let deviation = Some(spread.deviation).filter(|deviation| !deviation.is_nan());
        Ok(Nested { folds, score, deviation })
    }
}
