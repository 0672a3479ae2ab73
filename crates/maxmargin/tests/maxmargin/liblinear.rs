//! LIBLINEAR's solvers on features that are not scaled.

use maxmargin::data::{Dataset, Generator, Samples};
use maxmargin::liblinear::{Parameters, train};
use maxmargin::libsvm::LibsvmRun;

/// Rows of columns of very different sizes, all of one sign, with a few wrong labels.
fn unscaled() -> Dataset {
    let data = Generator::Blobs.generate(300, Some(8), 3).expect("data");
    let scaled = |(j, x): (usize, f64)| (5.0 + x) * [1.0, 3.0, 50.0, 0.1, 20.0, 1.0, 100.0, 25.0][j];
    let rows = (0..300).flat_map(|i| data.samples.row(i).entries()).map(scaled).collect();
    let labels: Vec<f64> = data.labels.iter().enumerate().map(|(i, y)| if i % 7 == 0 { -y } else { *y }).collect();
    Dataset::from_samples(Samples::from_dense(300, 8, rows).expect("samples"), &labels).expect("a data set")
}

/// Large dual variables cancel in the weights. Runs once ended with the warning that they had not
/// reached the tolerance, at gaps of 10⁻¹⁴, since rounding was thought to allow no certificate.
#[test]
fn machines_converge_at_a_large_cost() {
    for solver in [0, 1, 2, 3, 11, 12, 13] {
        for c in [1.0, 1e2, 1e4] {
            let parameters = Parameters { solver, c, ..Parameters::default() };
            let found = train(unscaled(), &parameters, &LibsvmRun::default()).expect("a model");
            let machine = &found.machines[0];
            assert!(machine.converged && machine.certificate.holds, "{solver} {c}: {:?}", machine.certificate);
        }
    }
}
