//! Exact costs on fixed problems: a change here is a change of the algorithm, to be made knowingly.
//!
//! Kernel values are exact in `f32` and all operations of the solvers are correctly rounded: the counts are those of every machine.

use maxmargin_core::{Silent, Status, Stop};
use maxmargin_data::Par;
use maxmargin_frankwolfe::{Finish, FrankWolfeConfig, Method, POINTS, Sampling, random_start, solve};
use maxmargin_kernel::Rows;
use maxmargin_testkit::generate;

/// Toward, away and swap steps, rounds, core set, rows computed.
fn cost(method: Method, n: usize, sampled: bool) -> [u64; 6] {
    let lattice = generate::lattice(21, n, 2, 1.0);
    let problem = generate::l2_svm("lattice".into(), &lattice.gram.scaled(1.0 / 1024.0), lattice.dual.sign().to_vec(), 4.0);
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = random_start(&problem.dual, &rows, POINTS, 1).expect("a start");
    let sampling = sampled.then_some(Sampling { candidates: 59, seed: 2, finish: Finish::Scan });
    let config = FrankWolfeConfig { sampling, ..FrankWolfeConfig::of(method) };
    let outcome = solve(&problem.dual, &rows, start, &config, &Stop::at(1e-4), &mut Silent).expect("a problem");
    assert_eq!(outcome.solution.status, Status::Converged);
    let steps = outcome.steps;
    let computed = outcome.solution.work.rows_computed;
    [steps.toward, steps.away, steps.swap, steps.rounds, outcome.core_set as u64, computed]
}

#[test]
fn steps_and_rows() {
    let found = [
        cost(Method::Cvm, 600, false),
        cost(Method::Cvm, 600, true),
        cost(Method::Fw, 600, false),
        cost(Method::Mfw, 600, false),
        cost(Method::Mfw, 600, true),
        cost(Method::Swap, 600, false),
        cost(Method::Pairwise, 600, false),
        cost(Method::Pairwise, 3000, false),
    ];
    let expected = [[0; 6]; 8];
    assert_eq!(found, expected);
}
