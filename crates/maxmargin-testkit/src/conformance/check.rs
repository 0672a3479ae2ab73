//! The checks of a single solution.

use super::{BUDGET, SolverFn};
use crate::analytic::Solved;
use crate::oracle as exact;
use crate::problem::Problem;
use maxmargin_core::{AuditPoint, Certificate, EqualityConstraint, Solution, Start, Status, Stop, audit, bias_of};
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{Gram, Rows};

/// A solution with the figures that the checks need.
#[derive(Clone, Debug)]
pub struct CheckedSolution {
    /// The solver's result.
    pub solution: Solution,
    /// The certificate of α with the solver's bias.
    pub certificate: Certificate,
    /// The sum `Σ s_l α_l K(id_l, i)` of every sample of the Gram matrix, without the bias.
    pub sums: Vec<f64>,
    /// An upper bound of the distance from the objective to the minimum (only for convex problems).
    pub gap: f64,
    /// The rounding error of the objective.
    pub rounding: f64,
}

impl CheckedSolution {
    /// Returns `½ αᵀQα + linᵀα`.
    pub fn objective(&self) -> f64 {
        -self.certificate.dual
    }
}

/// Returns a start that fits the problem: zero, or its projection if zero is not feasible.
///
/// # Panics
///
/// When the problem has no feasible point.
pub(super) fn cold(problem: &Problem) -> Start {
    Start::zero(&problem.dual)
        .or_else(|_| Start::project(&problem.dual, vec![0.0; problem.dual.len()]))
        .expect("the problem has a feasible point")
}

/// Solves `problem` from `start` and checks the solution. It must be converged, certified within
/// `tol` and feasible. The gap must not be negative or larger than the violation allows; bias and
/// gradient must be those of α.
///
/// # Panics
///
/// When a check fails.
pub fn check_solution(solver: &SolverFn, problem: &Problem, start: Start, tol: f64) -> CheckedSolution {
    let name = &problem.name;
    let rows = Rows::new(&problem.gram, BUDGET, Par::Seq);
    // The limit is far above the need of the problems: a solver that does not end should fail the
    // test.
    let stop = Stop { max_iter: Some(20_000_000), ..Stop::at(tol) };
    let solution = solver(&problem.dual, &rows, start, &stop);
    let checked = examine(problem, solution);
    let (solution, certificate) = (&checked.solution, &checked.certificate);
    assert_eq!(solution.status, Status::Converged, "{name} at {tol:e}: {certificate:?}, {:?}", solution.work);
    assert!(certificate.holds(tol), "{name} at {tol:e}: {certificate:?}, {:?}", solution.work);
    checked
}

/// Checks every returned point, converged or not.
pub(super) fn examine(problem: &Problem, solution: Solution) -> CheckedSolution {
    let (name, dual) = (&problem.name, &problem.dual);
    assert_eq!(solution.alpha.len(), dual.len(), "{name}: one alpha per variable");
    let inside = solution.alpha.iter().zip(dual.upper()).all(|(a, u)| (0.0..=*u).contains(a));
    assert!(inside, "{name}: alpha inside the box exactly: {:?}", solution.alpha);
    let found = audit(
        &problem.gram,
        &[AuditPoint { dual, alpha: &solution.alpha, bias: solution.bias, weights: None, known: None }],
        Par::Seq,
        &RunControl::unlimited(),
    )
    .expect("unlimited")
    .remove(0);
    let certificate = found.certificate;
    assert!(certificate.infeasible <= 1e-9, "{name}: {certificate:?}");
    let rounding = problem.rounding(&solution.alpha);
    let direct = problem.objective(&solution.alpha);
    assert!((direct + certificate.dual).abs() <= rounding, "{name}: objective {direct}, {certificate:?}");
    let gap = certificate.gap();
    assert!(gap >= -rounding, "{name}: {certificate:?}");
    let moves = |k: usize| solution.alpha[k].max(dual.upper()[k] - solution.alpha[k]);
    let reach: f64 = (0..dual.len()).map(moves).sum();
    let bias = bias_of(dual, &solution.alpha, &found.gradient);
    let magnitude = 1.0 + found.gradient.iter().zip(dual.linear_term()).fold(0.0, |m: f64, (g, p)| m.max((g - p).abs()));
    // Before refinement the solver's own gradient may contain the error of its kernel values (f32),
    // but never more.
    let mass: f64 = solution.alpha.iter().sum();
    let largest = problem.gram.diagonal().iter().fold(0.0, |m: f64, d| m.max(d.abs()));
    let trust = match solution.status {
        Status::Converged => 1e-12 * (magnitude + mass * largest),
        _ => f64::from(f32::EPSILON) * (magnitude + mass * largest) * (1.0 + solution.work.iterations as f64).sqrt(),
    };
    let off = solution.gradient.iter().zip(&found.gradient).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(off <= trust, "{name}: gradient off by {off:e} ({:?})", solution.status);
    // Without a constraint the bias is inside the kernel, and the solution's bias belongs to the
    // formulation.
    let alone = dual.balance() == EqualityConstraint::Free;
    assert!(alone || (solution.bias - bias).abs() <= trust, "{name}: bias {} for {bias}", solution.bias);
    // Without a semidefinite kernel matrix no gap is claimed.
    if solution.status == Status::Converged && reach.is_finite() && !certificate.is_stationary_only() {
        let most = certificate.kkt * reach + rounding + trust * reach;
        assert!(gap <= most, "{name}: gap {gap} above {most}: {certificate:?}");
    }
    CheckedSolution { solution, certificate, sums: found.sums, gap: gap.max(0.0), rounding }
}

/// Checks that two solutions of one optimum have objectives and decision sums as near as their gaps
/// require.
pub(super) fn agree(problem: &Problem, what: &str, one: &CheckedSolution, other: &CheckedSolution) {
    let name = &problem.name;
    if !problem.convex {
        return;
    }
    let slack = one.rounding + other.rounding;
    let (a, b) = (one.objective(), other.objective());
    assert!(a <= b + one.gap + slack && b <= a + other.gap + slack, "{name}, {what}: objectives {a} and {b}");
    let apart = (2.0 * (one.gap + slack)).sqrt() + (2.0 * (other.gap + slack)).sqrt();
    for (i, (x, y)) in one.sums.iter().zip(&other.sums).enumerate() {
        let most = apart * problem.gram.at(i, i).sqrt();
        assert!((x - y).abs() <= most + slack, "{name}, {what}: sample {i}: {x} and {y}, at most {most:e} apart");
    }
}

/// Solves a small problem and compares it with the exact optimum.
///
/// # Panics
///
/// When the solution fails [`check_solution`], or its objective is below the optimum or above it by
/// more than its gap.
pub fn oracle(solver: &SolverFn, problem: &Problem, tol: f64) {
    let name = &problem.name;
    let optimum = exact::solve(&problem.dual, &problem.gram);
    let checked = check_solution(solver, problem, cold(problem), tol);
    let slack = checked.rounding + problem.rounding(&optimum.alpha);
    let objective = checked.objective();
    assert!(objective >= optimum.objective - slack, "{name} at {tol:e}: {objective} below the optimum {}", optimum.objective);
    if problem.convex {
        let most = optimum.objective + checked.gap + slack;
        assert!(objective <= most, "{name} at {tol:e}: {objective} for {}", optimum.objective);
    }
    // The oracle does not compute the multipliers of two sums.
    let one_sum = matches!(problem.dual.balance(), EqualityConstraint::Sum(_) | EqualityConstraint::Free);
    if problem.convex && one_sum {
        // The bias follows from decision values of free samples: both ends of its interval move
        // with them.
        let apart = (2.0 * (checked.gap + slack)).sqrt() * problem.gram.diagonal().iter().fold(0.0, |m: f64, d| m.max(d.sqrt()));
        let ridge = problem.dual.ridge().sqrt() * (2.0 * (checked.gap + slack)).sqrt();
        let room = tol + apart + ridge + slack;
        let (low, high) = (optimum.bias.0 - room, optimum.bias.1 + room);
        assert!(
            (low..=high).contains(&checked.solution.bias),
            "{name} at {tol:e}: bias {} for {:?}",
            checked.solution.bias,
            optimum.bias
        );
    }
}

/// Solves a problem that was solved by hand, to a tight tolerance, and compares α, bias, decision
/// sums and objective.
///
/// # Panics
///
/// When they differ by more than the tolerance explains.
pub fn exactly(solver: &SolverFn, case: &Solved) {
    let problem = &case.problem;
    let name = &problem.name;
    let checked = check_solution(solver, problem, cold(problem), 1e-10);
    assert!((checked.objective() - case.objective).abs() < 1e-8, "{name}: {} for {}", checked.objective(), case.objective);
    if let Some(alpha) = &case.alpha {
        let near = checked.solution.alpha.iter().zip(alpha).all(|(a, b)| (a - b).abs() < 1e-8);
        assert!(near, "{name}: {:?} for {alpha:?}", checked.solution.alpha);
    }
    let near = checked.sums.iter().zip(&case.sums).all(|(a, b)| (a - b).abs() < 1e-8);
    assert!(near, "{name}: {:?} for {:?}", checked.sums, case.sums);
    let bias = checked.solution.bias;
    assert!((case.bias.0 - 1e-8..=case.bias.1 + 1e-8).contains(&bias), "{name}: bias {bias} for {:?}", case.bias);
}
