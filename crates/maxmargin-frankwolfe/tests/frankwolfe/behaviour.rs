//! Guarantees of the methods beyond the suite: rules, samples, starts, scalings, errors, costs.

use maxmargin_core::{
    AuditPoint, Certificate, Dual, DualError, EqualityConstraint, Progress, Start, Status, Stop, audit, certify,
};
use maxmargin_data::{Par, RunControl};
use maxmargin_frankwolfe::{
    Ball, Evidence, Finish, FrankWolfeConfig, FrankWolfeError, FrankWolfeOutcome, POINTS, Refine, Sampling, StepMethod, StopRule,
    decision, l2_svm, ordinary, random_start, solve, two_point_start,
};
use maxmargin_kernel::{FnGram, Gram, OffsetGram, Rows};
use maxmargin_testkit::{Problem, generate, oracle};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::time::Duration;

const ALL: [StepMethod; 5] = [StepMethod::Cvm, StepMethod::Fw, StepMethod::Mfw, StepMethod::Swap, StepMethod::Pairwise];

fn run(problem: &Problem, config: &FrankWolfeConfig, stop: &Stop, seed: u64) -> (FrankWolfeOutcome, Certificate) {
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = random_start(&problem.dual, &rows, POINTS, seed).expect("a start");
    let outcome = solve(&problem.dual, &rows, start, config, stop, &RunControl::unlimited()).expect("a problem on the simplex");
    let certificate = certify(&problem.dual, rows.gram(), &outcome.solution, Par::Seq);
    (outcome, certificate)
}

/// Returns a problem with more samples than the coarsest level of pairwise steps.
fn larger(n: usize, c: f64) -> Problem {
    let mut problem = generate::lattice(7, n, 2, 1.0);
    let signs = problem.dual.sign().to_vec();
    problem = generate::l2_svm(format!("lattice on the simplex ({n} samples)"), &problem.gram.scaled(1.0 / 1024.0), signs, c);
    problem
}

#[test]
fn a_run_that_converged_holds_its_rule_by_the_certificate() {
    for problem in generate::medium_simplex(3, 80).into_iter().chain([larger(600, 4.0)]) {
        for method in ALL {
            let gap = run(&problem, &FrankWolfeConfig::of(method), &Stop::at(1e-3), 1);
            let (outcome, certificate) = gap;
            let what = format!("{}, {method:?}: {certificate:?}", problem.name);
            assert_eq!((outcome.solution.status, outcome.evidence), (Status::Converged, Evidence::FullScan), "{what}");
            assert!(
                certificate.relative_gap() <= 1e-3 && certificate.gap() >= -problem.rounding(&outcome.solution.alpha),
                "{what}"
            );
            assert!(certificate.infeasible <= 1e-12 && outcome.core_set >= 1, "{what}");

            let epsilon = 1e-3;
            let config = FrankWolfeConfig { rule: StopRule::Radius, ..FrankWolfeConfig::of(method) };
            let (outcome, _) = run(&problem, &config, &Stop::at(epsilon), 1);
            assert_eq!((outcome.solution.status, outcome.evidence), (Status::Converged, Evidence::FullScan), "{what}");
            // No point is further from the centre than 1 + ε radii, by kernel values from the
            // definition.
            let alpha = &outcome.solution.alpha;
            let n = alpha.len();
            let delta2 = (0..n).map(|k| problem.q(k, k)).fold(0.0, f64::max);
            let ball = Ball { delta2, square: 2.0 * problem.objective(alpha) };
            let furthest = problem.gradient(alpha).into_iter().map(|g| ball.distance2(g)).fold(0.0, f64::max);
            assert!(
                furthest <= (1.0 + epsilon) * (1.0 + epsilon) * ball.radius2() * (1.0 + 1e-12),
                "{what}: {furthest}, {ball:?}"
            );
        }
    }
}

/// The certificate's gap never exceeds the Frank-Wolfe gap.
#[test]
fn two_gaps() {
    for problem in generate::medium_simplex(6, 50) {
        for method in ALL {
            let stop = Stop { max_iter: Some(37), ..Stop::at(1e-12) };
            let (outcome, certificate) = run(&problem, &FrankWolfeConfig::of(method), &stop, 2);
            let slack = 1e-6 * problem.gram.diagonal().iter().fold(1.0, |m: f64, d| m.max(*d));
            assert!(certificate.gap() <= outcome.gap + slack, "{}, {method:?}: {certificate:?}, {}", problem.name, outcome.gap);
        }
    }
}

/// Progress reports the certificate's last gap. The Frank-Wolfe gap is larger by orders of
/// magnitude near the optimum.
#[test]
fn a_traced_run_reports_the_gap_of_the_certificate() {
    let problem = larger(600, 4.0);
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    for method in [StepMethod::Mfw, StepMethod::Swap] {
        let start = random_start(&problem.dual, &rows, POINTS, 1).expect("a start");
        let (mut traced, config) = (Vec::new(), FrankWolfeConfig::of(method));
        let observer = |progress: &Progress| {
            traced.push((progress.iterations, progress.violation));
            ControlFlow::Continue(())
        };
        let control = RunControl::new(observer).traced();
        let outcome = solve(&problem.dual, &rows, start, &config, &Stop::at(1e-6), &control).expect("a problem on the simplex");
        drop(control);
        assert_eq!(outcome.solution.status, Status::Converged, "{method:?}");
        let steps = outcome.solution.work.iterations;
        assert!((0..steps).all(|step| traced.iter().any(|(told, _)| *told == step)), "{method:?}: {steps} steps");
        let last = traced.last().expect("an event").1;
        let square: f64 = outcome.solution.alpha.iter().zip(&outcome.solution.gradient).map(|(a, g)| a * g).sum();
        assert!(last < 0.1 * outcome.gap / square, "{method:?}: {last:e}, Frank-Wolfe gap {:e}", outcome.gap / square);
    }
}

#[test]
fn a_sampled_run_goes_on_until_all_points_were_looked_at() {
    let problem = larger(600, 16.0);
    for method in [StepMethod::Cvm, StepMethod::Fw, StepMethod::Mfw, StepMethod::Swap] {
        let sampling = Some(Sampling::of(59, 5, Finish::Scan));
        let config = FrankWolfeConfig { sampling, ..FrankWolfeConfig::of(method) };
        let (outcome, certificate) = run(&problem, &config, &Stop::at(1e-2), 1);
        assert_eq!((outcome.solution.status, outcome.evidence), (Status::Converged, Evidence::FullScan), "{method:?}");
        assert!(
            certificate.relative_gap() <= 1e-2 && outcome.steps.samples > 0,
            "{method:?}: {certificate:?}, {:?}",
            outcome.steps
        );
        let (again, _) = run(&problem, &config, &Stop::at(1e-2), 1);
        assert_eq!(again, outcome, "{method:?}: the seed decides");
        let other = FrankWolfeConfig { sampling: sampling.map(|s| Sampling { seed: 6, ..s }), ..config };
        assert_ne!(run(&problem, &other, &Stop::at(1e-2), 1).0.solution.alpha, outcome.solution.alpha, "{method:?}");
    }
}

#[test]
fn a_stop_by_a_sample_is_labelled_and_its_certificate_is_honest() {
    let problem = larger(600, 16.0);
    for method in [StepMethod::Cvm, StepMethod::Fw, StepMethod::Mfw, StepMethod::Swap] {
        // Three candidates of 600: the first three that happen to lie inside the ball end the run,
        // far from the optimum.
        let sampling = Some(Sampling::of(3, 1, Finish::Sample));
        let config = FrankWolfeConfig { sampling, ..FrankWolfeConfig::of(method) };
        let (outcome, certificate) = run(&problem, &config, &Stop::at(1e-3), 1);
        assert_eq!((outcome.solution.status, outcome.evidence), (Status::Converged, Evidence::Sample), "{method:?}");
        let again = certify(&problem.dual, &problem.gram, &outcome.solution, Par::Seq);
        assert_eq!(again, certificate, "{method:?}");
        assert!(certificate.relative_gap() > 1e-3, "{method:?}: {certificate:?}");
    }
}

/// The same draws and steps up to the end of the shorter run, then more of them.
#[test]
fn a_run_with_more_tries_goes_on_where_one_with_fewer_ends() {
    let problem = larger(600, 16.0);
    for method in [StepMethod::Cvm, StepMethod::Fw, StepMethod::Mfw, StepMethod::Swap] {
        for balanced in [false, true] {
            let with = |tries| {
                let sampling = Some(Sampling { balanced, tries, ..Sampling::of(8, 1, Finish::Sample) });
                let config = FrankWolfeConfig { rule: StopRule::Radius, sampling, ..FrankWolfeConfig::of(method) };
                run(&problem, &config, &Stop::at(1e-4), 1).0
            };
            let runs = [1, 3, 9].map(with);
            assert_eq!(with(0), runs[0], "{method:?}");
            for pair in runs.windows(2) {
                let what = format!("{method:?}, balanced {balanced}: {:?}, {:?}", pair[0].steps, pair[1].steps);
                assert_eq!((pair[0].evidence, pair[1].evidence), (Evidence::Sample, Evidence::Sample), "{what}");
                assert!(pair[1].steps.samples >= pair[0].steps.samples + 2, "{what}");
                assert!(pair[1].solution.work.iterations >= pair[0].solution.work.iterations, "{what}");
                let objective = |run: &FrankWolfeOutcome| problem.objective(&run.solution.alpha);
                assert!(objective(&pair[1]) <= objective(&pair[0]) * (1.0 + 1e-12), "{what}");
            }
        }
    }
}

/// Samples as large as the data have no effect, and none on pairwise steps.
#[test]
fn samples_of_everything_are_scans() {
    let problem = &generate::medium_simplex(2, 40)[0];
    for method in ALL {
        let sampling = Some(Sampling::of(40, 1, Finish::Sample));
        let sampled = run(problem, &FrankWolfeConfig { sampling, ..FrankWolfeConfig::of(method) }, &Stop::at(1e-4), 1);
        assert_eq!(sampled, run(problem, &FrankWolfeConfig::of(method), &Stop::at(1e-4), 1), "{method:?}");
    }
}

#[test]
fn without_refinement_nothing_is_recomputed() {
    let problem = larger(200, 4.0);
    for method in ALL {
        let config = FrankWolfeConfig { refine: Refine::Never, ..FrankWolfeConfig::of(method) };
        let (outcome, certificate) = run(&problem, &config, &Stop::at(1e-3), 1);
        assert_eq!((outcome.solution.status, outcome.solution.work.refinements), (Status::Converged, 0), "{method:?}");
        assert!(certificate.relative_gap() <= 1e-3, "{method:?}: {certificate:?}: kernel values are exact in f32 here");
    }
}

/// Five points with K̃ the identity over C = 1 and kernel 0, with and without equal classes: α by
/// symmetry.
#[test]
fn solved_by_hand() {
    // k = δ_ij, one class, C = 1: K̃ = I + 11ᵀ + I, all points alike: α = 1/n, αᵀK̃α = 2/n + 1.
    let identity = FnGram::new(5, |i, j| f64::from(u8::from(i == j)));
    let gram = OffsetGram::new(&identity, 1.0);
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    let dual = l2_svm((0..5).collect(), vec![1.0; 5], 1.0).expect("an L2-SVM");
    // Two points of one class and one of the other, k = 0: (Qα)_k = y_k Σ y α + α_k. Equal for all
    // where a + (2a − b) = b − (2a − b): b = 5a/3, a = 3/11, b = 5/11, ρ = 4/11.
    let nothing = FnGram::new(3, |_, _| 0.0);
    let bias_only = OffsetGram::new(&nothing, 1.0);
    let few = Rows::new(&bias_only, u64::MAX, Par::Seq);
    let three = l2_svm(vec![0, 1, 2], vec![1.0, 1.0, -1.0], 1.0).expect("an L2-SVM");
    for method in [StepMethod::Cvm, StepMethod::Mfw, StepMethod::Swap, StepMethod::Pairwise] {
        let config = FrankWolfeConfig { rule: StopRule::Violation, ..FrankWolfeConfig::of(method) };
        let from = |n: usize, dual: &Dual| {
            let mut alpha = vec![0.0; n];
            alpha[1] = 1.0;
            Start::checked(dual, alpha).expect("a vertex")
        };
        let found =
            solve(&dual, &rows, from(5, &dual), &config, &Stop::at(1e-10), &RunControl::unlimited()).expect("solved").solution;
        assert!(found.alpha.iter().all(|a| (a - 0.2).abs() < 1e-9), "{method:?}: {:?}", found.alpha);
        assert!(ordinary(&dual, &found).is_some_and(|l2| (l2.objective + 0.5 / 1.4).abs() < 1e-9));
        let found =
            solve(&three, &few, from(3, &three), &config, &Stop::at(1e-10), &RunControl::unlimited()).expect("solved").solution;
        let expected = [3.0 / 11.0, 3.0 / 11.0, 5.0 / 11.0];
        assert!(found.alpha.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-9), "{method:?}: {:?}", found.alpha);
        let h = decision(&three, &found.alpha, 1.0);
        assert!((h.bias - 1.0 / 11.0).abs() < 1e-9 && h.coef[2] < 0.0, "{method:?}: {h:?}");
    }
}

/// The ordinary scaling against the problem in that scaling, `min ½ aᵀQa − Σ a, a ≥ 0`, solved by
/// trying every active set.
#[test]
fn the_ordinary_scaling_solves_the_ordinary_problem() {
    for seed in 1..=4 {
        for problem in generate::small_simplex(seed) {
            let d = &problem.dual;
            let free = Dual::new(
                d.ids().to_vec(),
                d.sign().to_vec(),
                vec![-1.0; 7],
                d.upper().to_vec(),
                d.ridge(),
                EqualityConstraint::Free,
            );
            let optimum = oracle::solve(&free.expect("a problem"), &problem.gram);
            let config = FrankWolfeConfig { rule: StopRule::Violation, ..FrankWolfeConfig::of(StepMethod::Pairwise) };
            let (outcome, _) = run(&problem, &config, &Stop::at(1e-11), 1);
            let l2 = ordinary(d, &outcome.solution).expect("a positive form");
            let scale = optimum.objective.abs();
            assert!((l2.objective - optimum.objective).abs() <= 1e-8 * scale, "{}: {l2:?}, {optimum:?}", problem.name);
            let near = l2.alpha.iter().zip(&optimum.alpha).all(|(a, b)| (a - b).abs() <= 1e-5 * scale);
            assert!(near, "{}: {l2:?}, {optimum:?}", problem.name);
        }
    }
}

/// `Σ coef k + bias` over the plain kernel equals the certificate's decisions over the kernel with
/// the bias inside.
#[test]
fn the_decision_function_takes_the_bias_out_of_the_kernel() {
    let rng = &mut generate::rng(8);
    let (points, labels) = generate::clouds(rng, 15, 20, 2, 0.4);
    let product = |i: usize, j: usize| points[i].iter().zip(&points[j]).map(|(a, b)| a * b).sum::<f64>();
    let plain = FnGram::new(35, product);
    let gram = OffsetGram::new(&plain, 1.0);
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    let dual = l2_svm((0..35).collect(), labels, 2.0).expect("an L2-SVM");
    let start = random_start(&dual, &rows, POINTS, 1).expect("a start");
    let config = FrankWolfeConfig::of(StepMethod::Pairwise);
    let solution = solve(&dual, &rows, start, &config, &Stop::at(1e-6), &RunControl::unlimited()).expect("solved").solution;
    let h = decision(&dual, &solution.alpha, gram.offset());
    let audited = audit(
        &gram,
        &[AuditPoint { dual: &dual, alpha: &solution.alpha, bias: solution.bias, weights: None, known: None }],
        Par::Seq,
        &RunControl::unlimited(),
    )
    .expect("unlimited")
    .remove(0);
    for (i, decision) in audited.sums.iter().enumerate() {
        let value = (0..35).map(|k| h.coef[k] * product(k, i)).sum::<f64>() + h.bias;
        assert!((value - decision).abs() < 1e-12, "{i}: {value} for {decision}");
    }
}

#[test]
fn the_simple_start_is_a_sample_and_the_one_furthest_from_it() {
    // Four samples on a line, in the linear kernel: Q = y y x x + 1/C.
    let x = [0.0, 1.0, 3.0, 7.0];
    let gram = FnGram::new(4, |i, j| x[i] * x[j]);
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    let dual = l2_svm((0..4).collect(), vec![1.0; 4], 0.5).expect("dual");
    // The squared distances are those of the line and 2/C: 7 is furthest from 0, 1 and 3, and 0
    // from 7.
    let mut firsts = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let start = two_point_start(&dual, &rows, seed).expect("a start");
        assert_eq!(start, two_point_start(&dual, &rows, seed).expect("a start"));
        let held: Vec<usize> = (0..4).filter(|&k| start.alpha()[k] > 0.0).collect();
        assert!(held.iter().all(|&k| start.alpha()[k] == 0.5), "{held:?}");
        assert!([[0, 3], [1, 3], [2, 3]].iter().any(|pair| held == pair), "{held:?}");
        firsts.insert(held);
    }
    assert_eq!(firsts.len(), 3, "the seed draws the first sample");
    let one = l2_svm(vec![2], vec![1.0], 0.5).expect("dual");
    assert_eq!(two_point_start(&one, &rows, 1).expect("a start").alpha(), [1.0]);
}

#[test]
fn random_starts_are_the_optimum_of_their_points() {
    let problem = &generate::medium_simplex(9, 60)[0];
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = random_start(&problem.dual, &rows, 7, 3).expect("a start");
    assert_eq!(start, random_start(&problem.dual, &rows, 7, 3).expect("a start"));
    assert_ne!(start, random_start(&problem.dual, &rows, 7, 4).expect("a start"));
    let gradient = problem.gradient(start.alpha());
    let square = 2.0 * problem.objective(start.alpha());
    let support: Vec<usize> = (0..60).filter(|&k| start.alpha()[k] > 0.0).collect();
    assert!((1..=7).contains(&support.len()));
    // Kernel values are f32 here.
    assert!(support.iter().all(|&k| (gradient[k] - square).abs() < 1e-6), "all of the support at the same distance");
    let all = random_start(&problem.dual, &rows, 1000, 3).expect("a start");
    assert!(certify(&problem.dual, &problem.gram, &point(all.alpha()), Par::Seq).kkt < 1e-6, "more points than there are: all");
}

/// Plain steps never empty a vertex, so the violation of a vertex falls ever more slowly. The run
/// is given up at a step that depends on the size of the problem only, 10⁹ ns at 100 + 2 · 200/3 ns
/// each, with its present point. Pairwise steps converge.
#[test]
fn a_violation_that_plain_steps_do_not_reach_is_given_up_at_the_same_step_everywhere() {
    let problem = larger(60, 4.0);
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = random_start(&problem.dual, &rows, POINTS, 1).expect("a start");
    let config = |method| FrankWolfeConfig { rule: StopRule::Violation, ..FrankWolfeConfig::of(method) };
    let of = |method, par| {
        let config = FrankWolfeConfig { par, ..config(method) };
        solve(&problem.dual, &rows, start.clone(), &config, &Stop::at(1e-8), &RunControl::unlimited()).expect("a problem")
    };
    let slow = of(StepMethod::Fw, Par::Pool);
    assert_eq!((slow.solution.status, slow.evidence), (Status::Slow, Evidence::None));
    assert_eq!(slow.solution.work.iterations, 7_142_858);
    let certificate = certify(&problem.dual, rows.gram(), &slow.solution, Par::Seq);
    // The gap falls like 1/t.
    let gap = 1e3 / slow.solution.work.iterations as f64;
    assert!(certificate.kkt > 1e-8 && certificate.relative_gap() < gap, "{certificate:?}");
    let done = of(StepMethod::Pairwise, Par::Seq);
    assert!(done.solution.status == Status::Converged && done.solution.work.iterations < 100_000, "{:?}", done.solution.work);
    // A limit of the caller takes precedence.
    let stop = Stop { max_iter: Some(7_150_000), ..Stop::at(1e-8) };
    let limited =
        solve(&problem.dual, &rows, start, &config(StepMethod::Fw), &stop, &RunControl::unlimited()).expect("a problem");
    assert_eq!((limited.solution.status, limited.solution.work.iterations), (Status::IterationLimit, 7_150_000));
}

/// A start with many points has many rows to compute before the first step.
#[test]
fn the_first_rows_of_a_start_are_called_off() {
    let problem = larger(2100, 4.0);
    for method in [StepMethod::Cvm, StepMethod::Fw, StepMethod::Mfw, StepMethod::Swap, StepMethod::Pairwise] {
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let start = Start::checked(&problem.dual, vec![1.0 / 2100.0; 2100]).expect("on the simplex");
        let stop = Stop { max_time: Some(Duration::ZERO), ..Stop::at(1e-3) };
        let outcome = solve(&problem.dual, &rows, start.clone(), &FrankWolfeConfig::of(method), &stop, &RunControl::unlimited())
            .expect("a problem");
        assert_eq!((outcome.solution.status, outcome.evidence), (Status::TimeLimit, Evidence::None), "{method:?}");
        assert_eq!(outcome.solution.alpha, start.alpha(), "{method:?}");
        assert!(
            outcome.solution.gradient.iter().all(|g| g.is_nan()) && outcome.gap.is_nan(),
            "{method:?}: what was not computed is no number"
        );
        assert!(rows.work().computed <= 64, "{method:?}: {} rows after the limit", rows.work().computed);
    }
}

fn point(alpha: &[f64]) -> maxmargin_core::Solution {
    let (gradient, work) = (vec![0.0; alpha.len()], maxmargin_core::Work::default());
    maxmargin_core::Solution { alpha: alpha.to_vec(), bias: 0.0, gradient, status: Status::Stalled, work, weights: None }
}

#[test]
fn one_sample() {
    let one = FnGram::new(1, |_, _| 3.0);
    let rows = Rows::new(&one, u64::MAX, Par::Seq);
    let dual = l2_svm(vec![0], vec![-1.0], 2.0).expect("an L2-SVM");
    for method in ALL {
        for rule in [StopRule::RelativeGap, StopRule::Radius, StopRule::Violation] {
            let start = random_start(&dual, &rows, POINTS, 1).expect("a start");
            let config = FrankWolfeConfig { rule, ..FrankWolfeConfig::of(method) };
            let outcome = solve(&dual, &rows, start, &config, &Stop::at(1e-9), &RunControl::unlimited()).expect("solved");
            assert_eq!((outcome.solution.status, outcome.solution.alpha.as_slice()), (Status::Converged, [1.0].as_slice()));
        }
    }
}

#[test]
fn what_is_no_problem_is_refused() {
    let problem = &generate::medium_simplex(1, 10)[0];
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let d = &problem.dual;
    let other = |linear_term: f64, upper: f64, balance: EqualityConstraint| {
        Dual::new(d.ids().to_vec(), d.sign().to_vec(), vec![linear_term; 10], vec![upper; 10], 1.0, balance).expect("a problem")
    };
    let refused = |dual: &Dual| random_start(dual, &rows, 3, 1).expect_err("refused");
    assert_eq!(
        refused(&other(0.0, 1.0, EqualityConstraint::Sum(1.0))),
        FrankWolfeError::EqualityConstraint(EqualityConstraint::Sum(1.0))
    );
    assert_eq!(refused(&other(-1.0, 1.0, EqualityConstraint::Simplex)), FrankWolfeError::Linear { variable: 0, value: -1.0 });
    assert_eq!(refused(&other(0.0, 0.5, EqualityConstraint::Simplex)), FrankWolfeError::Upper { variable: 0, value: 0.5 });
    assert!(matches!(random_start(d, &rows, 0, 1), Err(FrankWolfeError::NoPoints { .. })));
    let missing = l2_svm(vec![0, 10], vec![1.0, -1.0], 1.0).expect("a problem of another matrix");
    assert_eq!(refused(&missing), FrankWolfeError::Row { row: 10, rows: 10 });
    let small = &generate::medium_simplex(1, 4)[0].dual;
    let start = Start::checked(small, vec![0.25; 4]).expect("feasible");
    let config = FrankWolfeConfig::of(StepMethod::Fw);
    let refused = solve(d, &rows, start, &config, &Stop::at(1e-3), &RunControl::unlimited());
    assert_eq!(refused, Err(FrankWolfeError::Start { found: 4, expected: 10 }));
    let sampling = Some(Sampling::of(0, 1, Finish::Scan));
    let start = random_start(d, &rows, 3, 1).expect("a start");
    let refused = solve(d, &rows, start, &FrankWolfeConfig { sampling, ..config }, &Stop::at(1e-3), &RunControl::unlimited());
    assert_eq!(refused, Err(FrankWolfeError::NoPoints { what: "a sample" }));
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(l2_svm(vec![0], vec![1.0], c), Err(DualError::NotFinite { what: "ridge", .. })), "{c}");
    }
}

/// Kernel values that are NaN or infinite: an error or a status, never a panic, and never a claim.
#[test]
fn kernels_that_are_none() {
    let mixed = FnGram::new(40, |i, j| if i % 5 == 3 && j % 7 == 2 { f64::NAN } else { f64::from(u8::from(i == j)) });
    let infinite = FnGram::new(40, |i, j| if i == j { f64::INFINITY } else { 0.0 });
    let labels = || (0..40).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let dual = l2_svm((0..40).collect(), labels(), 1.0).expect("an L2-SVM");
    let gram: [&dyn Gram; 2] = [&mixed, &infinite];
    for gram in gram {
        let rows = Rows::new(gram, u64::MAX, Par::Seq);
        for method in ALL {
            for sampling in [None, Some(Sampling::of(5, 1, Finish::Scan))] {
                let start = random_start(&dual, &rows, 6, 1);
                let start = start.unwrap_or_else(|_| Start::project(&dual, vec![0.0; 40]).expect("feasible"));
                let config = FrankWolfeConfig { sampling, ..FrankWolfeConfig::of(method) };
                let stop = Stop { max_iter: Some(1000), ..Stop::at(1e-3) };
                let outcome = solve(&dual, &rows, start, &config, &stop, &RunControl::unlimited()).expect("an L2-SVM");
                let certificate = certify(&dual, gram, &outcome.solution, Par::Seq);
                let claims = outcome.solution.status == Status::Converged;
                assert!(!claims || certificate.relative_gap() <= 1e-3, "{method:?}: {certificate:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(48))]
    /// Every stop is at a point of the simplex. A run that continues from there is never worse, and
    /// α of duplicates may be exchanged.
    #[test]
    fn feasible_and_monotone(seed in 0_u64..300, most in 1_u64..60) {
        for problem in generate::medium_simplex(seed, 24) {
            for method in ALL {
                let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
                let mut start = random_start(&problem.dual, &rows, 4, seed).expect("a start");
                let mut last = problem.objective(start.alpha());
                for _ in 0..4 {
                    let stop = Stop { max_iter: Some(most), ..Stop::at(1e-8) };
                    let outcome = solve(&problem.dual, &rows, start, &FrankWolfeConfig::of(method), &stop, &RunControl::unlimited());
                    let outcome = outcome.expect("solved");
                    let alpha = outcome.solution.alpha;
                    prop_assert!(outcome.solution.work.iterations <= most);
                    prop_assert!(alpha.iter().all(|a| *a >= 0.0) && (alpha.iter().sum::<f64>() - 1.0).abs() <= 1e-12);
                    let objective = problem.objective(&alpha);
                    // Gains are measured by kernel values in f32.
                    prop_assert!(objective <= last * (1.0 + 1e-5), "{}, {:?}: {} after {}", problem.name, method, objective, last);
                    let gap = certify(&problem.dual, &problem.gram, &point(&alpha), Par::Seq).gap();
                    prop_assert!(gap >= -problem.rounding(&alpha), "{}, {:?}: {}", problem.name, method, gap);
                    last = objective;
                    start = Start::checked(&problem.dual, alpha).expect("on the simplex");
                }
            }
        }
    }
}
