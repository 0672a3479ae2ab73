//! The recurrences against recomputed values.

use super::*;
use crate::point::ball::Ball;
use maxmargin_testkit::{Problem, generate};
use proptest::prelude::*;

/// The error that kernel values in `f32`, each with half a unit of 2⁻²³, cause in one step: a few
/// such terms.
fn rounding(iterate: &Iterate) -> f64 {
    4.0 * f64::from(f32::EPSILON) * iterate.diagonal.iter().fold(1.0, |m: f64, d| m.max(*d))
}

/// Compares αᵀQα and the gradient, where it is kept, with their definitions.
fn check(problem: &Problem, iterate: &Iterate, most: f64) -> Result<(), TestCaseError> {
    let alpha = iterate.alphas();
    let gradient = problem.gradient(&alpha);
    for (k, g) in gradient.iter().enumerate() {
        if iterate.full || iterate.is_used(k) {
            prop_assert!((iterate.gradient(k) - g).abs() <= most, "{}: {} for {g} at {k}", problem.name, iterate.gradient(k));
        }
        prop_assert_eq!(alpha[k] > 0.0, iterate.is_used(k));
        prop_assert_eq!(iterate.is_used(k), iterate.support.contains(&(k as u32)));
    }
    let square = 2.0 * problem.objective(&alpha);
    prop_assert!((iterate.square - square).abs() <= most, "{}: {} for {square}", problem.name, iterate.square);
    prop_assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    prop_assert!(alpha.iter().all(|a| *a >= 0.0));
    if iterate.full {
        let furthest = iterate.furthest();
        prop_assert!(gradient.iter().all(|g| furthest.gradient <= g + most));
    }
    Ok(())
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(40))]
    /// Any steps in any order, with the gradient everywhere or on the support only, ids consecutive
    /// or scattered.
    #[test]
    fn steps_keep_gradient_and_square(
        seed in 0_u64..500, full: bool, scattered: bool,
        moves in proptest::collection::vec((0_u8..4, 0_usize..12, 0_usize..12, 0.0..1.0_f64), 1..40),
    ) {
        for problem in generate::medium_simplex(seed, 12) {
            let problem = if scattered { problem.scattered() } else { problem };
            let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
            let mut alpha = vec![0.0; 12];
            alpha[(seed % 12) as usize] = 1.0;
            let mut iterate = Iterate::new(&problem.dual, &rows, Par::Seq, &alpha, None, full, &RunControl::unlimited()).expect("nobody calls it off");
            let mut values = vec![];
            let once = rounding(&iterate);
            let mut off = once;
            for &(kind, i, j, share) in &moves {
                iterate.evaluate(&[i], &mut values);
                let (row, a) = (iterate.row(i), iterate.alpha(i));
                let vertex = Vertex { k: i, gradient: values[0] };
                match kind {
                    0 => iterate.toward(vertex, 0.9 * share, false, &row),
                    1 => {
                        iterate.toward(vertex, 1.0, false, &row);
                        off = 0.0;
                    }
                    // A step away, to the bound for a large share. An error grows as α does, in
                    // αᵀQα twice.
                    2 if a > 0.0 && a < 0.5 => {
                        let empty = share > 0.7;
                        let lambda = a / (1.0 - a) * if empty { 1.0 } else { share };
                        iterate.toward(vertex, -lambda, empty, &row);
                        off *= (1.0 + lambda) * (1.0 + lambda);
                    }
                    3 if i != j && iterate.is_used(j) => {
                        iterate.evaluate(&[j], &mut values);
                        let (from, row_j, empty) = (Vertex { k: j, gradient: values[0] }, iterate.row(j), share > 0.7);
                        let lambda = iterate.alpha(j) * if empty { 1.0 } else { share };
                        iterate.swap(vertex, from, lambda, empty, &row, &row_j);
                    }
                    _ => {}
                }
                off += once;
                check(&problem, &iterate, off)?;
            }
            iterate.complete(&RunControl::unlimited()).expect("nobody calls it off");
            check(&problem, &iterate, off)?;
        }
    }

    /// The paper's recurrences for r², where `K̃_ii` is constant: after the best step towards any
    /// point outside, and after any step away from one.
    #[test]
    fn the_ball_follows_the_paper(seed in 0_u64..500, share in 0.0..1.0_f64) {
        let problem = &generate::medium_simplex(seed, 15)[0];
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let alpha: Vec<f64> = (0..15).map(|k| f64::from(k + 1) / 120.0).collect();
        let gradient = problem.gradient(&alpha);
        let square = 2.0 * problem.objective(&alpha);
        let delta2 = problem.q(0, 0);
        let ball = Ball { delta2, square };
        for k in 0..15 {
            let mut iterate = Iterate::new(&problem.dual, &rows, Par::Seq, &alpha, Some(&gradient), true, &RunControl::unlimited()).expect("nobody calls it off");
            let (row, vertex) = (iterate.row(k), Vertex { k, gradient: gradient[k] });
            let excess = ball.excess(gradient[k]);
            let (lambda, expected) = if excess > 0.0 {
                (excess / (2.0 * (1.0 + excess)), ball.after_toward(excess))
            } else {
                let lambda = share * alpha[k] / (1.0 - alpha[k]);
                (-lambda, ball.after_away(-excess, lambda))
            };
            iterate.toward(vertex, lambda, false, &row);
            let recomputed = 2.0 * problem.objective(&iterate.alphas());
            prop_assert!((expected.square - recomputed).abs() <= 1e-12 * delta2, "{} for {recomputed}", expected.square);
            prop_assert!((iterate.square - recomputed).abs() <= 1e-12 * delta2);
        }
    }
}

/// After thousands of steps that halve α, the common factor is multiplied out before it vanishes.
#[test]
fn the_scale_neither_vanishes_nor_overflows() {
    for shrink in [0.5, 1e-30] {
        let problem = &generate::medium_simplex(1, 10)[1];
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let mut alpha = vec![0.0; 10];
        alpha[0] = 1.0;
        let mut iterate = Iterate::new(&problem.dual, &rows, Par::Seq, &alpha, None, true, &RunControl::unlimited())
            .expect("nobody calls it off");
        for step in 0..3000 {
            let k = step % 10;
            let (row, vertex) = (iterate.row(k), Vertex { k, gradient: iterate.gradient(k) });
            iterate.toward(vertex, 1.0 - shrink, false, &row);
        }
        let sum: f64 = iterate.alphas().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        let square = 2.0 * problem.objective(&iterate.alphas());
        assert!((iterate.square - square).abs() < 1e-6, "{} for {square}", iterate.square);
    }
}
