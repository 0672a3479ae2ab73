//! Exact costs on fixed problems: a change here is a change of the algorithm, to be made knowingly.
//!
//! Kernel values are exact in `f32` and all operations of the solver are correctly rounded, so the
//! counts are the same on every machine.

use maxmargin_core::{RunControl, Start, Status, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, Rows};
use maxmargin_smo::{SmoConfig, solve};
use maxmargin_testkit::generate::lattice;

/// A lattice problem: samples, degree of the kernel, C, tolerance, rows in the budget.
struct Case(usize, u32, f64, f64, u64);

/// Returns the iterations, row requests, rows computed and refinements of a lattice problem.
fn cost(conjugate: bool, case: &Case) -> [u64; 4] {
    let Case(n, degree, c, tol, budget_rows) = *case;
    let problem = lattice(21, n, degree, c);
    let rows = Rows::new(&problem.gram, 4 * budget_rows * problem.gram.len() as u64, Par::Seq);
    let start = Start::zero(&problem.dual).expect("feasible");
    let solution = solve(
        &problem.dual,
        &rows,
        start,
        &SmoConfig { conjugate, ..SmoConfig::default() },
        &Stop::at(tol),
        &RunControl::unlimited(),
    )
    .expect("a problem");
    assert_eq!(solution.status, Status::Converged);
    let work = solution.work;
    [work.iterations, work.rows_requested, work.rows_computed, work.refinements]
}

#[test]
fn iterations_and_rows() {
    let problems = [
        Case(300, 1, 0.01, 1e-3, 1000),
        Case(300, 2, 1.0, 1e-3, 1000),
        Case(300, 2, 1.0, 1e-6, 1000),
        Case(300, 3, 0.001, 1e-3, 1000),
        Case(300, 2, 1.0, 1e-3, 40),
        Case(2000, 1, 1e-6, 0.5, 2000),
    ];
    let pairs = [
        [103, 206, 300, 1],
        [61_300, 122_600, 300, 1],
        [62_138, 124_276, 300, 1],
        [1337, 2674, 300, 1],
        [61_300, 122_600, 2936, 1],
        [880, 1760, 2000, 1],
    ];
    assert_eq!(problems.each_ref().map(|problem| cost(false, problem)), pairs);
    let conjugate = [
        [90, 180, 300, 1],
        [7570, 15_140, 300, 1],
        [7740, 15_480, 300, 1],
        [537, 1074, 300, 1],
        [7570, 15_140, 2617, 1],
        [880, 1760, 2000, 1],
    ];
    assert_eq!(problems.each_ref().map(|problem| cost(true, problem)), conjugate);
}
