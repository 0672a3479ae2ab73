//! Why text is not a table: where, what, and what to do.

use super::format::Columnar;
use crate::dataset::Kind;
use crate::text::quote::quoted;

/// Characters of a value or name in a message.
const SHOWN: usize = 40;

/// Why a table could not be read. Lines count from 1, and a quoted field may go over several: a row
/// is where it begins.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// No rows below the header, or nothing at all.
    #[error("there are no rows: a table has a line for each sample, and may have a header above them")]
    Empty,
    /// Whoever was asked on the way wants no more.
    #[error("reading was called off")]
    Halted,
    /// Bytes that are no text.
    #[error("line {line}: this is not text in UTF-8; convert the file (iconv -t UTF-8), or export it again")]
    Encoding {
        /// The line.
        line: u64,
    },
    /// A file of columns, and a program that was built without them.
    #[error(
        "this is a file of {file}, and this program was built without them; build it with them (cargo install maxmargin-cli --features {}), or write the table as CSV",
        file.feature()
    )]
    NotBuiltFor {
        /// What it is.
        file: Columnar,
    },
    /// A file of columns that is damaged, or that the library for them cannot read.
    #[error("the {file} file cannot be read: {}", quoted(what, 200))]
    Columnar {
        /// What it is.
        file: Columnar,
        /// What is wrong with it.
        what: String,
    },
    /// A row of another length than the first.
    #[error(
        "line {line}: {found} fields, where the first row has {expected}; mend the row, quote fields that hold {}, or name the delimiter",
        delimiter_in_words(*delimiter)
    )]
    Ragged {
        /// The line.
        line: u64,
        /// Fields of the row.
        found: usize,
        /// Fields of the first.
        expected: usize,
        /// What separates them.
        delimiter: char,
    },
    /// A quote that nothing closes.
    #[error("line {line}: a quoted field begins in this row and never ends; close it, or double quotes inside of it")]
    Unclosed {
        /// The line on which the row begins.
        line: u64,
    },
    /// One column, or nothing but the target.
    #[error(
        "there is one column alone, and that leaves no features; name the delimiter if the fields are separated by something else"
    )]
    NoFeatures,
    /// A name that stands twice in the header.
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
    /// A column that is not there.
    #[error("there is no column `{}`; there are {known}", quoted(name, SHOWN))]
    Unknown {
        /// The name or number that was asked for.
        name: String,
        /// Those that there are, some of them.
        known: String,
    },
    /// A column that a model needs.
    #[error("the column `{}`, which the model was trained with, is not there; there are {known}", quoted(name, SHOWN))]
    Lacking {
        /// The name that the model knows.
        name: String,
        /// Those that there are, some of them.
        known: String,
    },
    /// A value that is wrong where it stands.
    #[error("line {line}, column `{}`: {problem}", quoted(column, SHOWN))]
    Value {
        /// The line.
        line: u64,
        /// The name of the column.
        column: String,
        /// What is wrong.
        problem: ValueProblem,
    },
    /// A column that is wrong as a whole.
    #[error("column `{}`: {problem}", quoted(column, SHOWN))]
    Column {
        /// Its name.
        column: String,
        /// What is wrong.
        problem: ColumnProblem,
    },
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// A comma in a number.
    #[error("`{}` has a comma; write numbers with a point and without thousands separators (1234.5)", quoted(.0, SHOWN))]
    Comma(String),
    /// Infinity, or too great for a 64-bit float.
    #[error("`{}` is not finite; replace it, or leave it empty if it is missing", quoted(.0, SHOWN))]
    NotFinite(String),
    /// A word in a column of which at least half are numbers.
    #[error(
        "`{}` is no number, but {numbers} of {filled} values of this column are; mend it, leave it empty if it is missing, drop the column, or say that it is a category",
        quoted(value, SHOWN)
    )]
    Word {
        /// The word.
        value: String,
        /// Fields of the column that are numbers.
        numbers: usize,
        /// Fields of the column that are not missing.
        filled: usize,
        /// Whether it stands in the first row of a table that has no header.
        is_first_row: bool,
    },
    /// A missing value that nobody fills in.
    #[error("{}; fill it in, drop the column, or have it imputed (median, mean or most-frequent)", missing("the value", value))]
    Missing {
        /// The word that stands for it; nothing where the field is empty.
        value: String,
    },
    /// A missing value, and the model was trained without imputation.
    #[error("{}, and the model was trained without imputation; fill it in, or train with it", missing("the value", value))]
    NotImputed {
        /// As [`ValueProblem::Missing`].
        value: String,
    },
    /// A missing label.
    #[error("{}; give the row one, or remove it and predict it with the model", missing("the label", value))]
    NoLabel {
        /// As [`ValueProblem::Missing`].
        value: String,
    },
    /// Bytes in a file of columns that are neither numbers nor text.
    #[error("bytes that are no text in UTF-8; write the file with words there, or drop the column")]
    NoText,
    /// Not what the model has seen here.
    #[error(
        "`{}` is not a {kind}, as the values of this column were in training; mend it, or leave it empty if it is missing",
        quoted(value, SHOWN)
    )]
    OtherKind {
        /// The value.
        value: String,
        /// The name of the kind.
        kind: &'static str,
    },
    /// A label that the model does not know, where it must.
    #[error("the label `{}` is none of the model's: {known}", quoted(value, SHOWN))]
    UnknownLabel {
        /// The label.
        value: String,
        /// Those that there are.
        known: String,
    },
}

/// What is wrong with a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// A column of such a file that holds neither numbers nor words.
    #[error("it holds {0}, and a table has one number or word in each row of a column; make one of them, or drop it")]
    Unfit(&'static str),
    /// No value at all.
    #[error("every value is missing; drop it")]
    Nothing,
    /// Words that are nearly all different.
    #[error(
        "{different} different words in {rows} rows, such as `{}`: names or identifiers, not categories; drop it",
        quoted(example, SHOWN)
    )]
    Identifiers {
        /// Different words.
        different: usize,
        /// Rows.
        rows: usize,
        /// The first of them.
        example: String,
    },
    /// More words than features are made of.
    #[error(
        "{different} different words, such as `{}`, more than the {most} that become features; drop it, or put rare ones together",
        quoted(example, SHOWN)
    )]
    TooMany {
        /// Different words.
        different: usize,
        /// Most that are taken.
        most: usize,
        /// The first of them.
        example: String,
    },
    /// More labels than anybody has classes.
    #[error("{different} different words as labels in {rows} rows, such as `{}`: name another target", quoted(example, SHOWN))]
    Labels {
        /// Different words.
        different: usize,
        /// Rows.
        rows: usize,
        /// The first of them.
        example: String,
    },
    /// The target was to be left out, too.
    #[error("it is the target and cannot be left out")]
    TargetDropped,
    /// A column that a model has for a feature was to be left out.
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

/// `the value is missing`, with the word that stands for it.
fn missing(what: &str, value: &str) -> String {
    if value.is_empty() { format!("{what} is missing") } else { format!("{what} is missing (`{}`)", quoted(value, SHOWN)) }
}

/// What separates fields, for people: one of them may be a control character.
pub fn delimiter_in_words(delimiter: char) -> String {
    if delimiter == '\t' { "tabs".to_owned() } else { format!("`{}`", quoted(&delimiter.to_string(), 1)) }
}

/// Some names of columns, for messages.
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let (all, most) = (names.len(), 8);
    let shown: Vec<String> = names.take(most).map(|name| quoted(name, SHOWN / 2)).collect();
    if all > most { format!("{} and {} more", shown.join(", "), all - most) } else { shown.join(", ") }
}
