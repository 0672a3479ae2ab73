//! Predictions of many rows in parts, with checks for cancellation between them.

use super::{Channel, Failure};
use maxmargin_data::{Dataset, Samples};
use maxmargin_model::Model;

/// The number of products between two checks for cancellation, about a fifth of a second.
const PRODUCTS: usize = 1 << 33;

/// Fewest rows between two checks for cancellation: fewer would not occupy all threads.
const ROWS: usize = 1 << 10;

/// Returns the approximate number of products for a row: values of support vectors, and one
/// coefficient of each at least.
pub fn products(model: &Model) -> usize {
    let support = &model.parts().support;
    support.bytes() / size_of::<f64>() + support.len() + 1
}

/// Calls `each` on parts of the rows, until the caller does not wait any more.
///
/// # Errors
///
/// The errors of `each`.
pub fn in_parts<T, E: Into<Failure>>(
    model: &Model,
    data: &Dataset,
    channel: &Channel,
    each: impl Fn(&Samples) -> Result<Vec<T>, E>,
) -> Result<Vec<T>, Failure> {
    let (rows, part) = (data.samples.len(), (PRODUCTS / products(model)).max(ROWS));
    if rows <= part {
        return each(&data.samples).map_err(Into::into);
    }
    let mut all = Vec::new();
    for begin in (0..rows).step_by(part) {
        if channel.is_cancelled() {
            break;
        }
        let part: Vec<usize> = (begin..rows.min(begin + part)).collect();
        all.extend(each(&data.samples.select(&part)).map_err(Into::into)?);
    }
    Ok(all)
}
