//! The methods pass the suite that every solver must pass, for problems on the simplex.

use maxmargin_core::{Dual, Goal, RunControl, Solution, Start, Stop};
use maxmargin_frankwolfe::{FrankWolfeConfig, Simplex, StepMethod, StopRule, solve};
use maxmargin_kernel::Rows;
use maxmargin_testkit::{conformance, generate};

fn watched(method: StepMethod) -> impl Fn(&Dual, &Rows, Start, &Stop, &RunControl) -> Solution {
    move |dual, rows, start, stop, control| {
        let config = FrankWolfeConfig { rule: StopRule::Violation, ..FrankWolfeConfig::of(method) };
        solve(dual, rows, start, &config, stop, control).expect("a problem on the simplex").solution
    }
}

fn silent(method: StepMethod) -> impl Fn(&Dual, &Rows, Start, &Stop) -> Solution {
    move |dual, rows, start, stop| watched(method)(dual, rows, start, stop, &RunControl::unlimited())
}

#[test]
fn core_vector_machine() {
    conformance::run_simplex(&silent(StepMethod::Cvm));
}

#[test]
fn away_steps() {
    conformance::run_simplex(&silent(StepMethod::Mfw));
}

#[test]
fn swap_steps() {
    conformance::run_simplex(&silent(StepMethod::Swap));
}

#[test]
fn pairwise_steps() {
    conformance::run_simplex(&silent(StepMethod::Pairwise));
}

#[test]
fn interruption() {
    for problem in generate::medium_simplex(5, 60) {
        for method in [StepMethod::Cvm, StepMethod::Mfw, StepMethod::Swap, StepMethod::Pairwise] {
            conformance::interruption(&watched(method), &problem, 1e-6);
        }
    }
}

/// Pairwise steps reach a KKT violation, the others a gap.
#[test]
fn behind_the_common_signature() {
    conformance::run_solver(&Simplex::of(StepMethod::Pairwise, 1));
    conformance::run_solver_to(&Simplex::of(StepMethod::Pairwise, 1), |tol| Goal::Both { kkt: tol, gap: 1e-4 });
    for method in [StepMethod::Cvm, StepMethod::Fw, StepMethod::Mfw, StepMethod::Swap, StepMethod::Pairwise] {
        conformance::run_solver_to(&Simplex::of(method, 1), |_| Goal::Gap(1e-3));
    }
}
