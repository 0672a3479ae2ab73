//! A data set: samples with their labels and what the file said about them.

use crate::samples::Samples;
use serde::{Deserialize, Serialize};

/// Samples and labels, in file order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// The features.
    pub samples: Samples,
    /// One label per row.
    pub labels: Vec<f64>,
    /// The group of each row (`qid:` in the file), for group folds.
    pub groups: Option<Vec<u64>>,
    /// The number that the file gives to the first feature: 0 or 1. Column `j` of `samples` is feature `j + index_base`.
    pub index_base: u32,
    /// SHA-256 of the uncompressed text (zeros for generated data).
    pub sha256: [u8; 32],
}

/// Two classes, as signs. The positive class is the greater label, whatever the order of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinaryLabels {
    /// The smaller label: decision values below 0.
    pub negative: f64,
    /// The greater label: decision values above 0 (and exactly 0).
    pub positive: f64,
    /// +1.0 or −1.0 for each row.
    pub signs: Vec<f64>,
}

/// Why labels are not a two-class problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// No rows.
    #[error("the data has no rows")]
    Empty,
    /// One class.
    #[error("all {rows} labels are {label}: training needs two classes")]
    OneClass {
        /// Rows seen.
        rows: usize,
        /// The only label.
        label: f64,
    },
    /// More than two classes.
    #[error(
        "{classes} different labels (such as {first}, {second} and {third}) where a problem of two classes is needed: \
         training and k-fold cross-validation take more; keep two classes, or map the labels to two"
    )]
    ManyClasses {
        /// Number of different labels.
        classes: usize,
        /// The smallest label.
        first: f64,
        /// The next.
        second: f64,
        /// The next.
        third: f64,
    },
}

impl BinaryLabels {
    /// Finds the two classes in `labels`.
    ///
    /// # Errors
    ///
    /// When there are not exactly two different labels.
    pub fn new(labels: &[f64]) -> Result<Self, LabelError> {
        let mut classes = labels.to_vec();
        classes.sort_by(f64::total_cmp);
        classes.dedup();
        match classes[..] {
            [] => Err(LabelError::Empty),
            [label] => Err(LabelError::OneClass { rows: labels.len(), label }),
            [negative, positive] => {
                let signs = labels.iter().map(|&l| if l == positive { 1.0 } else { -1.0 }).collect();
                Ok(Self { negative, positive, signs })
            }
            [first, second, third, ..] => Err(LabelError::ManyClasses { classes: classes.len(), first, second, third }),
        }
    }

    /// The label of a decision value: positive at 0 and above.
    pub fn label(&self, decision: f64) -> f64 {
        if decision >= 0.0 { self.positive } else { self.negative }
    }
}
