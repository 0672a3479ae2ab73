//! The suite for a solver family behind the common trait: it solves the problems that it accepts,
//! and refuses others with a reason.

use super::check::{CheckedSolution, cold, examine};
use super::{BUDGET, TOLERANCES};
use crate::generate::{self, rng};
use crate::oracle as exact;
use crate::points::PointsGram;
use crate::problem::Problem;
use crate::root::root;
use maxmargin_core::{
    BiasTerm, Dual, Formulation, Goal, Loss, Progress, Refine, Refused, Run, RunControl, Solution, Solve, Solved, Start, Status,
    Stop, TargetKind, TrainingSet,
};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Gram, Kernel, Matrix, Rows, Space};
use std::ops::ControlFlow;

/// A solver on one problem.
type Solving<'s> = dyn Fn(Start, Stop, Refine, Par, &RunControl) -> Result<Solved, Refused> + 's;

/// A problem in both spaces.
struct Case {
    goal: Goal,
    formulation: Formulation,
    problem: Problem,
    /// Samples whose linear kernel is the matrix, without the bias feature.
    samples: Samples,
}

/// Checks all guarantees of [`Solve`], for every formulation, loss, bias and space.
///
/// Problems that [`Solve::takes`] accepts are solved from zero and from the solution, on one thread
/// and on several, with refinement and without. Each must meet the goal by its certificate and the
/// oracle's optimum, and end by limits and cancellation. A refusal names the solver and an
/// alternative.
/// Problems that `takes` refuses are refused by `solve` as well, or solved correctly: some solvers
/// take more duals than formulations.
///
/// # Panics
///
/// When a guarantee is broken.
pub fn run_solver(solver: &dyn Solve) {
    run_solver_to(solver, Goal::Kkt);
}

/// Runs [`run_solver`] with a goal made of each tolerance.
///
/// # Panics
///
/// When a guarantee is broken.
pub fn run_solver_to(solver: &dyn Solve, goal: impl Fn(f64) -> Goal) {
    let mut taken = 0;
    for features in [false, true] {
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for bias_term in [BiasTerm::Free, BiasTerm::None, BiasTerm::Feature(1.0), BiasTerm::Feature(0.5)] {
                taken += usize::from(formulation(solver, Formulation::Svc { c: 1.0, loss, bias_term }, features, &goal));
                formulation(solver, Formulation::Svr { c: 1.0, epsilon: 0.1, loss, bias_term }, features, &goal);
            }
        }
        for bias_term in [BiasTerm::Free, BiasTerm::None, BiasTerm::Feature(1.0), BiasTerm::Feature(0.5)] {
            formulation(solver, Formulation::Quantile { c: 1.0, tau: 0.8, bias_term }, features, &goal);
            formulation(solver, Formulation::Expectile { c: 1.0, tau: 0.2, bias_term }, features, &goal);
        }
        for other in [Formulation::NuSvc { nu: 0.4 }, Formulation::NuSvr { c: 1.0, nu: 0.5 }, Formulation::OneClass { nu: 0.3 }] {
            formulation(solver, other, features, &goal);
        }
    }
    assert!(taken > 0, "{} takes nothing", solver.name());
}

/// Returns true if the solver takes a formulation, and checks its refusal otherwise.
fn formulation(solver: &dyn Solve, formulation: Formulation, features: bool, goal: &dyn Fn(f64) -> Goal) -> bool {
    let takes = solver.takes(&formulation, features);
    if let Err(refused) = &takes {
        names(solver, refused);
    }
    for tol in TOLERANCES {
        for case in cases(formulation, goal(tol)) {
            check_case(solver, &case, features, takes.is_ok());
        }
    }
    takes.is_ok()
}

fn names(solver: &dyn Solve, refused: &Refused) {
    assert_eq!(refused.solver, solver.name());
    assert!(!refused.alternatives.is_empty(), "{refused} names nothing to do instead");
}

fn cases(formulation: Formulation, goal: Goal) -> Vec<Case> {
    let mut cases = Vec::new();
    let bias_term = formulation.bias_term();
    // Regression has two variables per sample: few enough for the oracle.
    let few = if formulation.target_kind() == TargetKind::Values { 4 } else { 7 };
    for (seed, n) in [(1, few), (2, few), (3, 40)] {
        let rng = &mut rng(seed);
        let (mut points, labels) = generate::clouds(rng, n / 2, n - n / 2, 2, 0.4);
        if formulation.target_kind() == TargetKind::Nothing {
            // No plane separates samples around the origin from it: the optimum would be 0, and a
            // relative gap undefined.
            points.iter_mut().for_each(|x| x[0] += 3.0);
        }
        let mut twice = points.clone();
        twice.truncate(n - n / 2);
        twice.extend_from_within(..n / 2);
        let weighted: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { 0.5 } else { 2.0 }).collect();
        for (what, points, kernel, c) in [
            ("clouds", &points, Kernel::Rbf { gamma: 0.5 }, vec![1.0; n]),
            ("linear, rank 2", &points, Kernel::Linear, vec![0.5; n]),
            ("duplicates", &twice, Kernel::Rbf { gamma: 0.5 }, vec![2.0; n]),
            ("weights", &points, Kernel::Rbf { gamma: 0.5 }, weighted),
        ] {
            let plain = PointsGram::new(points, &kernel);
            let square = bias_term.feature().map_or(0.0, |value| value * value);
            let matrix = (0..n * n).map(|at| plain.at(at / n, at % n) + square).collect();
            let values: Vec<f64> = points.iter().zip(&labels).map(|(x, label)| x[0].sin() + 0.3 * label).collect();
            let target = if formulation.target_kind() == TargetKind::Values { &values } else { &labels };
            let (ids, one) = ((0..n).collect::<Vec<usize>>(), formulation.with_c(1.0));
            let dual = one.problem(&TrainingSet { ids: &ids, target, weights: &c }).expect("a problem").dual().clone();
            let name = format!("{what} ({n} samples, seed {seed}, {formulation:?}, {goal:?})");
            cases.push(Case {
                goal,
                formulation,
                samples: root(&plain),
                problem: Problem::new(name, PointsGram::from_matrix(n, matrix), dual),
            });
        }
    }
    cases
}

/// The options of one run.
#[derive(Clone, Copy)]
struct Options {
    stop: Stop,
    refine: Refine,
    par: Par,
}

impl Case {
    /// Solves from `start`, if the problem is accepted.
    fn solve(
        &self,
        solver: &dyn Solve,
        features: bool,
        start: Start,
        options: Options,
        control: &RunControl,
    ) -> Result<Solved, Refused> {
        self.solve_dual(solver, &self.problem.dual, features, start, options, control)
    }

    /// Solves another problem over the same rows.
    fn solve_dual(
        &self,
        solver: &dyn Solve,
        dual: &Dual,
        features: bool,
        start: Start,
        options: Options,
        control: &RunControl,
    ) -> Result<Solved, Refused> {
        let Options { stop, refine, par } = options;
        let mut run = Run { stop, refine, par, machine: 0, control };
        if features {
            let matrix = Matrix::new(&self.samples, self.formulation.bias_term().feature(), par);
            solver.solve(dual, Space::Features(&matrix), start, &mut run)
        } else {
            let rows = Rows::new(&self.problem.gram, BUDGET, par);
            solver.solve(dual, Space::Kernel(&rows), start, &mut run)
        }
    }
}

fn check_case(solver: &dyn Solve, case: &Case, features: bool, taken: bool) {
    let problem = &case.problem;
    let what = format!("{}, {}, {}", solver.name(), if features { "features" } else { "kernel" }, problem.name);
    // The limit is far above the need of the problems: a solver that does not end should fail the
    // test.
    let stop = Stop { max_iter: Some(10_000_000), ..Stop::when(case.goal) };
    let solve = |start: Start, stop: Stop, refine: Refine, par: Par, control: &RunControl| {
        case.solve(solver, features, start, Options { stop, refine, par }, control)
    };
    let solved = match solve(cold(problem), stop, Refine::Exact, Par::Seq, &RunControl::unlimited()) {
        Ok(solved) => solved,
        Err(refused) => {
            names(solver, &refused);
            // `takes` does not know the weights yet.
            assert!(!taken || !problem.dual.has_one_ridge(), "{what}: taken and refused: {refused}");
            return;
        }
    };
    // At an optimum of 0 the relative gap is meaningless, and no solver reaches one.
    if case.goal.gap().is_some() && examine(problem, solved.solution.clone()).certificate.primal <= NOTHING {
        return;
    }
    let meets = |solved: Solved| meets(case, solved, taken, &what);
    let reference = meets(solved.clone());
    check_optimum(problem, &reference, &what);
    // From its own solution, with the gradient and without, a solver is no worse and ends at once.
    let start = Start::checked(&problem.dual, reference.solution.alpha.clone()).expect("a solution is a start");
    for start in [start.clone(), start.with_gradient(reference.solution.gradient.clone())] {
        let again = solve(start, stop, Refine::Exact, Par::Seq, &RunControl::unlimited()).expect("taken before");
        let again = meets(again);
        let (first, second) = (reference.solution.work.iterations, again.solution.work.iterations);
        // Descent over features measures during its sweeps and moves a little: it needs sweeps to
        // see that it is done.
        let most = if features { first.max(problem.dual.len() as u64) } else { 1 + first / 10 };
        assert!(second <= most, "{what}: {second} iterations from the solution, {first} from zero");
        assert!(
            again.objective() <= reference.objective() + reference.gap + reference.rounding,
            "{what}: worse from its own solution"
        );
    }
    // Without refinement a solution converges by the solver's own gradient, and reports whether
    // that is exact.
    let rough = solve(cold(problem), stop, Refine::Never, Par::Seq, &RunControl::unlimited()).expect("taken before");
    assert_eq!(rough.solution.status, Status::Converged, "{what}, not refined");
    if rough.exact {
        meets(rough);
    } else {
        check_rough_gradient(problem, &rough.solution, &what);
    }
    ends(case, &what, &solve);
    refuses_missing_rows(solver, case, features, &what);
    // Any number of threads gives the same bits.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a small thread pool");
    let shared =
        pool.install(|| solve(cold(problem), stop, Refine::Exact, Par::Pool, &RunControl::unlimited())).expect("taken before");
    let bits = |solution: &Solution| solution.alpha.iter().chain(&solution.gradient).map(|v| v.to_bits()).collect::<Vec<u64>>();
    assert_eq!(bits(&shared.solution), bits(&solved.solution), "{what}: threads");
    assert_eq!(shared.solution.bias.to_bits(), solved.solution.bias.to_bits(), "{what}: threads");
}

/// Checks that a problem over rows that the matrix does not have is refused.
fn refuses_missing_rows(solver: &dyn Solve, case: &Case, features: bool, what: &str) {
    let (dual, rows) = (&case.problem.dual, case.problem.gram.len());
    for missing in [rows, usize::MAX - 1] {
        let mut ids = dual.ids().to_vec();
        *ids.last_mut().expect("a problem has variables") = missing;
        let (sign, upper) = (dual.sign().to_vec(), dual.upper().to_vec());
        let ridges = (0..dual.len()).map(|k| dual.ridge_of(k)).collect();
        let other = Dual::new(ids, sign, dual.linear_term().to_vec(), upper, 0.0, dual.balance())
            .and_then(|other| other.with_ridges(ridges))
            .expect("a problem of another matrix");
        let start = Start::cold(&other).expect("the constraint is the same");
        let options = Options { stop: Stop::when(case.goal), refine: Refine::Exact, par: Par::Seq };
        let refused = case.solve_dual(solver, &other, features, start, options, &RunControl::unlimited()).expect_err(what);
        let named = format!("row {missing}, the matrix has {rows} rows");
        assert!(refused.to_string().contains(&named), "{what}: {refused}");
    }
}

/// Checks the objective against the oracle's optimum, if the problem is small enough.
fn check_optimum(problem: &Problem, reference: &CheckedSolution, what: &str) {
    if problem.dual.len() <= exact::MOST {
        let optimum = exact::solve(&problem.dual, &problem.gram);
        let slack = reference.rounding + problem.rounding(&optimum.alpha);
        let above = reference.objective() - optimum.objective;
        assert!((-slack..=reference.gap + slack).contains(&above), "{what}: {above:e} above the optimum");
    }
}

/// Checks a solution that was not refined: it is feasible, and its gradient is off by at most the
/// rounding of its kernel values and steps.
fn check_rough_gradient(problem: &Problem, rough: &Solution, what: &str) {
    let alpha = &rough.alpha;
    Start::checked(&problem.dual, alpha.clone()).expect("feasible");
    let mass: f64 = alpha.iter().sum();
    // Every kernel value has a rounding error of f32, and every step another.
    let steps = (1.0 + rough.work.iterations as f64).sqrt();
    let trust = f64::from(f32::EPSILON) * (1.0 + mass * problem.gram.diagonal().iter().copied().fold(0.0, f64::max)) * steps;
    let truth = problem.gradient(alpha);
    let off = rough.gradient.iter().zip(&truth).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(off <= trust, "{what}: gradient off by {off:e}, at most {trust:e}");
}

/// Checks that limits and cancellation end a run at a feasible point with a true status.
fn ends(case: &Case, what: &str, solve: &Solving) {
    let problem = &case.problem;
    let feasible = |solution: &Solution| Start::checked(&problem.dual, solution.alpha.clone()).is_ok();
    let stop = Stop { max_iter: Some(1), ..Stop::when(case.goal) };
    let ended = solve(cold(problem), stop, Refine::Exact, Par::Seq, &RunControl::unlimited()).expect("taken before").solution;
    assert!(ended.work.iterations <= 1 && feasible(&ended), "{what}: {:?}", ended.work);
    assert!(matches!(ended.status, Status::Converged | Status::IterationLimit), "{what}: {:?}", ended.status);
    let stop = Stop { max_time: Some(std::time::Duration::ZERO), ..Stop::when(case.goal) };
    let ended = solve(cold(problem), stop, Refine::Exact, Par::Seq, &RunControl::unlimited()).expect("taken before").solution;
    assert!(feasible(&ended) && matches!(ended.status, Status::Converged | Status::TimeLimit), "{what}: {:?}", ended.status);
    let mut told = 0;
    let observer = |_: &Progress| {
        told += 1;
        ControlFlow::Break(())
    };
    let ended = solve(cold(problem), Stop::when(case.goal), Refine::Exact, Par::Seq, &RunControl::new(observer))
        .expect("taken before")
        .solution;
    assert!(feasible(&ended) && matches!(ended.status, Status::Converged | Status::Interrupted), "{what}: {:?}", ended.status);
    // A run that was done when it reported has converged.
    let honest = if ended.status == Status::Interrupted { told == 1 } else { told <= 1 };
    assert!(honest, "{what}: told {told} times, {:?}", ended.status);
}

/// The objective of points of size 1 that counts as 0 despite rounding.
const NOTHING: f64 = 1e-9;

/// Checks that the run converged, the certificate meets the goal, the certificate of the solver's
/// own gradient agrees to rounding, and the bias is the constant of decisions.
fn meets(case: &Case, solved: Solved, taken: bool, what: &str) -> CheckedSolution {
    let (problem, exact) = (&case.problem, solved.exact);
    let checked = examine(problem, solved.solution);
    let (solution, certificate) = (&checked.solution, &checked.certificate);
    let (goal, room) = (case.goal, 1.0 + 1e-9);
    assert_eq!(solution.status, Status::Converged, "{what}: {certificate:?}, {:?}", solution.work);
    assert!(certificate.infeasible <= 1e-9, "{what}: {certificate:?}");
    assert!(goal.kkt().is_none_or(|kkt| certificate.kkt <= room * kkt), "{what}: {certificate:?}");
    assert!(goal.gap().is_none_or(|gap| certificate.relative_gap() <= room * gap), "{what}: {certificate:?}");
    if exact {
        let own = maxmargin_core::figures(&problem.dual, &solution.alpha, solution.bias, &solution.gradient);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        assert!(near(own.primal, certificate.primal) && near(own.dual, certificate.dual), "{what}: {own:?} and {certificate:?}");
    }
    let signed: f64 = solution.alpha.iter().zip(problem.dual.sign()).map(|(a, s)| a * s).sum();
    let expected = match case.formulation.bias_term() {
        // A kernel does not show the constant it contains: solvers know the bias of the problems
        // they accept.
        BiasTerm::Free => return checked,
        _ if !taken => return checked,
        BiasTerm::None => 0.0,
        BiasTerm::Feature(value) => value * value * signed,
    };
    assert!((solution.bias - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{what}: bias {} for {expected}", solution.bias);
    checked
}
