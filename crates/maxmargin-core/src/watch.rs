//! When to stop, and who is told on the way.

use crate::goal::Goal;
use serde::Serialize;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// When a solver stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// What a solution has to show to be called converged.
    pub goal: Goal,
    /// Give up after this many iterations.
    pub max_iter: Option<u64>,
    /// Give up after this long.
    pub max_time: Option<Duration>,
}

impl Stop {
    /// Stop at the KKT violation `tol` (LIBSVM's ε) only.
    pub fn at(tol: f64) -> Self {
        Self::when(Goal::Kkt(tol))
    }

    /// Stop at this goal only.
    pub fn when(goal: Goal) -> Self {
        Self { goal, max_iter: None, max_time: None }
    }

    /// What is left of the limits of a run that began at `begun` and has made `iterations`.
    #[must_use]
    pub fn left(&self, begun: Instant, iterations: u64) -> Self {
        Self {
            max_iter: self.max_iter.map(|most| most.saturating_sub(iterations)),
            max_time: self.max_time.map(|most| most.saturating_sub(begun.elapsed())),
            ..*self
        }
    }
}

/// What a running solver knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Iterations so far.
    pub iterations: u64,
    /// KKT violation now (not monotone). Where solvers over kernel rows are asked for a gap alone:
    /// the relative gap when they last looked, which they do more often for who
    /// [follows](Watch::follows).
    pub violation: f64,
    /// Where it has to go.
    pub tol: f64,
    /// Kernel rows computed so far by the row store.
    pub rows_computed: u64,
    /// Kernel rows that a result would cost if the run ended now: those of the support vectors, to
    /// be judged, and of what has changed since the gradient was that of all variables. 0 where
    /// nobody counts them: at most those computed.
    pub owed: u64,
    /// By how much the dual objective has risen, as far as single steps tell: linear solvers say so
    /// after every sweep. 0 where nobody keeps count.
    pub gained: f64,
}

/// Receives progress; may end the run.
pub trait Watch {
    /// Called now and then, or as [`Watch::follows`] asks. `Break` ends the run with
    /// [`crate::Status::Interrupted`].
    fn tick(&mut self, progress: &Progress) -> ControlFlow<()>;

    /// Whether it is told of every iteration, for a trace, which costs a look at the clock each;
    /// otherwise every few thousand iterations at most. Asked once, before a run.
    fn follows(&self) -> bool {
        false
    }
}

/// Says nothing, never stops.
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
