//! Pairs of classes: machines equal separate trainings, and folds vote as machines trained from
//! scratch.

use crate::common::{Case, alone, certified, four_classes, leaked, predicted_alone, same_optima, threads};
use maxmargin_core::{BiasTerm, RunControl, Status, Stop};
use maxmargin_cv::{CvReport, FoldPlan, Progress, Seeding, TrainOptions};
use maxmargin_data::classes::{elected, pairs};
use maxmargin_data::{ClassLabels, Dataset, Par};
use maxmargin_kernel::Kernel;
use maxmargin_solvers::Solver;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::time::Duration;

#[test]
fn machines_are_those_of_trainings_by_themselves() {
    let case = Case::four(300, 3, 4.0, 3).at(1e-7);
    let reference = case.train();
    assert_eq!((reference.machines.len(), reference.status), (6, Status::Converged));
    let pool = threads(3);
    let found = pool.install(|| case.study(Par::Pool).train(&RunControl::unlimited())).expect("a training");
    assert_eq!(found.model.machines(), reference.model.machines());
    assert_eq!(found.iterations, reference.iterations);
    let record = reference.model.record().expect("a record");
    let decisions = reference.model.decision_values(&case.data.samples, Par::Seq).expect("decisions");
    for (p, (a, b)) in pairs(4).enumerate() {
        let of = |class: usize| (0..300).filter(|&i| case.classes.of()[i] as usize == class).collect::<Vec<usize>>();
        let rows = [of(a), of(b)].concat();
        let signs: Vec<f64> = rows.iter().map(|&i| if case.classes.of()[i] as usize == b { 1.0 } else { -1.0 }).collect();
        let samples = case.data.samples.select(&rows);
        let expected = alone(&samples, &case.kernel, &signs, vec![4.0; rows.len()], 1e-7);
        let report = &reference.machines[p];
        assert!(report.machine == p && report.certificate.holds && report.train == rows.len(), "{report:?}");
        let gap = (report.certificate.primal - report.certificate.dual).max(0.0) + expected.gap;
        assert!((report.objective - expected.objective).abs() <= gap + 1e-9, "{} {}", report.objective, expected.objective);
        assert!((report.bias - expected.bias).abs() < 1e-4);
        assert!(record.machines[p].certificate.holds(1e-7));
        // The model's decisions are the machine's: row 0 by hand.
        let sum: f64 = (0..rows.len()).map(|k| expected.coef[k] * rbf(&case, rows[k], 0)).sum();
        assert!((decisions[p] - sum - expected.bias).abs() < 1e-3, "{} {}", decisions[p], sum + expected.bias);
    }
}

fn rbf(case: &Case, i: usize, j: usize) -> f64 {
    let mut distance = 0.0;
    let (x, z) = (case.data.samples.row(i), case.data.samples.row(j));
    x.for_each_pair(z, |_, x, z| distance += (x - z) * (x - z));
    (-1.5 * distance).exp()
}

/// Decision values that are not kept leave labels and scores as they are: fold by fold, where most
/// machines are shared, of folds that lack a class, and of linear machines.
#[test]
fn labels_need_no_table_of_decision_values() {
    let four = Case::four(260, 5, 4.0, 5);
    let loo = Case { plan: FoldPlan::leave_one_out(260).expect("two samples or more"), ..Case::four(260, 5, 4.0, 5) };
    let rounds: Vec<FoldPlan> = (1..3).map(|seed| FoldPlan::stratified(&four.data.labels, 4, seed).expect("folds")).collect();
    let repeated = Case { plan: FoldPlan::joined(&rounds).expect("plans"), ..Case::four(260, 5, 4.0, 5) };
    let sorted = Case { plan: FoldPlan::contiguous(260, 3).expect("folds"), ..Case::four(260, 5, 4.0, 5) };
    let linear = Case { kernel: Kernel::Linear, ..Case::four(260, 5, 4.0, 5) }.by(Solver::Linear);
    for (case, drops) in [(&four, true), (&repeated, true), (&sorted, true), (&linear, true), (&loo, false)] {
        let of = |keep_decisions: bool| {
            let options = TrainOptions { kernel: case.kernel.clone(), keep_decisions, ..TrainOptions::default() };
            let study = case.study_by(leaked(options));
            study.cross_validate(&case.plan, Seeding::Full, &RunControl::unlimited()).expect("a report")
        };
        let (with, without) = (of(true), of(false));
        // Where most machines are those of all data, one pass decides all samples at once.
        assert_eq!((with.decisions.is_empty(), without.decisions.is_empty()), (false, drops), "{}", case.plan.folds());
        let bits = |labels: &[f64]| labels.iter().map(|label| label.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&with.predicted), bits(&without.predicted));
        // As text: a score may be no number.
        let of = |report: &CvReport| {
            let folds: Vec<_> = report.folds.iter().map(|fold| (fold.correct, &fold.scores, &fold.missing_classes)).collect();
            format!("{:?}", (report.correct, report.iterations, &report.scores, folds))
        };
        assert_eq!(of(&with), of(&without));
    }
}

#[test]
fn every_seeding_elects_what_trainings_from_nothing_elect() {
    let pool = threads(2);
    let case = Case::four(260, 5, 4.0, 5);
    let expected = predicted_alone(&case, 1e-6);
    let cold = case.run(Seeding::Cold);
    for (name, seeding) in Seeding::ALL {
        let report = case.run(seeding);
        certified(&case, &report, name);
        same_optima(&report, &cold, name);
        assert_eq!(report.predicted, expected, "{name}");
        assert_eq!(report.machines, 6);
        // A pair none of whose support vectors is tested needs no training of its own.
        let own = |f: &maxmargin_cv::FoldReport| f.machines.len() == 6 || (f.machines.len() < 6 && report.full.is_some());
        assert!(report.folds.iter().all(|f| own(f) && f.support_vectors > 0), "{name}");
        let again = pool.install(|| case.run_on(seeding, Par::Pool, &RunControl::unlimited()));
        assert_eq!((again.decisions, again.iterations), (report.decisions, report.iterations), "{name}");
    }
    // Chance would be a quarter or a little more.
    assert!(cold.accuracy > Some(0.75), "{:?}", cold.accuracy);
}

/// Folds that test no sample of some pairs are voted on by these pairs' machines of all data.
#[test]
fn folds_without_a_pair_use_all_of_its_samples() {
    let mut case = Case::four(200, 2, 4.0, 8);
    // Classes 0 and 1 are dealt to folds 0 and 1, the others to all three.
    let deal = |(i, &class): (usize, &u32)| if class < 2 { ["0\n", "1\n"][i / 2 % 2] } else { ["0\n", "1\n", "2\n"][i / 2 % 3] };
    let text: String = case.classes.of().iter().enumerate().map(deal).collect();
    case.plan = FoldPlan::from_text(&text, 200).expect("folds");
    let expected = predicted_alone(&case, 1e-6);
    for (name, seeding) in Seeding::ALL {
        let report = case.run(seeding);
        certified(&case, &report, name);
        assert_eq!(report.predicted, expected, "{name}");
        assert_eq!(report.folds[2].machines.len(), 5, "{name}: one pair has nothing to test in the last fold");
    }
    // Interrupted or late, every fold still has a machine for every pair.
    let stop = |_: &Progress| ControlFlow::Break(());
    let late = Stop { max_time: Some(Duration::ZERO), ..case.stop };
    for (name, seeding) in Seeding::ALL {
        assert_eq!(case.run_on(seeding, Par::Seq, &RunControl::new(stop)).status(), Status::Interrupted, "{name}");
        let late = maxmargin_cv::Study { stop: late, ..case.study(Par::Seq) };
        let report = late.cross_validate(&case.plan, seeding, &RunControl::unlimited()).expect("a cross-validation");
        assert_eq!((report.status(), report.folds.len()), (Status::TimeLimit, 3), "{name}");
    }
    let case = Case { kernel: Kernel::Linear, ..case }.by(Solver::Linear);
    let report = case.run(Seeding::Full);
    certified(&case, &report, "linear");
    assert!(report.accuracy > Some(0.6), "{:?}", report.accuracy);
}

/// The fold that tests all samples of a class trains on the other classes alone.
#[test]
fn a_class_in_one_fold_is_not_known_there() {
    let mut case = Case::four(60, 2, 1.0, 1);
    let deal = |(i, &class): (usize, &u32)| if class == 3 { "1\n" } else { ["0\n", "1\n"][i / 2 % 2] };
    let text: String = case.classes.of().iter().enumerate().map(deal).collect();
    case.plan = FoldPlan::from_text(&text, 60).expect("folds");
    let last = case.classes.labels()[3];
    let (train, test) = (case.plan.train(1), case.plan.test(1).to_vec());
    let data = case.data.select(&train);
    let classes = maxmargin_data::ClassLabels::new(&data.labels).expect("three classes");
    for (name, seeding) in Seeding::ALL {
        let report = case.try_run(seeding).expect("a report");
        assert_eq!((&report.folds[0].missing_classes[..], &report.folds[1].missing_classes[..]), (&[][..], &[last][..]));
        let alone = maxmargin_cv::Study { data: &data, classes: Some(&classes), weights: &[1.0; 3], ..case.study(Par::Seq) };
        let alone = alone.train(&RunControl::unlimited()).expect("a model");
        let expected = alone.decision_values(&case.data.samples.select(&test)).expect("decisions");
        let said = alone.predict(&case.data.samples.select(&test)).expect("labels");
        for (at, &i) in test.iter().enumerate() {
            // (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
            let row = &report.decisions[i * 6..(i + 1) * 6];
            assert!([2, 4, 5].iter().all(|&p| row[p].is_nan()), "{name}: {row:?}");
            let off = [0, 1, 3].iter().zip(&expected[at * 3..]).map(|(&p, alone)| (row[p] - alone).abs()).fold(0.0, f64::max);
            assert!(off < 1e-4, "{name}: {off:e}");
            assert_eq!(report.predicted[i], said[at], "{name}");
        }
        let right = test.iter().zip(&said).filter(|(i, said)| case.data.labels[**i] == **said).count();
        assert_eq!((report.folds[1].correct, report.folds[1].machines.len()), (Some(right), 3), "{name}");
        assert_eq!(report.samples_counted, 60);
    }
}

/// A linear solver and SMO on the linear kernel elect the same labels.
#[test]
fn linear_machines_vote_like_kernel_machines() {
    let mut kernel = Case::new(four_classes(150, 4), 3, Kernel::Linear, 20.0, 5).at(1e-8);
    kernel.plan = FoldPlan::shuffled(150, 3, 5).expect("folds");
    let reference = kernel.run(Seeding::Cold);
    let linear = Case { plan: kernel.plan.clone(), ..Case::new(four_classes(150, 4), 3, Kernel::Linear, 20.0, 5) };
    let linear = linear.at(1e-8).by(Solver::Linear);
    for seeding in [Seeding::Cold, Seeding::Full] {
        let report = linear.run(seeding);
        certified(&linear, &report, "linear");
        same_optima(&report, &reference, "linear");
        assert_eq!(report.predicted, reference.predicted);
    }
    let (a, b) = (linear.train(), kernel.train());
    let predict = |trained: &maxmargin_cv::Fitted| trained.model.predict(&kernel.data.samples, Par::Seq).expect("labels");
    assert_eq!(predict(&a), predict(&b));
    assert!(a.model.folded() && !b.model.folded());
}

/// Leave-one-out of four classes: a machine of all data serves every sample that is no support
/// vector of it.
#[test]
fn leave_one_out_elects_what_cold_folds_elect() {
    let mut case = Case::four(90, 2, 4.0, 8);
    case.plan = FoldPlan::leave_one_out(90).expect("folds");
    let cold = case.run(Seeding::Cold);
    certified(&case, &cold, "cold");
    assert_eq!(cold.predicted, predicted_alone(&case, 1e-6));
    for seeding in [Seeding::Full, Seeding::Dec] {
        let report = case.run(seeding);
        certified(&case, &report, seeding.name());
        same_optima(&report, &cold, seeding.name());
        assert_eq!((report.correct, &report.predicted), (cold.correct, &cold.predicted), "{seeding:?}");
        let trainings = |report: &maxmargin_cv::CvReport| report.folds.iter().map(|f| f.machines.len()).sum::<usize>();
        // Cold, each sample leaves three of six machines.
        assert_eq!(trainings(&cold), 3 * 90);
        assert!(trainings(&report) < 3 * 90, "some samples have no alpha");
    }
}

/// Several values of C for pairs: each report is the same as alone, and rows are computed once.
#[test]
fn pairs_share_rows_over_c() {
    let case = Case::four(160, 4, 1.0, 6);
    let values = [0.5, 5.0, 50.0];
    let reports =
        case.study(Par::Seq).cross_validate_along(&values, &case.plan, Seeding::Full, &RunControl::unlimited()).expect("reports");
    let mut together = 0;
    for (report, c) in reports.iter().zip(values) {
        let own = Case::four(160, 4, c, 6);
        certified(&own, report, "along");
        let by_itself = own.run(Seeding::Full);
        same_optima(report, &by_itself, "along");
        assert_eq!(report.predicted, by_itself.predicted);
        together += report.rows_computed;
    }
    // A sample is in three of six pairs.
    assert!(together <= 3 * 160, "{together}");
}

/// Four classes that can be separated: from some C on no variable is at its bound, and a larger C
/// costs neither an iteration nor a kernel row. Its certificates are its own.
#[test]
fn machines_below_their_bounds_are_those_of_every_larger_c() {
    let points: Vec<Vec<f64>> = (0..160)
        .map(|i| vec![f64::from(i % 2) * 2.0 + f64::from(i).sin() * 0.4, f64::from(i / 2 % 2) * 2.0 + f64::from(i).cos() * 0.4])
        .collect();
    let labels: Vec<f64> = (0..160).map(|i| f64::from(i % 4)).collect();
    let case = Case::new(Dataset::from_rows(&points, &labels).expect("data"), 4, Kernel::Rbf { gamma: 1.5 }, 1.0, 3);
    let values = [1e-1, 1e4, 1e5, 1e6, 0.2];
    for seeding in [Seeding::Full, Seeding::Cold, Seeding::Sir, Seeding::Dec] {
        let run =
            |par| case.study(par).cross_validate_along(&values, &case.plan, seeding, &RunControl::unlimited()).expect("reports");
        let reports = run(Par::Seq);
        for (report, c) in reports.iter().zip(values) {
            let own =
                Case { formulation: case.formulation.with_c(c), ..Case::new(case.data.clone(), 4, case.kernel.clone(), c, 3) };
            certified(&own, report, "along");
            let by_itself = own.run(seeding);
            same_optima(report, &by_itself, "along");
            assert_eq!(report.predicted, by_itself.predicted, "{seeding:?}, C = {c}");
        }
        let [some, first, second, third, last] = &reports[..] else { panic!("five reports") };
        assert!(first.folds.iter().flat_map(|fold| &fold.machines).all(|machine| machine.bounded == 0));
        for larger in [second, third] {
            assert_eq!((larger.iterations, larger.rows_computed, larger.seed_steps), (0, 0, 0), "{seeding:?}");
            // The path of DEC makes the machine of all data exact for each C.
            let most = if seeding == Seeding::Dec { 1e-9 } else { 0.0 };
            let mut pairs = larger.decisions.iter().zip(&first.decisions);
            assert!(pairs.all(|(a, b)| (a - b).abs() <= most), "{seeding:?}");
        }
        // Bounds stop these machines.
        let work =
            |report: &maxmargin_cv::CvReport| report.iterations + report.folds.iter().map(|fold| fold.breakpoints).sum::<u64>();
        assert!(work(some) > 0 && work(last) > 0, "{seeding:?}");
        assert!(last.folds.iter().flat_map(|fold| &fold.machines).any(|machine| machine.bounded > 0));
        let pool = threads(3);
        for (report, other) in reports.iter().zip(pool.install(|| run(Par::Pool))) {
            assert_eq!(report.iterations, other.iterations);
            assert!(report.decisions == other.decisions, "{seeding:?}");
        }
    }
}

/// The squared loss, whose pairs start from the part of the machine of all data that stays.
#[test]
fn pairs_with_the_squared_loss() {
    let case = Case::four(120, 4, 2.0, 7).by(Solver::Pairwise).at(1e-5);
    assert_eq!(case.formulation.bias_term(), BiasTerm::Feature(1.0));
    let (cold, full) = (case.run(Seeding::Cold), case.run(Seeding::Full));
    certified(&case, &cold, "cold");
    certified(&case, &full, "full");
    same_optima(&full, &cold, "squared loss");
    assert_eq!(full.predicted, cold.predicted);
    assert!(full.iterations < cold.iterations, "{} seeded, {} cold", full.iterations, cold.iterations);
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(200))]

    /// The elected class has the most votes; of several such classes it is the first.
    #[test]
    fn the_first_with_most_votes_is_elected(classes in 2_usize..8, values in prop::collection::vec(-1.0_f64..1.0, 28)) {
        let values = &values[..classes * (classes - 1) / 2];
        let mut votes = vec![0; classes];
        pairs(classes).zip(values).for_each(|((a, b), v)| votes[if *v >= 0.0 { b } else { a }] += 1);
        let winner = elected(classes, values);
        prop_assert!(votes.iter().all(|v| *v <= votes[winner]));
        prop_assert!(votes[..winner].iter().all(|v| *v < votes[winner]));
    }
}

/// Labels need not be ordered in the data, nor be small numbers.
#[test]
fn labels_of_any_value() {
    let mut data = four_classes(80, 2);
    data.labels.iter_mut().for_each(|label| *label = 1000.0 - 300.0 * *label);
    let case = Case::new(data, 4, Kernel::Rbf { gamma: 1.5 }, 4.0, 3);
    let report = case.run(Seeding::Full);
    certified(&case, &report, "labels");
    let known = ClassLabels::new(&report.predicted).expect("classes");
    assert!(known.labels().iter().all(|label| case.classes.labels().contains(label)));
    assert_eq!(report.predicted, predicted_alone(&case, 1e-6));
}
