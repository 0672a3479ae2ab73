//! Labels fixed by the gap agree with the optimum, and near the optimum the gap fixes all.

use maxmargin_core::{Dual, GapScreening, Start, bias_of, exact_gradient, gap_screening};
use maxmargin_data::{Par, RunControl};
use maxmargin_testkit::{Problem, generate, oracle};
use rand::RngExt;

/// Returns the labels that the gap of a point fixes.
fn at(problem: &Problem, alpha: &[f64]) -> GapScreening {
    let gradient = exact_gradient(&problem.dual, &problem.gram, alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    gap_screening(&problem.dual, &problem.gram, alpha, &gradient).expect("a hinge loss with a free bias")
}

/// Returns the decision values of the training samples.
fn values(problem: &Problem, alpha: &[f64]) -> Vec<f64> {
    let dual = &problem.dual;
    let gradient = exact_gradient(dual, &problem.gram, alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    let bias = bias_of(dual, alpha, &gradient);
    (0..dual.len()).map(|k| dual.sign()[k] * (gradient[k] - dual.linear_term()[k]) + bias).collect()
}

#[test]
fn every_label_called_certain_is_that_of_the_optimum() {
    let mut rng = generate::rng(11);
    let (mut proved, mut all_near, mut problems) = (0, 0, 0);
    for problem in (1..=12).flat_map(generate::small) {
        let best = oracle::solve(&problem.dual, &problem.gram).alpha;
        let truth = values(&problem, &best);
        let wish = problem.dual.upper().iter().map(|u| u.min(20.0) * rng.random_range(-0.5..1.5)).collect();
        let far = Start::project(&problem.dual, wish).expect("feasible").alpha().to_vec();
        problems += 1;
        for share in [1.0, 0.3, 0.1, 1e-2, 1e-4, 1e-6, 0.0] {
            // Both points are feasible, and so is the line between them.
            let alpha: Vec<f64> = best.iter().zip(&far).map(|(b, f)| b + share * (f - b)).collect();
            let found = at(&problem, &alpha);
            for (sign, value) in found.signs.iter().zip(&truth).filter(|(sign, _)| **sign != 0.0) {
                // The oracle's own bias may be anywhere in its interval: only a sample clearly on
                // the other side refutes a label.
                assert!(sign * value > -1e-7, "{}: {share}: {sign} {value}", problem.name);
            }
            proved += found.labels();
        }
        all_near += usize::from(at(&problem, &best).labels() > 0);
    }
    assert!(proved > 100 && 2 * all_near > problems, "{proved} labels, {all_near} of {problems}");
}

#[test]
fn a_gap_of_everything_proves_nothing() {
    for problem in generate::medium(3, 40) {
        let zero = vec![0.0; problem.dual.len()];
        let found = at(&problem, &zero);
        // P − D at 0 is the loss of the best constant.
        assert!(found.radius > 0.0, "{}", problem.name);
        let outside: Vec<f64> = problem.dual.upper().iter().map(|u| 2.0 * u.min(5.0)).collect();
        assert_eq!(at(&problem, &outside).labels(), 0, "an infeasible point proves nothing");
    }
}

#[test]
fn without_a_bias_apart_the_ball_is_all() {
    // One sample, K = 4: w* = φ/4 from α = 1/4, f = 1. At α = 0.2: P = ½·0.16 + C·0.2, D = 0.2 −
    // 0.08.
    let gram = maxmargin_kernel::FnGram::new(1, |_, _| 4.0);
    let dual =
        Dual::new(vec![0], vec![1.0], vec![-1.0], vec![1.0], 0.0, maxmargin_core::EqualityConstraint::Free).expect("a problem");
    let gradient = exact_gradient(&dual, &gram, &[0.2], Par::Seq, &RunControl::unlimited()).expect("unlimited");
    let found = gap_screening(&dual, &gram, &[0.2], &gradient).expect("a ball");
    let gap: f64 = (0.08 + 0.2) - (0.2 - 0.08);
    assert!((found.radius - gap.sqrt()).abs() < 1e-9, "{found:?}");
    // f* ∈ 0.8 ± 2 r = 0.8 ± 0.8: not fixed; at 0.24 the gap is 0.0384 and r 0.19.. fixes it.
    assert_eq!(found.labels(), 0);
    let gradient = exact_gradient(&dual, &gram, &[0.24], Par::Seq, &RunControl::unlimited()).expect("unlimited");
    assert_eq!(gap_screening(&dual, &gram, &[0.24], &gradient).expect("a ball").signs, [1.0]);
}
