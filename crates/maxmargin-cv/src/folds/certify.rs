//! The certificates of the trainings of a machine, and their continuation until they hold.

use crate::folds::task::Task;
use crate::folds::trainer::{Trainer, picked, spread};
use crate::run::control::{certificate_control, status_of};
use crate::run::error::CvError;
use maxmargin_core::{AuditPoint, Cancelled, KeptSums, Progress, Refine, Solution, Solved, Stage, Start, Status, Stop, audit};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Number of solutions that one pass over the kernel audits.
const AUDITED: usize = 65;

/// Number of continuations from exact gradients after which a fold that still misses its goal is
/// stalled.
const ROUNDS: usize = 20;

impl Trainer<'_> {
    /// Audits every solution in `f64` that has no certificate yet. Solutions that miss the goal
    /// continue from their exact gradient until they meet it. Afterwards, every solution with the
    /// status converged has a certificate that meets the goal. Returns the seconds spent.
    pub(crate) fn certify(&self, tasks: &mut [Task]) -> Result<f64, CvError> {
        let begun = Instant::now();
        let goal = self.stop.goal;
        let mut open: Vec<usize> = (0..tasks.len()).filter(|&t| tasks[t].audit.is_none()).collect();
        for round in 0..=ROUNDS {
            open.chunks(AUDITED).try_for_each(|chunk| self.audit(tasks, chunk))?;
            open.retain(|&t| {
                let task = &mut tasks[t];
                let certificate = &task.audit.as_ref().expect("audited just now").certificate;
                task.solution.status = goal.reached(task.solution.status, certificate);
                if goal.met(certificate) || task.solution.status != Status::Converged {
                    return false;
                }
                // A solver that stopped by exact gradients missed the goal by rounding only: one
                // continuation is enough.
                let last = if task.exact { 1 } else { ROUNDS };
                if round >= last {
                    task.solution.status = Status::Stalled;
                }
                round < last
            });
            if open.is_empty() {
                break;
            }
            if self.control.is_over() {
                // These solutions stay as they are; they have their certificates already.
                self.stopped.store(true, Ordering::Relaxed);
                open.iter().for_each(|&t| tasks[t].solution.status = status_of(self.control));
                break;
            }
            open.iter().try_for_each(|&t| self.resume(&mut tasks[t]))?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Computes the certificates of some tasks in one pass over the kernel.
    fn audit(&self, tasks: &mut [Task], chunk: &[usize]) -> Result<(), CvError> {
        let control = certificate_control(self.control, |progress| self.event(progress.stage));
        let stage = Stage::Certify { certified: 0, samples: self.space.len() };
        control.set_progress(&Progress { stage, ..Progress::default() });
        let source = self.space.exact(&control);
        let audits = source.and_then(|source| {
            let bounded: Vec<Option<KeptSums>> = chunk.iter().map(|&t| self.known_sums(tasks[t].fold, source)).collect();
            let mut points = Vec::with_capacity(chunk.len());
            for (&t, bounded) in chunk.iter().zip(&bounded) {
                let Task { dual, solution: Solution { alpha, bias, weights, .. }, first_sums, .. } = &tasks[t];
                let near = first_sums.as_ref().and_then(|first| first.near(dual, source, alpha));
                let known = near.or_else(|| bounded.as_ref().map(KeptSums::get));
                points.push(AuditPoint { dual, alpha, bias: *bias, weights: weights.as_deref(), known });
            }
            audit(source, &points, self.par, &control)
        });
        let audits = audits.map_err(|Cancelled| CvError::Ended(status_of(self.control)))?;
        for (&t, audit) in chunk.iter().zip(audits) {
            let task = &mut tasks[t];
            task.solution.weights = task.solution.weights.take().filter(|_| audit.of_weights);
            task.audit = Some(audit);
        }
        Ok(())
    }

    /// Continues a solution from its exact gradient.
    fn resume(&self, task: &mut Task) -> Result<(), CvError> {
        let begun = Instant::now();
        let Some(audit) = &task.audit else { return Ok(()) };
        let part = task.dual.taking_part();
        let (dual, kept) = part.as_ref().map_or((&task.dual, None), |(dual, kept)| (dual, Some(&kept[..])));
        // Values beyond the precision of their sum are no start.
        let Ok(start) = Start::checked(dual, picked(&task.solution.alpha, kept)) else {
            task.solution.status = Status::Stalled;
            return Ok(());
        };
        let start = start.with_gradient(picked(&audit.gradient, kept));
        let stage = task.fold.map_or(Stage::Full, Stage::Fold);
        if task.first_sums.is_none() {
            let control = self.stage_control(stage);
            let source = self.space.exact(&control).map_err(|Cancelled| CvError::Ended(status_of(self.control)))?;
            task.first_sums = audit.kept_sums(&task.dual, source, &task.solution.alpha);
        }
        let before = task.solution.work;
        let goal = if task.exact { self.stop.goal.times(0.5) } else { self.stop.goal };
        let stop = Stop { goal, ..self.stop.left(self.begun, before.iterations) };
        let solved = self.solve(dual, start, stage, self.par, stop, Refine::Never)?;
        task.exact = solved.exact;
        Solved::add_counts(&mut task.counts, &solved.counts);
        task.solution = spread(solved.solution, kept, task.dual.len());
        task.solution.work += before;
        task.solution.work.refinements = before.refinements + 1;
        task.solve_seconds += begun.elapsed().as_secs_f64();
        Ok(())
    }
}
