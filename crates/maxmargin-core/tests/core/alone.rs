//! The certificate without an equality constraint, where every variable moves alone.

use maxmargin_core::{BiasTerm, Dual, EqualityConstraint, figures};

fn dual(sign: &[f64], upper: &[f64]) -> Dual {
    let n = sign.len();
    Dual::new((0..n).collect(), sign.to_vec(), vec![-1.0; n], upper.to_vec(), 0.0, EqualityConstraint::Free).expect("a problem")
}

#[test]
fn the_violation_is_the_range_of_projected_gradients() {
    let dual = dual(&[1.0, -1.0, 1.0, -1.0], &[2.0, 2.0, 2.0, 0.0]);
    let kkt_of = |alpha: [f64; 4], gradient: [f64; 4]| figures(&dual, &alpha, 0.0, &gradient).kkt;
    // At 0 only a negative gradient is a violation, at the bound only a positive one, between them
    // both; with weight 0 neither.
    assert_eq!(kkt_of([0.0, 2.0, 1.0, 0.0], [5.0, -7.0, 0.0, 9.0]), 0.0);
    assert_eq!(kkt_of([0.0, 2.0, 1.0, 0.0], [-0.25, 0.5, 0.0, -9.0]), 0.75);
    assert_eq!(kkt_of([1.0, 1.0, 1.0, 0.0], [-0.25, -0.125, -0.5, 3.0]), 0.5);
    // Signs do not matter: no constraint couples the variables.
    assert_eq!(kkt_of([1.0, 1.0, 0.0, 0.0], [0.25, 0.25, 1.0, 0.0]), 0.25);
}

#[test]
fn every_variable_may_have_its_own_ridge() {
    // One point x = 1 twice, squared hinge with C = ½ and C = ¼: (w − 1)(½ + ¼) 2 + w = 0 has w =
    // 3/5.
    let dual = Dual::squared_hinge(vec![0, 1], vec![1.0, 1.0], &[0.5, 0.25], BiasTerm::None).expect("a problem");
    let xi = 0.4;
    // α = 2 C ξ
    let alpha = [xi, 0.5 * xi];
    let w = alpha[0] + alpha[1];
    let gradient = [w + alpha[0] - 1.0, w + 2.0 * alpha[1] - 1.0];
    let certificate = figures(&dual, &alpha, 0.0, &gradient);
    assert!((w - 0.6).abs() < 1e-15 && certificate.kkt < 1e-15, "{certificate:?}");
    let primal = 0.5 * w * w + 0.75 * xi * xi;
    assert!((certificate.primal - primal).abs() < 1e-15 && (certificate.dual - primal).abs() < 1e-15, "{certificate:?} {primal}");
}
