//! The certificate against formulas from the textbook, written out directly.

use maxmargin_core::{AuditPoint, Dual, EqualityConstraint, Rounding, Solution, Start, Status, Work, audit, bias_of, certify};
use maxmargin_core::{Cancelled, Progress, RunControl};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Gram, Kernel, Matrix};
use maxmargin_testkit::{PointsGram, Problem, analytic, generate, oracle};
use proptest::prelude::*;
use rand::RngExt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

fn point(alpha: Vec<f64>, bias: f64) -> Solution {
    let gradient = vec![f64::NAN; alpha.len()]; // certificates must not believe a solver's gradient
    Solution { alpha, bias, gradient, status: Status::Stalled, work: Work::default(), weights: None }
}

/// Returns a random feasible point inside the box.
fn somewhere(problem: &Problem, rng: &mut impl RngExt) -> Vec<f64> {
    let wish = problem.dual.upper().iter().map(|u| u.min(20.0) * rng.random_range(-0.5..1.5)).collect();
    Start::project(&problem.dual, wish).expect("feasible").alpha().to_vec()
}

/// Returns the violation from its definition: the `max over pairs` of the gain from moving mass.
fn violation(problem: &Problem, alpha: &[f64]) -> f64 {
    let (d, g) = (&problem.dual, problem.gradient(alpha));
    let rises = |k: usize| if d.sign()[k] > 0.0 { alpha[k] < d.upper()[k] } else { alpha[k] > 0.0 };
    let falls = |k: usize| if d.sign()[k] > 0.0 { alpha[k] > 0.0 } else { alpha[k] < d.upper()[k] };
    let mut worst: f64 = 0.0;
    for i in (0..d.len()).filter(|&i| rises(i)) {
        for j in (0..d.len()).filter(|&j| falls(j)) {
            worst = worst.max(d.sign()[j] * g[j] - d.sign()[i] * g[i]);
        }
    }
    worst
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]
    /// C-SVC with a linear kernel: `½‖w‖² + Σ C ξ` and `Σ α − ½‖w‖²` from `w` itself.
    #[test]
    fn linear_c_svc(seed in 0_u64..1000, n in 2_usize..40, bias in -2.0..2.0_f64) {
        let rng = &mut generate::rng(seed);
        let (points, labels) = generate::clouds(rng, n / 2, n - n / 2, 3, 0.3);
        let c: Vec<f64> = (0..n).map(|_| rng.random_range(0.1..5.0)).collect();
        let gram = PointsGram::new(&points, &Kernel::Linear);
        let problem = Problem::c_svc("linear", gram, labels.clone(), c.clone());
        let alpha = somewhere(&problem, rng);
        let w: Vec<f64> = (0..3).map(|j| (0..n).map(|k| alpha[k] * labels[k] * points[k][j]).sum()).collect();
        let f = |i: usize| w.iter().zip(&points[i]).map(|(w, x)| w * x).sum::<f64>() + bias;
        let norm: f64 = w.iter().map(|w| w * w).sum();
        let primal = 0.5 * norm + (0..n).map(|k| c[k] * (1.0 - labels[k] * f(k)).max(0.0)).sum::<f64>();
        let dual = alpha.iter().sum::<f64>() - 0.5 * norm;
        let found = audit(&problem.gram, &[AuditPoint { dual: &problem.dual, alpha: &alpha, bias, weights: None, known: None }], Par::Seq, &RunControl::unlimited()).expect("unlimited").remove(0);
        let scale = 1e-12 * (1.0 + primal.abs() + alpha.iter().sum::<f64>());
        prop_assert!((found.certificate.primal - primal).abs() < scale, "{:?} for {}", found.certificate, primal);
        prop_assert!((found.certificate.dual - dual).abs() < scale, "{:?} for {}", found.certificate, dual);
        prop_assert!((found.certificate.kkt - violation(&problem, &alpha)).abs() < scale);
        prop_assert!((0..n).all(|i| (found.sums[i] + bias - f(i)).abs() < scale));
    }

    /// The gap of a feasible point is not negative, for any bias and any problem.
    #[test]
    fn weak_duality(seed in 0_u64..1000, bias in -3.0..3.0_f64) {
        let mut problems = generate::small(seed);
        problems.extend(generate::small_general(seed));
        problems.push(generate::indefinite(seed, 7));
        let rng = &mut generate::rng(seed);
        for problem in problems {
            let alpha = somewhere(&problem, rng);
            let certificate = certify(&problem.dual, &problem.gram, &point(alpha.clone(), bias), Par::Seq);
            prop_assert!(certificate.gap() >= -problem.rounding(&alpha), "{}: {:?}", problem.name, certificate);
            prop_assert!(certificate.relative_gap() >= -problem.rounding(&alpha) && certificate.infeasible <= 1e-12);
            prop_assert!((certificate.dual + problem.objective(&alpha)).abs() <= problem.rounding(&alpha));
            let near = 1e-12 * (1.0 + problem.gradient(&alpha).iter().fold(0.0, |m: f64, g| m.max(g.abs())));
            prop_assert!((certificate.kkt - violation(&problem, &alpha)).abs() <= near, "{}: {:?}", problem.name, certificate);
        }
    }
}

/// ε-SVR as twins: the primal is `½‖w‖² + C Σ max(0, |y − f(x)| − ε)`.
#[test]
fn regression() {
    let rng = &mut generate::rng(3);
    let (points, _) = generate::clouds(rng, 10, 10, 2, 0.5);
    let targets: Vec<f64> = points.iter().map(|x| x[0] - 0.5 * x[1] * x[1]).collect();
    let (n, epsilon, c) = (20, 0.1, 3.0);
    let linear_term = targets.iter().map(|y| epsilon - y).chain(targets.iter().map(|y| epsilon + y)).collect();
    let (ids, sign) = ((0..n).chain(0..n).collect(), [vec![1.0; n], vec![-1.0; n]].concat());
    let dual =
        Dual::new(ids, sign, linear_term, vec![c; 2 * n], 0.0, maxmargin_core::EqualityConstraint::Sum(0.0)).expect("a problem");
    let problem = Problem::new("regression", PointsGram::new(&points, &Kernel::Linear), dual);
    let (alpha, bias) = (somewhere(&problem, rng), 0.2);
    let w: Vec<f64> = (0..2).map(|j| (0..n).map(|i| (alpha[i] - alpha[n + i]) * points[i][j]).sum()).collect();
    let f = |i: usize| w[0] * points[i][0] + w[1] * points[i][1] + bias;
    let loss: f64 = (0..n).map(|i| ((targets[i] - f(i)).abs() - epsilon).max(0.0)).sum();
    let primal = 0.5 * (w[0] * w[0] + w[1] * w[1]) + c * loss;
    let certificate = certify(&problem.dual, &problem.gram, &point(alpha, bias), Par::Seq);
    assert!((certificate.primal - primal).abs() < 1e-11 * primal, "{certificate:?} for {primal}");
}

/// A ridge without upper bounds is the squared hinge loss: `½‖w‖² + Σ ξ² / 2r`.
#[test]
fn squared_hinge_loss() {
    let rng = &mut generate::rng(4);
    let (points, labels) = generate::clouds(rng, 12, 8, 2, 0.3);
    let (n, ridge, bias) = (20, 0.25, -0.1);
    let all = (0..n).collect();
    let balance = maxmargin_core::EqualityConstraint::Sum(0.0);
    let dual = Dual::new(all, labels.clone(), vec![-1.0; n], vec![f64::INFINITY; n], ridge, balance).expect("a problem");
    let problem = Problem::new("squared hinge", PointsGram::new(&points, &Kernel::Linear), dual);
    let alpha = somewhere(&problem, rng);
    let w: Vec<f64> = (0..2).map(|j| (0..n).map(|k| alpha[k] * labels[k] * points[k][j]).sum()).collect();
    let xi = |k: usize| (1.0 - labels[k] * (w[0] * points[k][0] + w[1] * points[k][1] + bias)).max(0.0);
    let primal = 0.5 * (w[0] * w[0] + w[1] * w[1]) + (0..n).map(|k| xi(k) * xi(k)).sum::<f64>() / (2.0 * ridge);
    let certificate = certify(&problem.dual, &problem.gram, &point(alpha, bias), Par::Seq);
    assert!((certificate.primal - primal).abs() < 1e-11 * primal, "{certificate:?} for {primal}");
}

#[test]
fn optima_have_no_gap_with_any_bias_of_their_interval() {
    let convex = (1..=5).flat_map(generate::small).chain((1..=5).flat_map(generate::small_general));
    let by_hand = analytic::c_svc().into_iter().chain(analytic::general()).map(|case| case.problem);
    for problem in convex.chain(by_hand) {
        let optimum = oracle::solve(&problem.dual, &problem.gram);
        let reach: f64 = problem.dual.upper().iter().filter(|u| u.is_finite()).sum();
        for bias in [optimum.bias.0, optimum.bias.1, f64::midpoint(optimum.bias.0, optimum.bias.1)] {
            let certificate = certify(&problem.dual, &problem.gram, &point(optimum.alpha.clone(), bias), Par::Seq);
            assert!(certificate.gap() <= 1e-11 * (1.0 + reach), "{}: {certificate:?}", problem.name);
            assert!(certificate.holds(1e-9 * (1.0 + reach)), "{}: {certificate:?}", problem.name);
        }
    }
}

/// The violation or the gap shows mass moved between two variables of an optimum; the infeasibility
/// shows a point that leaves the box or the equality constraint.
#[test]
fn perturbed_optima_are_detected() {
    for problem in (1..=10).flat_map(generate::small) {
        let optimum = oracle::solve(&problem.dual, &problem.gram);
        let (d, clean) = (&problem.dual, problem.objective(&optimum.alpha));
        let certificate_of = |alpha: &[f64]| {
            let bias = bias_of(d, alpha, &problem.gradient(alpha));
            certify(d, &problem.gram, &point(alpha.to_vec(), bias), Par::Seq)
        };
        for k in 0..d.len() {
            for l in (0..d.len()).filter(|&l| l != k) {
                let mut alpha = optimum.alpha.clone();
                let amount = 0.1 * d.upper()[k].min(d.upper()[l]);
                alpha[k] += d.sign()[k] * amount;
                alpha[l] -= d.sign()[l] * amount;
                let inside = [k, l].iter().all(|&m| (0.0..=d.upper()[m]).contains(&alpha[m]));
                let certificate = certificate_of(&alpha);
                let rounding = problem.rounding(&alpha);
                if !inside {
                    assert!(certificate.infeasible > 1e-9 && !certificate.holds(1e3), "{}: {certificate:?}", problem.name);
                    continue;
                }
                let lost = problem.objective(&alpha) - clean;
                assert!(certificate.gap() >= lost - rounding, "{}: lost {lost}, {certificate:?}", problem.name);
                let reach: f64 = d.upper().iter().sum();
                assert!(certificate.kkt * reach >= lost - rounding, "{}: lost {lost}, {certificate:?}", problem.name);
            }
            let mut alpha = optimum.alpha.clone();
            alpha[k] = 0.5 * (alpha[k] + 0.5 * d.upper()[k]);
            if (alpha[k] - optimum.alpha[k]).abs() > 1e-6 * (1.0 + alpha.iter().sum::<f64>()) {
                assert!(!certificate_of(&alpha).holds(1e3), "{}: unbalanced {alpha:?}", problem.name);
            }
        }
    }
}

#[test]
fn without_upper_bounds_and_ridge_the_gap_is_infinite() {
    let (labels, all) = (vec![1.0, -1.0], vec![0, 1]);
    let balance = maxmargin_core::EqualityConstraint::Sum(0.0);
    let dual = Dual::new(all, labels, vec![-1.0; 2], vec![f64::INFINITY; 2], 0.0, balance).expect("a problem");
    let gram = PointsGram::new(&[vec![1.0], vec![-1.0]], &Kernel::Linear);
    let inside = certify(&dual, &gram, &point(vec![0.25; 2], 0.0), Par::Seq);
    assert_eq!((inside.primal, inside.relative_gap()), (f64::INFINITY, f64::INFINITY));
    // The hard margin is met: no slack, no gap.
    let outside = certify(&dual, &gram, &point(vec![0.5; 2], 0.0), Par::Seq);
    assert_eq!((outside.primal, outside.relative_gap()), (0.5, 0.0));
}

#[test]
fn a_wrong_bias_shows_in_the_gap() {
    let case = &analytic::c_svc()[0];
    let (dual, gram) = (&case.problem.dual, &case.problem.gram);
    let alpha = case.alpha.clone().expect("unique");
    let right = certify(dual, gram, &point(alpha.clone(), 0.0), Par::Seq);
    // One of the two points is inside the margin by 0.1, at C = 10.
    let wrong = certify(dual, gram, &point(alpha, 0.1), Par::Seq);
    assert!(right.gap().abs() < 1e-12 && (wrong.gap() - 1.0).abs() < 1e-12, "{right:?} {wrong:?}");
}

#[test]
fn what_is_not_a_number_never_holds() {
    let case = &analytic::c_svc()[0];
    let (dual, gram) = (&case.problem.dual, &case.problem.gram);
    for (alpha, bias) in [
        (vec![f64::NAN, 0.5], 0.0),
        (vec![f64::NAN; 2], 0.0),
        (vec![f64::INFINITY; 2], 0.0),
        (vec![0.5; 2], f64::NAN),
        (vec![0.5; 2], f64::INFINITY),
    ] {
        let certificate = certify(dual, gram, &point(alpha.clone(), bias), Par::Seq);
        assert!(!certificate.holds(1e300), "{alpha:?}, {bias}: {certificate:?}");
    }
}

#[test]
fn an_audit_of_many_points_equals_one_at_a_time_on_any_pool() {
    let problem = &generate::medium(2, 40)[0];
    let flipped = problem.flipped();
    let odd =
        Dual::c_svc((1..40).step_by(2).collect(), (0..20).map(|k| if k % 3 == 0 { 1.0 } else { -1.0 }).collect(), vec![1.0; 20]);
    let part = Problem::new("part", problem.gram.clone(), odd.expect("a problem"));
    let rng = &mut generate::rng(9);
    let alphas: Vec<Vec<f64>> = [problem, &flipped, &part].iter().map(|p| somewhere(p, rng)).collect();
    let nothing = vec![0.0; 40];
    let points = [
        AuditPoint { dual: &problem.dual, alpha: &alphas[0], bias: 0.1, weights: None, known: None },
        AuditPoint { dual: &flipped.dual, alpha: &alphas[1], bias: -0.2, weights: None, known: None },
        AuditPoint { dual: &part.dual, alpha: &alphas[2], bias: 0.3, weights: None, known: None },
        AuditPoint { dual: &problem.dual, alpha: &nothing, bias: 0.0, weights: None, known: None },
    ];
    let together = audit(&problem.gram, &points, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a small thread pool");
    assert_eq!(together, pool.install(|| audit(&problem.gram, &points, Par::Pool, &RunControl::unlimited()).expect("unlimited")));
    for (audited, one) in together.iter().zip(points) {
        let alone = audit(&problem.gram, &[one], Par::Seq, &RunControl::unlimited()).expect("unlimited").remove(0);
        let pairs = audited.sums.iter().zip(&alone.sums).chain(audited.gradient.iter().zip(&alone.gradient));
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((audited.certificate.primal - alone.certificate.primal).abs() < 1e-11);
        assert!((audited.certificate.dual - alone.certificate.dual).abs() < 1e-11);
        assert_eq!(audited.sums.len(), problem.gram.len());
    }
    assert!(together[3].sums.iter().all(|d| *d == 0.0) && together[3].gradient.iter().all(|g| *g == -1.0));
}

/// A fold is the problem of all samples with empty boxes. Its certificate equals that of the
/// problem of the samples that take part, to the last bit.
#[test]
fn empty_boxes_change_nothing() {
    let rng = &mut generate::rng(4);
    let mut problems = generate::medium(3, 40);
    problems.extend(generate::medium_general(3, 40));
    for problem in problems {
        let n = problem.dual.len();
        let takes: Vec<bool> = (0..n).map(|_| rng.random::<f64>() < 0.7).collect();
        let upper = problem.dual.upper().iter().zip(&takes).map(|(u, takes)| if *takes { *u } else { 0.0 }).collect();
        let Ok(dual) = problem.dual.with_upper(upper) else { continue };
        let Some((part, kept)) = dual.taking_part() else { continue };
        let wish = part.upper().iter().map(|u| u.min(20.0) * rng.random::<f64>()).collect();
        let Ok(start) = Start::project(&part, wish) else { continue };
        let bias = rng.random_range(-1.0..1.0);
        let mut alpha = vec![0.0; n];
        kept.iter().zip(start.alpha()).for_each(|(&k, a)| alpha[k] = *a);
        let whole = certify(&dual, &problem.gram, &point(alpha.clone(), bias), Par::Seq);
        let own = certify(&part, &problem.gram, &point(start.alpha().to_vec(), bias), Par::Seq);
        assert_eq!(whole, own, "{}", problem.name);
        let points = [
            AuditPoint { dual: &dual, alpha: &alpha, bias, weights: None, known: None },
            AuditPoint { dual: &part, alpha: start.alpha(), bias, weights: None, known: None },
        ];
        let audits = audit(&problem.gram, &points, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        assert_eq!((&audits[0].certificate, &audits[0].sums), (&audits[1].certificate, &audits[1].sums), "{}", problem.name);
        let gradient: Vec<f64> = kept.iter().map(|&k| audits[0].gradient[k]).collect();
        assert_eq!(gradient, audits[1].gradient, "{}", problem.name);
    }
    // The same without a constraint, on the simplex and with a sum per sign.
    let small = &generate::medium(3, 40)[0];
    let d = &small.dual;
    for balance in [EqualityConstraint::Free, EqualityConstraint::Simplex, EqualityConstraint::PerSign(1.0, 2.0)] {
        let upper = (0..40).map(|k| if k % 3 == 0 { 0.0 } else { 0.5 }).collect();
        let dual =
            Dual::new(d.ids().to_vec(), d.sign().to_vec(), d.linear_term().to_vec(), upper, 0.25, balance).expect("a problem");
        let (part, kept) = dual.taking_part().expect("a third does not take part");
        let alpha: Vec<f64> = dual.upper().iter().map(|u| u * rng.random::<f64>()).collect();
        let own = kept.iter().map(|&k| alpha[k]).collect();
        let whole = certify(&dual, &small.gram, &point(alpha, 0.0), Par::Seq);
        assert_eq!(whole, certify(&part, &small.gram, &point(own, 0.0), Par::Seq), "{balance:?}");
    }
}

/// After a cancellation only the work under way is finished: one group of tiles.
#[test]
fn an_audit_stops_when_it_is_told() {
    let problem = &generate::medium(2, 40)[0];
    let alpha = vec![0.5; 40];
    let points = [AuditPoint { dual: &problem.dual, alpha: &alpha, bias: 0.0, weights: None, known: None }];
    let mut asked = 0;
    let never = |_: &Progress| {
        asked += 1;
        ControlFlow::Break(())
    };
    assert_eq!(audit(&problem.gram, &points, Par::Seq, &RunControl::new(never)), Err(Cancelled));
    assert_eq!(asked, 1);
    let found = audit(&problem.gram, &points, Par::Seq, &RunControl::new(|_| ControlFlow::Continue(())));
    assert_eq!(found, audit(&problem.gram, &points, Par::Seq, &RunControl::unlimited()));
    // 2,000 support vectors against 20,000 samples: 40 million kernel values.
    let computed = AtomicU64::new(0);
    let wide = maxmargin_kernel::FnGram::new(20_000, |i, j| {
        computed.fetch_add(1, Ordering::Relaxed);
        if i == j { 1.0 } else { 0.0 }
    });
    let sign = (0..2000).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let dual = Dual::c_svc((0..2000).map(|k| 10 * k).collect(), sign, vec![1.0; 2000]).expect("a problem");
    let points = [AuditPoint { dual: &dual, alpha: &vec![0.5; 2000], bias: 0.0, weights: None, known: None }];
    for most in [0, 1, 5] {
        let before = computed.load(Ordering::Relaxed);
        let (mut looks, mut at) = (0, 0);
        let observer = |_: &Progress| {
            looks += 1;
            at = computed.load(Ordering::Relaxed);
            if looks <= most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        assert_eq!(audit(&wide, &points, Par::Seq, &RunControl::new(observer)), Err(Cancelled));
        assert_eq!((looks, at), (most + 1, computed.load(Ordering::Relaxed)), "nothing is computed after the no");
        assert!(
            at - before <= (most + 1) * (1 << 19),
            "half a million values at most lie between two questions: {}",
            at - before
        );
    }
    assert_eq!(audit(&wide, &points, Par::Seq, &RunControl::unlimited()).expect("unlimited")[0].sums[19_990], -0.5);
}

/// Twenty rows, each with both labels and α at a large C. They cancel: w = 0, which is the optimum.
/// Plain sums of terms of 10¹² cannot show it, and sums in twice the precision can.
#[test]
fn coefficients_that_cancel_hide_no_optimum() {
    let c = 1e12;
    let rows: Vec<[f64; 3]> = (0..40).map(|i| [1.0, f64::from(i % 20), 0.1 * f64::from(i % 20)]).collect();
    let samples = Samples::from_rows(&rows).expect("samples");
    let labels = (0..40).map(|i| if i < 20 { 1.0 } else { -1.0 }).collect();
    let dual = Dual::new((0..40).collect(), labels, vec![-1.0; 40], vec![c; 40], 0.0, EqualityConstraint::Free).expect("a dual");
    let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
    let solution = point(vec![c; 40], 0.0);
    let plain = Rounding::at(&dual, &matrix, &solution.alpha, 0.0, &[-1.0; 40]);
    assert!(plain.gap > 1e-3 * 40.0 * c && plain.kkt > 1e-3, "{plain:?}");
    let certificate = certify(&dual, &matrix, &solution, Par::Seq);
    assert!(certificate.has_gap(1e-12) && certificate.holds(1e-9), "{certificate:?}");
    assert!((certificate.primal / (40.0 * c) - 1.0).abs() < 1e-12, "{certificate:?}");
    let points = [AuditPoint { dual: &dual, alpha: &solution.alpha, bias: 0.0, weights: None, known: None }];
    let audits = audit(&matrix, &points, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    assert!(audits[0].twofold && audits[0].certificate == certificate, "{:?}", audits[0]);
    assert!(audits[0].source(&matrix).is_twofold());
    // The same with a C at which plain sums suffice.
    let small =
        Dual::new(dual.ids().to_vec(), dual.sign().to_vec(), vec![-1.0; 40], vec![1.0; 40], 0.0, EqualityConstraint::Free);
    let (small, alpha) = (small.expect("a dual"), vec![1.0; 40]);
    let points = [AuditPoint { dual: &small, alpha: &alpha, bias: 0.0, weights: None, known: None }];
    assert!(!audit(&matrix, &points, Par::Seq, &RunControl::unlimited()).expect("unlimited")[0].twofold);
}
