//! Refusals of data and options that were accepted, panicked or had a misleading message.

use maxmargin::core::MarginLoss;
use maxmargin::cv::{Change, FoldPlan, RunControl, TrainingData, Unlogged, update, verify};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{Dataset, Par};
use maxmargin::kernel::Kernel;
use maxmargin::prelude::{BiasTerm, Penalty};
use maxmargin::{LinearClassifier, LinearObjective, Ranges, Search, SearchHooks, Svm, cross_validate_linear, fit_linear};
use std::fmt::{Debug, Display};

fn four() -> Dataset {
    Dataset::from_rows(&[[0.0, 0.1], [0.2, 0.0], [1.0, 0.9], [0.9, 1.1]], &[1.0, 1.0, 2.0, 2.0]).expect("data")
}

fn text<T: Debug, E: Display>(found: Result<T, E>) -> String {
    found.map(|found| format!("{found:?}")).expect_err("a refusal").to_string()
}

/// The refusals of every training from these data.
fn trainings(data: &Dataset) -> Vec<(&'static str, String)> {
    let plan = FoldPlan::contiguous(4, 2).expect("folds");
    let (svm, control) = (Svm::rbf(1.0), RunControl::unlimited());
    let logistic = LinearClassifier::logistic(1.0);
    let objective = LinearObjective::Margin { loss: MarginLoss::Logistic, penalty: Penalty::L2 };
    let hooks = SearchHooks { control: &control, logs: &Unlogged };
    let inner = |data: &Dataset| FoldPlan::contiguous(data.samples.len(), 2);
    let search = Search::new(Ranges::new().c(&[1.0, 2.0]));
    let mut found = vec![
        ("fit", text(svm.fit(data))),
        ("linear kernel", text(Svm::linear().fit(data))),
        ("regression", text(Svm::epsilon_svr(1.0, 0.1).fit(data))),
        ("levels", text(Svm::quantiles(1.0, &[0.1, 0.9]).fit(data))),
        ("one class", text(Svm::one_class(0.5).fit(data))),
        ("folds", text(svm.cross_validate(data, &plan))),
        ("leave one out", text(svm.leave_one_out(data))),
        ("search", text(svm.search(data, &plan, &search, hooks, |_, _| ()).map(|_| ()))),
        ("nested", text(svm.nested(data, &plan, inner, &search, hooks))),
        ("linear", text(logistic.fit(data))),
        ("linear by options", text(fit_linear(objective, &Svm::linear(), data, &control))),
        ("linear folds", text(cross_validate_linear(objective, &Svm::linear(), data, &plan, &control))),
    ];
    let model = svm.fit(&four()).expect("a model").model;
    found.push(("verify", text(verify(&model, data, None, None, Par::Seq))));
    found
}

#[test]
fn every_training_refuses_another_number_of_labels_than_rows() {
    let mut data = four();
    data.labels.pop();
    for (what, found) in trainings(&data) {
        assert_eq!(found, "3 labels for 4 rows: give one label for each row", "{what}");
    }
    let mut data = four();
    data.groups = Some(vec![1; 5]);
    for (what, found) in trainings(&data) {
        assert_eq!(found, "5 groups for 4 rows: give one group for each row", "{what}");
    }
}

#[test]
fn every_training_refuses_labels_that_are_not_finite() {
    for value in [f64::NAN, f64::INFINITY] {
        let mut data = four();
        data.labels[1] = value;
        for (what, found) in trainings(&data) {
            assert_eq!(found, format!("the label of row 1 is {value}: labels are finite numbers"), "{what}");
        }
    }
}

#[test]
fn updates_refuse_added_data_with_another_number_of_labels() {
    let model = Svm::rbf(1.0).fit(&four()).expect("a model").model;
    let mut added = four();
    added.labels.pop();
    let with = |kept: &TrainingData, added: Option<&Dataset>| {
        let change = Change { add: added, ..Change::default() };
        text(update(&model, kept, &change, 1 << 20, Par::Seq, &|_| std::ops::ControlFlow::Continue(())))
    };
    let expected = "3 labels for 4 rows: give one label for each row";
    assert_eq!(with(&TrainingData::new(four()), Some(&added)), expected);
    assert_eq!(with(&TrainingData::new(added.clone()), None), expected);
}

#[test]
fn intervals_of_a_scaling_have_two_finite_ends_in_order() {
    for (lower, upper) in [(1.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1.5e308, 1.5e308)] {
        let svm = Svm::rbf(1.0).scale(ScaleMethod::MinMax { lower, upper });
        let expected = format!("scaling to {lower} to {upper}: the lower end must be below the upper end, and both finite");
        assert_eq!(text(svm.fit(&four())), expected);
        assert_eq!(text(svm.leave_one_out(&four())), expected);
    }
}

#[test]
fn linear_classifiers_name_their_wrong_weights() {
    let crammer_singer = LinearClassifier::crammer_singer(1.0);
    for linear in [LinearClassifier::logistic(1.0), LinearClassifier::sparse_svc(1.0), crammer_singer.clone()] {
        let weighted = |weights: &[f64]| text(linear.clone().sample_weights(weights.to_vec()).fit(&four()));
        assert_eq!(weighted(&[1.0; 3]), "3 weights for 4 samples: give one for each");
        for value in [-1.0, f64::NAN] {
            let expected = format!("the weight of row 2 is {value}: it must be a finite number, 0 or more");
            assert_eq!(weighted(&[1.0, value, 1.0, 1.0]), expected);
            let expected = format!("the weight of class 2 is {value}: it must be a finite number, 0 or more");
            assert_eq!(text(linear.clone().class_weight(2.0, value).fit(&four())), expected);
            assert_eq!(text(Svm::rbf(1.0).class_weight(2.0, value).fit(&four())), expected);
        }
    }
    let expected = "the machine of Crammer and Singer has no free bias; give it a bias that is one more feature, or none";
    assert_eq!(text(crammer_singer.bias_term(BiasTerm::Free).fit(&four())), expected);
}

#[test]
fn options_name_their_wrong_numbers() {
    let expected = "levels of quantiles: there is none, or one is NaN: it must be above 0 and below 1";
    assert_eq!(text(Svm::quantiles(1.0, &[]).fit(&four())), expected);
    assert_eq!(text(Svm::expectiles(1.0, &[]).fit(&four())), expected);
    let weighted = |factors: &[f64]| text(Svm::rbf(1.0).feature_weights(factors).fit(&four()));
    assert_eq!(weighted(&[1.0, -1.0]), "the factor of feature 1 (from 0) is -1: it must be a positive finite number");
    assert_eq!(weighted(&[1.0]), "1 factors for 2 features; give one for each that a kernel sees");
}

#[test]
fn kernels_name_what_is_missing() {
    let nothing = Kernel::user("refusals-nan", |_, _| f64::NAN);
    let expected = "row 1: the kernel gives NaN for it; a kernel of one's own returns a finite number for every pair of rows";
    assert_eq!(text(Svm::c_svc(1.0).kernel(nothing).fit(&four())), expected);
    let rows = [[1.0, 1.0, 0.5, 0.1, 0.1], [2.0, 0.5, 1.0, 0.1, 0.1], [3.0, 0.1, 0.1, 1.0, 0.5], [4.0, 0.1, 0.1, 0.5, 1.0]];
    let data = Dataset::from_rows(&rows, &[1.0, 1.0, 2.0, 2.0]).expect("data");
    let fitted = Svm::c_svc(1.0).kernel(Kernel::Precomputed).fit(&data).expect("a model");
    let queries = Dataset::from_rows(&[[0.0, 0.3]], &[1.0]).expect("data");
    let found = text(fitted.predict(&queries.samples));
    let tail = "and the queries have kernel values with 1 training rows; give the values with all of them";
    assert_eq!(found, format!("support vector 2 of the model is training row 2, {tail}"));
}
