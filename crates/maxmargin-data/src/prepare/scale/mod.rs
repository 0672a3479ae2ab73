//! Scaling of features to an interval, like LIBSVM's `svm-scale`, or to mean 0 and variance 1.

mod centre;
mod error;
mod feature_stats;
mod range_file;

pub use error::{ScaleError, ScaledBy};
pub use range_file::RangeError;

use crate::samples::{Samples, SamplesError, prefers_dense};
use feature_stats::FeatureStats;
use serde::{Deserialize, Serialize};

/// The scaling method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScaleMethod {
    /// Maps the smallest value of each feature to `lower` and the greatest to `upper`.
    MinMax {
        /// Image of the smallest value.
        lower: f64,
        /// Image of the greatest value.
        upper: f64,
    },
    /// Maps to mean 0 and variance 1 (dividing by the number of rows).
    Standard,
    /// Subtracts one number and divides by another; both are given ([`Scaler::stretched`]) instead
    /// of fitted to rows.
    Given,
    /// Subtracts a number near the values of features that lie far from 0 ([`Scaler::centre`]).
    Centre,
}

/// Scaling of labels in a range file (regression).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetRange {
    /// Image of the smallest label.
    pub lower: f64,
    /// Image of the greatest label.
    pub upper: f64,
    /// The smallest label.
    pub min: f64,
    /// The greatest label.
    pub max: f64,
}

/// One feature that is not constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Column {
    feature: u32,
    /// The smallest value, or the mean.
    low: f64,
    /// The greatest value, or the standard deviation.
    high: f64,
}

/// A scaling that is fitted to training data and applies to any data.
///
/// Values outside of the training range are extrapolated. Features that were constant or absent
/// become zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Scaler {
    method: ScaleMethod,
    features: usize,
    /// Ascending features.
    columns: Vec<Column>,
    target: Option<TargetRange>,
}

#[derive(Deserialize)]
#[serde(rename = "Scaler")]
struct Unchecked {
    method: ScaleMethod,
    features: usize,
    columns: Vec<Column>,
    target: Option<TargetRange>,
}

impl TryFrom<Unchecked> for Scaler {
    type Error = &'static str;

    fn try_from(given: Unchecked) -> Result<Self, &'static str> {
        let Unchecked { method, features, columns, target } = given;
        let ascending = columns.is_sorted_by(|a, b| a.feature < b.feature);
        if ascending && columns.last().is_none_or(|c| (c.feature as usize) < features) {
            Ok(Self { method, features, columns, target })
        } else {
            Err("the features of a scaling do not ascend")
        }
    }
}

/// Largest number of values that scaling may store (8 to 12 bytes each).
const MOST_ENTRIES: usize = 1 << 31;

impl ScaleMethod {
    /// Checks that the interval of a min-max scaling has finite ends, the lower one first. Any
    /// other makes all rows equal, turns features around, or has no numbers.
    ///
    /// # Errors
    ///
    /// [`ScaleError::Interval`] when it does not.
    pub fn check(self) -> Result<(), ScaleError> {
        match self {
            Self::MinMax { lower, upper } if !(lower < upper && (upper - lower).is_finite()) => {
                Err(ScaleError::Interval { lower, upper })
            }
            _ => Ok(()),
        }
    }

    fn image(self, column: Column, value: f64) -> f64 {
        let Column { low, high, .. } = column;
        match self {
            Self::MinMax { lower, upper } => interpolate(value, low, high, lower, upper),
            // A division by infinity would make the feature 0 without notice.
            Self::Standard | Self::Given | Self::Centre if !high.is_finite() => f64::NAN,
            Self::Standard | Self::Given | Self::Centre => (value - low) / high,
        }
    }
}

/// The formula of `svm-scale`, with its order of operations. The ends are exact.
fn interpolate(value: f64, min: f64, max: f64, lower: f64, upper: f64) -> f64 {
    if value == min {
        lower
    } else if value == max {
        upper
    } else if !(max - min).is_finite() {
        f64::NAN
    } else {
        lower + (upper - lower) * (value - min) / (max - min)
    }
}

impl TargetRange {
    /// The scaled label.
    pub fn apply(&self, label: f64) -> f64 {
        interpolate(label, self.min, self.max, self.lower, self.upper)
    }

    /// The label with this scaled value (up to rounding).
    pub fn invert(&self, scaled: f64) -> f64 {
        interpolate(scaled, self.lower, self.upper, self.min, self.max)
    }
}

impl Scaler {
    /// Fits a scaling to all rows of `samples`.
    pub fn fit(samples: &Samples, method: ScaleMethod) -> Self {
        Self::fit_rows(samples, 0..samples.len(), method)
    }

    /// Fits a scaling to some rows of `samples`, such as those of a training fold, so that the test
    /// fold has no influence.
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn fit_rows(samples: &Samples, rows: impl Iterator<Item = usize> + Clone, method: ScaleMethod) -> Self {
        if samples.is_empty() {
            return Self { method, features: samples.features(), columns: Vec::new(), target: None };
        }
        if let Some((packed, numbers)) = samples.packed() {
            let mut scaler = Self::fit_rows(&packed, rows, method);
            scaler.columns.iter_mut().for_each(|column| column.feature = numbers[column.feature as usize]);
            return Self { features: samples.features(), ..scaler };
        }
        let nothing = FeatureStats { min: f64::INFINITY, max: f64::NEG_INFINITY, count: 0, sum: 0.0, squares: 0.0, unit: 1.0 };
        let mut seen = vec![nothing; samples.features()];
        let mut total = 0;
        for i in rows.clone() {
            total += 1;
            samples.row(i).for_each(|j, value| {
                let s = &mut seen[j];
                (s.min, s.max) = (s.min.min(value), s.max.max(value));
                s.count += 1;
                s.sum += value;
            });
        }
        // From here on `sum` is the mean, in which zeros that are not stored count.
        for s in &mut seen {
            if s.count < total {
                (s.min, s.max) = (s.min.min(0.0), s.max.max(0.0));
            }
            s.sum /= total as f64;
            s.unit = s.power_of_two();
            s.squares = (total - s.count) as f64 * (s.sum / s.unit) * (s.sum / s.unit);
        }
        if method == ScaleMethod::Standard {
            // The variance needs a second pass over deviations: squares of one pass cancel when the
            // mean is large.
            for i in rows {
                samples.row(i).for_each(|j, value| {
                    let deviation = (value - seen[j].sum) / seen[j].unit;
                    seen[j].squares += deviation * deviation;
                });
            }
        }
        let column = |(j, s): (usize, &FeatureStats)| {
            let feature = u32::try_from(j).ok()?;
            let (low, high) = match method {
                ScaleMethod::MinMax { .. } => (s.min, s.max),
                ScaleMethod::Standard => (s.sum, (s.squares / total as f64).sqrt() * s.unit),
                ScaleMethod::Given | ScaleMethod::Centre => (0.0, 1.0),
            };
            let varies = s.min < s.max || matches!(method, ScaleMethod::Given | ScaleMethod::Centre);
            // An infinite deviation is kept, so that the error names a value that cannot be scaled.
            let spread = matches!(method, ScaleMethod::MinMax { .. }) || high != 0.0;
            (varies && spread).then_some(Column { feature, low, high })
        };
        let columns = seen.iter().enumerate().filter_map(column).collect();
        Self { method, features: samples.features(), columns, target: None }
    }

    /// Adds a scaling of labels, which range files can contain.
    #[must_use]
    pub fn with_target(self, target: Option<TargetRange>) -> Self {
        Self { target, ..self }
    }

    /// Multiplies features by factors after `scaler`, if there is one, for a Gaussian kernel with
    /// one width per feature. Features that the scaling makes zero remain zero.
    ///
    /// # Panics
    ///
    /// When the number of factors differs from the number of features of the scaling.
    pub fn stretched(scaler: Option<Self>, factors: &[f64]) -> Self {
        let features = factors.len();
        let Some(Self { method, features: known, columns, target }) = scaler else {
            let column = |(j, factor): (usize, &f64)| Column { feature: j as u32, low: 0.0, high: 1.0 / factor };
            return Self {
                method: ScaleMethod::Given,
                features,
                columns: factors.iter().enumerate().map(column).collect(),
                target: None,
            };
        };
        assert_eq!(features, known, "a factor for each feature");
        let column = |Column { feature, low, high }: Column| {
            let (low, high) = match method {
                ScaleMethod::MinMax { lower, upper } => {
                    let unit = (high - low) / (upper - lower);
                    (low - lower * unit, unit)
                }
                ScaleMethod::Standard | ScaleMethod::Given | ScaleMethod::Centre => (low, high),
            };
            Column { feature, low, high: high / factors[feature as usize] }
        };
        // An interval of one point makes every feature constant.
        let is_point = matches!(method, ScaleMethod::MinMax { lower, upper } if lower == upper);
        let columns = if is_point { Vec::new() } else { columns.into_iter().map(column).collect() };
        Self { method: ScaleMethod::Given, features, columns, target }
    }

    /// The factors of the features, if they were given; 1 for features that become zero.
    pub fn factors(&self) -> Option<Vec<f64>> {
        let factor = |j: usize| self.find(j).map_or(1.0, |column| 1.0 / column.high);
        (self.method == ScaleMethod::Given).then(|| (0..self.features).map(factor).collect())
    }

    /// Leaves some features, which must not be constant, unscaled.
    #[must_use]
    pub(crate) fn keeping(mut self, is_kept: impl Fn(usize) -> bool) -> Self {
        // The range that the scaling maps to itself.
        let (low, high) = match self.method {
            ScaleMethod::MinMax { lower, upper } => (lower, upper),
            ScaleMethod::Standard | ScaleMethod::Given | ScaleMethod::Centre => (0.0, 1.0),
        };
        for column in self.columns.iter_mut().filter(|column| is_kept(column.feature as usize)) {
            (column.low, column.high) = (low, high);
        }
        self
    }

    /// The scaling method.
    pub fn method(&self) -> ScaleMethod {
        self.method
    }

    /// Number of known features; further ones are ignored in scaling.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The scaling of labels, if there is one.
    pub fn target(&self) -> Option<TargetRange> {
        self.target
    }

    /// The smallest and greatest value of feature `j` (or mean and standard deviation); none for a
    /// feature that becomes zero.
    pub fn column(&self, j: usize) -> Option<(f64, f64)> {
        self.find(j).map(|column| (column.low, column.high))
    }

    #[inline]
    fn find(&self, j: usize) -> Option<Column> {
        // If no feature is constant, column j has index j.
        if let Some(column) = self.columns.get(j).filter(|c| c.feature as usize == j) {
            return Some(*column);
        }
        let at = self.columns.binary_search_by_key(&j, |c| c.feature as usize).ok()?;
        Some(self.columns[at])
    }

    /// Scales samples. The result has [`Scaler::features`] columns, in the form that
    /// [`Samples::compact`] chooses (often dense, because a zero need not remain zero).
    ///
    /// # Errors
    ///
    /// When very sparse data would fill up, or a scaled value is not finite.
    pub fn apply(&self, samples: &Samples) -> Result<Samples, ScaleError> {
        // Features whose zeros do not remain zero.
        let shifted: Vec<(usize, f64)> = self
            .columns
            .iter()
            .map(|c| (c.feature as usize, self.method.image(*c, 0.0)))
            .filter(|(_, image)| *image != 0.0)
            .collect();
        let rows = samples.len();
        let entries = rows.saturating_mul(shifted.len()).saturating_add(samples.non_zeros());
        if entries > MOST_ENTRIES && !shifted.is_empty() {
            return Err(ScaleError::TooDense { entries });
        }
        // A matrix without rows must not allocate for any number of features.
        let scaled = if rows > 0 && prefers_dense(rows, self.features, entries, false) {
            self.apply_dense(samples, &shifted)
        } else {
            self.apply_sparse(samples, &shifted)
        };
        Ok(scaled.map_err(|error| self.overflow(samples, error))?.compact())
    }

    /// The error that names the value that became infinite or NaN.
    fn overflow(&self, samples: &Samples, error: SamplesError) -> ScaleError {
        let SamplesError::NotFinite { row, feature, .. } = error else { return ScaleError::Samples(error) };
        let (low, high) = self.column(feature).unwrap_or_default();
        let mut value = 0.0;
        samples.row(row).for_each(|j, v| value = if j == feature { v } else { value });
        let by = match self.method {
            ScaleMethod::MinMax { .. } => ScaledBy::Range(low, high),
            ScaleMethod::Standard | ScaleMethod::Given | ScaleMethod::Centre => ScaledBy::Deviation(low, high),
        };
        ScaleError::Overflow { row, feature, value, by }
    }

    fn apply_dense(&self, samples: &Samples, shifted: &[(usize, f64)]) -> Result<Samples, SamplesError> {
        let mut zero_row = vec![0.0; self.features];
        for (j, image) in shifted {
            zero_row[*j] = *image;
        }
        let mut values = Vec::with_capacity(samples.len() * self.features);
        for i in 0..samples.len() {
            let begin = values.len();
            values.extend_from_slice(&zero_row);
            let row = &mut values[begin..];
            samples.row(i).for_each(|j, value| {
                if let Some(column) = self.find(j) {
                    row[j] = self.method.image(column, value);
                }
            });
        }
        Samples::from_dense(samples.len(), self.features, values)
    }

    fn apply_sparse(&self, samples: &Samples, shifted: &[(usize, f64)]) -> Result<Samples, SamplesError> {
        let mut offsets = Vec::with_capacity(samples.len() + 1);
        offsets.push(0);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in 0..samples.len() {
            let mut push = |j: usize, value: f64| {
                if value != 0.0 {
                    indices.push(j as u32);
                    values.push(value);
                }
            };
            let mut zeros = shifted.iter().peekable();
            samples.row(i).for_each(|j, value| {
                while let Some((z, image)) = zeros.next_if(|(z, _)| *z < j) {
                    push(*z, *image);
                }
                zeros.next_if(|(z, _)| *z == j);
                if let Some(column) = self.find(j) {
                    push(j, self.method.image(column, value));
                }
            });
            zeros.for_each(|(z, image)| push(*z, *image));
            offsets.push(indices.len());
        }
        Samples::from_sparse(self.features, offsets, indices, values)
    }
}

#[cfg(test)]
mod tests;
