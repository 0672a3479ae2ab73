//! Frank-Wolfe methods against SMO at equal dual, on made and on real data.
//! Real data: `a1a` and its test file.

use maxmargin::core::{Dual, EqualityConstraint, Start, Status, Stop, certify};
use maxmargin::data::{BinaryLabels, Generator, Par, RunControl};
use maxmargin::frankwolfe::{FrankWolfeConfig, POINTS, StepMethod, decision, l2_svm, random_start, solve};
use maxmargin::kernel::{FnGram, Gram, Kernel, KernelGram, OffsetGram, Rows, decision_values};
use maxmargin::smo::{SmoConfig, solve as smo};
use maxmargin_testkit::outside::dataset;

const METHODS: [StepMethod; 4] = [StepMethod::Cvm, StepMethod::Mfw, StepMethod::Swap, StepMethod::Pairwise];

/// With signs inside the kernel, `Σ α = 1` is a balance of sums, which SMO solves.
fn by_smo(gram: &dyn Gram, signs: &[f64], c: f64) -> f64 {
    let n = signs.len();
    let mut matrix = vec![0.0; n * n];
    gram.fill_exact(&(0..n).collect::<Vec<_>>(), 0..n, &mut matrix);
    let signed = FnGram::new(n, |i, j| signs[i] * signs[j] * matrix[i * n + j]);
    let ones = || vec![1.0; n];
    let dual =
        Dual::new((0..n).collect(), ones(), vec![0.0; n], ones(), 1.0 / c, EqualityConstraint::Sum(1.0)).expect("a problem");
    let rows = Rows::new(&signed, u64::MAX, Par::Seq);
    let start = Start::project(&dual, vec![0.0; n]).expect("feasible");
    let solution =
        smo(&dual, &rows, start, &SmoConfig::default(), &Stop::at(1e-9), &RunControl::unlimited()).expect("a problem for SMO");
    // Where steps along a polynomial kernel creep it says so; what it knows by then is the gap.
    let certificate = certify(&dual, &signed, &solution, Par::Seq);
    assert!(certificate.gap() <= 1e-9 && matches!(solution.status, Status::Converged | Status::Stalled), "{certificate:?}");
    solution.alpha.iter().zip(&solution.gradient).map(|(a, g)| 0.5 * a * g).sum()
}

#[test]
fn the_objectives_are_those_of_smo() {
    for (generator, c) in [(Generator::Banana, 10.0), (Generator::TwoGaussians, 1.0), (Generator::Blobs, 100.0)] {
        let data = generator.generate(150, None, 4).expect("a generator");
        let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
        for kernel in [Kernel::Rbf { gamma: 0.5 }, Kernel::Poly { gamma: 0.5, coef0: 0.0, degree: 2 }] {
            let plain = KernelGram::new(&data.samples, kernel.clone(), &RunControl::unlimited()).expect("a kernel");
            let gram = OffsetGram::new(&plain, 1.0);
            let reference = by_smo(&gram, &signs, c);
            let rows = Rows::new(&gram, u64::MAX, Par::Seq);
            let dual = l2_svm((0..150).collect(), signs.clone(), c).expect("an L2-SVM");
            for method in METHODS {
                let start = random_start(&dual, &rows, POINTS, 1).expect("a start");
                let config = FrankWolfeConfig::of(method);
                let outcome = solve(&dual, &rows, start, &config, &Stop::at(1e-4), &RunControl::unlimited()).expect("an L2-SVM");
                let certificate = certify(&dual, &gram, &outcome.solution, Par::Seq);
                let what = format!("{generator:?}, {kernel:?}, {method:?}: {certificate:?} for {reference}");
                assert_eq!(outcome.solution.status, Status::Converged, "{what}");
                // SMO is within its gap of the optimum.
                assert!(reference >= -certificate.primal - 1e-12 && reference <= -certificate.dual + 2e-9, "{what}");
                assert!(certificate.relative_gap() <= 1e-4, "{what}");
            }
        }
    }
}

/// All methods end at the same optimum, within their gaps, and their decisions agree.
#[test]
fn adult() {
    let (Some(data), Some(test)) = (dataset("a1a"), dataset("a1a.t")) else { return };
    let labels = BinaryLabels::new(&data.labels).expect("two classes");
    let n = labels.signs.len();
    let kernel = Kernel::Rbf { gamma: 0.03 };
    let plain = KernelGram::new(&data.samples, kernel.clone(), &RunControl::unlimited()).expect("a kernel");
    let gram = OffsetGram::new(&plain, 1.0);
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    let dual = l2_svm((0..n).collect(), labels.signs.clone(), 1.0).expect("an L2-SVM");
    let mut bounds: Vec<(f64, f64)> = vec![];
    for method in METHODS {
        let start = random_start(&dual, &rows, POINTS, 1).expect("a start");
        let outcome = solve(&dual, &rows, start, &FrankWolfeConfig::of(method), &Stop::at(1e-4), &RunControl::unlimited())
            .expect("an L2-SVM");
        let certificate = certify(&dual, &gram, &outcome.solution, Par::Seq);
        assert!(certificate.relative_gap() <= 1e-4, "{method:?}: {certificate:?}");
        bounds.push((certificate.dual, certificate.primal));
        let h = decision(&dual, &outcome.solution.alpha, 1.0);
        let values = decision_values(&kernel, &data.samples, &h.coef, h.bias, &test.samples, Par::Seq).expect("decisions");
        let right = values.iter().zip(&test.labels).filter(|(v, y)| labels.label(**v) == **y).count();
        // The majority class has 75.9 %: far more is right, whatever the last digits.
        assert!(right * 100 > 83 * test.labels.len(), "{method:?}: {right} of {}", test.labels.len());
    }
    for (dual, _) in &bounds {
        assert!(bounds.iter().all(|(_, primal)| dual <= primal), "every lower bound is below every upper bound: {bounds:?}");
    }
}
