//! Seeded problems in shapes that break solvers, small enough for the oracle or a little larger.

use crate::points::PointsGram;
use crate::problem::Problem;
use maxmargin_core::{Dual, EqualityConstraint, Formulation, TargetKind, TrainingSet};
use maxmargin_kernel::Kernel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the generator of a seed: the same numbers on every machine.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Returns points and labels of two overlapping clouds: `positive` points around `(+shift, …,
/// +shift)`, and `negative` ones around the opposite, each coordinate spread over about ±1.5. The
/// classes are interleaved at random.
pub fn clouds(rng: &mut ChaCha8Rng, positive: usize, negative: usize, dimension: usize, shift: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut labels = [vec![1.0; positive], vec![-1.0; negative]].concat();
    for i in (1..labels.len()).rev() {
        labels.swap(i, rng.random_range(0..=i));
    }
    let points = labels.iter().map(|y| (0..dimension).map(|_| y * shift + bell(rng)).collect()).collect();
    (points, labels)
}

/// Returns a sum of three uniform numbers: mean 0, standard deviation ½, bounded by 1.5.
fn bell(rng: &mut ChaCha8Rng) -> f64 {
    (0..3).map(|_| rng.random::<f64>() - 0.5).sum()
}

/// Returns C-SVC problems of at most 7 samples in every shape, from one seed.
pub fn small(seed: u64) -> Vec<Problem> {
    let rng = &mut rng(seed);
    let plus = rng.random_range(2..=4);
    c_svc(rng, seed, plus, 7 - plus, 1)
}

/// Returns C-SVC problems of `n` samples (at least 20) in the same shapes.
pub fn medium(seed: u64, n: usize) -> Vec<Problem> {
    c_svc(&mut rng(seed), seed, n / 2, n - n / 2, n / 20)
}

fn c_svc(rng: &mut ChaCha8Rng, seed: u64, plus: usize, minus: usize, rare: usize) -> Vec<Problem> {
    let n = plus + minus;
    let rbf = |gamma: f64| Kernel::Rbf { gamma };
    let mut problems = Vec::new();
    let mut push = |what: &str, points: &[Vec<f64>], labels: &[f64], kernel: &Kernel, c: Vec<f64>| {
        problems.push(Problem::c_svc(
            format!("{what} ({n} samples, seed {seed})"),
            PointsGram::new(points, kernel),
            labels.to_vec(),
            c,
        ));
    };
    let (points, labels) = clouds(rng, plus, minus, 2, 0.4);
    push("clouds", &points, &labels, &rbf(0.5), vec![1.0; n]);
    push("large C", &points, &labels, &rbf(0.5), vec![1e4; n]);
    push("tiny C", &points, &labels, &rbf(0.5), vec![1e-3; n]);
    push("linear, rank 2", &points, &labels, &Kernel::Linear, vec![10.0; n]);
    push("cubic", &points, &labels, &Kernel::Poly { gamma: 0.7, coef0: 1.0, degree: 3 }, vec![2.0; n]);
    push("nearly the identity", &points, &labels, &rbf(300.0), vec![1.5; n]);
    push("nearly singular", &points, &labels, &rbf(1e-3), vec![100.0; n]);
    let each: Vec<f64> = (0..n).map(|_| 10_f64.powf(rng.random_range(-2.0..2.0))).collect();
    push("a C for each", &points, &labels, &rbf(0.5), each);
    let weights = zero_weights(&labels);
    push("weights of zero", &points, &labels, &rbf(0.5), weights);
    let (points, labels) = clouds(rng, rare, n - rare, 3, 0.3);
    push("imbalanced", &points, &labels, &rbf(0.5), vec![5.0; n]);
    let (mut points, labels) = clouds(rng, plus, minus, 2, 0.2);
    points.truncate(n - n / 2);
    points.extend_from_within(..n / 2);
    push("duplicates", &points, &labels, &rbf(0.5), vec![10.0; n]);
    push("duplicates, linear", &points, &labels, &Kernel::Linear, vec![10.0; n]);
    for (i, point) in points.iter_mut().enumerate().skip(n / 2) {
        point[0] += 1e-4 * (i as f64);
    }
    push("near duplicates", &points, &labels, &rbf(0.5), vec![100.0; n]);
    let (points, labels) = clouds(rng, plus, minus, 40, 0.05);
    push("more features than samples", &points, &labels, &Kernel::Linear, vec![1.0; n]);
    problems
}

/// Returns C = 2, but 0 for every third sample; both classes keep a sample with a positive C.
fn zero_weights(labels: &[f64]) -> Vec<f64> {
    let mut c: Vec<f64> = (0..labels.len()).map(|k| if k % 3 == 0 { 0.0 } else { 2.0 }).collect();
    for want in [1.0, -1.0] {
        if let Some(k) = labels.iter().position(|y| *y == want) {
            c[k] = 2.0;
        }
    }
    c
}

/// Returns problems with a sum beyond C-SVC: regression twins, one class, ridge, random linear
/// terms. At most 7 variables.
///
/// # Panics
///
/// Never: the problems are valid by construction.
pub fn small_general(seed: u64) -> Vec<Problem> {
    general(&mut rng(seed), seed, 3, 7)
}

/// Returns the same kinds with `n` samples.
///
/// # Panics
///
/// Never: the problems are valid by construction.
pub fn medium_general(seed: u64, n: usize) -> Vec<Problem> {
    general(&mut rng(seed), seed, n, n)
}

fn general(rng: &mut ChaCha8Rng, seed: u64, twins: usize, n: usize) -> Vec<Problem> {
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let (points, labels) = clouds(rng, n / 2, n - n / 2, 2, 0.3);
    let gram = PointsGram::new(&points, &kernel);
    let make = |what: &str, ids: Vec<usize>, sign: Vec<f64>, linear_term: Vec<f64>, upper: Vec<f64>, ridge: f64, wanted: f64| {
        let dual = Dual::new(ids, sign, linear_term, upper, ridge, EqualityConstraint::Sum(wanted)).expect("a problem");
        Problem::new(format!("{what} (seed {seed})"), gram.clone(), dual)
    };
    let all = || (0..n).collect::<Vec<usize>>();
    let targets: Vec<f64> = (0..twins).map(|i| points[i][0].sin() + 0.2 * bell(rng)).collect();
    let linear_term = targets.iter().map(|y| 0.1 - y).chain(targets.iter().map(|y| 0.1 + y)).collect();
    let signs = [vec![1.0; twins], vec![-1.0; twins]].concat();
    let ids: Vec<usize> = (0..twins).collect();
    let part = TrainingSet { ids: &ids, target: &targets, weights: &vec![1.0; twins] };
    let quantile = Formulation::quantile(3.0, 0.8).problem(&part).expect("a problem").dual().clone();
    let random: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    vec![
        make("regression", (0..twins).chain(0..twins).collect(), signs, linear_term, vec![3.0; 2 * twins], 0.0, 0.0),
        Problem::new(format!("quantile (seed {seed})"), gram.clone(), quantile),
        make("one class", all(), vec![1.0; n], vec![0.0; n], vec![2.5 / n as f64; n], 0.0, 1.0),
        make("ridge", all(), labels.clone(), vec![-1.0; n], vec![50.0; n], 0.1, 0.0),
        make("ridge without upper bounds", all(), labels.clone(), vec![-1.0; n], vec![f64::INFINITY; n], 0.5, 0.0),
        make("random linear term", all(), labels.clone(), random, vec![2.0; n], 0.0, 0.75),
    ]
}

/// Returns problems with a sum per sign, ν-SVC and ν-SVR, of at most 8 variables.
///
/// # Panics
///
/// Never: the problems are valid by construction.
pub fn small_per_sign(seed: u64) -> Vec<Problem> {
    per_sign(&mut rng(seed), seed, 4, 7)
}

/// Returns the same kinds with `n` samples.
///
/// # Panics
///
/// Never: the problems are valid by construction.
pub fn medium_per_sign(seed: u64, n: usize) -> Vec<Problem> {
    per_sign(&mut rng(seed), seed, n, n)
}

fn per_sign(rng: &mut ChaCha8Rng, seed: u64, twins: usize, n: usize) -> Vec<Problem> {
    let rbf = |gamma: f64| Kernel::Rbf { gamma };
    let (points, labels) = clouds(rng, n / 2, n - n / 2, 2, 0.3);
    let values: Vec<f64> = points.iter().map(|x| x[0].sin() + 0.2 * bell(rng)).collect();
    let weights: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { 0.5 } else { 2.0 }).collect();
    let make = |what: &str, formulation: Formulation, kernel: &Kernel, n: usize, weights: &[f64]| {
        let ids: Vec<usize> = (0..n).collect();
        let target = if formulation.target_kind() == TargetKind::Values { &values } else { &labels };
        let part = TrainingSet { ids: &ids, target: &target[..n], weights: &weights[..n] };
        let dual = formulation.problem(&part).expect("a problem").dual().clone();
        Problem::new(format!("{what} ({n} samples, seed {seed})"), PointsGram::new(&points[..n], kernel), dual)
    };
    let even = vec![1.0; n];
    vec![
        make("nu-svc", Formulation::NuSvc { nu: 0.5 }, &rbf(0.5), n, &even),
        make("nu-svc, nearly all", Formulation::NuSvc { nu: 0.85 }, &rbf(0.5), n, &even),
        make("nu-svc, few", Formulation::NuSvc { nu: 0.05 }, &rbf(2.0), n, &even),
        make("nu-svc, linear", Formulation::NuSvc { nu: 0.4 }, &Kernel::Linear, n, &even),
        make("nu-svc, weights", Formulation::NuSvc { nu: 0.3 }, &rbf(0.5), n, &weights),
        make("nu-svr", Formulation::NuSvr { c: 3.0, nu: 0.5 }, &rbf(0.5), twins, &even),
        make("nu-svr, all", Formulation::NuSvr { c: 1.0, nu: 1.0 }, &rbf(0.5), twins, &even),
        make("nu-svr, weights", Formulation::NuSvr { c: 5.0, nu: 0.2 }, &rbf(0.5), twins, &weights),
    ]
}

/// Returns L2-SVM problems on the simplex, with the bias inside the kernel, of at most 7 samples.
pub fn small_simplex(seed: u64) -> Vec<Problem> {
    simplex(&mut rng(seed), seed, 7)
}

/// Returns the same kinds with `n` samples (at least 4).
pub fn medium_simplex(seed: u64, n: usize) -> Vec<Problem> {
    simplex(&mut rng(seed), seed, n)
}

fn simplex(rng: &mut ChaCha8Rng, seed: u64, n: usize) -> Vec<Problem> {
    let (points, labels) = clouds(rng, n / 2, n - n / 2, 2, 0.4);
    let rbf = |gamma: f64| Kernel::Rbf { gamma };
    let mut twice = points.clone();
    twice.truncate(n - n / 2);
    twice.extend_from_within(..n / 2);
    let make = |what: &str, points: &[Vec<f64>], labels: &[f64], kernel: &Kernel, c: f64| {
        l2_svm(format!("{what} on the simplex ({n} samples, seed {seed})"), &PointsGram::new(points, kernel), labels.to_vec(), c)
    };
    vec![
        make("clouds", &points, &labels, &rbf(0.5), 1.0),
        make("large C", &points, &labels, &rbf(0.5), 100.0),
        make("tiny C", &points, &labels, &rbf(0.5), 1e-3),
        make("linear, rank 3", &points, &labels, &Kernel::Linear, 5.0),
        make("cubic", &points, &labels, &Kernel::Poly { gamma: 0.7, coef0: 1.0, degree: 3 }, 2.0),
        make("nearly the identity", &points, &labels, &rbf(300.0), 1.5),
        make("duplicates", &twice, &labels, &rbf(0.5), 10.0),
        make("one class", &points, &vec![1.0; n], &rbf(0.5), 3.0),
    ]
}

/// Returns the L2-SVM of a kernel on the simplex: `Q_kl = y_k y_l (K_kl + 1) + δ_kl / C`.
///
/// # Panics
///
/// When it is not a problem.
pub fn l2_svm(name: String, gram: &PointsGram, labels: Vec<f64>, c: f64) -> Problem {
    let n = labels.len();
    let matrix = (0..n * n).map(|at| gram.at(at / n, at % n) + 1.0).collect();
    let dual = Dual::new((0..n).collect(), labels, vec![0.0; n], vec![f64::INFINITY; n], 1.0 / c, EqualityConstraint::Simplex);
    Problem::new(name, PointsGram::from_matrix(n, matrix), dual.expect("an L2-SVM"))
}

/// Returns a C-SVC problem with an indefinite sigmoid kernel: solvers must end at a KKT point,
/// which need not be the best one.
pub fn indefinite(seed: u64, n: usize) -> Problem {
    let (points, labels) = clouds(&mut rng(seed), n / 2, n - n / 2, 3, 0.3);
    let gram = PointsGram::new(&points, &Kernel::Sigmoid { gamma: 1.0, coef0: -0.5 });
    let mut problem = Problem::c_svc(format!("sigmoid ({n} samples, seed {seed})"), gram, labels, vec![2.0; n]);
    problem.convex = false;
    problem
}

/// Returns a C-SVC problem over points with small integer coordinates and a polynomial kernel.
/// Every kernel value is exact in `f32`, and every operation exact or correctly rounded. Descent
/// can be tested to the last bits, and work counts are the same on any machine.
pub fn lattice(seed: u64, n: usize, degree: u32, c: f64) -> Problem {
    let rng = &mut rng(seed);
    let points: Vec<Vec<f64>> = (0..n).map(|_| (0..3).map(|_| f64::from(rng.random_range(-4..=4_i32))).collect()).collect();
    let noisy = |x: &[f64], noise: i32| if x[0] + f64::from(noise) > 0.0 { 1.0 } else { -1.0 };
    let labels = points.iter().map(|x| noisy(x, rng.random_range(-3..=3_i32))).collect();
    let kernel = Kernel::Poly { gamma: 1.0, coef0: 1.0, degree };
    let name = format!("lattice ({n} samples, seed {seed}, degree {degree}, C = {c})");
    Problem::c_svc(name, PointsGram::new(&points, &kernel), labels, vec![c; n])
}
