//! One training: seeds and solves it.

use crate::folds::carried::CarriedMachines;
use crate::folds::fold_factors::FoldBoxes;
use crate::folds::task::Task;
use crate::run::control::{status_of, training_control};
use crate::run::error::CvError;
use crate::seed::Seeding;
use crate::seed::bounded::BoundedSums;
use crate::seed::problem::{FoldProblem, Trained};
use crate::seed::row_boxes::{RowBoxes, alpha_of};
use crate::study::layout::HeldOut;
use maxmargin_core::{
    Dual, EndReason, Problem, Progress, Refine, Run, RunControl, Solution, Solve, Solved, Stage, Start, Status, Stop, Work,
    certify_gradient, gradient_from_sums, settle_twins, warm,
};
use maxmargin_data::Par;
use maxmargin_kernel::{Rows, Space};
use maxmargin_path::PathError;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// A feasible start and its price.
struct SeededStart {
    start: Start,
    /// Kernel rows read.
    steps: u64,
    /// Breakpoints of the exact path.
    breakpoints: u64,
}

impl From<Start> for SeededStart {
    fn from(start: Start) -> Self {
        Self { start, steps: 0, breakpoints: 0 }
    }
}

/// The rule that ends a cross-validation whose error count is too large to win.
#[derive(Clone, Copy)]
pub(crate) struct Prune<'a> {
    /// The largest number of errors that may still win.
    pub(crate) max_errors: usize,
    /// Counts the errors in the test samples of a fold, by the decision values of all rounds.
    pub(crate) errors_of: &'a (dyn Fn(usize, &[f64]) -> usize + Sync),
}

/// A machine of a study, and everything that all its trainings share.
pub(crate) struct Trainer<'a> {
    /// The problem of all data, with rows `0…n` of the space. A fold is the same problem with other
    /// boxes, some of them empty.
    pub(crate) problem: &'a Problem,
    /// The index of the machine in the study.
    pub(crate) machine: usize,
    pub(crate) space: Space<'a>,
    /// Boxes and kernel rows for seeds, if the problem is one that seeds handle.
    pub(crate) seeds: Option<(RowBoxes<'a>, &'a Rows<'a>)>,
    /// The rows that each fold holds out; possibly none.
    pub(crate) folds: &'a [HeldOut],
    /// The boxes of each fold that differ from those of all data by more than left-out samples.
    pub(crate) boxes: FoldBoxes<'a>,
    pub(crate) solver: &'a dyn Solve,
    pub(crate) seeding: Seeding,
    pub(crate) stop: Stop,
    pub(crate) par: Par,
    /// The control of the study, and of this machine.
    pub(crate) study_control: &'a RunControl<'a>,
    pub(crate) control: &'a RunControl<'a>,
    /// Bytes that an exact path may take.
    pub(crate) path_memory: u64,
    pub(crate) begun: Instant,
    /// Set if other machines' samples are decided too, so that the machines of folds must be kept.
    pub(crate) keep: bool,
    /// Set if certificates count the labels that their gap fixes.
    pub(crate) counts_fixed_labels: bool,
    /// The rule that ends the folds early. With it, folds are trained one by one, in order.
    pub(crate) prune: Option<Prune<'a>>,
    /// The kernel sums of samples at their bound, if they are kept along C.
    pub(crate) bounded: RwLock<Option<BoundedSums>>,
    /// The machines of the last value of C that may be machines of this one.
    pub(crate) carried: CarriedMachines,
    /// Set if another value of C follows.
    pub(crate) carries: bool,
    /// Folds trained so far.
    pub(crate) done: AtomicUsize,
    /// Set once a training was interrupted or ran out of time.
    pub(crate) stopped: AtomicBool,
}

impl<'a> Trainer<'a> {
    /// The rows that a training leaves out, ascending.
    pub(crate) fn hidden_in(&self, fold: Option<usize>) -> &'a [usize] {
        fold.map_or(&[], |h| &self.folds[h].out)
    }

    /// Moves `alpha` to the problem's equality constraint.
    pub(crate) fn balanced(dual: &Dual, mut alpha: Vec<f64>) -> Vec<f64> {
        warm::balance(dual, &mut alpha);
        alpha
    }

    /// Tags an event of a solver with the part of this machine.
    fn tag(&self, stage: Stage, progress: &Progress) -> Progress {
        // A fold that was thought to need no training may turn out to need one.
        let done = self.done.load(Ordering::Relaxed).min(self.folds.len());
        Progress { stage, done, total: self.folds.len(), ..*progress }
    }

    /// The event of work outside of solvers.
    pub(super) fn event(&self, stage: Stage) -> Progress {
        let (tol, rows_computed) = (self.stop.goal.tol(), self.space.rows_computed());
        self.tag(stage, &Progress { tol, rows_computed, ..Progress::default() })
    }

    /// The control of work outside of solvers, such as seeds.
    pub(crate) fn stage_control(&self, stage: Stage) -> RunControl<'_> {
        self.control.child(move |_| self.event(stage))
    }

    /// The problem of a fold, or of all data: the same variables with the fold's boxes.
    pub(crate) fn dual_of(&self, fold: Option<usize>) -> Result<Dual, CvError> {
        let Some(fold) = fold else { return Ok(self.problem.dual().clone()) };
        let mut takes_part = vec![true; self.space.len()];
        self.folds[fold].out.iter().for_each(|&i| takes_part[i] = false);
        let own = if self.boxes.differ(fold) { Some(self.boxes.problem(fold)?) } else { None };
        let problem = own.as_ref().unwrap_or(self.problem);
        problem.of_samples(|i| takes_part[i]).map_err(|source| CvError::Fold { fold, source })
    }

    /// Seeds and solves one training until the solver sees its tolerance met. Its passes run on
    /// `par`. `start` is α of all data.
    pub(crate) fn train(
        &self,
        fold: Option<usize>,
        start: Option<&[f64]>,
        from: Option<&Trained>,
        par: Par,
    ) -> Result<Task, CvError> {
        let begun = Instant::now();
        let dual = self.dual_of(fold)?;
        if let Some(task) = self.carried_task(fold, &dual) {
            return Ok(task);
        }
        let part = dual.taking_part();
        let own = part.as_ref().map_or(&dual, |part| &part.0);
        let kept = part.as_ref().map(|part| &part.1[..]);
        let from = from.filter(|_| !self.control.is_over());
        let hidden = self.hidden_in(fold);
        let stage = fold.map_or(Stage::Full, Stage::Fold);
        let found = match (from, start) {
            // Seeds keep every coefficient in the box of the problem that it came from.
            (Some(from), _) if fold.is_some_and(|h| self.boxes.differ(h)) => {
                let alpha = warm::along_c(&from.dual, &alpha_of(&from.dual, &from.beta), &dual);
                Start::checked(own, picked(&alpha, kept)).ok().map(SeededStart::from)
            }
            (Some(from), _) => self.start(own, hidden, from, stage)?,
            (None, Some(alpha)) => {
                let alpha = Self::balanced(own, picked(alpha, kept));
                let gradient = self.start_gradient(own, &alpha, par);
                let start = Start::checked(own, alpha).ok();
                start.map(|start| gradient.map_or(start.clone(), |gradient| start.with_gradient(gradient)).into())
            }
            (None, None) => None,
        };
        let SeededStart { start, steps: seed_steps, breakpoints } = match found {
            Some(found) => found,
            None => Start::cold(own)?.into(),
        };
        let seed_seconds = begun.elapsed().as_secs_f64();
        // Other trainings start from the gradients of all data, and some seeds from those of folds.
        let needs_gradient = fold.is_none() || self.seeding != Seeding::Full;
        let refine = if needs_gradient { Refine::Never } else { Refine::PointOnly };
        let Solved { solution, exact, counts } = self.solve(own, start, stage, par, self.stop.left(self.begun, 0), refine)?;
        let solution = spread(solution, kept, dual.len());
        let solve_seconds = begun.elapsed().as_secs_f64() - seed_seconds;
        self.done.fetch_add(usize::from(fold.is_some()), Ordering::Relaxed);
        Ok(Task {
            fold,
            dual,
            solution,
            exact,
            counts,
            audit: None,
            first_sums: None,
            decision: None,
            age: 0,
            seed_steps,
            breakpoints,
            seed_seconds,
            solve_seconds,
        })
    }

    /// The machine of the last value of C, if it is also that of `dual` and meets its goal there.
    /// It needs a new certificate, but no kernel value.
    fn carried_task(&self, fold: Option<usize>, dual: &Dual) -> Option<Task> {
        let begun = Instant::now();
        let mut task = self.carried.take(fold)?;
        let (solution, audit) = (&mut task.solution, task.audit.as_mut()?);
        if !warm::is_same_solution(&task.dual, &solution.alpha, dual) {
            return None;
        }
        audit.certificate = certify_gradient(dual, audit.source(self.space), &solution.alpha, solution.bias, &audit.gradient);
        if !self.stop.goal.met(&audit.certificate) {
            return None;
        }
        solution.work = Work::default();
        self.done.fetch_add(usize::from(fold.is_some()), Ordering::Relaxed);
        Some(Task {
            dual: dual.clone(),
            age: task.age + 1,
            first_sums: None,
            counts: Vec::new(),
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: begun.elapsed().as_secs_f64(),
            ..task
        })
    }

    /// Solves one problem from `start` until `stop`, which has the limits that are left.
    pub(super) fn solve(
        &self,
        dual: &Dual,
        start: Start,
        stage: Stage,
        par: Par,
        stop: Stop,
        refine: Refine,
    ) -> Result<Solved, CvError> {
        // Solvers check the time themselves, but only after their setup. That setup takes time for
        // each of thousands of machines, so it is skipped once the time is over.
        if self.control.is_over() {
            self.stopped.store(true, Ordering::Relaxed);
            let solution = Solution::not_begun(dual, start, status_of(self.control));
            return Ok(Solved { solution, exact: false, counts: Vec::new() });
        }
        let control = training_control(self.control, self.space, par, move |progress| self.tag(stage, progress));
        // The audit of all solutions together checks whether the goal is met.
        let mut run = Run { stop, refine, par, machine: self.machine, control: &control };
        let mut solved = self.solver.solve(dual, self.space, start, &mut run)?;
        if solved.solution.status == Status::TimeLimit {
            // The remaining time is that of certificates: no training begins.
            self.study_control.end(EndReason::TimeLimit);
        }
        settle_twins(dual, &mut solved.solution);
        if solved.solution.status.ended_early() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        Ok(solved)
    }

    /// The seed's point as a start with its gradient. Without seeds, the part of `from` that is in
    /// the training set.
    fn start(&self, dual: &Dual, hidden: &[usize], from: &Trained, stage: Stage) -> Result<Option<SeededStart>, CvError> {
        let (Some((boxes, _)), Some(rows)) = (&self.seeds, from.rows) else {
            let alpha = Self::balanced(dual, alpha_of(dual, &from.beta));
            return Ok(Start::checked(dual, alpha).ok().map(SeededStart::from));
        };
        let control = self.stage_control(stage);
        let (tol, memory) = (self.stop.goal.first_kkt(), self.path_memory);
        let bounded = self.bounded();
        let of_fold = if let Stage::Fold(fold) = stage { Some(fold) } else { None };
        let of_fold = of_fold.filter(|_| self.seeding == Seeding::Full);
        let bounded = bounded.as_ref().filter(|bounded| bounded.rows() == Some(rows.count())).zip(of_fold);
        let fold = FoldProblem { dual, hidden, boxes, rows, tol, control: &control, memory, bounded };
        let draft = match self.seeding.draft(from, fold) {
            Ok(Some(draft)) => draft,
            // The training that follows finds out itself that the run has ended.
            Ok(None) | Err(PathError::Interrupted) => return Ok(None),
            Err(source) => return Err(CvError::Path { seeding: self.seeding, source }),
        };
        let alpha = alpha_of(dual, draft.beta());
        let gradient = gradient_from_sums(dual, &alpha, |i| draft.sum(i));
        let start = Start::checked(dual, alpha).ok();
        Ok(start.map(|start| SeededStart {
            start: start.with_gradient(gradient),
            steps: draft.steps,
            breakpoints: draft.breakpoints,
        }))
    }
}

/// The entries of the variables that take part, from a vector over all variables.
pub(super) fn picked(values: &[f64], kept: Option<&[usize]>) -> Vec<f64> {
    kept.map_or_else(|| values.to_vec(), |kept| kept.iter().map(|&k| values[k]).collect())
}

/// Converts a solution of the variables that take part to one of all variables.
pub(super) fn spread(solution: Solution, kept: Option<&[usize]>, all: usize) -> Solution {
    let Some(kept) = kept else { return solution };
    let (mut alpha, mut gradient) = (vec![0.0; all], vec![f64::NAN; all]);
    for (at, &k) in kept.iter().enumerate() {
        alpha[k] = solution.alpha[at];
        gradient[k] = solution.gradient[at];
    }
    Solution { alpha, gradient, ..solution }
}
