//! The trace of a training: the iteration at which the gap first reached each power of ten.

use super::contender::{MeasuredSolver, Training};
use crate::failure::Failure;
use crate::measured::{LinearFigures, Measured, TracePoint};
use maxmargin::core::{Dual, Formulation, Progress, Refused, Run, Solve, Solved, Start};
use maxmargin::kernel::Space;
use std::sync::{Mutex, PoisonError};

/// The most powers of ten in a trace.
const MOST: usize = 12;

/// A solver whose gap is recorded at every iteration, or at every sweep where it has sweeps.
pub(crate) struct TracedSolver {
    usual: Box<dyn MeasuredSolver>,
    seen: Mutex<Vec<MachineTrace>>,
}

/// The record of the run of one machine.
#[derive(Default)]
struct MachineTrace {
    /// Powers of ten of the measure by which the solver stops.
    reached: Vec<TracePoint>,
    /// Steps and the gain in the objective so far, after every sweep.
    swept: Vec<(u64, f64)>,
}

impl TracedSolver {
    pub(crate) fn new(usual: Box<dyn MeasuredSolver>) -> Self {
        Self { usual, seen: Mutex::default() }
    }
}

/// Records the powers of ten that the gap reaches for the first time.
fn note(reached: &mut Vec<TracePoint>, iterations: u64, gap: f64) {
    while reached.len() < MOST {
        let next = 1.0 / 10_f64.powi(reached.len() as i32 + 1);
        if gap.is_nan() || gap > next {
            return;
        }
        reached.push(TracePoint { gap: next, iterations });
    }
}

impl MachineTrace {
    /// Records an event.
    fn take(&mut self, progress: &Progress) {
        note(&mut self.reached, progress.iterations, progress.violation);
        if progress.gained > 0.0 {
            self.swept.push((progress.iterations, progress.gained));
        }
    }

    /// Returns the trace. For a solver with sweeps it is the relative distance of the objective
    /// from the best one, which is known to `off`; for others it is their own measure.
    fn told(self, best: Option<f64>, off: f64) -> Vec<TracePoint> {
        let Some(best) = best.filter(|_| !self.swept.is_empty()) else { return self.reached };
        let mut reached = Vec::new();
        for (steps, gained) in self.swept {
            note(&mut reached, steps, ((best - gained) / best.abs()).max(0.0));
        }
        reached.retain(|reached| reached.gap > off);
        reached
    }
}

impl Solve for TracedSolver {
    fn name(&self) -> &'static str {
        self.usual.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.usual.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.usual.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let seen = Mutex::new(MachineTrace::default());
        let take = |progress: &Progress| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).take(progress);
            *progress
        };
        // A part of the run, so that it ends for the same reason.
        let control = run.control.child(take).traced();
        let mut traced = Run { stop: run.stop, refine: run.refine, par: run.par, machine: run.machine, control: &control };
        let solved = self.usual.solve(dual, space, start, &mut traced)?;
        drop(control);
        let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        Ok(solved)
    }
}

impl MeasuredSolver for TracedSolver {
    fn formulation(&self, c: f64) -> Formulation {
        self.usual.formulation(c)
    }

    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        self.usual.add_figures(training, measured)?;
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        // Gaps of several machines have no common order.
        if let (Some(seen), true) = (seen.pop(), seen.is_empty()) {
            let bound = measured.linear.as_ref().and_then(LinearFigures::bound_and_gap);
            measured.trace = Some(seen.told(bound.map(|(bound, _)| bound), bound.map_or(0.0, |(_, off)| off)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MachineTrace, TracePoint, note};

    fn pairs(reached: &[TracePoint]) -> Vec<(f64, u64)> {
        reached.iter().map(|reached| (reached.gap, reached.iterations)).collect()
    }

    #[test]
    fn each_power_of_ten_is_noted_when_it_is_first_reached() {
        let mut reached = Vec::new();
        for (iterations, gap) in [(0, f64::INFINITY), (3, 0.5), (4, 0.05), (5, 0.2), (6, f64::NAN), (7, 0.0005), (9, 1e-4)] {
            note(&mut reached, iterations, gap);
        }
        assert_eq!(pairs(&reached), [(0.1, 4), (0.01, 7), (0.001, 7), (1e-4, 9)]);
        note(&mut reached, 10, 0.0);
        assert_eq!(reached.len(), super::MOST);
    }

    #[test]
    fn objectives_are_set_against_the_best_as_far_as_it_is_known() {
        let seen =
            |swept: &[(u64, f64)]| MachineTrace { reached: vec![TracePoint { gap: 0.1, iterations: 1 }], swept: swept.to_vec() };
        let swept = [(10, 1.0), (20, 1.9), (30, 1.9985), (40, 2.0)];
        assert_eq!(pairs(&seen(&swept).told(Some(2.0), 1e-5)), [(0.1, 20), (0.01, 30), (0.001, 30), (1e-4, 40)]);
        assert_eq!(pairs(&seen(&swept).told(None, 0.0)), [(0.1, 1)], "without a bound its own measure");
        assert_eq!(pairs(&seen(&[]).told(Some(2.0), 1e-5)), [(0.1, 1)]);
    }
}
