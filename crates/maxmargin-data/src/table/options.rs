//! Options and results of reading a table.

use super::build::{MissingCells, UnknownWords};
use super::infer::MixedColumn;
use crate::dataset::Dataset;

/// What the reader is told instead of finding out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// What separates fields.
    pub delimiter: Option<u8>,
    /// Whether the first row holds names.
    pub header: Option<bool>,
    /// The column that is to be predicted, by name or by number from 1. Otherwise one called
    /// target, label, class or y, or the last.
    pub target: Option<String>,
    /// There is no such column: all are features, and labels are 0.
    pub no_target: bool,
    /// Columns that are left out, by name or number.
    pub drop: Vec<String>,
    /// Columns whose words are categories and labels as they are, numbers and words for missing
    /// values among them, by name or number.
    pub categories: Vec<String>,
    /// Words that stand for a missing value besides the known ones. A number stands for all fields
    /// of the same value.
    pub missing_words: Vec<String>,
    /// Takes missing values, which a training then has to fill in; they are errors otherwise.
    pub missing: bool,
    /// Which labels are taken.
    pub labels: LabelRule,
}

/// Which labels of a table are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelRule {
    /// Each row has one. Of [`read_like`]: one that the model does not know is a number that is
    /// none of the model's.
    #[default]
    Present,
    /// Each row has one. Of [`read_like`]: the model knows all of them.
    Known,
    /// A row may lack its label, which is then NaN: it is there to be predicted. Others are as
    /// [`LabelRule::Present`] has them.
    Optional,
}

/// How the target was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    /// It was asked for.
    Asked,
    /// By its name.
    Name,
    /// It is the last column.
    Last,
    /// There is none.
    None,
}

/// A table that was read.
#[derive(Clone, Debug)]
pub struct Table {
    /// Samples and labels. The hash is zeros: what identifies a table are its numbers, however they
    /// were written.
    pub data: Dataset,
    /// What separates its fields; nothing in a file of columns.
    pub delimiter: Option<char>,
    /// Whether the first row holds names.
    pub has_header: bool,
    /// Whether the first row has numbers that names as well as values could be, and nobody said
    /// which.
    pub header_is_doubtful: bool,
    /// Whether any row has a label.
    pub is_labelled: bool,
    /// Rows without a label, whose label is NaN; none where there is no target.
    pub unlabelled: MissingCells,
    /// How the target was found.
    pub target: TargetChoice,
    /// Names of columns that are neither features nor target.
    pub ignored: Vec<String>,
    /// Columns with words that a model has not seen.
    pub unknown: Vec<UnknownWords>,
    /// Columns with words that stand for missing values.
    pub missing: Vec<MissingCells>,
    /// Columns of words that have numbers among them.
    pub mixed: Vec<MixedColumn>,
    /// The line on which each row begins, from 1; of a file of columns the number of the row,
    /// from 1.
    pub lines: Vec<u64>,
}
