//! Logistic regression and the L1 norm: certificates, agreement of all methods, optima by hand.

use maxmargin_core::{Certificate, Goal, MarginLoss, MarginProblem, Penalty, RunControl, Status, Stop, certify_margin};
use maxmargin_data::{Generator, Par, Samples};
use maxmargin_linear::{Config, LinearError, MarginSolution, MarginSolver, Matrix, Method};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ALL: [Method; 4] = [Method::Hybrid, Method::Newton, Method::Descent, Method::Avsf];

fn problem(loss: MarginLoss, penalty: Penalty, sign: &[f64], cost: &[f64]) -> MarginProblem {
    MarginProblem::new(loss, penalty, sign.to_vec(), cost.to_vec()).expect("a problem")
}

fn solved(matrix: &Matrix, problem: &MarginProblem, config: &Config, gap: f64) -> MarginSolution {
    let stop = Stop::when(Goal::Gap(gap));
    MarginSolver::new(matrix).solve(problem, None, config, &stop, &RunControl::unlimited()).expect("a problem")
}

fn takes(method: Method, problem: &MarginProblem, width: usize) -> bool {
    let descends = matches!(method, Method::Descent | Method::Avsf);
    let is_logistic = problem.loss() == MarginLoss::Logistic && problem.free_column(width).is_none();
    problem.penalty() == Penalty::L1 || !descends || is_logistic
}

#[test]
fn optima_by_hand() {
    // One row x = 1 with y = 1. Logistic, L2: w = C σ(−w); with C = 2 / σ(−1): w = 2.
    let samples = Samples::from_dense(1, 1, vec![1.0]).expect("samples");
    let matrix = Matrix::new(&samples, None, Par::Seq);
    let sigma = 1.0 / (1.0 + 2.0_f64.exp());
    for method in ALL {
        let p = problem(MarginLoss::Logistic, Penalty::L2, &[1.0], &[2.0 / sigma]);
        let found = solved(&matrix, &p, &Config { method, ..Config::default() }, 1e-12);
        assert!((found.w[0] - 2.0).abs() < 1e-5, "{method:?}: {found:?}");
        // L1: 1 = C σ(−w), so w = log(C − 1); 0 if C ≤ 2.
        for (cost, expected) in [(4.0, 3.0_f64.ln()), (2.0, 0.0), (0.5, 0.0)] {
            let p = problem(MarginLoss::Logistic, Penalty::L1, &[1.0], &[cost]);
            let found = solved(&matrix, &p, &Config { method, ..Config::default() }, 1e-12);
            assert!((found.w[0] - expected).abs() < 1e-5, "{method:?} {cost}: {found:?}");
        }
        // Squared hinge, L1: 1 = 2C (1 − w).
        let p = problem(MarginLoss::SquaredHinge, Penalty::L1, &[1.0], &[2.0]);
        let found = solved(&matrix, &p, &Config { method, ..Config::default() }, 1e-12);
        assert!((found.w[0] - 0.75).abs() < 1e-6, "{method:?}: {found:?}");
    }
}

/// The answers to six questions, one column for each answer: each question's columns sum to 1 in
/// every row, so that weights can move against each other for nothing. Coordinate descent on the
/// model of a step took 727,152 steps for the squared hinge loss.
#[test]
fn columns_that_depend_on_each_other_take_few_steps() {
    let (rows, questions, answers) = (3000, 6, 8);
    let hash = |i: usize| ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40;
    let answer = |i: usize, q: usize| hash(i * questions + q) as usize % answers;
    let numbers = |i: usize| (0..questions * answers).map(move |j| f64::from(u8::from(answer(i, j / answers) == j % answers)));
    let samples = Samples::from_dense(rows, questions * answers, (0..rows).flat_map(numbers).collect()).expect("samples");
    let score = |i: usize| (0..questions).map(|q| (answer(i, q) as f64 - 3.5) * (q as f64 - 2.2)).sum::<f64>();
    let noise = |i: usize| (hash(i + 7_000_000) % 100) as f64 * 0.1 - 5.0;
    let labels: Vec<f64> = (0..rows).map(|i| if score(i) + noise(i) > 0.0 { 1.0 } else { -1.0 }).collect();
    let matrix = Matrix::new(&samples, None, Par::Seq);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let p = problem(loss, Penalty::L1, &labels, &vec![100.0; rows]);
        let found = solved(&matrix, &p, &Config::default(), 1e-6);
        assert_eq!(found.status, Status::Converged, "{loss:?}: {found:?}");
        assert!(found.work.newton_steps < 60 && found.work.steps < 30_000, "{loss:?}: {:?}", found.work);
    }
}

/// Classes that can be separated: at a large C few rows have curvature, and the model of a step has
/// its minimum at infinity. Its sweeps used up any limit of iterations.
#[test]
fn models_without_a_minimum_take_few_steps() {
    let hash = |i: usize| ((i as u64 + 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as f64 / f64::from(1_u32 << 30) - 1.0;
    let rows = 60;
    let samples = Samples::from_dense(rows, 3, (0..3 * rows).map(hash).collect()).expect("samples");
    let score = |i: usize| hash(3 * i) + 2.0 * hash(3 * i + 1) + 3.0 * hash(3 * i + 2) + 0.5;
    let labels: Vec<f64> = (0..rows).map(|i| if score(i) > 0.0 { 1.0 } else { -1.0 }).collect();
    let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
    for c in [1e2, 1e3, 1e4, 1e6] {
        let p = problem(MarginLoss::SquaredHinge, Penalty::L1, &labels, &vec![c; rows]);
        let found = solved(&matrix, &p, &Config::default(), 1e-6);
        assert_eq!(found.status, Status::Converged, "C = {c}: {found:?}");
        assert!(found.work.steps < 400, "C = {c}: {found:?}");
    }
}

/// Words of a text depend on each other, and at a large C few rows have curvature. Coordinate
/// descent over the matrix, from zero at this C, took 15,560,920 and 283,435 steps.
#[test]
fn text_takes_few_steps_at_a_large_c() {
    let data = Generator::SparseText.generate(1200, Some(8192), 5).expect("data");
    let matrix = Matrix::new(&data.samples, None, Par::Seq);
    for (loss, most) in [(MarginLoss::SquaredHinge, 1_500_000), (MarginLoss::Logistic, 140_000)] {
        let p = problem(loss, Penalty::L1, &data.labels, &vec![100.0; data.labels.len()]);
        let found = solved(&matrix, &p, &Config::default(), 1e-4);
        assert_eq!(found.status, Status::Converged, "{loss:?}: {found:?}");
        assert!(found.work.steps <= most, "{loss:?}: {:?}", found.work);
    }
}

/// Texts of very different lengths: from zero at these costs, Newton steps for the L2 norm took
/// 2,007 and 4,571 conjugate gradients. With the L1 norm and models that leave out small curvatures
/// near the optimum they took 133,415.
#[test]
fn rows_of_very_different_lengths_reach_the_gap() {
    let mut data = Generator::SparseText.generate(800, Some(4096), 2).expect("data");
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..800 {
        let factor = 10.0_f64.powf(3.0 * ((7 * i + 3) % 101) as f64 / 101.0);
        for (j, v) in data.samples.row(i).entries() {
            indices.push(j as u32);
            values.push(factor * v);
        }
        offsets.push(indices.len());
    }
    data.samples = Samples::from_sparse(4096, offsets, indices, values).expect("samples");
    let matrix = Matrix::new(&data.samples, None, Par::Seq);
    for (penalty, c, most) in [(Penalty::L2, 100.0, 1300), (Penalty::L2, 1e4, 1800), (Penalty::L1, 100.0, 20_000)] {
        let p = problem(MarginLoss::Logistic, penalty, &data.labels, &[c; 800]);
        let found = solved(&matrix, &p, &Config::default(), 1e-6);
        assert_eq!(found.status, Status::Converged, "{penalty:?} {c}: {:?} {:?}", found.certificate, found.work);
        assert!(found.certificate.primal < 0.1 * c * 800.0 * 2.0_f64.ln(), "{penalty:?} {c}: {:?}", found.certificate);
        assert!(found.work.gradients <= most, "{penalty:?} {c}: {:?}", found.work);
    }
}

#[test]
fn text_and_dense_rows_are_solved_alike_on_any_number_of_threads() {
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for (generator, rows, features) in [(Generator::Rcv1Like, 600, Some(4000)), (Generator::CovtypeLike, 9000, None)] {
        let data = generator.generate(rows, features, 3).expect("data");
        for (loss, penalty) in [
            (MarginLoss::Logistic, Penalty::L2),
            (MarginLoss::Logistic, Penalty::L1),
            (MarginLoss::SquaredHinge, Penalty::L2),
            (MarginLoss::SquaredHinge, Penalty::L1),
        ] {
            for c in [0.05, 1.0, 30.0] {
                let p = problem(loss, penalty, &data.labels, &vec![c; rows]);
                let matrix = Matrix::new(&data.samples, Some(1.0), Par::Seq);
                let one = solved(&matrix, &p, &Config::default(), 1e-7);
                assert_eq!(one.status, Status::Converged, "{generator:?} {loss:?} {penalty:?} {c}: {one:?}");
                assert!(one.certificate.has_gap(1e-7), "{:?}", one.certificate);
                let config = Config { par: Par::Pool, ..Config::default() };
                assert_eq!(two.install(|| solved(&matrix, &p, &config, 1e-7)), one, "{generator:?} {loss:?} {penalty:?} {c}");
            }
        }
    }
}

#[test]
fn a_start_at_the_optimum_of_another_cost_is_used() {
    let data = Generator::Blobs.generate(300, Some(6), 5).expect("data");
    let matrix = Matrix::new(&data.samples, Some(1.0), Par::Seq);
    let solver = MarginSolver::new(&matrix);
    let (stop, control) = (Stop::when(Goal::Gap(1e-9)), RunControl::unlimited());
    let of = |c: f64, start: Option<&[f64]>| {
        let p = problem(MarginLoss::Logistic, Penalty::L2, &data.labels, &[c; 300]).with_free_bias();
        solver.solve(&p, start, &Config::default(), &stop, &control).expect("a problem")
    };
    let first = of(1.0, None);
    let (cold, warm) = (of(1.1, None), of(1.1, Some(&first.w)));
    assert!(warm.work.newton_steps < cold.work.newton_steps, "{:?} {:?}", warm.work, cold.work);
    assert!((warm.certificate.primal - cold.certificate.primal).abs() <= 1e-8 * cold.certificate.primal);
}

#[test]
fn problems_that_a_method_does_not_solve_are_refused() {
    let samples = Samples::from_dense(2, 1, vec![1.0, -1.0]).expect("samples");
    let matrix = Matrix::new(&samples, None, Par::Seq);
    let stop = Stop::when(Goal::Gap(1e-6));
    let refused = |p: &MarginProblem, start: Option<&[f64]>, method| {
        let config = Config { method, ..Config::default() };
        MarginSolver::new(&matrix).solve(p, start, &config, &stop, &RunControl::unlimited()).expect_err("refused")
    };
    let p = problem(MarginLoss::SquaredHinge, Penalty::L2, &[1.0, -1.0], &[1.0; 2]);
    assert_eq!(refused(&p, None, Method::Descent), LinearError::SquaredHinge);
    assert_eq!(refused(&p, Some(&[0.0; 2]), Method::Newton), LinearError::Start { found: 2, expected: 1 });
    let free = problem(MarginLoss::Logistic, Penalty::L2, &[1.0, -1.0], &[1.0; 2]).with_free_bias();
    assert_eq!(refused(&free, None, Method::Avsf), LinearError::FreeBias);
    let short = problem(MarginLoss::Logistic, Penalty::L2, &[1.0], &[1.0]);
    assert_eq!(refused(&short, None, Method::Newton), LinearError::Rows { found: 1, expected: 2 });
}

/// Returns the least primal objective of proximal gradient steps, a slow reference.
fn reference(p: &MarginProblem, rows: &[Vec<f64>], width: usize) -> f64 {
    let free = p.free_column(width);
    let squares: f64 = rows.iter().zip(p.cost()).map(|(x, c)| c * x.iter().map(|v| v * v).sum::<f64>()).sum();
    let step = 1.0 / (p.loss().largest_curvature() * squares + 1.0);
    let mut w = vec![0.0; width];
    let (mut momentum, mut at) = (1.0_f64, w.clone());
    let value = |w: &[f64]| {
        let loss = |(x, (y, c)): (&Vec<f64>, (&f64, &f64))| c * p.loss().at(y * dot(x, w)).value;
        p.penalty_of(w) + rows.iter().zip(p.sign().iter().zip(p.cost())).map(loss).sum::<f64>()
    };
    let mut least = value(&w);
    for _ in 0..20_000 {
        let mut next = at.clone();
        for (x, (y, c)) in rows.iter().zip(p.sign().iter().zip(p.cost())) {
            let alpha = c * p.loss().at(y * dot(x, &at)).share;
            next.iter_mut().zip(x).for_each(|(n, v)| *n += step * alpha * y * v);
        }
        for (j, n) in next.iter_mut().enumerate().filter(|(j, _)| free != Some(*j)) {
            *n = match p.penalty() {
                Penalty::L2 => *n - step * at[j],
                Penalty::L1 => n.signum() * (n.abs() - step).max(0.0),
            };
        }
        let factor = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        at = next.iter().zip(&w).map(|(n, w)| n + (momentum - 1.0) / factor * (n - w)).collect();
        (w, momentum) = (next, factor);
        least = least.min(value(&w));
    }
    least
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Every method reaches the optimum of a slow reference, no dual exceeds it, and any weights
    /// have a gap of at least 0.
    #[test]
    fn all_methods_reach_the_reference(
        numbers in proptest::collection::vec(-2.0..2.0_f64, 12 * 3),
        signs in proptest::collection::vec(any::<bool>(), 12),
        costs in proptest::collection::vec(0.0..4.0_f64, 12),
        other in proptest::collection::vec(-3.0..3.0_f64, 4),
        is_logistic in any::<bool>(),
        is_l1 in any::<bool>(),
        is_free in any::<bool>(),
    ) {
        let loss = if is_logistic { MarginLoss::Logistic } else { MarginLoss::SquaredHinge };
        let penalty = if is_l1 { Penalty::L1 } else { Penalty::L2 };
        // Both classes, or a free bias has no optimum.
        let mut sign: Vec<f64> = signs.iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
        let mut costs = costs;
        (sign[0], sign[1], costs[0], costs[1]) = (1.0, -1.0, 1.0, 1.0);
        let mut p = problem(loss, penalty, &sign, &costs);
        if is_free {
            p = p.with_free_bias();
        }
        let samples = Samples::from_dense(12, 3, numbers.clone()).expect("samples");
        let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
        let rows: Vec<Vec<f64>> = numbers.chunks(3).map(|x| [x, &[1.0]].concat()).collect();
        let best = reference(&p, &rows, 4);
        let at_other: Certificate = certify_margin(&p, &matrix, &other, Par::Seq);
        prop_assert!(at_other.dual <= best + 1e-9 * (1.0 + best) && at_other.primal >= best - 1e-9 * (1.0 + best));
        prop_assert!(at_other.gap() >= -1e-9 * (1.0 + at_other.primal));
        for method in ALL.into_iter().filter(|method| takes(*method, &p, 4)) {
            let found = solved(&matrix, &p, &Config { method, ..Config::default() }, 1e-8);
            prop_assert_eq!(found.status, Status::Converged, "{:?} {:?}", method, found);
            prop_assert!(found.certificate.primal <= best + 1e-7 * (1.0 + best), "{:?}: {:?} {}", method, found, best);
            prop_assert!(found.certificate.dual <= best + 1e-9 * (1.0 + best), "{:?}: {:?} {}", method, found, best);
        }
    }
}

/// A Newton step is long where few rows have curvature, and the derivative along it rises steeply
/// before it is flat: steps that ended where it is flat once led to a higher objective, in one of
/// 50 problems of this kind.
#[test]
fn values_of_very_different_sizes_reach_the_gap() {
    for seed in 0..200 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (n, d, size) = (random.random_range(6..60), random.random_range(4..80), random.random_range(0.5..3.0));
        let mut value = || match random.random_range(0..25) {
            0..20 => 0.0,
            20 => -(10.0_f64.powf(size * random.random_range(-1.0..1.0))),
            _ => 10.0_f64.powf(size * random.random_range(-1.0..1.0)),
        };
        let samples = Samples::from_dense(n, d, (0..n * d).map(|_| value()).collect()).expect("samples");
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let sign: Vec<f64> = (0..n).map(|i| if i == 0 || (i > 1 && random.random_bool(0.5)) { 1.0 } else { -1.0 }).collect();
        let cost = vec![10.0_f64.powf(random.random_range(0.0..4.0)); n];
        for loss in [MarginLoss::Logistic, MarginLoss::SquaredHinge] {
            let config = Config { method: Method::Newton, ..Config::default() };
            let found = solved(&matrix, &problem(loss, Penalty::L2, &sign, &cost), &config, 1e-6);
            assert_eq!(found.status, Status::Converged, "{seed} {loss:?}: {found:?}");
        }
    }
}

/// The gap of weights with a free bias is that of dual variables whose classes have the same sum. A
/// solver that took `|u_b w_b|` for the difference was misled where that cancels what the losses
/// lack: one problem of twenty stopped at a gap of up to `1e-3`.
#[test]
fn with_a_free_bias_the_gap_is_that_of_balanced_classes() {
    for seed in 0..300 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let n = random.random_range(4..14);
        let numbers = (0..n).map(|_| random.random_range(-2.0..2.0)).collect();
        let sign: Vec<f64> = (0..n).map(|i| if i == 0 || (i > 1 && random.random_bool(0.4)) { 1.0 } else { -1.0 }).collect();
        let cost: Vec<f64> = (0..n).map(|_| random.random_range(0.0..4.0)).collect();
        let samples = Samples::from_dense(n, 1, numbers).expect("samples");
        let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
        let losses = [MarginLoss::Logistic, MarginLoss::SquaredHinge];
        for (loss, penalty) in losses.into_iter().flat_map(|loss| [(loss, Penalty::L1), (loss, Penalty::L2)]) {
            let p = problem(loss, penalty, &sign, &cost).with_free_bias();
            for method in ALL.into_iter().filter(|method| takes(*method, &p, 2)) {
                let found = solved(&matrix, &p, &Config { method, ..Config::default() }, 1e-8);
                assert_eq!(found.status, Status::Converged, "{seed} {loss:?} {penalty:?} {method:?}: {found:?}");
            }
        }
    }
}

/// Fewer rows than columns at a large C: all rows are classified well, and coordinate descent on
/// the model of a step took as many passes as C is large, 389,505 here at 1e6.
#[test]
fn few_rows_take_few_passes_at_a_large_c() {
    for seed in 0..10 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (n, d) = (random.random_range(4..12), 40);
        let numbers = (0..n * d).map(|_| random.random_range(-2.0..2.0)).collect();
        let sign: Vec<f64> = (0..n).map(|i| if i == 0 || (i > 1 && random.random_bool(0.5)) { 1.0 } else { -1.0 }).collect();
        let samples = Samples::from_dense(n, d, numbers).expect("samples");
        let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
        for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
            let found = solved(&matrix, &problem(loss, Penalty::L1, &sign, &vec![1e6; n]), &Config::default(), 1e-6);
            assert_eq!(found.status, Status::Converged, "{seed} {loss:?}: {found:?}");
            assert!(found.work.steps < 6000 * d as u64, "{seed} {loss:?}: {:?}", found.work);
        }
    }
}
