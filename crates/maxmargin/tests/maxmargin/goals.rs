//! Goals of solutions for every solver: a KKT violation, a certified duality gap, or both.

use maxmargin::core::Status;
use maxmargin::cv::{CvError, verify};
use maxmargin::prelude::*;
use maxmargin_testkit::outside::dataset;

/// 1,605 rows of Adult, where every solver has something to do.
fn adult() -> Option<Dataset> {
    dataset("a1a")
}

fn solvers() -> [Svm; 5] {
    let rbf = Svm::rbf(0.05).c(10.0);
    let linear = Svm::linear().c(10.0).bias_term(BiasTerm::Feature(1.0));
    [
        rbf.clone().solver(Solver::Smo),
        rbf.clone().solver(Solver::Irwls),
        rbf.solver(Solver::Pairwise),
        linear.clone().solver(Solver::Linear),
        linear.solver(Solver::Descent),
    ]
}

/// A duality gap of 10⁻³ is certified after fewer iterations than a KKT violation of 10⁻³, which is
/// not requested and not reached.
#[test]
fn a_gap_alone_is_reached_before_a_violation_that_nobody_asked_for() {
    let Some(data) = adult() else { return };
    for svm in solvers() {
        let what = svm.resolved_solver();
        let [by_eps, by_gap] = [svm.clone().eps(1e-3), svm.clone().gap(1e-3)].map(|svm| svm.fit(&data).expect("trained"));
        assert_eq!((by_gap.status, by_gap.certificate.holds), (Status::Converged, true), "{what:?}: {:?}", by_gap.certificate);
        assert!(by_gap.certificate.relative_gap <= 1e-3, "{what:?}: {:?}", by_gap.certificate);
        // A working set of hundreds takes either in its stride.
        assert!(what == Solver::Irwls || by_gap.certificate.kkt > 1e-3, "{what:?}: {:?}", by_gap.certificate);
        assert!(by_gap.iterations < by_eps.iterations, "{what:?}: {} and {}", by_gap.iterations, by_eps.iterations);
        assert_eq!(by_gap.model.record().expect("a record").goal(), Goal::Gap(1e-3));
        let verdict = verify(&by_gap.model, &data, None, Some(Goal::Gap(1e-3)), Par::Seq).expect("a verdict");
        assert!(verdict.matches() && verdict.met(), "{what:?}");
    }
}

/// Both are both, whichever is the harder one.
#[test]
fn both_are_met_where_both_are_asked_for() {
    let Some(data) = adult() else { return };
    for svm in solvers() {
        for (kkt, gap) in [(0.5, 1e-4), (1e-3, 0.1)] {
            let found = svm.clone().goal(Goal::Both { kkt, gap }).fit(&data).expect("trained").certificate;
            assert!(found.holds && found.kkt <= kkt && found.relative_gap <= gap, "{:?}: {found:?}", svm.resolved_solver());
        }
    }
}

/// Every fold shows the gap, from whatever start, and the model of all data that folds come from as
/// well.
#[test]
fn folds_are_held_to_the_gap() {
    let Some(data) = adult() else { return };
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    for svm in solvers() {
        for seeding in [Seeding::Cold, Seeding::Full] {
            let report = svm.clone().gap(1e-3).seeding(seeding).cross_validate(&data, &plan).expect("a cross-validation");
            let what = format!("{:?} {seeding:?}", svm.resolved_solver());
            assert!(report.folds.iter().all(|fold| fold.status == Status::Converged && fold.certificate.holds), "{what}");
            assert!(report.folds.iter().all(|fold| fold.certificate.relative_gap <= 1e-3), "{what}");
            assert!(report.folds.iter().any(|fold| fold.certificate.kkt > 1e-3), "{what}: all happen to meet the violation");
        }
    }
}

/// A gap far below what single precision carries is reached by the finish behind SMO, and by IRWLS.
#[test]
fn tight_gaps_are_certified() {
    let Some(data) = adult() else { return };
    for solver in [Solver::Smo, Solver::Irwls] {
        let found = Svm::rbf(0.05).c(10.0).solver(solver).gap(1e-9).fit(&data).expect("trained");
        assert!(
            found.status == Status::Converged && found.certificate.relative_gap <= 1e-9,
            "{solver:?}: {:?}",
            found.certificate
        );
    }
}

/// Four rows, two of each class.
fn four(size: f64) -> Dataset {
    Dataset::from_rows(&[[0.0, 0.1 * size], [0.2 * size, 0.0], [size, 0.9], [0.9, 1.1 * size]], &[1.0, 1.0, 2.0, 2.0])
        .expect("data")
}

/// A goal that no training can meet once made a training without an end.
#[test]
fn impossible_goals_are_refused_before_the_work() {
    let data = four(1.0);
    for bound in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let svm = Svm::rbf(1.0).eps(bound);
        let refused = svm.fit(&data).expect_err("refused").to_string();
        assert!(refused.starts_with("eps, the largest KKT violation, is "), "{refused}");
        let plan = FoldPlan::contiguous(4, 2).expect("folds");
        assert_eq!(svm.cross_validate(&data, &plan).expect_err("refused").to_string(), refused);
        let of_gap = Svm::linear().gap(bound).fit(&data).expect_err("refused").to_string();
        assert!(of_gap.starts_with("the largest relative duality gap is "), "{of_gap}");
        assert_eq!(LinearClassifier::logistic(1.0).gap(bound).fit(&data).expect_err("refused").to_string(), of_gap);
    }
}

/// Goals below rounding end, and say so.
#[test]
fn goals_below_rounding_end() {
    let data = four(1.0);
    for gap in [1e-15, 1e-16, 1e-18] {
        let fitted = LinearClassifier::logistic(1.0).gap(gap).fit(&data).expect("a training");
        assert!(fitted.machines.iter().all(|machine| machine.certificate.primal.is_finite()));
    }
    for svm in [
        Svm::linear().bias_term(BiasTerm::None),
        Svm::linear().loss(Loss::SquaredHinge).bias_term(BiasTerm::Feature(1.0)),
        Svm::epsilon_svr(1.0, 0.1).kernel(Kernel::Linear).bias_term(BiasTerm::None),
    ] {
        let fitted = svm.eps(f64::MIN_POSITIVE).fit(&data).expect("a training");
        assert!(fitted.certificate.relative_gap < 1e-12, "{:?}", fitted.certificate);
    }
}

/// Rows whose squares overflow, and bias features that do, once made trainings without an end.
#[test]
fn rows_that_are_too_long_are_refused() {
    for size in [1e155, 1e200] {
        let data = four(size);
        let refused = |found: Result<(), CvError>| {
            let said = found.expect_err("refused").to_string();
            assert!(said.starts_with("row ") && said.contains("the sum of its squares is "), "{said}");
        };
        refused(Svm::linear().fit(&data).map(drop));
        refused(Svm::epsilon_svr(1.0, 0.1).kernel(Kernel::Linear).fit(&data).map(drop));
        refused(LinearClassifier::logistic(1.0).fit(&data).map(drop));
        refused(LinearClassifier::crammer_singer(1.0).fit(&data).map(drop));
    }
    for value in [f64::NAN, f64::INFINITY, 1e200] {
        for said in [
            Svm::linear().bias_term(BiasTerm::Feature(value)).fit(&four(1.0)).expect_err("refused").to_string(),
            LinearClassifier::logistic(1.0).bias_term(BiasTerm::Feature(value)).fit(&four(1.0)).expect_err("refused").to_string(),
        ] {
            assert!(said.starts_with("the value of the bias feature is "), "{said}");
        }
    }
}
