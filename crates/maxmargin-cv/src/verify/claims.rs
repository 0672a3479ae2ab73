//! What a model says that can be compared with the data without any kernel value.

use crate::update::Kept;
use crate::verify::Check;
use crate::words::labels_in_words;
use maxmargin_data::Dataset;
use maxmargin_data::scale::Scaler;
use maxmargin_model::{Model, data_sha256, numbers_sha256};

/// Whether the data has the classes of the model, in any order.
pub(super) fn classes(model: &Model, data: &Dataset) -> Check {
    let ascending = |labels: &[f64]| {
        let mut labels: Vec<f64> = labels.iter().map(|label| label + 0.0).collect(); // −0 is 0
        labels.sort_by(f64::total_cmp);
        labels.dedup();
        labels
    };
    let (ours, theirs) = (ascending(model.classes()), ascending(&data.labels));
    let detail = format!("model {}; data {}", labels_in_words(&ours), labels_in_words(&theirs));
    Check::new("classes", ours == theirs, detail)
}

/// Shape, hash and scaler.
pub(super) fn of_record(model: &Model, data: &Dataset, checks: &mut Vec<Check>) {
    if let Some(record) = model.record() {
        let (rows, features) = (data.samples.len() as u64, data.samples.features() as u64);
        let detail = format!("model {} × {}, data {rows} × {features}", record.rows, record.features);
        checks.push(Check::new("shape", (record.rows, record.features) == (rows, features), detail));
        // A model that was updated has the hash of numbers: its training set never was a text.
        let same = [data_sha256(data), numbers_sha256(data)].contains(&record.data_sha256);
        let detail =
            if same { "the data is the training data, bit for bit" } else { "the data is another text than was trained on" };
        checks.push(Check::new("data hash", same, detail.to_owned()));
    }
    if let Some(scaler) = &model.parts().scaler {
        let updates = Kept::of(model).ok().flatten().map_or(0, |kept| kept.updates);
        let (passed, detail) = if updates > 0 {
            (None, "it was fitted before the model was updated, to samples that may have left")
        } else if *scaler == Scaler::fit(&data.samples, scaler.method()) {
            (Some(true), "fitted to this data")
        } else {
            (Some(false), "not what fitting to this data gives")
        };
        checks.push(Check { what: "scaler", passed, detail: detail.to_owned() });
    }
}
