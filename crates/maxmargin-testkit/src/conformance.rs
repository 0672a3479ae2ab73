//! One suite for every solver: seeded problems at several tolerances, checked by the certificate,
//! the oracle and bounds that follow from the certificate, never by accuracy.
//!
//! The bounds are theorems, so none of them is tuned. For a feasible α with any bias, the optimum
//! lies within the gap below the objective. The gap is at most the KKT violation times the largest
//! possible moves `Σ max(α, upper − α)`. Two points with gaps `g` and `h` have decision values
//! (without bias) at most `(√2g + √2h) √K(x, x)` apart, since the dual is strongly convex in `w`.

mod check;
mod ends;
mod family;
mod variants;

pub use check::{CheckedSolution, check_solution, exactly, oracle};
pub use ends::{interruption, limits, threads_and_budgets};
pub use family::{run_solver, run_solver_to};
pub use variants::{invariances, warm_starts};

use crate::problem::Problem;
use crate::{analytic, generate};
use maxmargin_core::{Dual, RunControl, Solution, Start, Stop};
use maxmargin_kernel::Rows;

/// A solver under test. It panics on its own errors.
pub type SolverFn<'s> = dyn Fn(&Dual, &Rows, Start, &Stop) -> Solution + Sync + 's;

/// A solver under a control.
pub type WatchedSolver<'s> = dyn Fn(&Dual, &Rows, Start, &Stop, &RunControl) -> Solution + 's;

/// KKT tolerances of the suite.
pub const TOLERANCES: [f64; 2] = [1e-3, 1e-6];

/// The memory for kernel rows: enough for all.
pub(crate) const BUDGET: u64 = 1 << 28;

/// Runs the suite for C-SVC.
///
/// # Panics
///
/// When the solver fails a check, with the name of the problem.
pub fn run(solver: &SolverFn) {
    for case in analytic::c_svc() {
        exactly(solver, &case);
    }
    let small: Vec<Problem> = (1..=3).flat_map(generate::small).collect();
    let medium = generate::medium(4, 60);
    suite(solver, &small, &medium);
}

/// Runs the suite for problems with other linear terms, sums and ridge.
///
/// # Panics
///
/// When the solver fails a check, with the name of the problem.
pub fn run_general(solver: &SolverFn) {
    for case in analytic::general() {
        exactly(solver, &case);
    }
    let small: Vec<Problem> = (1..=5).flat_map(generate::small_general).collect();
    let medium = generate::medium_general(6, 50);
    suite(solver, &small, &medium);
}

/// Runs the suite for problems with a sum per sign.
///
/// # Panics
///
/// When the solver fails a check, with the name of the problem.
pub fn run_per_sign(solver: &SolverFn) {
    let small: Vec<Problem> = (1..=4).flat_map(generate::small_per_sign).collect();
    let medium = generate::medium_per_sign(5, 40);
    suite(solver, &small, &medium);
}

/// Runs the suite for the L2-SVM on the simplex.
///
/// # Panics
///
/// When the solver fails a check, with the name of the problem.
pub fn run_simplex(solver: &SolverFn) {
    let small: Vec<Problem> = (1..=3).flat_map(generate::small_simplex).collect();
    let medium = generate::medium_simplex(4, 40);
    suite(solver, &small, &medium);
}

/// Runs the suite for indefinite kernels: a KKT point, no better than the global optimum, with a
/// true status.
///
/// # Panics
///
/// When the solver fails a check, with the name of the problem.
pub fn run_indefinite(solver: &SolverFn) {
    let small: Vec<Problem> = (1..=5).map(|seed| generate::indefinite(seed, 7)).collect();
    suite(solver, &small, &[generate::indefinite(7, 40)]);
}

fn suite(solver: &SolverFn, small: &[Problem], medium: &[Problem]) {
    for tol in TOLERANCES {
        for problem in small {
            oracle(solver, problem, tol);
        }
        for problem in small.iter().chain(medium) {
            warm_starts(solver, problem, tol);
            invariances(solver, problem, tol);
            limits(solver, problem, tol);
        }
        for problem in medium {
            threads_and_budgets(solver, problem, tol);
        }
    }
}
