//! SMO passes the suite that every solver must pass.

use maxmargin_core::{Dual, EqualityConstraint, Goal, RunControl, Solution, Start, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use maxmargin_smo::{Smo, SmoConfig, SmoError, solve};
use maxmargin_testkit::{conformance, generate};

fn smo(dual: &Dual, rows: &Rows, start: Start, stop: &Stop) -> Solution {
    watched(dual, rows, start, stop, &RunControl::unlimited())
}

fn watched(dual: &Dual, rows: &Rows, start: Start, stop: &Stop, control: &RunControl) -> Solution {
    solve(dual, rows, start, &SmoConfig::default(), stop, control).expect("SMO takes the problem")
}

#[test]
fn c_svc() {
    conformance::run(&smo);
}

#[test]
fn general_linear_terms_sums_and_ridge() {
    conformance::run_general(&smo);
}

#[test]
fn sums_of_each_sign() {
    conformance::run_per_sign(&smo);
}

#[test]
fn indefinite_kernels() {
    conformance::run_indefinite(&smo);
}

#[test]
fn interruption() {
    for problem in generate::medium(5, 60) {
        conformance::interruption(&watched, &problem, 1e-6);
    }
}

#[test]
fn other_balances_are_refused() {
    let problem = &generate::small(1)[0];
    let d = &problem.dual;
    let dual = Dual::new(
        d.ids().to_vec(),
        d.sign().to_vec(),
        d.linear_term().to_vec(),
        d.upper().to_vec(),
        0.0,
        EqualityConstraint::Free,
    );
    let dual = dual.expect("a problem");
    let rows = Rows::new(&problem.gram, 1 << 20, Par::Seq);
    let start = Start::zero(&dual).expect("zero is feasible");
    let refused = solve(&dual, &rows, start, &SmoConfig::default(), &Stop::at(1e-3), &RunControl::unlimited());
    assert_eq!(refused, Err(SmoError::EqualityConstraint(EqualityConstraint::Free)));
}

#[test]
fn the_start_of_another_problem_is_refused() {
    let (small, medium) = (&generate::small(1)[0], &generate::medium(1, 40)[0]);
    let rows = Rows::new(&medium.gram, 1 << 20, Par::Seq);
    let start = Start::zero(&small.dual).expect("zero is feasible");
    let refused = solve(&medium.dual, &rows, start, &SmoConfig::default(), &Stop::at(1e-3), &RunControl::unlimited());
    assert_eq!(refused, Err(SmoError::Start { found: 7, expected: 40 }));
}

#[test]
fn behind_the_common_signature() {
    conformance::run_solver(&Smo::default());
    conformance::run_solver_to(&Smo::default(), Goal::Gap);
    conformance::run_solver_to(&Smo::default(), |tol| Goal::Both { kkt: 1e-3, gap: tol });
}
