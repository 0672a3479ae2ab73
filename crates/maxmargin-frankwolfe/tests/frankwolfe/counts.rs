//! Exact costs on fixed problems: a change here is a change of the algorithm, to be made knowingly.
//!
//! Kernel values are exact in `f32` and all operations of the solvers are correctly rounded, so the
//! counts are the same on every machine.

use maxmargin_core::{RunControl, Status, Stop};
use maxmargin_data::Par;
use maxmargin_frankwolfe::{Finish, FrankWolfeConfig, POINTS, Sampling, StepMethod, random_start, solve};
use maxmargin_kernel::Rows;
use maxmargin_testkit::generate;

/// Returns the steps (toward, away, swap), rounds, core set and rows computed.
fn cost(method: StepMethod, n: usize, sampled: bool, tol: f64) -> [u64; 6] {
    let lattice = generate::lattice(21, n, 2, 1.0);
    let problem = generate::l2_svm("lattice".into(), &lattice.gram.scaled(1.0 / 1024.0), lattice.dual.sign().to_vec(), 4.0);
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = random_start(&problem.dual, &rows, POINTS, 1).expect("a start");
    let sampling = sampled.then_some(Sampling::of(59, 2, Finish::Scan));
    let config = FrankWolfeConfig { sampling, ..FrankWolfeConfig::of(method) };
    let outcome = solve(&problem.dual, &rows, start, &config, &Stop::at(tol), &RunControl::unlimited()).expect("a problem");
    assert_eq!(outcome.solution.status, Status::Converged);
    let steps = outcome.steps;
    let computed = outcome.solution.work.rows_computed;
    [steps.toward, steps.away, steps.swap, steps.rounds, outcome.core_set as u64, computed]
}

#[test]
fn steps_and_rows() {
    let found = [
        cost(StepMethod::Cvm, 300, false, 1e-4),
        cost(StepMethod::Cvm, 300, true, 1e-4),
        cost(StepMethod::Fw, 600, false, 1e-2),
        cost(StepMethod::Mfw, 600, false, 1e-4),
        cost(StepMethod::Mfw, 600, true, 1e-4),
        cost(StepMethod::Swap, 600, false, 1e-4),
        cost(StepMethod::Pairwise, 600, false, 1e-4),
        cost(StepMethod::Pairwise, 3000, false, 1e-4),
    ];
    let expected = [
        [0, 0, 130_956, 231, 251, 280],
        [0, 0, 126_423, 229, 249, 280],
        [29_426, 0, 0, 0, 494, 580],
        [1738, 4731, 0, 0, 498, 580],
        [1847, 4446, 0, 0, 498, 580],
        [606, 0, 4471, 0, 498, 580],
        [0, 0, 2816, 3, 564, 876],
        [0, 0, 11_520, 4, 2678, 5321],
    ];
    assert_eq!(found, expected);
}
