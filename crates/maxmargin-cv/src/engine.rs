//! The cross-validation engine: one kernel for all folds, a start for each fold, one audit for all solutions.

use crate::outcome::{FoldModel, Outcome};
use crate::problem::{Order, Pool, Trained};
use crate::report::CvReport;
use crate::seed::{Seeding, Source, exact};
use crate::task::Task;
use crate::watch::{CvWatch, Stage};
use maxmargin_core::{DualError, Solution, Status, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use maxmargin_path::Path;
use maxmargin_simd::sums::{add_scaled, dot};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Instant;

/// Folds trained before their solutions are audited and let go: bounds the memory at a few times `n × BATCH` doubles.
const BATCH: usize = 64;

/// How the folds are trained.
#[derive(Clone, Debug)]
pub struct CvConfig {
    /// Where each fold starts.
    pub seeding: Seeding,
    /// When a training stops. `max_iter` counts for each training, `max_time` for the whole.
    pub stop: Stop,
}

/// Why a cross-validation cannot run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CvError {
    /// A training set is not a two-class problem.
    #[error("fold {fold}: {source}; choose other folds, such as stratified ones")]
    Fold {
        /// The fold.
        fold: usize,
        /// What is wrong with it.
        source: DualError,
    },
    /// A class of a multi-class problem has samples in one fold only.
    #[error(
        "all samples of class {label} are in fold {fold}, whose training set then has none; choose other folds, such as stratified ones"
    )]
    ClassInOneFold {
        /// The label.
        label: f64,
        /// The fold.
        fold: usize,
    },
    /// The whole data is not a two-class problem.
    #[error(transparent)]
    Data(#[from] DualError),
    /// The linear solver refuses the problem.
    #[error(transparent)]
    Linear(#[from] maxmargin_linear::LinearError),
}

/// Everything that is the same for all folds.
pub(crate) struct Engine<'a> {
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) pool: &'a Pool,
    pub(crate) config: &'a CvConfig,
    pub(crate) par: Par,
    pub(crate) watch: &'a dyn CvWatch,
    pub(crate) begun: Instant,
    /// Folds trained so far.
    pub(crate) done: AtomicUsize,
    pub(crate) folds: usize,
    /// Set once a training was interrupted or out of time: later ones do not bother with seeds.
    pub(crate) stopped: AtomicBool,
}

/// Cross-validates over the rows of a kernel whose samples are in the order of `order`; `pool` is in that order too.
///
/// Every fold's solution meets the tolerance by its exact certificate, unless its status says otherwise: results are those of `k`
/// cold trainings.
///
/// # Errors
///
/// When a training set has only one class.
pub fn cross_validate(
    order: &Order,
    pool: &Pool,
    rows: &Rows,
    config: &CvConfig,
    par: Par,
    watch: &dyn CvWatch,
) -> Result<CvReport, CvError> {
    Ok(run(order, pool, rows, config, par, watch, false)?.0)
}

/// [`cross_validate`], and the decision function of each fold where `keep` asks for them.
pub(crate) fn run(
    order: &Order,
    pool: &Pool,
    rows: &Rows,
    config: &CvConfig,
    par: Par,
    watch: &dyn CvWatch,
    keep: bool,
) -> Result<(CvReport, Vec<FoldModel>), CvError> {
    for fold in 0..order.folds() {
        pool.check(order.fold(fold)).map_err(|source| CvError::Fold { fold, source })?;
    }
    let engine = Engine {
        rows,
        pool,
        config,
        par,
        watch,
        begun: Instant::now(),
        done: AtomicUsize::new(0),
        folds: order.folds(),
        stopped: AtomicBool::new(false),
    };
    let mut outcome = Outcome::new(order, keep);
    match config.seeding.source() {
        Source::AllData => engine.run_from_all_data(order, &mut outcome)?,
        Source::PreviousFold => engine.run_chain(order, &mut outcome)?,
        Source::Nothing => engine.run_cold(order, &mut outcome)?,
    }
    let models = outcome.models.take().unwrap_or_default();
    Ok((outcome.finish(&engine), models))
}

impl<'a> Engine<'a> {
    /// Every fold from the model of all data. Folds that hold no support vector of it need no training: it is their solution.
    fn run_from_all_data(&self, order: &Order, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut full = Some(self.train(self.pool.dual(0..0)?, 0..0, None, Stage::Full, self.par));
        let path = full.as_mut().and_then(|task| self.make_exact(task));
        let mut from = full.as_ref().map(|task| self.trained(task)).expect("trained just now");
        from.path = path;
        if self.config.seeding == Seeding::Full {
            from.free_sums = Some(self.free_sums(&from));
        }
        let mut open: Vec<usize> = (0..self.folds).filter(|&h| from.touches(&order.fold(h))).collect();
        loop {
            let rest = open.split_off(open.len().min(BATCH));
            let mut tasks = self.train_all(order, &open, Some(&from))?;
            tasks.extend(full.take());
            outcome.certify_seconds += self.certify(&mut tasks);
            for task in tasks {
                if task.fold.is_none() {
                    // Refinement may have moved it: what leaves is judged by the final model.
                    from.alpha.clone_from(&task.solution.alpha);
                    outcome.set_full(order, &task);
                    continue;
                }
                outcome.add(&task, self.pool);
            }
            open = rest;
            if open.is_empty() {
                open = (0..self.folds).filter(|&h| !outcome.has(h) && from.touches(&order.fold(h))).collect();
            }
            if open.is_empty() {
                break;
            }
        }
        for h in 0..self.folds {
            if !outcome.has(h) {
                outcome.add_untouched(h, order.fold(h), self.pool);
            }
        }
        Ok(())
    }

    /// Folds in order, each from the one before.
    fn run_chain(&self, order: &Order, outcome: &mut Outcome) -> Result<(), CvError> {
        let mut from: Option<Trained> = None;
        for first in (0..self.folds).step_by(BATCH) {
            let mut tasks: Vec<Task> = Vec::new();
            for h in first..self.folds.min(first + BATCH) {
                let hidden = order.fold(h);
                tasks.push(self.train(self.pool.dual(hidden.clone())?, hidden, from.as_ref(), Stage::Fold(h), self.par));
                from = if h + 1 < self.folds { tasks.last().map(|task| self.trained(task)) } else { None };
            }
            outcome.certify_seconds += self.certify(&mut tasks);
            tasks.iter().for_each(|task| outcome.add(task, self.pool));
        }
        Ok(())
    }

    /// Every fold from zero. The first alone: it finds most of the rows that all need, on all threads.
    fn run_cold(&self, order: &Order, outcome: &mut Outcome) -> Result<(), CvError> {
        let hidden = order.fold(0);
        let mut tasks = vec![self.train(self.pool.dual(hidden.clone())?, hidden, None, Stage::Fold(0), self.par)];
        let mut next = 1;
        while next < self.folds {
            let batch: Vec<usize> = (next..self.folds.min(next + BATCH)).collect();
            next += batch.len();
            tasks.extend(self.train_all(order, &batch, None)?);
            outcome.certify_seconds += self.certify(&mut tasks);
            tasks.drain(..).for_each(|task| outcome.add(&task, self.pool));
        }
        Ok(())
    }

    /// Independent folds, side by side.
    fn train_all(&self, order: &Order, folds: &[usize], from: Option<&Trained>) -> Result<Vec<Task>, CvError> {
        // Folds side by side leave no thread to share passes with.
        let par = if folds.len() == 1 { self.par } else { Par::Seq };
        let train = |at: usize| {
            let hidden = order.fold(folds[at]);
            Ok(self.train(self.pool.dual(hidden.clone())?, hidden, from, Stage::Fold(folds[at]), par))
        };
        self.par.map(folds.len(), train).into_iter().collect()
    }

    /// Where the seeding follows paths: takes the model of all data to an exact solution, which they all start from.
    fn make_exact(&self, task: &mut Task) -> Option<Path<'a>> {
        let wanted = self.config.seeding == Seeding::Dec && task.solution.status == Status::Converged;
        let path = wanted.then(|| exact(&task.solution.alpha, self.pool, self.rows)).flatten()?;
        let solution = path.solution();
        task.solution = Solution { work: task.solution.work, ..solution };
        Some(path)
    }

    /// The solution of a task over all samples. Sums of hidden samples come from their own kernel rows.
    fn trained(&self, task: &Task) -> Trained<'a> {
        let n = self.pool.labels.len();
        let (mut alpha, mut sums) = (vec![0.0; n], vec![0.0; n]);
        let mut beta = vec![0.0; n];
        for (k, &i) in task.dual.ids().iter().enumerate() {
            alpha[i] = task.solution.alpha[k];
            beta[i] = self.pool.labels[i] * alpha[i];
            sums[i] = self.pool.labels[i] * (task.solution.gradient[k] + 1.0);
        }
        let hidden: Vec<usize> = task.hidden.clone().collect();
        for chunk in hidden.chunks(64) {
            self.rows.fetch(chunk);
            chunk.iter().for_each(|&t| sums[t] = dot(&beta, &self.rows.row(t)));
        }
        Trained { alpha, sums, bias: task.solution.bias, hidden: task.hidden.clone(), free_sums: None, path: None }
    }

    /// `Σ_j K_ij` over the free samples.
    fn free_sums(&self, from: &Trained) -> Vec<f64> {
        let free: Vec<usize> =
            (0..from.alpha.len()).filter(|&i| from.alpha[i] > 0.0 && from.alpha[i] < self.pool.upper[i]).collect();
        let mut sums = vec![0.0; from.alpha.len()];
        for block in free.chunks(64) {
            self.rows.fetch(block);
            let rows: Vec<_> = block.iter().map(|&j| self.rows.row(j)).collect();
            self.par.for_chunks(&mut sums, 4096, |chunk, sums| {
                let start = chunk * 4096;
                rows.iter().for_each(|row| add_scaled(sums, 1.0, &row[start..start + sums.len()]));
            });
        }
        sums
    }
}
