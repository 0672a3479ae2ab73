//! Cross-validation of linear SVMs: no kernel, rows instead; folds start from the model of all data.

use crate::apart::ApartError;
use crate::engine::CvError;
use crate::plan::FoldPlan;
use crate::problem::Pool;
use crate::report::{CvReport, FoldReport, FullReport};
use crate::watch::{CvWatch, Relay, Stage};
use maxmargin_core::{Audit, Dual, Loss, Offset, Start, Stop};
use maxmargin_data::{Par, Samples};
use maxmargin_linear::{Config, LinearSolution, Matrix, solve, warm};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What is solved in every fold.
#[derive(Clone, Copy, Debug)]
pub struct LinearCv {
    /// The loss.
    pub loss: Loss,
    /// The bias.
    pub offset: Offset,
    /// When a training stops.
    pub stop: Stop,
    /// How it goes; with more than one thread folds run side by side.
    pub config: Config,
}

/// Where the folds start.
#[derive(Clone, Copy, Debug)]
pub enum LinearStart<'a> {
    /// From zero.
    Cold,
    /// From the model of all data, which is trained first; that one starts from this α (in the order of the data), if there is one.
    Full(Option<&'a [f64]>),
}

/// Cross-validates over the rows of `samples`, in the order of the data, as `plan` and `pool` are.
///
/// # Errors
///
/// When a training set is no problem (one class only, with a bias that is not regularised), or the solver refuses it.
///
/// # Panics
///
/// When plan, pool and samples do not have one length.
pub fn cross_validate_linear(
    plan: &FoldPlan,
    pool: &Pool,
    samples: &Samples,
    cv: &LinearCv,
    start: LinearStart,
    watch: &dyn CvWatch,
) -> Result<CvReport, CvError> {
    Ok(run(plan, pool, samples, cv, start, watch)?.0)
}

/// One fold, (row, decision value) of its test samples, and its weights.
type Solved = (FoldReport, Vec<(usize, f64)>, Weights);

/// The weights of one fold, features ascending, and its bias.
pub(crate) type Weights = (Vec<(u32, f64)>, f64);

/// [`cross_validate_linear`], and the weights of each fold.
pub(crate) fn run(
    plan: &FoldPlan,
    pool: &Pool,
    samples: &Samples,
    cv: &LinearCv,
    start: LinearStart,
    watch: &dyn CvWatch,
) -> Result<(CvReport, Vec<Weights>), CvError> {
    let begun = Instant::now();
    let n = samples.len();
    assert!(plan.len() == n && pool.labels.len() == n, "one length");
    let matrix = Matrix::new(samples, cv.offset.feature(), cv.config.par);
    let run = LinearRun { plan, pool, cv, watch, done: AtomicUsize::new(0), begun };
    let full = match start {
        LinearStart::Cold => None,
        LinearStart::Full(from) => Some(run.full(&matrix, from)?),
    };
    let alpha = full.as_ref().map(|full| &full.alpha[..]);
    // Folds side by side, each on one thread: they are independent of each other.
    let folds = cv.config.par.map(plan.folds(), |fold| run.fold(fold, &matrix, samples, alpha, Par::Seq));
    let mut report = CvReport::empty(n);
    let mut weights = Vec::with_capacity(plan.folds());
    for fold in folds {
        let (fold, decisions, w) = fold?;
        decisions.into_iter().for_each(|(i, decision)| report.decisions[i] = decision);
        count(&mut report, fold);
        weights.push(w);
    }
    report.full = full;
    Ok((run.finish(report), weights))
}

/// The weights of all data.
pub(crate) fn all_data(pool: &Pool, samples: &Samples, cv: &LinearCv, watch: &dyn CvWatch) -> Result<Weights, CvError> {
    let plan = FoldPlan::from_folds(vec![0; samples.len()], 1);
    let matrix = Matrix::new(samples, cv.offset.feature(), cv.config.par);
    let run = LinearRun { plan: &plan, pool, cv, watch, done: AtomicUsize::new(0), begun: Instant::now() };
    let dual = run.dual((0..samples.len()).collect())?;
    let found = run.solve(&matrix, &dual, None, Stage::Full, cv.config.par)?;
    Ok((found.w, found.solution.bias))
}

/// The decision value of one row.
pub(crate) fn decision((w, bias): &Weights, samples: &Samples, row: usize) -> f64 {
    // Looked up, not spread out: one feature may have a number near 2³².
    let weight = |j: usize| w.binary_search_by_key(&j, |w| w.0 as usize).map_or(0.0, |at| w[at].1);
    let mut sum = *bias;
    samples.row(row).for_each(|j, v| sum += weight(j) * v);
    sum
}

/// As [`cross_validate_linear`], with the samples that `samples_of(fold, training rows)` gives for each fold (scaled by what the training rows show). Every
/// fold starts from zero.
///
/// # Errors
///
/// As [`cross_validate_linear`], and [`ApartError::Kernel`] when the samples of a fold cannot be made.
///
/// # Panics
///
/// As [`cross_validate_linear`].
pub fn cross_validate_linear_apart<E>(
    plan: &FoldPlan,
    pool: &Pool,
    mut samples_of: impl FnMut(usize, &[usize]) -> Result<Samples, E>,
    cv: &LinearCv,
    watch: &dyn CvWatch,
) -> Result<CvReport, ApartError<E>> {
    let run = LinearRun { plan, pool, cv, watch, done: AtomicUsize::new(0), begun: Instant::now() };
    let mut report = CvReport::empty(pool.labels.len());
    for fold in 0..plan.folds() {
        let samples = samples_of(fold, &run.train(fold)).map_err(ApartError::Kernel)?;
        let matrix = Matrix::new(&samples, cv.offset.feature(), cv.config.par);
        let (fold, decisions, _) = run.fold(fold, &matrix, &samples, None, cv.config.par)?;
        decisions.into_iter().for_each(|(i, decision)| report.decisions[i] = decision);
        count(&mut report, fold);
    }
    Ok(run.finish(report))
}

struct LinearRun<'a> {
    plan: &'a FoldPlan,
    pool: &'a Pool,
    cv: &'a LinearCv,
    watch: &'a dyn CvWatch,
    done: AtomicUsize,
    begun: Instant,
}

impl LinearRun<'_> {
    fn train(&self, fold: usize) -> Vec<usize> {
        (0..self.plan.len()).filter(|&i| self.plan.fold_of()[i] as usize != fold).collect()
    }

    fn dual(&self, ids: Vec<usize>) -> Result<Dual, maxmargin_core::DualError> {
        let pick = |values: &[f64]| ids.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let (labels, upper) = (pick(&self.pool.labels), pick(&self.pool.upper));
        Dual::svc(self.cv.loss, self.cv.offset, ids, labels, upper)
    }

    fn solve(
        &self,
        matrix: &Matrix,
        dual: &Dual,
        alpha: Option<Vec<f64>>,
        stage: Stage,
        par: Par,
    ) -> Result<LinearSolution, CvError> {
        let start = match alpha {
            Some(alpha) => Start::checked(dual, alpha).or_else(|_| Start::zero(dual)),
            None => Start::zero(dual),
        };
        let start = start.expect("0 is feasible for an SVM");
        let left = self.cv.stop.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        let stop = Stop { max_time: left, ..self.cv.stop };
        let mut relay = Relay { watch: self.watch, stage, done: &self.done, folds: self.plan.folds() };
        Ok(solve(matrix, dual, start, &Config { par, ..self.cv.config }, &stop, &mut relay)?)
    }

    fn full(&self, matrix: &Matrix, from: Option<&[f64]>) -> Result<FullReport, CvError> {
        let dual = self.dual((0..self.plan.len()).collect())?;
        let solving = Instant::now();
        let found = self.solve(matrix, &dual, from.map(<[f64]>::to_vec), Stage::Full, self.cv.config.par)?;
        Ok(FullReport {
            status: found.solution.status,
            iterations: found.solution.work.iterations,
            rows_computed: 0,
            solve_seconds: solving.elapsed().as_secs_f64(),
            objective: -found.certificate.dual,
            certificate: found.certificate.into(),
            alpha: found.solution.alpha,
            bias: found.solution.bias,
        })
    }

    /// One fold, the decision values of its test samples, and its weights.
    fn fold(&self, fold: usize, matrix: &Matrix, samples: &Samples, full: Option<&[f64]>, par: Par) -> Result<Solved, CvError> {
        let train = self.train(fold);
        let dual = self.dual(train.clone()).map_err(|source| CvError::Fold { fold, source })?;
        let seeding = Instant::now();
        let alpha = full.map(|full| {
            let mut alpha: Vec<f64> = train.iter().map(|&i| full[i]).collect();
            warm::balance(&dual, &mut alpha);
            alpha
        });
        let seed_seconds = seeding.elapsed().as_secs_f64();
        let solving = Instant::now();
        let found = self.solve(matrix, &dual, alpha, Stage::Fold(fold), par)?;
        let solve_seconds = solving.elapsed().as_secs_f64();
        self.done.fetch_add(1, Ordering::Relaxed);
        let weights = (found.w, found.solution.bias);
        let test = (0..self.plan.len()).filter(|&i| self.plan.fold_of()[i] as usize == fold);
        let decisions: Vec<(usize, f64)> = test.map(|i| (i, decision(&weights, samples, i))).collect();
        let correct = decisions.iter().filter(|(i, d)| (*d >= 0.0) == (self.pool.labels[*i] > 0.0)).count();
        let audit = Audit { certificate: found.certificate, gradient: Vec::new(), decisions: Vec::new() };
        let judged = FoldReport::of(fold, &dual, &found.solution, &audit, (decisions.len(), correct));
        Ok((FoldReport { seed_seconds, solve_seconds, ..judged }, decisions, weights))
    }

    fn finish(&self, mut report: CvReport) -> CvReport {
        report.total_iterations = report.iterations + report.full.as_ref().map_or(0, |f| f.iterations);
        report.accuracy = report.correct as f64 / self.plan.len() as f64;
        report.total_seconds = self.begun.elapsed().as_secs_f64();
        report
    }
}

/// Adds a fold to the sums.
fn count(report: &mut CvReport, fold: FoldReport) {
    report.correct += fold.correct;
    report.iterations += fold.iterations;
    report.folds.push(fold);
}
