//! The linear solvers on problems without kernel: against each other, and on unusual problems.

use maxmargin_core::{BiasTerm, Dual, DualError, EqualityConstraint, Goal, Progress, RunControl, Start, Status, Stop};
use maxmargin_data::{Generator, Par, Samples};
use maxmargin_linear::{Config, LinearError, LinearSolution, Matrix, Method, solve};
use maxmargin_testkit::strategies::any_problem;
use proptest::prelude::*;
use std::ops::ControlFlow;

const ALL: [Method; 4] = [Method::Hybrid, Method::Newton, Method::Descent, Method::Avsf];

fn hinge(labels: &[f64], c: Vec<f64>, balance: EqualityConstraint) -> Dual {
    let n = labels.len();
    Dual::new((0..n).collect(), labels.to_vec(), vec![-1.0; n], c, 0.0, balance).expect("a problem")
}

fn run(samples: &Samples, feature: Option<f64>, dual: &Dual, config: &Config, stop: &Stop) -> LinearSolution {
    let matrix = Matrix::new(samples, feature, config.par);
    let start = Start::zero(dual).expect("zero is feasible");
    solve(&matrix, dual, start, config, stop, &RunControl::unlimited()).expect("a linear problem")
}

fn by(method: Method) -> Config {
    Config { method, ..Config::default() }
}

#[test]
fn two_points_by_hand() {
    // One support vector on each side: w = 1, α₁ + α₂ = 1, objective ½.
    let samples = Samples::from_dense(2, 1, vec![1.0, -1.0]).expect("samples");
    let dual = hinge(&[1.0, -1.0], vec![10.0; 2], EqualityConstraint::Free);
    for method in ALL {
        let found = run(&samples, None, &dual, &by(method), &Stop::at(1e-9));
        assert!((found.certificate.dual - 0.5).abs() < 1e-9, "{method:?}: {found:?}");
        assert!((found.w[0].1 - 1.0).abs() < 1e-8, "{method:?}");
    }
    // Shifted by 5, the bias takes the shift: w = 1, b = −5.
    let samples = Samples::from_dense(2, 1, vec![6.0, 4.0]).expect("samples");
    let dual = hinge(&[1.0, -1.0], vec![10.0; 2], EqualityConstraint::Sum(0.0));
    for method in [Method::Hybrid, Method::Newton] {
        let found = run(&samples, None, &dual, &by(method), &Stop::at(1e-9));
        assert!((found.w[0].1 - 1.0).abs() < 1e-8 && (found.solution.bias + 5.0).abs() < 1e-7, "{method:?}: {found:?}");
    }
    // Squared hinge, C = ½: min ½w² + 2 · ½ (1 − w)² has w = 2/3, objective 2/9 + 1/9.
    let samples = Samples::from_dense(2, 1, vec![1.0, -1.0]).expect("samples");
    let dual = Dual::squared_hinge(vec![0, 1], vec![1.0, -1.0], &[0.5; 2], BiasTerm::None).expect("a problem");
    for method in ALL {
        let found = run(&samples, None, &dual, &by(method), &Stop::at(1e-9));
        assert!((found.certificate.primal - 1.0 / 3.0).abs() < 1e-8, "{method:?}: {found:?}");
        assert!((found.w[0].1 - 2.0 / 3.0).abs() < 1e-8, "{method:?}");
    }
}

#[test]
fn shrinking_changes_the_way_and_not_the_optimum() {
    let data = Generator::Blobs.generate(400, Some(8), 3).expect("data");
    let dual = hinge(&data.labels, vec![10.0; 400], EqualityConstraint::Free);
    let of = |method, shrinking| run(&data.samples, None, &dual, &Config { shrinking, ..by(method) }, &Stop::at(1e-6));
    // A sweep over all variables makes a step on each (adaptive schedules on a few less); one on
    // active variables makes fewer.
    let share = |found: &LinearSolution| found.work.steps as f64 / (400 * found.work.sweeps) as f64;
    for (method, own) in [(Method::Descent, true), (Method::Avsf, false)] {
        let found = [false, true].map(|shrinking| of(method, Some(shrinking)));
        let [whole, shrunk] = &found;
        assert!(share(whole) > 0.97 && share(shrunk) < 0.8, "{method:?}: {:?}, {:?}", whole.work, shrunk.work);
        assert_eq!(of(method, None), found[usize::from(own)], "{method:?}");
        for found in &found {
            assert!(found.certificate.holds(2e-6), "{method:?}: {:?}", found.certificate);
            assert!(found.certificate.dual <= whole.certificate.primal && whole.certificate.dual <= found.certificate.primal);
        }
    }
    assert_eq!(of(Method::Descent, Some(false)).work.steps, 400 * of(Method::Descent, Some(false)).work.sweeps);
}

#[test]
fn a_bias_feature_is_a_column_of_the_data() {
    let data = Generator::Blobs.generate(60, Some(3), 4).expect("data");
    let with: Vec<f64> = (0..60)
        .flat_map(|i| {
            let mut row = vec![0.0; 4];
            data.samples.row(i).for_each(|j, v| row[j] = v);
            row[3] = 2.0;
            row
        })
        .collect();
    let with = Samples::from_dense(60, 4, with).expect("samples");
    let dual = hinge(&data.labels, vec![1.0; 60], EqualityConstraint::Free);
    for method in ALL {
        let a = run(&data.samples, Some(2.0), &dual, &by(method), &Stop::at(1e-10));
        let b = run(&with, None, &dual, &by(method), &Stop::at(1e-10));
        assert!((a.certificate.dual - b.certificate.dual).abs() < 1e-8, "{method:?}");
        let weight = b.w.iter().find(|w| w.0 == 3).map_or(0.0, |w| w.1);
        assert!((a.solution.bias - 2.0 * weight).abs() < 1e-6, "{method:?}: {} {weight}", a.solution.bias);
    }
}

#[test]
fn rows_of_zeros_are_settled_at_once() {
    let samples = Samples::from_sparse(2, vec![0, 1, 1, 2, 2], vec![0, 1], vec![1.0, 2.0]).expect("samples");
    let dual = hinge(&[1.0, 1.0, -1.0, -1.0], vec![3.0; 4], EqualityConstraint::Free);
    for method in ALL {
        let found = run(&samples, None, &dual, &by(method), &Stop::at(1e-9));
        assert_eq!((found.solution.alpha[1], found.solution.alpha[3]), (3.0, 3.0), "{method:?}");
        assert!(found.certificate.holds(1e-9) && found.certificate.relative_gap() < 1e-9, "{method:?} {found:?}");
    }
}

/// From 0 the gain of the sweeps is the dual objective, including rows of zeros, which are settled
/// before the first sweep.
#[test]
fn progress_tells_what_sweeps_have_gained() {
    let data = Generator::Blobs.generate(80, Some(3), 4).expect("data");
    let mut values = vec![0.0; 81 * 3];
    (0..80).for_each(|i| data.samples.row(i).for_each(|j, v| values[3 * i + j] = v));
    let samples = Samples::from_dense(81, 3, values).expect("samples");
    let labels: Vec<f64> = data.labels.iter().copied().chain([1.0]).collect();
    let (dual, matrix) = (hinge(&labels, vec![2.0; 81], EqualityConstraint::Free), Matrix::new(&samples, None, Par::Seq));
    for method in [Method::Descent, Method::Avsf] {
        let mut told = Vec::new();
        let observer = |progress: &Progress| {
            told.push(progress.gained);
            ControlFlow::Continue(())
        };
        let start = Start::zero(&dual).expect("zero is feasible");
        let found =
            solve(&matrix, &dual, start, &by(method), &Stop::at(1e-9), &RunControl::new(observer)).expect("a linear problem");
        let best = found.certificate.dual;
        // Sums of a few thousand gains, and a last sweep with a negligible gain.
        let last = *told.last().expect("several sweeps");
        assert!((last - best).abs() < 1e-9 * best, "{method:?}: {last} for {best}");
        assert!(told[0] > 2.0 && told.windows(2).all(|two| two[0] <= two[1]), "{method:?}: {told:?}");
    }
}

#[test]
fn one_class_without_bias_is_a_problem() {
    let samples = Samples::from_dense(3, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).expect("samples");
    let dual = hinge(&[1.0; 3], vec![1.0; 3], EqualityConstraint::Free);
    for method in ALL {
        let found = run(&samples, None, &dual, &by(method), &Stop::at(1e-9));
        // w = (1, 1) satisfies all three margins, and the first two are tight.
        assert!((found.certificate.dual - 1.0).abs() < 1e-8, "{method:?} {found:?}");
    }
    let squared = Dual::squared_hinge(vec![0, 1], vec![1.0; 2], &[1.0; 2], BiasTerm::Free);
    assert_eq!(squared, Err(DualError::OneClass));
}

#[test]
fn what_cannot_be_is_refused() {
    let samples = Samples::from_dense(2, 1, vec![1.0, -1.0]).expect("samples");
    let matrix = Matrix::new(&samples, None, Par::Seq);
    let attempt = |dual: &Dual, method| {
        let start = Start::checked(dual, vec![0.0; dual.len()]).expect("feasible");
        solve(&matrix, dual, start, &by(method), &Stop::at(1e-3), &RunControl::unlimited()).map(|s| s.solution.status)
    };
    let summed = hinge(&[1.0, -1.0], vec![1.0; 2], EqualityConstraint::Sum(0.0));
    assert!(matches!(attempt(&summed, Method::Descent), Err(LinearError::EqualityConstraint { .. })));
    assert!(matches!(attempt(&summed, Method::Avsf), Err(LinearError::EqualityConstraint { .. })));
    let hard = hinge(&[1.0, -1.0], vec![f64::INFINITY; 2], EqualityConstraint::Free);
    assert_eq!(attempt(&hard, Method::Hybrid), Err(LinearError::Unbounded(0)));
    let far =
        Dual::new(vec![0, 5], vec![1.0, -1.0], vec![-1.0; 2], vec![1.0; 2], 0.0, EqualityConstraint::Free).expect("a problem");
    assert_eq!(attempt(&far, Method::Hybrid), Err(LinearError::Row { row: 5, rows: 2 }));
    let start = Start::zero(&hinge(&[1.0; 3], vec![1.0; 3], EqualityConstraint::Free)).expect("feasible");
    let found = solve(&matrix, &summed, start, &by(Method::Hybrid), &Stop::at(1e-3), &RunControl::unlimited());
    assert_eq!(found.err(), Some(LinearError::Start { found: 3, expected: 2 }));
}

#[test]
fn limits_and_watches_end_a_run_with_an_honest_certificate() {
    let data = Generator::Blobs.generate(3000, Some(8), 9).expect("data");
    let dual = hinge(&data.labels, vec![100.0; 3000], EqualityConstraint::Free);
    for method in ALL {
        let stop = Stop { max_iter: Some(1), ..Stop::at(1e-9) };
        let found = run(&data.samples, None, &dual, &by(method), &stop);
        assert_eq!(found.solution.status, Status::IterationLimit, "{method:?}");
        assert!(found.certificate.infeasible <= 1e-9 && found.certificate.gap() >= 0.0, "{method:?}");
        let matrix = Matrix::new(&data.samples, None, Par::Seq);
        let mut seen = 0;
        let observer = |progress: &Progress| {
            seen += 1;
            assert!(progress.tol > 0.0);
            if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let start = Start::zero(&dual).expect("feasible");
        let found = solve(&matrix, &dual, start, &by(method), &Stop::at(1e-9), &RunControl::new(observer)).expect("a problem");
        assert_eq!((found.solution.status, seen), (Status::Interrupted, 2), "{method:?}");
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    // More rows than a chunk of every pass, in every form of storage.
    let text = Generator::SparseText.generate(9000, Some(2048), 3).expect("data");
    let blobs = Generator::Blobs.generate(20_000, Some(6), 3).expect("data");
    for (data, c) in [(&text, 1.0), (&text, 1000.0), (&blobs, 100.0)] {
        for balance in [EqualityConstraint::Free, EqualityConstraint::Sum(0.0)] {
            let dual = hinge(&data.labels, vec![c; data.labels.len()], balance);
            for method in [Method::Hybrid, Method::Newton] {
                let stop = Stop { max_iter: Some(200_000), ..Stop::at(1e-2) };
                let alone = run(&data.samples, None, &dual, &by(method), &stop);
                let together = pool.install(|| run(&data.samples, None, &dual, &Config { par: Par::Pool, ..by(method) }, &stop));
                assert_eq!(alone, together, "C = {c}, {balance:?}, {method:?}");
            }
        }
    }
}

#[test]
fn a_solution_is_its_own_warm_start() {
    let data = Generator::Blobs.generate(2000, Some(5), 2).expect("data");
    for (balance, methods) in [(EqualityConstraint::Free, &ALL[..]), (EqualityConstraint::Sum(0.0), &ALL[..2])] {
        let dual = hinge(&data.labels, vec![10.0; 2000], balance);
        let matrix = Matrix::new(&data.samples, None, Par::Seq);
        for &method in methods {
            let cold = run(&data.samples, None, &dual, &by(method), &Stop::at(1e-4));
            let start = Start::checked(&dual, cold.solution.alpha.clone()).expect("feasible");
            let warm = solve(&matrix, &dual, start, &by(method), &Stop::at(1e-2), &RunControl::unlimited()).expect("a problem");
            let (a, b) = (cold.solution.work.iterations, warm.solution.work.iterations);
            assert!(4 * b <= a || b <= 3 * 2000, "{method:?} {balance:?}: {a} cold, {b} warm");
            assert!(warm.certificate.dual >= cold.certificate.dual - 1e-6 * cold.certificate.dual, "{method:?}");
        }
    }
}

#[test]
fn the_time_hardly_depends_on_c() {
    let data = Generator::Blobs.generate(4000, Some(10), 6).expect("data");
    let steps = |c: f64| {
        let dual = hinge(&data.labels, vec![c; 4000], EqualityConstraint::Free);
        let stop = Stop::when(Goal::Both { kkt: 1e-3, gap: 1e-8 });
        let found = run(&data.samples, None, &dual, &Config::default(), &stop);
        assert_eq!(found.solution.status, Status::Converged, "C = {c}");
        assert!(found.certificate.holds(1e-3) && found.certificate.relative_gap() <= 1e-8, "C = {c}: {:?}", found.certificate);
        found.work.newton_steps
    };
    let found: Vec<u64> = [1.0, 100.0, 1e4, 1e6].into_iter().map(steps).collect();
    assert!(found.iter().all(|&s| s <= 200), "{found:?}");
}

/// On unscaled features at a large C coordinate steps converge too slowly. They are given up at the
/// second forecast, after the steps of 2 · 10⁹ ns at 20 + 2 · 4 ns each and the rest of a sweep.
/// Newton steps converge.
#[test]
fn sweeps_that_do_not_arrive_are_given_up() {
    let labels: Vec<f64> = (0..200).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let value = |at: usize| 1000.0 + 100.0 * ((at * at * 7919 % 1009) as f64 / 1009.0 + labels[at / 4] * (at % 4) as f64 / 8.0);
    let samples = Samples::from_dense(200, 4, (0..800).map(value).collect()).expect("samples");
    let dual = hinge(&labels, vec![1e6; 200], EqualityConstraint::Free);
    for method in [Method::Descent, Method::Avsf] {
        let found = run(&samples, None, &dual, &by(method), &Stop::at(1e-2));
        assert_eq!(found.solution.status, Status::Slow, "{method:?}: {:?}", found.certificate);
        assert!((71_428_572..71_428_572 + 400).contains(&found.work.steps), "{method:?}: {:?}", found.work);
        assert!(found.certificate.kkt > 1e-2);
    }
    let newton = run(&samples, None, &dual, &Config::default(), &Stop::at(1e-2));
    assert_eq!(newton.solution.status, Status::Converged, "{:?}", newton.certificate);
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(96))]

    /// All methods reach the same objective, with certificates that hold and feasible α.
    #[test]
    fn methods_agree((samples, labels, c) in any_problem(), feature in proptest::option::of(0.5..2.0_f64), squared in any::<bool>()) {
        let ids: Vec<usize> = (0..labels.len()).collect();
        let dual = if squared {
            Dual::squared_hinge(ids, labels.clone(), &c, BiasTerm::None).expect("a problem")
        } else {
            hinge(&labels, c.clone(), EqualityConstraint::Free)
        };
        // Coordinate descent may need very long where Newton steps are fast: it gets a limit, and
        // must agree if it ends within it.
        let stop = Stop { max_iter: Some(400_000), ..Stop::at(1e-6) };
        let best = run(&samples, feature, &dual, &by(Method::Newton), &stop);
        prop_assert_eq!(best.solution.status, Status::Converged);
        prop_assert!(best.certificate.holds(1e-6), "{:?}", best.certificate);
        for method in ALL {
            let found = run(&samples, feature, &dual, &by(method), &stop);
            let certificate = found.certificate;
            prop_assert!(certificate.infeasible <= 1e-9, "{method:?} {certificate:?}");
            let scale = certificate.primal.abs().max(1.0);
            prop_assert!(certificate.gap() >= -1e-9 * scale, "{method:?} {certificate:?}");
            // Weak duality holds between any two points.
            prop_assert!(certificate.primal >= best.certificate.dual - 1e-9 * scale, "{method:?}");
            prop_assert!(best.certificate.primal >= certificate.dual - 1e-9 * scale, "{method:?}");
            if method == Method::Hybrid {
                prop_assert_eq!(found.solution.status, Status::Converged);
                prop_assert!(certificate.holds(1e-6), "{certificate:?}");
            }
        }
    }
}

/// A sweep over much data was once not cancelled before its end: at most some millions of entries
/// pass between two checks now.
#[test]
fn a_sweep_is_called_off_inside() {
    let (rows, features) = (40_000, 250);
    let data = Generator::Blobs.generate(rows, Some(features), 3).expect("data");
    let dual = hinge(&data.labels, vec![1.0; rows], EqualityConstraint::Free);
    let matrix = Matrix::new(&data.samples, None, Par::Seq);
    for method in [Method::Descent, Method::Avsf, Method::Hybrid] {
        let mut told = 0;
        let observer = |_: &Progress| {
            told += 1;
            ControlFlow::Break(())
        };
        let start = Start::zero(&dual).expect("feasible");
        let found = solve(&matrix, &dual, start, &by(method), &Stop::at(1e-6), &RunControl::new(observer)).expect("a problem");
        assert_eq!((found.solution.status, told), (Status::Interrupted, 1), "{method:?}");
        // One entry multiplied and one added for each that a step reads.
        let most = (1 << 22) / features as u64 + 1;
        assert!(found.work.steps <= most, "{method:?}: {} steps, {most} between two questions", found.work.steps);
        assert!(found.certificate.infeasible <= 1e-9, "{method:?}: {:?}", found.certificate);
    }
}
