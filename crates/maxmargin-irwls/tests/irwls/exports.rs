//! The crate's own exports, `maxmargin-data` and `maxmargin-kernel` suffice to use it.

use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_irwls::{Dual, DualError, IrwlsConfig, Solution, Start, StartError, Stop, Work, solve};
use maxmargin_kernel::{Kernel, KernelGram, Rows};

fn problem() -> Result<Dual, DualError> {
    Dual::c_svc((0..4).collect(), vec![1.0, 1.0, -1.0, -1.0], vec![10.0; 4])
}

#[test]
fn errors_and_work_have_a_name() {
    let samples = Samples::from_rows(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).expect("samples");
    let gram = KernelGram::new(&samples, Kernel::rbf(1.0), &RunControl::unlimited()).expect("a kernel");
    let rows = Rows::new(&gram, 1 << 20, Par::Seq);
    let dual = problem().expect("two classes");
    let zero: Result<Start, StartError> = Start::zero(&dual);
    let config = IrwlsConfig::default();
    let solved = solve(&dual, &rows, zero.expect("feasible"), &config, &Stop::at(1e-6), &RunControl::unlimited());
    let Solution { work: Work { iterations, .. }, .. } = solved.expect("a problem with one sum").solution;
    assert!(iterations > 0);
}
