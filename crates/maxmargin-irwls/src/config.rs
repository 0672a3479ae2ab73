//! The options of a run and its result.

use crate::inner_solver::least_squares::LeastSquares;
use crate::working_set::chunk::ChunkSolver;
use crate::working_set::select::SetSelection;
use maxmargin_core::{EqualityConstraint, Refine, Solution, StartError, Status};
use maxmargin_data::Par;
use std::time::Duration;

/// The options of the solver.
#[derive(Clone, Copy)]
pub struct IrwlsConfig<'p> {
    /// The selection rule.
    pub selection: SetSelection,
    /// The number of samples in a working set, at least 2. With the problem's number (or more)
    /// there is no chunking. Its kernel values are stored in `f64`: 8 bytes times the square of
    /// this, and about as much again for the factor.
    pub working_set: usize,
    /// The solver of working sets. Those of exact kernel values, near the optimum, always use
    /// [`LeastSquares`].
    pub chunks: &'p dyn ChunkSolver,
    /// The refinement, if necessary with working sets of exact kernel values.
    pub refine: Refine,
    /// The seed of random working sets.
    pub seed: u64,
    /// Threads that share the update of all errors. The result has the same bits for any number of
    /// threads.
    pub par: Par,
}

impl Default for IrwlsConfig<'_> {
    fn default() -> Self {
        Self {
            selection: SetSelection::default(),
            working_set: 512,
            chunks: &LeastSquares,
            refine: Refine::default(),
            seed: 0,
            par: Par::Seq,
        }
    }
}

/// The options of the finish.
#[derive(Clone, Copy, Debug)]
pub struct FinishConfig {
    /// The largest number of samples in a working set. A factor takes 24 bytes times the square of
    /// this while it is computed (3.6 GB for 12,288). If the free samples are no more, a few dense
    /// systems solve them together. Otherwise random working sets follow one after the other, which
    /// converges slowly.
    pub most: usize,
    /// True if the solution's gradient comes from exact kernel values, as that of our solvers does
    /// after convergence with refinement. It is then not recomputed at the beginning. At the end it
    /// always is.
    pub exact_gradient: bool,
    /// Threads for exact kernel values. The result has the same bits for any number of threads.
    pub par: Par,
}

impl Default for FinishConfig {
    fn default() -> Self {
        Self { most: 12_288, exact_gradient: false, par: Par::Seq }
    }
}

/// The bytes per entry: of the working set's matrix, of its copy that is factored, and of the
/// factor; or of the matrix, of the elimination of most samples, and of the systems of the others.
const PER_ENTRY: u64 = 24;

/// Samples that every budget has room for (some hundred kilobytes), so that small problems are
/// solved with the same bits for any budget.
const FEWEST: usize = 128;

impl FinishConfig {
    /// Returns the number of samples in a working set whose matrices fit into so many bytes, at
    /// most that of the default.
    pub fn fitting(bytes: u64) -> usize {
        ((bytes as f64 / PER_ENTRY as f64).sqrt() as usize).clamp(FEWEST, Self::default().most)
    }

    /// Returns the bytes of the matrices of a working set of `m` samples.
    pub fn bytes(m: usize) -> u64 {
        PER_ENTRY * (m * m) as u64
    }
}

/// A solution with the counts of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct IrwlsOutcome {
    /// α, bias and gradient. `work.iterations` counts the iterations of the working sets' solver
    /// (linear systems and pair steps).
    pub solution: Solution,
    /// The working sets solved.
    pub chunks: u64,
    /// The working sets with exact kernel values.
    pub exact_chunks: u64,
    /// The working sets whose solution lowered the objective by less than `f64` can hold.
    pub idle_chunks: u64,
    /// The time inside the working sets' solver.
    pub optimiser: Duration,
}

impl IrwlsOutcome {
    /// Returns the result of a run that ended before its first gradient.
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

/// The reason why the solver refuses a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IrwlsError {
    /// The bias needs one equality constraint.
    #[error("IRWLS solves problems with one balance of sums, not {0:?}")]
    EqualityConstraint(EqualityConstraint),
    /// The working set has fewer samples than a step moves.
    #[error("a working set of {0} cannot keep the balance: it needs at least 2 samples")]
    WorkingSet(usize),
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// The number of values.
        found: usize,
        /// The number of variables.
        expected: usize,
    },
    /// The problem names rows that the Gram matrix does not have.
    #[error("the problem names row {row}, the matrix has {rows} rows")]
    Row {
        /// The row.
        row: usize,
        /// The number of rows of the matrix.
        rows: usize,
    },
    /// The box cannot reach the sum.
    #[error("the solution cannot be finished: {0}")]
    Infeasible(#[source] StartError),
}
