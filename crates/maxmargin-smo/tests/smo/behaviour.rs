//! Guarantees of SMO beyond the conformance suite: descent, warm starts, true statuses, layouts,
//! refinement.

use maxmargin_core::{Dual, Progress, RunControl, Solution, Start, Status, Stop, certify};
use maxmargin_data::Par;
use maxmargin_kernel::{FnGram, Gram, Rows};
use maxmargin_smo::{Refine, SmoConfig, solve};
use maxmargin_testkit::{PointsGram, Problem, analytic, generate};
use std::ops::{ControlFlow, Range};
use std::time::Duration;

const BUDGET: u64 = 1 << 26;

fn run(problem: &Problem, start: Start, stop: &Stop, refine: Refine) -> Solution {
    let rows = Rows::new(&problem.gram, BUDGET, Par::Seq);
    solve(&problem.dual, &rows, start, &SmoConfig { refine, ..SmoConfig::default() }, stop, &RunControl::unlimited())
        .expect("SMO takes the problem")
}

fn exact(problem: &Problem, start: Start, tol: f64) -> Solution {
    run(problem, start, &Stop { max_iter: Some(20_000_000), ..Stop::at(tol) }, Refine::Exact)
}

fn zero(problem: &Problem) -> Start {
    Start::zero(&problem.dual).expect("zero is feasible")
}

/// If all variables end at a bound, rounding may leave one of a many-part start slightly off it.
/// That variable must not decide the bias.
#[test]
fn rounding_that_a_start_leaves_does_not_decide_the_bias() {
    let mut rng = generate::rng(3);
    for round in 0..40 {
        let (points, labels) = generate::clouds(&mut rng, 25, 25, 3, 0.1);
        let product = |i: usize, j: usize| (-points[i].iter().zip(&points[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp();
        let gram = FnGram::new(50, product);
        let c = 0.1;
        let dual = Dual::c_svc((0..50).collect(), labels.clone(), vec![c; 50]).expect("two classes");
        let rows = Rows::new(&gram, BUDGET, Par::Seq);
        // Equal parts for both classes, none of them at a bound.
        let (mut left, mut right) = (0, 0);
        let share = |k: usize| c * ((k * (round + 7) % 23) as f64 + 0.3) / 23.7;
        let shares = labels.iter().map(|y| {
            let place = if *y > 0.0 { &mut left } else { &mut right };
            *place += 1;
            share(*place)
        });
        let start = Start::checked(&dual, shares.collect()).expect("feasible");
        let cold = Start::zero(&dual).expect("feasible");
        let config = SmoConfig { refine: Refine::Exact, ..SmoConfig::default() };
        let [warm, cold] = [start, cold].map(|start| {
            solve(&dual, &rows, start, &config, &Stop::at(1e-9), &RunControl::unlimited()).expect("a problem for SMO")
        });
        assert!((warm.bias - cold.bias).abs() < 1e-8, "{round}: {} and {}", warm.bias, cold.bias);
    }
}

#[test]
fn the_objective_never_rises() {
    for (degree, c) in [(1, 1.0), (1, 1000.0), (2, 0.01), (2, 10.0), (3, 1.0)] {
        let problem = generate::lattice(1, 70, degree, c);
        let (mut last, mut ended) = (0.0, false);
        for most in (0..40).chain([50, 75, 100, 150, 250, 500, 1000, 2500, 5000]) {
            let stop = Stop { max_iter: Some(most), ..Stop::at(1e-3) };
            let solution = run(&problem, zero(&problem), &stop, Refine::Exact);
            let objective = problem.objective(&solution.alpha);
            let slack = problem.rounding(&solution.alpha);
            assert!(objective <= last + slack, "{}: {last} to {objective} at {most} iterations", problem.name);
            let strictly = most > 0 && !ended;
            assert!(!strictly || objective < last, "{}: {last} to {objective} at {most} iterations", problem.name);
            assert!(!ended || solution.status == Status::Converged);
            ended = solution.status == Status::Converged;
            last = objective;
        }
    }
}

#[test]
fn the_optimum_needs_nothing_more() {
    for problem in generate::medium(11, 60) {
        for tol in [1e-3, 1e-6] {
            let cold = exact(&problem, zero(&problem), tol);
            let start = Start::checked(&problem.dual, cold.alpha.clone()).expect("a solution is a start");
            let looser = exact(&problem, start.clone(), 2.0 * tol);
            assert_eq!((looser.status, looser.work.iterations), (Status::Converged, 0), "{}", problem.name);
            assert_eq!(looser.alpha, cold.alpha, "{}", problem.name);
            let with_gradient = exact(&problem, start.clone().with_gradient(cold.gradient.clone()), 2.0 * tol);
            assert_eq!(with_gradient.work.iterations, 0, "{}", problem.name);
            let same = exact(&problem, start, tol);
            let few = 5 + cold.work.iterations / 20;
            assert!(same.work.iterations <= few, "{}: {} after {}", problem.name, same.work.iterations, cold.work.iterations);
        }
    }
}

#[test]
fn solutions_by_hand_are_recognised() {
    for case in analytic::c_svc().into_iter().chain(analytic::general()) {
        if let Some(alpha) = &case.alpha {
            let start = Start::checked(&case.problem.dual, alpha.clone()).expect("feasible");
            let solution = exact(&case.problem, start, 1e-9);
            assert_eq!((solution.status, solution.work.iterations), (Status::Converged, 0), "{}", case.problem.name);
            assert_eq!(&solution.alpha, alpha, "{}", case.problem.name);
        }
    }
}

/// The solver uses a gradient that comes with the start for its iterations, but never for its final
/// claim.
#[test]
fn a_lying_gradient_does_not_reach_the_certificate() {
    for problem in generate::medium(12, 60) {
        let n = problem.dual.len();
        for lie in [vec![0.0; n], (0..n).map(|k| (k as f64).sin()).collect(), vec![-1.0; n]] {
            let half = problem.dual.upper().iter().map(|u| 0.5 * u).collect();
            let start = Start::project(&problem.dual, half).expect("feasible").with_gradient(lie);
            let solution = exact(&problem, start, 1e-3);
            let certificate = certify(&problem.dual, &problem.gram, &solution, Par::Seq);
            assert!(solution.status == Status::Converged && certificate.holds(1e-3), "{}: {certificate:?}", problem.name);
        }
    }
}

#[test]
fn without_refinement_nothing_is_recomputed_and_exact_rows_suffice() {
    let problem = generate::lattice(2, 80, 2, 1.0);
    let plain = run(&problem, zero(&problem), &Stop::at(1e-3), Refine::Never);
    let certificate = certify(&problem.dual, &problem.gram, &plain, Par::Seq);
    assert_eq!((plain.status, plain.work.refinements), (Status::Converged, 0));
    assert!(certificate.holds(1e-3), "{certificate:?}");
    let refined = run(&problem, zero(&problem), &Stop::at(1e-3), Refine::Exact);
    assert_eq!((&refined.alpha, refined.work.iterations, refined.work.refinements), (&plain.alpha, plain.work.iterations, 1));
}

/// More than 32 runs of ids are gathered, fewer are padded: neither changes a bit of the result.
#[test]
fn scattered_samples_are_solved_like_consecutive_ones() {
    for n in [20, 60] {
        for problem in generate::medium(13, n) {
            let (plain, scattered) = (exact(&problem, zero(&problem), 1e-4), problem.scattered());
            let other = exact(&scattered, zero(&scattered), 1e-4);
            assert_eq!(plain.alpha, other.alpha, "{}", problem.name);
            assert_eq!(plain.bias, other.bias, "{}", problem.name);
            assert_eq!(plain.work.iterations, other.work.iterations, "{}", problem.name);
        }
    }
}

/// Ids may repeat, descend and lie anywhere in the matrix.
#[test]
fn ids_in_any_order() {
    let problem = &generate::medium(14, 60)[0];
    let ids: Vec<usize> = (30..45).chain((10..20).rev()).chain([59, 3, 3]).collect();
    let labels: Vec<f64> = ids.iter().map(|&id| problem.dual.sign()[id]).collect();
    let n = ids.len();
    let dual = Dual::c_svc(ids.clone(), labels.clone(), vec![1.5; n]).expect("a problem");
    let part = Problem::new("part", problem.gram.clone(), dual);
    let solution = exact(&part, zero(&part), 1e-6);
    let alone = Problem::c_svc("alone", problem.gram.select(&ids), labels, vec![1.5; n]);
    let other = exact(&alone, zero(&alone), 1e-6);
    let (a, b) = (part.objective(&solution.alpha), alone.objective(&other.alpha));
    assert!(certify(&part.dual, &part.gram, &solution, Par::Seq).holds(1e-6));
    assert!((a - b).abs() < 1e-6 * 1.5 * n as f64, "{a} and {b}");
}

/// A slow matrix: after the first block the second report is due.
struct Slow<'g>(&'g PointsGram);

impl Gram for Slow<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn diagonal(&self) -> &[f64] {
        self.0.diagonal()
    }
    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        std::thread::sleep(Duration::from_millis(60));
        self.0.fill(rows, columns, out);
    }
    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        self.0.fill_exact(rows, columns, out);
    }
}

#[test]
fn an_observer_sees_progress_and_may_cancel_late() {
    let problem = generate::lattice(3, 80, 1, 1000.0);
    let gram = Slow(&problem.gram);
    let rows = Rows::new(&gram, BUDGET, Par::Seq);
    let mut seen: Vec<Progress> = Vec::new();
    let observer = |progress: &Progress| {
        seen.push(*progress);
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let solution =
        solve(&problem.dual, &rows, zero(&problem), &SmoConfig::default(), &Stop::at(1e-6), &RunControl::new(observer))
            .expect("a problem");
    assert_eq!(solution.status, Status::Interrupted);
    assert_eq!((seen[0].iterations, seen[0].rows_computed), (0, 0));
    assert!(seen[1].iterations > 0 && seen[1].rows_computed > 0, "{seen:?}");
    assert_eq!(solution.work.iterations, seen[1].iterations);
    assert!(problem.objective(&solution.alpha) < 0.0);
    Start::checked(&problem.dual, solution.alpha).expect("a point to go on from");
}

/// An observer that takes its time sees gaps of the whole problem, which do not change what the run
/// does.
#[test]
fn an_observer_sees_the_gap_fall() {
    let problem = generate::lattice(3, 80, 1, 1000.0);
    let run = |control: &RunControl| {
        let rows = Rows::new(&problem.gram, BUDGET, Par::Seq);
        solve(&problem.dual, &rows, zero(&problem), &SmoConfig::default(), &Stop::at(1e-6), control).expect("a problem")
    };
    let mut gaps: Vec<f64> = Vec::new();
    let observed = run(&RunControl::new(|progress: &Progress| {
        if gaps.len() < 3 {
            std::thread::sleep(Duration::from_millis(60));
        }
        gaps.extend(progress.gap.filter(|gap| gaps.last() != Some(gap)));
        ControlFlow::Continue(())
    }));
    assert!(gaps.len() >= 3 && gaps.iter().all(|gap| (0.0..=1.0).contains(gap)), "{gaps:?}");
    assert!(gaps[gaps.len() - 1] < gaps[0], "{gaps:?}");
    let alone = run(&RunControl::unlimited());
    assert_eq!((alone.alpha, alone.work), (observed.alpha, observed.work));
}

#[test]
fn a_time_limit_ends_at_a_point_to_go_on_from() {
    let problem = generate::lattice(3, 80, 1, 1000.0);
    let gram = Slow(&problem.gram);
    let rows = Rows::new(&gram, BUDGET, Par::Seq);
    let stop = Stop { max_time: Some(Duration::from_millis(50)), ..Stop::at(1e-6) };
    let first =
        solve(&problem.dual, &rows, zero(&problem), &SmoConfig::default(), &stop, &RunControl::unlimited()).expect("a problem");
    assert_eq!(first.status, Status::TimeLimit);
    let start = Start::checked(&problem.dual, first.alpha.clone()).expect("feasible");
    let second = exact(&problem, start, 1e-6);
    assert_eq!(second.status, Status::Converged);
    assert!(problem.objective(&second.alpha) < problem.objective(&first.alpha));
}

/// A stopped run, continued from its α, ends where one run ends.
#[test]
fn a_run_in_instalments_arrives() {
    for problem in generate::medium(15, 60) {
        let whole = exact(&problem, zero(&problem), 1e-6);
        let mut start = zero(&problem);
        let mut rounds = 0;
        let end = loop {
            let stop = Stop { max_iter: Some(1 + whole.work.iterations / 7), ..Stop::at(1e-6) };
            let part = run(&problem, start, &stop, Refine::Exact);
            if part.status == Status::Converged {
                break part;
            }
            assert_eq!(part.status, Status::IterationLimit, "{}", problem.name);
            rounds += 1;
            assert!(rounds < 100, "{}: does not arrive", problem.name);
            start = Start::checked(&problem.dual, part.alpha).expect("feasible");
        };
        let (a, b) = (problem.objective(&whole.alpha), problem.objective(&end.alpha));
        let reach: f64 = problem.dual.upper().iter().sum();
        assert!((a - b).abs() <= 1e-6 * reach + problem.rounding(&end.alpha), "{}: {a} and {b}", problem.name);
    }
}

#[test]
fn a_kernel_of_ones_own() {
    let rng = &mut generate::rng(16);
    let (points, labels) = generate::clouds(rng, 30, 30, 2, 0.3);
    let cauchy = |i: usize, j: usize| {
        let d2: f64 = points[i].iter().zip(&points[j]).map(|(a, b)| (a - b) * (a - b)).sum();
        1.0 / (1.0 + d2)
    };
    let gram = FnGram::new(60, cauchy);
    let dual = Dual::c_svc((0..60).collect(), labels, vec![1.0; 60]).expect("a problem");
    let rows = Rows::new(&gram, BUDGET, Par::Seq);
    let start = Start::zero(&dual).expect("feasible");
    let solution =
        solve(&dual, &rows, start, &SmoConfig::default(), &Stop::at(1e-6), &RunControl::unlimited()).expect("a problem");
    assert!(solution.status == Status::Converged && certify(&dual, &gram, &solution, Par::Seq).holds(1e-6));
}
