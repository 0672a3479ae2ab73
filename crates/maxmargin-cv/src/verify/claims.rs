//! Statements of a model that are checked against the data without kernel values.

use super::verdict::Check;
use crate::run::label_text::labels_in_words;
use crate::study::refit::Refit;
use crate::update::{TrainingData, UpdateError};
use maxmargin_data::Dataset;
use maxmargin_data::scale::ScaleMethod;
use maxmargin_model::{DecisionRule, Model, is_hash_of};

/// Checks that the data has the classes of the model, in any order.
pub(super) fn classes(model: &Model, data: &Dataset) -> Check {
    if model.classes().is_empty() {
        let what = if model.decision_rule() == DecisionRule::Value { "values" } else { "one class: labels are not looked at" };
        return Check::new("classes", true, what.to_owned());
    }
    let ascending = |labels: &[f64]| {
        let mut labels: Vec<f64> = labels.iter().map(|label| label + 0.0).collect(); // −0 is 0
        labels.sort_by(f64::total_cmp);
        labels.dedup();
        labels
    };
    let (ours, theirs) = (ascending(model.classes()), ascending(&data.labels));
    let names = model.columns().map_or(&[][..], |columns| columns.labels());
    let detail = format!("model {}; data {}", labels_in_words(&ours, names), labels_in_words(&theirs, names));
    Check::new("classes", ours == theirs, detail)
}

/// Checks shape, hash, columns, scaler, and the training data that the model keeps.
pub(super) fn of_record(model: &Model, data: &Dataset, checks: &mut Vec<Check>) {
    if let Some(record) = model.record() {
        let (rows, features) = (data.samples.len() as u64, data.samples.features() as u64);
        let detail = format!("model {} × {}, data {rows} × {features}", record.rows, record.features);
        checks.push(Check::new("shape", (record.rows, record.features) == (rows, features), detail));
        let same = is_hash_of(&record.data_sha256, data);
        let detail =
            if same { "the data is the training data, bit for bit" } else { "the data is another text than was trained on" };
        checks.push(Check::new("data hash", same, detail.to_owned()));
    }
    let kept = TrainingData::of(model);
    let updated = matches!(&kept, Ok(Some(kept)) if kept.updates > 0);
    let mut fitted = |what: &'static str, same: bool| {
        let (passed, detail) = if same {
            (Some(true), "fitted to this data")
        } else if updated {
            (None, "it was fitted before the model was updated, to samples that may have left")
        } else {
            (Some(false), "not what fitting to this data gives")
        };
        checks.push(Check { what, passed, detail: detail.to_owned() });
    };
    // Data that cannot be prepared is an error of the recomputation that follows.
    let refit = Refit::of(model, data);
    refit.columns.into_iter().for_each(|same| fitted("columns", same));
    refit.scaler.into_iter().for_each(|same| fitted("scaler", same));
    // As the width of a kernel, this value does not follow from the data.
    if model.parts().scaler.as_ref().is_some_and(|scaler| scaler.method() == ScaleMethod::Given) {
        let detail = "a factor for each feature was given with the kernel: nothing to compare".to_owned();
        checks.push(Check { what: "scaler", passed: None, detail });
    }
    // The next update starts from this data, whatever data the model is verified against.
    let sound = kept.and_then(|kept| match (kept, model.record()) {
        (Some(kept), Some(record)) => kept.check(record),
        (Some(_), None) => Err(UpdateError::NoRecord),
        (None, _) => Ok(()),
    });
    checks.extend(sound.err().map(|error| Check::new("kept data", false, error.to_string())));
}

/// Returns the parts that a model has from folds: without their machines they are not recomputed.
pub(super) fn of_folds(model: &Model) -> Vec<Check> {
    let unchecked = |what: &'static str| {
        let detail = "fitted to decision values of folds that the model does not have; calibrate computes it again";
        Check { what, passed: None, detail: detail.to_owned() }
    };
    let threshold = model.threshold().map(|_| unchecked("threshold"));
    let probabilities = (!model.calibration().is_empty()).then(|| unchecked("probabilities"));
    threshold.into_iter().chain(probabilities).collect()
}
