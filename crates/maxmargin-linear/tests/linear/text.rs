//! Sweeps and Newton steps on text and on few dense rows: more features than rows, any C.

use maxmargin_core::{Dual, EqualityConstraint, Goal, RunControl, Start, Status, Stop};
use maxmargin_data::{BinaryLabels, Generator, Par, Samples};
use maxmargin_linear::{Config, LinearSolution, LinearWork, Matrix, Method, solve};
use maxmargin_testkit::generate::rng;
use maxmargin_testkit::outside;
use proptest::prelude::*;
use rand::RngExt;

fn run(samples: &Samples, feature: Option<f64>, dual: &Dual, method: Method, goal: Goal, par: Par) -> LinearSolution {
    over(&Matrix::new(samples, feature, par), dual, &Config { method, par, ..Config::default() }, goal)
}

fn over(matrix: &Matrix, dual: &Dual, config: &Config, goal: Goal) -> LinearSolution {
    let start = Start::zero(dual).expect("zero is feasible");
    solve(matrix, dual, start, config, &Stop::when(goal), &RunControl::unlimited()).expect("a linear problem")
}

/// Both losses at this C.
fn problems(labels: &[f64], weights: &[f64], c: f64, balance: EqualityConstraint) -> [Dual; 2] {
    let n = labels.len();
    let linear = || vec![-1.0; n];
    let upper = weights.iter().map(|w| c * w).collect();
    let hinge = Dual::new((0..n).collect(), labels.to_vec(), linear(), upper, 0.0, balance).expect("a problem");
    let squared = Dual::new((0..n).collect(), labels.to_vec(), linear(), vec![f64::INFINITY; n], 0.5 / c, balance);
    [hinge, squared.expect("a problem")]
}

/// The work does not grow with C, and the bits do not depend on the threads.
#[test]
fn the_work_hardly_depends_on_c() {
    let data = Generator::SparseText.generate(1200, Some(8192), 5).expect("data");
    let labels = BinaryLabels::new(&data.labels).expect("two classes").signs;
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool of two threads");
    let mut most = [LinearWork::default(); 2];
    for c in [100.0, 1e4] {
        for (loss, dual) in problems(&labels, &vec![1.0; labels.len()], c, EqualityConstraint::Free).iter().enumerate() {
            let found = run(&data.samples, None, dual, Method::Newton, Goal::Gap(1e-6), Par::Seq);
            assert_eq!(found.solution.status, Status::Converged, "C = {c}: {:?}", found.certificate);
            assert!(found.certificate.has_gap(1e-6), "C = {c}: {:?}", found.certificate);
            assert!(found.work.gradients > 0, "conjugate gradients solve the systems");
            assert_eq!(two.install(|| run(&data.samples, None, dual, Method::Newton, Goal::Gap(1e-6), Par::Pool)), found);
            if c == 100.0 {
                most[loss] = found.work;
            }
            // Without stiff rows, the iterations grow with the square root of C: 10 times.
            let (steps, gradients) = (3 * most[loss].newton_steps, 4 * most[loss].gradients);
            assert!(found.work.newton_steps <= steps, "C = {c}: {:?}, at C = 100 {:?}", found.work, most[loss]);
            assert!(found.work.gradients <= gradients, "C = {c}: {:?}, at C = 100 {:?}", found.work, most[loss]);
        }
    }
}

/// Sweeps on the strongly convex dual of a squared loss converge linearly: they are not given up
/// while that pace is cheaper than Newton steps. With few features Newton steps are cheaper from
/// the start.
#[test]
fn a_squared_loss_is_swept_with_many_features_alone() {
    let data = Generator::SparseText.generate(1200, Some(8192), 5).expect("data");
    let labels = BinaryLabels::new(&data.labels).expect("two classes").signs;
    let [_, squared] = problems(&labels, &vec![1.0; labels.len()], 1.0, EqualityConstraint::Free);
    let found = run(&data.samples, None, &squared, Method::Hybrid, Goal::Kkt(1e-3), Par::Seq);
    assert_eq!((found.solution.status, found.work.newton_steps), (Status::Converged, 0), "{:?}", found.work);

    let (rows, width) = (600, 20);
    let value = |at: usize| (at * at * 7919 % 1009) as f64 / 504.5 - 1.0;
    let samples = Samples::from_dense(rows, width, (0..rows * width).map(value).collect()).expect("samples");
    let labels: Vec<f64> = (0..rows).map(|i| if value(width * i) + value(7 * i) > 0.0 { 1.0 } else { -1.0 }).collect();
    let [_, squared] = problems(&labels, &vec![1.0; rows], 1.0, EqualityConstraint::Free);
    let found = run(&samples, None, &squared, Method::Hybrid, Goal::Kkt(1e-3), Par::Seq);
    assert_eq!((found.solution.status, found.work.sweeps), (Status::Converged, 0), "{:?}", found.work);
    assert!(found.work.newton_steps <= 10, "{:?}", found.work);
}

/// On real text a few hundred samples are what takes long: those that are far from the margin are
/// set aside, and of the others those that gain most are visited most often.
#[test]
fn sweeps_over_real_text_adapt_and_shrink() {
    let Some(data) = outside::dataset("reuters") else { return };
    let labels = BinaryLabels::new(&data.labels).expect("two classes").signs;
    let weights = vec![1.0; labels.len()];
    for balance in [EqualityConstraint::Free, EqualityConstraint::Sum(0.0)] {
        let [dual, _] = problems(&labels, &weights, 10.0, balance);
        let of = |method| run(&data.samples, None, &dual, method, Goal::Kkt(1e-3), Par::Seq);
        let found = of(Method::Hybrid);
        assert_eq!((found.solution.status, found.work.newton_steps), (Status::Converged, 0), "{:?}", found.work);
        if balance == EqualityConstraint::Free {
            let (plain, adaptive) = (of(Method::Descent), of(Method::Avsf));
            assert!(4 * found.work.entries < plain.work.entries, "{:?}, {:?}", found.work, plain.work);
            assert!(4 * found.work.entries < 3 * adaptive.work.entries, "{:?}, {:?}", found.work, adaptive.work);
        }
    }
}

/// The two variables of a regression sample are one coordinate: at most one product and one
/// addition of its row for both.
#[test]
fn both_variables_of_a_value_move_in_one_step() {
    let data = Generator::SparseText.generate(600, Some(8192), 5).expect("data");
    let (n, values) = (data.samples.len(), &data.labels);
    let linear = values.iter().map(|y| 0.1 - y).chain(values.iter().map(|y| 0.1 + y)).collect();
    let signs = (0..2 * n).map(|k| if k < n { 1.0 } else { -1.0 }).collect();
    let ids = (0..n).chain(0..n).collect();
    let dual = Dual::new(ids, signs, linear, vec![1.0; 2 * n], 0.0, EqualityConstraint::Free).expect("a regression");
    let mut duals = Vec::new();
    for (method, shrinking) in [(Method::Descent, Some(false)), (Method::Avsf, Some(true)), (Method::Hybrid, None)] {
        let config = Config { method, shrinking, ..Config::default() };
        let found = over(&Matrix::new(&data.samples, None, Par::Seq), &dual, &config, Goal::Kkt(1e-6));
        assert!(found.certificate.holds(2e-6), "{method:?}: {:?}", found.certificate);
        let alpha = &found.solution.alpha;
        assert!((0..n).all(|k| alpha[k].min(alpha[n + k]) == 0.0), "{method:?}: both variables of a sample are positive");
        assert!(found.work.steps <= n as u64 * found.work.sweeps, "{method:?}: {:?}", found.work);
        duals.push(found.certificate.dual);
    }
    assert!(duals.iter().all(|dual| (dual - duals[0]).abs() < 1e-5 * duals[0].abs()), "{duals:?}");
}

/// Expressions of genes: some hundred samples, thousands of features that all have, and a mean far
/// from 0. Products of all pairs are kept and factored there; without memory for them it is
/// conjugate gradients.
#[test]
fn few_samples_with_many_dense_features_are_factored() {
    let (rows, width) = (120, 2000);
    let mut random = rng(9);
    let values: Vec<f64> = (0..rows * width).map(|_| 8.0 + random.random_range(0.0..2.0)).collect();
    let samples = Samples::from_dense(rows, width, values.clone()).expect("samples");
    let sum = |i: usize| values[i * width..i * width + 40].iter().sum::<f64>() - 40.0 * 9.0;
    let labels: Vec<f64> =
        (0..rows).map(|i| if sum(i) + 2.0 * random.random_range(-1.0..1.0) > 0.0 { 1.0 } else { -1.0 }).collect();
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool of two threads");
    for c in [1e-3, 1.0, 100.0] {
        for dual in problems(&labels, &vec![1.0; rows], c, EqualityConstraint::Sum(0.0)) {
            let of = |par| run(&samples, None, &dual, Method::Newton, Goal::Gap(1e-6), par);
            let found = of(Par::Seq);
            assert_eq!(found.solution.status, Status::Converged, "C = {c}: {:?}", found.certificate);
            assert!(found.work.gradients == 0 && found.work.newton_steps > 0, "C = {c}: {:?}", found.work);
            assert_eq!(two.install(|| of(Par::Pool)), found);
        }
    }
    let [_, squared] = problems(&labels, &vec![1.0; rows], 1e-3, EqualityConstraint::Free);
    let of = |budget| {
        let matrix = Matrix::new(&samples, None, Par::Seq).with_budget(budget);
        over(&matrix, &squared, &Config { method: Method::Newton, ..Config::default() }, Goal::Gap(1e-6))
    };
    let (kept, iterated) = (of(u64::MAX), of(0));
    assert!(kept.work.gradients == 0 && iterated.work.gradients > 0, "{:?}, {:?}", kept.work, iterated.work);
    assert!((kept.certificate.dual - iterated.certificate.dual).abs() < 2e-6 * kept.certificate.dual);
}

/// Rows of text: a few columns that many have, some that few have, copies and rows without entries.
fn text() -> impl Strategy<Value = (Samples, Vec<f64>, Vec<f64>)> {
    let row = prop::collection::btree_map(prop_oneof![0_u32..12, 0_u32..1800], 1_u8..9, 0..10);
    prop::collection::vec((row, any::<bool>(), 1_u8..4, any::<bool>()), 2..40).prop_map(|rows| {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut weights) = (Vec::new(), Vec::new());
        for (row, positive, weight, twice) in rows {
            for copy in 0..=usize::from(twice) {
                columns.extend(row.keys().copied());
                values.extend(row.values().map(|&v| f64::from(v) / 4.0));
                offsets.push(columns.len());
                // A copy has the other label.
                labels.push(if positive == (copy == 0) { 1.0 } else { -1.0 });
                weights.push(f64::from(weight));
            }
        }
        // A row that uses the last column makes the features many.
        columns.extend(0..1900);
        values.extend([0.125; 1900]);
        offsets.push(columns.len());
        labels.push(1.0);
        weights.push(1.0);
        (Samples::from_sparse(1900, offsets, columns, values).expect("samples"), labels, weights)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_c_loss_and_bias_has_its_certificate(
        (samples, labels, weights) in text(),
        c in prop::sample::select(vec![1e-3, 1.0, 1e4]),
        bias in 0_u8..3,
        one_class in any::<bool>(),
    ) {
        let labels = if one_class { vec![1.0; labels.len()] } else { labels };
        let (feature, balance) = match bias {
            0 => (None, EqualityConstraint::Free),
            1 => (Some(1.0), EqualityConstraint::Free),
            _ => (None, EqualityConstraint::Sum(0.0)),
        };
        for dual in problems(&labels, &weights, c, balance) {
            for method in [Method::Newton, Method::Hybrid] {
                let found = run(&samples, feature, &dual, method, Goal::Both { kkt: 1e-3, gap: 1e-6 }, Par::Seq);
                prop_assert!(
                    found.solution.status == Status::Converged && found.certificate.relative_gap() <= 1e-6,
                    "{method:?} C = {c} bias {bias}: {:?} {:?} {:?}", found.solution.status, found.certificate, found.work
                );
            }
        }
    }
}
