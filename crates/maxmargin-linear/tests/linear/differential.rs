//! Sweeps and objective against LIBLINEAR's `liblinear-train -s 3`, the same algorithm, where it is
//! installed.

#![expect(clippy::print_stderr, reason = "says what is not compared")]

use maxmargin_core::{Dual, EqualityConstraint, RunControl, Start, Stop};
use maxmargin_data::libsvm::write;
use maxmargin_data::{BinaryLabels, Dataset, Generator, Par};
use maxmargin_linear::{Config, LinearSolution, Matrix, Method, solve};
use maxmargin_testkit::outside::{dataset, program};
use std::fs;
use std::process::Command;

/// Returns the sweeps and the dual objective that LIBLINEAR prints, and true if it stopped by its
/// own rule.
fn liblinear(data: &Dataset, c: f64, eps: f64) -> (u64, f64, bool) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let mut text = Vec::new();
    write(data, &mut text).expect("writing to memory");
    fs::write(folder.path().join("data"), text).expect("writing a temporary file");
    let output = Command::new("liblinear-train")
        .args(["-s", "3", "-c", &c.to_string(), "-e", &eps.to_string()])
        .args([folder.path().join("data"), folder.path().join("model")])
        .output()
        .expect("liblinear-train runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let after = |what: &str| said.split(what).nth(1).and_then(|rest| rest.split_whitespace().next()).map(str::to_owned);
    let sweeps = after("#iter = ").expect("it prints its sweeps").parse().expect("a number");
    let objective: f64 = after("Objective value = ").expect("it prints its objective").parse().expect("a number");
    (sweeps, -objective, !said.contains("reaching max number of iterations"))
}

fn ours(data: &Dataset, c: f64, eps: f64, method: Method) -> LinearSolution {
    let labels = BinaryLabels::new(&data.labels).expect("two classes");
    let n = labels.signs.len();
    let dual =
        Dual::new((0..n).collect(), labels.signs, vec![-1.0; n], vec![c; n], 0.0, EqualityConstraint::Free).expect("a problem");
    let matrix = Matrix::new(&data.samples, None, Par::Seq);
    let config = Config { method, ..Config::default() };
    solve(&matrix, &dual, Start::zero(&dual).expect("feasible"), &config, &Stop::at(eps), &RunControl::unlimited())
        .expect("a problem")
}

fn compare(name: &str, data: &Dataset) {
    for c in [0.01, 0.1, 1.0, 10.0] {
        let (sweeps, objective, converged) = liblinear(data, c, 1e-3);
        if !converged {
            eprintln!("{name}, C = {c}: liblinear-train reached its limit of sweeps and is not compared");
            continue;
        }
        let baseline = ours(data, c, 1e-3, Method::Descent);
        // Both are within their own gap of the single optimum.
        let best = ours(data, c, 1e-6, Method::Newton).certificate;
        let near = |value: f64| (value - best.dual).abs() <= 1e-4 * best.primal;
        assert!(near(objective) && near(baseline.certificate.dual), "{name}, C = {c}: {objective} {baseline:?} {best:?}");
        // The orders are random: the numbers of sweeps agree as those of two seeds do, and no order
        // is faster by a large factor.
        let ratio = baseline.work.sweeps as f64 / sweeps as f64;
        assert!((0.4..2.5).contains(&ratio), "{name}, C = {c}: {} sweeps, LIBLINEAR {sweeps}", baseline.work.sweeps);
    }
}

#[test]
fn sweeps_and_objective_on_generated_data() {
    if program("liblinear-train").is_none() {
        return;
    }
    compare("blobs", &Generator::Blobs.generate(2000, Some(20), 5).expect("data"));
    compare("sparse-text", &Generator::SparseText.generate(2000, Some(4096), 5).expect("data"));
}

#[test]
fn sweeps_and_objective_on_real_data() {
    if program("liblinear-train").is_none() {
        return;
    }
    for name in ["heart_scale", "a1a"] {
        if let Some(data) = dataset(name) {
            compare(name, &data);
        }
    }
}
