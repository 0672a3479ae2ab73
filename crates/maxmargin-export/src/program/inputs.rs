//! The inputs of a program, and the scaling of the features that they become.

use maxmargin_data::Encoder;
use maxmargin_data::scale::{ScaleMethod, Scaler};
use maxmargin_data::table::ColumnKind;
use maxmargin_model::Model;
use serde::Serialize;

/// The inputs of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inputs {
    /// The number of features that the inputs become.
    pub features: usize,
    /// The number of the first feature in files of LIBSVM's format, for models without columns.
    pub index_base: u32,
    /// The columns of a table; empty for a model of features without names, whose inputs are the
    /// features.
    pub columns: Vec<InputColumn>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputColumn {
    /// The name in the table.
    pub name: String,
    /// The kind of its values.
    #[serde(flatten)]
    pub kind: InputKind,
}

/// The kind of a column's values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InputKind {
    /// A number: one feature. NaN is a gap.
    Number,
    /// 1 for true and 0 for false: one feature. NaN is a gap.
    Boolean,
    /// A word: one feature for each of these words, 1 where the column has it. The empty text is a
    /// gap, and another word is none of them.
    Category {
        /// The words, ascending.
        words: Vec<String>,
    },
}

impl InputKind {
    /// The number of features of the column.
    pub fn width(&self) -> usize {
        match self {
            Self::Number | Self::Boolean => 1,
            Self::Category { words } => words.len(),
        }
    }
}

impl Inputs {
    /// Returns the inputs of a model.
    pub(super) fn of(model: &Model) -> Self {
        let parts = model.parts();
        let column = |column: &maxmargin_data::table::Column| InputColumn {
            name: column.name.clone(),
            kind: match &column.kind {
                ColumnKind::Number => InputKind::Number,
                ColumnKind::Boolean => InputKind::Boolean,
                ColumnKind::Category(words) => InputKind::Category { words: words.clone() },
            },
        };
        let columns = model.columns().map_or_else(Vec::new, |columns| columns.features().iter().map(column).collect());
        Self { features: parts.support.features().max(1), index_base: parts.index_base, columns }
    }

    /// The number of inputs: columns, or features without names.
    pub fn count(&self) -> usize {
        if self.columns.is_empty() { self.features } else { self.columns.len() }
    }

    /// Returns true if a column has words.
    pub fn has_words(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.kind, InputKind::Category { .. }))
    }
}

/// The scaling of features: `(x − shift) · factor / divisor + offset`, in this order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// Subtracted from each feature.
    pub shift: Vec<f64>,
    /// Multiplied with the difference; 0 for features that become zero.
    pub factor: Vec<f64>,
    /// Divides the product.
    pub divisor: Vec<f64>,
    /// Added at last.
    pub offset: Vec<f64>,
}

impl Scale {
    /// Returns the scaling of a preparation; `None` if it changes nothing. Words that no training
    /// row had become zero, as in a training.
    pub(super) fn of(features: usize, encoder: Option<&Encoder>, scaler: Option<&Scaler>) -> Option<Self> {
        let unseen = encoder.map_or(&[][..], Encoder::unseen);
        if scaler.is_none() && unseen.is_empty() {
            return None;
        }
        let [zeros, ones] = [0.0, 1.0].map(|value| vec![value; features]);
        let mut scale = Self { shift: zeros.clone(), factor: ones.clone(), divisor: ones, offset: zeros };
        if let Some(scaler) = scaler {
            (0..features).for_each(|j| scale.set(j, scaler));
        }
        for &j in unseen {
            (scale.factor[j as usize], scale.offset[j as usize]) = (0.0, 0.0);
        }
        Some(scale)
    }

    fn set(&mut self, j: usize, scaler: &Scaler) {
        let Some((low, high)) = scaler.column(j) else {
            self.factor[j] = 0.0;
            return;
        };
        self.shift[j] = low;
        match scaler.method() {
            ScaleMethod::MinMax { lower, upper } => {
                self.factor[j] = upper - lower;
                self.divisor[j] = high - low;
                self.offset[j] = lower;
            }
            ScaleMethod::Standard | ScaleMethod::Given | ScaleMethod::Centre => self.divisor[j] = high,
        }
    }
}
