//! Problems on the simplex, and with a sum per sign: certificate, bias and starts.

use maxmargin_core::{Dual, EqualityConstraint, Solution, Start, Status, Work, bias_of, certify};
use maxmargin_data::Par;
use maxmargin_testkit::{Problem, generate, oracle};
use proptest::prelude::*;
use rand::RngExt;

fn point(alpha: Vec<f64>) -> Solution {
    let gradient = vec![f64::NAN; alpha.len()]; // certificates must not believe a solver's gradient
    Solution { alpha, bias: 0.0, gradient, status: Status::Stalled, work: Work::default(), weights: None }
}

/// Returns the problem with other bounds, ridge and linear term.
fn with(problem: &Problem, upper: f64, ridge: f64, linear_term: Vec<f64>) -> Problem {
    let d = &problem.dual;
    let n = d.len();
    let dual = Dual::new(d.ids().to_vec(), d.sign().to_vec(), linear_term, vec![upper; n], ridge, EqualityConstraint::Simplex);
    Problem::new(format!("{}, bounds {upper}, ridge {ridge}", problem.name), problem.gram.clone(), dual.expect("a problem"))
}

/// Returns the problem as it is, with bounds, without ridge, and with a linear term.
fn variants(seed: u64) -> Vec<Problem> {
    let rng = &mut generate::rng(seed);
    let mut problems = vec![];
    for problem in generate::small_simplex(seed) {
        let n = problem.dual.len();
        let linear_term: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        problems.push(with(&problem, 0.3, problem.dual.ridge(), vec![0.0; n]));
        problems.push(with(&problem, f64::INFINITY, 0.0, vec![0.0; n]));
        problems.push(with(&problem, 0.4, 0.0, linear_term.clone()));
        problems.push(with(&problem, 0.4, 0.5, linear_term));
        problems.push(problem);
    }
    problems
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]
    /// The gap is not negative and at most the Frank-Wolfe gap over the box; the violation is that
    /// of the definition.
    #[test]
    fn weak_duality(seed in 0_u64..1000) {
        let rng = &mut generate::rng(seed);
        for problem in variants(seed) {
            let d = &problem.dual;
            let wish = (0..d.len()).map(|_| rng.random_range(-0.5..1.0)).collect();
            let alpha = Start::project(d, wish).expect("feasible").alpha().to_vec();
            prop_assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{}: {:?}", problem.name, alpha);
            let certificate = certify(d, &problem.gram, &point(alpha.clone()), Par::Seq);
            let (rounding, gradient) = (problem.rounding(&alpha), problem.gradient(&alpha));
            prop_assert!(certificate.gap() >= -rounding, "{}: {:?}", problem.name, certificate);
            prop_assert!((certificate.dual + problem.objective(&alpha)).abs() <= rounding);
            prop_assert!(certificate.infeasible <= 1e-12);
            // The least gᵀv over the polytope: the cheapest variables are filled first.
            let mut order: Vec<usize> = (0..d.len()).collect();
            order.sort_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
            let (mut left, mut least) = (1.0, 0.0);
            for k in order {
                let take = d.upper()[k].min(left);
                least += take * gradient[k];
                left -= take;
            }
            let linear = alpha.iter().zip(&gradient).map(|(a, g)| a * g).sum::<f64>() - least;
            prop_assert!(certificate.gap() <= linear + rounding, "{}: {:?} above {}", problem.name, certificate, linear);
            let mut worst: f64 = 0.0;
            for i in (0..d.len()).filter(|&i| alpha[i] < d.upper()[i]) {
                for j in (0..d.len()).filter(|&j| alpha[j] > 0.0) {
                    worst = worst.max(gradient[j] - gradient[i]);
                }
            }
            prop_assert!((certificate.kkt - worst).abs() <= rounding, "{}: {:?} for {}", problem.name, certificate, worst);
        }
    }
}

#[test]
fn optima_have_no_gap_and_perturbed_ones_do() {
    for problem in (1..=4).flat_map(variants) {
        let optimum = oracle::solve(&problem.dual, &problem.gram);
        let certificate = certify(&problem.dual, &problem.gram, &point(optimum.alpha.clone()), Par::Seq);
        assert!(certificate.gap() <= 1e-10 && certificate.kkt <= 1e-9, "{}: {certificate:?}", problem.name);
        let mut alpha = optimum.alpha.clone();
        let from = (0..alpha.len()).max_by(|&i, &j| alpha[i].total_cmp(&alpha[j])).expect("variables");
        let to = (0..alpha.len()).find(|&k| k != from && alpha[k] + 0.05 <= problem.dual.upper()[k]).expect("room");
        alpha[from] -= 0.05;
        alpha[to] += 0.05;
        let objective = problem.objective(&alpha);
        let certificate = certify(&problem.dual, &problem.gram, &point(alpha.clone()), Par::Seq);
        // The gap must cover the distance of the point's objective from the optimum.
        assert!(certificate.gap() >= objective - optimum.objective - 1e-10, "{}: {certificate:?}", problem.name);
        alpha[to] += 0.01;
        let certificate = certify(&problem.dual, &problem.gram, &point(alpha), Par::Seq);
        // Relative to the sum of all α.
        assert!(certificate.infeasible >= 0.01 / 1.01 - 1e-12, "{}: {certificate:?}", problem.name);
    }
}

/// The bias is no variable: it is inside the kernel, or there is none. It moves decisions, never
/// the certificate.
#[test]
fn a_bias_belongs_to_other_problems() {
    let problem = &generate::small_simplex(2)[0];
    let alpha = vec![1.0 / 7.0; 7];
    assert_eq!(bias_of(&problem.dual, &alpha, &problem.gradient(&alpha)), 0.0);
    let plain = certify(&problem.dual, &problem.gram, &point(alpha.clone()), Par::Seq);
    let moved = Solution { bias: 0.7, ..point(alpha.clone()) };
    assert_eq!(certify(&problem.dual, &problem.gram, &moved, Par::Seq), plain);
    let lost = Solution { bias: f64::NAN, ..point(alpha) };
    assert_eq!(certify(&problem.dual, &problem.gram, &lost, Par::Seq).infeasible, f64::INFINITY);
}

#[test]
fn starts() {
    let problem = &generate::small_simplex(1)[0];
    assert!(Start::zero(&problem.dual).is_err());
    let even = Start::project(&problem.dual, vec![0.0; 7]).expect("feasible");
    assert!(even.alpha().iter().all(|a| (a - 1.0 / 7.0).abs() < 1e-15));
    let tight = with(problem, 0.1, 1.0, vec![0.0; 7]);
    assert!(Start::project(&tight.dual, vec![0.0; 7]).is_err(), "seven times 0.1 is less than 1");
}

/// Returns the problem with the sums of a random point of the box: feasible by construction, and
/// not at the ends of the possible range.
fn per_sign(problem: &Problem, upper: f64, ridges: Option<f64>, rng: &mut impl RngExt) -> Problem {
    let d = &problem.dual;
    let n = d.len();
    let reach = |sign: f64| d.sign().iter().filter(|s| **s == sign).count() as f64 * upper.min(1.0);
    let (plus, minus) = (rng.random_range(0.1..0.9) * reach(1.0), rng.random_range(0.1..0.9) * reach(-1.0));
    let linear_term = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let balance = EqualityConstraint::PerSign(plus, minus);
    let dual = Dual::new(d.ids().to_vec(), d.sign().to_vec(), linear_term, vec![upper; n], ridges.unwrap_or(0.0), balance);
    let name = format!("{}, sums {plus} and {minus}, bounds {upper}, ridge {ridges:?}", problem.name);
    Problem::new(name, problem.gram.clone(), dual.expect("a problem"))
}

fn of_each_sign(seed: u64) -> Vec<Problem> {
    let rng = &mut generate::rng(seed);
    let mut problems = vec![];
    for problem in generate::small(seed) {
        for (upper, ridge) in [(1.0, None), (f64::INFINITY, None), (0.4, Some(0.5)), (f64::INFINITY, Some(2.0))] {
            problems.push(per_sign(&problem, upper, ridge, rng));
        }
    }
    problems
}

/// Returns a random point with the required sums: any point of the box, filled or emptied sign by
/// sign.
fn feasible(problem: &Problem, rng: &mut impl RngExt) -> Vec<f64> {
    let d = &problem.dual;
    let EqualityConstraint::PerSign(plus, minus) = d.balance() else { panic!("sums of each sign") };
    let mut alpha: Vec<f64> = d.upper().iter().map(|u| u.min(1.5) * rng.random::<f64>()).collect();
    for (sign, wanted) in [(1.0, plus), (-1.0, minus)] {
        let members: Vec<usize> = (0..d.len()).filter(|&k| d.sign()[k] == sign).collect();
        let mut part: Vec<f64> = members.iter().map(|&k| alpha[k]).collect();
        let upper: Vec<f64> = members.iter().map(|&k| d.upper()[k]).collect();
        maxmargin_core::start::shift_to_sum(&vec![1.0; part.len()], &upper, &mut part, wanted).expect("within reach");
        members.iter().zip(part).for_each(|(&k, a)| alpha[k] = a);
    }
    Start::checked(d, alpha).expect("feasible").alpha().to_vec()
}

/// Returns the largest gain from moving mass between two variables of one sign.
fn gain(problem: &Problem, alpha: &[f64]) -> f64 {
    let (d, gradient) = (&problem.dual, problem.gradient(alpha));
    let mut worst: f64 = 0.0;
    for i in (0..d.len()).filter(|&i| alpha[i] < d.upper()[i]) {
        for j in (0..d.len()).filter(|&j| alpha[j] > 0.0 && d.sign()[i] == d.sign()[j]) {
            worst = worst.max(gradient[j] - gradient[i]);
        }
    }
    worst
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]
    /// With a sum per sign the gap is not below 0 and not above the linear bound over the box and
    /// both sums; the violation is that of its definition.
    #[test]
    fn weak_duality_of_each_sign(seed in 0_u64..1000, bias in -2.0..2.0_f64) {
        let rng = &mut generate::rng(seed);
        for problem in of_each_sign(seed) {
            let d = &problem.dual;
            let alpha = feasible(&problem, rng);
            let solution = Solution { bias, ..point(alpha.clone()) };
            let certificate = certify(d, &problem.gram, &solution, Par::Seq);
            let (rounding, gradient) = (problem.rounding(&alpha), problem.gradient(&alpha));
            prop_assert!(certificate.gap() >= -rounding, "{}: {:?}", problem.name, certificate);
            prop_assert!((certificate.dual + problem.objective(&alpha)).abs() <= rounding);
            prop_assert!(certificate.infeasible <= 1e-12);
            let EqualityConstraint::PerSign(plus, minus) = d.balance() else { unreachable!() };
            let mut linear = alpha.iter().zip(&gradient).map(|(a, g)| a * g).sum::<f64>();
            for (sign, wanted) in [(1.0, plus), (-1.0, minus)] {
                let mut order: Vec<usize> = (0..d.len()).filter(|&k| d.sign()[k] == sign).collect();
                order.sort_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
                let mut left = wanted;
                for k in order {
                    let take = d.upper()[k].min(left);
                    linear -= take * gradient[k];
                    left -= take;
                }
            }
            prop_assert!(certificate.gap() <= linear + 4.0 * rounding, "{}: {:?} above {}", problem.name, certificate, linear);
            let worst = gain(&problem, &alpha);
            prop_assert!((certificate.kkt - worst).abs() <= rounding, "{}: {:?} for {}", problem.name, certificate, worst);
        }
    }

    /// The primal is a bound for any point, so every certificate's bracket contains the optimum.
    #[test]
    fn certificates_enclose_the_optimum(seed in 0_u64..1000) {
        let rng = &mut generate::rng(seed);
        for problem in of_each_sign(seed).into_iter().chain(variants(seed)).step_by(7) {
            let optimum = oracle::solve(&problem.dual, &problem.gram);
            let alpha = if matches!(problem.dual.balance(), EqualityConstraint::PerSign(..)) {
                feasible(&problem, rng)
            } else {
                Start::project(&problem.dual, vec![0.0; problem.dual.len()]).expect("feasible").alpha().to_vec()
            };
            let certificate = certify(&problem.dual, &problem.gram, &point(alpha.clone()), Par::Seq);
            let rounding = problem.rounding(&alpha) + problem.rounding(&optimum.alpha);
            prop_assert!(certificate.primal >= -optimum.objective - rounding, "{}: {:?} for {:?}", problem.name, certificate, optimum);
            prop_assert!(certificate.dual <= -optimum.objective + rounding, "{}: {:?} for {:?}", problem.name, certificate, optimum);
        }
    }

    /// One ridge per variable, as for the squared loss of weighted samples, on the simplex.
    #[test]
    fn ridges_of_their_own(seed in 0_u64..1000) {
        let rng = &mut generate::rng(seed);
        let problem = &generate::small_simplex(seed)[0];
        let c: Vec<f64> = (0..7).map(|_| 10_f64.powf(rng.random_range(-1.0..1.0))).collect();
        let dual = problem.dual.with_ridges(c.iter().map(|c| 0.5 / c).collect()).expect("a problem");
        prop_assert!(!dual.has_one_ridge());
        let alpha = Start::project(&dual, (0..7).map(|_| rng.random::<f64>()).collect()).expect("feasible").alpha().to_vec();
        let certificate = certify(&dual, &problem.gram, &point(alpha.clone()), Par::Seq);
        // The same by hand: ρ by bisection on Σ max(0, ρ − h_k) / r_k = 1.
        let ridge = |k: usize| 0.5 / c[k];
        let sum = |k: usize| -> f64 { (0..7).map(|l| alpha[l] * dual.sign()[k] * dual.sign()[l] * problem.gram.at(k, l)).sum() };
        let margins: Vec<f64> = (0..7).map(|k| sum(k) + dual.linear_term()[k]).collect();
        let reach = |rho: f64| -> f64 { (0..7).map(|k| (rho - margins[k]).max(0.0) / ridge(k)).sum() };
        let (mut low, mut high) = (-1e4, 1e4);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if reach(middle) < 1.0 { low = middle } else { high = middle }
        }
        let w: f64 = (0..7).map(|k| alpha[k] * sum(k)).sum();
        let losses: f64 = (0..7).map(|k| 0.5 * (high - margins[k]).max(0.0).powi(2) / ridge(k)).sum();
        let squares: f64 = (0..7).map(|k| ridge(k) * alpha[k] * alpha[k]).sum();
        let linear: f64 = alpha.iter().zip(dual.linear_term()).map(|(a, p)| a * p).sum();
        prop_assert!((certificate.primal - (0.5 * w + losses - high)).abs() <= 1e-11, "{:?} for {}", certificate, 0.5 * w + losses - high);
        prop_assert!((certificate.dual + 0.5 * (w + squares) + linear).abs() <= 1e-12);
        prop_assert!(certificate.gap() >= -1e-12);
        let weighted = Problem::new("weighted", problem.gram.clone(), dual.clone());
        let optimum = oracle::solve(&dual, &problem.gram);
        let best = certify(&dual, &problem.gram, &point(optimum.alpha.clone()), Par::Seq);
        prop_assert!(best.gap().abs() <= 1e-10 && best.kkt <= 1e-9 && optimum.kkt <= 1e-12, "{:?} {:?}", best, optimum);
        prop_assert!((best.dual + weighted.objective(&optimum.alpha)).abs() <= 1e-12);
        // Without a constraint the same ridges belong to the loss of each sample.
        let free = Dual::squared_hinge((0..7).collect(), dual.sign().to_vec(), &c, maxmargin_core::BiasTerm::None).expect("a problem");
        let optimum = oracle::solve(&free, &problem.gram);
        let best = certify(&free, &problem.gram, &point(optimum.alpha.clone()), Par::Seq);
        prop_assert!(best.gap().abs() <= 1e-10 && best.kkt <= 1e-9 && optimum.kkt <= 1e-12, "{:?} {:?}", best, optimum);
    }
}

#[test]
fn optima_of_each_sign_have_no_gap_and_lost_mass_is_seen() {
    for problem in (1..=4).flat_map(of_each_sign) {
        let optimum = oracle::solve(&problem.dual, &problem.gram);
        let certificate_of = |alpha: Vec<f64>| certify(&problem.dual, &problem.gram, &point(alpha), Par::Seq);
        let certificate = certificate_of(optimum.alpha.clone());
        let rounding = problem.rounding(&optimum.alpha);
        assert!(certificate.gap().abs() <= 1e-10 + rounding && certificate.kkt <= 1e-9, "{}: {certificate:?}", problem.name);
        assert!(certificate.infeasible <= 1e-12, "{}: {certificate:?}", problem.name);
        // Moving mass from one sign to the other keeps the total sum, and is no longer feasible.
        let most = |sign: f64| {
            let of_sign = (0..optimum.alpha.len()).filter(|&k| problem.dual.sign()[k] == sign);
            of_sign.max_by(|&i, &j| optimum.alpha[i].total_cmp(&optimum.alpha[j])).expect("both signs")
        };
        let (plus, minus) = (most(1.0), most(-1.0));
        let mut alpha = optimum.alpha.clone();
        let given = 0.5 * alpha[plus];
        alpha[plus] -= given;
        // Relative to the required sum.
        let EqualityConstraint::PerSign(wanted, _) = problem.dual.balance() else { unreachable!("each sign has a sum") };
        let lost = given / wanted;
        assert!((certificate_of(alpha.clone()).infeasible - lost).abs() < 1e-12, "{}", problem.name);
        alpha[minus] += given;
        assert!(certificate_of(alpha).infeasible >= lost - 1e-12, "{}", problem.name);
        let mut alpha = optimum.alpha.clone();
        alpha[plus] = f64::NAN;
        assert_eq!(certificate_of(alpha).infeasible, f64::INFINITY);
    }
}

/// Two points by hand: the sums fix α, so the certificate's gap is 0 wherever they are.
#[test]
fn two_points_of_each_sign_by_hand() {
    let gram = maxmargin_testkit::PointsGram::from_matrix(2, vec![4.0, 1.0, 1.0, 9.0]);
    let dual = Dual::new(vec![0, 1], vec![1.0, -1.0], vec![0.25, -0.5], vec![3.0; 2], 0.0, EqualityConstraint::PerSign(2.0, 1.0));
    let certificate = certify(&dual.expect("a problem"), &gram, &point(vec![2.0, 1.0]), Par::Seq);
    // ½(4·4 − 2·2·1·1 + 9) = 10.5, linear_term 0.5 − 0.5 = 0.
    assert_eq!((certificate.dual, certificate.primal, certificate.kkt, certificate.infeasible), (-10.5, -10.5, 0.0, 0.0));
}
