//! One training: its problem, its solution so far, its judgement.

use crate::engine::Engine;
use crate::problem::{Fold, Trained};
use crate::watch::{Relay, Stage};
use maxmargin_core::{Audit, Dual, Progress, Solution, Start, Status, Stop, Watch, audit};
use maxmargin_data::Par;
use maxmargin_smo::{Refine, SmoConfig, solve};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Solutions audited in one pass over the kernel.
const AUDITED: usize = 65;

/// Rounds of exact gradients after which a fold that still misses the tolerance is given up.
const ROUNDS: usize = 20;

/// A training that has run.
pub(crate) struct Task {
    /// The fold; `None` for the model of all data.
    pub(crate) fold: Option<usize>,
    pub(crate) dual: Dual,
    pub(crate) hidden: Range<usize>,
    pub(crate) solution: Solution,
    pub(crate) audit: Option<Audit>,
    pub(crate) seed_steps: u64,
    pub(crate) breakpoints: u64,
    pub(crate) seed_seconds: f64,
    pub(crate) solve_seconds: f64,
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

    /// Seeds and solves one training to the tolerance as the solver sees it; its passes run on `par`.
    pub(crate) fn train(&self, dual: Dual, hidden: Range<usize>, from: Option<&Trained>, stage: Stage, par: Par) -> Task {
        let begun = Instant::now();
        let from = from.filter(|_| !self.stopped.load(Ordering::Relaxed));
        let start = from.and_then(|from| self.start(&dual, &hidden, from, stage));
        let zero = || (Start::zero(&dual).expect("0 is feasible for a C-SVC"), 0, 0);
        let (start, seed_steps, breakpoints) = start.unwrap_or_else(zero);
        let seed_seconds = begun.elapsed().as_secs_f64();
        let solution = self.solve(&dual, start, stage, par);
        let solve_seconds = begun.elapsed().as_secs_f64() - seed_seconds;
        let fold = if let Stage::Fold(h) = stage { Some(h) } else { None };
        self.done.fetch_add(usize::from(fold.is_some()), Ordering::Relaxed);
        Task { fold, dual, hidden, solution, audit: None, seed_steps, breakpoints, seed_seconds, solve_seconds }
    }

    fn solve(&self, dual: &Dual, start: Start, stage: Stage, par: Par) -> Solution {
        let config = SmoConfig { refine: Refine::Never, par };
        let solution = solve(dual, self.rows, start, &config, &self.stop(), &mut self.relay(stage));
        let solution = solution.expect("a C-SVC has one balance of sums");
        if matches!(solution.status, Status::Interrupted | Status::TimeLimit) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        solution
    }

    /// The seed's point as a start with its gradient, the rows read and the breakpoints passed to find it.
    fn start(&self, dual: &Dual, hidden: &Range<usize>, from: &Trained, stage: Stage) -> Option<(Start, u64, u64)> {
        let tol = self.config.stop.tol;
        let go_on = || {
            let solver = Progress { tol, rows_computed: self.rows.work().computed, ..Progress::default() };
            let late = self.stop().max_time.is_some_and(|left| left.is_zero());
            !late && self.relay(stage).tick(&solver).is_continue()
        };
        let fold = Fold { dual, hidden, pool: self.pool, rows: self.rows, tol, go_on: &go_on };
        let draft = self.config.seeding.draft(from, fold)?;
        let alpha = dual.ids().iter().map(|&i| draft.alpha()[i]).collect();
        let gradient = dual.ids().iter().map(|&i| self.pool.labels[i] * draft.sums()[i] - 1.0).collect();
        Some((Start::checked(dual, alpha).ok()?.with_gradient(gradient), draft.steps, draft.breakpoints))
    }

    /// Audits every solution in `f64`; those that miss the tolerance continue from their exact gradient until they meet it.
    pub(crate) fn certify(&self, tasks: &mut [Task]) -> f64 {
        let begun = Instant::now();
        let tol = self.config.stop.tol;
        let mut open: Vec<usize> = (0..tasks.len()).collect();
        for round in 0..=ROUNDS {
            for chunk in open.chunks(AUDITED) {
                self.tell_certifying();
                let point = |&t: &usize| (&tasks[t].dual, &tasks[t].solution.alpha[..], tasks[t].solution.bias);
                let points: Vec<_> = chunk.iter().map(point).collect();
                let audits = audit(self.rows.gram(), &points, self.par);
                chunk.iter().zip(audits).for_each(|(&t, audit)| tasks[t].audit = Some(audit));
            }
            open.retain(|&t| {
                let missed = tasks[t].audit.as_ref().is_some_and(|a| a.certificate.kkt > tol);
                missed && tasks[t].solution.status == Status::Converged
            });
            if open.is_empty() || round == ROUNDS {
                break;
            }
            for &t in &open {
                self.resume(&mut tasks[t]);
            }
        }
        for &t in &open {
            tasks[t].solution.status = tasks[t].solution.status.worse(Status::Stalled);
        }
        begun.elapsed().as_secs_f64()
    }

    /// Tells the watch that solutions are being judged. Whether to go on is not asked: what is known is to be reported.
    fn tell_certifying(&self) {
        let solver = Progress { tol: self.config.stop.tol, rows_computed: self.rows.work().computed, ..Progress::default() };
        let _ = self.relay(Stage::Certify).tick(&solver);
    }

    /// Continues a solution from its exact gradient.
    fn resume(&self, task: &mut Task) {
        let begun = Instant::now();
        let Some(audit) = &task.audit else { return };
        let alpha = std::mem::take(&mut task.solution.alpha);
        let start = Start::checked(&task.dual, alpha).expect("a solution is feasible").with_gradient(audit.gradient.clone());
        let before = task.solution.work;
        task.solution = self.solve(&task.dual, start, task.fold.map_or(Stage::Full, Stage::Fold), self.par);
        task.solution.work.iterations += before.iterations;
        task.solution.work.rows_requested += before.rows_requested;
        task.solution.work.rows_computed += before.rows_computed;
        task.solution.work.refinements = before.refinements + 1;
        task.solve_seconds += begun.elapsed().as_secs_f64();
    }
}
