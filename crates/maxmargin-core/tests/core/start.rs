//! Starts are feasible by construction, and projection is a projection.

use maxmargin_core::start::shift_to_sum;
use maxmargin_core::{BiasTerm, Dual, DualError, EqualityConstraint, Loss, SideCosts, Start, StartError, warm};
use proptest::prelude::*;

fn dual(sign: Vec<f64>, upper: Vec<f64>, balance: EqualityConstraint) -> Dual {
    let n = sign.len();
    Dual::new((0..n).collect(), sign, vec![-1.0; n], upper, 0.0, balance).expect("a problem")
}

fn sum(sign: &[f64], alpha: &[f64]) -> f64 {
    sign.iter().zip(alpha).map(|(s, a)| s * a).sum()
}

/// Generates signs, upper bounds (some 0) and values inside and outside the box.
fn parts() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
    let upper = prop_oneof![Just(0.0), 1e-3..10.0_f64, Just(1e4)];
    prop::collection::vec((any::<bool>(), upper, -2.0..12.0_f64), 1..40).prop_map(|all| {
        let sign = all.iter().map(|(s, _, _)| if *s { 1.0 } else { -1.0 }).collect();
        (sign, all.iter().map(|(_, u, _)| *u).collect(), all.iter().map(|(_, _, a)| *a).collect())
    })
}

/// Returns the least and the greatest sum that the box allows.
fn reach(sign: &[f64], upper: &[f64]) -> (f64, f64) {
    let of = |want: f64| sign.iter().zip(upper).filter(|(s, _)| **s == want).map(|(_, u)| *u).sum::<f64>();
    (-of(-1.0), of(1.0))
}

proptest! {
    #[test]
    fn projection_is_feasible_and_shifts_uniformly((sign, upper, wish) in parts(), at in 0.0..=1.0_f64) {
        let (low, high) = reach(&sign, &upper);
        let wanted = low + at * (high - low);
        let dual = dual(sign.clone(), upper.clone(), EqualityConstraint::Sum(wanted));
        let start = Start::project(&dual, wish.clone()).expect("the sum is within reach");
        let alpha = start.alpha();
        prop_assert!(alpha.iter().zip(&upper).all(|(a, u)| (0.0..=*u).contains(a)));
        let scale = 1.0 + upper.iter().sum::<f64>();
        prop_assert!((sum(&sign, alpha) - wanted).abs() <= 1e-12 * scale, "{} for {}", sum(&sign, alpha), wanted);
        prop_assert!(start.gradient().is_none());
        // The projection onto {sum = wanted} ∩ box: one shift t for all, cut off at the bounds.
        let clipped: Vec<f64> = wish.iter().zip(&upper).map(|(a, u)| a.clamp(0.0, *u)).collect();
        let room = 1e-11 * scale;
        let shifts: Vec<f64> = (0..alpha.len()).map(|k| sign[k] * (alpha[k] - clipped[k])).collect();
        let (least, most) = shifts.iter().fold((0.0_f64, 0.0_f64), |(l, m), t| (l.min(*t), m.max(*t)));
        prop_assert!(least.abs().min(most) <= room, "all in one direction: {} and {}", least, most);
        let t = if most > -least { most } else { least };
        for k in 0..alpha.len() {
            let target = (clipped[k] + sign[k] * t).clamp(0.0, upper[k]);
            prop_assert!((alpha[k] - target).abs() <= room, "variable {}: {} for {}", k, alpha[k], target);
        }
    }

    #[test]
    fn projecting_a_feasible_point_changes_nothing((sign, upper, wish) in parts()) {
        let inside: Vec<f64> = wish.iter().zip(&upper).map(|(a, u)| a.clamp(0.0, *u)).collect();
        let wanted = sum(&sign, &inside);
        let dual = dual(sign, upper, EqualityConstraint::Sum(wanted));
        let start = Start::project(&dual, inside.clone()).expect("feasible");
        prop_assert_eq!(start.alpha(), &inside[..]);
        prop_assert_eq!(Start::checked(&dual, inside.clone()).expect("feasible").into_parts(), (inside, None));
    }

    #[test]
    fn a_sum_out_of_reach_is_refused((sign, upper, wish) in parts(), beyond in 1e-6..10.0_f64) {
        let (low, high) = reach(&sign, &upper);
        for wanted in [low - beyond * (1.0 - low), high + beyond * (1.0 + high)] {
            let dual = dual(sign.clone(), upper.clone(), EqualityConstraint::Sum(wanted));
            prop_assert_eq!(Start::project(&dual, wish.clone()), Err(StartError::Infeasible { wanted }));
        }
    }

    #[test]
    fn shifting_is_monotone_and_exact_at_the_ends((sign, upper, wish) in parts()) {
        let (low, high) = reach(&sign, &upper);
        let begin: Vec<f64> = wish.iter().zip(&upper).map(|(a, u)| a.clamp(0.0, *u)).collect();
        for (wanted, positive) in [(low, 0.0), (high, 1.0)] {
            let mut alpha = begin.clone();
            shift_to_sum(&sign, &upper, &mut alpha, wanted).expect("within reach");
            for k in 0..alpha.len() {
                let end = if (sign[k] > 0.0) == (positive > 0.0) { upper[k] } else { 0.0 };
                prop_assert!((alpha[k] - end).abs() <= 1e-12 * (1.0 + high - low), "{} for {}", alpha[k], end);
            }
        }
    }

    #[test]
    fn a_free_balance_only_clips((sign, upper, wish) in parts()) {
        let clipped: Vec<f64> = wish.iter().zip(&upper).map(|(a, u)| a.clamp(0.0, *u)).collect();
        let start = Start::project(&dual(sign, upper, EqualityConstraint::Free), wish).expect("feasible");
        prop_assert_eq!(start.alpha(), &clipped[..]);
    }
}

proptest! {
    /// Rests of rounding are the whole sum where every variable is tiny: a class alone, of which
    /// all variables have to be 0, was left with 1e-18, and no certificate calls that feasible.
    #[test]
    fn tiny_variables_are_balanced_too(
        (sign, alpha) in prop::collection::vec((any::<bool>(), 0.0..1.0_f64), 1..40).prop_map(|all| {
            let sign: Vec<f64> = all.iter().map(|(s, _)| if *s { 1.0 } else { -1.0 }).collect();
            (sign, all.iter().map(|(_, a)| *a).collect::<Vec<f64>>())
        }),
        size in -30..0_i32,
        one_class in any::<bool>(),
    ) {
        let sign = if one_class { vec![1.0; sign.len()] } else { sign };
        let mut alpha: Vec<f64> = alpha.iter().map(|a| a * 10.0_f64.powi(size)).collect();
        let problem = dual(sign.clone(), vec![1.0; sign.len()], EqualityConstraint::Sum(0.0));
        warm::balance(&problem, &mut alpha);
        if sign.iter().all(|s| *s == sign[0]) {
            prop_assert!(alpha.iter().all(|a| *a == 0.0), "{alpha:?}");
        }
        prop_assert!(sum(&sign, &alpha).abs() <= 1e-9 * alpha.iter().sum::<f64>(), "{alpha:?}");
    }
}

#[test]
fn zero_carries_its_gradient_and_needs_a_balance_of_zero() {
    let zero = Start::zero(&dual(vec![1.0, -1.0], vec![1.0; 2], EqualityConstraint::Sum(0.0))).expect("feasible");
    assert_eq!((zero.alpha(), zero.gradient()), (&[0.0, 0.0][..], Some(&[-1.0, -1.0][..])));
    let refused = Start::zero(&dual(vec![1.0, 1.0], vec![1.0; 2], EqualityConstraint::Sum(1.0)));
    assert_eq!(refused, Err(StartError::EqualityConstraint { found: 0.0, expected: 1.0 }));
    let refused = Start::zero(&dual(vec![1.0, 1.0], vec![1.0; 2], EqualityConstraint::Simplex));
    assert_eq!(refused, Err(StartError::EqualityConstraint { found: 0.0, expected: 1.0 }));
}

#[test]
fn infeasible_points_are_refused_with_their_place() {
    let dual = dual(vec![1.0, -1.0, 1.0], vec![1.0, 2.0, 0.0], EqualityConstraint::Sum(0.0));
    assert_eq!(Start::checked(&dual, vec![0.0; 2]), Err(StartError::Length { found: 2, expected: 3 }));
    let outside = Err(StartError::Box { variable: 1, value: 2.5, upper: 2.0 });
    assert_eq!(Start::checked(&dual, vec![0.5, 2.5, 0.0]), outside);
    let negative = Err(StartError::Box { variable: 0, value: -1e-300, upper: 1.0 });
    assert_eq!(Start::checked(&dual, vec![-1e-300, 0.0, 0.0]), negative);
    let unbalanced = Err(StartError::EqualityConstraint { found: -0.5, expected: 0.0 });
    assert_eq!(Start::checked(&dual, vec![0.5, 1.0, 0.0]), unbalanced);
    assert!(matches!(Start::checked(&dual, vec![f64::NAN, 0.0, 0.0]), Err(StartError::Box { variable: 0, .. })));
}

#[test]
fn per_sign_balances_are_checked_apart() {
    let dual = dual(vec![1.0, -1.0, 1.0], vec![1.0; 3], EqualityConstraint::PerSign(0.75, 0.25));
    Start::checked(&dual, vec![0.5, 0.25, 0.25]).expect("feasible");
    let refused = Start::checked(&dual, vec![0.5, 0.5, 0.25]);
    assert_eq!(refused, Err(StartError::EqualityConstraint { found: 0.5, expected: 0.25 }));
}

#[test]
fn projection_replaces_what_is_not_a_number() {
    let dual = dual(vec![1.0, -1.0], vec![1.0; 2], EqualityConstraint::Sum(0.0));
    let start = Start::project(&dual, vec![f64::NAN, f64::INFINITY]).expect("feasible");
    assert_eq!(start.alpha(), [0.5, 0.5]);
}

#[test]
fn an_infinite_alpha_is_never_feasible() {
    for balance in [EqualityConstraint::Free, EqualityConstraint::Sum(0.0)] {
        let dual = dual(vec![1.0, -1.0], vec![f64::INFINITY; 2], balance);
        let infinite = vec![f64::INFINITY, 1.0];
        assert!(matches!(Start::checked(&dual, infinite.clone()), Err(StartError::Box { variable: 0, .. })), "{balance:?}");
        assert!(Start::project(&dual, infinite).is_err(), "{balance:?}");
    }
}

#[test]
fn a_balance_must_be_finite() {
    for balance in
        [EqualityConstraint::Sum(f64::NAN), EqualityConstraint::Sum(f64::INFINITY), EqualityConstraint::PerSign(f64::NAN, 0.0)]
    {
        let made = Dual::new(vec![0, 1], vec![1.0, -1.0], vec![-1.0; 2], vec![1.0; 2], 0.0, balance);
        assert!(matches!(made, Err(DualError::NotFinite { .. })), "{balance:?}: {made:?}");
    }
}

/// A solution that no bound stops is one for all larger bounds; one that a bound stops is none.
#[test]
fn solutions_stay_where_no_bound_is_reached() {
    use maxmargin_core::warm::is_same_solution;
    let sign = vec![1.0, -1.0, 1.0, -1.0];
    let with = |upper: [f64; 4]| dual(sign.clone(), upper.to_vec(), EqualityConstraint::Sum(0.0));
    let two = with([2.0; 4]);
    for (alpha, upper, same) in [
        ([1.0, 1.0, 0.0, 0.0], [8.0; 4], true),
        ([1.0, 1.0, 0.0, 0.0], [1.5; 4], true),
        ([1.0, 1.0, 0.0, 0.0], [1.0; 4], false),
        ([1.0, 1.0, 0.0, 0.0], [0.5; 4], false),
        ([2.0, 2.0, 0.0, 0.0], [8.0; 4], false),
        ([2.0, 2.0, 0.0, 0.0], [2.0; 4], true),
        ([2.0, 2.0, 0.0, 0.0], [2.0, 2.0, 8.0, 8.0], true),
    ] {
        assert_eq!(is_same_solution(&two, &alpha, &with(upper)), same, "{alpha:?} below {upper:?}");
    }
    let other = dual(vec![1.0, -1.0, -1.0, 1.0], vec![8.0; 4], EqualityConstraint::Sum(0.0));
    assert!(!is_same_solution(&two, &[1.0, 1.0, 0.0, 0.0], &other));
    assert!(!is_same_solution(&two, &[1.0, 1.0, 0.0, 0.0], &two.with_ridges(vec![0.1; 4]).expect("ridges")));
}

/// The dual of a quantile of samples with these targets.
fn quantile(targets: &[f64], cost: f64, tau: f64) -> Dual {
    let times = |factor: f64| vec![cost * factor; targets.len()];
    let costs = SideCosts { above: &times(tau), below: &times(1.0 - tau) };
    Dual::svr(Loss::Hinge, BiasTerm::Free, (0..targets.len()).collect(), targets, costs, 0.0).expect("a problem")
}

/// The coefficient of each sample.
fn coefficients(alpha: &[f64]) -> Vec<f64> {
    let n = alpha.len() / 2;
    (0..n).map(|k| alpha[k] - alpha[n + k]).collect()
}

/// Four samples, of which the lowest is below the quartile −2 and two are below the median 0: the
/// third changes sides.
#[test]
fn samples_between_two_quantiles_change_sides() {
    let targets = [3.0, 1.0, -1.0, -3.0];
    let (quartile, median) = (quantile(&targets, 4.0, 0.25), quantile(&targets, 4.0, 0.5));
    let below = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0];
    let up = warm::along_level(&quartile, &below, &[-2.0; 4], &median);
    assert_eq!(coefficients(&up), [2.0, 2.0, -2.0, -2.0]);
    let down = warm::along_level(&median, &up, &[0.0; 4], &quartile);
    assert_eq!(coefficients(&down), [1.0, 1.0, 1.0, -3.0]);
    // Expectiles have no bounds, so that nothing moves with the level.
    let square = |tau: f64| {
        let costs = SideCosts { above: &[4.0 * tau; 4], below: &[4.0 * (1.0 - tau); 4] };
        Dual::svr(Loss::SquaredHinge, BiasTerm::Free, (0..4).collect(), &targets, costs, 0.0).expect("a problem")
    };
    let alpha = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(warm::along_level(&square(0.25), &alpha, &[0.0; 4], &square(0.5)), alpha);
}

proptest! {
    /// Starts along levels are feasible, whatever α and values.
    #[test]
    fn starts_along_levels_are_feasible(
        samples in proptest::collection::vec((-5.0_f64..5.0, 0.0_f64..1.0, -5.0_f64..5.0), 1..30),
        levels in (0.01_f64..0.99, 0.01_f64..0.99),
        cost in 0.01_f64..100.0,
    ) {
        let targets: Vec<f64> = samples.iter().map(|sample| sample.0).collect();
        let values: Vec<f64> = samples.iter().map(|sample| sample.2).collect();
        let (from, to) = (quantile(&targets, cost, levels.0), quantile(&targets, cost, levels.1));
        let shares = samples.iter().map(|sample| sample.1);
        let drawn = shares.clone().chain(shares.map(|share| 1.0 - share)).zip(from.upper()).map(|(share, upper)| share * upper);
        let start = Start::project(&from, drawn.collect()).expect("feasible");
        let moved = warm::along_level(&from, start.alpha(), &values, &to);
        prop_assert!(Start::checked(&to, moved.clone()).is_ok(), "{moved:?}");
    }
}

/// The constraint is as exact for small boxes as for large ones.
#[test]
fn a_start_that_is_off_by_all_of_it_is_refused() {
    for c in [1e-10, 1.0, 1e10] {
        let dual = Dual::c_svc(vec![0, 1], vec![-1.0, 1.0], vec![c; 2]).expect("two classes");
        assert!(matches!(Start::checked(&dual, vec![c, 0.0]), Err(StartError::EqualityConstraint { .. })), "{c}");
        assert!(Start::checked(&dual, vec![c, c * (1.0 - 1e-12)]).is_ok(), "{c}");
    }
}
