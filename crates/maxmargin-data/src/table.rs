//! Tables as people have them: comma- or tab-separated values, with a header or without, with
//! numbers, words and gaps; with the features `parquet` and `arrow` also files of these.
//!
//! [`read`] finds out what separates fields, whether there is a header and what the columns hold,
//! and makes a [`Dataset`] of it whose [`Dataset::columns`] know the names. Words become one
//! feature each, missing values are marked; what they are filled with is found by each training
//! from its own rows ([`crate::prepare`]). [`read_like`] reads another table for a model that knows
//! its columns.
//!
//! ```
//! use maxmargin_data::table::{self, TableOptions};
//!
//! let text = b"age,colour,kind\n31,red,cat\n8,blue,dog\n12,red,dog\n";
//! let table = table::read(text, &TableOptions::default())?;
//! let columns = table.data.columns.as_ref().expect("of a table");
//! assert_eq!(columns.feature_name(1).as_deref(), Some("colour = blue"));
//! assert_eq!(columns.labels(), ["cat", "dog"]);
//! assert_eq!(table.data.labels, [0.0, 1.0, 1.0]);
//!
//! let more = table::read_like(b"colour;age\ngreen;3\n", columns, &TableOptions::default())?;
//! assert!(!more.is_labelled);
//! assert_eq!(more.unknown[0].example, "green");
//! # Ok::<(), maxmargin_data::table::TableError>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow;
mod build;
mod cells;
mod columnar;
mod columns;
mod describe;
mod error;
mod header;
mod infer;
#[cfg(feature = "parquet")]
mod parquet;
mod sniff;
mod words;

pub use build::{MissingCells, UnknownWords};
pub use columnar::{Columnar, decodes_columns};
pub(crate) use columns::ColumnsBefore9;
pub use columns::{Column, Columns, Kind, Target};
pub use describe::{ColumnSummary, describe};
pub use error::{ColumnProblem, TableError, ValueProblem, delimiter_in_words};
pub use infer::{MOST_WORDS, MixedColumn};
pub use sniff::{Look, look};
pub use words::MissingWords;

use crate::asking::Asking;
use crate::dataset::Dataset;
use build::{Gaps, TakenLabels};
use cells::Cells;
use error::listed;
use header::Header;
use infer::Field;
use std::ops::Range;
use std::sync::Arc;

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

/// Reads a table, and finds out what its columns hold. A file of columns ([`Columnar`]) tells
/// delimiter, header and gaps (nulls) by itself; its columns are otherwise those of a text with the
/// same values.
///
/// # Errors
///
/// The first fault, with its line and column; what cannot be a number, a category or a label.
pub fn read(bytes: &[u8], options: &TableOptions) -> Result<Table, TableError> {
    read_asking(bytes, options, &Asking::nobody())
}

/// [`read`], asking now and then whether to go on.
///
/// # Errors
///
/// As [`read`], and [`TableError::Halted`] when it was called off.
pub fn read_asking(bytes: &[u8], options: &TableOptions, asking: &Asking) -> Result<Table, TableError> {
    let sheet = Sheet::of(bytes, options, None, asking)?;
    let places = |names: &[String]| names.iter().map(|name| sheet.place(name)).collect::<Result<Vec<_>, _>>();
    let (dropped, categories) = (places(&options.drop)?, places(&options.categories)?);
    let (target, choice) = sheet.target(options, &dropped)?;
    if let Some(twice) = target.filter(|target| dropped.contains(target)) {
        return Err(TableError::column(&sheet.names[twice], ColumnProblem::TargetDropped));
    }
    let places: Vec<usize> = (0..sheet.names.len()).filter(|c| Some(*c) != target && !dropped.contains(c)).collect();
    if places.is_empty() {
        return Err(TableError::NoFeatures);
    }
    let named = |c: &usize| sheet.names[*c].clone();
    let words = MissingWords { words: options.missing_words.clone(), verbatim: categories.iter().map(named).collect() };
    let mut mixed = Vec::new();
    let column = |c: &usize| -> Result<Column, TableError> {
        Ok(Column { name: named(c), kind: infer::kind(sheet.field(*c, &words), sheet.rows.clone(), &mut mixed)? })
    };
    let features = places.iter().map(column).collect::<Result<_, _>>()?;
    let of_target = |c| infer::target(sheet.field(c, &words), sheet.rows.clone(), options.labels == LabelRule::Optional);
    let target_column = target.map(of_target).transpose()?;
    // Names are different and words ascend.
    let columns = Columns::new(features, target_column).map_err(|_| TableError::NoFeatures)?.with_missing(words);
    let gaps = if options.missing { Gaps::Keep } else { Gaps::Refuse };
    let ignored = dropped.iter().map(named).collect();
    let taken = TakenLabels { unknown: false, missing: options.labels == LabelRule::Optional };
    let table = sheet.table((Arc::new(columns), &places, target), (gaps, taken), (choice, ignored), asking)?;
    Ok(Table { mixed, ..table })
}

/// Reads a table for a model that knows its columns by name: their order may be another, columns
/// that it does not know are left out, and a word that it has not seen is none of its words. Labels
/// may be missing altogether.
///
/// # Errors
///
/// As [`read`]; when a column is not there, or holds what it did not hold in training.
pub fn read_like(bytes: &[u8], columns: &Arc<Columns>, options: &TableOptions) -> Result<Table, TableError> {
    read_like_asking(bytes, columns, options, &Asking::nobody())
}

/// [`read_like`], asking now and then whether to go on.
///
/// # Errors
///
/// As [`read_like`], and [`TableError::Halted`] when it was called off.
pub fn read_like_asking(
    bytes: &[u8],
    columns: &Arc<Columns>,
    options: &TableOptions,
    asking: &Asking,
) -> Result<Table, TableError> {
    let sheet = Sheet::of(bytes, options, Some(columns), asking)?;
    let place = |name: &str| sheet.names.iter().position(|known| known == name);
    let lacking = |name: &str| TableError::Lacking { name: name.to_owned(), known: sheet.listed() };
    let of_feature = |column: &Column| place(&column.name).ok_or_else(|| lacking(&column.name));
    let places = columns.features().iter().map(of_feature).collect::<Result<Vec<_>, _>>()?;
    let dropped = options.drop.iter().map(|name| sheet.place(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(needed) = dropped.iter().find(|c| places.contains(c)) {
        return Err(TableError::column(&sheet.names[*needed], ColumnProblem::Needed));
    }
    let target = match &options.target {
        _ if options.no_target => None,
        Some(name) => Some(sheet.place(name)?),
        None => columns.target().and_then(|target| place(&target.name)),
    };
    let target = target.filter(|target| !dropped.contains(target));
    if let Some(wanted) = columns.target().filter(|_| target.is_none() && options.labels == LabelRule::Known) {
        return Err(lacking(&wanted.name));
    }
    let is_used = |c: &usize| places.contains(c) || Some(*c) == target;
    let ignored = (0..sheet.names.len()).filter(|c| !is_used(c)).map(|c| sheet.names[c].clone()).collect();
    let gaps = if options.missing { Gaps::Keep } else { Gaps::NotImputed };
    let choice = if target.is_some() { TargetChoice::Asked } else { TargetChoice::None };
    let mut words = columns.missing().clone();
    words.words.extend(options.missing_words.iter().cloned());
    let reading = Arc::new(Columns::clone(columns).with_missing(words));
    let taken = TakenLabels { unknown: options.labels != LabelRule::Known, missing: options.labels == LabelRule::Optional };
    let mut table = sheet.table((reading, &places, target), (gaps, taken), (choice, ignored), asking)?;
    // Words for this table alone are none of the model's.
    table.data.columns = Some(Arc::clone(columns));
    Ok(table)
}

/// Fields with names of columns.
struct Sheet {
    cells: Cells,
    /// Rows below the header.
    rows: Range<usize>,
    names: Vec<String>,
    /// None in a file of columns.
    delimiter: Option<u8>,
    has_header: bool,
    is_doubtful: bool,
}

impl Sheet {
    fn of(bytes: &[u8], options: &TableOptions, known: Option<&Columns>, asking: &Asking) -> Result<Self, TableError> {
        let (cells, delimiter) = if let Some(columnar) = Columnar::of(bytes) {
            // What is not asked for may be anything, and costs nothing.
            let leaves_out = |names: &[String]| {
                let mut left_out: Vec<bool> = names.iter().map(|name| known.is_some_and(|known| !known.has(name))).collect();
                let dropped = options.drop.iter().filter(|_| known.is_none()).filter_map(|name| place(names, name));
                dropped.for_each(|c| left_out[c] = true);
                left_out
            };
            (columnar.cells(bytes, leaves_out, asking)?, None)
        } else {
            let text = text(bytes)?;
            let delimiter = options.delimiter.unwrap_or_else(|| sniff::delimiter(text));
            (Cells::of(text, delimiter, asking)?, Some(delimiter))
        };
        if cells.rows() == 0 {
            return Err(TableError::Empty);
        }
        let found = if known.is_some_and(|known| names_columns(&cells, known)) {
            Header { is_there: true, is_doubtful: false }
        } else {
            header::find(&cells)
        };
        let has_header = delimiter.is_none() || options.header.unwrap_or(found.is_there);
        let is_doubtful = found.is_doubtful && delimiter.is_some() && options.header.is_none();
        let numbered = |c: usize| format!("column {}", c + 1);
        let named = |c: usize| if has_header && !cells.at(0, c).is_empty() { cells.at(0, c).to_owned() } else { numbered(c) };
        let names: Vec<String> = (0..cells.width()).map(named).collect();
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TableError::Twice { line: cells.line(0), name: pair[0].clone() });
        }
        let rows = usize::from(has_header)..cells.rows();
        if rows.is_empty() {
            return Err(TableError::Empty);
        }
        Ok(Self { cells, rows, names, delimiter, has_header, is_doubtful })
    }

    /// The column of this name, or number from 1.
    fn place(&self, name: &str) -> Result<usize, TableError> {
        place(&self.names, name).ok_or_else(|| TableError::Unknown { name: name.to_owned(), known: self.listed() })
    }

    fn listed(&self) -> String {
        listed(self.names.iter().map(String::as_str))
    }

    /// The column that is to be predicted.
    fn target(&self, options: &TableOptions, dropped: &[usize]) -> Result<(Option<usize>, TargetChoice), TableError> {
        if options.no_target {
            return Ok((None, TargetChoice::None));
        }
        if let Some(name) = &options.target {
            return Ok((Some(self.place(name)?), TargetChoice::Asked));
        }
        let left = || (0..self.names.len()).filter(|c| !dropped.contains(c));
        let called = |name: &str| left().find(|&c| self.names[c].eq_ignore_ascii_case(name));
        Ok(match header::TARGETS.into_iter().find_map(called) {
            Some(named) => (Some(named), TargetChoice::Name),
            None => (left().next_back(), TargetChoice::Last),
        })
    }

    fn table(
        &self,
        (columns, places, target): (Arc<Columns>, &[usize], Option<usize>),
        (gaps, taken): (Gaps, TakenLabels),
        (choice, ignored): (TargetChoice, Vec<String>),
        asking: &Asking,
    ) -> Result<Table, TableError> {
        let rows = self.rows.clone();
        let (labels, unlabelled) = match target {
            Some(c) => {
                // Labels of another column are read as those of the model's target.
                let field =
                    Field { name: columns.target().map_or("", |target| &target.name), ..self.field(c, columns.missing()) };
                build::labels(field, rows.clone(), columns.labels(), taken)?
            }
            None => (vec![0.0; rows.len()], MissingCells::new("")),
        };
        let built = build::samples(&self.cells, rows.clone(), (&columns, places), gaps, asking)?;
        Ok(Table {
            is_labelled: target.is_some() && unlabelled.rows < rows.len(),
            data: Dataset {
                samples: built.samples,
                labels,
                groups: None,
                index_base: 1,
                sha256: [0; 32],
                columns: Some(columns),
            },
            delimiter: self.delimiter.map(char::from),
            has_header: self.has_header,
            header_is_doubtful: self.is_doubtful,
            unlabelled,
            target: choice,
            ignored,
            unknown: built.unknown,
            missing: built.missing,
            mixed: Vec::new(),
            lines: self.cells.lines(rows),
        })
    }

    /// A column with the words for missing values that it has.
    fn field<'a>(&'a self, column: usize, words: &'a MissingWords) -> Field<'a> {
        Field { cells: &self.cells, column, name: &self.names[column], words }
    }
}

/// Whether the first row has names that a model knows: one that is no number, or all of them.
fn names_columns(cells: &Cells, known: &Columns) -> bool {
    let is_there = |name: &str| (0..cells.width()).any(|c| cells.at(0, c) == name);
    let names = || known.features().iter().map(|column| &column.name[..]);
    names().any(|name| words::number(name).is_none() && is_there(name)) || names().all(is_there)
}

/// The column of this name, or number from 1.
fn place(names: &[String], name: &str) -> Option<usize> {
    let numbered = || name.parse::<usize>().ok()?.checked_sub(1).filter(|c| *c < names.len());
    names.iter().position(|known| known == name).or_else(numbered)
}

/// The bytes as text without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, TableError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let line = |at: usize| bytes[..at].split(|byte| *byte == b'\n').count() as u64;
    if let Some(zero) = bytes.iter().position(|byte| *byte == 0) {
        return Err(TableError::Encoding { line: line(zero) });
    }
    std::str::from_utf8(bytes).map_err(|error| TableError::Encoding { line: line(error.valid_up_to()) })
}

#[cfg(test)]
mod tests;
