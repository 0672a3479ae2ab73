//! Errors of tables: position, fault and remedy.

use super::format::Columnar;
use crate::dataset::ColumnKind;
use crate::text::quote::quoted;
use std::fmt;

/// Largest number of characters of a value or name in a message.
const SHOWN: usize = 40;

/// The reasons for which a table cannot be read. Lines count from 1. A quoted field may extend over
/// several lines; the line of a row is its first one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TableError {
    /// There are no rows after the header, or no bytes.
    Empty,
    /// The caller cancelled the work.
    Cancelled,
    /// The bytes are not text.
    Encoding {
        /// The line.
        line: u64,
    },
    /// The file is columnar, and the program was built without support for it.
    NotBuiltFor {
        /// The format of the file.
        file: Columnar,
    },
    /// A columnar file is corrupted, or the library cannot read it.
    Columnar {
        /// The format of the file.
        file: Columnar,
        /// The fault.
        what: String,
    },
    /// A row has another number of fields than the first one.
    Ragged {
        /// The line.
        line: u64,
        /// Number of fields of the row.
        found: usize,
        /// Number of fields of the first row.
        expected: usize,
        /// The delimiter of the fields.
        delimiter: char,
    },
    /// A quote is not closed.
    Unclosed {
        /// The line on which the row begins.
        line: u64,
    },
    /// There is only one column, or only the target.
    NoFeatures,
    /// A name occurs twice in the header.
    Twice {
        /// The line of the header.
        line: u64,
        /// The name.
        name: String,
    },
    /// A column does not exist.
    Unknown {
        /// The requested name or number.
        name: String,
        /// Some of the existing columns.
        known: String,
    },
    /// A column of the model is missing.
    Lacking {
        /// Its name in the model.
        name: String,
        /// Some of the existing columns.
        known: String,
    },
    /// A value is not valid.
    Value {
        /// The line.
        line: u64,
        /// The name of the column.
        column: String,
        /// The fault.
        problem: ValueProblem,
    },
    /// A column as a whole is not valid.
    Column {
        /// The name of the column.
        column: String,
        /// The fault.
        problem: ColumnProblem,
    },
}

/// The fault of a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueProblem {
    /// A number contains a comma.
    Comma(String),
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

impl TableError {
    pub(super) fn value(line: u64, column: &str, problem: ValueProblem) -> Self {
        Self::Value { line, column: column.to_owned(), problem }
    }

    pub(super) fn column(column: &str, problem: ColumnProblem) -> Self {
        Self::Column { column: column.to_owned(), problem }
    }

    /// Returns the line of the fault. The names in a columnar file have none.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Encoding { line }
            | Self::Ragged { line, .. }
            | Self::Unclosed { line }
            | Self::Twice { line, .. }
            | Self::Value { line, .. } => Some(*line).filter(|line| *line > 0),
            _ => None,
        }
    }

    /// Returns the name of the column with the fault.
    pub fn column_name(&self) -> Option<&str> {
        match self {
            Self::Value { column, .. } | Self::Column { column, .. } => Some(column),
            _ => None,
        }
    }

    /// Returns the fault, without its position and without advice.
    pub fn reason(&self) -> String {
        match self {
            Self::Empty => "there are no rows: a table has a line for each sample, and may have a header above them".to_owned(),
            Self::Cancelled => "reading was cancelled".to_owned(),
            Self::Encoding { .. } => "this is not text in UTF-8".to_owned(),
            Self::NotBuiltFor { file } => format!("this is a file of {file}, and this program was built without them"),
            Self::Columnar { file, what } => format!("the {file} file cannot be read: {}", quoted(what, 200)),
            Self::Ragged { found, expected, .. } => format!("{found} fields, where the first row has {expected}"),
            Self::Unclosed { .. } => "a quoted field begins in this row and never ends".to_owned(),
            Self::NoFeatures => "there is one column alone, and that leaves no features".to_owned(),
            Self::Twice { name, .. } => format!("the header has two columns `{}`", quoted(name, SHOWN)),
            Self::Unknown { name, known } => format!("there is no column `{}`; there are {known}", quoted(name, SHOWN)),
            Self::Lacking { name, known } => {
                let name = quoted(name, SHOWN);
                format!("the column `{name}`, which the model was trained with, is not there; there are {known}")
            }
            Self::Value { problem, .. } => problem.reason(),
            Self::Column { problem, .. } => problem.reason(),
        }
    }

    /// Returns what to do about the fault, for users of this library. Programs with options of
    /// their own word it by these.
    pub fn advice(&self) -> Option<String> {
        Some(match self {
            Self::Encoding { .. } => "convert the file (iconv -t UTF-8), or export it again".to_owned(),
            Self::NotBuiltFor { file } => {
                format!("build it with the feature `{}`, or write the table as CSV", file.feature())
            }
            Self::Ragged { delimiter, .. } => {
                let delimiter = delimiter_in_words(*delimiter);
                format!("mend the row, quote fields that hold {delimiter}, or name the delimiter")
            }
            Self::Unclosed { .. } => "close it, or double quotes inside of it".to_owned(),
            Self::NoFeatures => "name the delimiter if the fields are separated by something else".to_owned(),
            Self::Twice { .. } => "rename one, for columns are known by their names".to_owned(),
            Self::Value { problem, .. } => problem.advice()?.to_owned(),
            Self::Column { problem, .. } => problem.advice()?.to_owned(),
            Self::Empty | Self::Cancelled | Self::Columnar { .. } | Self::Unknown { .. } | Self::Lacking { .. } => return None,
        })
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line(), self.column_name().map(|name| quoted(name, SHOWN))) {
            (Some(line), Some(column)) => write!(f, "line {line}, column `{column}`: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, Some(column)) => write!(f, "column `{column}`: ")?,
            (None, None) => {}
        }
        f.write_str(&self.reason())?;
        self.advice().map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

impl std::error::Error for TableError {}

impl ValueProblem {
    pub(super) fn other(value: &str, kind: &ColumnKind) -> Self {
        Self::OtherKind { value: value.to_owned(), kind: kind.name() }
    }

    /// Returns the fault without advice.
    pub fn reason(&self) -> String {
        let shown = |value: &str| format!("`{}`", quoted(value, SHOWN));
        match self {
            Self::Comma(value) => format!("{} has a comma", shown(value)),
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

    /// Returns what to do about the fault, as [`TableError::advice`].
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Comma(_) => "write numbers with a point and without thousands separators (1234.5)",
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

    /// Returns what to do about the fault, as [`TableError::advice`].
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Unfit(_) => Some("make one of them, or drop it"),
            Self::Nothing | Self::Identifiers { .. } => Some("drop it"),
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

/// A readable name of the delimiter, which may be a control character.
pub fn delimiter_in_words(delimiter: char) -> String {
    if delimiter == '\t' { "tabs".to_owned() } else { format!("`{}`", quoted(&delimiter.to_string(), 1)) }
}

/// Some names of columns, for messages.
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let (all, most) = (names.len(), 8);
    let shown: Vec<String> = names.take(most).map(|name| quoted(name, SHOWN / 2)).collect();
    if all > most { format!("{} and {} more", shown.join(", "), all - most) } else { shown.join(", ") }
}
