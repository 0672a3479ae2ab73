//! Full conformal prediction beside trainings from zero, and its promise counted exactly.

use maxmargin::core::RunControl;
use maxmargin::cv::{TrainingData, UpdateError, full_p_values};
use maxmargin::data::{Dataset, Generator, Par};
use maxmargin::kernel::Kernel;
use maxmargin::model::Model;
use maxmargin::{Fitted, Svm};

/// Two classes that overlap.
fn data(rows: usize, seed: u64) -> Dataset {
    let mut data = Generator::TwoGaussians.generate(rows, Some(2), seed).expect("data");
    // Labels turned at random make margins of all kinds.
    (0..rows).filter(|i| (i * 7919 + seed as usize).is_multiple_of(11)).for_each(|i| data.labels[i] = -data.labels[i]);
    data
}

fn svm() -> Svm {
    Svm::c_svc(2.0).kernel(Kernel::rbf(0.5)).eps(1e-9).class_weight(1.0, 1.5)
}

fn updatable(svm: &Svm, data: &Dataset) -> Model {
    let Fitted { model, .. } = svm.clone().keep_vectors().fit(data).expect("a training");
    TrainingData::new(data.clone()).put_into(model).expect("the model's data")
}

fn p_values(model: &Model, data: &Dataset, per_class: bool, par: Par) -> Vec<f64> {
    full_p_values(model, &data.samples, per_class, 1 << 26, par, &RunControl::unlimited()).expect("p-values")
}

/// The p-value of a label by a training from zero on all rows with it.
fn from_zero(train: &Dataset, new: &Dataset, row: usize, label: f64, per_class: bool) -> f64 {
    let mut all = train.clone();
    all.samples = train.samples.stacked(&new.samples.select(&[row])).expect("rows");
    all.labels.push(label);
    let fitted = svm().fit(&all).expect("a training");
    let decisions = fitted.decision_values(&all.samples).expect("values");
    let margins: Vec<f64> = decisions.iter().zip(&all.labels).map(|(f, y)| f * y).collect();
    let own = margins[train.labels.len()];
    let counted: Vec<f64> =
        (0..train.labels.len()).filter(|&i| !per_class || all.labels[i] == label).map(|i| margins[i]).collect();
    // Margins of free support vectors are equal to the tolerance.
    let worse = counted.iter().filter(|margin| **margin <= own + 1e-6).count();
    (1 + worse) as f64 / (1 + counted.len()) as f64
}

#[test]
fn p_values_are_those_of_trainings_from_zero() {
    let (train, new) = (data(60, 1), data(25, 8));
    let model = updatable(&svm(), &train);
    for per_class in [false, true] {
        let found = p_values(&model, &new, per_class, Par::Seq);
        for row in 0..25 {
            for (class, label) in [-1.0, 1.0].into_iter().enumerate() {
                let expected = from_zero(&train, &new, row, label, per_class);
                assert!(
                    (found[2 * row + class] - expected).abs() < 1e-12,
                    "{row} {label}: {} {expected}",
                    found[2 * row + class]
                );
            }
        }
        assert!(found.iter().any(|p| *p < 0.1) && found.iter().any(|p| *p > 0.5));
        assert_eq!(found, p_values(&model, &new, per_class, Par::Pool));
    }
}

/// Of any n + 1 rows, at most the share α has a p-value of its own label up to α when it is left
/// out: that is the whole proof of the promise.
#[test]
fn the_promise_holds_for_every_row_left_out() {
    let all = data(50, 3);
    let own: Vec<f64> = (0..50)
        .map(|row| {
            let rest: Vec<usize> = (0..50).filter(|&i| i != row).collect();
            let model = updatable(&svm(), &all.select(&rest));
            let class = usize::from(all.labels[row] > 0.0);
            p_values(&model, &all.select(&[row]), false, Par::Seq)[class]
        })
        .collect();
    for count in 1..50 {
        let alpha = f64::from(count) / 50.0;
        let missed = own.iter().filter(|p| **p <= alpha).count();
        assert!(missed as f64 <= alpha * 50.0 + 1e-9, "{missed} of 50 at {alpha}");
    }
    // It is no empty promise: some rows do fit worse than others.
    assert!(own.iter().any(|p| *p <= 0.1), "{own:?}");
}

#[test]
fn models_without_their_data_or_with_more_classes_are_refused() {
    let train = data(30, 2);
    let bare = svm().keep_vectors().fit(&train).expect("a training").model;
    let refused = |model: &Model| {
        full_p_values(model, &train.samples, false, 1 << 20, Par::Seq, &RunControl::unlimited()).expect_err("no p-values")
    };
    assert!(matches!(refused(&bare), UpdateError::NoData));
    // The library does not know the options of the command line.
    assert!(!refused(&bare).to_string().contains("--"), "{}", refused(&bare));
    let mut three = train.clone();
    three.labels.iter_mut().step_by(3).for_each(|label| *label = 5.0);
    assert!(matches!(refused(&updatable(&Svm::c_svc(1.0).kernel(Kernel::rbf(1.0)), &three)), UpdateError::TwoClasses(3)));
    let stopped = RunControl::new(|_| std::ops::ControlFlow::Break(()));
    let ended = full_p_values(&updatable(&svm(), &train), &train.samples, false, 1 << 20, Par::Seq, &stopped);
    assert!(matches!(ended, Err(UpdateError::Interrupted)), "{ended:?}");
}
