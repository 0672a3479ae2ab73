//! The engine for two classes against trainings from scratch, one fold at a time.

use crate::common::{Case, certified, fold_alone, same_optima, threads};
use maxmargin_core::{RunControl, Status, Stop};
use maxmargin_cv::{CvError, CvReport, FoldPlan, Progress, Seeding};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{Dataset, Generator, Par};
use maxmargin_kernel::Kernel;
use maxmargin_solvers::{SmoFinish, Solver};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::time::Duration;

/// Every seeding must end where a training from scratch ends.
fn agrees_with_scratch(case: &Case, seeding: Seeding) -> CvReport {
    let report = case.run(seeding);
    let what = format!("{seeding:?}");
    certified(case, &report, &what);
    assert_eq!(report.seeding, seeding.name());
    let tol = case.stop.goal.tol();
    for fold in &report.folds {
        let (objective, gap_alone, decisions) = fold_alone(case, fold.fold, tol);
        // An exact solution's gap is rounding, of either sign.
        let gap = (fold.certificate.primal - fold.certificate.dual).max(0.0);
        let slack = 1e-9 * (1.0 + objective.abs());
        assert!((fold.objective - objective).abs() <= gap + gap_alone + slack, "{what}: {} {objective}", fold.objective);
        // Decision values differ by the radius of the gap balls and the width of the thresholds.
        let apart = (2.0 * (gap + slack)).sqrt() + (2.0 * (gap_alone + slack)).sqrt() + 2.0 * tol;
        for (i, expected) in decisions {
            let found = report.decisions[i];
            assert!((found - expected[0]).abs() <= 2.0 * apart, "{what} {i}: {found} {expected:?}");
        }
    }
    report
}

#[test]
fn every_seeding_ends_where_scratch_does() {
    let cases = [
        Case::generated(Generator::Banana, 120, 5, 1.0, 10.0, 3),
        Case::generated(Generator::TwoGaussians, 90, 3, 0.5, 100.0, 4),
        Case::generated(Generator::Blobs, 80, 4, 50.0, 1.0, 5),
    ];
    for case in &cases {
        for (_, seeding) in Seeding::ALL {
            agrees_with_scratch(case, seeding);
        }
    }
}

#[test]
fn weights_are_factors_of_c() {
    let mut case = Case::generated(Generator::TwoGaussians, 90, 3, 0.5, 2.0, 4);
    case.weights = vec![1.0, 7.5];
    for seeding in [Seeding::Cold, Seeding::Sir, Seeding::Full, Seeding::Dec] {
        agrees_with_scratch(&case, seeding);
    }
    case.weights.pop();
    assert!(matches!(case.try_run(Seeding::Cold), Err(CvError::Weights { found: 1, classes: 2 })));
}

/// Copies of samples, some of the other class: solvers that merge them read one row for all copies,
/// and seeds read the same rows.
#[test]
fn seeds_read_the_rows_of_different_samples() {
    let kinds = 50;
    let mut data = Generator::Banana.generate(kinds, None, 9).expect("data");
    let copies: Vec<usize> = (0..4 * kinds).map(|i| i * 7 % kinds).collect();
    data = data.select(&copies);
    data.labels.iter_mut().step_by(11).for_each(|label| *label = -*label);
    let mut case = Case::new(data, 5, Kernel::rbf(1.0), 3.0, 2);
    case.solver = Box::new(SmoFinish { merge_equal_rows: true, ..SmoFinish::default() });
    for (_, seeding) in Seeding::ALL {
        agrees_with_scratch(&case, seeding);
    }
    for seeding in [Seeding::Full, Seeding::Avg, Seeding::Top, Seeding::Sir] {
        let report = case.run(seeding);
        assert!(report.seed_steps > 0 && report.rows_computed <= kinds as u64, "{seeding:?}: {} rows", report.rows_computed);
    }
}

/// Solvers with an active set keep no whole row. Sums of the leaving samples are then computed
/// without rows, and only the repair reads rows.
#[test]
fn seeds_keep_few_rows_where_solvers_keep_none() {
    let mut case = Case::generated(Generator::Banana, 12_000, 3, 1.0, 10.0, 1).at(1e-3);
    case.memory = 1 << 30;
    let report = agrees_with_scratch(&case, Seeding::Full);
    let (support, row) = (report.full.as_ref().expect("the model of all data").machines[0].support_vectors as u64, 4 * 12_000);
    assert!(report.seed_steps >= 2 * support, "{} of {support}", report.seed_steps);
    assert!(report.kernel_bytes < support * row, "{} bytes, {support} support vectors", report.kernel_bytes);
    let other = threads(2).install(|| case.run_on(Seeding::Full, Par::Pool, &RunControl::unlimited()));
    assert_eq!((&other.decisions, other.iterations), (&report.decisions, report.iterations));
}

#[test]
fn full_saves_iterations() {
    let case = Case::generated(Generator::Banana, 600, 10, 1.0, 10.0, 1).at(1e-3);
    let (cold, full) = (case.run(Seeding::Cold), case.run(Seeding::Full));
    let price = full.total_iterations + full.seed_steps;
    assert!(price < cold.iterations, "{price} with the model of all data and the seeds, {} cold", cold.iterations);
}

#[test]
fn decremental_paths_need_no_smo() {
    for (generator, gamma, c) in [(Generator::Banana, 1.0, 10.0), (Generator::TwoGaussians, 0.5, 1.0)] {
        let case = Case::generated(generator, 200, 10, gamma, c, 11);
        let report = case.run(Seeding::Dec);
        certified(&case, &report, "dec");
        for fold in &report.folds {
            assert_eq!(fold.iterations, 0, "fold {}", fold.fold);
            assert!(fold.certificate.kkt <= 1e-8, "fold {}: {:?}", fold.fold, fold.certificate);
        }
        assert!(report.folds.iter().any(|fold| fold.breakpoints > 0));
        assert!(report.full.is_some_and(|full| full.certificate.kkt <= 1e-8));
    }
}

#[test]
fn the_same_bits_for_any_threads_and_budget() {
    let mut case = Case::generated(Generator::TwoGaussians, 300, 6, 0.5, 10.0, 2).at(1e-3);
    let pool = threads(2);
    for (_, seeding) in Seeding::ALL {
        let one = case.run(seeding);
        for memory in [1 << 26, 40 * 4 * 300] {
            case.memory = memory;
            let other = pool.install(|| case.run_on(seeding, Par::Pool, &RunControl::unlimited()));
            assert_eq!(one.decisions, other.decisions, "{seeding:?}");
            assert_eq!(one.iterations, other.iterations, "{seeding:?}");
        }
        case.memory = 1 << 26;
    }
}

#[test]
fn leave_one_out_trains_support_vectors_only() {
    let mut case = Case::generated(Generator::Blobs, 70, 2, 0.5, 1.0, 6);
    case.plan = FoldPlan::leave_one_out(70).expect("two samples or more");
    let report = case.run(Seeding::Full);
    certified(&case, &report, "leave one out");
    same_optima(&report, &case.run(Seeding::Cold), "leave one out");
    for fold in &report.folds {
        let (_, gap_alone, decisions) = fold_alone(&case, fold.fold, 1e-6);
        let (i, expected) = &decisions[0];
        // The primal is strongly convex in w: a gap g leaves w within √2g of the optimum, and k(x,
        // x) is 1. The bias is that of a sample whose margin is 1 to the tolerance of 1e-6, so that
        // it moves no more than w does at that sample.
        let own = fold.machines.iter().chain(report.full.iter().flat_map(|full| &full.machines)).map(|m| m.certificate);
        let gap = own.map(|c| c.primal - c.dual).next().expect("a certificate");
        let most = 2.0 * ((2.0 * gap.max(0.0)).sqrt() + (2.0 * gap_alone.max(0.0)).sqrt()) + 2e-6;
        assert!((report.decisions[*i] - expected[0]).abs() <= most, "{} {expected:?}, at most {most}", report.decisions[*i]);
        assert!(most < 1e-2, "a bound that says nothing: {most}");
    }
    // One training for each support vector of all data. The other folds use the machine of all
    // data.
    let trained = case.train();
    let vectors: Vec<usize> = trained.model.record().expect("a record").machines[0].rows.iter().map(|&i| i as usize).collect();
    let own: Vec<usize> = report.folds.iter().filter(|fold| !fold.machines.is_empty()).map(|fold| fold.fold).collect();
    assert_eq!(own, vectors);
    assert!(own.len() < 70, "the case must have samples without alpha");
    assert!(report.folds.iter().all(|f| !f.machines.is_empty() || (f.iterations, f.seed_steps) == (0, 0)));
}

/// A small C leaves all support vectors at their bounds and the bias in the middle of an interval.
/// Samples with α = 0 bound that interval as well, so that folds without them have another bias.
#[test]
fn leave_one_out_has_the_bias_of_each_training_set() {
    let mut tried = 0;
    for seed in 1..12 {
        let mut case = Case::generated(Generator::TwoGaussians, 41, 2, 0.5, 1e-3, seed).at(1e-9);
        case.plan = FoldPlan::leave_one_out(41).expect("two samples or more");
        let rows = case.train().model.record().expect("a record").machines[0].rows.len();
        tried += usize::from(rows < 41);
        let (own, cold) = (case.run(Seeding::Full), case.run(Seeding::Cold));
        for (i, (own, cold)) in own.decisions.iter().zip(&cold.decisions).enumerate() {
            assert!((own - cold).abs() <= 1e-7, "seed {seed}, row {i}: {own} {cold}");
        }
    }
    assert!(tried > 3, "the cases must have samples without alpha: {tried}");
}

/// The progress of leave-one-out once stopped at a third of its folds: folds that need no training
/// were never counted as done.
#[test]
fn folds_that_need_no_training_are_done() {
    let mut case = Case::generated(Generator::Blobs, 70, 2, 0.5, 1.0, 6);
    case.plan = FoldPlan::leave_one_out(70).expect("two samples or more");
    let told = std::sync::Mutex::new(Vec::new());
    let observer = |progress: &Progress| {
        told.lock().expect("no panic").push((progress.done, progress.total));
        ControlFlow::Continue(())
    };
    let report = case.run_on(Seeding::Full, Par::Seq, &RunControl::new(observer));
    let untouched = report.folds.iter().filter(|fold| fold.machines.is_empty()).count();
    let told = told.into_inner().expect("no panic");
    assert!(untouched > 0 && told.is_sorted() && told.first() == Some(&(0, 70)), "{told:?}");
    assert_eq!(told.iter().find(|(done, _)| *done > 0), Some(&(untouched, 70)), "{told:?}");
    assert_eq!(told.last(), Some(&(70, 70)), "{told:?}");
}

#[test]
fn a_fold_with_one_class_says_it_of_every_sample() {
    let mut case = Case::generated(Generator::Blobs, 20, 2, 0.5, 1.0, 7);
    let text: String = case.signs().iter().map(|s| if *s > 0.0 { "0\n" } else { "1\n" }).collect();
    case.plan = FoldPlan::from_text(&text, 20).expect("two folds");
    for (name, seeding) in Seeding::ALL {
        let report = case.try_run(seeding).expect("a report");
        let wrong: Vec<f64> = case.data.labels.iter().map(|label| -label).collect();
        assert_eq!((&report.predicted, report.correct, report.samples_counted), (&wrong, 0, 20), "{name}");
        let missing: Vec<&[f64]> = report.folds.iter().map(|fold| &fold.missing_classes[..]).collect();
        assert_eq!(missing, [&[1.0][..], &[-1.0]], "{name}");
        assert!(report.decisions.iter().all(|value| value.is_nan()) && report.certificate().is_some_and(|c| c.holds), "{name}");
    }
    case.plan = FoldPlan::contiguous(19, 2).expect("two folds");
    assert!(matches!(case.try_run(Seeding::Full), Err(CvError::Plan { plan: 19, data: 20 })));
}

#[test]
fn an_interrupt_reports_what_is_known() {
    let case = Case::generated(Generator::Banana, 200, 4, 1.0, 10.0, 8).at(1e-3);
    let stop = |_: &Progress| ControlFlow::Break(());
    for (_, seeding) in Seeding::ALL {
        let report = case.run_on(seeding, Par::Seq, &RunControl::new(stop));
        assert_eq!(report.status(), Status::Interrupted, "{seeding:?}");
        assert_eq!(report.folds.len(), 4);
        assert!(report.folds.iter().all(|f| f.certificate.primal.is_finite() && !f.certificate.holds), "{seeding:?}");
    }
}

/// Samples of folds without a solution were once counted as predictions: 24 % accuracy, while the
/// finished folds had 82 %.
#[test]
fn folds_without_a_solution_are_not_counted() {
    let mut scaled = Case::generated(Generator::Banana, 240, 6, 1.0, 10.0, 8).at(1e-3);
    scaled.scale = Some(ScaleMethod::Standard);
    let plain = Case { scale: None, ..Case::generated(Generator::Banana, 240, 6, 1.0, 10.0, 8).at(1e-3) };
    let after_two = |progress: &Progress| if progress.done >= 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let at_once = |_: &Progress| ControlFlow::Break(());
    // With folds as small as these, exact paths end at solutions before the first cancellation
    // check.
    let seedings = Seeding::ALL.into_iter().filter(|(_, seeding)| *seeding != Seeding::Dec);
    for (case, seeding) in seedings.map(|(_, seeding)| (&plain, seeding)).chain([(&scaled, Seeding::Cold)]) {
        let whole = case.run(seeding);
        let report = case.run_on(seeding, Par::Seq, &RunControl::new(after_two));
        assert_eq!((report.status(), report.folds_counted), (Status::Interrupted, 2), "{seeding:?}");
        let finished: Vec<bool> = report.folds.iter().map(|fold| fold.status == Status::Converged).collect();
        for (one, other) in report.folds.iter().zip(&whole.folds) {
            assert_eq!(one.correct, other.correct.filter(|_| finished[one.fold]), "{seeding:?}");
            assert_eq!(one.accuracy().is_some(), finished[one.fold], "{seeding:?}");
        }
        let correct = report.folds.iter().filter_map(|fold| fold.correct).sum::<usize>();
        assert_eq!((report.correct, report.samples_counted), (correct, 80), "{seeding:?}");
        assert_eq!((report.accuracy, report.scores[0].1), (Some(correct as f64 / 80.0), correct as f64 / 80.0), "{seeding:?}");
        for i in 0..case.len() {
            let known = (0..case.plan.folds()).any(|h| finished[h] && case.plan.test(h).contains(&i));
            assert_eq!((report.predicted[i].is_nan(), report.decisions[i].is_nan()), (!known, !known), "{seeding:?}, sample {i}");
        }
        let nothing = case.run_on(seeding, Par::Seq, &RunControl::new(at_once));
        assert_eq!((nothing.accuracy, nothing.folds_counted, nothing.correct), (None, 0, 0), "{seeding:?}");
    }
    // A fold needs all its machines: the third of six ended early.
    let four = Case::four(160, 4, 1.0, 1).at(1e-3);
    let report = four.run_on(Seeding::Full, Par::Seq, &RunControl::new(after_two));
    assert!(report.folds.iter().all(|fold| fold.machines.iter().any(|machine| machine.status == Status::Converged)));
    assert_eq!((report.accuracy, report.folds_counted), (None, 0));
}

/// Limits end trainings with a status that says so, whatever the seeding is.
#[test]
fn limits_are_reported() {
    let mut case = Case::generated(Generator::Banana, 200, 4, 1.0, 10.0, 8);
    for (_, seeding) in Seeding::ALL {
        case.stop = Stop { max_iter: Some(7), ..Stop::at(1e-6) };
        let report = case.run(seeding);
        assert_eq!(report.status(), Status::IterationLimit, "{seeding:?}");
        let all = report.folds.iter().map(|f| f.iterations).chain(report.full.iter().map(|f| f.iterations));
        assert!(all.into_iter().all(|iterations| iterations <= 7), "{seeding:?}");
        case.stop = Stop { max_time: Some(Duration::ZERO), ..Stop::at(1e-6) };
        let report = case.run(seeding);
        assert_eq!((report.status(), report.iterations), (Status::TimeLimit, 0), "{seeding:?}");
        assert!(report.folds.iter().all(|f| f.certificate.primal.is_finite()));
    }
}

/// Tolerances that pair steps would take long for are reached by a finish on the free samples.
#[test]
fn tight_tolerances_are_finished() {
    let case = Case::generated(Generator::Banana, 150, 4, 1.0, 100.0, 5).at(1e-9);
    for seeding in [Seeding::Cold, Seeding::Sir, Seeding::Full] {
        let report = case.run(seeding);
        certified(&case, &report, &format!("{seeding:?} at 1e-9"));
        let full = report.full.map_or(0.0, |full| full.certificate.kkt);
        assert!(full <= 1e-9, "{full:e}");
    }
    let trained = case.train();
    assert!(trained.certificate.holds && trained.certificate.kkt <= 1e-9, "{:?}", trained.certificate);
}

/// If all samples are at a bound, the bias is the middle of an interval. Rounding in a seed, or in
/// a start from another C, once made one of them free and moved the bias to an end.
#[test]
fn seeds_of_folds_whose_samples_are_all_bounded_have_the_bias_of_cold_trainings() {
    let points: Vec<Vec<f64>> =
        (0..100).map(|i| vec![f64::from(i % 2) + 0.37 * f64::from(i).sin(), f64::from(i).cos()]).collect();
    let even: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
    let uneven: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i % 2 == 0 || i % 7 == 0))).collect();
    for (labels, values) in
        [(&even, [0.1].as_slice()), (&uneven, &[0.01, 0.03, 0.1, 0.2, 0.3]), (&uneven, &[0.1, 1.0]), (&uneven, &[1.0])]
    {
        let data = Dataset::from_rows(&points, labels).expect("data");
        let case = Case::new(data, 5, Kernel::Rbf { gamma: 0.01 }, 0.1, 1).at(1e-8);
        let run = |seeding| {
            case.study(Par::Seq).cross_validate_along(values, &case.plan, seeding, &RunControl::unlimited()).expect("reports")
        };
        let cold = run(Seeding::Cold);
        // All but what parts two whole numbers of bounded samples.
        assert!(cold.iter().flat_map(|report| &report.folds).all(|fold| fold.support_vectors - fold.bounded <= 2));
        for seeding in [Seeding::Full, Seeding::Sir, Seeding::SirAll, Seeding::Mir, Seeding::Avg, Seeding::Top] {
            for (seeded, cold) in run(seeding).iter().zip(&cold) {
                for (found, expected) in seeded.decisions.iter().zip(&cold.decisions) {
                    assert!((found - expected).abs() < 1e-6, "{seeding:?}, C = {:?}: {found} instead of {expected}", cold.c);
                }
            }
        }
    }
}

/// A kernel matrix that is numerically the identity, as that of Madelon in the paper: every α is 1,
/// the kernel values of different samples are 0, and one pair step makes two α right. The printed
/// SIR then replaces no sample, and a fold takes a step for each pair of samples that enter; a fold
/// whose samples are all replaced takes none.
#[test]
fn printed_sir_replaces_nothing_where_kernel_values_are_0() {
    let points: Vec<Vec<f64>> = (0..100).map(|i| vec![f64::from(i), f64::from(i * i % 37)]).collect();
    let labels: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
    let data = Dataset::from_rows(&points, &labels).expect("data");
    let mut case = Case::new(data, 10, Kernel::Rbf { gamma: 1e6 }, 1.0, 1).at(1e-3);
    case.solver = Box::new(maxmargin_smo::Smo::PLAIN);
    let iterations = |seeding| case.run(seeding).folds.iter().map(|fold| fold.iterations).collect::<Vec<u64>>();
    let seeded = |first, later: u64| [first].into_iter().chain([later; 9]).collect::<Vec<u64>>();
    assert_eq!(iterations(Seeding::Cold), [45; 10]);
    assert_eq!(iterations(Seeding::Sir), seeded(45, 5));
    assert_eq!(iterations(Seeding::Mir), seeded(45, 5));
    assert_eq!(iterations(Seeding::SirAll), seeded(45, 0));
}

/// Several values of C share the rows of one kernel, and each has the same report as alone.
#[test]
fn values_of_c_share_rows() {
    let case = Case::generated(Generator::Banana, 150, 5, 1.0, 1.0, 9);
    let values = [0.1, 1.0, 10.0, 100.0];
    for seeding in [Seeding::Full, Seeding::Cold, Seeding::Dec] {
        let reports =
            case.study(Par::Seq).cross_validate_along(&values, &case.plan, seeding, &RunControl::unlimited()).expect("reports");
        assert_eq!(reports.iter().map(|r| r.c).collect::<Vec<_>>(), values.map(Some));
        let mut together = 0;
        for (report, c) in reports.iter().zip(values) {
            let what = format!("{seeding:?}, C = {c}");
            let mut own = Case::generated(Generator::Banana, 150, 5, 1.0, c, 9);
            own.stop = case.stop;
            certified(&own, report, &what);
            same_optima(report, &own.run(seeding), &what);
            together += report.rows_computed;
        }
        // No row is computed twice: there are no more than samples.
        assert!(together <= 150, "{seeding:?}: {together} rows for 150 samples");
    }
}

#[test]
fn an_interrupted_grid_has_no_reports_of_values_it_did_not_come_to() {
    let case = Case::generated(Generator::Banana, 150, 5, 1.0, 1.0, 9);
    let stop = |_: &Progress| ControlFlow::Break(());
    let found = case
        .study(Par::Seq)
        .cross_validate_along(&[1.0, 10.0, 100.0], &case.plan, Seeding::Full, &RunControl::new(stop))
        .expect("one");
    assert_eq!(found.iter().map(|r| (r.c, r.status())).collect::<Vec<_>>(), [(Some(1.0), Status::Interrupted)]);
}

/// Paper seeds support only C-SVC over kernel rows, and refuse other problems.
#[test]
fn seeds_for_other_problems_are_refused() {
    let squared = Case::generated(Generator::Blobs, 40, 2, 0.5, 1.0, 7).by(Solver::Pairwise);
    let linear = Case { kernel: maxmargin_kernel::Kernel::Linear, ..Case::generated(Generator::Blobs, 40, 2, 0.5, 1.0, 7) };
    let linear = linear.by(Solver::Linear);
    for case in [&squared, &linear] {
        for (_, seeding) in Seeding::ALL {
            let result = case.try_run(seeding);
            if matches!(seeding, Seeding::Cold | Seeding::Full) {
                certified(case, &result.expect("a cross-validation"), "other problems");
            } else {
                let message = result.expect_err("refused").to_string();
                assert!(message.contains(seeding.name()) && message.contains("use cold or full"), "{message}");
            }
        }
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(32))]

    #[test]
    fn any_case_is_certified(
        seed in 0..1000_u64, rows in 24..90_usize, folds in 2..6_usize, gamma in 0.01..20.0_f64, c in 0.01..1000.0_f64, which in 0..Seeding::ALL.len()
    ) {
        let case = Case::generated(Generator::Banana, rows, folds, gamma, c, seed).at(1e-3);
        let (name, seeding) = Seeding::ALL[which];
        certified(&case, &case.run(seeding), name);
    }
}
