//! The reasons for which samples cannot be scaled or prepared.

use crate::samples::SamplesError;
use crate::text::number::format_g;
use crate::text::quote::quoted;
use std::fmt;

/// The reasons for which samples cannot be scaled or prepared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// Too many zeros would become nonzero.
    #[error(
        "scaling would turn the zeros of sparse data into {entries} stored values; \
         choose a range that keeps zeros (such as 0 to 1 for features that are never negative)"
    )]
    TooDense {
        /// Number of values that would be stored.
        entries: usize,
    },
    /// The interval of a min-max scaling is empty, one point, or not finite.
    #[error("scaling to {lower} to {upper}: the lower end must be below the upper end, and both finite")]
    Interval {
        /// Image of the smallest value.
        lower: f64,
        /// Image of the greatest value.
        upper: f64,
    },
    /// Scaling makes a value infinite or NaN: the range of its feature is too narrow or too wide.
    #[error(
        "row {row}, feature {feature} (both from 0): {value} overflows when it is scaled {by}; multiply this feature by a power of ten first"
    )]
    Overflow {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        feature: usize,
        /// The finite value before scaling.
        value: f64,
        /// The scaling of its feature.
        by: ScaledBy,
    },
    /// A value is missing, and there is no imputation.
    #[error(
        "row {row} (from 0) has no value in column `{}`; fill it in, or train with an imputation (median, mean or most-frequent)",
        quoted(column, 60)
    )]
    Missing {
        /// Row, from 0.
        row: usize,
        /// The name of the column.
        column: String,
    },
    /// The scaled samples are not a valid matrix.
    #[error(transparent)]
    Samples(#[from] SamplesError),
}

impl ScaleError {
    /// Translates row numbers of selected samples: row `k` of the samples is row `rows[k]` of the
    /// caller's.
    #[must_use]
    pub fn in_order(self, rows: &[usize]) -> Self {
        match self {
            Self::Overflow { row, feature, value, by } => Self::Overflow { row: rows[row], feature, value, by },
            Self::Missing { row, column } => Self::Missing { row: rows[row], column },
            other => other,
        }
    }
}

/// The fitted numbers of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaledBy {
    /// The smallest and the greatest value.
    Range(f64, f64),
    /// The mean and the standard deviation.
    Deviation(f64, f64),
}

impl fmt::Display for ScaledBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |value: f64| format_g(value, 6);
        match *self {
            Self::Range(low, high) => write!(f, "by its feature's range, {} to {}", of(low), of(high)),
            Self::Deviation(mean, deviation) => {
                write!(f, "by its feature's mean, {}, and deviation, {}", of(mean), of(deviation))
            }
        }
    }
}
