//! The report of a whole cross-validation.

use super::certificate::CertificateReport;
use super::fold::{FoldReport, FullReport, MissingClass};
use super::name::{Name, name};
use super::scoring::Scoring;
use crate::plan::FoldPlan;
use maxmargin_core::Status;
use maxmargin_metrics::{NamedStatistics, Purpose, Score, greatest_label, statistics_of};
use serde::{Deserialize, Serialize};

/// The report of a cross-validation at one value of C.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CvReport {
    /// The value of C, if the formulation has one.
    pub c: Option<f64>,
    /// The folds, in order.
    pub folds: Vec<FoldReport>,
    /// The machines of all data, if the seeding trained them.
    pub full: Option<FullReport>,
    /// The scores of the counted samples, by name.
    #[serde(skip)]
    pub scores: Vec<Score>,
    /// Statistics of the scores over the folds that have a solution, by the names of the metrics.
    #[serde(skip)]
    pub spread: Vec<NamedStatistics>,
    /// Maximum number of tests of a sample ([`FoldPlan::rounds`]).
    pub rounds: usize,
    /// Number of samples that some fold tests. The other samples have no prediction.
    pub samples_tested: usize,
    /// The number of errors in the folds that were done, if the run was pruned because of them. A
    /// pruned run has no scores.
    pub pruned: Option<usize>,
    /// Fraction of the counted samples that are predicted correctly by a model that was not trained
    /// on them; `None` if no sample is counted, or the study does not predict labels.
    pub accuracy: Option<f64>,
    /// Number of counted samples that are predicted correctly.
    pub correct: usize,
    /// Number of counted samples: the test samples of folds that have a solution, counted once for
    /// each test.
    pub samples_counted: usize,
    /// Number of folds that have a solution.
    pub folds_counted: usize,
    /// The name of the seeding; `cold` if the folds could not be seeded.
    #[serde(deserialize_with = "name")]
    pub seeding: Name,
    /// Solver iterations of all folds.
    pub iterations: u64,
    /// Kernel rows that the seeds read. Each costs about half an iteration.
    pub seed_steps: u64,
    /// Iterations of all folds and of the machines of all data.
    pub total_iterations: u64,
    /// Further counts of the solvers, by name.
    #[serde(skip)]
    pub counts: Vec<(&'static str, u64)>,
    /// Seconds that solvers waited for kernel rows, summed over parallel solvers. They are part of
    /// the time to solve.
    pub kernel_seconds: f64,
    /// Seconds in certificates, summed in the same way.
    pub certify_seconds: f64,
    /// Seconds of the whole cross-validation.
    pub total_seconds: f64,
    /// Kernel rows computed. A row has one entry for each sample of its machine. Rows computed for
    /// an earlier value of C are not counted again.
    pub rows_computed: u64,
    /// The largest number of bytes of kernel rows that one machine held.
    pub kernel_bytes: u64,
    /// Number of machines.
    pub machines: usize,
    /// Exact decision values of every sample by a model that was not trained on it, in the order of
    /// the data: rounds × samples × machines. NaN if the fold has no solution, or no fold tests the
    /// sample. Empty if they were not kept
    /// ([`TrainOptions::keep_decisions`](crate::TrainOptions::keep_decisions)).
    #[serde(skip)]
    pub decisions: Vec<f64>,
    /// The predicted label of every sample, or NaN: rounds × samples.
    #[serde(skip)]
    pub predicted: Vec<f64>,
    /// The leverage of every sample: the root mean square change of decision values when it is
    /// removed, over the machines and the other samples that each was trained on (with pairs of
    /// classes, those of its two). Rounds × samples, NaN for samples that no fold tests alone;
    /// empty if there are only such samples, or if no machine of all data was trained.
    #[serde(skip)]
    pub leverage: Vec<f64>,
}

impl CvReport {
    /// A report for a number of machines, without decision values.
    pub(crate) fn empty(plan: &FoldPlan, machines: usize) -> Self {
        let tests = plan.rounds() * plan.len();
        Self {
            c: None,
            folds: Vec::new(),
            full: None,
            scores: Vec::new(),
            spread: Vec::new(),
            rounds: plan.rounds(),
            samples_tested: plan.tested(),
            pruned: None,
            accuracy: None,
            correct: 0,
            samples_counted: 0,
            folds_counted: 0,
            seeding: "cold",
            iterations: 0,
            seed_steps: 0,
            total_iterations: 0,
            counts: Vec::new(),
            kernel_seconds: 0.0,
            certify_seconds: 0.0,
            total_seconds: 0.0,
            rows_computed: 0,
            kernel_bytes: 0,
            machines,
            decisions: Vec::new(),
            predicted: vec![f64::NAN; tests],
            leverage: Vec::new(),
        }
    }

    /// Fills in the scores and the sums over the folds. `truth` has the labels of the samples,
    /// `levels` the levels of several machines.
    pub(crate) fn summed(self, purpose: Purpose, levels: &[f64], truth: &[f64]) -> Self {
        let counted = || self.folds.iter().filter(|f| f.solved);
        let samples_counted: usize = counted().map(|f| f.test).sum();
        let correct = counted().map(|f| f.correct).sum::<Option<usize>>().filter(|_| samples_counted > 0);
        let iterations = self.folds.iter().map(|f| f.iterations).sum();
        let scoring = Scoring { purpose, machines: self.machines, levels, greatest_label: greatest_label(truth) };
        let scores = if self.pruned.is_some() {
            Vec::new()
        } else {
            scoring.scores(&truth.repeat(self.rounds), &self.predicted, &self.decisions)
        };
        Self {
            spread: statistics_of(&scores, &counted().map(|f| (&f.scores[..], f.train, f.test)).collect::<Vec<_>>()),
            scores,
            accuracy: correct.filter(|_| self.pruned.is_none()).map(|correct| correct as f64 / samples_counted as f64),
            correct: correct.unwrap_or(0),
            samples_counted,
            folds_counted: counted().count(),
            iterations,
            seed_steps: self.folds.iter().map(|f| f.seed_steps).sum(),
            total_iterations: iterations + self.full.as_ref().map_or(0, |f| f.iterations),
            ..self
        }
    }

    /// The worst status of all trainings.
    pub fn status(&self) -> Status {
        let all = self.folds.iter().map(|f| f.status).chain(self.full.iter().map(|f| f.status));
        all.reduce(Status::worse).unwrap_or(Status::Converged)
    }

    /// The worst certificate of all machines of all folds ([`CertificateReport::worse`]).
    pub fn certificate(&self) -> Option<CertificateReport> {
        self.folds.iter().map(|f| f.certificate).reduce(CertificateReport::worse)
    }

    /// The classes without a sample in some training sets, ascending by label.
    pub fn missing_classes(&self) -> Vec<MissingClass> {
        MissingClass::of(self.folds.iter().map(|fold| (fold.fold, &fold.missing_classes[..])))
    }

    /// Seconds in seeds, and seconds in solving, summed over all threads.
    pub fn seed_and_solve_seconds(&self) -> (f64, f64) {
        let seed = self.folds.iter().map(|f| f.seed_seconds).sum();
        let solve: f64 = self.folds.iter().map(|f| f.solve_seconds).sum();
        (seed, solve + self.full.as_ref().map_or(0.0, |f| f.solve_seconds))
    }
}
