//! A data set: samples with labels, groups and names of columns.

pub mod classes;
mod columns;
mod labels;

pub use classes::ClassLabels;
pub use columns::{Column, ColumnKind, Columns, MissingWords, Target};
pub use labels::{BinaryLabels, LabelError};

use crate::samples::{Samples, SamplesError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Samples and labels, in file order.
///
/// Deserialisation validates the numbers of labels and groups and their values, so that a corrupted
/// file cannot produce an invalid data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Dataset {
    /// The features.
    pub samples: Samples,
    /// One label per row.
    pub labels: Vec<f64>,
    /// The group of each row (`qid:` in the file), for group folds.
    pub groups: Option<Vec<u64>>,
    /// The number of the first feature in the file: 0 or 1. Column `j` of `samples` is feature `j +
    /// index_base`.
    pub index_base: u32,
    /// SHA-256 of the uncompressed text; zeros for data without a text.
    pub sha256: [u8; 32],
    /// The columns of the table, if the data come from one ([`crate::table`]). They are not
    /// serialised: a model that keeps its data stores the columns separately.
    #[serde(skip)]
    pub columns: Option<Arc<Columns>>,
}

#[derive(Deserialize)]
#[serde(rename = "Dataset")]
struct Unchecked {
    samples: Samples,
    labels: Vec<f64>,
    groups: Option<Vec<u64>>,
    index_base: u32,
    sha256: [u8; 32],
}

impl TryFrom<Unchecked> for Dataset {
    type Error = DataError;

    fn try_from(given: Unchecked) -> Result<Self, DataError> {
        let Unchecked { samples, labels, groups, index_base, sha256 } = given;
        let data = Self { samples, labels, groups, index_base, sha256, columns: None };
        data.check()?;
        Ok(data)
    }
}

/// The reasons for which numbers are not a data set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The features are not a matrix of finite numbers.
    #[error(transparent)]
    Samples(#[from] SamplesError),
    /// The number of labels differs from the number of rows.
    #[error("{labels} labels for {rows} rows: give one label for each row")]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of rows.
        rows: usize,
    },
    /// The number of groups differs from the number of rows.
    #[error("{groups} groups for {rows} rows: give one group for each row")]
    Groups {
        /// Number of groups.
        groups: usize,
        /// Number of rows.
        rows: usize,
    },
    /// The first feature has another number than 0 or 1.
    #[error("the first feature has the number {0}: it must be 0 or 1")]
    IndexBase(u32),
    /// A label is infinite or not a number.
    #[error("the label of row {row} is {value}: labels are finite numbers")]
    Label {
        /// Row, from 0.
        row: usize,
        /// The label.
        value: f64,
    },
}

fn check_labels(samples: &Samples, labels: &[f64]) -> Result<(), DataError> {
    if labels.len() != samples.len() {
        return Err(DataError::Labels { labels: labels.len(), rows: samples.len() });
    }
    match labels.iter().position(|label| !label.is_finite()) {
        Some(row) => Err(DataError::Label { row, value: labels[row] }),
        None => Ok(()),
    }
}

impl Dataset {
    /// Checks that there is one finite label, and one group if there are groups, for each row.
    /// Every training begins with this check, because the fields may have been changed.
    ///
    /// ```
    /// use maxmargin_data::Dataset;
    ///
    /// let mut data = Dataset::from_rows(&[[0.0], [1.0]], &[1.0, -1.0])?;
    /// data.labels.pop();
    /// assert_eq!(data.check().unwrap_err().to_string(), "1 labels for 2 rows: give one label for each row");
    /// # Ok::<(), maxmargin_data::DataError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the number of labels or groups differs from the number of rows, a label is not finite,
    /// or the first feature has another number than 0 or 1.
    pub fn check(&self) -> Result<(), DataError> {
        let Self { samples, labels, groups, index_base, .. } = self;
        check_labels(samples, labels)?;
        if let Some(groups) = groups.as_ref().filter(|groups| groups.len() != samples.len()) {
            return Err(DataError::Groups { groups: groups.len(), rows: samples.len() });
        }
        if *index_base > 1 { Err(DataError::IndexBase(*index_base)) } else { Ok(()) }
    }

    /// A data set of samples and labels. In written text its features are numbered from 1.
    ///
    /// ```
    /// use maxmargin_data::{Dataset, Samples};
    ///
    /// let samples = Samples::from_sparse(1000, vec![0, 1, 2], vec![7, 512], vec![0.5, 2.0])?;
    /// let data = Dataset::from_samples(samples, &[1.0, -1.0])?;
    /// assert_eq!((data.samples.len(), data.index_base), (2, 1));
    /// # Ok::<(), maxmargin_data::DataError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the number of labels differs from the number of rows, or a label is not finite.
    pub fn from_samples(samples: Samples, labels: &[f64]) -> Result<Self, DataError> {
        check_labels(&samples, labels)?;
        Ok(Self { samples, labels: labels.to_vec(), groups: None, index_base: 1, sha256: [0; 32], columns: None })
    }

    /// A data set from rows (such as `&[Vec<f64>]`, `&[[f64; 3]]`, `&[&[f64]]`) and labels, in the
    /// form with the least memory ([`Samples::compact`]).
    ///
    /// ```
    /// use maxmargin_data::Dataset;
    ///
    /// let data = Dataset::from_rows(&[[0.0, 1.5], [2.0, 0.25], [1.0, 1.0]], &[1.0, -1.0, 1.0])?;
    /// assert_eq!((data.samples.len(), data.samples.features()), (3, 2));
    /// let error = Dataset::from_rows(&[[0.0, f64::NAN]], &[1.0]).unwrap_err();
    /// assert_eq!(error.to_string(), "row 0, feature 1: value NaN is not finite");
    /// # Ok::<(), maxmargin_data::DataError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When rows differ in length, the number of labels differs from that of rows, or a number is
    /// not finite.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R], labels: &[f64]) -> Result<Self, DataError> {
        Self::from_samples(Samples::from_rows(rows)?.compact(), labels)
    }

    /// A data set from an array of rows and an array of labels with any strides (feature
    /// `ndarray`), in the form with the least memory ([`Samples::compact`]).
    ///
    /// ```
    /// use maxmargin_data::Dataset;
    /// use ndarray::array;
    ///
    /// let (x, y) = (array![[0.0_f32, 1.5], [2.0, 0.25]], array![1, -1]);
    /// let data = Dataset::from_ndarray(x.view(), y.view())?;
    /// assert_eq!(data, Dataset::from_rows(&[[0.0, 1.5], [2.0, 0.25]], &[1.0, -1.0])?);
    /// # Ok::<(), maxmargin_data::DataError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Dataset::from_rows`].
    #[cfg(feature = "ndarray")]
    pub fn from_ndarray<T, L>(x: ndarray::ArrayView2<'_, T>, y: ndarray::ArrayView1<'_, L>) -> Result<Self, DataError>
    where
        T: Copy + Into<f64>,
        L: Copy + Into<f64>,
    {
        let labels: Vec<f64> = y.iter().map(|&label| label.into()).collect();
        Self::from_samples(Samples::from_ndarray(x)?.compact(), &labels)
    }

    /// The rows `rows[0], rows[1], …` with their labels and groups. The hash of the result is
    /// zeros, because no text has these rows.
    ///
    /// ```
    /// use maxmargin_data::Dataset;
    ///
    /// let data = Dataset::from_rows(&[[0.0], [1.0], [2.0]], &[1.0, -1.0, 1.0])?;
    /// assert_eq!(data.select(&[2, 1]), Dataset::from_rows(&[[2.0], [1.0]], &[1.0, -1.0])?);
    /// # Ok::<(), maxmargin_data::DataError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            samples: self.samples.select(rows),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            groups: self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect()),
            index_base: self.index_base,
            sha256: [0; 32],
            columns: self.columns.clone(),
        }
    }
}
