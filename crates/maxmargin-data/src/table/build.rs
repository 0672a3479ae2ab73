//! Conversion of fields to samples and labels.

use super::cells::Cells;
use super::error::{TableError, listed};
use super::infer::{Field, malformed};
use super::problem::ValueProblem;
use super::words::{Missing, number, truth};
use crate::dataset::{ColumnKind, Columns};
use crate::run::{Cancelled, RunControl};
use crate::samples::Samples;
use std::ops::Range;

/// Largest number of different words for missing values that are kept per column.
const KEPT: usize = 5;

/// The treatment of missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingPolicy {
    /// They are marked for imputation.
    Keep,
    /// The first one is an error.
    Refuse,
    /// The first one is an error, because the model has no imputation.
    NotImputed,
}

/// A column with words that the model does not know; they set no feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWords {
    /// The name of the column.
    pub column: String,
    /// Number of rows with such words.
    pub rows: usize,
    /// The first such word.
    pub example: String,
    /// The line on which its row begins.
    pub line: u64,
}

/// A column with words for missing values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCells {
    /// The name of the column.
    pub column: String,
    /// Number of rows with a missing value, including empty fields.
    pub rows: usize,
    /// The first different words for missing values.
    pub words: Vec<String>,
}

impl MissingCells {
    pub(super) fn new(column: &str) -> Self {
        Self { column: column.to_owned(), rows: 0, words: Vec::new() }
    }

    fn count(&mut self, field: &str) {
        self.rows += 1;
        if !field.is_empty() && self.words.len() < KEPT && !self.words.iter().any(|word| word == field) {
            self.words.push(field.to_owned());
        }
    }
}

/// Samples of a table, and their unknown and missing words.
pub(super) struct TableSamples {
    pub(super) samples: Samples,
    pub(super) unknown: Vec<UnknownWords>,
    pub(super) missing: Vec<MissingCells>,
}

/// The part of quotes in the distinction of words from missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// Quotes distinguish nothing in this column.
    Unused,
    /// The field has none, but other words for missing values of the column do.
    Bare,
    /// The field is a word for missing values in quotes.
    Word,
}

impl Quotes {
    fn of(cells: &Cells, row: usize, column: usize, has_quoted: bool) -> Self {
        match (has_quoted, cells.is_quoted(row, column)) {
            (false, _) => Self::Unused,
            (true, false) => Self::Bare,
            (true, true) => Self::Word,
        }
    }
}

/// The value of a field of a feature column.
enum Cell {
    Value(usize, f64),
    Missing,
    Unknown,
}

impl Cell {
    /// Converts a field of a column of this kind: a number, or the index of a word.
    fn of(field: &str, quotes: Quotes, kind: &ColumnKind, missing: Missing) -> Result<Self, ValueProblem> {
        if missing.is_given(field) {
            return Ok(Self::Missing);
        }
        // Known words take precedence: models of earlier versions know words that now mean missing
        // values.
        if let ColumnKind::Category(words) = kind
            && !(quotes == Quotes::Bare && missing.has(field))
        {
            if let Some(word) = place_of(words, field) {
                return Ok(Self::Value(word, 1.0));
            }
            if quotes == Quotes::Word {
                return Ok(Self::Unknown);
            }
        }
        if missing.has(field) {
            return Ok(Self::Missing);
        }
        match kind {
            ColumnKind::Number => Ok(Self::Value(0, finite(field)?)),
            ColumnKind::Boolean => match truth(field) {
                Some(truth) => Ok(Self::Value(0, f64::from(u8::from(truth)))),
                None => Err(ValueProblem::other(field, kind)),
            },
            ColumnKind::Category(_) => Ok(Self::Unknown),
        }
    }
}

/// Converts the fields of `rows` to samples. Column `c` of `columns` is column `places[c]` of the
/// table.
pub(super) fn samples(
    cells: &Cells,
    rows: Range<usize>,
    columns: &Columns,
    places: &[usize],
    gaps: MissingPolicy,
    control: &RunControl,
) -> Result<TableSamples, TableError> {
    let mut unknown: Vec<Option<UnknownWords>> = vec![None; places.len()];
    let mut cells_missing: Vec<MissingCells> = columns.features().iter().map(|column| MissingCells::new(&column.name)).collect();
    let of_columns: Vec<Missing> =
        columns.features().iter().map(|column| columns.missing().of(&column.name, &column.kind)).collect();
    let has_quoted: Vec<bool> = places.iter().map(|&place| cells.has_quoted(place)).collect();
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    offsets.push(0);
    let (mut indices, mut values): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut missing, mut has_gaps) = (Vec::new(), false);
    for row in rows {
        control.check(places.len() as u64 * 64).map_err(|Cancelled| TableError::Cancelled)?;
        for (c, (column, &place)) in columns.features().iter().zip(places).enumerate() {
            let field = cells.at(row, place);
            let wrong = |problem| TableError::value(cells.line(row), &column.name, problem);
            let value = || field.to_owned();
            let quotes = Quotes::of(cells, row, place, has_quoted[c]);
            match (Cell::of(field, quotes, &column.kind, of_columns[c]).map_err(wrong)?, gaps) {
                (Cell::Value(at, value), _) => {
                    if value != 0.0 {
                        indices.push((columns.features_of(c).start + at) as u32);
                        values.push(value);
                    }
                }
                (Cell::Missing, MissingPolicy::Keep) => {
                    cells_missing[c].count(field);
                    missing.push(columns.gap(c));
                }
                (Cell::Missing, MissingPolicy::Refuse) => return Err(wrong(ValueProblem::Missing { value: value() })),
                (Cell::Missing, MissingPolicy::NotImputed) => return Err(wrong(ValueProblem::NotImputed { value: value() })),
                (Cell::Unknown, _) => {
                    let (column, line) = (column.name.clone(), cells.line(row));
                    let first = || UnknownWords { column, rows: 0, example: value(), line };
                    unknown[c].get_or_insert_with(first).rows += 1;
                }
            }
        }
        has_gaps |= !missing.is_empty();
        for gap in missing.drain(..) {
            indices.push(gap as u32);
            values.push(1.0);
        }
        offsets.push(indices.len());
    }
    let features = columns.width() + if has_gaps { places.len() } else { 0 };
    // Features ascend in each row, values are finite, and there are fewer than 2^32 features.
    let samples = Samples::from_sparse(features, offsets, indices, values).map_err(|_| TableError::Empty)?;
    cells_missing.retain(|column| !column.words.is_empty());
    Ok(TableSamples { samples: samples.compact(), unknown: unknown.into_iter().flatten().collect(), missing: cells_missing })
}

/// The treatment of labels that are missing or unknown to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LabelTreatment {
    /// Unknown words get the numbers after the known ones, in ascending order; otherwise they are
    /// errors.
    pub(super) unknown: bool,
    /// A missing label becomes NaN; otherwise it is an error.
    pub(super) missing: bool,
}

/// Converts the labels of `rows`, where `names` are the known words: a number per row, NaN if it is
/// missing. Also returns the rows without a label.
pub(super) fn labels(
    field: Field,
    rows: Range<usize>,
    names: &[String],
    treatment: LabelTreatment,
) -> Result<(Vec<f64>, MissingCells), TableError> {
    let Field { cells, column, name, words } = field;
    let missing = if names.is_empty() { words.of_numbers() } else { words.of_words(name) };
    let has_quoted = !names.is_empty() && cells.has_quoted(column);
    let is_missing = |row: usize| {
        let text = cells.at(row, column);
        let is_known = || place_of(names, text).is_some();
        missing.is_given(text)
            || match Quotes::of(cells, row, column, has_quoted) {
                Quotes::Unused => !is_known() && missing.has(text),
                Quotes::Bare => missing.has(text),
                Quotes::Word => false,
            }
    };
    let mut new: Vec<&str> = Vec::new();
    if !names.is_empty() && treatment.unknown {
        let texts = rows.clone().filter(|row| !is_missing(*row)).map(|row| cells.at(row, column));
        new.extend(texts.filter(|text| place_of(names, text).is_none()));
        new.sort_unstable();
        new.dedup();
    }
    let mut without = MissingCells::new(name);
    let label = |row: usize| {
        let text = cells.at(row, column);
        let wrong = |problem| Err(TableError::value(cells.line(row), name, problem));
        if is_missing(row) {
            without.count(text);
            return if treatment.missing { Ok(f64::NAN) } else { wrong(ValueProblem::NoLabel { value: text.to_owned() }) };
        }
        if names.is_empty() {
            return finite(text).or_else(wrong);
        }
        let known = place_of(names, text).or_else(|| Some(names.len() + new.binary_search(&text).ok()?));
        match known {
            Some(place) => Ok(place as f64),
            None => wrong(ValueProblem::UnknownLabel { value: text.to_owned(), known: listed(names.iter().map(String::as_str)) }),
        }
    };
    let labels = rows.map(label).collect::<Result<_, _>>()?;
    Ok((labels, without))
}

/// The finite number of a field in a column of numbers.
fn finite(field: &str) -> Result<f64, ValueProblem> {
    let value = number(field).filter(|value| value.is_finite());
    value.ok_or_else(|| malformed(field).unwrap_or_else(|| ValueProblem::other(field, &ColumnKind::Number)))
}

/// The index of a word among ascending words.
fn place_of(names: &[String], field: &str) -> Option<usize> {
    names.binary_search_by(|name| name[..].cmp(field)).ok()
}
