//! Runs that pairs are slow on: working sets go on once pairs have cost what these will.

use maxmargin_core::{
    BiasTerm, Dual, EqualityConstraint, Goal, Loss, Refine, Run, SideCosts, Solve, Solved, Start, Status, Stop, certify,
};
use maxmargin_data::libsvm::{ReadOptions, parse};
use maxmargin_data::{Par, RunControl, generate::Generator};
use maxmargin_kernel::{Kernel, KernelGram, Rows, Space};
use maxmargin_solvers::SmoFinish;
use std::fmt::Write;

const N: usize = 900;

/// A wide kernel and a C that few of the free variables come near.
fn slow() -> (KernelGram, Dual) {
    let mut data = Generator::Banana.generate(N, None, 5).expect("a generator");
    data.labels.iter_mut().step_by(11).for_each(|label| *label = -*label);
    let gram = KernelGram::new(&data.samples, Kernel::rbf(0.05), &RunControl::unlimited()).expect("a kernel");
    let dual = Dual::c_svc((0..N).collect(), data.labels, vec![1e5; N]).expect("two classes");
    (gram, dual)
}

fn solve(hands_over: bool, max_iter: Option<u64>, par: Par) -> Solved {
    solve_within(1 << 26, hands_over, max_iter, par)
}

fn solve_within(bytes: u64, hands_over: bool, max_iter: Option<u64>, par: Par) -> Solved {
    let (gram, dual) = slow();
    let rows = Rows::new(&gram, bytes, par);
    let stop = Stop { goal: Goal::Kkt(1e-3), max_iter, max_time: None };
    let mut run = Run { stop, refine: Refine::Exact, par, machine: 0, control: &RunControl::unlimited() };
    let start = Start::zero(&dual).expect("feasible");
    SmoFinish { hands_over, ..SmoFinish::default() }.solve(&dual, Space::Kernel(&rows), start, &mut run).expect("for SMO")
}

fn handed_over_after(solved: &Solved) -> Option<u64> {
    solved.counts.iter().find(|(name, _)| *name == "handed_over_after").map(|(_, count)| *count)
}

#[test]
fn pairs_are_left_once_working_sets_cost_less() {
    let (gram, dual) = slow();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let (one, two) = (solve(true, None, Par::Seq), pool.install(|| solve(true, None, Par::Pool)));
    let after = handed_over_after(&one).expect("a slow run");
    // Some hundred are free: a dozen factors of them take as long as so many pairs.
    assert!((2_000 + 2 * N as u64..10_000).contains(&after), "{after}");
    assert_eq!(one.solution.status, Status::Converged);
    assert!(certify(&dual, &gram, &one.solution, Par::Seq).holds(1e-3));
    assert!(one.solution.alpha == two.solution.alpha && one.counts == two.counts, "bits do not depend on threads");
    let alone = solve(false, None, Par::Seq);
    assert!(handed_over_after(&alone).is_none() && alone.solution.work.iterations > 10 * after);
}

#[test]
fn pairs_go_on_where_the_free_samples_have_no_room() {
    let (gram, dual) = slow();
    let after = handed_over_after(&solve(true, None, Par::Seq)).expect("a slow run");
    // The rows take 3.2 MB, and working sets of 140 samples the rest.
    let solved = solve_within(1 << 22, true, None, Par::Seq);
    assert_eq!(solved.solution.status, Status::Converged);
    assert!(solved.solution.work.iterations > 10 * after && handed_over_after(&solved).is_none_or(|pairs| pairs > 10 * after));
    assert!(certify(&dual, &gram, &solved.solution, Par::Seq).holds(1e-3));
    let limited = solve_within(1 << 22, true, Some(3 * after), Par::Seq);
    assert_eq!((limited.solution.status, limited.solution.work.iterations), (Status::IterationLimit, 3 * after));
}

#[test]
fn a_limit_that_was_asked_for_is_no_reason_to_hand_over() {
    let limited = solve(true, Some(3_000), Par::Seq);
    assert_eq!((limited.solution.status, limited.solution.work.iterations), (Status::IterationLimit, 3_000));
    assert_eq!(handed_over_after(&limited), None);
    let later = solve(true, Some(1_000_000), Par::Seq);
    assert!(handed_over_after(&later).is_some() && later.solution.status == Status::Converged);
}

#[test]
fn who_may_be_pushed_off_a_bound_is_in_the_working_set_before() {
    let mut data = Generator::Banana.generate(N, None, 5).expect("a generator");
    // What no function of the samples explains keeps many of the tube's two sides in turn.
    data.labels.iter_mut().enumerate().for_each(|(i, label)| *label += (i * 7919 % 1000) as f64 * 1e-3);
    let gram = KernelGram::new(&data.samples, Kernel::rbf(4.0), &RunControl::unlimited()).expect("a kernel");
    let dual = Dual::svr(Loss::Hinge, BiasTerm::Free, (0..N).collect(), &data.labels, SideCosts::equal(&[1e5; N]), 0.1)
        .expect("a regression");
    let rows = Rows::new(&gram, 1 << 26, Par::Seq);
    let stop = Stop { goal: Goal::Kkt(1e-3), max_iter: None, max_time: None };
    let mut run = Run { stop, refine: Refine::Exact, par: Par::Seq, machine: 0, control: &RunControl::unlimited() };
    let solver = SmoFinish { hands_over: true, ..SmoFinish::default() };
    let solved = solver.solve(&dual, Space::Kernel(&rows), Start::zero(&dual).expect("feasible"), &mut run).expect("for SMO");
    let sets = solved.counts.iter().find(|(name, _)| *name == "working_sets").map(|(_, count)| *count);
    assert!(sets.is_some_and(|sets| sets <= 2), "{sets:?}");
    assert!(certify(&dual, &gram, &solved.solution, Par::Seq).holds(1e-3));
}

#[test]
fn what_working_sets_stall_on_goes_back_to_pairs() {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    let mut normal = || (0..6).map(|_| uniform()).sum::<f64>() / 2.0_f64.sqrt();
    let mut text = String::new();
    for i in 0..1000 {
        // One row in a hundred 400,000 times as long: a cubic kernel has values of 1 and of 1e35.
        let (x, y, z, scale) = (normal(), normal(), normal(), if i % 100 == 0 { 4e5 } else { 1.0 });
        let label = if x + 0.5 * y + 0.3 * normal() > 0.0 { "+1" } else { "-1" };
        writeln!(text, "{label} 1:{} 2:{} 3:{}", scale * x, scale * y, scale * z).expect("memory");
    }
    let data = parse(text.as_bytes(), &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).expect("data");
    let gram = KernelGram::new(&data.samples, Kernel::poly(1.0, 1.0, 3), &RunControl::unlimited()).expect("a kernel");
    let dual = Dual::c_svc((0..1000).collect(), data.labels, vec![1.0; 1000]).expect("two classes");
    let rows = Rows::new(&gram, 1 << 26, Par::Seq);
    let stop = Stop { goal: Goal::Gap(1e-3), max_iter: None, max_time: None };
    let mut run = Run { stop, refine: Refine::Exact, par: Par::Seq, machine: 0, control: &RunControl::unlimited() };
    let solver = SmoFinish { hands_over: true, ..SmoFinish::default() };
    let solved = solver.solve(&dual, Space::Kernel(&rows), Start::zero(&dual).expect("feasible"), &mut run).expect("for SMO");
    let after = handed_over_after(&solved).expect("a slow run");
    assert_eq!(
        (solved.solution.status, solved.solution.work.iterations > after),
        (Status::Converged, true),
        "{:?}",
        solved.counts
    );
}

/// Without bounds, rounding in `f32` rows of more than the ridge leaves pair steps without a
/// minimum: they once went on to values of 10¹⁵⁰.
#[test]
fn losses_without_bounds_end_at_the_optimum_or_no_worse_than_they_began() {
    let n = 60;
    let value = |i: usize, j: usize| ((i * 37 + j * 101) % 53) as f64 / 9.0 - 3.0;
    let values = (0..n).flat_map(|i| (0..4).map(move |j| value(i, j))).collect();
    let samples = maxmargin_data::Samples::from_dense(n, 4, values).expect("samples");
    for (c, degree) in [(1e2, 3), (1e4, 2), (1e8, 3)] {
        let gram = KernelGram::new(&samples, Kernel::poly(1.0, 1.0, degree), &RunControl::unlimited()).expect("a kernel");
        let signs = (0..n).map(|i| if value(i, 1) * value(i, 2) > 0.3 { 1.0 } else { -1.0 }).collect();
        let (linear, upper) = (vec![-1.0; n], vec![f64::INFINITY; n]);
        let dual = Dual::new((0..n).collect(), signs, linear, upper, 0.5 / c, EqualityConstraint::Sum(0.0)).expect("a problem");
        for hands_over in [false, true] {
            let rows = Rows::new(&gram, 1 << 26, Par::Seq);
            let stop = Stop::when(Goal::Gap(1e-5));
            let mut run = Run { stop, refine: Refine::Exact, par: Par::Seq, machine: 0, control: &RunControl::unlimited() };
            let start = Start::zero(&dual).expect("feasible");
            let solver = SmoFinish { hands_over, ..SmoFinish::default() };
            let found = solver.solve(&dual, Space::Kernel(&rows), start, &mut run).expect("for SMO").solution;
            let certificate = certify(&dual, &gram, &found, Par::Seq);
            assert!(certificate.has_gap(1e-5), "C = {c}: {:?} {certificate:?}", found.status);
            assert!(found.work.iterations < 100_000, "{:?}", found.work);
        }
        // A matrix that is not positive semidefinite leaves no minimum at all.
        let gram =
            KernelGram::new(&samples, Kernel::Sigmoid { gamma: 0.5, coef0: -1.0 }, &RunControl::unlimited()).expect("a kernel");
        let rows = Rows::new(&gram, 1 << 26, Par::Seq);
        let mut run =
            Run { stop: Stop::at(1e-3), refine: Refine::Exact, par: Par::Seq, machine: 0, control: &RunControl::unlimited() };
        let start = Start::zero(&dual).expect("feasible");
        let found = SmoFinish::default().solve(&dual, Space::Kernel(&rows), start, &mut run).expect("for SMO").solution;
        assert!(found.alpha.iter().all(|alpha| *alpha < 1e12), "C = {c}: {:?}", found.status);
    }
}
