//! Sets are reused from weights to weights. Rows in single precision are skipped if one working set
//! of exact values suffices.

use maxmargin_core::{Dual, Start, Status, Stop, certify};
use maxmargin_data::{Par, RunControl, generate::Generator};
use maxmargin_irwls::{IrwlsConfig, IrwlsOutcome, solve};
use maxmargin_kernel::{Kernel, KernelGram, Rows};

const N: usize = 600;

/// Returns a problem with random labels.
fn problem(c: f64, gamma: f64) -> (KernelGram, Dual) {
    let mut data = Generator::Banana.generate(N, None, 5).expect("a generator");
    data.labels.iter_mut().step_by(7).for_each(|label| *label = -*label);
    let gram = KernelGram::new(&data.samples, Kernel::rbf(gamma), &RunControl::unlimited()).expect("a kernel");
    let dual = Dual::c_svc((0..N).collect(), data.labels, vec![c; N]).expect("two classes");
    (gram, dual)
}

/// Runs with working sets that may hold all samples.
fn run(gram: &KernelGram, dual: &Dual, alpha: Vec<f64>, tol: f64) -> IrwlsOutcome {
    let rows = Rows::new(gram, u64::MAX, Par::Seq);
    let config = IrwlsConfig { working_set: N, ..IrwlsConfig::default() };
    let start = Start::checked(dual, alpha).expect("feasible");
    let outcome = solve(dual, &rows, start, &config, &Stop::at(tol), &RunControl::unlimited()).expect("a problem for IRWLS");
    assert_eq!(outcome.solution.status, Status::Converged);
    assert!(certify(dual, gram, &outcome.solution, Par::Seq).holds(1.01 * tol));
    outcome
}

#[test]
fn sets_lead_from_weights_to_weights() {
    for (c, gamma) in [(10.0, 2.0), (100.0, 2.0), (100.0, 30.0)] {
        let (gram, dual) = problem(c, gamma);
        let iterations = run(&gram, &dual, vec![0.0; N], 1e-3).solution.work.iterations;
        // Computing the sets anew for all weights takes 85 to 111.
        assert!(iterations <= 60, "C = {c}, gamma = {gamma}: {iterations}");
    }
}

#[test]
fn rows_in_single_precision_are_left_out_where_they_do_not_carry_the_goal() {
    for (c, all_exact) in [(1e5, true), (1.0, false)] {
        let (gram, dual) = problem(c, 2.0);
        let near = run(&gram, &dual, vec![0.0; N], 1.0).solution.alpha;
        let outcome = run(&gram, &dual, near, 1e-4);
        assert!(outcome.chunks > 0);
        assert_eq!(outcome.exact_chunks == outcome.chunks, all_exact, "C = {c}: {} of {}", outcome.exact_chunks, outcome.chunks);
    }
}
