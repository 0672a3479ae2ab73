//! The parts of a study: every solver, scaling, widths by a rule, custom kernels; and changes of
//! the data that must not change the result.

use crate::common::{Case, certified, same_optima};
use maxmargin_core::{Alternative, BiasTerm, Formulation, Goal, Loss, Reason, RunControl, Status, Stop};
use maxmargin_cv::{CvError, CvReport, FoldPlan, Seeding};
use maxmargin_data::scale::{ScaleMethod, Scaler};
use maxmargin_data::{ClassLabels, Dataset, Generator, Par};
use maxmargin_kernel::{Gamma, Kernel};
use maxmargin_solvers::Solver;
use maxmargin_testkit::{conformance, generate};
use proptest::prelude::*;
use rand::RngExt;

/// Clouds of three features on very different scales.
fn uneven(rows: usize, seed: u64) -> Dataset {
    let (points, labels) = generate::clouds(&mut generate::rng(seed), rows / 2, rows - rows / 2, 3, 0.3);
    let points: Vec<Vec<f64>> = points.iter().map(|x| vec![x[0], 1e3 * x[1] + 7.0, 1e-2 * x[2]]).collect();
    Dataset::from_rows(&points, &labels).expect("data")
}

/// The same with a class for each quadrant of two features.
fn uneven_four(rows: usize, seed: u64) -> Dataset {
    let mut data = uneven(rows, seed);
    for i in 0..rows {
        let x = data.samples.row(i).entries().iter().find(|e| e.0 == 2).map_or(0.0, |e| e.1);
        data.labels[i] += if x + 2e-3 * ((i % 5) as f64 - 2.0) > 0.0 { 4.0 } else { 0.0 };
    }
    data
}

/// Every solver keeps what [`maxmargin_core::Solve`] promises; at 10⁻⁶ `smo` has its finish.
#[test]
fn every_solver_conforms() {
    for solver in Solver::ALL {
        let gap = matches!(solver.goal(), Goal::Gap(_));
        conformance::run_solver_to(&*solver.build(1), |tol| if gap { solver.goal() } else { Goal::Kkt(tol) });
    }
}

/// Every solver on its own problem, two classes and four, cold and from the models of all data.
#[test]
fn every_solver_cross_validates() {
    for solver in Solver::ALL {
        let features = matches!(solver, Solver::Linear | Solver::Descent | Solver::Avsf | Solver::Newton);
        for classes in [2, 4] {
            let kernel = if features { Kernel::Linear } else { Kernel::Rbf { gamma: 1.5 } };
            let data = if classes == 2 {
                Generator::Banana.generate(80, None, 3).expect("data")
            } else {
                crate::common::four_classes(90, 3)
            };
            let mut case = Case::new(data, 3, kernel, 1.0, 2).by(solver).at(1e-4);
            if matches!(solver, Solver::Descent | Solver::Avsf) {
                case.formulation = Formulation::Svc { c: 1.0, loss: Loss::Hinge, bias_term: BiasTerm::Feature(1.0) };
            }
            let what = |seeding: Seeding| format!("{}, {classes} classes, {}", solver.name(), seeding.name());
            let cold = case.run(Seeding::Cold);
            certified(&case, &cold, &what(Seeding::Cold));
            let full = case.run(Seeding::Full);
            certified(&case, &full, &what(Seeding::Full));
            same_optima(&cold, &full, &what(Seeding::Full));
            assert_eq!(cold.machines, case.classes.pairs());
            let trained = case.train();
            assert_eq!(trained.status, Status::Converged, "{}", solver.name());
            assert!(trained.certificate.holds && trained.machines.len() == cold.machines, "{}", solver.name());
            assert_eq!(trained.model.record().expect("a record").solver, solver.name());
        }
    }
}

/// A solver that does not support the problem refuses it before any work, and names alternatives.
#[test]
fn refusals_name_what_to_take() {
    let mut case = Case::generated(Generator::Blobs, 40, 2, 0.5, 1.0, 7);
    for (solver, loss, reason) in [
        (Solver::Linear, Loss::Hinge, Reason::NoFeatures),
        (Solver::Cvm, Loss::Hinge, Reason::Loss(Loss::SquaredHinge)),
        (Solver::Irwls, Loss::SquaredHinge, Reason::Loss(Loss::Hinge)),
    ] {
        case.solver = solver.build(1);
        case.formulation = Formulation::Svc { c: 1.0, loss, bias_term: BiasTerm::Free };
        let refused = case.try_run(Seeding::Cold).expect_err("refused");
        let CvError::Refused(refused) = refused else { panic!("{refused}") };
        assert_eq!(refused.reason, reason);
        assert!(refused.alternatives.contains(&Alternative::Solver("smo")), "{refused}");
        assert!(case.study(Par::Seq).train(&RunControl::unlimited()).is_err());
    }
    let case = Case::generated(Generator::Blobs, 40, 2, 0.5, 1.0, 7).by(Solver::Pairwise);
    let weighted = Case { weights: vec![1.0, 2.0], ..case };
    let refused = weighted.try_run(Seeding::Cold).expect_err("refused");
    assert!(matches!(&refused, CvError::Refused(refused) if refused.reason == Reason::Weights), "{refused}");
    for c in [-1.0, f64::NAN, f64::INFINITY] {
        let case = Case::generated(Generator::Blobs, 40, 2, 0.5, c, 7);
        assert!(matches!(case.try_run(Seeding::Cold), Err(CvError::Fold { .. } | CvError::Data(_))), "{c}");
        assert!(case.study(Par::Seq).train(&RunControl::unlimited()).is_err(), "{c}");
    }
}

/// A cross-validation of scaled folds by definition: each fold is scaled by its training rows,
/// trained and tested.
fn scaled_by_hand(case: &Case) -> (Vec<f64>, Vec<f64>) {
    let (mut predicted, mut objectives) = (vec![0.0; case.len()], Vec::new());
    for fold in 0..case.plan.folds() {
        let train = case.training_rows(fold);
        let test: Vec<usize> = (0..case.len()).filter(|i| !train.contains(i)).collect();
        let scaler = Scaler::fit_rows(&case.data.samples, train.iter().copied(), case.scale.expect("scaled"));
        let all = Dataset { samples: scaler.apply(&case.data.samples).expect("scaled"), ..case.data.clone() };
        let data = all.select(&train);
        let mut by_hand = Case::new(data, 2, case.kernel.clone(), case.formulation.c().expect("C"), 1).at(case.stop.goal.tol());
        by_hand.gamma = case.gamma;
        by_hand.formulation = case.formulation;
        by_hand.solver = case.solver.name().parse::<Solver>().expect("a name").build(1);
        let trained = by_hand.train();
        objectives.push(trained.machines.iter().map(|m| m.objective).sum());
        let labels = trained.model.predict(&all.samples.select(&test), Par::Seq).expect("labels");
        test.iter().zip(labels).for_each(|(&i, label)| predicted[i] = label);
    }
    (predicted, objectives)
}

fn near(report: &CvReport, objectives: &[f64], tol: f64, what: &str) {
    for (fold, expected) in report.folds.iter().zip(objectives) {
        assert!((fold.objective - expected).abs() <= tol * (1.0 + expected.abs()), "{what}: {} {expected}", fold.objective);
    }
}

#[test]
fn folds_are_scaled_by_their_training_rows() {
    for data in [uneven(90, 4), uneven_four(120, 5)] {
        for (method, gamma, kernel, solver) in [
            (ScaleMethod::Standard, None, Kernel::Rbf { gamma: 0.4 }, Solver::Smo),
            (ScaleMethod::MinMax { lower: -1.0, upper: 1.0 }, Some(Gamma::Scale), Kernel::Rbf { gamma: 1.0 }, Solver::Smo),
            (ScaleMethod::MinMax { lower: 0.0, upper: 1.0 }, Some(Gamma::Mean), Kernel::Rbf { gamma: 1.0 }, Solver::Smo),
            (ScaleMethod::Standard, None, Kernel::Linear, Solver::Linear),
        ] {
            let mut case = Case::new(data.clone(), 3, kernel, 2.0, 1).by(solver).at(1e-8);
            (case.scale, case.gamma) = (Some(method), gamma);
            let what = format!("{method:?}, {}", solver.name());
            let (predicted, objectives) = scaled_by_hand(&case);
            for seeding in [Seeding::Cold, Seeding::Full] {
                let report = case.run(seeding);
                certified(&case, &report, &what);
                near(&report, &objectives, 1e-6, &what);
                assert_eq!(report.predicted, predicted, "{what}");
                // Each fold is a study of its own: no fold is seeded, and the report says `cold`.
                assert_eq!((report.seeding, report.full.is_none()), ("cold", true), "{what}");
            }
        }
    }
}

/// Folds that share no kernel are trained for each value of C.
#[test]
fn scaled_folds_for_several_values_of_c() {
    let mut case = Case::new(uneven_four(120, 5), 3, Kernel::Rbf { gamma: 0.4 }, 1.0, 1).at(1e-8);
    case.scale = Some(ScaleMethod::Standard);
    let values = [0.5, 5.0];
    let reports =
        case.study(Par::Seq).cross_validate_along(&values, &case.plan, Seeding::Full, &RunControl::unlimited()).expect("reports");
    for (report, c) in reports.iter().zip(values) {
        case.formulation = Formulation::c_svc(c);
        let (predicted, objectives) = scaled_by_hand(&case);
        certified(&case, report, "scaled");
        near(report, &objectives, 1e-6, "scaled");
        assert_eq!((report.c, &report.predicted), (Some(c), &predicted));
    }
}

/// A training set of one class predicts it, both with a shared kernel and with folds scaled
/// separately.
#[test]
fn one_class_left_by_a_fold() {
    let mut case = Case::new(uneven(40, 3), 2, Kernel::Linear, 1.0, 1);
    let signs = case.signs();
    let text = signs.iter().fold(String::new(), |text, sign| text + if *sign > 0.0 { "0\n" } else { "1\n" });
    case.plan = FoldPlan::from_text(&text, 40).expect("folds");
    case.solver = Solver::Linear.build(1);
    for scale in [None, Some(ScaleMethod::Standard)] {
        case.scale = scale;
        for bias_term in [BiasTerm::Free, BiasTerm::None] {
            case.formulation = Formulation::Svc { c: 1.0, loss: Loss::Hinge, bias_term };
            let report = case.run(Seeding::Cold);
            assert!(report.correct == 0 && report.accuracy == Some(0.0), "{scale:?}, {bias_term:?}");
            assert_eq!(report.predicted, signs.iter().map(|sign| -sign).collect::<Vec<f64>>(), "{scale:?}, {bias_term:?}");
        }
    }
}

/// If every training set has the extremes of every feature, all folds share one kernel, and are
/// seeded.
#[test]
fn folds_that_scale_alike_share_a_kernel() {
    // Every point three times, one copy to a fold.
    let one = uneven(30, 8);
    let data = one.select(&(0..90).map(|i| i / 3).collect::<Vec<usize>>());
    let mut case = Case::new(data, 3, Kernel::Rbf { gamma: 0.4 }, 2.0, 1).at(1e-8);
    case.plan = FoldPlan::from_text(&"0\n1\n2\n".repeat(30), 90).expect("folds");
    case.scale = Some(ScaleMethod::MinMax { lower: 0.0, upper: 1.0 });
    let (predicted, objectives) = scaled_by_hand(&case);
    let report = case.run(Seeding::Full);
    certified(&case, &report, "shared");
    near(&report, &objectives, 1e-6, "shared");
    assert_eq!((report.predicted, report.seeding, report.full.is_some()), (predicted, "full", true));
    let reports = case
        .study(Par::Seq)
        .cross_validate_along(&[2.0, 4.0], &case.plan, Seeding::Full, &RunControl::unlimited())
        .expect("reports");
    near(&reports[0], &objectives, 1e-6, "along");
}

/// A width by a rule without scaling is that of all data, as in LIBSVM's programs.
#[test]
fn widths_by_a_rule() {
    let data = Generator::Banana.generate(80, None, 5).expect("data");
    for rule in [Gamma::Scale, Gamma::Mean] {
        let width = rule.of(&data.samples);
        let mut ruled = Case::new(data.clone(), 4, Kernel::Rbf { gamma: 1.0 }, 5.0, 1);
        ruled.gamma = Some(rule);
        let named = Case::new(data.clone(), 4, Kernel::Rbf { gamma: width }, 5.0, 1);
        let (a, b) = (ruled.run(Seeding::Full), named.run(Seeding::Full));
        assert_eq!((a.decisions, a.iterations), (b.decisions, b.iterations));
        assert_eq!(ruled.train().model.kernel(), &named.kernel);
    }
}

/// A custom kernel with the values of the Gaussian gives the machines of the Gaussian.
#[test]
fn kernels_of_ones_own() {
    let own = Kernel::user("gaussian 1.5", |x, z| {
        let mut distance = 0.0;
        x.for_each_pair(z, |_, x, z| distance += (x - z) * (x - z));
        f64::exp(-1.5 * distance)
    });
    for classes in [2, 4] {
        let data = if classes == 2 {
            Generator::Banana.generate(100, None, 6).expect("data")
        } else {
            crate::common::four_classes(140, 5)
        };
        let plain = Case::new(data.clone(), 4, Kernel::Rbf { gamma: 1.5 }, 3.0, 1);
        let user = Case::new(data, 4, own.clone(), 3.0, 1);
        for seeding in [Seeding::Cold, Seeding::Full, Seeding::Dec] {
            let (a, b) = (user.run(seeding), plain.run(seeding));
            certified(&user, &a, "user");
            same_optima(&a, &b, "user");
            assert_eq!(a.predicted, b.predicted);
        }
        let (a, b) = (user.train(), plain.train());
        assert!(a.certificate.holds && a.model.kernel() == &own);
        let predict = |t: &maxmargin_cv::Fitted| t.model.predict(&plain.data.samples, Par::Seq).expect("labels");
        assert_eq!(predict(&a), predict(&b));
    }
}

/// `i`'s fold and row follow it wherever it goes.
fn reordered(case: &Case, order: &[usize]) -> Case {
    let fold_of = case.plan.fold_of().expect("a partition");
    let text = order.iter().fold(String::new(), |text, &i| text + &fold_of[i].to_string() + "\n");
    let mut moved = Case::new(case.data.select(order), 2, case.kernel.clone(), case.formulation.c().expect("C"), 1);
    moved.plan = FoldPlan::from_text(&text, order.len()).expect("folds");
    moved.stop = case.stop;
    moved
}

/// Compares decision values of corresponding samples, up to the bias of each machine in each fold.
/// If no α is free, an interval of biases is optimal, and rounding chooses one. The rest differs by
/// at most two balls of radius `√2gap` around one `w`, for kernels with `K(x, x) = 1`.
fn same_up_to_bias(case: &Case, reports: [&CvReport; 2], place: impl Fn(usize) -> usize, sign: f64) -> Result<(), TestCaseError> {
    let machines = |report: &CvReport| {
        let full = report.full.iter().flat_map(|full| full.machines.clone());
        full.chain(report.folds.iter().flat_map(|fold| fold.machines.clone())).collect::<Vec<_>>()
    };
    let gap =
        |report: &CvReport| machines(report).iter().map(|m| m.certificate.primal - m.certificate.dual).fold(0.0, f64::max) + 1e-9;
    let most = 2.0 * reports.map(|report| (2.0 * gap(report)).sqrt()).iter().sum::<f64>();
    let width = case.classes.pairs();
    for p in 0..width {
        for fold in 0..case.plan.folds() {
            let apart = |i: usize| reports[0].decisions[i * width + p] - sign * reports[1].decisions[place(i) * width + p];
            let test = case.plan.test(fold);
            for &i in test {
                let off = (apart(i) - apart(test[0])).abs();
                prop_assert!(off <= most, "machine {}, fold {}, sample {}: {} apart, at most {}", p, fold, i, off, most);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]

    /// The order of the data changes nothing but rounding and ties.
    #[test]
    fn the_order_of_the_data_does_not_matter(seed in 0..1000_u64, rows in 24..60_usize, c in 0.1..50.0_f64, four in any::<bool>()) {
        let smallest = ClassLabels::new(&crate::common::four_classes(rows + 60, seed).labels).map_or(0, |c| c.sizes().iter().copied().min().unwrap_or(0));
        prop_assume!(!four || smallest >= 3);
        let case = if four { Case::four(rows + 60, 3, c, seed) } else { Case::generated(Generator::Banana, rows, 3, 1.0, c, seed) };
        let rng = &mut generate::rng(seed);
        let mut order: Vec<usize> = (0..case.len()).collect();
        (1..order.len()).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
        let moved = reordered(&case, &order);
        let (a, b) = (case.run(Seeding::Full), moved.run(Seeding::Full));
        certified(&case, &a, "as it is");
        certified(&moved, &b, "moved");
        same_optima(&a, &b, "moved");
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        same_up_to_bias(&case, [&a, &b], |i| place[i], 1.0)?;
    }

    /// Every sample twice with half of C is the same machine.
    #[test]
    fn doubled_samples_with_half_of_c(seed in 0..1000_u64, rows in 24..48_usize, c in 0.1..20.0_f64) {
        let case = Case::generated(Generator::Banana, rows, 3, 1.0, c, seed);
        let twice: Vec<usize> = (0..2 * rows).map(|i| i % rows).collect();
        let mut doubled = reordered(&case, &twice);
        doubled.formulation = Formulation::c_svc(0.5 * c);
        for seeding in [Seeding::Cold, Seeding::Full] {
            let (a, b) = (case.run(seeding), doubled.run(seeding));
            certified(&doubled, &b, "doubled");
            for (one, two) in a.folds.iter().zip(&b.folds) {
                let gaps = [one, two].map(|f| (f.certificate.primal - f.certificate.dual).max(0.0));
                prop_assert!((one.objective - two.objective).abs() <= gaps[0] + gaps[1] + 1e-9 * (1.0 + one.objective.abs()));
            }
            same_up_to_bias(&case, [&a, &b], |i| i, 1.0)?;
            same_up_to_bias(&case, [&a, &b], |i| i + rows, 1.0)?;
        }
    }

    /// Labels with the other sign are decisions with the other sign.
    #[test]
    fn flipped_labels_are_flipped_decisions(seed in 0..1000_u64, rows in 24..64_usize, c in 0.1..50.0_f64, which in 0..Seeding::ALL.len()) {
        let case = Case::generated(Generator::TwoGaussians, rows, 3, 0.7, c, seed);
        let mut data = case.data.clone();
        data.labels.iter_mut().for_each(|label| *label = -*label);
        let mut flipped = Case::new(data, 3, case.kernel.clone(), c, 1);
        flipped.plan = case.plan.clone();
        let seeding = Seeding::ALL[which].1;
        let (a, b) = (case.run(seeding), flipped.run(seeding));
        certified(&flipped, &b, "flipped");
        same_optima(&a, &b, "flipped");
        same_up_to_bias(&case, [&a, &b], |i| i, -1.0)?;
    }

    /// The kernel times a number and C divided by it are the same decisions.
    #[test]
    fn linear_kernels_scale(seed in 0..1000_u64, rows in 24..64_usize, c in 0.1..5.0_f64, power in -3..4_i32) {
        let factor = 2_f64.powi(power);
        let (points, labels) = generate::clouds(&mut generate::rng(seed), rows / 2, rows - rows / 2, 2, 0.3);
        let far: Vec<Vec<f64>> = points.iter().map(|x| x.iter().map(|v| factor * v).collect()).collect();
        let data = |points: &[Vec<f64>]| Dataset::from_rows(points, &labels).expect("data");
        let near = Case::new(data(&points), 3, Kernel::Linear, c, 1).by(Solver::Linear);
        let far = Case::new(data(&far), 3, Kernel::Linear, c / (factor * factor), 1).by(Solver::Linear);
        let (a, b) = (near.run(Seeding::Full), far.run(Seeding::Full));
        certified(&far, &b, "far");
        for (one, two) in a.folds.iter().zip(&b.folds) {
            let gap = |f: &maxmargin_cv::FoldReport| (f.certificate.primal - f.certificate.dual).max(0.0);
            let other = factor * factor * two.objective;
            let most = gap(one) + factor * factor * gap(two) + 1e-9 * (1.0 + one.objective.abs());
            prop_assert!((one.objective - other).abs() <= most, "{} {}", one.objective, other);
        }
    }
}

/// A time limit that has passed before the start still gives a report of every fold, for every kind
/// of run.
#[test]
fn no_time_at_all() {
    let mut cases = vec![
        Case::generated(Generator::Banana, 60, 3, 1.0, 1.0, 1),
        Case::four(80, 3, 1.0, 1),
        Case::new(uneven(60, 2), 3, Kernel::Linear, 1.0, 1).by(Solver::Linear),
    ];
    let mut scaled = Case::new(uneven(60, 2), 3, Kernel::Rbf { gamma: 0.4 }, 1.0, 1);
    scaled.scale = Some(ScaleMethod::Standard);
    cases.push(scaled);
    for mut case in cases {
        case.stop = Stop { max_time: Some(std::time::Duration::ZERO), ..case.stop };
        for seeding in [Seeding::Cold, Seeding::Full] {
            let report = case.run(seeding);
            assert_eq!((report.status(), report.folds.len()), (Status::TimeLimit, 3), "{seeding:?}");
        }
    }
}
