//! Derivatives by C and γ against finite differences of exact solutions and of tightly solved
//! cross-validations.

use crate::common::Case;
use maxmargin_core::{Dual, Refine, Run, RunControl, Solution, Start, Status, Stop, Work, bias_of, exact_gradient};
use maxmargin_cv::{CvError, FoldPlan, Sensitivity, SmoothLoss, TrainOptions};
use maxmargin_cv::{GradientParameters, Moved};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{Dataset, Generator, Par, Samples};
use maxmargin_kernel::{Kernel, KernelGram, Rows, Space};
use maxmargin_solvers::Solver;
use maxmargin_testkit::outside::dataset;
use maxmargin_testkit::{generate, oracle};
use rand::RngExt;

/// A step of differences in a logarithm, for solutions that are exact.
const STEP: f64 = 1e-3;

/// The derivative at 0 by the five-point rule. Its error is the fifth derivative times `h⁴ / 30`,
/// plus the rounding of the values divided by `h`.
fn difference(h: f64, value: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| value(k * h));
    (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * h)).collect()
}

/// Points: the first are training samples, the others are evaluated.
struct Points {
    samples: Samples,
    labels: Vec<f64>,
    weights: Vec<f64>,
    trained: usize,
}

/// The samples at their bounds, and the decision values with their derivatives.
struct At {
    places: Vec<u8>,
    moved: Moved,
}

impl Points {
    fn new(rows: &[Vec<f64>], labels: Vec<f64>, weights: Vec<f64>) -> Self {
        let width = rows[0].len();
        let samples = Samples::from_dense(rows.len(), width, rows.concat()).expect("numbers");
        Self { samples, trained: labels.len(), labels, weights }
    }

    /// With features times some factors.
    fn stretched(&self, factors: &[f64]) -> Self {
        let rows: Vec<Vec<f64>> = (0..self.samples.len())
            .map(|i| {
                let mut row = vec![0.0; self.samples.features()];
                self.samples.row(i).for_each(|l, value| row[l] = value * factors[l]);
                row
            })
            .collect();
        Self::new(&rows, self.labels.clone(), self.weights.clone())
    }

    fn dual(&self, c: f64) -> Dual {
        let upper = self.weights.iter().map(|weight| c * weight).collect();
        Dual::c_svc((0..self.trained).collect(), self.labels.clone(), upper).expect("two classes")
    }

    /// With a solution of [`Points::dual`] by `solve`.
    fn at(&self, c: f64, gamma: f64, features: bool, solve: impl Fn(&Dual, &KernelGram) -> Vec<f64>) -> At {
        let gram = KernelGram::new(&self.samples, Kernel::rbf(gamma), &RunControl::unlimited()).expect("a matrix");
        let dual = self.dual(c);
        let alpha = solve(&dual, &gram);
        let gradient = exact_gradient(&dual, &gram, &alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        let bias = bias_of(&dual, &alpha, &gradient);
        let place = |(a, u): (&f64, &f64)| if *a <= 1e-11 * c { 0 } else { 1 + u8::from(u - a <= 1e-11 * c) };
        let places = alpha.iter().zip(dual.upper()).map(place).collect();
        let solution = Solution { alpha, bias, gradient, status: Status::Converged, work: Work::default(), weights: None };
        let asked: Vec<usize> = (self.trained..self.samples.len()).collect();
        let parameters =
            if features { GradientParameters::Features { samples: &self.samples, gamma } } else { GradientParameters::Common };
        let control = RunControl::unlimited();
        let sensitivity = Sensitivity::new(&gram, &dual, &solution, &control).expect("nobody calls it off");
        let moved = sensitivity.of_rows(&asked, parameters, &control).expect("nobody calls it off");
        At { places, moved }
    }
}

fn by_oracle(dual: &Dual, gram: &KernelGram) -> Vec<f64> {
    oracle::solve(dual, gram).alpha
}

/// An exact solution in which two equal samples of one class share their sum by their boxes: both
/// are free, or both are bounded.
fn by_oracle_shared(dual: &Dual, gram: &KernelGram) -> Vec<f64> {
    let mut alpha = by_oracle(dual, gram);
    let [one, copy] = COPIES;
    let (both, room) = (alpha[one] + alpha[copy], dual.upper()[one] + dual.upper()[copy]);
    if dual.sign()[one] == dual.sign()[copy] && both > 0.0 && both < room {
        [one, copy].into_iter().for_each(|k| alpha[k] = both / room * dual.upper()[k]);
    }
    alpha
}

/// By SMO and its finish.
fn by_smo(dual: &Dual, gram: &KernelGram) -> Vec<f64> {
    let rows = Rows::new(gram, 1 << 26, Par::Seq);
    let mut run =
        Run { stop: Stop::at(1e-13), refine: Refine::Exact, par: Par::Seq, machine: 0, control: &RunControl::unlimited() };
    let start = Start::cold(dual).expect("a start");
    Solver::Auto.build(1).solve(dual, Space::Kernel(&rows), start, &mut run).expect("a solution").solution.alpha
}

/// The second is sometimes a copy of the first.
const COPIES: [usize; 2] = [2, 7];

/// Seven points, sometimes with a copy of one, and three evaluated points. With small weights no
/// sample is free.
fn random_points(seed: u64) -> (Points, f64, f64) {
    let mut rng = generate::rng(seed);
    let mut points: Vec<Vec<f64>> = (0..7).map(|_| (0..3).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    if seed.is_multiple_of(5) {
        points.push(points[2].clone());
    } else {
        points.push((0..3).map(|_| rng.random_range(-1.0..1.0)).collect());
    }
    let mut labels: Vec<f64> = (0..8).map(|_| if rng.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
    (labels[0], labels[1]) = (1.0, -1.0);
    if seed.is_multiple_of(5) {
        labels[7] = labels[2];
    }
    if seed.is_multiple_of(3) {
        // As many of either: at a small C all are bounded.
        labels = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0].to_vec();
    }
    let weights = if seed.is_multiple_of(2) { vec![1.0; 8] } else { (0..8).map(|_| rng.random_range(0.5..2.0)).collect() };
    for _ in 0..3 {
        points.push((0..3).map(|_| rng.random_range(-1.5..1.5)).collect());
    }
    let (c, gamma) = (10.0_f64.powf(rng.random_range(-2.0..2.0)), 10.0_f64.powf(rng.random_range(-1.0..1.0)));
    (Points::new(&points, labels, weights), c, gamma)
}

/// Of exact solutions the differences are right to 10⁻¹⁰ or so: the fifth derivative times 10⁻¹²,
/// rounding over a step of 10⁻³.
#[test]
fn derivatives_are_those_of_exact_solutions() {
    let (mut checked, mut all_bounded, mut copies) = (0, 0, 0);
    for seed in 0..25 {
        let (points, c, gamma) = random_points(seed);
        let solve = if seed.is_multiple_of(5) { by_oracle_shared } else { by_oracle };
        let here = points.at(c, gamma, false, solve);
        let ways: [&dyn Fn(f64) -> At; 2] =
            [&|h| points.at(c * h.exp(), gamma, false, solve), &|h| points.at(c, gamma * h.exp(), false, solve)];
        for (p, way) in ways.into_iter().enumerate() {
            if [-2.0, -1.0, 1.0, 2.0].iter().any(|k| way(k * STEP).places != here.places) {
                continue;
            }
            let expected = difference(STEP, |h| way(h).moved.decisions);
            for (i, expected) in expected.iter().enumerate() {
                let own = here.moved.derivatives[2 * i + p];
                assert!((own - expected).abs() <= 1e-8 * expected.abs().max(1.0), "seed {seed}, {p}: {own} and {expected}");
            }
            checked += 1;
            all_bounded += usize::from(!here.places.contains(&1));
            copies += usize::from(seed.is_multiple_of(5) && COPIES.iter().all(|k| here.places[*k] == 1));
        }
    }
    assert!(checked > 40 && all_bounded >= 2 && copies >= 1, "{checked} {all_bounded} {copies}");
}

/// The sum over all features is the derivative by what they have in common, and each is that of
/// samples whose feature is stretched.
#[test]
fn every_feature_has_a_derivative_of_its_own() {
    let mut checked = 0;
    for seed in 100..110 {
        let (points, c, gamma) = random_points(seed);
        let [common, here] = [false, true].map(|features| points.at(c, gamma, features, by_oracle));
        for (common, each) in common.moved.derivatives.chunks_exact(2).zip(here.moved.derivatives.chunks_exact(4)) {
            assert!((common[0] - each[0]).abs() <= 1e-10 * each[0].abs().max(1.0));
            assert!((common[1] - each[1..].iter().sum::<f64>()).abs() <= 1e-9 * common[1].abs().max(1.0), "{common:?} {each:?}");
        }
        for l in 0..3 {
            let way = |h: f64| {
                let mut factors = [1.0; 3];
                factors[l] = (0.5 * h).exp();
                points.stretched(&factors).at(c, gamma, false, by_oracle)
            };
            if [-2.0, -1.0, 1.0, 2.0].iter().any(|k| way(k * STEP).places != here.places) {
                continue;
            }
            for (i, expected) in difference(STEP, |h| way(h).moved.decisions).iter().enumerate() {
                let own = here.moved.derivatives[4 * i + 1 + l];
                assert!((own - expected).abs() <= 1e-8 * expected.abs().max(1.0), "seed {seed}, {l}: {own} and {expected}");
            }
            checked += 1;
        }
    }
    assert!(checked > 22, "{checked}");
}

/// A problem of realistic size with the solver of a search: derivatives are as exact as its finish.
#[test]
fn derivatives_of_a_solver_are_those_of_its_solutions() {
    let data = Generator::Banana.generate(140, None, 4).expect("data");
    let rows: Vec<Vec<f64>> = (0..140)
        .map(|i| {
            let mut row = vec![0.0; 2];
            data.samples.row(i).for_each(|l, value| row[l] = value);
            row
        })
        .collect();
    let sign = |i: usize| if data.labels[i] > 0.0 { 1.0 } else { -1.0 };
    let points = Points::new(&rows, (0..120).map(sign).collect(), vec![1.0; 120]);
    let here = points.at(5.0, 0.7, false, by_smo);
    let by_c = difference(STEP / 4.0, |h| points.at(5.0 * h.exp(), 0.7, false, by_smo).moved.decisions);
    let by_gamma = difference(STEP / 4.0, |h| points.at(5.0, 0.7 * h.exp(), false, by_smo).moved.decisions);
    for (i, own) in here.moved.derivatives.chunks_exact(2).enumerate() {
        for (own, expected) in own.iter().zip([by_c[i], by_gamma[i]]) {
            assert!((own - expected).abs() <= 1e-7 * expected.abs().max(1.0), "{i}: {own} and {expected}");
        }
    }
}

fn loss_of(case: &Case, c: f64, gamma: f64, par: Par) -> maxmargin_cv::Smooth {
    SmoothLoss::new(case.study(par), &case.plan).expect("a loss").at(c, gamma, &RunControl::unlimited()).expect("folds")
}

/// The gradient of the loss, from folds that were solved to 10⁻¹⁰, is that of its values to 10⁻⁶.
fn holds_for(case: &Case, c: f64, gamma: f64) {
    let h = 1e-4;
    let here = loss_of(case, c, gamma, Par::Seq);
    let by_c = difference(h, |h| vec![loss_of(case, c * h.exp(), gamma, Par::Seq).loss])[0];
    let by_gamma = difference(h, |h| vec![loss_of(case, c, gamma * h.exp(), Par::Seq).loss])[0];
    for (own, expected) in here.gradient.iter().zip([by_c, by_gamma]) {
        assert!(
            expected.abs() > 1e-5 && (own - expected).abs() <= 1e-6 * expected.abs(),
            "C = {c}, gamma = {gamma}: {own} and {expected}"
        );
    }
}

fn tight(data: Dataset, scale: Option<ScaleMethod>) -> Case {
    let case = Case::new(data, 4, Kernel::rbf(1.0), 1.0, 1).by(Solver::Auto);
    Case { scale, ..case }.at(1e-10)
}

#[test]
fn the_gradient_of_the_loss_is_that_of_real_data() {
    if let Some(data) = dataset("heart_scale") {
        let case = tight(data, None);
        holds_for(&case, 1.0, 0.05);
        holds_for(&case, 20.0, 0.01);
    }
    if let Some(data) = dataset("splice") {
        let rows: Vec<usize> = (0..300).collect();
        holds_for(&tight(data.select(&rows), None), 3.0, 0.004);
    }
}

/// The gradient by the widths of all features is that of values at other widths, and their sum that
/// of one width for all.
fn holds_for_features(case: &Case, c: f64, gamma: f64, asked: &[usize]) {
    let mut loss = SmoothLoss::new(case.study(Par::Seq), &case.plan).expect("a loss");
    let factors: Vec<f64> = (0..loss.features()).map(|l| 1.0 + 0.1 * (l % 3) as f64).collect();
    let here = loss.at_features(c, gamma, &factors, &RunControl::unlimited()).expect("folds");
    assert_eq!(here.gradient.len(), 1 + factors.len());
    let at = |c: f64, of: &dyn Fn(usize) -> f64| {
        let moved: Vec<f64> = factors.iter().enumerate().map(|(l, factor)| factor * (0.5 * of(l)).exp()).collect();
        let mut loss = SmoothLoss::new(case.study(Par::Seq), &case.plan).expect("a loss");
        vec![loss.at_features(c, gamma, &moved, &RunControl::unlimited()).expect("folds").loss]
    };
    let close = |own: f64, expected: f64| {
        assert!((own - expected).abs() <= 1e-6 * expected.abs().max(1e-2), "{own} and {expected}");
    };
    close(here.gradient[0], difference(1e-4, |h| at(c * h.exp(), &|_| 0.0))[0]);
    close(here.gradient[1..].iter().sum(), difference(1e-4, |h| at(c, &|_| h))[0]);
    for &l in asked {
        close(here.gradient[1 + l], difference(1e-4, |h| at(c, &|k| if k == l { h } else { 0.0 }))[0]);
    }
    // The same features, multiplied before training.
    let options = TrainOptions {
        kernel: case.kernel.clone(),
        scale: case.scale,
        feature_weights: Some(factors[..].into()),
        ..TrainOptions::default()
    };
    let study = case.study_by(&options);
    let plain = SmoothLoss::new(study, &case.plan).expect("a loss").at(c, gamma, &RunControl::unlimited()).expect("folds");
    assert!((plain.loss - here.loss).abs() < 1e-8, "{} and {}", plain.loss, here.loss);
    assert!(loss.at_features(c, gamma, &factors[1..], &RunControl::unlimited()).is_err());
}

#[test]
fn the_loss_has_a_gradient_by_the_width_of_each_feature() {
    let data = Generator::Banana.generate(90, None, 3).expect("data");
    holds_for_features(&tight(data.clone(), Some(ScaleMethod::Standard)), 2.0, 0.8, &[0, 1]);
    holds_for_features(&tight(data, None), 2.0, 0.8, &[0, 1]);
    if let Some(data) = dataset("heart_scale") {
        holds_for_features(&tight(data, None), 1.0, 0.05, &[2, 11, 12]);
    }
}

#[test]
fn folds_that_are_scaled_by_themselves_have_a_gradient() {
    let data = Generator::Banana.generate(90, None, 3).expect("data");
    holds_for(&tight(data, Some(ScaleMethod::Standard)), 2.0, 0.8);
}

/// Earlier solutions are only starts of the folds, and do not change the result.
#[test]
fn a_loss_does_not_depend_on_threads_and_hardly_on_where_it_begins() {
    let case = tight(Generator::Banana.generate(120, None, 6).expect("data"), None);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut loss = SmoothLoss::new(case.study(Par::Pool), &case.plan).expect("a loss");
            [(1.0, 0.5), (4.0, 0.5), (4.0, 2.0)].map(|(c, gamma)| loss.at(c, gamma, &RunControl::unlimited()).expect("folds"))
        })
    };
    let [one, three] = [1, 3].map(of);
    assert_eq!(one, three);
    let alone = loss_of(&case, 4.0, 2.0, Par::Seq);
    assert!((alone.loss - one[2].loss).abs() < 1e-9 && alone.iterations > 0, "{} {}", alone.loss, one[2].loss);
}

#[test]
fn what_has_no_derivative_is_refused_in_one_line() {
    let two = || Generator::Banana.generate(60, None, 1).expect("data");
    let why = |case: &Case| match SmoothLoss::new(case.study(Par::Seq), &case.plan) {
        Err(CvError::Search { why, .. }) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("taken"),
    };
    assert!(why(&Case::new(two(), 3, Kernel::Linear, 1.0, 1)).contains("Gaussian kernel"));
    assert!(why(&Case::new(two(), 3, Kernel::rbf(1.0), 1.0, 1).by(Solver::Pairwise)).contains("hinge loss"));
    assert!(why(&Case::four(200, 3, 1.0, 1)).contains("two classes apart"));
    let case = Case::new(two(), 3, Kernel::rbf(1.0), 1.0, 1);
    let alone = Case { plan: FoldPlan::leave_one_out(60).expect("folds"), ..case };
    assert!(why(&alone).contains("one sample a fold"));
}
