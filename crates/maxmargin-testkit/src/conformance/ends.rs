//! Runs that end early report it, and results do not depend on threads or memory.

use super::check::{cold, examine};
use super::{BUDGET, SolverFn, WatchedSolver};
use crate::problem::Problem;
use maxmargin_core::{Progress, RunControl, Solution, Status, Stop, Work};
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, Rows};
use std::ops::ControlFlow;
use std::time::Duration;

/// Checks that a limit on iterations or time ends the run at a feasible point with a true status.
///
/// # Panics
///
/// When the limit is exceeded, the point is not feasible or the status is false.
pub fn limits(solver: &SolverFn, problem: &Problem, tol: f64) {
    for most in [0, 1, 2, 5, 20] {
        let stop = Stop { max_iter: Some(most), ..Stop::at(tol) };
        let solution = ended(solver, problem, &stop);
        assert!(solution.work.iterations <= most, "{}: {:?} for at most {most}", problem.name, solution.work);
        assert!(matches!(solution.status, Status::Converged | Status::IterationLimit), "{}: {:?}", problem.name, solution.status);
    }
    let stop = Stop { max_time: Some(Duration::ZERO), ..Stop::at(tol) };
    let solution = ended(solver, problem, &stop);
    assert!(matches!(solution.status, Status::Converged | Status::TimeLimit), "{}: {:?}", problem.name, solution.status);
}

/// Runs to an early end and checks the point and the status.
fn ended(solver: &SolverFn, problem: &Problem, stop: &Stop) -> Solution {
    let rows = Rows::new(&problem.gram, BUDGET, Par::Seq);
    let solution = solver(&problem.dual, &rows, cold(problem), stop);
    honest(problem, solution, stop.goal.tol())
}

fn honest(problem: &Problem, solution: Solution, tol: f64) -> Solution {
    let checked = examine(problem, solution);
    let (name, certificate, status) = (&problem.name, &checked.certificate, checked.solution.status);
    assert!(status != Status::Converged || certificate.holds(tol), "{name}: {status:?} with {certificate:?}");
    checked.solution
}

/// Checks that a cancelled run ends as [`Status::Interrupted`], at a feasible point.
///
/// # Panics
///
/// When the run continues, the point is not feasible or the status is false.
pub fn interruption(solver: &WatchedSolver, problem: &Problem, tol: f64) {
    let rows = Rows::new(&problem.gram, BUDGET, Par::Seq);
    let mut seen = Vec::new();
    let observer = |progress: &Progress| {
        seen.push(*progress);
        ControlFlow::Break(())
    };
    let solution = solver(&problem.dual, &rows, cold(problem), &Stop::at(tol), &RunControl::new(observer));
    let solution = honest(problem, solution, tol);
    assert_eq!(seen.len(), 1, "{}: told once, and not again after the break", problem.name);
    assert!(seen[0].tol == tol && seen[0].violation > tol, "{}: {:?}", problem.name, seen[0]);
    assert_eq!(solution.status, Status::Interrupted, "{}", problem.name);
}

/// Checks that one thread or three, and all rows in memory or almost none, give the same bits.
///
/// # Panics
///
/// When a bit differs.
pub fn threads_and_budgets(solver: &SolverFn, problem: &Problem, tol: f64) {
    let pools = [2, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a small thread pool"));
    let [two, three] = pools.each_ref().map(Some);
    let few = 16 * problem.gram.len() as u64;
    let whole = Stop::at(tol);
    same(solver, problem, &whole, &[(None, BUDGET), (two, BUDGET), (three, BUDGET), (None, few)]);
    // Waking a pool for every row is slow on a busy machine, so a few rows are used.
    let begin = Stop { max_iter: Some(50), ..whole };
    same(solver, problem, &begin, &[(None, BUDGET), (two, few), (three, 0)]);
}

fn same(solver: &SolverFn, problem: &Problem, stop: &Stop, runs: &[(Option<&rayon::ThreadPool>, u64)]) {
    let mut first: Option<Solution> = None;
    for &(pool, budget) in runs {
        let run = |par| solver(&problem.dual, &Rows::new(&problem.gram, budget, par), cold(problem), stop);
        let solution = pool.map_or_else(|| run(Par::Seq), |pool| pool.install(|| run(Par::Pool)));
        let reference = first.get_or_insert_with(|| solution.clone());
        let same = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits());
        let what =
            format!("{}, {} threads, {budget} bytes", problem.name, pool.map_or(1, rayon::ThreadPool::current_num_threads));
        assert!(same(&reference.alpha, &solution.alpha), "{what}: alpha");
        assert!(same(&reference.gradient, &solution.gradient), "{what}: gradient");
        assert_eq!(reference.bias.to_bits(), solution.bias.to_bits(), "{what}: bias");
        // A small memory computes rows again; no other count may depend on it.
        let rows_computed = if budget == BUDGET { solution.work.rows_computed } else { reference.work.rows_computed };
        let work = Work { rows_computed, ..solution.work };
        assert_eq!((reference.status, reference.work), (solution.status, work), "{what}");
    }
}
