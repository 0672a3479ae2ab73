//! Faults of values and of columns, and their remedies.

use super::words::is_clock;
use crate::dataset::ColumnKind;
use crate::text::quote::quoted;

/// Largest number of characters of a value or name in a message.
pub(super) const SHOWN: usize = 40;

/// The fault of a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueProblem {
    /// A number contains a comma.
    Comma(String),
    /// A number has separators of thousands, brackets or quotes.
    Formatted {
        /// The value.
        value: String,
        /// The number without these marks.
        plain: String,
    },
    /// A number has a currency sign, a percent sign or a degree sign.
    Unit(String),
    /// A value is infinite or too large for a 64-bit float.
    NotFinite(String),
    /// A word occurs in a column with at least as many numbers.
    Word {
        /// The word.
        value: String,
        /// Number of fields of the column that are numbers.
        numbers: usize,
        /// Number of fields of the column that are not missing.
        filled: usize,
        /// It is in the first row of a table without a header.
        is_first_row: bool,
    },
    /// A value is missing, and there is no imputation.
    Missing {
        /// The word for the missing value; empty if the field is empty.
        value: String,
    },
    /// A value is missing, and the model was trained without imputation.
    NotImputed {
        /// As [`ValueProblem::Missing`].
        value: String,
    },
    /// A label is missing.
    NoLabel {
        /// As [`ValueProblem::Missing`].
        value: String,
    },
    /// A columnar file contains bytes that are neither numbers nor text.
    NoText,
    /// The value has another kind than the column had in training.
    OtherKind {
        /// The value.
        value: String,
        /// The name of the column's kind.
        kind: &'static str,
    },
    /// A label is unknown to the model, but must be known.
    UnknownLabel {
        /// The label.
        value: String,
        /// The known labels.
        known: String,
    },
}

/// The fault of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// A column of a columnar file contains neither numbers nor words.
    Unfit(&'static str),
    /// The column has no value.
    Nothing,
    /// Values are missing, and there is no imputation.
    Gaps {
        /// Number of missing values.
        missing: usize,
        /// Number of rows.
        rows: usize,
        /// The line of the first one.
        line: u64,
    },
    /// The words are dates or times of day.
    Dates {
        /// The first one.
        example: String,
    },
    /// The words are nearly all different.
    Identifiers {
        /// Number of different words.
        different: usize,
        /// Number of rows.
        rows: usize,
        /// The first word.
        example: String,
    },
    /// There are more words than can become features.
    TooMany {
        /// Number of different words.
        different: usize,
        /// Largest number of words.
        most: usize,
        /// The first word.
        example: String,
    },
    /// There are too many different labels for classes.
    Labels {
        /// Number of different words.
        different: usize,
        /// Number of rows.
        rows: usize,
        /// The first word.
        example: String,
    },
    /// The target is also to be left out.
    TargetDropped,
    /// A feature column of the model is to be left out.
    Needed,
}

impl ValueProblem {
    pub(super) fn other(value: &str, kind: &ColumnKind) -> Self {
        Self::OtherKind { value: value.to_owned(), kind: kind.name() }
    }

    /// Returns the fault without advice.
    pub fn reason(&self) -> String {
        let shown = |value: &str| format!("`{}`", quoted(value, SHOWN));
        match self {
            Self::Comma(value) => format!("{} has a comma", shown(value)),
            Self::Formatted { value, plain } => format!("{} is the number {plain} with other marks", shown(value)),
            Self::Unit(value) => format!("{} is a number with a unit", shown(value)),
            Self::NotFinite(value) => format!("{} is not finite", shown(value)),
            Self::Word { value, numbers, filled, .. } => {
                format!("{} is no number, but {numbers} of {filled} values of this column are", shown(value))
            }
            Self::Missing { value } => missing("the value", value),
            Self::NotImputed { value } => {
                format!("{}, and the model was trained without imputation", missing("the value", value))
            }
            Self::NoLabel { value } => missing("the label", value),
            Self::NoText => "bytes that are no text in UTF-8".to_owned(),
            Self::OtherKind { value, kind } => {
                format!("{} is not a {kind}, as the values of this column were in training", shown(value))
            }
            Self::UnknownLabel { value, known } => format!("the label {} is none of the model's: {known}", shown(value)),
        }
    }

    /// Returns what to do about the fault, as [`TableError::advice`](super::TableError::advice).
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Comma(_) => "write numbers with a point and without thousands separators (1234.5)",
            Self::Formatted { .. } => "write the numbers without separators of thousands, brackets and quotes (1234.5)",
            Self::Unit(_) => "write the numbers without it, or say that the column is a category",
            Self::NotFinite(_) => "replace it, or leave it empty if it is missing",
            Self::Word { .. } => "mend it, leave it empty if it is missing, drop the column, or say that it is a category",
            Self::Missing { .. } => "fill it in, drop the column, or have it imputed (median, mean or most-frequent)",
            Self::NotImputed { .. } => "fill it in, or train with it",
            Self::NoLabel { .. } => "give the row one, or remove it and predict it with the model",
            Self::NoText => "write the file with words there, or drop the column",
            Self::OtherKind { .. } => "mend it, or leave it empty if it is missing",
            Self::UnknownLabel { .. } => return None,
        })
    }
}

impl ColumnProblem {
    /// Returns the fault without advice.
    pub fn reason(&self) -> String {
        let shown = |value: &str| format!("`{}`", quoted(value, SHOWN));
        match self {
            Self::Unfit(what) => format!("it holds {what}, and a table has one number or word in each row of a column"),
            Self::Nothing => "every value is missing".to_owned(),
            Self::Gaps { missing, rows, line } => format!("{missing} of {rows} values are missing, the first on line {line}"),
            Self::Dates { example } => {
                let kind = if is_clock(example) { "time of day" } else { "date" };
                format!("{} is a {kind}: neither a number nor a category", shown(example))
            }
            Self::Identifiers { different, rows, example } => {
                let example = shown(example);
                format!("{different} different words in {rows} rows, such as {example}: names or identifiers, not categories")
            }
            Self::TooMany { different, most, example } => {
                let example = shown(example);
                format!("{different} different words, such as {example}, more than the {most} that become features")
            }
            Self::Labels { different, rows, example } => {
                format!("{different} different words as labels in {rows} rows, such as {}", shown(example))
            }
            Self::TargetDropped => "it is the target and cannot be left out".to_owned(),
            Self::Needed => "the model was trained with it, so that it cannot be left out".to_owned(),
        }
    }

    /// Returns what to do about the fault, as [`TableError::advice`](super::TableError::advice).
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Unfit(_) => Some("make one of them, or drop it"),
            Self::Nothing | Self::Identifiers { .. } => Some("drop it"),
            Self::Dates { .. } => Some("make a number of it, such as days, or drop it"),
            Self::Gaps { .. } => Some("have them imputed (median, mean or most-frequent)"),
            Self::TooMany { .. } => Some("drop it, or put rare ones together"),
            Self::Labels { .. } => Some("name another target"),
            Self::TargetDropped | Self::Needed => None,
        }
    }
}

/// `the value is missing`, with the word for it.
fn missing(what: &str, value: &str) -> String {
    if value.is_empty() { format!("{what} is missing") } else { format!("{what} is missing (`{}`)", quoted(value, SHOWN)) }
}
