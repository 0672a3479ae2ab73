//! The cross-validation engine: one kernel for all folds, a start for each fold, one audit for all solutions.

use crate::problem::{Fold, Order, Pool, Trained};
use crate::report::{CvReport, FoldReport, FullReport, worse};
use crate::seed::{Seeding, Source};
use crate::watch::{CvWatch, Relay, Stage};
use maxmargin_core::{Audit, Dual, DualError, Solution, Start, Status, Stop, audit};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use maxmargin_simd::sums::{add_scaled, dot};
use maxmargin_smo::{Refine, SmoConfig, solve};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The whole matrix is computed once this share of its rows was needed by the first training.
const PAYS: f64 = 0.3;

/// Solutions audited in one pass over the kernel: bounds the memory at `n × AUDITED` doubles.
const AUDITED: usize = 64;

/// Rounds of exact gradients after which a fold that still misses the tolerance is given up.
const ROUNDS: usize = 20;

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
    /// The whole data is not a two-class problem.
    #[error(transparent)]
    Data(#[from] DualError),
}

/// A training that has run: its problem, its solution so far, its judgement.
struct Task {
    dual: Dual,
    hidden: Range<usize>,
    solution: Solution,
    audit: Option<Audit>,
    seed_steps: u64,
    seed_seconds: f64,
    solve_seconds: f64,
}

/// Everything that is the same for all folds.
struct Engine<'a> {
    rows: &'a Rows<'a>,
    pool: &'a Pool,
    config: &'a CvConfig,
    par: Par<'a>,
    watch: &'a dyn CvWatch,
    begun: Instant,
    done: AtomicUsize,
    folds: usize,
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
    let folds = order.folds();
    let mut duals = Vec::with_capacity(folds);
    for fold in 0..folds {
        duals.push((pool.dual(order.fold(fold)).map_err(|source| CvError::Fold { fold, source })?, order.fold(fold)));
    }
    let begun = Instant::now();
    let engine = Engine { rows, pool, config, par, watch, begun, done: AtomicUsize::new(0), folds };
    let mut kernel_seconds = 0.0;
    let mut full = None;
    let mut tasks = match config.seeding.source() {
        Source::AllData => {
            let task = engine.train(pool.dual(0..0)?, 0..0, None, Stage::Full, rows);
            kernel_seconds += engine.complete();
            let mut from = engine.trained(&task, rows);
            if config.seeding == Seeding::Full {
                from.free_sums = Some(engine.free_sums(&from));
            }
            full = Some(task);
            engine.train_all(duals, Some(&from))
        }
        Source::PreviousFold => engine.train_chain(duals, &mut kernel_seconds),
        Source::Nothing => {
            let rest = duals.split_off(1);
            let mut tasks: Vec<Task> =
                duals.into_iter().map(|(dual, hidden)| engine.train(dual, hidden, None, Stage::Fold(0), rows)).collect();
            kernel_seconds += engine.complete();
            tasks.extend(engine.train_all(rest, None));
            tasks
        }
    };
    tasks.extend(full);
    let certify_seconds = engine.certify(&mut tasks);
    let full = if config.seeding.source() == Source::AllData { tasks.pop() } else { None };
    Ok(engine.report(order, &tasks, full.as_ref(), kernel_seconds, certify_seconds))
}

impl Engine<'_> {
    fn relay(&self, stage: Stage) -> Relay<'_> {
        Relay { watch: self.watch, stage, done: &self.done, folds: self.folds }
    }

    /// The stopping rule with what is left of the time.
    fn stop(&self) -> Stop {
        let left = |most: Duration| most.saturating_sub(self.begun.elapsed());
        Stop { max_time: self.config.stop.max_time.map(left), ..self.config.stop }
    }

    /// Seeds and solves one training to the tolerance as the solver sees it.
    fn train(&self, dual: Dual, hidden: Range<usize>, from: Option<&Trained>, stage: Stage, rows: &Rows) -> Task {
        let begun = Instant::now();
        let start = from.and_then(|from| self.start(&dual, &hidden, from, rows));
        let zero = || (Start::zero(&dual).expect("0 is feasible for a C-SVC"), 0);
        let (start, seed_steps) = start.unwrap_or_else(zero);
        let seed_seconds = begun.elapsed().as_secs_f64();
        let solution = self.solve(&dual, start, stage, rows);
        let solve_seconds = begun.elapsed().as_secs_f64() - seed_seconds;
        self.done.fetch_add(usize::from(stage != Stage::Full), Ordering::Relaxed);
        Task { dual, hidden, solution, audit: None, seed_steps, seed_seconds, solve_seconds }
    }

    fn solve(&self, dual: &Dual, start: Start, stage: Stage, rows: &Rows) -> Solution {
        let config = SmoConfig { refine: Refine::Never };
        solve(dual, rows, start, &config, &self.stop(), &mut self.relay(stage)).expect("a C-SVC has one balance of sums")
    }

    /// The seed's point as a start with its gradient, and the rows read to find it.
    fn start(&self, dual: &Dual, hidden: &Range<usize>, from: &Trained, rows: &Rows) -> Option<(Start, u64)> {
        let fold = Fold { dual, hidden, pool: self.pool, rows, tol: self.config.stop.tol };
        let draft = self.config.seeding.draft(from, fold)?;
        let alpha = dual.ids().iter().map(|&i| draft.alpha()[i]).collect();
        let gradient = dual.ids().iter().map(|&i| self.pool.labels[i] * draft.sums()[i] - 1.0).collect();
        Some((Start::checked(dual, alpha).ok()?.with_gradient(gradient), draft.steps))
    }

    /// Independent folds, side by side. Rows are then computed by the fold that needs them, on its own thread.
    fn train_all(&self, duals: Vec<(Dual, Range<usize>)>, from: Option<&Trained>) -> Vec<Task> {
        let rows = self.rows;
        let first = self.folds - duals.len();
        let duals: Vec<_> = duals.into_iter().map(|d| std::sync::Mutex::new(Some(d))).collect();
        self.par.map(duals.len(), |h| {
            let taken = duals[h].lock().map(|mut d| d.take()).ok().flatten();
            let (dual, hidden) = taken.expect("each fold is trained once");
            self.train(dual, hidden, from, Stage::Fold(first + h), rows)
        })
    }

    /// Folds in order, each from the one before.
    fn train_chain(&self, duals: Vec<(Dual, Range<usize>)>, kernel_seconds: &mut f64) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::with_capacity(duals.len());
        for (h, (dual, hidden)) in duals.into_iter().enumerate() {
            let from = tasks.last().map(|task| self.trained(task, self.rows));
            tasks.push(self.train(dual, hidden, from.as_ref(), Stage::Fold(h), self.rows));
            if h == 0 {
                *kernel_seconds += self.complete();
            }
        }
        tasks
    }

    /// Computes the rest of the matrix where the first training showed that most of it will be needed.
    fn complete(&self) -> f64 {
        let begun = Instant::now();
        let needed = self.rows.work().computed as f64;
        if self.rows.holds_all() && needed >= PAYS * self.pool.labels.len() as f64 {
            self.rows.complete();
        }
        begun.elapsed().as_secs_f64()
    }

    /// The solution of a task over all samples. Sums of hidden samples come from their own kernel rows.
    fn trained(&self, task: &Task, rows: &Rows) -> Trained {
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
            rows.fetch(chunk);
            chunk.iter().for_each(|&t| sums[t] = dot(&beta, &rows.row(t)));
        }
        Trained { alpha, sums, bias: task.solution.bias, hidden: task.hidden.clone(), free_sums: None }
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

    /// Audits every solution in `f64`; those that miss the tolerance continue from their exact gradient until they meet it.
    fn certify(&self, tasks: &mut [Task]) -> f64 {
        let begun = Instant::now();
        let tol = self.config.stop.tol;
        let mut open: Vec<usize> = (0..tasks.len()).collect();
        for _ in 0..ROUNDS {
            for chunk in open.chunks(AUDITED) {
                let points: Vec<_> =
                    chunk.iter().map(|&t| (&tasks[t].dual, &tasks[t].solution.alpha[..], tasks[t].solution.bias)).collect();
                let audits = audit(self.rows.gram(), &points, self.par);
                chunk.iter().zip(audits).for_each(|(&t, audit)| tasks[t].audit = Some(audit));
            }
            open.retain(|&t| {
                let missed = tasks[t].audit.as_ref().is_some_and(|a| a.certificate.kkt > tol);
                missed && matches!(tasks[t].solution.status, Status::Converged | Status::Stalled)
            });
            if open.is_empty() {
                return begun.elapsed().as_secs_f64();
            }
            for &t in &open {
                self.resume(&mut tasks[t], t);
            }
        }
        for &t in &open {
            tasks[t].solution.status = worse(tasks[t].solution.status, Status::Stalled);
        }
        begun.elapsed().as_secs_f64()
    }

    /// Continues a solution from its exact gradient.
    fn resume(&self, task: &mut Task, fold: usize) {
        let begun = Instant::now();
        let Some(audit) = &task.audit else { return };
        let alpha = std::mem::take(&mut task.solution.alpha);
        let start = Start::checked(&task.dual, alpha).expect("a solution is feasible").with_gradient(audit.gradient.clone());
        let before = task.solution.work;
        task.solution = self.solve(&task.dual, start, Stage::Fold(fold), self.rows);
        task.solution.work.iterations += before.iterations;
        task.solution.work.rows_requested += before.rows_requested;
        task.solution.work.rows_computed += before.rows_computed;
        task.solution.work.refinements = before.refinements + 1;
        task.solve_seconds += begun.elapsed().as_secs_f64();
    }

    fn report(&self, order: &Order, tasks: &[Task], full: Option<&Task>, kernel_seconds: f64, certify_seconds: f64) -> CvReport {
        let mut decisions = vec![0.0; self.pool.labels.len()];
        let mut folds = Vec::with_capacity(tasks.len());
        for (fold, task) in tasks.iter().enumerate() {
            let audit = task.audit.as_ref().expect("every task is audited");
            let mut correct = 0;
            for i in task.hidden.clone() {
                decisions[i] = audit.decisions[i];
                correct += usize::from((audit.decisions[i] >= 0.0) == (self.pool.labels[i] > 0.0));
            }
            let alpha = &task.solution.alpha;
            folds.push(FoldReport {
                fold,
                train: task.dual.len(),
                test: task.hidden.len(),
                status: task.solution.status,
                iterations: task.solution.work.iterations,
                rows_computed: task.solution.work.rows_computed,
                seed_steps: task.seed_steps,
                seed_seconds: task.seed_seconds,
                solve_seconds: task.solve_seconds,
                correct,
                objective: -audit.certificate.dual,
                support_vectors: alpha.iter().filter(|a| **a > 0.0).count(),
                bounded: alpha.iter().zip(task.dual.upper()).filter(|(a, u)| **a > 0.0 && a >= u).count(),
                certificate: audit.certificate.into(),
            });
        }
        let full = full.map(|task| {
            let audit = task.audit.as_ref().expect("every task is audited");
            FullReport {
                status: task.solution.status,
                iterations: task.solution.work.iterations,
                solve_seconds: task.solve_seconds,
                objective: -audit.certificate.dual,
                certificate: audit.certificate.into(),
                alpha: order.restore(&task.solution.alpha),
                bias: task.solution.bias,
            }
        });
        let correct = folds.iter().map(|f| f.correct).sum();
        let iterations = folds.iter().map(|f| f.iterations).sum();
        let mut report = CvReport {
            accuracy: correct as f64 / decisions.len() as f64,
            correct,
            iterations,
            total_iterations: iterations + full.as_ref().map_or(0, |f| f.iterations),
            folds,
            full,
            kernel_seconds,
            certify_seconds,
            total_seconds: self.begun.elapsed().as_secs_f64(),
            rows_computed: 0,
            kernel_bytes: 0,
            decisions: order.restore(&decisions),
        };
        report.count_rows(self.rows.work());
        report
    }
}
