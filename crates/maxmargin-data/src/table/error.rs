//! Errors of tables: position, fault and remedy.

use super::format::{Columnar, ForeignFormat};
use super::problem::{ColumnProblem, SHOWN, ValueProblem};
use crate::text::quote::quoted;
use std::fmt;

/// Faults of columns in a message. [`TableError::Columns`] has all of them.
const LISTED: usize = 3;

/// The reasons for which a table cannot be read. Lines count from 1. A quoted field may extend over
/// several lines; the line of a row is its first one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TableError {
    /// There are no rows after the header, or no bytes.
    Empty,
    /// The caller cancelled the work.
    Cancelled,
    /// The file has a known format that is no table of text.
    Foreign(ForeignFormat),
    /// Several columns cannot be used.
    Columns {
        /// The fault of each column: a [`TableError::Value`] or a [`TableError::Column`].
        faults: Vec<TableError>,
    },
    /// The bytes are not text.
    Encoding {
        /// The line.
        line: u64,
    },
    /// A byte is 0 in a text that is not UTF-16.
    ZeroByte {
        /// The line.
        line: u64,
    },
    /// Words in UTF-8 precede other bytes.
    TwoEncodings {
        /// The line of the first of these bytes.
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
    /// A row repeats the header, as in files that were joined.
    RepeatedHeader {
        /// The line of the row.
        line: u64,
    },
    /// Some rows at an end of the table are not like the others, in several columns.
    OddRows {
        /// The first line of these rows.
        line: u64,
        /// The last line of these rows.
        last: u64,
        /// The first word in a column of numbers.
        example: String,
        /// The row is the first one below a header. Otherwise the rows are the last ones.
        is_first: bool,
    },
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
            | Self::ZeroByte { line }
            | Self::TwoEncodings { line }
            | Self::Ragged { line, .. }
            | Self::Unclosed { line }
            | Self::RepeatedHeader { line }
            | Self::OddRows { line, .. }
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
            Self::Foreign(format) => format!("this is {}", format.name()),
            Self::Columns { faults } => {
                let shown: Vec<String> = faults.iter().take(LISTED).map(Self::place_and_reason).collect();
                let more = faults.len().saturating_sub(LISTED);
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                format!("{} columns cannot be used as they are: {}{more}", faults.len(), shown.join("; "))
            }
            Self::Encoding { .. } => "this is not text in UTF-8, UTF-16 or Windows-1252".to_owned(),
            Self::ZeroByte { .. } => "there is a zero byte, and text has none: the file is damaged, or no text".to_owned(),
            Self::TwoEncodings { .. } => "this line is not in UTF-8, and lines above it are".to_owned(),
            Self::NotBuiltFor { file } => format!("this is a file of {file}, and this program was built without them"),
            Self::Columnar { file, what } => format!("the {file} file cannot be read: {}", quoted(what, 200)),
            Self::Ragged { found, expected, .. } => {
                format!("{found} field{}, where the first row has {expected}", if *found == 1 { "" } else { "s" })
            }
            Self::Unclosed { .. } => "a quoted field begins in this row and never ends".to_owned(),
            Self::NoFeatures => "there is one column alone, and that leaves no features".to_owned(),
            Self::RepeatedHeader { .. } => "this row repeats the header, as in files that were joined".to_owned(),
            Self::OddRows { example, is_first: true, .. } => {
                format!("this row is not like those below: `{}` is in a column of numbers", quoted(example, SHOWN))
            }
            Self::OddRows { line, last, example, .. } => {
                let rows = if last > line { format!("the rows up to line {last} are") } else { "this row is".to_owned() };
                format!("{rows} not like those above: `{}` is in a column of numbers", quoted(example, SHOWN))
            }
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
            Self::Foreign(format) => format.advice().to_owned(),
            Self::Encoding { .. } => "convert the file (iconv -t UTF-8), or export it again".to_owned(),
            Self::ZeroByte { .. } => "copy or export it again, or remove such bytes (tr -d '\\000')".to_owned(),
            Self::TwoEncodings { .. } => {
                "write its letters again, or convert the part that was added (iconv -f WINDOWS-1252 -t UTF-8)".to_owned()
            }
            Self::NotBuiltFor { file } => {
                format!("build it with the feature `{}`, or save the table as CSV", file.feature())
            }
            Self::Ragged { delimiter, .. } => {
                let delimiter = delimiter_in_words(*delimiter);
                format!("mend the row, quote fields that hold {delimiter}, or name the delimiter")
            }
            Self::Unclosed { .. } => "close it, or double quotes inside of it".to_owned(),
            Self::NoFeatures => "name the delimiter if the fields are separated by something else".to_owned(),
            Self::RepeatedHeader { .. } => "remove it".to_owned(),
            Self::OddRows { is_first: true, .. } => {
                "remove it, or skip the lines above it if it is a second line of the header".to_owned()
            }
            Self::OddRows { .. } => "remove what is no row, such as totals".to_owned(),
            Self::Twice { .. } => "rename one, for columns are known by their names".to_owned(),
            Self::Value { problem, .. } => problem.advice()?.to_owned(),
            Self::Column { problem, .. } => problem.advice()?.to_owned(),
            Self::Columns { .. } => "drop them, mend them, or have missing values imputed".to_owned(),
            Self::Empty | Self::Cancelled | Self::Columnar { .. } | Self::Unknown { .. } | Self::Lacking { .. } => return None,
        })
    }

    /// Returns `line 3, column `a`: ` and the fault, without advice.
    pub fn place_and_reason(&self) -> String {
        let place = match (self.line(), self.column_name().map(|name| quoted(name, SHOWN))) {
            (Some(line), Some(column)) => format!("line {line}, column `{column}`: "),
            (Some(line), None) => format!("line {line}: "),
            (None, Some(column)) => format!("column `{column}`: "),
            (None, None) => String::new(),
        };
        place + &self.reason()
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place_and_reason())?;
        self.advice().map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

impl std::error::Error for TableError {}

/// A readable name of the delimiter, which may be a control character.
pub fn delimiter_in_words(delimiter: char) -> String {
    match delimiter {
        '\t' => "tabs".to_owned(),
        ' ' => "blanks".to_owned(),
        other => format!("`{}`", quoted(&other.to_string(), 1)),
    }
}

/// Some names of columns, for messages: their beginnings where these tell them apart.
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let (all, most) = (names.len(), 8);
    let names: Vec<&str> = names.take(most).collect();
    let mut shown: Vec<String> = names.iter().map(|name| quoted(name, SHOWN / 2)).collect();
    let mut different = shown.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < shown.len() {
        shown = names.iter().map(|name| quoted(name, usize::MAX)).collect();
    }
    if all > most { format!("{} and {} more", shown.join(", "), all - most) } else { shown.join(", ") }
}
