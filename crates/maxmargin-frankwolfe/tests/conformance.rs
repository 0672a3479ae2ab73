//! The methods pass the suite that every solver must pass, for problems on the simplex.

use maxmargin_core::{Dual, Goal, Silent, Solution, Start, Stop, Watch};
use maxmargin_frankwolfe::{FrankWolfeConfig, Method, Rule, Simplex, solve};
use maxmargin_kernel::Rows;
use maxmargin_testkit::{conformance, generate};

fn watched(method: Method) -> impl Fn(&Dual, &Rows, Start, &Stop, &mut dyn Watch) -> Solution {
    move |dual, rows, start, stop, watch| {
        let config = FrankWolfeConfig { rule: Rule::Violation, ..FrankWolfeConfig::of(method) };
        solve(dual, rows, start, &config, stop, watch).expect("a problem on the simplex").solution
    }
}

fn silent(method: Method) -> impl Fn(&Dual, &Rows, Start, &Stop) -> Solution {
    move |dual, rows, start, stop| watched(method)(dual, rows, start, stop, &mut Silent)
}

#[test]
fn core_vector_machine() {
    conformance::run_simplex(&silent(Method::Cvm));
}

#[test]
fn away_steps() {
    conformance::run_simplex(&silent(Method::Mfw));
}

#[test]
fn swap_steps() {
    conformance::run_simplex(&silent(Method::Swap));
}

#[test]
fn pairwise_steps() {
    conformance::run_simplex(&silent(Method::Pairwise));
}

#[test]
fn interruption() {
    for problem in generate::medium_simplex(5, 60) {
        for method in [Method::Cvm, Method::Mfw, Method::Swap, Method::Pairwise] {
            conformance::interruption(&watched(method), &problem, 1e-6);
        }
    }
}

/// Pairwise steps reach a KKT violation, the others a gap.
#[test]
fn behind_the_common_signature() {
    conformance::run_solver(&Simplex::of(Method::Pairwise, 1));
    conformance::run_solver_to(&Simplex::of(Method::Pairwise, 1), |tol| Goal::Both { kkt: tol, gap: 1e-4 });
    for method in [Method::Cvm, Method::Fw, Method::Mfw, Method::Swap, Method::Pairwise] {
        conformance::run_solver_to(&Simplex::of(method, 1), |_| Goal::Gap(1e-3));
    }
}
