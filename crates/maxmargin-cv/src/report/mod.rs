//! What trainings and cross-validations report. One shape for any number of machines.

mod certificate;
pub(crate) mod finished;

pub use finished::Finished;

pub use certificate::CertificateReport;

use crate::plan::FoldPlan;
use crate::report::finished::interned;
use maxmargin_core::{Certificate, Dual, Solution, Status, TargetKind};
use maxmargin_metrics::{NamedStatistics, statistics_of};
use maxmargin_metrics::{Score, greatest_label, scores};
use serde::{Deserialize, Deserializer, Serialize};

/// A name that lives as long as the program.
pub type Name = &'static str;

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    String::deserialize(from).map(|name| interned(&name))
}

/// One machine of a training or of a fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineReport {
    /// Its place among the machines.
    pub machine: usize,
    /// Samples that it was trained on.
    pub train: usize,
    /// How the training ended.
    pub status: Status,
    /// Solver iterations from the start to the goal.
    pub iterations: u64,
    /// Kernel rows that this training was the first to need (which of two parallel ones is first
    /// may vary).
    pub rows_computed: u64,
    /// Kernel rows read to find the start, each about half of an iteration.
    pub seed_steps: u64,
    /// Breakpoints of the exact path that the start came from, where it did.
    pub breakpoints: u64,
    /// Time to find the start.
    pub seed_seconds: f64,
    /// Time to solve from the start.
    pub solve_seconds: f64,
    /// LIBSVM's `obj`: `½ αᵀQα + linᵀα`.
    pub objective: f64,
    /// The bias.
    pub bias: f64,
    /// Training samples with α > 0.
    pub support_vectors: usize,
    /// Those of them with α = C.
    pub bounded: usize,
    /// Exact judgement of the solution.
    pub certificate: CertificateReport,
}

impl MachineReport {
    /// Whether this is a solution to judge samples by: nobody ended its training early, or it met
    /// the goal even so.
    pub fn is_solution(&self) -> bool {
        !self.status.ended_early() || self.certificate.holds
    }

    /// What a judged solution says; its place, seeds and times are the caller's.
    pub fn of(dual: &Dual, solution: &Solution, certificate: &Certificate, holds: bool) -> Self {
        let samples = samples_of(dual, &solution.alpha);
        Self {
            machine: 0,
            train: samples.iter().filter(|sample| sample.1 > 0.0).count(),
            status: solution.status,
            iterations: solution.work.iterations,
            rows_computed: solution.work.rows_computed,
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            objective: -certificate.dual,
            bias: solution.bias,
            support_vectors: samples.iter().filter(|sample| sample.0 != 0.0).count(),
            bounded: bounded_of(dual, &solution.alpha),
            certificate: CertificateReport::new(certificate, holds),
        }
    }
}

/// Samples whose coefficient is at its bound.
pub(crate) fn bounded_of(dual: &Dual, alpha: &[f64]) -> usize {
    samples_of(dual, alpha).iter().filter(|(coef, bound)| *coef != 0.0 && coef.abs() >= *bound).count()
}

/// The coefficient of each sample and its bound: regression has two variables for a sample, which
/// cancel each other.
fn samples_of(dual: &Dual, alpha: &[f64]) -> Vec<(f64, f64)> {
    let mut samples = vec![(0.0, 0.0_f64); dual.ids().iter().max().map_or(0, |id| id + 1)];
    for (k, &id) in dual.ids().iter().enumerate() {
        samples[id].0 += dual.sign()[k] * alpha[k];
        samples[id].1 = samples[id].1.max(dual.upper()[k]);
    }
    samples
}

/// One fold: the sums over its machines, their certificates together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldReport {
    /// Number of the fold, from 0.
    pub fold: usize,
    /// Its round, from 0 ([`FoldPlan::round`]).
    pub round: usize,
    /// Training samples.
    pub train: usize,
    /// Test samples.
    pub test: usize,
    /// Labels of the classes that its training set has no sample of: it cannot predict them.
    pub missing_classes: Vec<f64>,
    /// Whether every machine of the fold is a solution ([`MachineReport::is_solution`]): its
    /// predictions count.
    #[serde(skip)]
    pub solved: bool,
    /// Test samples predicted correctly; nothing where the fold has no solution, and where labels
    /// are not what is predicted.
    pub correct: Option<usize>,
    /// The scores of its test samples, by name; not numbers where the fold has no solution.
    #[serde(skip)]
    pub scores: Vec<Score>,
    /// The worst status of its machines.
    pub status: Status,
    /// Solver iterations from the seeds to the goal.
    pub iterations: u64,
    /// Kernel rows that this fold was the first to need.
    pub rows_computed: u64,
    /// Kernel rows read to find the starts.
    pub seed_steps: u64,
    /// Breakpoints of exact paths that starts came from.
    pub breakpoints: u64,
    /// Time to find the starts.
    pub seed_seconds: f64,
    /// Time to solve from the starts.
    pub solve_seconds: f64,
    /// Sum of the objectives.
    pub objective: f64,
    /// Different training samples with α > 0 in some machine.
    pub support_vectors: usize,
    /// α = C, summed over the machines.
    pub bounded: usize,
    /// That of its machines together ([`CertificateReport::worse`]).
    pub certificate: CertificateReport,
    /// The machines that were trained for this fold; those that are not listed are the machines of
    /// all data, which it shares.
    #[serde(skip)]
    pub machines: Vec<MachineReport>,
}

impl FoldReport {
    /// What `judged`, the machines that decide in a fold of (`train`, `test`) samples, say
    /// together, and what `own`, those trained for it, cost; who is right and how many vectors
    /// differ is the caller's.
    pub(crate) fn of<'m>(
        (fold, round): (usize, usize),
        (train, test): (usize, usize),
        judged: impl Iterator<Item = &'m MachineReport> + Clone,
        own: Vec<MachineReport>,
    ) -> Self {
        Self {
            fold,
            round,
            train,
            test,
            missing_classes: Vec::new(),
            solved: false,
            correct: None,
            scores: Vec::new(),
            status: judged.clone().map(|m| m.status).reduce(Status::worse).unwrap_or(Status::Converged),
            iterations: own.iter().map(|m| m.iterations).sum(),
            rows_computed: own.iter().map(|m| m.rows_computed).sum(),
            seed_steps: own.iter().map(|m| m.seed_steps).sum(),
            breakpoints: own.iter().map(|m| m.breakpoints).sum(),
            seed_seconds: own.iter().map(|m| m.seed_seconds).fold(0.0, std::ops::Add::add),
            solve_seconds: own.iter().map(|m| m.solve_seconds).fold(0.0, std::ops::Add::add),
            objective: judged.clone().map(|m| m.objective).fold(0.0, std::ops::Add::add),
            support_vectors: 0,
            bounded: judged.clone().map(|m| m.bounded).sum(),
            certificate: judged.map(|m| m.certificate).reduce(CertificateReport::worse).unwrap_or(CertificateReport::NO_MACHINE),
            machines: own,
        }
    }

    /// Fraction of its test samples predicted correctly, where the fold has a solution.
    pub fn accuracy(&self) -> Option<f64> {
        self.correct.map(|correct| correct as f64 / self.test as f64)
    }
}

/// A class without a sample in the training sets of some folds: these cannot predict it, and its
/// samples there count as errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingClass {
    /// Its label.
    pub label: f64,
    /// The folds, ascending.
    pub folds: Vec<usize>,
}

impl MissingClass {
    /// The classes that some folds lack, each with its folds, by their labels.
    pub fn of<'a>(folds: impl Iterator<Item = (usize, &'a [f64])>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (fold, label) in folds.flat_map(|(fold, labels)| labels.iter().map(move |label| (fold, *label))) {
            match found.iter_mut().find(|known| known.label == label) {
                Some(known) => known.folds.push(fold),
                None => found.push(Self { label, folds: vec![fold] }),
            }
        }
        found.sort_by(|a, b| a.label.total_cmp(&b.label));
        found
    }
}

/// The machines of all data, where the seeding trained them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullReport {
    /// The worst status.
    pub status: Status,
    /// Solver iterations.
    pub iterations: u64,
    /// Kernel rows computed for them.
    pub rows_computed: u64,
    /// Time to solve.
    pub solve_seconds: f64,
    /// Sum of the objectives.
    pub objective: f64,
    /// That of its machines together ([`CertificateReport::worse`]).
    pub certificate: CertificateReport,
    /// One for each machine.
    #[serde(skip)]
    pub machines: Vec<MachineReport>,
}

/// A whole cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CvReport {
    /// C.
    pub c: Option<f64>,
    /// The folds, in order.
    pub folds: Vec<FoldReport>,
    /// The machines of all data, where the seeding trained them.
    pub full: Option<FullReport>,
    /// The scores of the samples that are counted, by name.
    #[serde(skip)]
    pub scores: Vec<Score>,
    /// How the scores of the folds spread, by the names of their metrics: those of folds that have
    /// a solution.
    #[serde(skip)]
    pub spread: Vec<NamedStatistics>,
    /// How often samples are tested, at most ([`FoldPlan::rounds`]).
    pub rounds: usize,
    /// Samples that some fold tests; the others have no prediction.
    pub samples_tested: usize,
    /// Where the run was given up since more errors were made than allowed: their number, in the
    /// folds that were done. There are no scores then.
    pub lost: Option<usize>,
    /// Fraction of the samples that are counted which the model that did not see them predicts
    /// correctly; nothing where none is counted, and where labels are not what is predicted.
    pub accuracy: Option<f64>,
    /// Their number.
    pub correct: usize,
    /// Samples that are counted: those that are tested by folds that have a solution, each as often
    /// as it is tested.
    pub samples_counted: usize,
    /// Folds that have a solution.
    pub folds_counted: usize,
    /// How folds were started: `cold` where they could not be seeded.
    #[serde(deserialize_with = "name")]
    pub seeding: Name,
    /// Solver iterations of all folds.
    pub iterations: u64,
    /// Kernel rows that the seeds read, each about half of an iteration.
    pub seed_steps: u64,
    /// Iterations of all folds and of the machines of all data.
    pub total_iterations: u64,
    /// What solvers count besides, by name.
    #[serde(skip)]
    pub counts: Vec<(&'static str, u64)>,
    /// Time that solvers waited for kernel rows, summed over solvers that ran side by side; it is
    /// part of the time to solve.
    pub kernel_seconds: f64,
    /// Time in certificates, summed likewise.
    pub certify_seconds: f64,
    /// Whole time.
    pub total_seconds: f64,
    /// Kernel rows computed, each as long as its machine has samples; of several values of C those
    /// that this one was the first to need.
    pub rows_computed: u64,
    /// Most bytes of kernel rows held by one machine.
    pub kernel_bytes: u64,
    /// Number of machines.
    pub machines: usize,
    /// Exact decision values of every sample by the model that did not see it, in the order of the
    /// data: row-major samples × machines. Not numbers where its fold has no solution, and of
    /// samples that no fold tests. Where samples are tested several times, one such matrix for each
    /// round, one after the other.
    #[serde(skip)]
    pub decisions: Vec<f64>,
    /// The label that they elect, or not a number: rounds × samples.
    #[serde(skip)]
    pub predicted: Vec<f64>,
}

impl CvReport {
    /// Nothing done yet for so many machines.
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
            lost: None,
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
            decisions: vec![f64::NAN; tests * machines],
            predicted: vec![f64::NAN; tests],
        }
    }

    /// Sums up over the folds, whose samples have `truth` for labels: who is right, and how much
    /// work it was.
    pub(crate) fn summed(self, needs: TargetKind, truth: &[f64]) -> Self {
        let counted = || self.folds.iter().filter(|f| f.solved);
        let samples_counted: usize = counted().map(|f| f.test).sum();
        let correct = counted().map(|f| f.correct).sum::<Option<usize>>().filter(|_| samples_counted > 0);
        let iterations = self.folds.iter().map(|f| f.iterations).sum();
        let scores = if self.lost.is_some() {
            Vec::new()
        } else {
            scores(
                needs,
                greatest_label(truth),
                &truth.repeat(self.rounds),
                &self.predicted,
                (self.machines == 1).then_some(&self.decisions[..]),
            )
        };
        Self {
            spread: statistics_of(&scores, &counted().map(|f| (&f.scores[..], f.train, f.test)).collect::<Vec<_>>()),
            scores,
            accuracy: correct.filter(|_| self.lost.is_none()).map(|correct| correct as f64 / samples_counted as f64),
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

    /// That of all machines of all folds together ([`CertificateReport::worse`]): what every report
    /// shows of a cross-validation.
    pub fn certificate(&self) -> Option<CertificateReport> {
        self.folds.iter().map(|f| f.certificate).reduce(CertificateReport::worse)
    }

    /// Classes that some training sets have no sample of, by their labels.
    pub fn missing_classes(&self) -> Vec<MissingClass> {
        MissingClass::of(self.folds.iter().map(|fold| (fold.fold, &fold.missing_classes[..])))
    }

    /// Seconds of all threads together in seeds, and in solving.
    pub fn seed_and_solve_seconds(&self) -> (f64, f64) {
        let seed = self.folds.iter().map(|f| f.seed_seconds).sum();
        let solve: f64 = self.folds.iter().map(|f| f.solve_seconds).sum();
        (seed, solve + self.full.as_ref().map_or(0.0, |f| f.solve_seconds))
    }
}
