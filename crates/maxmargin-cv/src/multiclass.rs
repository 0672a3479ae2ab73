//! Cross-validation of any number of classes: each pair of classes is cross-validated as a problem of its own, and the machines of a fold
//! vote on its test samples.

use crate::engine::{CvConfig, CvError, run};
use crate::linear::{self, LinearCv, LinearStart, Weights};
use crate::one_vs_one::map_pairs;
use crate::outcome::FoldModel;
use crate::plan::FoldPlan;
use crate::problem::{Order, Pool};
use crate::report::{CertificateReport, CvReport};
use crate::watch::{CvProgress, CvWatch, Stage};
use maxmargin_core::{Dual, Progress, Start, Status, Stop};
use maxmargin_data::classes::{elected, pairs};
use maxmargin_data::{ClassLabels, Par, Samples};
use maxmargin_kernel::{Gram, Rows, Subset, apply_exact};
use maxmargin_smo::solve_certified;
use serde::Serialize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// One fold: the machines of all pairs, and what they elect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MulticlassFold {
    /// Number of the fold, from 0.
    pub fold: usize,
    /// Training samples.
    pub train: usize,
    /// Test samples.
    pub test: usize,
    /// Test samples whose class was elected.
    pub correct: usize,
    /// The worst status of its machines.
    pub status: Status,
    /// Solver iterations of all its machines.
    pub iterations: u64,
    /// Different training samples with α > 0 in some machine, where machines keep them.
    pub support_vectors: Option<usize>,
    /// The largest KKT violation of its machines.
    pub kkt: f64,
    /// The largest relative gap of its machines.
    pub relative_gap: f64,
}

/// One pair of classes over all folds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairReport {
    /// Label of the earlier class.
    pub negative: f64,
    /// Label of the later class.
    pub positive: f64,
    /// Samples of both.
    pub samples: usize,
    /// Those of them that their own machine tells apart, when it has not seen them.
    pub correct: usize,
    /// Solver iterations of all folds, and of the machine of all data where the seeding trained one.
    pub iterations: u64,
    /// The machine of all data, where the seeding trained one.
    pub full: Option<CertificateReport>,
}

/// A whole cross-validation of any number of classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MulticlassCvReport {
    /// The folds, in order.
    pub folds: Vec<MulticlassFold>,
    /// The pairs, in the order of [`pairs`].
    pub pairs: Vec<PairReport>,
    /// Fraction of samples whose class was elected.
    pub accuracy: f64,
    /// Samples whose class was elected.
    pub correct: usize,
    /// Solver iterations of all folds.
    pub iterations: u64,
    /// Solver iterations of all folds and of the machines of all data.
    pub total_iterations: u64,
    /// Kernel rows computed, each as long as its pair has samples.
    pub rows_computed: u64,
    /// Time that solvers waited for kernel rows, summed over solvers that ran side by side.
    pub kernel_seconds: f64,
    /// Time in certificates, summed likewise.
    pub certify_seconds: f64,
    /// Time to find starts, summed likewise.
    pub seed_seconds: f64,
    /// Time to solve, summed likewise.
    pub solve_seconds: f64,
    /// Whole time.
    pub total_seconds: f64,
    /// The elected class of every sample, as a position among the classes, in the order of the data.
    #[serde(skip)]
    pub elected: Vec<u32>,
}

impl MulticlassCvReport {
    /// The worst status of all trainings.
    pub fn status(&self) -> Status {
        self.folds.iter().map(|f| f.status).reduce(Status::worse).unwrap_or(Status::Converged)
    }

    /// Nothing done yet.
    pub(crate) fn empty(plan: &FoldPlan) -> Self {
        let mut folds: Vec<MulticlassFold> = (0..plan.folds())
            .map(|fold| MulticlassFold {
                fold,
                train: plan.len(),
                test: 0,
                correct: 0,
                status: Status::Converged,
                iterations: 0,
                support_vectors: None,
                kkt: 0.0,
                relative_gap: 0.0,
            })
            .collect();
        for &fold in plan.fold_of() {
            folds[fold as usize].test += 1;
            folds[fold as usize].train -= 1;
        }
        Self {
            folds,
            pairs: Vec::new(),
            accuracy: 0.0,
            correct: 0,
            iterations: 0,
            total_iterations: 0,
            rows_computed: 0,
            kernel_seconds: 0.0,
            certify_seconds: 0.0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            total_seconds: 0.0,
            elected: vec![0; plan.len()],
        }
    }

    /// Takes the two-class cross-validation of the next pair; fold `h` of it is fold `kept[h]` of the whole.
    pub(crate) fn add_pair(&mut self, (negative, positive): (f64, f64), report: &CvReport, kept: &[usize]) {
        for fold in &report.folds {
            self.judge(kept[fold.fold], fold.status, fold.iterations, fold.certificate);
            self.seed_seconds += fold.seed_seconds;
            self.solve_seconds += fold.solve_seconds;
        }
        let full = report.full.as_ref();
        self.solve_seconds += full.map_or(0.0, |full| full.solve_seconds);
        self.iterations += report.iterations;
        self.total_iterations += report.total_iterations;
        self.rows_computed += report.rows_computed;
        self.kernel_seconds += report.kernel_seconds;
        self.certify_seconds += report.certify_seconds;
        self.pairs.push(PairReport {
            negative,
            positive,
            samples: report.decisions.len(),
            correct: report.correct,
            iterations: report.total_iterations,
            full: full.map(|full| full.certificate),
        });
    }

    /// Takes one machine of a fold.
    pub(crate) fn judge(&mut self, fold: usize, status: Status, iterations: u64, certificate: CertificateReport) {
        let fold = &mut self.folds[fold];
        fold.status = fold.status.worse(status);
        fold.iterations += iterations;
        fold.kkt = fold.kkt.max(certificate.kkt);
        fold.relative_gap = fold.relative_gap.max(certificate.relative_gap);
    }

    /// Counts the votes of one test sample of `fold`: `row` in the data, of class `class`.
    pub(crate) fn vote(&mut self, fold: usize, row: usize, class: u32, classes: usize, decisions: &[f64]) {
        let winner = elected(classes, decisions) as u32;
        self.elected[row] = winner;
        self.folds[fold].correct += usize::from(winner == class);
        self.correct += usize::from(winner == class);
    }

    pub(crate) fn finish(mut self, begun: Instant) -> Self {
        self.accuracy = self.correct as f64 / self.elected.len() as f64;
        self.total_seconds = begun.elapsed().as_secs_f64();
        self
    }
}

/// The samples of a pair of classes.
pub(crate) struct PairSamples {
    /// Positions, ascending.
    pub(crate) rows: Vec<usize>,
    /// −1 for the earlier class, +1 for the later.
    pub(crate) signs: Vec<f64>,
}

/// The samples of every pair, `class_of` telling their classes.
pub(crate) fn samples_of_pairs(class_of: &[u32], classes: usize) -> Vec<PairSamples> {
    let mut members = vec![Vec::new(); classes];
    class_of.iter().enumerate().for_each(|(i, &class)| members[class as usize].push(i));
    let samples = |(a, b): (usize, usize)| {
        let mut rows = [&members[a][..], &members[b][..]].concat();
        rows.sort_unstable();
        let signs = rows.iter().map(|&i| if class_of[i] as usize == b { 1.0 } else { -1.0 }).collect();
        PairSamples { rows, signs }
    };
    pairs(classes).map(samples).collect()
}

/// Whether every class has samples in at least two folds.
pub(crate) fn check_folds(plan: &FoldPlan, labels: &ClassLabels) -> Result<(), CvError> {
    let mut first = vec![None; labels.count()];
    let mut several = vec![false; labels.count()];
    for (&class, &fold) in labels.of().iter().zip(plan.fold_of()) {
        let class = class as usize;
        several[class] |= *first[class].get_or_insert(fold) != fold;
    }
    match several.iter().position(|several| !several) {
        None => Ok(()),
        Some(class) => Err(CvError::ClassInOneFold { label: labels.labels()[class], fold: first[class].unwrap_or(0) as usize }),
    }
}

/// Passes the progress of a pair's cross-validation on as progress of the whole.
pub(crate) struct OfPair<'a> {
    pub(crate) watch: &'a dyn CvWatch,
    pub(crate) pair: usize,
    pub(crate) pairs: usize,
    pub(crate) done: &'a AtomicUsize,
}

impl CvWatch for OfPair<'_> {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        let done = self.done.load(Ordering::Relaxed);
        self.watch.tick(&CvProgress { stage: Stage::Pair(self.pair), done, folds: self.pairs, ..*progress })
    }
}

/// Cross-validates any number of classes over `gram`, whose samples are in the order of `order` ([`Order::by_class`] of `plan` and `labels`); `upper` is
/// the `C` of each sample in that order too. `plan` and `labels` are in the order of the data.
///
/// Each pair of classes is a cross-validation of its own, with its own rows of the kernel within `budget` bytes (all that run at once), so that
/// every seeding works; every machine has a certificate. The votes come from exact kernel values.
///
/// # Errors
///
/// When a class has samples in one fold only, or a `C` is not possible.
#[expect(clippy::too_many_arguments, reason = "the parts of a problem")]
pub fn cross_validate_multiclass(
    plan: &FoldPlan,
    labels: &ClassLabels,
    order: &Order,
    upper: &[f64],
    gram: &dyn Gram,
    budget: u64,
    config: &CvConfig,
    par: Par,
    watch: &dyn CvWatch,
) -> Result<MulticlassCvReport, CvError> {
    let begun = Instant::now();
    check_folds(plan, labels)?;
    let sorted_plan = FoldPlan::from_folds(order.sort(plan.fold_of()), plan.folds());
    let class_of = order.sort(labels.of());
    let done = AtomicUsize::new(0);
    let samples = samples_of_pairs(&class_of, labels.count());
    let budget = budget / par.threads() as u64;
    let run_pair = |p: usize, pair_par: Par| -> Result<_, CvError> {
        let PairSamples { rows, signs } = &samples[p];
        let relay = OfPair { watch, pair: p, pairs: samples.len(), done: &done };
        let (plan, kept) = sorted_plan.restricted(rows);
        let own = Order::new(&plan, signs);
        let ids: Vec<usize> = own.sort(rows);
        let part = Subset::new(gram, ids.clone());
        let store = Rows::new(&part, budget, par);
        let pool = Pool { labels: own.sort(signs), upper: ids.iter().map(|&i| upper[i]).collect() };
        let left = config.stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
        let config = CvConfig { stop: Stop { max_time: left, ..config.stop }, ..config.clone() };
        let (report, models) = run(&own, &pool, &store, &config, pair_par, &relay, true)?;
        let missing = (plan.folds() < sorted_plan.folds()).then(|| all_data(&pool, &store, &config, pair_par, &relay));
        done.fetch_add(1, Ordering::Relaxed);
        let sorted = |mut model: FoldModel| {
            model.terms.iter_mut().for_each(|term| term.0 = ids[term.0]);
            model
        };
        Ok((report, kept, models.into_iter().map(sorted).collect::<Vec<_>>(), missing.transpose()?.map(sorted)))
    };
    let found = map_pairs(samples.len(), par, run_pair)?;
    let mut report = MulticlassCvReport::empty(plan);
    let mut machines: Vec<Vec<FoldModel>> = vec![vec![FoldModel::default(); samples.len()]; plan.folds()];
    for (p, ((a, b), (pair, kept, models, missing))) in pairs(labels.count()).zip(found).enumerate() {
        report.add_pair((labels.labels()[a], labels.labels()[b]), &pair, &kept);
        place(&mut machines, p, &kept, models, missing);
    }
    for (fold, machines) in machines.iter().enumerate() {
        let range = order.fold(fold);
        let (decisions, support_vectors) = decide(gram, machines, range.clone(), par);
        report.folds[fold].support_vectors = Some(support_vectors);
        for (i, decisions) in range.zip(decisions.chunks_exact(samples.len())) {
            report.vote(fold, order.original()[i], class_of[i], labels.count(), decisions);
        }
    }
    Ok(report.finish(begun))
}

/// Cross-validates any number of classes by linear SVMs over the rows of `samples`; all is in the order of the data. `upper` is the `C` of each sample. An
/// α in `start` belongs to two classes and is not used.
///
/// # Errors
///
/// When a class has samples in one fold only, or the solver refuses a problem.
///
/// # Panics
///
/// When plan, labels and samples do not have one length.
pub fn cross_validate_linear_multiclass(
    plan: &FoldPlan,
    labels: &ClassLabels,
    upper: &[f64],
    samples: &Samples,
    cv: &LinearCv,
    start: LinearStart,
    watch: &dyn CvWatch,
) -> Result<MulticlassCvReport, CvError> {
    let begun = Instant::now();
    assert!(plan.len() == samples.len() && labels.of().len() == samples.len(), "one length");
    check_folds(plan, labels)?;
    let done = AtomicUsize::new(0);
    let (folds, of_pairs) = (plan.folds(), samples_of_pairs(labels.of(), labels.count()));
    let run_pair = |p: usize, par: Par| -> Result<_, CvError> {
        let PairSamples { rows, signs } = &of_pairs[p];
        let relay = OfPair { watch, pair: p, pairs: of_pairs.len(), done: &done };
        let (plan, kept) = plan.restricted(rows);
        let pool = Pool { labels: signs.clone(), upper: rows.iter().map(|&i| upper[i]).collect() };
        let left = cv.stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
        let stop = Stop { max_time: left, ..cv.stop };
        let cv = LinearCv { stop, config: maxmargin_linear::Config { par, ..cv.config }, ..*cv };
        let start = if matches!(start, LinearStart::Cold) { LinearStart::Cold } else { LinearStart::Full(None) };
        let own = samples.select(rows);
        let (report, weights) = linear::run(&plan, &pool, &own, &cv, start, &relay)?;
        let missing = if kept.len() < folds { Some(linear::all_data(&pool, &own, &cv, &relay)?) } else { None };
        done.fetch_add(1, Ordering::Relaxed);
        Ok((report, kept, weights, missing))
    };
    let found = map_pairs(of_pairs.len(), cv.config.par, run_pair)?;
    let mut report = MulticlassCvReport::empty(plan);
    let mut machines: Vec<Vec<Weights>> = vec![vec![Weights::default(); of_pairs.len()]; plan.folds()];
    for (p, ((a, b), (pair, kept, weights, missing))) in pairs(labels.count()).zip(found).enumerate() {
        report.add_pair((labels.labels()[a], labels.labels()[b]), &pair, &kept);
        place(&mut machines, p, &kept, weights, missing);
    }
    let decisions = |i: usize| {
        let machines = &machines[plan.fold_of()[i] as usize];
        machines.iter().map(|weights| linear::decision(weights, samples, i)).collect::<Vec<f64>>()
    };
    for (i, decisions) in cv.config.par.map(samples.len(), decisions).iter().enumerate() {
        report.vote(plan.fold_of()[i] as usize, i, labels.of()[i], labels.count(), decisions);
    }
    Ok(report.finish(begun))
}

/// Puts the machines of pair `p` into their folds, and the one of all its data into folds that test none of its samples.
fn place<M: Clone + Default>(machines: &mut [Vec<M>], p: usize, kept: &[usize], models: Vec<M>, missing: Option<M>) {
    if let Some(missing) = missing {
        machines.iter_mut().for_each(|fold| fold[p] = missing.clone());
    }
    kept.iter().zip(models).for_each(|(&fold, model)| machines[fold][p] = model);
}

/// The machine of all samples of a pair, for folds that test none of them.
fn all_data(pool: &Pool, rows: &Rows, config: &CvConfig, par: Par, watch: &OfPair) -> Result<FoldModel, CvError> {
    let dual: Dual = pool.dual(0..0)?;
    let start = Start::zero(&dual).expect("0 is feasible for a C-SVC");
    let mut tick = |solver: &Progress| watch.tick(&CvProgress { stage: Stage::Full, done: 0, folds: 0, solver: *solver });
    let solved = solve_certified(&dual, rows, start, par, &config.stop, &mut tick);
    let (solution, _) = solved.expect("a C-SVC has one balance of sums");
    Ok(FoldModel::of(&dual, &solution))
}

/// Exact decision values of the samples `columns` by several machines, row-major, and how many different support vectors they have.
fn decide(gram: &dyn Gram, machines: &[FoldModel], columns: Range<usize>, par: Par) -> (Vec<f64>, usize) {
    let width = machines.len();
    let mut place = vec![usize::MAX; gram.len()];
    machines.iter().flat_map(|m| &m.terms).for_each(|term| place[term.0] = 0);
    let ids: Vec<usize> = (0..gram.len()).filter(|&i| place[i] == 0).collect();
    ids.iter().enumerate().for_each(|(at, &id)| place[id] = at);
    let mut coef = vec![0.0; ids.len() * width];
    for (p, machine) in machines.iter().enumerate() {
        machine.terms.iter().for_each(|&(id, c)| coef[place[id] * width + p] = c);
    }
    let mut decisions = apply_exact(gram, &ids, &coef, width, columns, par);
    for row in decisions.chunks_exact_mut(width) {
        row.iter_mut().zip(machines).for_each(|(value, machine)| *value += machine.bias);
    }
    (decisions, ids.len())
}
