//! The bias that a gradient implies.

use maxmargin_core::{Dual, EqualityConstraint, bias_of};
use maxmargin_testkit::{analytic, generate, oracle};
use proptest::prelude::*;

fn dual(sign: &[f64], upper: &[f64]) -> Dual {
    let n = sign.len();
    Dual::new((0..n).collect(), sign.to_vec(), vec![-1.0; n], upper.to_vec(), 0.0, EqualityConstraint::Sum(0.0))
        .expect("a problem")
}

#[test]
fn free_variables_decide_by_their_mean() {
    let dual = dual(&[1.0, -1.0, 1.0], &[1.0; 3]);
    // s g: −0.25 and 0.75 are free; the bounded third has no effect.
    assert_eq!(bias_of(&dual, &[0.5, 0.5, 0.0], &[-0.25, -0.75, 9.0]), -0.25);
}

#[test]
fn bounded_variables_leave_an_interval() {
    let dual = dual(&[1.0, -1.0, 1.0, -1.0], &[1.0; 4]);
    // s g bounds −b: from above by a positive at 0 (3) and a negative at its upper bound (2); from
    // below by the others (−1, 1).
    assert_eq!(bias_of(&dual, &[0.0, 1.0, 1.0, 0.0], &[3.0, -2.0, -1.0, -1.0]), -1.5);
}

#[test]
fn one_side_alone_and_nothing_at_all() {
    let positive = dual(&[1.0, 1.0], &[1.0; 2]);
    assert_eq!(bias_of(&positive, &[0.0, 0.0], &[-1.0, -3.0]), 3.0);
    assert_eq!(bias_of(&positive, &[1.0, 1.0], &[-1.0, -3.0]), 1.0);
    let nobody = dual(&[1.0, -1.0], &[0.0; 2]);
    assert_eq!(bias_of(&nobody, &[0.0, 0.0], &[5.0, 7.0]), 0.0);
}

#[test]
fn weights_of_zero_have_no_say() {
    let dual = dual(&[1.0, -1.0, 1.0], &[1.0, 1.0, 0.0]);
    assert_eq!(bias_of(&dual, &[0.0, 0.0, 0.0], &[-1.0, -1.0, 100.0]), 0.0);
}

#[test]
fn the_bias_of_an_optimum_lies_in_its_interval() {
    for case in analytic::c_svc().into_iter().chain(analytic::general()) {
        let (p, optimum) = (&case.problem, oracle::solve(&case.problem.dual, &case.problem.gram));
        let bias = bias_of(&p.dual, &optimum.alpha, &p.gradient(&optimum.alpha));
        assert!((case.bias.0 - 1e-12..=case.bias.1 + 1e-12).contains(&bias), "{}: {bias} for {:?}", p.name, case.bias);
    }
    for p in (1..=10).flat_map(generate::small) {
        let optimum = oracle::solve(&p.dual, &p.gram);
        let bias = bias_of(&p.dual, &optimum.alpha, &p.gradient(&optimum.alpha));
        let room = 1e-9 * (1.0 + optimum.alpha.iter().sum::<f64>());
        assert!((optimum.bias.0 - room..=optimum.bias.1 + room).contains(&bias), "{}: {bias} for {:?}", p.name, optimum.bias);
    }
}

proptest! {
    /// Adding `c` to every `s g` moves the bias by `−c`; exchanging the classes negates it.
    #[test]
    fn the_bias_follows_the_gradient(
        all in prop::collection::vec((any::<bool>(), 0..3_u8, -5.0..5.0_f64), 2..20),
        c in -3.0..3.0_f64,
    ) {
        let sign: Vec<f64> = all.iter().map(|(s, _, _)| if *s { 1.0 } else { -1.0 }).collect();
        let alpha: Vec<f64> = all.iter().map(|(_, place, _)| [0.0, 0.5, 1.0][usize::from(*place)]).collect();
        let gradient: Vec<f64> = all.iter().map(|(_, _, g)| *g).collect();
        let this = dual(&sign, &vec![1.0; sign.len()]);
        let bias = bias_of(&this, &alpha, &gradient);
        let moved: Vec<f64> = gradient.iter().zip(&sign).map(|(g, s)| g + s * c).collect();
        prop_assert!((bias_of(&this, &alpha, &moved) - (bias - c)).abs() < 1e-12);
        let opposite: Vec<f64> = sign.iter().map(|s| -s).collect();
        let other = dual(&opposite, &vec![1.0; sign.len()]);
        prop_assert!((bias_of(&other, &alpha, &gradient) + bias).abs() < 1e-12);
    }
}
