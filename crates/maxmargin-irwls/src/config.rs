//! What a caller chooses, and what comes back.

use crate::chunk::ChunkSolver;
use crate::least_squares::LeastSquares;
use maxmargin_core::{EqualityConstraint, Refine, Solution, StartError, Status};
use maxmargin_data::Par;
use std::time::Duration;

/// Which samples become the working set.
///
/// All rules but [`Selection::Steepest`] and [`Selection::PureRandom`] begin with the worst
/// violator of each condition (α at 0, α at C, α between) of each class, as the paper's does, and
/// end with satisfied bounded samples of least |error| where there are not enough others. They
/// differ in what is between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The paper's: a random sample of the candidates, which are the violators and everything
    /// between its bounds.
    Random,
    /// [`Selection::Random`] without the worst violators of every condition and class, and without
    /// the pair that violates most: what keeps working sets from gaining nothing is missing, and a
    /// run may stall. For comparison (section 3 of the paper).
    PureRandom,
    /// The violators with the largest |error|, then the free samples.
    Largest,
    /// The violators with the smallest |error|, then the free samples.
    Smallest,
    /// Half of the working set stays (its free samples first, then those that joined last), the
    /// other half are the worst violators of either direction. Not the paper's.
    #[default]
    Half,
    /// The steepest feasible direction with as many entries (Joachims 1999, SVMlight): the worst of
    /// either direction, violators or not.
    Steepest,
}

/// Choices of the solver.
#[derive(Clone, Copy)]
pub struct IrwlsConfig<'p> {
    /// See [`Selection`].
    pub selection: Selection,
    /// Samples of a working set, at least 2; as many as the problem has (or more): no chunking. Its
    /// kernel values are held in `f64`: 8 bytes times the square of this, and about as much again
    /// for the factor.
    pub working_set: usize,
    /// Who solves a working set; those of exact kernel values, near the optimum, are always
    /// [`LeastSquares`]'.
    pub chunks: &'p dyn ChunkSolver,
    /// See [`Refine`]; exact, if need be, with working sets of exact kernel values.
    pub refine: Refine,
    /// Seed of random working sets.
    pub seed: u64,
    /// Threads that share the update of all errors. The result has the same bits for any.
    pub par: Par,
}

impl Default for IrwlsConfig<'_> {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            working_set: 512,
            chunks: &LeastSquares,
            refine: Refine::default(),
            seed: 0,
            par: Par::Seq,
        }
    }
}

/// A solution with what is known about the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// α, bias, gradient; `work.iterations` counts what the working sets' solver calls iterations
    /// (linear systems and pair steps).
    pub solution: Solution,
    /// Working sets solved.
    pub chunks: u64,
    /// Those of them with exact kernel values.
    pub exact_chunks: u64,
    /// Working sets whose solution lowered the objective by nothing that `f64` holds.
    pub idle_chunks: u64,
    /// Time inside the working sets' solver.
    pub optimiser: Duration,
}

impl Outcome {
    /// A run that was ended before its first gradient.
    pub(crate) fn without_gradient(alpha: Vec<f64>, status: Status) -> Self {
        Self {
            solution: Solution::without_gradient(alpha, status),
            chunks: 0,
            exact_chunks: 0,
            idle_chunks: 0,
            optimiser: Duration::ZERO,
        }
    }
}

/// Why the solver cannot take a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IrwlsError {
    /// The bias needs one equality constraint.
    #[error("IRWLS solves problems with one balance of sums, not {0:?}")]
    EqualityConstraint(EqualityConstraint),
    /// Fewer samples than a step moves.
    #[error("a working set of {0} cannot keep the balance: it needs at least 2 samples")]
    WorkingSet(usize),
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// Values of the start.
        found: usize,
        /// Variables of the problem.
        expected: usize,
    },
    /// The box cannot reach the balance.
    #[error("the solution cannot be finished: {0}")]
    Infeasible(#[source] StartError),
}
