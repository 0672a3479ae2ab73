//! One problem solved in several ways: from other starts, and in equivalent forms.

use super::SolverFn;
use super::check::{CheckedSolution, agree, check_solution, cold};
use crate::generate::rng;
use crate::problem::Problem;
use maxmargin_core::{EqualityConstraint, Start};
use rand::RngExt;

/// Checks that warm starts end at the objective of the cold start, and never above their own.
///
/// # Panics
///
/// When a start leads elsewhere.
pub fn warm_starts(solver: &SolverFn, problem: &Problem, tol: f64) {
    let (name, dual) = (&problem.name, &problem.dual);
    let reference = check_solution(solver, problem, cold(problem), tol);
    let rng = &mut rng(dual.len() as u64);
    let finite = |u: f64| if u.is_finite() { u } else { 10.0 };
    let random = dual.upper().iter().map(|u| finite(*u) * rng.random::<f64>()).collect();
    let bounds = dual.upper().iter().map(|u| if rng.random::<bool>() { finite(*u) } else { 0.0 }).collect();
    let half = reference.solution.alpha.iter().map(|a| 0.5 * a).collect();
    let full = dual.upper().iter().map(|u| finite(*u)).collect();
    for (what, alpha) in [("random", random), ("at bounds", bounds), ("half the optimum", half), ("all at C", full)] {
        let start = Start::project(dual, alpha).expect("a feasible point");
        let begun = problem.objective(start.alpha());
        let slack = problem.rounding(start.alpha());
        let gradient = problem.gradient(start.alpha());
        for start in [start.clone(), start.with_gradient(gradient)] {
            let warm = check_solution(solver, problem, start, tol);
            agree(problem, what, &warm, &reference);
            biases(problem, what, tol, &warm, &reference);
            let ended = warm.objective();
            assert!(ended <= begun + slack + warm.rounding, "{name}, {what}: objective rose from {begun} to {ended}");
        }
    }
    let again = Start::checked(dual, reference.solution.alpha.clone()).expect("a solution is a start");
    let again = check_solution(solver, problem, again, tol);
    assert!(again.objective() <= reference.objective() + reference.rounding, "{name}: worse from its own solution");
}

/// Checks the biases of two solutions by a sample that is free in both: `f = −b` there, within the
/// tolerance, in each.
fn biases(problem: &Problem, what: &str, tol: f64, one: &CheckedSolution, other: &CheckedSolution) {
    let dual = &problem.dual;
    if matches!(dual.balance(), EqualityConstraint::Simplex | EqualityConstraint::PerSign(..)) {
        return; // inside the kernel, or half of what two thresholds differ by
    }
    let free =
        |checked: &CheckedSolution, k: usize| checked.solution.alpha[k] > 0.0 && checked.solution.alpha[k] < dual.upper()[k];
    let shared = (0..dual.len()).filter(|&k| free(one, k) && free(other, k));
    let f = |checked: &CheckedSolution, k: usize| {
        let (id, sign) = (dual.ids()[k], dual.sign()[k]);
        checked.sums[id] + sign * (dual.ridge() * checked.solution.alpha[k] + dual.linear_term()[k])
    };
    for k in shared {
        let between = (f(one, k) - f(other, k)).abs() + 2.0 * tol;
        let apart = (one.solution.bias - other.solution.bias).abs();
        assert!(apart <= between, "{}, {what}: biases {apart:e} apart, at most {between:e}", problem.name);
    }
}

/// Checks that the problem permuted, scattered over a larger Gram matrix, with labels flipped,
/// doubled and scaled has the same optimum.
///
/// # Panics
///
/// When a variant ends elsewhere.
pub fn invariances(solver: &SolverFn, problem: &Problem, tol: f64) {
    let n = problem.dual.len();
    let reference = check_solution(solver, problem, cold(problem), tol);
    let rng = &mut rng(n as u64);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let mut variants = vec![(problem.permuted(&order), 1.0), (problem.scattered(), 1.0), (problem.flipped(), 1.0)];
    if problem.dual.ridge() == 0.0 {
        variants.extend([(problem.doubled(), 1.0), (problem.scaled(8.0), 8.0), (problem.scaled(0.25), 0.25)]);
    }
    for (variant, factor) in variants {
        let checked = check_solution(solver, &variant, cold(&variant), tol);
        if problem.convex {
            let (a, b) = (reference.objective(), factor * checked.objective());
            let slack = reference.rounding + factor * checked.rounding;
            let near = a <= b + reference.gap + slack && b <= a + factor * checked.gap + slack;
            assert!(near, "{}: {b} for {a}", variant.name);
        }
    }
}
