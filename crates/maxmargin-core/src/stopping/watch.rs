//! The stopping rule of a solver and the receiver of its progress.

use crate::stopping::goal::Goal;
use serde::Serialize;
use std::ops::ControlFlow;
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

/// The state of a running solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// The iterations so far.
    pub iterations: u64,
    /// The present KKT violation (not monotone). For solvers over kernel rows whose goal is a gap
    /// only, it is the last relative gap. They compute that more often if the watch
    /// [follows](Watch::follows).
    pub violation: f64,
    /// The bound to reach.
    pub tol: f64,
    /// The kernel rows that the row store has computed so far.
    pub rows_computed: u64,
    /// The kernel rows that a result would cost if the run ended now: those of the support vectors,
    /// for the certificate, and of changes since the gradient was complete. 0 if not counted; it is
    /// then at most `rows_computed`.
    pub owed: u64,
    /// The increase of the dual objective, from the gains of single steps. Linear solvers report it
    /// after every sweep; 0 if not counted.
    pub gained: f64,
}

/// Receives progress and may end the run.
pub trait Watch {
    /// Called now and then, or in every iteration (see [`Watch::follows`]). `Break` ends the run
    /// with [`crate::Status::Interrupted`].
    fn tick(&mut self, progress: &Progress) -> ControlFlow<()>;

    /// Returns true to receive every iteration, for a trace; each then costs a look at the clock.
    /// Otherwise reports come every few thousand iterations at most. Called once, before a run.
    fn follows(&self) -> bool {
        false
    }
}

/// Ignores progress and never stops a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn tick(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Progress) -> ControlFlow<()>> Watch for F {
    fn tick(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}
