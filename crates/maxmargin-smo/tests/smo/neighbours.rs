//! Problems over kernels that are mostly zero: the same optimum as over whole rows, in steps that
//! compute no row.

use maxmargin_core::{Dual, EqualityConstraint, Refine, Solution, Start, Status, Stop, certify, exact_gradient};
use maxmargin_data::generate::Generator;
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{Gram, Kernel, KernelGram, Rows};
use maxmargin_smo::{Relaxation, Shrinking, SmoConfig, relax, solve};

const N: usize = 2200;

/// Samples of which some have many neighbours and some have none.
fn gram() -> (KernelGram, Vec<f64>) {
    let data = Generator::TwoGaussians.generate(N, None, 5).expect("a generator");
    let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 400.0 }, &RunControl::unlimited()).expect("a kernel");
    gram.find_neighbours(u64::MAX, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    let neighbours = gram.neighbours().expect("neighbours");
    let counts: Vec<usize> = (0..N).map(|i| neighbours.of(i).samples.len()).collect();
    assert!(counts.contains(&1) && counts.iter().any(|count| *count > 40));
    (gram, data.labels)
}

/// Problems of every kind that have one sum: classes with a part left out and a weight, a ridge,
/// the two sides of a tube, one class.
fn problems(labels: &[f64]) -> Vec<(&'static str, Dual)> {
    let some: Vec<usize> = (0..N).filter(|i| !(700..900).contains(i)).collect();
    let signs: Vec<f64> = some.iter().map(|&i| labels[i]).collect();
    let weighted = signs.iter().map(|s| if *s > 0.0 { 20.0 } else { 0.7 }).collect();
    let classes = |c: f64| Dual::c_svc((0..N).collect(), labels.to_vec(), vec![c; N]).expect("two classes");
    let ridge =
        Dual::new((0..N).collect(), labels.to_vec(), vec![-1.0; N], vec![f64::INFINITY; N], 0.5, EqualityConstraint::Sum(0.0));
    let ids = (0..N).chain(0..N).collect();
    let sign = [vec![1.0; N], vec![-1.0; N]].concat();
    let target = |i: usize| (i as f64 * 0.37).sin();
    let linear = (0..N).map(|i| 0.1 - target(i)).chain((0..N).map(|i| 0.1 + target(i))).collect();
    let tube = Dual::new(ids, sign, linear, vec![3.0; 2 * N], 0.0, EqualityConstraint::Sum(0.0));
    let one = Dual::new((0..N).collect(), vec![1.0; N], vec![0.0; N], vec![1.0; N], 0.0, EqualityConstraint::Sum(0.1 * N as f64));
    vec![
        ("part", Dual::c_svc(some, signs, weighted).expect("two classes")),
        ("small C", classes(0.2)),
        ("large C", classes(1000.0)),
        ("ridge", ridge.expect("a problem")),
        ("tube", tube.expect("a problem")),
        ("one class", one.expect("a problem")),
    ]
}

fn run(dual: &Dual, gram: &KernelGram, neighbours: bool, tol: f64) -> (Solution, u64) {
    let rows = Rows::new(gram, 1 << 28, Par::Seq);
    let config = SmoConfig { refine: Refine::Exact, neighbours, ..SmoConfig::default() };
    let start = Start::cold(dual).expect("feasible");
    let solution = solve(dual, &rows, start, &config, &Stop::at(tol), &RunControl::unlimited()).expect("a problem for SMO");
    (solution, rows.work().computed)
}

#[test]
fn the_optimum_is_that_of_whole_rows() {
    let (gram, labels) = gram();
    for (name, dual) in problems(&labels) {
        let (solution, computed) = run(&dual, &gram, true, 1e-6);
        assert_eq!((solution.status, computed), (Status::Converged, 0), "{name}");
        let (whole, computed) = run(&dual, &gram, false, 1e-6);
        assert!(whole.status == Status::Converged && computed > 0, "{name}");
        // From all values: no neighbours are known to another matrix.
        let all = gram.part(&(0..N).collect::<Vec<_>>()).expect("a copy");
        let all: &dyn Gram = &*all;
        assert!(all.neighbours().is_none());
        let [ours, theirs] = [&solution, &whole].map(|of| certify(&dual, all, of, Par::Seq));
        assert!(ours.holds(1e-6), "{name}: {ours:?}");
        let most = ours.gap().max(theirs.gap()) + 1e-12 * theirs.dual.abs();
        assert!((ours.dual - theirs.dual).abs() <= most, "{name}: {} and {}", ours.dual, theirs.dual);
        assert!((solution.bias - whole.bias).abs() <= 2e-6, "{name}: {} and {}", solution.bias, whole.bias);
    }
}

/// Sweeps over single variables end where they help little. A single step is less than half of an
/// iteration on a pair.
#[test]
fn steps_are_few() {
    let (gram, labels) = gram();
    for (name, dual) in problems(&labels) {
        let [ours, whole] = [true, false].map(|neighbours| run(&dual, &gram, neighbours, 1e-3).0.work.iterations);
        let most = 4 * whole;
        assert!(ours <= most, "{name}: {ours} and {whole}");
    }
}

#[test]
fn repairs_visit_neighbours_and_know_the_gradients_of_all() {
    let (gram, labels) = gram();
    let dual = Dual::c_svc((0..N).collect(), labels, vec![5.0; N]).expect("two classes");
    let (solved, _) = run(&dual, &gram, true, 1e-5);
    let mut alpha = solved.alpha.clone();
    alpha.iter_mut().step_by(10).for_each(|a| *a = 0.0);
    let gradient = exact_gradient(&dual, &gram, &alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    let rows = Rows::new(&gram, 1 << 28, Par::Seq);
    let relaxation = Relaxation { bias: solved.bias, steps: 100_000, tol: 1e-4, shrinking: Shrinking::default() };
    let relaxed = relax(&dual, &rows, &alpha, &gradient, &relaxation, &RunControl::unlimited()).expect("unlimited");
    assert!(relaxed.steps >= 200 && relaxed.steps < 100_000 && rows.work().computed == 0);
    let exact = exact_gradient(&dual, &gram, &relaxed.alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    assert!(relaxed.gradient.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= 1e-10));
    // The removed samples come back: nothing else has moved far at the same bias.
    assert!(relaxed.alpha.iter().zip(&solved.alpha).all(|(a, b)| (a - b).abs() <= 1e-2 * (1.0 + b)));
}
