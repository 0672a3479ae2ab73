//! Errors of tables: position, fault and remedy.

use super::format::Columnar;
use crate::dataset::Kind;
use crate::text::quote::quoted;

/// Largest number of characters of a value or name in a message.
const SHOWN: usize = 40;

/// The reasons for which a table cannot be read. Lines count from 1. A quoted field may extend over
/// several lines; the line of a row is its first one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// There are no rows after the header, or no bytes.
    #[error("there are no rows: a table has a line for each sample, and may have a header above them")]
    Empty,
    /// The caller cancelled the work.
    #[error("reading was cancelled")]
    Cancelled,
    /// The bytes are not text.
    #[error("line {line}: this is not text in UTF-8; convert the file (iconv -t UTF-8), or export it again")]
    Encoding {
        /// The line.
        line: u64,
    },
    /// The file is columnar, and the program was built without support for it.
    #[error(
        "this is a file of {file}, and this program was built without them; build it with them (cargo install maxmargin-cli --features {}), or write the table as CSV",
        file.feature()
    )]
    NotBuiltFor {
        /// The format of the file.
        file: Columnar,
    },
    /// A columnar file is corrupted, or the library cannot read it.
    #[error("the {file} file cannot be read: {}", quoted(what, 200))]
    Columnar {
        /// The format of the file.
        file: Columnar,
        /// The fault.
        what: String,
    },
    /// A row has another number of fields than the first one.
    #[error(
        "line {line}: {found} fields, where the first row has {expected}; mend the row, quote fields that hold {}, or name the delimiter",
        delimiter_in_words(*delimiter)
    )]
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
    #[error("line {line}: a quoted field begins in this row and never ends; close it, or double quotes inside of it")]
    Unclosed {
        /// The line on which the row begins.
        line: u64,
    },
    /// There is only one column, or only the target.
    #[error(
        "there is one column alone, and that leaves no features; name the delimiter if the fields are separated by something else"
    )]
    NoFeatures,
    /// A name occurs twice in the header.
    #[error(
        "line {line}: the header has two columns `{}`; rename one, for columns are known by their names",
        quoted(name, SHOWN)
    )]
    Twice {
        /// The line of the header.
        line: u64,
        /// The name.
        name: String,
    },
    /// A column does not exist.
    #[error("there is no column `{}`; there are {known}", quoted(name, SHOWN))]
    Unknown {
        /// The requested name or number.
        name: String,
        /// Some of the existing columns.
        known: String,
    },
    /// A column of the model is missing.
    #[error("the column `{}`, which the model was trained with, is not there; there are {known}", quoted(name, SHOWN))]
    Lacking {
        /// Its name in the model.
        name: String,
        /// Some of the existing columns.
        known: String,
    },
    /// A value is not valid.
    #[error("line {line}, column `{}`: {problem}", quoted(column, SHOWN))]
    Value {
        /// The line.
        line: u64,
        /// The name of the column.
        column: String,
        /// The fault.
        problem: ValueProblem,
    },
    /// A column as a whole is not valid.
    #[error("column `{}`: {problem}", quoted(column, SHOWN))]
    Column {
        /// The name of the column.
        column: String,
        /// The fault.
        problem: ColumnProblem,
    },
}

/// The fault of a value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// A number contains a comma.
    #[error("`{}` has a comma; write numbers with a point and without thousands separators (1234.5)", quoted(.0, SHOWN))]
    Comma(String),
    /// A value is infinite or too large for a 64-bit float.
    #[error("`{}` is not finite; replace it, or leave it empty if it is missing", quoted(.0, SHOWN))]
    NotFinite(String),
    /// A word occurs in a column with at least as many numbers.
    #[error(
        "`{}` is no number, but {numbers} of {filled} values of this column are; mend it, leave it empty if it is missing, drop the column, or say that it is a category",
        quoted(value, SHOWN)
    )]
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
    #[error("{}; fill it in, drop the column, or have it imputed (median, mean or most-frequent)", missing("the value", value))]
    Missing {
        /// The word for the missing value; empty if the field is empty.
        value: String,
    },
    /// A value is missing, and the model was trained without imputation.
    #[error("{}, and the model was trained without imputation; fill it in, or train with it", missing("the value", value))]
    NotImputed {
        /// As [`ValueProblem::Missing`].
        value: String,
    },
    /// A label is missing.
    #[error("{}; give the row one, or remove it and predict it with the model", missing("the label", value))]
    NoLabel {
        /// As [`ValueProblem::Missing`].
        value: String,
    },
    /// A columnar file contains bytes that are neither numbers nor text.
    #[error("bytes that are no text in UTF-8; write the file with words there, or drop the column")]
    NoText,
    /// The value has another kind than the column had in training.
    #[error(
        "`{}` is not a {kind}, as the values of this column were in training; mend it, or leave it empty if it is missing",
        quoted(value, SHOWN)
    )]
    OtherKind {
        /// The value.
        value: String,
        /// The name of the column's kind.
        kind: &'static str,
    },
    /// A label is unknown to the model, but must be known.
    #[error("the label `{}` is none of the model's: {known}", quoted(value, SHOWN))]
    UnknownLabel {
        /// The label.
        value: String,
        /// The known labels.
        known: String,
    },
}

/// The fault of a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// A column of a columnar file contains neither numbers nor words.
    #[error("it holds {0}, and a table has one number or word in each row of a column; make one of them, or drop it")]
    Unfit(&'static str),
    /// The column has no value.
    #[error("every value is missing; drop it")]
    Nothing,
    /// The words are nearly all different.
    #[error(
        "{different} different words in {rows} rows, such as `{}`: names or identifiers, not categories; drop it",
        quoted(example, SHOWN)
    )]
    Identifiers {
        /// Number of different words.
        different: usize,
        /// Number of rows.
        rows: usize,
        /// The first word.
        example: String,
    },
    /// There are more words than can become features.
    #[error(
        "{different} different words, such as `{}`, more than the {most} that become features; drop it, or put rare ones together",
        quoted(example, SHOWN)
    )]
    TooMany {
        /// Number of different words.
        different: usize,
        /// Largest number of words.
        most: usize,
        /// The first word.
        example: String,
    },
    /// There are too many different labels for classes.
    #[error("{different} different words as labels in {rows} rows, such as `{}`: name another target", quoted(example, SHOWN))]
    Labels {
        /// Number of different words.
        different: usize,
        /// Number of rows.
        rows: usize,
        /// The first word.
        example: String,
    },
    /// The target is also to be left out.
    #[error("it is the target and cannot be left out")]
    TargetDropped,
    /// A feature column of the model is to be left out.
    #[error("the model was trained with it, so that it cannot be left out")]
    Needed,
}

impl TableError {
    pub(super) fn value(line: u64, column: &str, problem: ValueProblem) -> Self {
        Self::Value { line, column: column.to_owned(), problem }
    }

    pub(super) fn column(column: &str, problem: ColumnProblem) -> Self {
        Self::Column { column: column.to_owned(), problem }
    }
}

impl ValueProblem {
    pub(super) fn other(value: &str, kind: &Kind) -> Self {
        Self::OtherKind { value: value.to_owned(), kind: kind.name() }
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
