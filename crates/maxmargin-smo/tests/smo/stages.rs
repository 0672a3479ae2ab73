//! Large problems that begin with solutions of samples: the same optimum as from zero, fewer kernel
//! values where most support vectors are bounded, the same bits for any number of threads.

use maxmargin_core::{Dual, EqualityConstraint, Goal, Progress, Refine, Solution, Start, Status, Stop, certify};
use maxmargin_data::generate::Generator;
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{Kernel, KernelGram, Rows};
use maxmargin_smo::{Shrinking, SmoConfig, solve};
use std::ops::ControlFlow;
use std::time::Duration;

/// Samples of small problems: the first has an eighth of the rows or less.
const SAMPLED: Shrinking = Shrinking { from: 200, long_from: usize::MAX, first: 60, sampled_from: 1000 };

const FROM_ZERO: Shrinking = Shrinking { sampled_from: usize::MAX, ..SAMPLED };

fn overlapping(rows: usize, seed: u64, gamma: f64) -> (KernelGram, Vec<f64>) {
    let data = Generator::TwoGaussians.generate(rows, None, seed).expect("a generator");
    (KernelGram::new(&data.samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel"), data.labels)
}

fn config(shrinking: Shrinking, par: Par) -> SmoConfig {
    SmoConfig { refine: Refine::Exact, par, shrinking, ..SmoConfig::default() }
}

fn run(dual: &Dual, gram: &KernelGram, config: &SmoConfig, control: &RunControl) -> Solution {
    let rows = Rows::new(gram, 1 << 26, config.par);
    let start = Start::zero(dual).expect("feasible");
    solve(dual, &rows, start, config, &Stop::at(1e-3), control).expect("a problem for SMO")
}

/// Classes with costs of their own, and both sides of a tube.
fn problems(labels: &[f64], c: f64) -> [Dual; 2] {
    let n = labels.len();
    let costs = labels.iter().map(|y| if *y > 0.0 { c } else { 2.0 * c }).collect();
    let sign = [vec![1.0; n], vec![-1.0; n]].concat();
    let linear = labels.iter().map(|y| 0.1 - y).chain(labels.iter().map(|y| 0.1 + y)).collect();
    [
        Dual::c_svc((0..n).collect(), labels.to_vec(), costs).expect("two classes"),
        Dual::new((0..n).chain(0..n).collect(), sign, linear, vec![c; 2 * n], 0.0, EqualityConstraint::Sum(0.0)).expect("a tube"),
    ]
}

#[test]
fn solutions_are_those_from_zero() {
    for (seed, c, gamma) in [(1, 1.0, 0.5), (2, 10.0, 1.0), (3, 0.1, 5.0), (4, 100.0, 20.0)] {
        let (gram, labels) = overlapping(1200, seed, gamma);
        for dual in problems(&labels, c) {
            let certified = |shrinking| {
                let solution = run(&dual, &gram, &config(shrinking, Par::Seq), &RunControl::unlimited());
                assert_eq!(solution.status, Status::Converged, "C = {c}, gamma = {gamma}");
                let certificate = certify(&dual, &gram, &solution, Par::Seq);
                assert!(certificate.holds(1e-3), "{certificate:?}");
                certificate
            };
            let (sampled, zero) = (certified(SAMPLED), certified(FROM_ZERO));
            let gaps = sampled.gap().max(0.0) + zero.gap().max(0.0);
            assert!((sampled.dual - zero.dual).abs() <= gaps + 1e-9 * zero.dual.abs(), "{sampled:?} and {zero:?}");
        }
    }
}

#[test]
fn fewer_values_are_computed_where_most_support_vectors_are_bounded() {
    let (gram, labels) = overlapping(12_000, 1, 0.5);
    let shrinking = Shrinking { from: 200, long_from: usize::MAX, first: 500, sampled_from: 10_000 };
    let [dual, _] = problems(&labels, 1.0);
    let work = |shrinking| run(&dual, &gram, &config(shrinking, Par::Pool), &RunControl::unlimited()).work;
    let (sampled, zero) = (work(shrinking), work(Shrinking { sampled_from: usize::MAX, ..shrinking }));
    assert!(4 * sampled.rows_computed <= 3 * zero.rows_computed, "{sampled:?}, from zero {zero:?}");
    assert!(3 * sampled.iterations <= 2 * zero.iterations, "{sampled:?}, from zero {zero:?}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let (gram, labels) = overlapping(1500, 7, 1.0);
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    for dual in problems(&labels, 10.0) {
        let alone = run(&dual, &gram, &config(SAMPLED, Par::Seq), &RunControl::unlimited());
        let shared = two.install(|| run(&dual, &gram, &config(SAMPLED, Par::Pool), &RunControl::unlimited()));
        assert_eq!((alone.alpha, alone.work), (shared.alpha, shared.work));
    }
}

/// Wherever a run is cut, its point is feasible and its status true.
#[test]
fn runs_that_are_cut_return_a_feasible_point() {
    let (gram, labels) = overlapping(1500, 7, 1.0);
    for dual in problems(&labels, 10.0) {
        for reports in [1, 3, 10, 30] {
            let mut left = reports;
            let control = RunControl::new(|_: &Progress| {
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            let cut = run(&dual, &gram, &config(SAMPLED, Par::Seq), &control);
            assert!(matches!(cut.status, Status::Interrupted | Status::Converged), "{:?}", cut.status);
            Start::checked(&dual, cut.alpha).expect("a feasible point");
        }
        let rows = Rows::new(&gram, 1 << 26, Par::Seq);
        let stop = Stop { goal: Goal::Kkt(1e-3), max_iter: Some(40), max_time: Some(Duration::from_mins(1)) };
        let start = Start::zero(&dual).expect("feasible");
        let cut = solve(&dual, &rows, start, &config(SAMPLED, Par::Seq), &stop, &RunControl::unlimited()).expect("a problem");
        assert_eq!((cut.status, cut.work.iterations), (Status::IterationLimit, 40));
        Start::checked(&dual, cut.alpha).expect("a feasible point");
    }
}
