//! IRWLS passes the suite that every solver must pass, on whole problems and in chunks.

use maxmargin_core::{Dual, EqualityConstraint, Goal, RunControl, Solution, Start, Stop};
use maxmargin_data::Par;
use maxmargin_irwls::{Irwls, IrwlsConfig, IrwlsError, SetSelection, solve};
use maxmargin_kernel::Rows;
use maxmargin_testkit::{conformance, generate};

/// Chunks of eight in a suite of problems of seven to sixty: whole problems and many chunks.
fn config(selection: SetSelection) -> IrwlsConfig<'static> {
    IrwlsConfig { selection, working_set: 8, seed: 3, ..IrwlsConfig::default() }
}

fn run(config: &IrwlsConfig, dual: &Dual, rows: &Rows, start: Start, stop: &Stop, control: &RunControl) -> Solution {
    solve(dual, rows, start, config, stop, control).expect("IRWLS takes the problem").solution
}

fn chunked(selection: SetSelection) -> impl Fn(&Dual, &Rows, Start, &Stop) -> Solution {
    move |dual, rows, start, stop| run(&config(selection), dual, rows, start, stop, &RunControl::unlimited())
}

fn whole(dual: &Dual, rows: &Rows, start: Start, stop: &Stop) -> Solution {
    run(&IrwlsConfig::default(), dual, rows, start, stop, &RunControl::unlimited())
}

#[test]
fn whole_problems() {
    conformance::run(&whole);
    conformance::run_general(&whole);
}

#[test]
fn random_chunks() {
    conformance::run(&chunked(SetSelection::Random));
}

#[test]
fn chunks_of_the_largest_errors() {
    conformance::run(&chunked(SetSelection::Largest));
}

#[test]
fn chunks_of_the_smallest_errors() {
    conformance::run(&chunked(SetSelection::Smallest));
}

#[test]
fn half_of_every_chunk_stays() {
    conformance::run(&chunked(SetSelection::Half));
    conformance::run_general(&chunked(SetSelection::Half));
}

#[test]
fn steepest_directions() {
    conformance::run(&chunked(SetSelection::Steepest));
}

#[test]
fn indefinite_kernels() {
    conformance::run_indefinite(&whole);
    conformance::run_indefinite(&chunked(SetSelection::Half));
}

#[test]
fn interruption() {
    for problem in generate::medium(5, 60) {
        for config in [IrwlsConfig::default(), config(SetSelection::Random)] {
            let watched = |dual: &Dual, rows: &Rows, start: Start, stop: &Stop, control: &RunControl| {
                run(&config, dual, rows, start, stop, control)
            };
            conformance::interruption(&watched, &problem, 1e-6);
        }
    }
}

#[test]
fn what_is_no_problem_is_refused() {
    let (small, medium) = (&generate::small(1)[0], &generate::medium(1, 40)[0]);
    let d = &small.dual;
    let dual = Dual::new(
        d.ids().to_vec(),
        d.sign().to_vec(),
        d.linear_term().to_vec(),
        d.upper().to_vec(),
        0.0,
        EqualityConstraint::Free,
    );
    let dual = dual.expect("a problem");
    let rows = Rows::new(&small.gram, 1 << 20, Par::Seq);
    let refused = |dual: &Dual, start: &Dual, config: &IrwlsConfig| {
        let start = Start::zero(start).expect("zero is feasible");
        solve(dual, &rows, start, config, &Stop::at(1e-3), &RunControl::unlimited()).expect_err("refused")
    };
    assert_eq!(refused(&dual, &dual, &IrwlsConfig::default()), IrwlsError::EqualityConstraint(EqualityConstraint::Free));
    let other = refused(&medium.dual, &small.dual, &IrwlsConfig::default());
    assert_eq!(other, IrwlsError::Start { found: 7, expected: 40 });
    let one = IrwlsConfig { working_set: 1, ..IrwlsConfig::default() };
    assert_eq!(refused(&small.dual, &small.dual, &one), IrwlsError::WorkingSet(1));
}

#[test]
fn behind_the_common_signature() {
    conformance::run_solver(&Irwls::default());
    conformance::run_solver_to(&Irwls::default(), Goal::Gap);
    conformance::run_solver_to(&Irwls::default(), |tol| Goal::Both { kkt: 1e-3, gap: tol });
    conformance::run_solver(&Irwls { selection: SetSelection::Random, working_set: 8, seed: 3 });
}
