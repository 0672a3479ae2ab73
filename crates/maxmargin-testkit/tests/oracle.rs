//! The oracle's optimum is a KKT point, and no feasible point is lower.

use maxmargin_core::{Dual, EqualityConstraint, Start};
use maxmargin_testkit::{Problem, generate, oracle};
use proptest::prelude::*;
use rand::RngExt;

fn problems(seed: u64) -> Vec<Problem> {
    let mut problems = generate::small(seed);
    problems.extend(generate::small_general(seed));
    problems.extend(generate::small_per_sign(seed));
    problems
}

#[test]
fn convex_optima_are_kkt_points() {
    for problem in (1..=20).flat_map(problems) {
        let optimum = oracle::solve(&problem.dual, &problem.gram);
        let scale = 1.0 + optimum.alpha.iter().fold(0.0, |m: f64, a| m.max(*a));
        assert!(optimum.kkt < 1e-12 * scale, "{}: {optimum:?}", problem.name);
        let one_sum = !matches!(problem.dual.balance(), EqualityConstraint::PerSign(..));
        assert!(!one_sum || optimum.bias.0 <= optimum.bias.1 + 1e-12 * scale, "{}: {optimum:?}", problem.name);
        let direct = problem.objective(&optimum.alpha);
        assert!((direct - optimum.objective).abs() <= problem.rounding(&optimum.alpha), "{}: {direct}", problem.name);
    }
}

#[test]
fn other_balances_are_solved_too() {
    let problem = &generate::small(1)[0];
    let d = &problem.dual;
    for balance in [EqualityConstraint::Free, EqualityConstraint::Simplex, EqualityConstraint::PerSign(0.5, 0.25)] {
        let dual = Dual::new(d.ids().to_vec(), d.sign().to_vec(), d.linear_term().to_vec(), d.upper().to_vec(), 0.0, balance);
        let dual = dual.expect("a problem");
        let optimum = oracle::solve(&dual, &problem.gram);
        Start::checked(&dual, optimum.alpha.clone()).expect("the optimum is feasible");
        assert!(optimum.kkt < 1e-12, "{balance:?}: {optimum:?}");
        let variant = Problem::new("other balance", problem.gram.clone(), dual);
        let gradient = variant.gradient(&optimum.alpha);
        // No pair of variables (under Simplex: all; under PerSign: of one sign) can exchange mass
        // with profit; under Free no single one can move with profit.
        for k in 0..7 {
            let may_rise = optimum.alpha[k] < variant.dual.upper()[k];
            if balance == EqualityConstraint::Free {
                assert!(!may_rise || gradient[k] > -1e-12);
                assert!(optimum.alpha[k] == 0.0 || gradient[k] < 1e-12);
                continue;
            }
            for l in (0..7).filter(|&l| balance == EqualityConstraint::Simplex || d.sign()[l] == d.sign()[k]) {
                let profit = gradient[l] - gradient[k];
                assert!(!may_rise || optimum.alpha[l] == 0.0 || profit < 1e-12, "{balance:?}: {l} to {k} gains {profit}");
            }
        }
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(48))]
    #[test]
    fn no_feasible_point_is_lower(seed in 100_u64..10_000, spread in 0.01_f64..2.0) {
        let mut problems = problems(seed);
        problems.push(generate::indefinite(seed, 7));
        let rng = &mut generate::rng(seed);
        for problem in problems {
            let optimum = oracle::solve(&problem.dual, &problem.gram);
            for _ in 0..20 {
                let near = optimum.alpha.iter().map(|a| a + spread * (rng.random::<f64>() - 0.5)).collect();
                let point = Start::project(&problem.dual, near).expect("feasible");
                let slack = problem.rounding(point.alpha()) + problem.rounding(&optimum.alpha);
                let objective = problem.objective(point.alpha());
                prop_assert!(objective >= optimum.objective - slack, "{}: {} < {:?}", problem.name, objective, optimum);
            }
        }
    }
}
