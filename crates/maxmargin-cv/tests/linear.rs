//! Linear solvers against kernel solvers: the same machine, the same folds.

use maxmargin_core::{Dual, Loss, Offset, Silent, Start, Status, Stop, certify};
use maxmargin_cv::{
    CvConfig, FoldPlan, LinearCv, LinearStart, Order, Pool, Quiet, Seeding, cross_validate, cross_validate_linear,
    cross_validate_linear_apart,
};
use maxmargin_data::{Generator, Par, Samples};
use maxmargin_kernel::{Kernel, KernelGram, Rows};
use maxmargin_linear::{Config, Matrix, solve};
use maxmargin_smo::solve_certified;
use proptest::prelude::*;
use std::convert::Infallible;

fn linear(par: Par) -> LinearCv {
    LinearCv { loss: Loss::Hinge, offset: Offset::Free, stop: Stop::at(1e-6), config: Config { par, ..Config::default() } }
}

#[test]
fn the_folds_are_those_of_the_kernel_engine() {
    let data = Generator::Blobs.generate(400, Some(5), 7).expect("data");
    let plan = FoldPlan::stratified(&data.labels, 5, 3).expect("folds");
    let upper = vec![3.0; 400];
    let order = Order::new(&plan, &data.labels);
    let gram = KernelGram::new(&data.samples.select(order.original()), Kernel::Linear).expect("a kernel");
    let rows = Rows::new(&gram, 1 << 28, Par::Seq);
    let pool = Pool { labels: order.sort(&data.labels), upper: order.sort(&upper) };
    let config = CvConfig { seeding: Seeding::Cold, stop: Stop::at(1e-6) };
    let kernel = cross_validate(&order, &pool, &rows, &config, Par::Seq, &Quiet).expect("a problem");

    let pool = Pool { labels: data.labels.clone(), upper };
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let mut reports = Vec::new();
    for start in [LinearStart::Cold, LinearStart::Full(None)] {
        threads.install(|| {
            for par in [Par::Seq, Par::Pool] {
                reports.push(cross_validate_linear(&plan, &pool, &data.samples, &linear(par), start, &Quiet).expect("a problem"));
            }
        });
    }
    let same = |_: usize, _: &[usize]| Ok::<Samples, Infallible>(data.samples.clone());
    reports.push(cross_validate_linear_apart(&plan, &pool, same, &linear(Par::Seq), &Quiet).expect("a problem"));
    // The same bits on any number of threads.
    assert_eq!(reports[0].decisions, reports[1].decisions);
    assert_eq!(reports[2].decisions, reports[3].decisions);
    for report in &reports {
        assert_eq!(report.status(), Status::Converged);
        assert_eq!(report.correct, kernel.correct);
        for (a, b) in report.folds.iter().zip(&kernel.folds) {
            assert_eq!((a.fold, a.train, a.test), (b.fold, b.train, b.test));
            assert!((a.objective - b.objective).abs() <= 1e-5 * b.objective.abs(), "{} {}", a.objective, b.objective);
            assert!(a.certificate.kkt <= 1e-6);
        }
        for (a, b) in report.decisions.iter().zip(&kernel.decisions) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
    assert!(reports[2].full.is_some() && reports[0].full.is_none());
}

#[test]
fn a_training_set_of_one_class_is_an_error_only_with_a_free_bias() {
    let samples = Samples::from_dense(4, 1, vec![1.0, 2.0, -1.0, -2.0]).expect("samples");
    let plan = FoldPlan::contiguous(4, 2).expect("folds");
    let pool = Pool { labels: vec![1.0, 1.0, -1.0, -1.0], upper: vec![1.0; 4] };
    let free = cross_validate_linear(&plan, &pool, &samples, &linear(Par::Seq), LinearStart::Cold, &Quiet);
    assert!(free.expect_err("one class").to_string().contains("choose other folds"));
    let none = LinearCv { offset: Offset::None, ..linear(Par::Seq) };
    let report = cross_validate_linear(&plan, &pool, &samples, &none, LinearStart::Full(None), &Quiet).expect("a problem");
    assert_eq!(report.correct, 4);
}

#[test]
fn a_huge_feature_number_costs_nothing() {
    let far = u32::MAX - 1;
    let values = vec![1.0, 2.0, -1.0, -2.0];
    let samples = Samples::from_sparse(far as usize + 1, vec![0, 1, 2, 3, 4], vec![far; 4], values).expect("samples");
    let plan = FoldPlan::from_text("0\n1\n0\n1\n", 4).expect("folds");
    let pool = Pool { labels: vec![1.0, 1.0, -1.0, -1.0], upper: vec![1.0; 4] };
    let report = cross_validate_linear(&plan, &pool, &samples, &linear(Par::Seq), LinearStart::Full(None), &Quiet);
    assert_eq!(report.expect("a problem").correct, 4);
}

/// A problem of any shape: points, labels, one C a row.
fn problems() -> impl Strategy<Value = (Samples, Vec<f64>, Vec<f64>)> {
    (2_usize..40, 1_usize..7, -2.0_f64..3.0).prop_flat_map(|(n, d, log_c)| {
        let value = prop_oneof![2 => Just(0.0), 3 => (-8_i32..=8).prop_map(|v| f64::from(v) / 4.0), 1 => -3.0..3.0_f64];
        let values = proptest::collection::vec(value, n * d);
        let labels = proptest::collection::vec(prop_oneof![Just(1.0), Just(-1.0)], n);
        let factors = proptest::collection::vec(prop_oneof![3 => Just(1.0), 1 => 0.1..4.0_f64], n);
        (values, labels, factors).prop_map(move |(values, mut labels, factors)| {
            (labels[0], labels[1]) = (1.0, -1.0);
            let samples = Samples::from_dense(n, d, values).expect("samples").compact();
            (samples, labels, factors.iter().map(|f| f * 10_f64.powf(log_c)).collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// With a bias that is not regularised the linear solver and SMO on the linear kernel are the same machine.
    #[test]
    fn equals_smo_on_the_linear_kernel((samples, labels, c) in problems()) {
        let ids: Vec<usize> = (0..labels.len()).collect();
        let dual = Dual::c_svc(ids, labels, c.clone()).expect("two classes");
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let start = Start::zero(&dual).expect("feasible");
        let found = solve(&matrix, &dual, start, &Config::default(), &Stop::at(1e-6), &mut Silent).expect("a problem");
        prop_assert_eq!(found.solution.status, Status::Converged);
        let gram = KernelGram::new(&samples, Kernel::Linear).expect("a kernel");
        let judged = certify(&dual, &gram, &found.solution, Par::Seq);
        prop_assert!(judged.holds(1e-6 + 1e-10 * c.iter().sum::<f64>()), "{judged:?} {:?}", found.certificate);
        let rows = Rows::new(&gram, 1 << 24, Par::Seq);
        let stop = Stop { max_iter: Some(200_000), ..Stop::at(1e-6) };
        let start = Start::zero(&dual).expect("feasible");
        let (_, smo) = solve_certified(&dual, &rows, start, Par::Seq, &stop, &mut Silent).expect("a problem");
        let scale = judged.primal.abs().max(1.0);
        prop_assert!(judged.primal >= smo.dual - 1e-9 * scale && smo.primal >= judged.dual - 1e-9 * scale);
    }
}
