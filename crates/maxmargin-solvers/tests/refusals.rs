//! Problems that no solver takes are refused.

use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_kernel::{Kernel, KernelGram, Rows, Space};
use maxmargin_solvers::{Dual, DualError, Refine, Run, Solver, Start, StartError, Stop};

#[test]
fn rows_that_the_matrix_lacks_are_refused() {
    let samples = Samples::from_rows(&[[0.0], [1.0], [0.0], [1.0]]).expect("samples");
    let gram = KernelGram::new(&samples, Kernel::rbf(1.0), &RunControl::unlimited()).expect("a kernel");
    for missing in [4, 1000, usize::MAX - 1] {
        let dual: Result<Dual, DualError> = Dual::c_svc(vec![0, 1, missing], vec![1.0, 1.0, -1.0], vec![1.0; 3]);
        let dual = dual.expect("a problem of another matrix");
        for name in ["auto", "smo", "irwls"] {
            let (rows, control) = (Rows::new(&gram, 1 << 20, Par::Seq), RunControl::unlimited());
            let start: Result<Start, StartError> = Start::zero(&dual);
            let mut run = Run { stop: Stop::at(1e-3), refine: Refine::Exact, par: Par::Seq, machine: 0, control: &control };
            let solver = name.parse::<Solver>().expect("a solver").build(1);
            let refused = solver.solve(&dual, Space::Kernel(&rows), start.expect("feasible"), &mut run).expect_err(name);
            let expected = format!("row {missing}, the matrix has 4 rows");
            assert!(refused.to_string().contains(&expected), "{name}: {refused}");
        }
    }
}
