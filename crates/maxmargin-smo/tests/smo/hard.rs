//! Problems on which kernel rows in `f32` alone cannot meet the tolerance; the certificate in `f64`
//! must meet it nevertheless.

use maxmargin_core::{Certificate, Dual, Solution, Start, Status, Stop, certify};
use maxmargin_data::{BinaryLabels, Par, RunControl, Samples, generate::Generator};
use maxmargin_kernel::{FnGram, Gram, Kernel, KernelGram, Rows};
use maxmargin_smo::{Refine, SmoConfig, solve};
use maxmargin_testkit::{Problem, generate};

fn run(gram: &dyn Gram, dual: &Dual, tol: f64, refine: Refine) -> (Solution, Certificate) {
    let rows = Rows::new(gram, 1 << 28, Par::Seq);
    let start = Start::project(dual, vec![0.0; dual.len()]).expect("feasible");
    let solution =
        solve(dual, &rows, start, &SmoConfig { refine, ..SmoConfig::default() }, &Stop::at(tol), &RunControl::unlimited())
            .expect("SMO takes the problem");
    let certificate = certify(dual, gram, &solution, Par::Seq);
    (solution, certificate)
}

fn generated(generator: Generator, rows: usize, features: Option<usize>, c: f64) -> (Samples, Dual) {
    let data = generator.generate(rows, features, 1).expect("data");
    let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
    let dual = Dual::c_svc((0..rows).collect(), signs, vec![c; rows]).expect("a problem");
    (data.samples, dual)
}

/// C = 10⁴ and ε = 10⁻⁶: without refinement the exact violation exceeds the tolerance (otherwise
/// the test would show nothing); with refinement it does not.
#[test]
fn large_c_small_tolerance() {
    for (generator, features, gamma) in [(Generator::GaussM, None, 1.0), (Generator::Blobs, Some(10), 0.02)] {
        let (samples, dual) = generated(generator, 300, features, 1e4);
        let gram = KernelGram::new(&samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel");
        let (plain, certificate) = run(&gram, &dual, 1e-6, Refine::Never);
        assert!(certificate.kkt > 1e-6, "{generator:?}: f32 was enough: {certificate:?}, {:?}", plain.work);
        let (solution, certificate) = run(&gram, &dual, 1e-6, Refine::Exact);
        assert_eq!(solution.status, Status::Converged, "{generator:?}: {certificate:?}, {:?}", solution.work);
        assert!(certificate.holds(1e-6) && solution.work.refinements > 1, "{generator:?}: {certificate:?}, {:?}", solution.work);
    }
}

/// γ = 2⁻¹⁵ and C = 2¹⁵: every kernel value is 1 except for its last digits. `f32` rows without the
/// 1 are as good as exact values and need no refinement; rows with it stall.
#[test]
fn large_c_and_a_wide_kernel() {
    let (samples, dual) = generated(Generator::Blobs, 400, Some(10), 32768.0);
    let gram = KernelGram::new(&samples, Kernel::Rbf { gamma: 2.0_f64.powi(-15) }, &RunControl::unlimited()).expect("a kernel");
    assert_eq!(gram.base(), 1.0);
    let (plain, certificate) = run(&gram, &dual, 1e-3, Refine::Never);
    assert_eq!(plain.status, Status::Converged, "{certificate:?}, {:?}", plain.work);
    assert!(certificate.kkt < 1.05e-3 && plain.work.iterations < 100_000, "{certificate:?}, {:?}", plain.work);
    // The objective never gets worse on the way.
    let rows = Rows::new(&gram, 1 << 28, Par::Seq);
    let mut reached = 0.0;
    for most in (5..14).map(|k| 1 << k) {
        let start = Start::zero(&dual).expect("feasible");
        let (config, stop) =
            (SmoConfig { refine: Refine::Never, ..SmoConfig::default() }, Stop { max_iter: Some(most), ..Stop::at(1e-3) });
        let solution = solve(&dual, &rows, start, &config, &stop, &RunControl::unlimited()).expect("SMO takes the problem");
        let objective = certify(&dual, &gram, &solution, Par::Seq).dual;
        assert!(objective >= reached * (1.0 - 1e-9), "after {most} iterations: {objective} below {reached}");
        reached = objective;
    }
    // The same matrix as a caller's function, which leaves no constant out.
    let exact = |i: usize, j: usize| {
        let mut value = [0.0];
        gram.fill_exact(&[i], j..j + 1, &mut value);
        value[0]
    };
    let (_, certificate) = run(&FnGram::new(400, exact), &dual, 1e-3, Refine::Never);
    assert!(certificate.kkt > 1.05e-3, "values with the 1 were enough: {certificate:?}");
}

/// Unscaled features: kernel values above 10⁷ have no digits below 1 in `f32`.
#[test]
fn unscaled_features() {
    let (samples, dual) = generated(Generator::Blobs, 120, Some(5), 1e-3);
    let values = (0..samples.len())
        .flat_map(|i| {
            let mut row = vec![0.0; 5];
            samples.row(i).for_each(|j, v| row[j] = (1000.0 * (v + 1.5)).round());
            row
        })
        .collect();
    let samples = Samples::from_dense(120, 5, values).expect("samples");
    let gram = KernelGram::new(&samples, Kernel::Linear, &RunControl::unlimited()).expect("a kernel");
    let (solution, certificate) = run(&gram, &dual, 1e-3, Refine::Exact);
    assert!(certificate.infeasible <= 1e-9, "{certificate:?}");
    assert_eq!(solution.status, Status::Converged, "{certificate:?}, {:?}", solution.work);
    assert!(certificate.holds(1e-3), "{certificate:?}, {:?}", solution.work);
}

/// Samples of opposite classes that are equal in `f32` but not in `f64`, at a large C.
#[test]
fn almost_contradictions() {
    let rng = &mut generate::rng(5);
    let (mut points, mut labels) = generate::clouds(rng, 20, 20, 2, 0.4);
    for i in 0..10 {
        let mut twin = points[i].clone();
        twin[0] += 1e-6;
        points.push(twin);
        labels.push(-labels[i]);
    }
    let gram = maxmargin_testkit::PointsGram::new(&points, &Kernel::Rbf { gamma: 0.5 });
    let problem = Problem::c_svc("almost contradictions", gram, labels, vec![1e3; 50]);
    let (solution, certificate) = run(&problem.gram, &problem.dual, 1e-6, Refine::Exact);
    assert_eq!(solution.status, Status::Converged, "{certificate:?}, {:?}", solution.work);
    assert!(certificate.holds(1e-6), "{certificate:?}, {:?}", solution.work);
}

/// A tolerance beyond `f64`: the run ends near the floor and does not claim more than is true.
#[test]
fn an_impossible_tolerance_is_not_claimed() {
    for problem in generate::medium(6, 60) {
        let rows = Rows::new(&problem.gram, 1 << 28, Par::Seq);
        let start = Start::zero(&problem.dual).expect("feasible");
        let stop = Stop { max_iter: Some(20_000_000), ..Stop::at(1e-15) };
        let solution =
            solve(&problem.dual, &rows, start, &SmoConfig::default(), &stop, &RunControl::unlimited()).expect("a problem");
        let certificate = certify(&problem.dual, &problem.gram, &solution, Par::Seq);
        let (name, status, work) = (&problem.name, solution.status, solution.work);
        assert!(matches!(status, Status::Converged | Status::Stalled), "{name}: {status:?} {certificate:?} {work:?}");
        // The certificate's own sums differ from the solver's in the last bits.
        assert!(status == Status::Stalled || certificate.kkt <= 1e-14, "{name}: {status:?} {certificate:?}");
        assert!(certificate.kkt < 1e-9, "{name}: {status:?} {certificate:?} {work:?}");
    }
}
