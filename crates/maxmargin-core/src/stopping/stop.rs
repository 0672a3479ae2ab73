//! The stopping rule of a solver.

use crate::stopping::goal::Goal;
use std::time::{Duration, Instant};

/// The stopping rule of a solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The goal that a solution must show to count as converged.
    pub goal: Goal,
    /// The largest number of iterations.
    pub max_iter: Option<u64>,
    /// The longest time.
    pub max_time: Option<Duration>,
}

impl Stop {
    /// Stops at the KKT violation `tol` (LIBSVM's ε) only.
    pub fn at(tol: f64) -> Self {
        Self::when(Goal::Kkt(tol))
    }

    /// Stops at this goal only.
    pub fn when(goal: Goal) -> Self {
        Self { goal, max_iter: None, max_time: None }
    }

    /// Returns the remaining limits of a run that began at `begun` and has made `iterations`.
    #[must_use]
    pub fn left(&self, begun: Instant, iterations: u64) -> Self {
        Self {
            max_iter: self.max_iter.map(|most| most.saturating_sub(iterations)),
            max_time: self.max_time.map(|most| most.saturating_sub(begun.elapsed())),
            ..*self
        }
    }
}
