//! The [`Solve`] implementation of the linear solvers.

use crate::config::{Config, LinearWork, Method};
use crate::solve::{LinearSolution, solve};
use maxmargin_core::{BiasTerm, Dual, Formulation, Goal, Reason, Refused, Run, Solve, Solved, Start, Status, Stop, Work};
use maxmargin_kernel::Space;
use std::time::Instant;

/// A solver for duals without equality constraint or with one sum, over features.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// The method.
    pub method: Method,
    /// The seed of the random orders.
    pub seed: u64,
}

impl Default for Linear {
    fn default() -> Self {
        let Config { method, seed, .. } = Config::default();
        Self { method, seed }
    }
}

/// The times that a run continues at a share of the tolerance before it is given up, and that
/// share. The first pair is for a missed violation. The second is for a missed gap, which may need
/// a far smaller violation.
const VIOLATION: (u32, f64) = (10, 0.5);
const GAP: (u32, f64) = (20, 0.2);

impl Linear {
    fn refused(&self, reason: Reason) -> Refused {
        Refused::new(self.name(), reason)
    }
}

impl Solve for Linear {
    fn name(&self) -> &'static str {
        match self.method {
            Method::Hybrid => "linear",
            Method::Descent => "descent",
            Method::Avsf => "avsf",
            Method::Newton => "newton",
        }
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        if !features {
            return Err(self.refused(Reason::NoFeatures));
        }
        if matches!(formulation, Formulation::NuSvc { .. } | Formulation::NuSvr { .. }) {
            return Err(self.refused(Reason::Formulation(formulation.name())));
        }
        if matches!(self.method, Method::Descent | Method::Avsf) && formulation.bias_term() == BiasTerm::Free {
            return Err(self.refused(Reason::FreeBias));
        }
        Ok(())
    }

    fn uses_neighbours(&self) -> bool {
        false
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let Some(matrix) = space.matrix() else {
            return Err(self.refused(Reason::NoFeatures));
        };
        let config = Config { method: self.method, seed: self.seed, par: run.par, ..Config::default() };
        let (begun, goal) = (Instant::now(), run.stop.goal);
        let (rounds, closer) = if goal.gap().is_some() { GAP } else { VIOLATION };
        let (mut aim, mut spent, mut work) = (goal, Work::default(), LinearWork::default());
        let mut start = Some(start);
        let mut round = 0;
        let solution = loop {
            let stop = Stop { goal: aim, ..run.stop.left(begun, spent.iterations) };
            let from = start.take().expect("every round leaves a start to the next");
            let found = solve(matrix, dual, from, &config, &stop, run.control);
            let LinearSolution { mut solution, certificate, work: more, .. } =
                found.map_err(|error| Refused::failed(self.name(), &error))?;
            work += more;
            spent += solution.work;
            solution.work = spent;
            // Coordinate descent stops by gradients computed one after another, so the certificate
            // may miss the goal slightly.
            let missed = solution.status == Status::Converged && !goal.met(&certificate);
            if !missed || round == rounds {
                solution.status = if missed { Status::Stalled } else { solution.status };
                break solution;
            }
            start = Some(Start::checked(dual, solution.alpha).expect("a solution is feasible"));
            (aim, round) = (Goal::of(Some(closer * aim.first_kkt()), goal.gap()).unwrap_or(goal), round + 1);
        };
        let counts = vec![
            ("sweeps", work.sweeps),
            ("steps", work.steps),
            ("entries", work.entries),
            ("newton_steps", work.newton_steps),
            ("rounds", work.rounds),
            ("gradients", work.gradients),
        ];
        Ok(Solved { solution, exact: true, counts })
    }
}
