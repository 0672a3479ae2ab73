//! The crate's own exports, `maxmargin-data` and `maxmargin-kernel` suffice to use it.

use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_frankwolfe::{
    Dual, DualError, FrankWolfeConfig, Solution, Start, StartError, StepMethod, Stop, Work, l2_svm, solve,
};
use maxmargin_kernel::{Kernel, KernelGram, Rows};

#[test]
fn errors_and_work_have_a_name() {
    let samples = Samples::from_rows(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).expect("samples");
    let gram = KernelGram::new(&samples, Kernel::rbf(1.0), &RunControl::unlimited()).expect("a kernel");
    let rows = Rows::new(&gram, 1 << 20, Par::Seq);
    let dual: Result<Dual, DualError> = l2_svm((0..4).collect(), vec![1.0, 1.0, -1.0, -1.0], 10.0);
    let dual = dual.expect("two classes");
    let first: Result<Start, StartError> = Start::checked(&dual, vec![1.0, 0.0, 0.0, 0.0]);
    let config = FrankWolfeConfig::of(StepMethod::Pairwise);
    let solved = solve(&dual, &rows, first.expect("a vertex"), &config, &Stop::at(1e-6), &RunControl::unlimited());
    let Solution { work: Work { iterations, .. }, .. } = solved.expect("a problem on the simplex").solution;
    assert!(iterations > 0);
}
