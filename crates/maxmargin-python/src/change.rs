//! A model after samples were added to its training data, or removed from it.

use crate::run::{Channel, Failure};
use maxmargin::cv::{Change, Conformal, TrainingData, UpdateError, update};
use maxmargin::data::{Dataset, Par};
use maxmargin::model::Model;

/// Returns the model with the samples `add`, and without the rows `remove` of its current training
/// data.
pub(crate) fn changed(
    model: &Model,
    add: Option<&Dataset>,
    remove: &[usize],
    memory: u64,
    channel: &Channel,
) -> Result<Model, Failure> {
    let kept = TrainingData::of(model)?.ok_or(UpdateError::NoData)?;
    if !model.calibration().is_empty() {
        return Err("the model has probabilities, which were fitted to its current rows: fit on the changed data instead".into());
    }
    if Conformal::of(model)?.is_some() {
        return Err("the model has scores of folds, which belong to its current rows: fit on the changed data instead".into());
    }
    let rows = kept.numbers.len();
    if let Some((_, row)) = remove.iter().enumerate().find(|(at, row)| remove[..*at].contains(row)) {
        return Err(format!("row {row} (from 0) is named twice: name each row that is to be removed once").into());
    }
    let number = |&row: &usize| {
        let number = kept.numbers.get(row).copied();
        number.ok_or_else(|| format!("row {row} (from 0) is to be removed, but there are {rows} rows"))
    };
    let remove = remove.iter().map(number).collect::<Result<Vec<u64>, _>>()?;
    let change = Change { add, remove: &remove, c: None };
    Ok(update(model, &kept, &change, memory, Par::Pool, &|_| channel.check())?.model)
}
