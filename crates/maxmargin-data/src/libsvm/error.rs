//! Errors of LIBSVM's text format: position, fault and remedy.

use std::fmt;

/// The greatest index, with which every number of features fits in `u32`.
pub(crate) const MAX_INDEX: u32 = u32::MAX - 1;

/// The reasons for which text cannot be parsed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no row: no bytes, or only comments and blank lines.
    #[error("there are no rows: a file holds one `label index:value …` line for each sample")]
    Empty,
    /// The caller cancelled the work.
    #[error("reading was cancelled")]
    Cancelled,
    /// There are control bytes instead of text.
    #[error(
        "line {line}, column {column}: this is a binary file or UTF-16 text, not LIBSVM-format text; \
         pass the text file itself, in UTF-8 (gzip, bzip2, xz and Zstandard are unpacked)"
    )]
    Binary {
        /// Line, from 1.
        line: u64,
        /// Byte of the line, from 1.
        column: u64,
    },
    /// A line does not follow the format.
    #[error("line {line}, column {column}: {}{problem}", Quoted(text))]
    Line {
        /// Line, from 1.
        line: u64,
        /// Byte of the line, from 1.
        column: u64,
        /// The offending text, shortened.
        text: String,
        /// The fault.
        problem: LineProblem,
    },
}

/// The fault of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// There is a blank line before a row.
    #[error("blank line; remove it (a sample without features is a line with its label only)")]
    BlankLine,
    /// The first word of a row is not a number.
    #[error("is not a label; a row is `label index:value …` and its label is a number")]
    BadLabel,
    /// The first word of a row is `index:value`.
    #[error("stands where the label should be; a row is `label index:value …` (put any number there if labels are unknown)")]
    MissingLabel,
    /// There are several labels.
    #[error("lists several labels; keep one number a row, or make one file for each label")]
    MultiLabel,
    /// The row belongs to a table with separators.
    #[error("looks like comma-separated values; read it as a table, or convert it to `label index:value …` rows")]
    Separated,
    /// A feature has no colon, or no value after it.
    #[error("has no value; write `index:value`")]
    MissingValue,
    /// The word is not `index:value`.
    #[error("is not `index:value`")]
    BadFeature,
    /// An index is negative.
    #[error("has a negative index; indices start at 1 (or at 0)")]
    NegativeIndex,
    /// An index is too large.
    #[error("has an index above {}, the greatest possible", MAX_INDEX)]
    IndexTooLarge,
    /// Index 0 occurs, although the options number features from 1.
    #[error("has index 0, where features are numbered from 1")]
    ZeroIndex,
    /// An index is smaller than the previous one.
    #[error("comes after index {previous}; indices must ascend in a row: sort the row")]
    Unsorted {
        /// The previous index.
        previous: u32,
    },
    /// An index is repeated.
    #[error("repeats an index of its row; keep one value for each feature")]
    Repeated,
    /// A value is not a number.
    #[error("has a value that is not a decimal number (such as `-0.5` or `1e-3`)")]
    BadValue,
    /// A value is infinite, NaN, or too large for a 64-bit float.
    #[error("is not finite; replace or remove NaN, infinite and overflowing values")]
    NotFinite,
    /// A group is not a nonnegative integer.
    #[error("is not `qid:` and a whole number")]
    BadGroup,
    /// A group follows the first feature.
    #[error("must come directly after the label")]
    LateGroup,
    /// Only some rows have a group.
    #[error("begins a row {} `qid:`, unlike the rows before; give every row a group or none", if *.here { "with" } else { "without" })]
    MixedGroups {
        /// This row has a group.
        here: bool,
    },
}

/// Formats as `` `text` `` and a space, or as nothing for empty text.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "`{}` ", self.0) }
    }
}
