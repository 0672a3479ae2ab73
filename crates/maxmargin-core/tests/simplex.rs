//! Problems on the simplex: certificate, bias and starts.

use maxmargin_core::{Balance, Dual, Solution, Start, Status, Work, bias_of, certify};
use maxmargin_data::Par;
use maxmargin_testkit::{Problem, generate, oracle};
use proptest::prelude::*;
use rand::RngExt;

fn point(alpha: Vec<f64>) -> Solution {
    let gradient = vec![f64::NAN; alpha.len()]; // certificates must not believe a solver's gradient
    Solution { alpha, bias: 0.0, gradient, status: Status::Stalled, work: Work::default() }
}

/// The problem with other bounds and ridge.
fn with(problem: &Problem, upper: f64, ridge: f64, lin: Vec<f64>) -> Problem {
    let d = &problem.dual;
    let n = d.len();
    let dual = Dual::new(d.ids().to_vec(), d.sign().to_vec(), lin, vec![upper; n], ridge, Balance::Simplex);
    Problem::new(format!("{}, bounds {upper}, ridge {ridge}", problem.name), problem.gram.clone(), dual.expect("a problem"))
}

/// The problem as it is, with bounds, without ridge, with a linear term.
fn variants(seed: u64) -> Vec<Problem> {
    let rng = &mut generate::rng(seed);
    let mut problems = vec![];
    for problem in generate::small_simplex(seed) {
        let n = problem.dual.len();
        let lin: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        problems.push(with(&problem, 0.3, problem.dual.ridge(), vec![0.0; n]));
        problems.push(with(&problem, f64::INFINITY, 0.0, vec![0.0; n]));
        problems.push(with(&problem, 0.4, 0.0, lin.clone()));
        problems.push(with(&problem, 0.4, 0.5, lin));
        problems.push(problem);
    }
    problems
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// The gap is not negative and at most the Frank-Wolfe gap over the box; the violation is that of the definition.
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
            // Least gᵀv over the polytope: the cheapest variables are filled first.
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
        // What the point is above the optimum the gap must show.
        assert!(certificate.gap() >= objective - optimum.objective - 1e-10, "{}: {certificate:?}", problem.name);
        alpha[to] += 0.01;
        let certificate = certify(&problem.dual, &problem.gram, &point(alpha), Par::Seq);
        assert!((certificate.infeasible - 0.01).abs() < 1e-12, "{}: {certificate:?}", problem.name);
    }
}

/// The bias is no variable: inside the kernel or none. It moves decisions, never the certificate.
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
