//! The finish takes solutions of other solvers to 10⁻¹⁰.

use maxmargin_core::{
    Certificate, Dual, EqualityConstraint, Progress, Solution, Start, Status, Stop, Work, certify, exact_gradient,
};
use maxmargin_data::{Par, RunControl};
use maxmargin_irwls::{FinishConfig, IrwlsConfig, IrwlsError, IrwlsOutcome, Refine, finish, solve};
use maxmargin_kernel::{Gram, Rows};
use maxmargin_testkit::{Problem, generate};
use std::ops::ControlFlow;

/// Returns a solution with a violation of 10⁻², without an exact gradient.
fn rough(problem: &Problem) -> Solution {
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = Start::zero(&problem.dual).expect("feasible");
    let config = IrwlsConfig { working_set: 10, refine: Refine::Never, ..IrwlsConfig::default() };
    solve(&problem.dual, &rows, start, &config, &Stop::at(1e-2), &RunControl::unlimited()).expect("a problem").solution
}

/// Returns problems whose optimum `f64` can determine to 10⁻¹⁰: `‖α‖ K` below 10⁴.
fn problems() -> Vec<Problem> {
    let all = (1..=3).flat_map(|seed| generate::medium(seed, 60));
    let small = |p: &Problem| p.dual.upper().iter().all(|c| *c <= 100.0) && p.gram.diagonal().iter().all(|k| *k <= 100.0);
    all.filter(small).collect()
}

fn judged(problem: &Problem, outcome: &IrwlsOutcome) -> Certificate {
    certify(&problem.dual, &problem.gram, &outcome.solution, Par::Seq)
}

#[test]
fn to_ten_digits() {
    let problems = problems();
    assert!(problems.len() > 20);
    for problem in problems {
        let from = rough(&problem);
        let before = certify(&problem.dual, &problem.gram, &from, Par::Seq);
        let outcome =
            finish(&problem.dual, &problem.gram, &from, &FinishConfig::default(), &Stop::at(1e-10), &RunControl::unlimited());
        let outcome = outcome.expect("a problem");
        let certificate = judged(&problem, &outcome);
        let what = format!("{}: {before:?}, {certificate:?}, {:?}", problem.name, outcome.solution.work);
        assert_eq!(outcome.solution.status, Status::Converged, "{what}");
        assert!(certificate.holds(1e-10), "{what}");
        assert_eq!(
            outcome.solution.gradient,
            exact_gradient(&problem.dual, &problem.gram, &outcome.solution.alpha, Par::Seq, &RunControl::unlimited())
                .expect("unlimited"),
            "{what}"
        );
        assert!(certificate.dual >= before.dual - problem.rounding(&from.alpha), "{what}");
    }
}

#[test]
fn working_sets_smaller_than_the_free_samples_get_there_as_well() {
    let problem = &generate::medium(2, 60)[0];
    let from = rough(problem);
    let config = FinishConfig { most: 6, ..FinishConfig::default() };
    let outcome =
        finish(&problem.dual, &problem.gram, &from, &config, &Stop::at(1e-8), &RunControl::unlimited()).expect("a problem");
    let certificate = judged(problem, &outcome);
    assert_eq!(outcome.solution.status, Status::Converged, "{certificate:?}");
    assert!(certificate.holds(1e-8), "{certificate:?}");
}

#[test]
fn what_is_optimal_already_stays() {
    let problem = &generate::medium(2, 60)[0];
    let first = finish(
        &problem.dual,
        &problem.gram,
        &rough(problem),
        &FinishConfig::default(),
        &Stop::at(1e-10),
        &RunControl::unlimited(),
    )
    .expect("a problem");
    for exact_gradient in [false, true] {
        let config = FinishConfig { exact_gradient, ..FinishConfig::default() };
        let second = finish(&problem.dual, &problem.gram, &first.solution, &config, &Stop::at(1e-9), &RunControl::unlimited())
            .expect("a problem");
        assert_eq!((second.solution.alpha, second.chunks), (first.solution.alpha.clone(), 0));
    }
}

/// The same bits for any number of threads.
#[test]
fn threads_change_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let problem = &generate::medium(4, 60)[0];
    let from = rough(problem);
    let of = |par: Par| {
        let config = FinishConfig { par, ..FinishConfig::default() };
        finish(&problem.dual, &problem.gram, &from, &config, &Stop::at(1e-10), &RunControl::unlimited())
            .expect("a problem")
            .solution
    };
    assert_eq!(of(Par::Seq), pool.install(|| of(Par::Pool)));
}

#[test]
fn limits_and_interruptions() {
    let problem = &generate::medium(4, 60)[0];
    let from = rough(problem);
    let run = |stop: &Stop, control: &RunControl| {
        finish(&problem.dual, &problem.gram, &from, &FinishConfig::default(), stop, control).expect("a problem")
    };
    let outcome = run(&Stop { max_iter: Some(0), ..Stop::at(1e-10) }, &RunControl::unlimited());
    assert_eq!((outcome.solution.status, outcome.solution.work.iterations), (Status::IterationLimit, 0));
    assert!(judged(problem, &outcome).infeasible <= 1e-12);
    let mut told = 0;
    let observer = |_: &Progress| {
        told += 1;
        ControlFlow::Break(())
    };
    let outcome = run(&Stop::at(1e-10), &RunControl::new(observer));
    assert_eq!((outcome.solution.status, outcome.solution.alpha), (Status::Interrupted, from.alpha.clone()));
    assert_eq!(told, 1);
}

#[test]
fn a_point_that_is_not_feasible_is_projected_and_what_is_no_problem_refused() {
    let problem = &generate::medium(1, 40)[0];
    let wild = |n: usize| Solution {
        alpha: vec![7.0; n],
        bias: 0.0,
        gradient: vec![0.0; n],
        status: Status::Stalled,
        work: Work::default(),
        weights: None,
    };
    let trusting = FinishConfig { exact_gradient: true, ..FinishConfig::default() };
    let outcome =
        finish(&problem.dual, &problem.gram, &wild(40), &trusting, &Stop::at(1e-9), &RunControl::unlimited()).expect("a problem");
    let certificate = judged(problem, &outcome);
    assert!(certificate.holds(1e-9), "{certificate:?}");
    let refused = |dual: &Dual, n: usize, config: &FinishConfig| {
        finish(dual, &problem.gram, &wild(n), config, &Stop::at(1e-9), &RunControl::unlimited()).expect_err("refused")
    };
    assert_eq!(refused(&problem.dual, 3, &trusting), IrwlsError::Start { found: 3, expected: 40 });
    assert_eq!(refused(&problem.dual, 40, &FinishConfig { most: 0, ..trusting }), IrwlsError::WorkingSet(0));
    let d = &problem.dual;
    let other = |balance: EqualityConstraint| {
        Dual::new(d.ids().to_vec(), d.sign().to_vec(), d.linear_term().to_vec(), d.upper().to_vec(), 0.0, balance)
            .expect("a problem")
    };
    assert_eq!(
        refused(&other(EqualityConstraint::Free), 40, &trusting),
        IrwlsError::EqualityConstraint(EqualityConstraint::Free)
    );
    assert!(matches!(refused(&other(EqualityConstraint::Sum(1e9)), 40, &trusting), IrwlsError::Infeasible(_)));
}
