//! The encoding of table columns, fitted to training rows: imputed values and known words.

use super::impute::Impute;
use super::scale::ScaleError;
use crate::dataset::Dataset;
use crate::dataset::{Column, ColumnKind, Columns};
use crate::samples::Samples;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// An encoding of the columns of a table, fitted to training rows.
///
/// Samples of a table become [`Columns::width`] features. Missing values are imputed, and words
/// that no training row had are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Encoder {
    columns: Columns,
    impute: Option<Impute>,
    /// The imputed value of each column, if there is an imputation: a number, 0 or 1, or the index
    /// of a word.
    fills: Vec<f64>,
    /// Features of words that no training row had, in ascending order.
    unseen: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(rename = "Encoder")]
struct Unchecked {
    columns: Columns,
    impute: Option<Impute>,
    fills: Vec<f64>,
    unseen: Vec<u32>,
}

impl TryFrom<Unchecked> for Encoder {
    type Error = &'static str;

    fn try_from(given: Unchecked) -> Result<Self, &'static str> {
        let Unchecked { columns, impute, fills, unseen } = given;
        let wanted = if impute.is_some() { columns.features().len() } else { 0 };
        if fills.len() != wanted || !fills.iter().all(|fill| fill.is_finite()) {
            return Err("what fills the gaps of columns is not a number for each");
        }
        let possible = |(column, &fill): (&Column, &f64)| match &column.kind {
            ColumnKind::Number => true,
            ColumnKind::Boolean => fill == 0.0 || fill == 1.0,
            ColumnKind::Category(words) => fill.fract() == 0.0 && fill >= 0.0 && (fill as usize) < words.len().max(1),
        };
        let is_word = |j: &u32| matches!(columns.column_of(*j as usize).map(|c| &c.kind), Some(ColumnKind::Category(_)));
        let ascending = unseen.is_sorted_by(|a, b| a < b) && unseen.last().is_none_or(|j| (*j as usize) < columns.width());
        if !columns.features().iter().zip(&fills).all(possible) || !ascending || !unseen.iter().all(is_word) {
            return Err("what fills the gaps of columns, or words that were not seen, is none of theirs");
        }
        Ok(Self { columns, impute, fills, unseen })
    }
}

impl Encoder {
    /// Fits an encoder to `rows` of a table's data.
    pub(super) fn fit(
        data: &Dataset,
        columns: Arc<Columns>,
        rows: impl Iterator<Item = usize> + Clone,
        impute: Option<Impute>,
    ) -> Self {
        let (width, count) = (columns.width(), columns.features().len());
        let mut sizes = vec![0_usize; width];
        let mut gaps = vec![0_usize; count];
        // The stored numbers of each feature; the others are 0.
        let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); if impute.is_some() { width } else { 0 }];
        let is_word = is_word(&columns);
        let mut total = 0;
        for row in rows {
            total += 1;
            data.samples.row(row).for_each(|j, value| {
                if j < width {
                    sizes[j] += 1;
                    if let Some(numbers) = numbers.get_mut(j).filter(|_| !is_word[j]) {
                        numbers.push(value);
                    }
                } else if let Some(gaps) = gaps.get_mut(j - width) {
                    *gaps += 1;
                }
            });
        }
        let unseen = (0..width).filter(|&j| is_word[j] && sizes[j] == 0).map(|j| j as u32).collect();
        let mut fills = Vec::new();
        for (c, column) in columns.features().iter().enumerate() {
            let Some(way) = impute else { break };
            let (of, known) = (columns.features_of(c), total - gaps[c]);
            fills.push(match &column.kind {
                // `max_by_key` returns the last maximum, so the order is reversed.
                ColumnKind::Category(_) => of.clone().rev().max_by_key(|&j| sizes[j]).map_or(0.0, |j| (j - of.start) as f64),
                ColumnKind::Boolean => f64::from(u8::from(2 * sizes[of.start] > known)),
                ColumnKind::Number => way.of(std::mem::take(&mut numbers[of.start]), known),
            });
        }
        Self { columns: Arc::unwrap_or_clone(columns), impute, fills, unseen }
    }

    /// The columns of the table.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The imputation method.
    pub fn impute(&self) -> Option<Impute> {
        self.impute
    }

    /// The imputed value of column `c` as text; none where there is no imputation.
    pub fn fill(&self, c: usize) -> Option<String> {
        let fill = *self.fills.get(c)?;
        Some(match &self.columns.features().get(c)?.kind {
            ColumnKind::Number => crate::text::number::shortest(fill),
            ColumnKind::Boolean => if fill == 1.0 { "true" } else { "false" }.to_owned(),
            ColumnKind::Category(words) => words.get(fill as usize).cloned().unwrap_or_default(),
        })
    }

    /// The imputed value of column `c`: a number, 1 or 0 for true and false, or a word's index.
    /// `None` if a gap in the column is an error.
    pub fn fill_value(&self, c: usize) -> Option<f64> {
        let is_empty = matches!(&self.columns.features().get(c)?.kind, ColumnKind::Category(words) if words.is_empty());
        self.fills.get(c).copied().filter(|_| !is_empty)
    }

    /// The features of words that no training row had, ascending; the encoder leaves them 0.
    pub fn unseen(&self) -> &[u32] {
        &self.unseen
    }

    /// Returns whether samples of numbers pass unchanged: there is no imputation and no column of
    /// words.
    pub fn is_plain(&self) -> bool {
        self.columns.are_numbers() && self.impute.is_none()
    }

    /// Number of features that samples may have: those of the columns, and those for missing
    /// values.
    pub fn inputs(&self) -> usize {
        self.columns.width() + self.columns.features().len()
    }

    /// Returns whether feature `j` is a number of the table.
    pub(super) fn is_number(&self, j: usize) -> bool {
        self.columns.column_of(j).is_some_and(|column| column.kind == ColumnKind::Number)
    }

    /// Imputes missing values; the result has [`Columns::width`] features. Features beyond
    /// [`Encoder::inputs`] are dropped.
    ///
    /// # Errors
    ///
    /// When a value is missing, and there is no imputation.
    pub fn apply<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ScaleError> {
        let width = self.columns.width();
        if samples.features() <= width && self.unseen.is_empty() {
            let fits = samples.features() == width;
            return Ok(if fits { Cow::Borrowed(samples) } else { Cow::Owned(samples.clone().with_features(width)) });
        }
        let mut offsets = Vec::with_capacity(samples.len() + 1);
        offsets.push(0);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut row: Vec<(usize, f64)> = Vec::new();
        for i in 0..samples.len() {
            row.clear();
            let mut missing = None;
            samples.row(i).for_each(|j, value| {
                if j < width {
                    if self.unseen.binary_search(&(j as u32)).is_err() {
                        row.push((j, value));
                    }
                } else if j < self.inputs() {
                    match self.filling(j - width) {
                        Some(filled) => row.push(filled),
                        None => missing = Some(j - width),
                    }
                }
            });
            if let Some(column) = missing.filter(|_| self.impute.is_none()) {
                return Err(ScaleError::Missing { row: i, column: self.columns.features()[column].name.clone() });
            }
            row.sort_unstable_by_key(|entry| entry.0);
            for (j, value) in row.iter().copied().filter(|entry| entry.1 != 0.0) {
                indices.push(j as u32);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        Ok(Cow::Owned(Samples::from_sparse(width, offsets, indices, values)?.compact()))
    }

    /// The feature that a missing value of column `c` sets, and its value.
    fn filling(&self, c: usize) -> Option<(usize, f64)> {
        let (fill, begin) = (*self.fills.get(c)?, self.columns.features_of(c).start);
        Some(match &self.columns.features()[c].kind {
            ColumnKind::Number | ColumnKind::Boolean => (begin, fill),
            // Without a known word there is no value to impute.
            ColumnKind::Category(words) if words.is_empty() => return None,
            ColumnKind::Category(_) => (begin + fill as usize, 1.0),
        })
    }

    /// Returns whether both encoders change `samples` in the same way.
    pub(super) fn is_same_for(&self, other: &Self, samples: &Samples) -> bool {
        let width = self.columns.width();
        if (&self.columns, self.impute, &self.unseen) != (&other.columns, other.impute, &other.unseen) {
            return false;
        }
        if self.fills == other.fills || samples.features() <= width {
            return true;
        }
        let mut has_gap = vec![false; self.columns.features().len()];
        (0..samples.len()).for_each(|i| {
            samples.row(i).for_each(|j, _| {
                if let Some(gap) = j.checked_sub(width).and_then(|c| has_gap.get_mut(c)) {
                    *gap = true;
                }
            });
        });
        has_gap.iter().zip(self.fills.iter().zip(&other.fills)).all(|(gap, (own, other))| !gap || own == other)
    }
}

/// Flags of the features that are words.
fn is_word(columns: &Columns) -> Vec<bool> {
    let words = |c: usize| matches!(columns.features()[c].kind, ColumnKind::Category(_));
    (0..columns.features().len()).flat_map(|c| columns.features_of(c).map(move |_| words(c))).collect()
}

impl Impute {
    /// The imputed value for a column with `known` numbers, of which those that are not in
    /// `numbers` are 0. It is 0 if there are no numbers.
    fn of(self, mut numbers: Vec<f64>, known: usize) -> f64 {
        if known == 0 {
            return 0.0;
        }
        if self == Self::Mean {
            let mean = numbers.iter().sum::<f64>() / known as f64;
            // A sum can overflow even though the mean cannot.
            return if mean.is_finite() { mean } else { numbers.iter().map(|value| value / known as f64).sum() };
        }
        numbers.resize(known.max(numbers.len()), 0.0);
        numbers.sort_unstable_by(f64::total_cmp);
        if self == Self::Median {
            let (below, above) = (numbers[(known - 1) / 2], numbers[known / 2]);
            return if below == above { below } else { below / 2.0 + above / 2.0 };
        }
        let runs = numbers.chunk_by(|a, b| a == b);
        // The first of the longest runs.
        runs.fold((0, 0.0), |best, run| if run.len() > best.0 { (run.len(), run[0]) } else { best }).1
    }
}
