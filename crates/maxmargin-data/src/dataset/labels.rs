//! Labels of two classes.

use crate::text::number::shortest;
use serde::{Deserialize, Serialize};

/// Labels of two classes, as signs. The positive class is the greater label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BinaryLabels {
    /// The smaller label, for decision values below 0.
    pub negative: f64,
    /// The greater label, for decision values of 0 and above.
    pub positive: f64,
    /// +1.0 or −1.0 for each row.
    pub signs: Vec<f64>,
}

/// The reasons for which labels are not a classification problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// There are no rows.
    #[error("the data has no rows")]
    Empty,
    /// There is only one class.
    #[error("all {rows} labels are {}: training needs two classes", shortest(*label))]
    OneClass {
        /// Number of rows.
        rows: usize,
        /// The only label.
        label: f64,
    },
    /// A label that LIBSVM's and LIBLINEAR's models cannot represent.
    #[error(
        "row {}: the class label {} does not fit 32 bits, as the labels of LIBSVM's and LIBLINEAR's models do; give this class a number from {} to {}",
        row + 1, shortest(*label), i32::MIN, i32::MAX
    )]
    Wide {
        /// The row, from 0.
        row: usize,
        /// Its label.
        label: f64,
    },
    /// There are more than two classes.
    #[error(
        "{classes} different labels (such as {}, {} and {}) where a problem of two classes is needed: \
         training and k-fold cross-validation take more; keep two classes, or map the labels to two",
        shortest(*first), shortest(*second), shortest(*third)
    )]
    ManyClasses {
        /// Number of different labels.
        classes: usize,
        /// The smallest label.
        first: f64,
        /// The next label.
        second: f64,
        /// The next label.
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

    /// The label for a decision value: the positive one at 0 and above.
    pub fn label(&self, decision: f64) -> f64 {
        if decision >= 0.0 { self.positive } else { self.negative }
    }
}
