//! IRWLS against SMO, SMO inside IRWLS's working sets, and SMO's solutions finished, on made and on
//! real data. Real data: `a1a`.

use maxmargin::core::{Certificate, Dual, Solution, Start, Status, Stop, certify};
use maxmargin::data::{BinaryLabels, Dataset, Generator, Par, RunControl};
use maxmargin::irwls::{FinishConfig, IrwlsConfig, SetSelection, finish, solve};
use maxmargin::kernel::{Kernel, KernelGram, Rows};
use maxmargin::path::polish;
use maxmargin::smo::{SmoConfig, solve as smo};
use maxmargin::solvers::SmoChunks;
use maxmargin_testkit::outside::dataset;

/// A problem of C-SVC.
struct Problem {
    gram: KernelGram,
    dual: Dual,
}

impl Problem {
    fn of(data: &Dataset, gamma: f64, c: f64) -> Self {
        let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
        let n = signs.len();
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel");
        Self { gram, dual: Dual::c_svc((0..n).collect(), signs, vec![c; n]).expect("a problem") }
    }

    fn smo(&self, tol: f64) -> (Solution, Certificate) {
        let rows = Rows::new(&self.gram, u64::MAX, Par::Seq);
        let start = Start::zero(&self.dual).expect("feasible");
        let solution = smo(&self.dual, &rows, start, &SmoConfig::default(), &Stop::at(tol), &RunControl::unlimited())
            .expect("a problem for SMO");
        let certificate = certify(&self.dual, &self.gram, &solution, Par::Seq);
        (solution, certificate)
    }

    fn irwls(&self, config: &IrwlsConfig, tol: f64) -> (Solution, Certificate) {
        let rows = Rows::new(&self.gram, u64::MAX, Par::Seq);
        let start = Start::zero(&self.dual).expect("feasible");
        let outcome =
            solve(&self.dual, &rows, start, config, &Stop::at(tol), &RunControl::unlimited()).expect("a problem for IRWLS");
        let certificate = certify(&self.dual, &self.gram, &outcome.solution, Par::Seq);
        (outcome.solution, certificate)
    }
}

fn made() -> Vec<Problem> {
    let of =
        |generator: Generator, gamma: f64, c: f64| Problem::of(&generator.generate(400, None, 4).expect("a generator"), gamma, c);
    vec![of(Generator::Banana, 0.5, 300.0), of(Generator::GaussM, 0.5, 1.0), of(Generator::GaussM, 0.5, 100.0)]
}

/// Both objectives lie between the two certificates' bounds.
fn agree(one: &Certificate, other: &Certificate) {
    let slack = 1e-12 * one.dual.abs();
    assert!(one.dual <= other.primal + slack && other.dual <= one.primal + slack, "{one:?} {other:?}");
}

#[test]
fn the_objectives_are_those_of_smo() {
    for problem in made() {
        let (_, reference) = problem.smo(1e-6);
        for (selection, working_set) in [(SetSelection::Random, 50), (SetSelection::Half, 100), (SetSelection::Half, 400)] {
            let config = IrwlsConfig { selection, working_set, ..IrwlsConfig::default() };
            let (solution, certificate) = problem.irwls(&config, 1e-6);
            assert!(solution.status == Status::Converged && certificate.holds(1e-6), "{certificate:?}");
            agree(&certificate, &reference);
        }
    }
}

#[test]
fn smo_solves_working_sets_too() {
    for problem in made() {
        let (_, reference) = problem.smo(1e-4);
        for selection in [SetSelection::Steepest, SetSelection::Half] {
            let config = IrwlsConfig { selection, working_set: 40, chunks: &SmoChunks, ..IrwlsConfig::default() };
            let (solution, certificate) = problem.irwls(&config, 1e-3);
            assert!(solution.status == Status::Converged && certificate.holds(1e-3), "{certificate:?}");
            agree(&certificate, &reference);
        }
    }
}

/// A solution of SMO at 10⁻³ is finished to 10⁻⁹, like the finish of the path, with far fewer steps
/// than SMO would need.
#[test]
fn what_smo_leaves_is_finished() {
    for problem in made() {
        let (rough, _) = problem.smo(1e-3);
        let config = FinishConfig { exact_gradient: true, ..FinishConfig::default() };
        let outcome =
            finish(&problem.dual, &problem.gram, &rough, &config, &Stop::at(1e-9), &RunControl::unlimited()).expect("a problem");
        let certificate = maxmargin::core::certify(&problem.dual, &problem.gram, &outcome.solution, Par::Seq);
        assert!(outcome.solution.status == Status::Converged && certificate.holds(1e-9), "{certificate:?}");
        assert!(outcome.solution.work.iterations < rough.work.iterations, "{:?}", outcome.solution.work);
        let polished = polish(&problem.dual, &problem.gram, &rough.alpha, 1 << 28, &RunControl::unlimited())
            .expect("a problem for the path");
        let other = maxmargin::core::certify(&problem.dual, &problem.gram, &polished.solution, Par::Seq);
        assert!((other.dual - certificate.dual).abs() <= 1e-9 * certificate.dual.abs(), "{other:?} {certificate:?}");
    }
}

/// Table 3 of the paper prints 630 support vectors for this; ours are counted at the optimum.
#[test]
fn adult_with_a_large_c() {
    let Some(data) = dataset("a1a") else { return };
    let problem = Problem::of(&data, 0.005, 1000.0);
    let (solution, certificate) = problem.irwls(&IrwlsConfig::default(), 1e-8);
    assert!(solution.status == Status::Converged && certificate.holds(1e-8), "{certificate:?}");
    let support = solution.alpha.iter().filter(|a| **a > 0.0).count();
    assert!((618..=642).contains(&support), "{support} is not within 2 % of 630");
    let (rough, _) = problem.smo(1e-3);
    let outcome =
        finish(&problem.dual, &problem.gram, &rough, &FinishConfig::default(), &Stop::at(1e-10), &RunControl::unlimited());
    let solution = outcome.expect("a problem").solution;
    let finished = maxmargin::core::certify(&problem.dual, &problem.gram, &solution, Par::Seq);
    // Decision values are sums of 10⁵: double precision knows them to 10⁻⁹ for certain, and usually
    // better.
    assert!(finished.kkt <= 1e-10 && finished.infeasible <= 1e-12 && finished.holds(1e-8), "{finished:?}");
    agree(&certificate, &finished);
}
