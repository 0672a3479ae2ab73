//! Options and results of reading a table.

use super::build::{MissingCells, UnknownWords};
use super::encoding::TextEncoding;
use super::error::TableError;
use super::infer::MixedColumn;
use crate::dataset::Dataset;

/// Options for reading a table; the reader detects what they leave open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The delimiter of fields; a blank stands for any number of blanks.
    pub delimiter: Option<u8>,
    /// Number of lines before the first row. By default, comments and titles are detected.
    pub skip_rows: Option<usize>,
    /// Numbers have a decimal comma. By default, they are detected where another delimiter
    /// separates fields.
    pub decimal_comma: Option<bool>,
    /// The first row contains names.
    pub header: Option<bool>,
    /// The target column, by name or by number from 1. The default is a column named target, label,
    /// class or y, or else the last one.
    pub target: Option<String>,
    /// There is no target: all columns are features, and labels are 0.
    pub no_target: bool,
    /// Columns to leave out, by name or number.
    pub drop: Vec<String>,
    /// Columns whose fields are returned as text ([`Table::kept`]), by name or number.
    /// [`read`](super::read) makes no features of them.
    pub keep: Vec<String>,
    /// Columns whose fields are always words, including numbers and words for missing values, by
    /// name or number.
    pub categories: Vec<String>,
    /// Additional words for missing values. A number stands for all fields with the same value.
    pub missing_words: Vec<String>,
    /// Accepts missing values, which a training must impute; otherwise they are errors.
    pub missing: bool,
    /// The rule for missing and unknown labels.
    pub labels: LabelRule,
    /// Leaves out columns that cannot be used, and reports them in [`Table::faults`]; otherwise
    /// they are errors.
    pub leave_out_faulty: bool,
}

/// The rule for missing and unknown labels of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelRule {
    /// Each row has a label. [`read_like`](super::read_like) gives a new number to a label that the
    /// model does not know.
    #[default]
    Present,
    /// Each row has a label, and [`read_like`](super::read_like) refuses labels that the model does
    /// not know.
    Known,
    /// Rows may lack labels, which are then NaN: rows to predict. Other labels are treated like
    /// [`LabelRule::Present`].
    Optional,
}

/// The origin of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    /// It was given.
    Asked,
    /// It was found by its name.
    Name,
    /// It is the last column.
    Last,
    /// There is no target.
    None,
}

/// A column that looks more like the target than the one that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikelierTarget {
    /// Its name.
    pub column: String,
    /// Number of its different values.
    pub different: usize,
    /// Number of different values of the column that was taken, which are numbers.
    pub of_taken: usize,
    /// Its values are words.
    pub has_words: bool,
}

/// A column as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptColumn {
    /// Its name.
    pub name: String,
    /// The field of each row.
    pub fields: Vec<String>,
}

/// The result of reading a table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Samples and labels. The hash is zeros: the numbers identify a table, in any notation.
    pub data: Dataset,
    /// The delimiter of fields; none in a columnar file.
    pub delimiter: Option<char>,
    /// The first row contains names.
    pub has_header: bool,
    /// The first row has numbers that could be names or values, and the options do not decide it.
    pub header_is_doubtful: bool,
    /// The encoding of a text that is not UTF-8.
    pub encoding: Option<TextEncoding>,
    /// Number of lines before the first row: comments, titles, `sep=;`.
    pub skipped_lines: u64,
    /// The decimal separator of numbers: a point or a comma.
    pub decimal_mark: char,
    /// The last or the first column, if it looks more like the target than the one that was taken.
    pub likelier_target: Option<LikelierTarget>,
    /// The columns that were left out because of a fault.
    pub faults: Vec<TableError>,
    /// At least one row has a label.
    pub is_labelled: bool,
    /// Rows without a label, whose label is NaN; none without a target.
    pub unlabelled: MissingCells,
    /// The origin of the target.
    pub target: TargetChoice,
    /// Names of columns that are neither features nor target.
    pub ignored: Vec<String>,
    /// The columns of [`TableOptions::keep`].
    pub kept: Vec<KeptColumn>,
    /// Columns with words that the model does not know.
    pub unknown: Vec<UnknownWords>,
    /// Columns with words for missing values.
    pub missing: Vec<MissingCells>,
    /// Columns of words that contain numbers.
    pub mixed: Vec<MixedColumn>,
    /// The first column that was left out because it numbers or names the rows: the first column of
    /// a text, without a name, or in a columnar file pandas' index.
    pub index: Option<String>,
    /// The line on which each row begins, from 1; in a columnar file the number of the row, from 1.
    pub lines: Vec<u64>,
}
