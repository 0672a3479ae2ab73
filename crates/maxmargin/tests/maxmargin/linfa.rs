//! linfa's traits, by code as its users write it.

use linfa::prelude::*;
use maxmargin::linfa::{Classifier, Error};
use maxmargin::prelude::{Generator, Svm};
use ndarray::{Array1, Array2};

/// Rows of a generator, and the class of each by its label.
fn made<L>(generator: Generator, rows: usize, class: impl Fn(usize, f64) -> L) -> linfa::Dataset<f64, L, ndarray::Ix1> {
    let data = generator.generate(rows, None, 3).expect("a generator");
    let mut x = Array2::zeros((rows, data.samples.features()));
    for i in 0..rows {
        data.samples.row(i).for_each(|j, value| x[[i, j]] = value);
    }
    let y = data.labels.iter().enumerate().map(|(i, label)| class(i, *label)).collect::<Vec<L>>();
    linfa::Dataset::new(x, Array1::from(y))
}

#[test]
fn several_classes_are_fitted_and_counted() {
    let data = made(Generator::Banana, 300, |i, label| if label > 0.0 && i % 3 == 0 { 7 } else { usize::from(label > 0.0) });
    let (train, test) = data.split_with_ratio(0.8);
    let model = Fit::fit(&Svm::rbf(1.0).c(10.0), &train).expect("three classes");
    assert!(model.fitted.certificate.holds && model.fitted.machines.len() == 3);
    let predicted = model.predict(&test);
    let counts = predicted.confusion_matrix(&test).expect("as many");
    let right = predicted.iter().zip(test.targets()).filter(|(p, t)| p == t).count();
    assert!((counts.accuracy() - right as f32 / 60.0).abs() < 1e-6);
    assert!(predicted.iter().all(|class| [0, 1, 7].contains(class)));
}

#[test]
fn it_predicts_what_the_model_predicts() {
    let data = made(Generator::TwoGaussians, 120, |_, label| label);
    let model = Fit::fit(&Svm::rbf(0.5), &data).expect("two classes");
    let own = Generator::TwoGaussians.generate(120, None, 3).expect("a generator");
    let expected = Svm::rbf(0.5).fit(&own).expect("two classes");
    assert_eq!(model.fitted.certificate, expected.certificate);
    let predicted: Array1<f64> = model.predict(data.records());
    assert_eq!(predicted.to_vec(), expected.predict(&own.samples).expect("predictions"));
    let narrow = model.predict(data.records().mapv(|value| value as f32)).targets;
    assert_eq!(narrow.len(), 120);
}

#[test]
fn linfa_validates_it() {
    let mut data = made(Generator::Blobs, 90, |_, label| label > 0.0);
    let svms = [Svm::rbf(0.5).c(0.1), Svm::rbf(0.5).c(10.0)];
    let accuracy = data.cross_validate_single(5, &svms, |predicted: &Array1<bool>, truth| {
        Ok(predicted.iter().zip(truth).filter(|(p, t)| p == t).count() as f64 / truth.len() as f64)
    });
    let accuracy = accuracy.map_err(|error: Error| error.to_string()).expect("folds");
    assert!(accuracy.len() == 2 && accuracy.iter().all(|share| (0.0..=1.0).contains(share)));
}

#[test]
fn what_cannot_be_fitted_is_an_error() {
    let data = made(Generator::Blobs, 20, |_, _| 1.0);
    let found: Result<Classifier<f64>, Error> = Fit::fit(&Svm::linear(), &data);
    assert!(matches!(found, Err(Error::Svm(_))));
    let mut broken = made(Generator::Blobs, 20, |_, label| label);
    broken.records[[3, 0]] = f64::NAN;
    let found: Result<Classifier<f64>, Error> = Fit::fit(&Svm::linear(), &broken);
    assert!(found.unwrap_err().to_string().contains("row 3, feature 0"));
}
