//! Matrices of R as samples. They are copied once, so that later changes of a matrix do not change
//! a training.

use crate::value::Value;
use maxmargin::background::Failure;
use maxmargin::data::{Dataset, Samples};
use savvy::{IntegerSexp, RealSexp, savvy};
use std::sync::Arc;

/// The number of columns of a tile that is transposed at once: a line of the processor's cache.
const TILE: usize = 8;

/// Samples and their targets.
///
/// @noRd
#[savvy]
pub struct Data {
    pub(crate) data: Arc<Dataset>,
}

impl Data {
    /// Returns samples with one target each. Without targets, the samples are for predictions.
    fn of(samples: Samples, y: Option<RealSexp>) -> savvy::Result<Self> {
        // Rows to predict are read once: a smaller form is not worth another pass.
        let samples = if y.is_some() { samples.compact() } else { samples };
        let y = y.map_or_else(|| vec![0.0; samples.len()], |y| y.to_vec());
        Ok(Self { data: Arc::new(Dataset::from_samples(samples, &y)?) })
    }
}

#[savvy]
impl Data {
    /// Returns the samples of a matrix of doubles, one in each of its `rows` rows.
    pub fn dense(x: RealSexp, rows: i32, y: Option<RealSexp>) -> savvy::Result<Self> {
        let (columns, rows) = (x.as_slice(), usize::try_from(rows)?);
        let features = columns.len().checked_div(rows).unwrap_or(0);
        let mut values = vec![0.0; columns.len()];
        for begin in (0..features).step_by(TILE) {
            for row in 0..rows {
                for column in begin..features.min(begin + TILE) {
                    values[row * features + column] = columns[column * rows + row];
                }
            }
        }
        Self::of(Samples::from_dense(rows, features, values)?, y)
    }

    /// Returns the samples of compressed rows, with columns from 0 that ascend in every row.
    pub fn sparse(
        values: RealSexp,
        columns: IntegerSexp,
        offsets: IntegerSexp,
        features: i32,
        y: Option<RealSexp>,
    ) -> savvy::Result<Self> {
        let indices = columns.iter().map(|&column| u32::try_from(column)).collect::<Result<Vec<_>, _>>()?;
        let offsets = offsets.iter().map(|&offset| usize::try_from(offset)).collect::<Result<Vec<_>, _>>()?;
        Self::of(Samples::from_sparse(usize::try_from(features)?, offsets, indices, values.to_vec())?, y)
    }
}

/// Returns samples as compressed rows: values, columns from 0, offsets, and the number of columns.
pub(crate) fn compressed(samples: &Samples) -> Result<Value, Failure> {
    let (mut values, mut columns, mut offsets) = (Vec::new(), Vec::<i32>::new(), vec![0_i32]);
    for row in 0..samples.len() {
        samples.row(row).for_each(|column, value| {
            if value != 0.0 {
                values.push(value);
                columns.push(column as i32);
            }
        });
        let entries = i32::try_from(values.len());
        offsets.push(entries.map_err(|_| "the samples have more than 2^31 values, which matrices of R cannot hold")?);
    }
    Ok(Value::List(vec![
        ("values", Value::Reals(values)),
        ("columns", Value::Integers(columns)),
        ("offsets", Value::Integers(offsets)),
        ("features", Value::Integers(vec![samples.features() as i32])),
    ]))
}

/// Returns a row-major matrix as R's: column-major.
pub(crate) fn columns_of(values: &[f64], columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|column| values.iter().skip(column).step_by(columns).copied()).collect()
}
