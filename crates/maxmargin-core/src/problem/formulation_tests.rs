//! Duals of all formulations, computed by hand: boxes, signs, sums and refusals.

use super::*;
use crate::problem::machine::TrainingSet;
use crate::{Solution, Start, StartError, Status, Work, bias_of, figures, thresholds_of};

fn part<'a>(ids: &'a [usize], target: &'a [f64], weights: &'a [f64]) -> TrainingSet<'a> {
    TrainingSet { ids, target, weights }
}

#[test]
fn weights_are_factors_of_c() {
    let part = part(&[4, 7], &[1.0, -1.0], &[1.0, 3.0]);
    let problem = Formulation::c_svc(2.0).problem(&part).expect("a problem");
    assert_eq!(problem.dual().upper(), [2.0, 6.0]);
    let squared = Formulation::Svc { c: 2.0, loss: Loss::SquaredHinge, bias_term: BiasTerm::Feature(1.0) };
    let problem = squared.with_c(1.0).problem(&part).expect("a problem");
    assert_eq!((problem.dual().ridge_of(0), problem.dual().ridge_of(1)), (0.5, 0.5 / 3.0));
    assert!(problem.of_samples(|i| i == 0).is_ok(), "without a free bias one class is a problem");
}

#[test]
fn weights_are_factors_of_the_boxes_of_nu_and_part_of_its_share() {
    // Weights as in LIBSVM's extension: a sample of weight 2 counts twice.
    let problem = Formulation::NuSvc { nu: 0.5 }.problem(&part(&[0, 1, 2], &[1.0, 1.0, -1.0], &[1.0, 2.0, 1.0])).expect("one");
    assert_eq!((problem.dual().upper(), problem.dual().balance()), (&[1.0, 2.0, 1.0][..], EqualityConstraint::PerSign(1.0, 1.0)));
    let problem = Formulation::OneClass { nu: 0.25 }.problem(&part(&[0, 1], &[5.0, 7.0], &[1.0, 3.0])).expect("one");
    assert_eq!((problem.dual().upper(), problem.dual().balance()), (&[1.0, 3.0][..], EqualityConstraint::Sum(1.0)));
    assert_eq!(problem.dual().sign(), [1.0; 2]);
    let problem = Formulation::NuSvr { c: 2.0, nu: 0.5 }.problem(&part(&[0, 1], &[5.0, 7.0], &[1.0, 3.0])).expect("one");
    assert_eq!(
        (problem.dual().upper(), problem.dual().balance()),
        (&[2.0, 6.0, 2.0, 6.0][..], EqualityConstraint::PerSign(2.0, 2.0))
    );
    assert_eq!(problem.dual().linear_term(), [-5.0, -7.0, 5.0, 7.0]);
}

#[test]
fn a_fold_has_the_sums_of_its_own_samples() {
    let target = [1.0, -1.0, 1.0, -1.0];
    let problem = Formulation::NuSvc { nu: 0.5 }.problem(&part(&[0, 1, 2, 3], &target, &[1.0; 4])).expect("a problem");
    assert_eq!(problem.dual().balance(), EqualityConstraint::PerSign(1.0, 1.0));
    assert_eq!(problem.of_samples(|i| i != 0).expect("a fold").balance(), EqualityConstraint::PerSign(0.75, 0.75));
    assert_eq!(problem.of_samples(|i| i % 2 == 0), Err(DualError::OneClass));
    let one = Formulation::OneClass { nu: 0.5 }.problem(&part(&[0, 1, 2, 3], &target, &[1.0; 4])).expect("a problem");
    assert_eq!(one.of_samples(|i| i != 0).expect("a fold").balance(), EqualityConstraint::Sum(1.5));
    assert_eq!(one.of_samples(|_| false), Err(DualError::Empty));
}

#[test]
fn an_infeasible_nu_names_the_largest() {
    let target = [1.0, -1.0, -1.0, -1.0];
    let of = |nu| Formulation::NuSvc { nu }.problem(&part(&[0, 1, 2, 3], &target, &[1.0; 4]));
    assert!(of(0.5).is_ok());
    let error = of(0.6).expect_err("more than the one positive sample can carry");
    assert_eq!(error, DualError::Nu { nu: 0.6, largest: 0.5 });
    assert!(error.to_string().contains("infeasible") && error.to_string().contains("at most 0.5,"), "{error}");
    for formulation in
        [Formulation::OneClass { nu: 0.0 }, Formulation::NuSvr { c: 1.0, nu: 1.5 }, Formulation::NuSvc { nu: f64::NAN }]
    {
        let found = formulation.problem(&part(&[0, 1], &[1.0, -1.0], &[1.0; 2]));
        assert!(matches!(found, Err(DualError::Nu { largest: 1.0, .. })), "{formulation:?}: {found:?}");
    }
    let negative = Formulation::epsilon_svr(1.0, -0.1).problem(&part(&[0], &[1.0], &[1.0]));
    assert_eq!(negative, Err(DualError::Epsilon(-0.1)));
    assert_eq!(Formulation::epsilon_svr(0.0, 0.1).check(), Err(DualError::Upper { variable: 0, value: 0.0 }));
}

#[test]
fn cold_starts_are_feasible() {
    let part = part(&[0, 1, 2], &[1.0, -1.0, 1.0], &[1.0, 0.5, 1.0]);
    for formulation in [
        Formulation::c_svc(1.0),
        Formulation::epsilon_svr(1.0, 0.1),
        Formulation::NuSvc { nu: 0.3 },
        Formulation::NuSvr { c: 2.0, nu: 1.0 },
        Formulation::OneClass { nu: 0.7 },
        Formulation::OneClass { nu: 1.0 },
    ] {
        let problem = formulation.problem(&part).expect("a problem");
        let start = Start::cold(problem.dual()).expect("a start");
        assert!(Start::checked(problem.dual(), start.alpha().to_vec()).is_ok(), "{formulation:?}");
        let moved = Start::project(problem.dual(), vec![0.4; problem.dual().len()]).expect("a start");
        assert!(Start::checked(problem.dual(), moved.alpha().to_vec()).is_ok(), "{formulation:?}");
    }
    let full = Dual::new(vec![0], vec![1.0], vec![0.0], vec![1.0], 0.0, EqualityConstraint::Sum(2.0)).expect("a problem");
    assert_eq!(Start::cold(&full), Err(StartError::Infeasible { wanted: 2.0 }));
}

/// Two points ±1 on a line, linear kernel, one of each class: w = 1, b = 0, both margins at 1.
/// ν-SVC at ν has α = ν/2·2/2 each.
#[test]
fn nu_svc_of_two_points_by_hand() {
    let nu = 0.5;
    let problem = Formulation::NuSvc { nu }.problem(&part(&[0, 1], &[1.0, -1.0], &[1.0; 2])).expect("a problem");
    let alpha = vec![0.5; 2];
    // Q is [[1, 1], [1, 1]]: the gradient is 1 for both, and so is ρ.
    let gradient = vec![1.0; 2];
    assert_eq!(thresholds_of(problem.dual(), &alpha, &gradient), Some((1.0, 1.0)));
    assert_eq!(bias_of(problem.dual(), &alpha, &gradient), 0.0);
    let certificate = figures(problem.dual(), &alpha, 0.0, &gradient);
    // ½w² − ρ Σα with w = 1: −½, and the dual −½αᵀQα.
    assert_eq!((certificate.primal, certificate.dual, certificate.kkt, certificate.infeasible), (-0.5, -0.5, 0.0, 0.0));
    let solution =
        Solution { alpha, bias: 0.0, gradient: vec![0.25; 2], status: Status::Converged, work: Work::default(), weights: None };
    // If ρ were ¼, the coefficients would be four times α.
    let decision = problem.decision(problem.dual(), &solution, None);
    assert_eq!(decision.terms, [(0, 2.0), (1, -2.0)]);
    assert_eq!(problem.alpha_of(decision.terms.iter().copied()), [0.5, 0.5]);
}

/// One sample at 1 with the value 3, linear kernel with a free bias: every line through the width
/// is optimal, w = 0.
#[test]
fn one_sample_needs_no_slope() {
    let problem = Formulation::epsilon_svr(1.0, 0.5).problem(&part(&[0], &[3.0], &[1.0])).expect("a problem");
    let gradient = problem.dual().linear_term().to_vec();
    assert_eq!(gradient, [-2.5, 3.5]);
    let bias = bias_of(problem.dual(), &[0.0; 2], &gradient);
    assert_eq!(bias, 3.0);
    let certificate = figures(problem.dual(), &[0.0; 2], bias, &gradient);
    assert_eq!((certificate.primal, certificate.dual, certificate.kkt), (0.0, 0.0, 0.0));
    // A bias outside the width pays for the excess.
    assert_eq!(figures(problem.dual(), &[0.0; 2], 4.0, &gradient).primal, 0.5);
}

/// Two samples at 0 and 1 with the values 0 and 2, linear kernel, ε = 0.25, C = 10. The flattest
/// line within the widths has the slope 1.5.
#[test]
fn regression_of_two_samples_by_hand() {
    let problem = Formulation::epsilon_svr(10.0, 0.25).problem(&part(&[0, 1], &[0.0, 2.0], &[1.0; 2])).expect("a problem");
    // w = α₁⁺ = 1.5, balanced by α₀⁻; f = 1.5 x + 0.25.
    let alpha = [0.0, 1.5, 1.5, 0.0];
    let sums = [0.0, 1.5];
    let dual = problem.dual();
    let gradient: Vec<f64> = (0..4).map(|k| dual.sign()[k] * sums[dual.ids()[k]] + dual.linear_term()[k]).collect();
    let bias = bias_of(dual, &alpha, &gradient);
    assert_eq!(bias, 0.25);
    let certificate = figures(dual, &alpha, bias, &gradient);
    assert_eq!((certificate.primal, certificate.dual, certificate.kkt), (1.125, 1.125, 0.0));
}

/// Two points that both classes have: the reduced convex hulls meet at any ν, and w is 0.
#[test]
fn classes_on_the_same_points_leave_no_margin() {
    let formulation = Formulation::NuSvc { nu: 0.5 };
    let problem = formulation.problem(&part(&[0, 1, 2, 3], &[1.0, 1.0, -1.0, -1.0], &[1.0; 4])).expect("a problem");
    // α is the same for each copy, so that w and the gradient are 0.
    let certificate = figures(problem.dual(), &[0.5; 4], 0.0, &[0.0; 4]);
    assert_eq!((certificate.primal, certificate.dual), (0.0, 0.0));
    assert!(formulation.lacks_margin(certificate.primal));
    assert!(!formulation.lacks_margin(-1e-9) && !formulation.lacks_margin(f64::INFINITY));
    assert!(!Formulation::c_svc(1.0).lacks_margin(0.0));
}
