//! Intervals and sets of trained models: what they are computed from, by the folds trained apart.

use maxmargin::conformal::{Band, CrossScores, Level};
use maxmargin::cv::{Conformal, ConformalOptions, ConformalProblem, Exchangeable, FoldPlan, RunControl, verify};
use maxmargin::data::classes::pairs;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par};
use maxmargin::kernel::Kernel;
use maxmargin::model::{Model, Multiclass, decode, encode};
use maxmargin::{Error, Fitted, Svm};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Values of a function and noise.
fn waves(rows: usize) -> Dataset {
    let mut data = Generator::GaussM.generate(rows, Some(2), 1).expect("data");
    for i in 0..rows {
        let x: f64 = data.samples.row(i).entries().iter().map(|e| (1.5 * e.1).sin()).sum();
        data.labels[i] = x + 0.3 * (((i * 7919 + 13) % 101) as f64 / 101.0 - 0.5);
    }
    data
}

/// Points of the plane in two or three classes that overlap.
fn banana(rows: usize, classes: usize) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, 3).expect("data");
    for i in (0..rows).filter(|_| classes == 3) {
        let x = data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
        data.labels[i] = if x + 0.1 * ((i * 7 % 11) as f64 - 5.0) > 0.5 { 7.0 } else { data.labels[i] };
    }
    data
}

fn svr() -> Svm {
    Svm::epsilon_svr(4.0, 0.1).kernel(Kernel::rbf(0.5)).eps(1e-9)
}

fn level() -> Level {
    Level::new(0.2).expect("a level")
}

fn fit(svm: &Svm, data: &Dataset, plan: &FoldPlan) -> (Fitted, Conformal) {
    let options = ConformalOptions { plan: Some(Arc::new(plan.clone())), ..ConformalOptions::new(level()) };
    let fitted = svm.clone().conformal_with(options).fit(data).expect("a training");
    let model = decode(&encode(&fitted.model).expect("bytes")).expect("a model");
    let kept = Conformal::of(&model).expect("sound").expect("scores");
    (fitted, kept)
}

/// The models of all folds, trained apart.
fn apart(svm: &Svm, data: &Dataset, plan: &FoldPlan) -> Vec<Model> {
    (0..plan.folds()).map(|fold| svm.fit(&data.select(&plan.train(fold))).expect("a training").model).collect()
}

fn decisions(model: &Model, data: &Dataset) -> Vec<f64> {
    model.decision_values(&data.samples, Par::Seq).expect("values")
}

/// The fold of every row.
fn folds(plan: &FoldPlan) -> Vec<u32> {
    plan.fold_of().expect("a partition")
}

/// Intervals are those of folds that are trained apart: with a kernel, on features, with scaling
/// that differs between folds, and with one fold for each row.
#[test]
fn intervals_are_those_of_folds_trained_apart() {
    let (data, new) = (waves(40), waves(57).select(&(40..57).collect::<Vec<_>>()));
    let five = FoldPlan::shuffled(40, 5, 1).expect("folds");
    let linear = Svm::epsilon_svr(4.0, 0.1).eps(1e-9);
    let scaled = svr().scale(ScaleMethod::Standard);
    let each = FoldPlan::leave_one_out(40).expect("folds");
    for (svm, plan, method) in
        [(svr(), &five, "cv+"), (linear, &five, "cv+"), (scaled, &five, "cv+"), (svr(), &each, "jackknife+")]
    {
        let (fitted, kept) = fit(&svm, &data, plan);
        assert_eq!(fitted.model.clone().with_section(*b"conform\0", Vec::new()).parts().machines, fitted.model.parts().machines);
        assert_eq!(kept.method(&fitted.model), method);
        let models = apart(&svm, &data, plan);
        let own: Vec<Vec<f64>> = models.iter().map(|model| decisions(model, &data)).collect();
        let of = folds(plan);
        let scores: Vec<f64> = (0..40).map(|row| (data.labels[row] - own[of[row] as usize][row]).abs()).collect();
        let scores = CrossScores::new(&of, &scores, None).expect("scores");
        let theirs: Vec<Vec<f64>> = models.iter().map(|model| decisions(model, &new)).collect();
        let found = kept.intervals(&fitted.model, &new.samples, level(), None, Par::Pool).expect("intervals");
        for (row, found) in found.iter().enumerate() {
            let bands: Vec<Band> = theirs.iter().map(|values| Band::around(values[row])).collect();
            let expected = scores.interval(0, &bands, level());
            let off = (found.lower - expected.lower).abs().max((found.upper - expected.upper).abs());
            assert!(off < 1e-6, "{method} {row}: {found:?}, {expected:?}");
        }
    }
}

/// The score of a class by its definition, without the order in which the library computes it.
fn class_score(model: &Model, decisions: &[f64], class: usize) -> f64 {
    let count = model.classes().len();
    if model.multiclass() == Multiclass::OneVsRest {
        let others = (0..count).filter(|other| *other != class).map(|other| decisions[other]);
        return others.fold(f64::NEG_INFINITY, f64::max) - decisions[class];
    }
    let for_class = pairs(count).zip(decisions).filter_map(|((a, b), f)| match class {
        _ if class == b => Some(*f),
        _ if class == a => Some(-f),
        _ => None,
    });
    -for_class.fold(f64::INFINITY, f64::min)
}

#[test]
fn sets_are_those_of_folds_trained_apart() {
    let cases = [(Svm::rbf(0.5).c(2.0), 2), (Svm::rbf(0.5).c(2.0), 3), (Svm::rbf(0.5).c(2.0).one_vs_rest(), 3)];
    for (svm, count) in cases {
        let svm = svm.eps(1e-9);
        let (data, new) = (banana(80, count), banana(101, count).select(&(80..101).collect::<Vec<_>>()));
        let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
        let (fitted, kept) = fit(&svm, &data, &plan);
        let classes = ClassLabels::new(&data.labels).expect("classes");
        let models = apart(&svm, &data, &plan);
        let width = models[0].machines().len();
        let score =
            |values: &[f64], row: usize, class: usize| class_score(&fitted.model, &values[row * width..(row + 1) * width], class);
        let own: Vec<Vec<f64>> = models.iter().map(|model| decisions(model, &data)).collect();
        let theirs: Vec<Vec<f64>> = models.iter().map(|model| decisions(model, &new)).collect();
        let of = folds(&plan);
        let scores: Vec<f64> = (0..80).map(|row| score(&own[of[row] as usize], row, classes.of()[row] as usize)).collect();
        for per_class in [false, true] {
            let scores = CrossScores::new(&of, &scores, per_class.then_some(classes.of())).expect("scores");
            let found = kept.class_p_values(&fitted.model, &new.samples, per_class, None, Par::Pool).expect("p-values");
            let sets = kept.sets(&fitted.model, &new.samples, level(), per_class, None, Par::Seq).expect("sets");
            for (at, p) in found.iter().enumerate() {
                let (row, class) = (at / count, at % count);
                let new: Vec<f64> = theirs.iter().map(|values| score(values, row, class)).collect();
                let category = if per_class { class } else { 0 };
                assert_eq!(*p, scores.p_value(category, &new), "{count} {per_class} {row} {class}");
                assert_eq!(sets[at], scores.includes(category, &new, level()));
            }
        }
    }
}

/// A quantile's interval is between the quantiles α/2 and 1 − α/2, moved by their scores.
#[test]
fn quantiles_are_conformalised_between_two_others() {
    let (data, new) = (waves(40), waves(50).select(&(40..50).collect::<Vec<_>>()));
    let plan = FoldPlan::shuffled(40, 4, 2).expect("folds");
    let at = |tau: f64| Svm::quantile(4.0, tau).kernel(Kernel::rbf(0.5)).eps(1e-9);
    let (fitted, kept) = fit(&at(0.5), &data, &plan);
    assert_eq!(kept.method(&fitted.model), "conformalised quantiles");
    let [lower, upper] = [0.1, 0.9].map(|tau| apart(&at(tau), &data, &plan));
    let band = |fold: usize, data: &Dataset, row: usize| {
        let [lower, upper] = [&lower, &upper].map(|models| decisions(&models[fold], data)[row]);
        Band { lower, upper, unit: 1.0 }
    };
    let of = folds(&plan);
    let scores: Vec<f64> = (0..40).map(|row| band(of[row] as usize, &data, row).score(data.labels[row])).collect();
    let scores = CrossScores::new(&of, &scores, None).expect("scores");
    let found = kept.intervals(&fitted.model, &new.samples, level(), None, Par::Seq).expect("intervals");
    for (row, found) in found.iter().enumerate() {
        let bands: Vec<Band> = (0..4).map(|fold| band(fold, &new, row)).collect();
        let expected = scores.interval(0, &bands, level());
        assert!(
            (found.lower - expected.lower).abs() < 1e-5 && (found.upper - expected.upper).abs() < 1e-5,
            "{found:?} {expected:?}"
        );
    }
}

#[test]
fn verification_computes_the_scores_again() {
    let data = waves(40);
    let plan = FoldPlan::shuffled(40, 4, 1).expect("folds");
    for svm in
        [svr(), svr().scale(ScaleMethod::Standard), Svm::epsilon_svr(4.0, 0.1), Svm::one_class(0.3).kernel(Kernel::rbf(0.5))]
    {
        let (fitted, _) = fit(&svm, &data, &plan);
        let check = |model: &Model| {
            let verdict = verify(model, &data, None, None, Par::Seq).expect("a verdict");
            verdict.checks.iter().find(|check| check.what == "conformal scores").and_then(|check| check.passed)
        };
        assert_eq!(check(&fitted.model), Some(true));
        // Each byte of the section that still decodes changes a score, a machine or a list.
        let bytes = fitted.model.section(*b"conform\0").expect("a section").to_vec();
        let mut refuted = 0;
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            refuted += usize::from(check(&fitted.model.clone().with_section(*b"conform\0", changed)) == Some(false));
        }
        assert!(refuted >= 20, "{refuted}");
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            let cut = fitted.model.clone().with_section(*b"conform\0", bytes[..cut].to_vec());
            assert!(matches!(Conformal::of(&cut), Err(ConformalProblem::Damaged(_))));
        }
    }
}

/// Fold machines of a kernel share the vectors of the model, and few machines of leave-one-out
/// differ from it.
#[test]
fn fold_machines_share_vectors() {
    let data = waves(200);
    let plan = FoldPlan::shuffled(200, 10, 1).expect("folds");
    let (fitted, _) = fit(&svr(), &data, &plan);
    let model = encode(&svr().fit(&data).expect("a training").model).expect("bytes").len();
    let with = encode(&fitted.model).expect("bytes").len();
    let vectors = fitted.model.len();
    // An index and a coefficient for each vector of a fold, and scores; no second copy of rows.
    assert!(with < model + 10 * 12 * (vectors + 30) + 200 * 24, "{model} {with} {vectors}");
}

#[test]
fn requests_that_cannot_be_are_refused_before_a_training() {
    let data = banana(60, 3);
    let refused = |svm: Svm, data: &Dataset, options: ConformalOptions| {
        svm.conformal_with(options).fit(data).expect_err("refused").to_string()
    };
    let plan = |plan: FoldPlan| ConformalOptions { plan: Some(Arc::new(plan)), ..ConformalOptions::new(level()) };
    let svc = || Svm::rbf(0.5);
    // A fold that tests all rows of a class trains on none of it.
    let by_class: Vec<u32> = ClassLabels::new(&data.labels).expect("classes").of().to_vec();
    let text = refused(svc(), &data, plan(FoldPlan::from_folds(&by_class).expect("folds")));
    assert!(text.contains("fold 0 trains on no row of class -1") && text.contains("stratified"), "{text}");
    let two = FoldPlan::stratified(&data.labels, 3, 1).expect("folds");
    let text = refused(svc(), &data, plan(FoldPlan::joined(&[two.clone(), two]).expect("folds")));
    assert!(text.contains("2 rounds"), "{text}");
    let first = (0..60).find(|&row| data.labels[row] == 7.0).expect("a row");
    let one = FoldPlan::from_tests(60, [(vec![first], vec![])]).expect("a fold");
    let text = refused(svc(), &data, plan(one));
    assert!(text.contains("no fold tests a row of class -1"), "{text}");
    let per_class = ConformalOptions { per_class: true, ..ConformalOptions::new(level()) };
    assert!(refused(svr(), &waves(40), per_class).contains("no classes"));
    let expectile = Svm::expectile(1.0, 0.5);
    assert!(refused(expectile, &waves(40), ConformalOptions::new(level())).contains("expectile has no intervals"));
    assert!(svr().conformal(1.0).is_err());
    let other = FoldPlan::shuffled(30, 3, 1).expect("folds");
    assert!(matches!(svr().conformal_with(plan(other)).fit(&waves(40)), Err(Error::Plan { .. })));
}

/// Rows in order of time are not exchangeable, whatever the caller says.
#[test]
fn time_series_promise_nothing() {
    let data = waves(40);
    let plan = FoldPlan::time_series(40, 4, None, 0).expect("folds");
    let (fitted, kept) = fit(&svr(), &data, &plan);
    let found = fitted.conformal.and_then(|report| report.coverage).expect("scores");
    assert_eq!((kept.exchangeable(), found.exchangeable), (Exchangeable::Nothing, Exchangeable::Nothing));
    assert_eq!((kept.rows(), found.rows), (plan.tested(), plan.tested()));
}

/// A run that is ended after the training keeps the model.
#[test]
fn an_ended_run_keeps_the_model() {
    let data = waves(60);
    let svm = svr().conformal(0.1).expect("a level");
    let control = RunControl::new(|progress| match progress.stage {
        maxmargin::cv::Stage::Fold(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let fitted = svm.fit_with(&data, &control).expect("a model");
    assert!(fitted.conformal.is_some_and(|report| report.missing.is_some() && report.coverage.is_none()));
    assert_eq!(fitted.model.parts().machines, svr().fit(&data).expect("a training").model.parts().machines);
    assert!(Conformal::of(&fitted.model).expect("sound").is_none());
}

/// The report's coverage compares each row with the scores of the other folds, so that it is near
/// the promise; results do not depend on threads.
#[test]
fn coverage_is_reported_and_deterministic() {
    let data = waves(300);
    let svm = svr().conformal(0.1).expect("a level");
    let one = svm.fit(&data).expect("a training");
    let four = svm.clone().threads(Par::Pool).fit(&data).expect("a training");
    assert_eq!(encode(&one.model).expect("bytes"), encode(&four.model).expect("bytes"));
    let found = one.conformal.and_then(|report| report.coverage).expect("scores");
    // The band of a binomial of 300 rows at 90 %, four standard deviations wide.
    assert!((found.coverage - 0.9).abs() < 4.0 * (0.09_f64 / 300.0).sqrt(), "{}", found.coverage);
    let report = svm.cross_validate(&data, &FoldPlan::shuffled(300, 10, 1).expect("folds")).expect("a validation");
    let plan = FoldPlan::shuffled(300, 10, 1).expect("folds");
    let options = ConformalOptions::new(Level::new(0.1).expect("a level"));
    let same = svm.conformal_coverage(&data, &options, &plan, &report).expect("scores").expect("all folds");
    assert_eq!((same.coverage, same.rows), (found.coverage, 300));
}

/// Rows of weight 0 are no samples of what a promise is about.
#[test]
fn rows_of_weight_0_have_no_score() {
    let data = waves(90);
    let mut more = data.select(&(0..180).map(|i| i % 90).collect::<Vec<_>>());
    more.labels[90..].iter_mut().for_each(|value| *value = 100.0 - *value);
    let weights: Vec<f64> = (0..180).map(|i| f64::from(u8::from(i < 90))).collect();
    let svm = svr().conformal_with(ConformalOptions::new(level()));
    let (alone, weighted) =
        (svm.fit(&data).expect("a training"), svm.clone().sample_weights(weights).fit(&more).expect("a training"));
    let of = |fitted: &Fitted| {
        let kept = Conformal::of(&fitted.model).expect("sound").expect("scores");
        kept.intervals(&fitted.model, &data.samples, level(), None, Par::Seq).expect("intervals")
    };
    let found = weighted.conformal.as_ref().and_then(|report| report.coverage.as_ref()).expect("scores");
    assert_eq!((found.rows, found.exchangeable), (90, Exchangeable::Rows), "the folds leave out no row that counts");
    for (a, b) in of(&alone).iter().zip(&of(&weighted)) {
        assert!((a.lower - b.lower).abs() < 1e-5 && (a.upper - b.upper).abs() < 1e-5, "{a:?} {b:?}");
    }
}
