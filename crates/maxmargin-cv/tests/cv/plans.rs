//! Folds that are no partition: time series, repeats, arbitrary splits.

use crate::common::{Case, fold_alone};
use maxmargin_core::{BiasTerm, Formulation, Loss};
use maxmargin_cv::{CvReport, FoldPlan, PlanError, RunControl, Seeding, Study, TrainOptions};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{Generator, Par};
use maxmargin_kernel::Kernel;
use maxmargin_solvers::Solver;

/// Plans for so many samples: expanding with a gap, sliding, repeated, and splits that train on
/// every other sample and test some twice and others never.
fn plans(case: &Case, folds: usize) -> Vec<FoldPlan> {
    let n = case.len();
    let repeats: Vec<FoldPlan> = (0..2).map(|seed| FoldPlan::stratified(&case.data.labels, 3, seed).expect("folds")).collect();
    let splits: Vec<(Vec<usize>, Vec<usize>)> = (0..3)
        .map(|fold| {
            let part = |k: usize| (0..n).filter(|i| (i / 2 + i / 7 + fold) % 5 == k).collect::<Vec<usize>>();
            ([part(0), part(1), part(3)].concat(), part(4).into_iter().filter(|i| i % 3 > 0).collect())
        })
        .collect();
    vec![
        FoldPlan::time_series(n, folds, None, 5).expect("folds"),
        FoldPlan::time_series(n, folds + 1, Some(n / 4), 0).expect("folds"),
        FoldPlan::joined(&repeats).expect("folds"),
        FoldPlan::from_splits(n, &splits).expect("folds"),
    ]
}

/// Every fold ends where a training of its rows alone ends, and every score is that of the
/// predictions.
fn agrees_with_scratch(case: &Case, seeding: Seeding) {
    let report = case.run(seeding);
    let (n, width, tol) = (case.len(), report.machines, case.goal().tol());
    let what = format!("{seeding:?}");
    assert_eq!((report.rounds, report.samples_tested), (case.plan.rounds(), case.plan.tested()), "{what}");
    let mut known = vec![false; report.predicted.len()];
    let mut correct = 0;
    for fold in &report.folds {
        let h = fold.fold;
        assert_eq!((fold.train, fold.test), (case.plan.trained(h), case.plan.test(h).len()), "{what}");
        assert!(fold.certificate.holds && fold.certificate.infeasible <= 1e-9, "{what}, fold {h}: {:?}", fold.certificate);
        let (objective, gap_alone, decisions) = fold_alone(case, h, tol);
        let gap = (fold.certificate.primal - fold.certificate.dual).max(0.0);
        let slack = 1e-9 * (1.0 + objective.abs());
        // With several machines, a fold also uses machines of all data, whose gaps are not the
        // fold's.
        if width == 1 {
            assert!(
                (fold.objective - objective).abs() <= gap + gap_alone + slack,
                "{what}, fold {h}: {} {objective}",
                fold.objective
            );
        }
        let apart = 2.0 * ((2.0 * (gap + slack)).sqrt() + (2.0 * (gap_alone + slack)).sqrt() + 2.0 * tol) * width as f64;
        let mut right = 0;
        for (i, expected) in decisions {
            let at = case.plan.round(h) * n + i;
            known[at] = true;
            for (found, expected) in report.decisions[at * width..(at + 1) * width].iter().zip(&expected) {
                assert!((found - expected).abs() <= apart, "{what}, fold {h}, sample {i}: {found} {expected}, at most {apart}");
            }
            right += usize::from(report.predicted[at] == case.data.labels[i]);
        }
        assert_eq!(fold.correct, Some(right), "{what}, fold {h}");
        correct += right;
    }
    for (at, known) in known.iter().enumerate() {
        assert_eq!(report.predicted[at].is_nan(), !known, "{what}: {at}");
        assert!(report.decisions[at * width..(at + 1) * width].iter().all(|d| d.is_nan() != *known), "{what}: {at}");
    }
    let tests: usize = report.folds.iter().map(|fold| fold.test).sum();
    assert_eq!((report.correct, report.samples_counted), (correct, tests), "{what}");
    assert_eq!(
        (report.accuracy, report.scores[0].1),
        (Some(correct as f64 / tests as f64), correct as f64 / tests as f64),
        "{what}"
    );
}

#[test]
fn any_training_set_ends_where_scratch_does() {
    let mut case = Case::generated(Generator::Banana, 120, 2, 1.0, 10.0, 3);
    for plan in plans(&case, 4) {
        case.plan = plan;
        Seeding::ALL.iter().for_each(|(_, seeding)| agrees_with_scratch(&case, *seeding));
    }
}

#[test]
fn any_training_set_of_several_classes() {
    let mut case = Case::four(320, 2, 5.0, 8);
    for plan in plans(&case, 2) {
        case.plan = plan;
        [Seeding::Cold, Seeding::Sir, Seeding::Full].into_iter().for_each(|seeding| agrees_with_scratch(&case, seeding));
    }
}

/// A test set without samples of two classes does not test the machine between them, but the
/// machine's training set is still smaller.
#[test]
fn machines_that_a_fold_does_not_test_are_trained_for_it() {
    let mut case = Case::four(160, 2, 5.0, 8);
    let class = |k: u32| (0..160).filter(|&i| case.classes.of()[i] == k).collect::<Vec<usize>>();
    let folds: Vec<_> = (0..3).map(|fold| (class(fold)[..3].to_vec(), class((fold + 1) % 4)[3..6].to_vec())).collect();
    case.plan = FoldPlan::from_tests(160, folds).expect("folds");
    [Seeding::Cold, Seeding::Full].into_iter().for_each(|seeding| agrees_with_scratch(&case, seeding));
}

#[test]
fn folds_of_one_round_and_more_are_the_same_for_any_number_of_threads() {
    let mut case = Case::generated(Generator::Banana, 120, 2, 1.0, 10.0, 3);
    for plan in plans(&case, 4) {
        case.plan = plan;
        let one = case.run(Seeding::Full);
        let two = crate::common::threads(2).install(|| case.run_on(Seeding::Full, Par::Pool, &RunControl::unlimited()));
        let bits = |report: &CvReport| report.decisions.iter().map(|d| d.to_bits()).collect::<Vec<_>>();
        assert_eq!((bits(&one), one.iterations), (bits(&two), two.iterations));
    }
}

/// Machines of features, regression, machines of their own scaling: each fold against a training of
/// its rows.
#[test]
fn time_series_of_every_kind_of_study() {
    let case = Case::generated(Generator::TwoGaussians, 120, 2, 0.5, 1.0, 4);
    let plan = FoldPlan::time_series(120, 4, Some(50), 3).expect("folds");
    let (linear, smo) = (Solver::Linear.build(1), Solver::Smo.build(1));
    let svc = |bias_term| Formulation::Svc { c: 1.0, loss: Loss::Hinge, bias_term };
    let svr = Formulation::Svr { c: 1.0, epsilon: 0.1, loss: Loss::Hinge, bias_term: BiasTerm::Free };
    let rbf = Kernel::Rbf { gamma: 0.5 };
    let kinds = [
        (svc(BiasTerm::Feature(1.0)), &linear, &Kernel::Linear, None),
        (svr, &smo, &rbf, None),
        (Formulation::NuSvc { nu: 0.4 }, &smo, &rbf, None),
        (svc(BiasTerm::Free), &smo, &rbf, Some(ScaleMethod::Standard)),
    ];
    for (formulation, solver, kernel, scale) in kinds {
        let values = matches!(formulation, Formulation::Svr { .. });
        let options = TrainOptions { kernel: kernel.clone(), scale, ..TrainOptions::default() };
        let study = Study {
            formulation,
            solver: &**solver,
            classes: case.classes_for(values),
            weights: if values { &[] } else { &case.weights },
            ..case.study_by(&options)
        };
        let report = study.cross_validate(&plan, Seeding::Full, &RunControl::unlimited()).expect("a report");
        assert_eq!((report.samples_counted, report.samples_tested), (96, 96));
        for ((name, spread), at) in report.spread.iter().zip(0..) {
            let of: Vec<f64> = report.folds.iter().map(|fold| fold.scores[at].1).filter(|score| !score.is_nan()).collect();
            assert_eq!((*name, spread.folds, report.folds[0].scores[at].0), (report.scores[at].0, of.len(), *name));
            assert!(
                (spread.mean - of.iter().sum::<f64>() / of.len() as f64).abs() <= 1e-12 && spread.low <= spread.mean,
                "{name}: {spread:?}"
            );
        }
        for fold in 0..4 {
            assert!(report.folds[fold].certificate.holds, "{formulation:?}");
            let data = case.data.select(&plan.train(fold));
            let classes = maxmargin_data::ClassLabels::new(&data.labels).expect("two classes");
            let alone = Study { data: &data, classes: (!values).then_some(&classes), ..study }
                .train(&RunControl::unlimited())
                .expect("a model");
            let expected = alone.decision_values(&case.data.samples.select(plan.test(fold))).expect("decisions");
            for (i, expected) in plan.test(fold).iter().zip(expected) {
                let found = report.decisions[*i];
                assert!((found - expected).abs() <= 1e-3 * (1.0 + expected.abs()), "{formulation:?}, {i}: {found} {expected}");
            }
        }
    }
}

/// Classes one after the other, in folds that train on earlier samples: the first three folds have
/// one class only, and predict it.
#[test]
fn training_sets_without_a_class_predict_the_other() {
    let mut case = Case::generated(Generator::TwoGaussians, 60, 2, 0.5, 1.0, 4);
    let mut order: Vec<usize> = (0..60).collect();
    order.sort_by(|&a, &b| case.data.labels[a].total_cmp(&case.data.labels[b]));
    case.data = case.data.select(&order);
    case = Case::new(case.data, 2, case.kernel, 1.0, 1);
    case.plan = FoldPlan::time_series(60, 5, None, 0).expect("folds");
    for (_, seeding) in Seeding::ALL {
        let report = case.run(seeding);
        assert!(report.predicted[10..40].iter().all(|label| *label == -1.0), "{seeding:?}");
        let known: Vec<(usize, Option<usize>)> =
            report.folds[..3].iter().map(|fold| (fold.missing_classes.len(), fold.correct)).collect();
        assert_eq!(known, [(1, Some(10)), (1, Some(10)), (1, Some(0))], "{seeding:?}");
        assert!(report.folds[3..].iter().all(|fold| fold.missing_classes.is_empty() && fold.certificate.holds), "{seeding:?}");
        let missing = report.missing_classes();
        assert!(missing.len() == 1 && missing[0].label == 1.0 && missing[0].folds == [0, 1, 2], "{missing:?}");
    }
    assert_eq!(FoldPlan::time_series(60, 5, None, 10), Err(PlanError::Gap { gap: 10, before: 10 }));
}
