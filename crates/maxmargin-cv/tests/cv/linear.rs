//! Linear solvers against kernel solvers: the same machine, the same folds.

use crate::common::{Case, certified, same_optima, threads};
use maxmargin_core::{BiasTerm, Dual, Formulation, Loss, Start, Status, Stop, certify};
use maxmargin_cv::{FoldPlan, Seeding};
use maxmargin_data::{Dataset, Generator, Par, RunControl, Samples};
use maxmargin_kernel::{Kernel, KernelGram, Matrix, Rows};
use maxmargin_linear::{Config, solve};
use maxmargin_smo::{SmoConfig, solve as smo};
use maxmargin_solvers::Solver;
use maxmargin_testkit::strategies::any_problem;
use proptest::prelude::*;

#[test]
fn the_folds_are_those_of_the_kernel_engine() {
    let data = Generator::Blobs.generate(400, Some(5), 7).expect("data");
    let case = Case::new(data.clone(), 5, Kernel::Linear, 3.0, 3);
    let kernel = case.run(Seeding::Cold);
    certified(&case, &kernel, "kernel");
    assert!(kernel.rows_computed > 0);
    let case = Case::new(data, 5, Kernel::Linear, 3.0, 3).by(Solver::Linear);
    let pool = threads(2);
    for seeding in [Seeding::Cold, Seeding::Full] {
        let report = case.run(seeding);
        certified(&case, &report, seeding.name());
        same_optima(&report, &kernel, seeding.name());
        assert_eq!((report.rows_computed, report.full.is_some()), (0, seeding == Seeding::Full));
        // The same bits on any number of threads.
        let again = pool.install(|| case.run_on(seeding, Par::Pool, &RunControl::unlimited()));
        assert_eq!((&report.decisions, report.iterations), (&again.decisions, again.iterations));
        assert_eq!(report.correct, kernel.correct);
        for (a, b) in report.decisions.iter().zip(&kernel.decisions) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}

/// Folds over features of size 10⁸, whose machines have weights of their own: of two classes, and
/// of three, where other machines' samples are decided, too.
#[test]
fn folds_of_large_features_decide_by_their_weights() {
    for (classes, bias_term) in [(2, BiasTerm::Free), (3, BiasTerm::Feature(1.0))] {
        let small = Generator::Blobs.generate(90, Some(2), 7).expect("data");
        let rows: Vec<Vec<f64>> = (0..90)
            .map(|i| {
                let mut row = vec![0.0; 2];
                small.samples.row(i).for_each(|j, value| row[j] = 3e8 * value);
                row
            })
            .collect();
        let labels: Vec<f64> = (0..90).map(|i| (i % classes) as f64 + if i % 5 == 0 { 0.0 } else { small.labels[i] }).collect();
        let labels: Vec<f64> = labels.iter().map(|label| label.rem_euclid(classes as f64)).collect();
        let data = Dataset::from_rows(&rows, &labels).expect("data");
        let mut case = Case::new(data.clone(), 3, Kernel::Linear, 1.0, 1).by(Solver::Linear);
        case.formulation = Formulation::Svc { c: 1.0, loss: Loss::SquaredHinge, bias_term };
        for seeding in [Seeding::Cold, Seeding::Full] {
            let report = case.run(seeding);
            certified(&case, &report, seeding.name());
            for fold in 0..3 {
                let own = data.select(&case.plan.train(fold));
                let mut alone = Case::new(own, 3, Kernel::Linear, 1.0, 1).by(Solver::Linear);
                alone.formulation = case.formulation;
                let test = case.plan.test(fold);
                let decisions = alone.train().decision_values(&data.samples.select(test)).expect("decisions");
                for (row, expected) in test.iter().zip(decisions.chunks_exact(report.machines)) {
                    let found = &report.decisions[row * report.machines..][..report.machines];
                    for (found, expected) in found.iter().zip(expected) {
                        assert!((found - expected).abs() < 1e-4, "{classes} {seeding:?} {found} {expected}");
                    }
                }
            }
        }
    }
}

fn four_points(samples: Samples) -> Dataset {
    Dataset::from_samples(samples, &[1.0, 1.0, -1.0, -1.0]).expect("data")
}

/// Four samples in two folds, with any classes.
fn of_four(samples: Samples, plan: FoldPlan) -> Case {
    let case = Case::new(four_points(samples), 2, Kernel::Linear, 1.0, 1);
    Case { plan, ..case }.by(Solver::Linear)
}

/// A training set of one class has no machine, with any bias: its class is predicted for every
/// sample, as in LIBSVM's cross-validation.
#[test]
fn a_training_set_of_one_class_predicts_that_class() {
    let samples = Samples::from_dense(4, 1, vec![1.0, 2.0, -1.0, -2.0]).expect("samples");
    let mut case = of_four(samples, FoldPlan::contiguous(4, 2).expect("folds"));
    for (solver, loss, bias_term) in [
        (Solver::Linear, Loss::Hinge, BiasTerm::Free),
        (Solver::Linear, Loss::Hinge, BiasTerm::None),
        (Solver::Descent, Loss::SquaredHinge, BiasTerm::None),
        (Solver::Avsf, Loss::Hinge, BiasTerm::Feature(1.0)),
    ] {
        case.formulation = Formulation::Svc { c: 1.0, loss, bias_term };
        case.solver = solver.build(1);
        for seeding in [Seeding::Cold, Seeding::Full] {
            let report = case.run(seeding);
            assert_eq!((&report.predicted[..], report.correct), (&[-1.0, -1.0, 1.0, 1.0][..], 0), "{bias_term:?}");
            let missing: Vec<&[f64]> = report.folds.iter().map(|fold| &fold.missing_classes[..]).collect();
            assert_eq!(missing, [&[1.0][..], &[-1.0][..]], "{bias_term:?}");
            assert!(report.decisions.iter().all(|decision| decision.is_nan()), "{bias_term:?}");
            assert!(
                report.folds.iter().all(|fold| fold.machines.is_empty() && fold.objective.is_sign_positive()),
                "{bias_term:?}"
            );
        }
    }
}

#[test]
fn a_huge_feature_number_costs_nothing() {
    let far = u32::MAX - 1;
    let values = vec![1.0, 2.0, -1.0, -2.0];
    let samples = Samples::from_sparse(far as usize + 1, vec![0, 1, 2, 3, 4], vec![far; 4], values).expect("samples");
    let case = of_four(samples, FoldPlan::from_text("0\n1\n0\n1\n", 4).expect("folds"));
    assert_eq!(case.run(Seeding::Full).correct, 4);
}

/// A bias that is a feature is a constant of the kernel: both ways are one machine.
#[test]
fn a_bias_feature_is_a_constant_of_the_kernel() {
    let data = Generator::Blobs.generate(120, Some(3), 5).expect("data");
    let formulation = Formulation::Svc { c: 0.5, loss: Loss::SquaredHinge, bias_term: BiasTerm::Feature(1.0) };
    let with = |solver: Solver| {
        let case = Case::new(data.clone(), 4, Kernel::Linear, 0.5, 2);
        Case { formulation, solver: solver.build(1), ..case }
    };
    let (features, kernel) = (with(Solver::Newton), with(Solver::Pairwise));
    let reference = kernel.run(Seeding::Cold);
    certified(&kernel, &reference, "pairwise");
    assert!(reference.rows_computed > 0);
    for seeding in [Seeding::Cold, Seeding::Full] {
        let report = features.run(seeding);
        certified(&features, &report, "newton");
        same_optima(&report, &reference, seeding.name());
        assert_eq!(report.predicted, reference.predicted);
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(96))]

    /// With a bias that is not regularised the linear solver and SMO on the linear kernel are the
    /// same machine.
    #[test]
    fn equals_smo_on_the_linear_kernel((samples, labels, c) in any_problem()) {
        let ids: Vec<usize> = (0..labels.len()).collect();
        let dual = Dual::c_svc(ids, labels, c.clone()).expect("two classes");
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let start = Start::zero(&dual).expect("feasible");
        let found = solve(&matrix, &dual, start, &Config::default(), &Stop::at(1e-6), &RunControl::unlimited()).expect("a problem");
        prop_assert_eq!(found.solution.status, Status::Converged);
        let gram = KernelGram::new(&samples, Kernel::Linear, &RunControl::unlimited()).expect("a kernel");
        let judged = certify(&dual, &gram, &found.solution, Par::Seq);
        prop_assert!(judged.holds(1e-6 + 1e-10 * c.iter().sum::<f64>()), "{judged:?} {:?}", found.certificate);
        let rows = Rows::new(&gram, 1 << 24, Par::Seq);
        let stop = Stop { max_iter: Some(200_000), ..Stop::at(1e-6) };
        let start = Start::zero(&dual).expect("feasible");
        let smo = smo(&dual, &rows, start, &SmoConfig::default(), &stop, &RunControl::unlimited()).expect("a problem");
        let smo = certify(&dual, &gram, &smo, Par::Seq);
        let scale = judged.primal.abs().max(1.0);
        prop_assert!(judged.primal >= smo.dual - 1e-9 * scale && smo.primal >= judged.dual - 1e-9 * scale);
    }
}
