//! Cross-validation whose folds have a kernel each: where samples are scaled by what a training set shows, and the training sets
//! show different things.

use crate::engine::CvError;
use crate::plan::FoldPlan;
use crate::problem::Pool;
use crate::report::{CvReport, FoldReport};
use crate::watch::{CvWatch, Relay, Stage};
use maxmargin_core::{Dual, Start, Stop, audit};
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, Rows};
use maxmargin_smo::{Refine, SmoConfig, solve};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Why a cross-validation whose folds have a kernel each cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ApartError<E> {
    /// A training set is not a two-class problem.
    #[error(transparent)]
    Cv(#[from] CvError),
    /// The caller could not make a fold's kernel or samples.
    #[error("{0}")]
    Kernel(E),
}

/// Cross-validates with the kernel that `gram_of(fold, training rows)` gives for each fold, over all samples in the order of the
/// data. `pool` is in that order too. Every fold starts from zero and uses all threads; rows are kept within `budget` bytes.
///
/// # Errors
///
/// When a training set has only one class, or a kernel cannot be made.
///
/// # Panics
///
/// When plan, pool and kernels are not of the same samples.
pub fn cross_validate_apart<G: Gram, E>(
    plan: &FoldPlan,
    pool: &Pool,
    mut gram_of: impl FnMut(usize, &[usize]) -> Result<G, E>,
    stop: &Stop,
    budget: u64,
    par: Par,
    watch: &dyn CvWatch,
) -> Result<CvReport, ApartError<E>> {
    let begun = Instant::now();
    let (done, folds) = (AtomicUsize::new(0), plan.folds());
    let mut report = CvReport::empty(pool.labels.len());
    for fold in 0..folds {
        let in_fold = |i: &usize| plan.fold_of()[*i] as usize == fold;
        let (test, train): (Vec<usize>, Vec<usize>) = (0..pool.labels.len()).partition(in_fold);
        let gram = gram_of(fold, &train).map_err(ApartError::Kernel)?;
        let pick = |values: &[f64]| train.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let dual = Dual::c_svc(train.clone(), pick(&pool.labels), pick(&pool.upper));
        let dual = dual.map_err(|source| CvError::Fold { fold, source })?;
        let rows = Rows::new(&gram, budget, par);
        let start = Start::zero(&dual).expect("0 is feasible for a C-SVC");
        let left = stop.max_time.map(|most: Duration| most.saturating_sub(begun.elapsed()));
        let stop = Stop { max_time: left, ..*stop };
        let mut relay = Relay { watch, stage: Stage::Fold(fold), done: &done, folds };
        let solving = Instant::now();
        let config = SmoConfig { refine: Refine::Exact, par };
        let solution = solve(&dual, &rows, start, &config, &stop, &mut relay).expect("a C-SVC has one balance of sums");
        let solve_seconds = solving.elapsed().as_secs_f64();
        let audit = audit(&gram, &[(&dual, &solution.alpha, solution.bias)], par).remove(0);
        done.fetch_add(1, Ordering::Relaxed);
        test.iter().for_each(|&i| report.decisions[i] = audit.decisions[i]);
        let correct = test.iter().filter(|&&i| (audit.decisions[i] >= 0.0) == (pool.labels[i] > 0.0)).count();
        let work = rows.work();
        report.certify_seconds += solving.elapsed().as_secs_f64() - solve_seconds;
        report.kernel_seconds += work.time.as_secs_f64();
        report.rows_computed += work.computed;
        report.kernel_bytes = report.kernel_bytes.max(work.peak_bytes);
        report.correct += correct;
        report.iterations += solution.work.iterations;
        let judged = FoldReport::of(fold, &dual, &solution, &audit, (test.len(), correct));
        report.folds.push(FoldReport { solve_seconds, rows_computed: work.computed, ..judged });
    }
    report.total_iterations = report.iterations;
    report.accuracy = report.correct as f64 / pool.labels.len() as f64;
    report.total_seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}
