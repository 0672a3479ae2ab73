//! The crate's own exports and `maxmargin-data` suffice to use it.

use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_linear::{Config, Dual, DualError, Matrix, Solution, Start, StartError, Stop, Work, solve};

fn problem() -> Result<Dual, DualError> {
    Dual::c_svc((0..4).collect(), vec![1.0, 1.0, -1.0, -1.0], vec![10.0; 4])
}

#[test]
fn errors_and_work_have_a_name() {
    let samples = Samples::from_rows(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).expect("samples");
    let matrix = Matrix::new(&samples, None, Par::Seq);
    let dual = problem().expect("two classes");
    let zero: Result<Start, StartError> = Start::zero(&dual);
    let config = Config::default();
    let solved = solve(&matrix, &dual, zero.expect("feasible"), &config, &Stop::at(1e-6), &RunControl::unlimited());
    let solution: Solution = solved.expect("a problem with one sum").solution;
    let work: Work = solution.work;
    assert!(work.iterations > 0);
}
