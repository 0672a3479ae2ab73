//! Thresholds: their choice, the labels that they give, and their gain on new data; leave-one-out
//! in a grid.
//!
//! Real data: `w8a`, `ijcnn1`, `heart_scale`.

use maxmargin::cv::{FoldPlan, Probability, best_threshold, calibration_plan};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par};
use maxmargin::kernel::Kernel;
use maxmargin::metrics::BALANCED_ACCURACY;
use maxmargin::metrics::F1;
use maxmargin::model::{DecisionRule, decode, encode};
use maxmargin::{Error, Fitted, Ranges, Svm};
use maxmargin_testkit::outside::dataset;
use std::time::Duration;

/// Two classes that overlap, of which the second is rare.
fn rare(rows: usize, seed: u64) -> Dataset {
    let all = Generator::Banana.generate(rows, None, seed).expect("data");
    let kept: Vec<usize> = (0..rows).filter(|&i| all.labels[i] < 0.0 || i % 5 == 0).collect();
    all.select(&kept)
}

fn rbf(c: f64) -> Svm {
    Svm::rbf(0.5).c(c).eps(1e-6)
}

fn fit(svm: &Svm, data: &Dataset) -> Fitted {
    svm.fit(data).expect("a training")
}

/// By machines that are trained by themselves on the other folds.
#[test]
fn a_threshold_is_chosen_by_machines_that_did_not_see_the_sample() {
    for scale in [None, Some(ScaleMethod::Standard)] {
        let data = rare(220, 9);
        let rows = data.labels.len();
        let classes = ClassLabels::new(&data.labels).expect("classes");
        let svm = scale.into_iter().fold(rbf(0.2).eps(1e-9).seed(4), Svm::scale);
        let fitted = fit(&svm.clone().threshold(&F1), &data);
        let plan = calibration_plan(Some(&classes), &data.labels, 4).expect("folds");
        let mut decisions = vec![0.0; rows];
        for fold in 0..5 {
            let alone = fit(&svm, &data.select(&plan.train(fold)));
            let of = alone.decision_values(&data.samples.select(plan.test(fold))).expect("decisions");
            plan.test(fold).iter().zip(of).for_each(|(&i, f)| decisions[i] = f);
        }
        let later: Vec<bool> = classes.of().iter().map(|class| *class == 1).collect();
        let expected = best_threshold(&decisions, &later, &F1).expect("a threshold");
        let report = fitted.threshold.expect("asked for");
        let value = report.value.expect("a threshold");
        assert!((value - expected).abs() < 1e-5, "{value}, alone {expected}");
        assert_eq!((report.metric, report.missing, report.run.folds), ("f1", None, 5));
        let said = |at: &dyn Fn(usize) -> f64| -> Option<f64> {
            let labels: Vec<f64> = (0..rows).map(|i| if decisions[i] >= at(i) { 1.0 } else { -1.0 }).collect();
            Some(F1.score(&data.labels, &labels))
        };
        assert_eq!((report.before, report.after), (said(&|_| 0.0), said(&|_| expected)));
        assert!(report.after > report.before, "{report:?}");
        // Each fold by what the others choose.
        let of_others: Vec<f64> = (0..5)
            .map(|fold| {
                let others = plan.train(fold);
                let values: Vec<f64> = others.iter().map(|&i| decisions[i]).collect();
                let sides: Vec<bool> = others.iter().map(|&i| later[i]).collect();
                best_threshold(&values, &sides, &F1).expect("a threshold")
            })
            .collect();
        let fold_of = plan.fold_of().expect("a partition");
        assert_eq!(report.cross_fitted, said(&|i| of_others[fold_of[i] as usize]));
        assert!(report.run.certificate.is_some_and(|certificate| certificate.holds));
    }
}

#[test]
fn the_machine_stays_and_labels_move() {
    let data = rare(220, 3);
    let plain = fit(&rbf(0.2), &data);
    let moved = fit(&rbf(0.2).threshold(&BALANCED_ACCURACY), &data);
    assert_eq!(moved.model.clone().without_threshold(), plain.model);
    assert_eq!(moved.model.decision_rule(), DecisionRule::Threshold);
    let threshold = moved.model.threshold().expect("a threshold");
    assert!(threshold < 0.0, "of rare samples fewer are missed: {threshold}");
    let decisions = plain.decision_values(&data.samples).expect("decisions");
    assert_eq!(moved.decision_values(&data.samples).expect("decisions"), decisions);
    let labels = moved.predict(&data.samples).expect("labels");
    assert!(decisions.iter().zip(&labels).all(|(f, label)| *label == if *f >= threshold { 1.0 } else { -1.0 }));
    assert_ne!(labels, plain.predict(&data.samples).expect("labels"));
    assert_eq!(decode(&encode(&moved.model).expect("bytes")).expect("a model"), moved.model);
    // Later it is the same, and with other threads.
    let later = rbf(0.2).threshold(&BALANCED_ACCURACY).calibrate(plain.model, &data).expect("a threshold");
    assert_eq!((&later.model, later.calibration.is_none()), (&moved.model, true));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    let side_by_side = pool.install(|| fit(&rbf(0.2).threads(Par::Pool).threshold(&BALANCED_ACCURACY), &data));
    assert_eq!(side_by_side.model, moved.model);
}

#[test]
fn probabilities_and_a_threshold_come_from_the_same_folds() {
    let data = rare(220, 5);
    let probable = fit(&rbf(0.2).probability(Probability::Platt), &data);
    let moved = fit(&rbf(0.2).threshold(&BALANCED_ACCURACY), &data);
    let both = fit(&rbf(0.2).threshold(&BALANCED_ACCURACY).probability(Probability::Platt), &data);
    assert_eq!((both.model.threshold(), both.model.calibration()), (moved.model.threshold(), probable.model.calibration()));
    assert_eq!(both.model.decision_rule(), DecisionRule::Threshold);
    assert_eq!(both.predict(&data.samples).expect("labels"), moved.predict(&data.samples).expect("labels"));
    let p = |fitted: &Fitted| fitted.model.probabilities(&data.samples, Par::Seq).expect("probabilities");
    assert_eq!(p(&both), p(&probable));
    // A threshold of the decision value is one of the probability.
    let (p, labels) = (p(&both), both.predict(&data.samples).expect("labels"));
    let side = |label: f64| p.chunks_exact(2).zip(&labels).filter(move |row| *row.1 == label).map(|row| row.0[1]);
    assert!(side(-1.0).fold(0.0, f64::max) <= side(1.0).fold(1.0, f64::min));
    let (calibration, threshold) = (both.calibration.expect("asked for"), both.threshold.expect("asked for"));
    assert_eq!(calibration.run, threshold.run);
    assert_eq!(calibration.run.iterations, moved.threshold.expect("asked for").run.iterations);
}

#[test]
fn what_has_no_threshold_says_why() {
    let refused = |svm: Svm, data: &Dataset| svm.fit(data).expect_err("no threshold").to_string();
    let mut three = rare(60, 1);
    (0..10).for_each(|i| three.labels[i] = 7.0);
    assert!(refused(rbf(1.0).threshold(&F1), &three).contains("two classes, and the data has 3"));
    let values = Svm::epsilon_svr(1.0, 0.1).threshold(&F1);
    assert!(refused(values, &three).contains("tells none apart"));
    let data = rare(60, 1);
    let recall = refused(rbf(1.0).threshold(&maxmargin::metrics::RECALL), &data);
    assert!(recall.contains("recall") && recall.contains("balanced_accuracy, f1_macro, matthews, f1"), "{recall}");
    let mut alone = data.clone();
    let first = alone.labels.iter().position(|label| *label > 0.0).expect("both");
    (0..alone.labels.len()).filter(|i| *i != first).for_each(|i| alone.labels[i] = -1.0);
    assert!(refused(rbf(1.0).threshold(&F1), &alone).contains("one sample"));
    // A run that is over before its folds are leaves the model as it was.
    let ended = rbf(1.0).max_time(Duration::ZERO).threshold(&F1).fit(&data);
    match ended {
        Ok(fitted) => {
            assert_eq!((fitted.model.threshold(), fitted.model.decision_rule()), (None, DecisionRule::Vote));
            assert!(fitted.threshold.is_some_and(|report| report.missing.is_some() && report.after.is_none()));
        }
        Err(error) => assert!(matches!(error, Error::Ended(_)), "{error}"),
    }
}

/// Every other of the first `2 rows` rows, and those between them: rows of `ijcnn1` are a series in
/// time.
fn halves(data: &Dataset, rows: usize) -> [Dataset; 2] {
    [0, 1].map(|first| data.select(&(first..2 * rows).step_by(2).collect::<Vec<usize>>()))
}

#[test]
fn balanced_accuracy_of_unseen_data_rises() {
    for (name, rows, gamma) in [("a9a", 1000, 0.05), ("ijcnn1", 600, 0.5)] {
        let Some(data) = dataset(name) else { continue };
        let [train, test] = halves(&data, rows);
        let fitted = fit(&Svm::c_svc(1.0).kernel(Kernel::rbf(gamma)).threshold(&BALANCED_ACCURACY), &train);
        let report = fitted.threshold.clone().expect("asked for");
        let score = |model: &maxmargin::model::Model| {
            BALANCED_ACCURACY.score(&test.labels, &model.predict(&test.samples, Par::Seq).expect("labels"))
        };
        let (before, after) = (score(&fitted.model.clone().without_threshold()), score(&fitted.model));
        assert!(after > before + 0.05, "{name}: {before} to {after}");
        // What is said out of fold is what comes of it, to what sixty rare samples can tell.
        let said = report.cross_fitted.expect("a score");
        assert!((said - after).abs() < 0.12 && report.after >= report.cross_fitted, "{name}: {said}, {after}");
    }
}

#[test]
fn a_grid_of_leave_one_out_is_one_leave_one_out_a_cell() {
    let Some(data) = dataset("heart_scale") else { return };
    let plan = FoldPlan::leave_one_out(data.labels.len()).expect("folds");
    let svm = Svm::rbf(0.05).eps(1e-4);
    let ranges = Ranges::new().c(&[0.5, 4.0]).gamma(&[0.01, 0.1]);
    let found = svm.grid(&data, &plan, &ranges).expect("a grid");
    assert_eq!((found.cells.len(), found.planned), (4, 4));
    let trained = |report: &maxmargin::cv::CvReport| report.folds.iter().filter(|fold| !fold.machines.is_empty()).count();
    for (at, cell) in found.cells.iter().enumerate() {
        let one = cell.svm.leave_one_out(&data).expect("a leave-one-out");
        let all = &cell.result;
        assert_eq!((all.folds.len(), all.samples_counted), (270, 270));
        // The first of a column begins where one alone does; those after it where the one before
        // ended, at the same optimum to the tolerance.
        if at % 2 == 0 {
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!((bits(&all.decisions), all.scores.clone()), (bits(&one.decisions), one.scores.clone()));
            assert_eq!((all.iterations, trained(all)), (one.iterations, trained(&one)));
        }
        let apart = all.decisions.iter().zip(&one.decisions).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 5e-3 && all.correct.abs_diff(one.correct) <= 1, "{apart}: {} {}", all.correct, one.correct);
        // A sample that is not a support vector of the model of all data costs nothing.
        let vectors = cell.svm.fit(&data).expect("a training").model.support_vectors();
        assert!(trained(all).abs_diff(vectors) <= 3 && vectors < 270, "{} trainings, {vectors} vectors", trained(all));
    }
}
