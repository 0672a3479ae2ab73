//! Gradients of points near a known one: their values and their cost.

use maxmargin_core::{AuditPoint, Dual, KnownSums, NearGradients, RunControl, Solution, Status, audit, certify, exact_gradient};
use maxmargin_data::Par;
use maxmargin_kernel::Gram;
use maxmargin_testkit::{PointsGram, generate};
use proptest::prelude::*;
use rand::RngExt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
#[should_panic(expected = "the problem names row 1000, the matrix has 2 rows")]
fn a_certificate_names_the_row_that_its_matrix_lacks() {
    let gram = PointsGram::from_matrix(2, vec![1.0, 0.0, 0.0, 1.0]);
    let dual = Dual::c_svc(vec![0, 1000], vec![1.0, -1.0], vec![1.0; 2]).expect("a problem of another matrix");
    let solution = Solution::without_gradient(vec![1.0; 2], Status::Converged);
    let _ = certify(&dual, &gram, &solution, Par::Seq);
}

#[test]
#[should_panic(expected = "one alpha per variable")]
fn a_certificate_needs_one_alpha_per_variable() {
    let gram = PointsGram::from_matrix(2, vec![1.0, 0.0, 0.0, 1.0]);
    let dual = Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0; 2]).expect("a problem");
    let solution = Solution::without_gradient(vec![1.0; 3], Status::Converged);
    let _ = certify(&dual, &gram, &solution, Par::Seq);
}

/// Counts exact kernel values.
struct Counted<'g> {
    gram: &'g PointsGram,
    values: AtomicU64,
}

impl Gram for Counted<'_> {
    fn len(&self) -> usize {
        self.gram.len()
    }

    fn diagonal(&self) -> &[f64] {
        self.gram.diagonal()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        self.gram.fill(rows, columns, out);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        self.values.fetch_add((rows.len() * columns.len()) as u64, Ordering::Relaxed);
        self.gram.fill_exact(rows, columns, out);
    }

    fn indefiniteness(&self) -> f64 {
        self.gram.indefiniteness()
    }
}

fn next(of: &mut NearGradients, dual: &Dual, gram: &dyn Gram, alpha: &[f64]) -> Vec<f64> {
    of.at(dual, gram, alpha, Par::Seq, &RunControl::unlimited()).expect("nobody calls it off")
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]
    #[test]
    fn what_has_changed_is_all_that_costs(seed in 0_u64..1000, changed in 0_usize..60) {
        let rng = &mut generate::rng(seed);
        for problem in generate::medium_general(seed, 60) {
            let dual = &problem.dual;
            let from: Vec<f64> = dual.upper().iter().map(|u| u.min(9.0) * rng.random_range(0.1..0.9)).collect();
            let gram = Counted { gram: &problem.gram, values: AtomicU64::new(0) };
            let mut of = NearGradients::beyond(0);
            let gradient = next(&mut of, dual, &gram, &from);
            let all = gram.values.swap(0, Ordering::Relaxed);
            let mut alpha = from.clone();
            for step in 0..changed.min(dual.len()) {
                alpha[step * 7 % dual.len()] *= 0.5;
            }
            let count = alpha.iter().zip(&from).filter(|(a, b)| a != b).count();
            let found = next(&mut of, dual, &gram, &alpha);
            let cost = gram.values.swap(0, Ordering::Relaxed);
            let afresh = exact_gradient(dual, &gram as &dyn Gram, &alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            let scale = 1.0 + gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
            prop_assert!(found.iter().zip(&afresh).all(|(a, b)| (a - b).abs() <= 1e-12 * scale), "{}", problem.name);
            // The variables of a sample share one sum.
            let samples = dual.ids().iter().max().map_or(0, |id| id + 1) as u64;
            if 4 * count <= dual.len() {
                prop_assert!(cost * samples <= all * count as u64, "{cost} values for {count} of {}: {all}", dual.len());
            } else {
                // Many changes: one complete sum, with its rounding.
                prop_assert_eq!(&found, &afresh);
            }
            // The same sums after other points: rounding does not grow with the number of
            // gradients.
            let again = (0..9).map(|_| next(&mut of, dual, &gram, &alpha)).last();
            prop_assert_eq!(again, Some(found));
        }
    }
}

/// A point that lost nearly all of a large one: the rest must not be a difference of large numbers.
#[test]
fn a_point_that_fell_is_added_up_afresh() {
    let problem = generate::medium_general(1, 60).remove(0);
    let n = problem.dual.len();
    let mut from = vec![1e-6; n];
    from[3] = 1e12;
    let mut of = NearGradients::beyond(0);
    next(&mut of, &problem.dual, &problem.gram, &from);
    let alpha = vec![1e-6; n];
    let afresh =
        exact_gradient(&problem.dual, &problem.gram as &dyn Gram, &alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    assert_eq!(next(&mut of, &problem.dual, &problem.gram, &alpha), afresh);
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]

    /// Audits and gradients from known sums are those from all values but for rounding, and cost
    /// the values of the coefficients that are not known. The known ones may be of other samples,
    /// too.
    #[test]
    fn known_sums_save_values(seed in 0_u64..1000, known_share in 0.0..1.0_f64) {
        let rng = &mut generate::rng(seed);
        for problem in generate::medium(seed, 60).into_iter().chain(generate::medium_general(seed, 60)) {
            let (dual, n) = (&problem.dual, problem.gram.len());
            let alpha: Vec<f64> = dual.upper().iter().map(|u| u.min(5.0) * rng.random::<f64>()).collect();
            let mut coef = vec![0.0; n];
            dual.ids().iter().enumerate().for_each(|(k, &id)| coef[id] += dual.sign()[k] * alpha[k]);
            let lacks: Vec<bool> = (0..n).map(|_| rng.random::<f64>() > known_share).collect();
            coef.iter_mut().zip(&lacks).filter(|(_, lacks)| **lacks).for_each(|(c, _)| *c += 0.5);
            let mut row = vec![0.0; n];
            let mut of_known = |i: usize| {
                problem.gram.fill_exact(&[i], 0..n, &mut row);
                coef.iter().zip(&row).map(|(c, value)| c * value).sum()
            };
            let sums: Vec<f64> = (0..n).map(&mut of_known).collect();
            let known = KnownSums { coef: &coef, sums: &sums };
            let counted = Counted { gram: &problem.gram, values: AtomicU64::new(0) };
            let control = RunControl::unlimited();
            let gradient = known.gradient(dual, &counted as &dyn Gram, &alpha, Par::Seq, &control).expect("unlimited");
            let values = counted.values.load(Ordering::Relaxed) as usize;
            prop_assert!(values <= n * lacks.iter().filter(|lacks| **lacks).count(), "{}: {}", problem.name, values);
            let point = |known| AuditPoint { dual, alpha: &alpha, bias: 0.2, weights: None, known };
            let points = [point(None), point(Some(known)), point(None)];
            let audits = audit(&problem.gram, &points, Par::Seq, &control).expect("unlimited");
            let near = 1e-12 * (1.0 + coef.iter().map(|c| c.abs()).sum::<f64>()) * (1.0 + problem.gram.diagonal()[0].abs());
            let exact = exact_gradient(dual, &problem.gram, &alpha, Par::Seq, &control).expect("unlimited");
            for found in [&gradient, &audits[1].gradient] {
                prop_assert!(found.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= near), "{}", problem.name);
            }
            prop_assert!(audits[1].sums.iter().zip(&audits[0].sums).all(|(a, b)| (a - b).abs() <= near), "{}", problem.name);
            prop_assert_eq!(&audits[0], &audits[2], "{}", problem.name);
        }
    }
}
