//! Detection of the kinds of columns from their fields.

use super::cells::Cells;
use super::error::TableError;
use super::problem::{ColumnProblem, ValueProblem};
use super::words::{Missing, could_be_version, has_comma, has_unit, is_date, is_mark, number, truth, with_word, without_format};
use crate::dataset::{ColumnKind, MissingWords, Target};
use std::collections::BTreeSet;
use std::ops::Range;

/// Largest number of words of a column that become features.
pub const MOST_WORDS: usize = 1000;

/// Nearly unique words are refused as categories if there are more of them than this.
const FEW: usize = 50;

/// A category column that contains some numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedColumn {
    /// The name of the column.
    pub column: String,
    /// Number of fields that are numbers.
    pub numbers: usize,
    /// Number of fields that are not missing.
    pub filled: usize,
}

/// A column of the table.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) cells: &'a Cells,
    pub(super) column: usize,
    pub(super) name: &'a str,
    pub(super) words: &'a MissingWords,
}

/// The counts of kinds of fields in a column.
#[derive(Default)]
struct FieldCounts {
    numbers: usize,
    /// Fields that are neither numbers, missing, nor marks.
    others: usize,
    /// Marks for missing values among numbers or truth values.
    marks: usize,
    /// Words for missing values that quotes make words of their own, except among numbers.
    quoted: usize,
    /// Numbers with commas or units.
    malformed: usize,
    /// Numbers with one unit.
    unit: UnitCount,
    /// Dates.
    dates: usize,
    /// Dates that could be versions.
    versions: usize,
    /// Fields that are true, and fields that are false.
    truths: [usize; 2],
    /// The first row of the other fields.
    first: Option<usize>,
}

/// The numbers of a column with a word behind them that is the same in all: `0.5 mg`.
#[derive(Default)]
struct UnitCount {
    word: String,
    fields: usize,
    fractions: usize,
    /// Different whole numbers, up to [`CODES`] and one more.
    different: BTreeSet<i64>,
}

/// Largest number of different whole numbers with the same word that can be codes: `3G`, `4G`,
/// `5G`.
const CODES: usize = 12;

impl UnitCount {
    fn add(&mut self, text: &str) {
        let Some((value, word)) = with_word(text) else { return };
        if self.fields == 0 {
            word.clone_into(&mut self.word);
        }
        if self.word == word {
            self.fields += 1;
            self.fractions += usize::from(value.fract() != 0.0);
            if self.different.len() <= CODES {
                self.different.insert(value as i64);
            }
        }
    }

    /// Returns whether all of these fields are quantities in one unit.
    fn is_unit_of(&self, fields: usize) -> bool {
        fields > 0 && self.fields == fields && (self.fractions > 0 || self.different.len() > CODES)
    }
}

impl FieldCounts {
    fn of(field: Field, rows: Range<usize>) -> Self {
        let (mut counts, missing) = (Self::default(), field.words.of_words(field.name));
        for row in rows {
            let text = field.cells.at(row, field.column);
            if field.cells.is_quoted(row, field.column) && !missing.is_given(text) {
                counts.quoted += 1;
                continue;
            }
            if missing.has(text) {
                continue;
            }
            if number(text).is_some_and(f64::is_finite) {
                counts.numbers += 1;
            } else if is_mark(text) {
                counts.marks += 1;
            } else {
                counts.first.get_or_insert(row);
                counts.others += 1;
                counts.malformed += usize::from(has_comma(text) || has_unit(text) || without_format(text).is_some());
                counts.unit.add(text);
                counts.dates += usize::from(is_date(text));
                counts.versions += usize::from(is_date(text) && could_be_version(text));
                truth(text).into_iter().for_each(|is_true| counts.truths[usize::from(is_true)] += 1);
            }
        }
        counts
    }

    /// The number of present fields if marks are words.
    fn filled(&self) -> usize {
        self.numbers + self.others + self.marks + self.quoted
    }

    /// Returns whether at least half of the fields are numbers, or all are numbers with commas or
    /// units.
    fn is_numbers(&self) -> bool {
        (self.numbers > 0 && self.numbers >= self.others)
            || (self.others > 0 && self.malformed == self.others)
            || self.unit.is_unit_of(self.others)
    }

    /// Returns whether all fields are dates, and not all could be versions.
    fn is_dates(&self) -> bool {
        self.dates > self.versions && self.dates == self.others && self.numbers == 0
    }

    /// Returns whether the column has both truth values and no other fields.
    fn is_truths(&self) -> bool {
        self.numbers + self.quoted == 0
            && self.truths[0] + self.truths[1] == self.others
            && (self.marks == 0 || self.truths[0].min(self.truths[1]) > 0)
    }

    /// The error for the first row that is not a number.
    fn fault(&self, field: Field, rows: &Range<usize>) -> Option<TableError> {
        let row = self.first?;
        let value = field.cells.at(row, field.column);
        let unit = self.unit.is_unit_of(self.others).then(|| ValueProblem::Unit(value.to_owned()));
        let problem = malformed(value).or(unit).unwrap_or_else(|| ValueProblem::Word {
            value: value.to_owned(),
            numbers: self.numbers,
            filled: self.numbers + self.others,
            is_first_row: rows.start == 0 && row == 0,
        });
        Some(TableError::value(field.cells.line(row), field.name, problem))
    }
}

/// Detects the kind of a feature column.
pub(super) fn kind(field: Field, rows: Range<usize>, mixed: &mut Vec<MixedColumn>) -> Result<ColumnKind, TableError> {
    let Field { cells, column, name, words } = field;
    let counts = FieldCounts::of(field, rows.clone());
    let filled = counts.filled();
    if filled == 0 {
        return Err(TableError::column(name, ColumnProblem::Nothing));
    }
    if !words.is_verbatim(name) {
        if counts.is_numbers() {
            return counts.fault(field, &rows).map_or(Ok(ColumnKind::Number), Err);
        }
        if counts.is_dates() {
            let example = cells.at(counts.first.unwrap_or(rows.start), column).to_owned();
            return Err(TableError::column(name, ColumnProblem::Dates { example }));
        }
        if counts.others > 0 && counts.is_truths() {
            return Ok(ColumnKind::Boolean);
        }
        let infinite = |row: &usize| number(cells.at(*row, column)).is_some_and(|value| !value.is_finite());
        // Infinity is accepted as a word, but not among numbers.
        if let Some(row) = rows.clone().find(infinite).filter(|_| counts.numbers > 0) {
            let value = cells.at(row, column).to_owned();
            return Err(TableError::value(cells.line(row), name, ValueProblem::NotFinite(value)));
        }
        if counts.numbers > 0 {
            mixed.push(MixedColumn { column: name.to_owned(), numbers: counts.numbers, filled });
        }
    }
    let found = distinct(field, rows.clone(), words.of_words(name));
    let different = found.len();
    if counts.marks == filled && different == 1 && !words.is_verbatim(name) {
        return Err(TableError::column(name, ColumnProblem::Nothing));
    }
    let example = || cells.at(counts.first.unwrap_or(rows.start), column).to_owned();
    if different > FEW && 10 * different >= 9 * filled {
        let problem = ColumnProblem::Identifiers { different, rows: rows.len(), example: example() };
        return Err(TableError::column(name, problem));
    }
    if different > MOST_WORDS {
        return Err(TableError::column(name, ColumnProblem::TooMany { different, most: MOST_WORDS, example: example() }));
    }
    Ok(ColumnKind::Category(found.into_iter().map(str::to_owned).collect()))
}

/// The problem of a number that is infinite, or contains a comma, a unit or other marks.
pub(super) fn malformed(field: &str) -> Option<ValueProblem> {
    match number(field) {
        Some(value) if !value.is_finite() => Some(ValueProblem::NotFinite(field.to_owned())),
        _ if without_format(field).is_some() => {
            Some(ValueProblem::Formatted { value: field.to_owned(), plain: without_format(field).unwrap_or_default() })
        }
        _ if has_comma(field) => Some(ValueProblem::Comma(field.to_owned())),
        _ if has_unit(field) => Some(ValueProblem::Unit(field.to_owned())),
        _ => None,
    }
}

/// The different words of a column, in ascending order.
fn distinct<'a>(field: Field<'a>, rows: Range<usize>, missing: Missing) -> BTreeSet<&'a str> {
    rows.filter(|&row| field.is_word(row, missing)).map(|row| field.cells.at(row, field.column)).collect()
}

impl Field<'_> {
    /// The rows with a missing value in a column of this kind.
    pub(super) fn gaps(self, rows: Range<usize>, kind: &ColumnKind) -> impl Iterator<Item = usize> {
        let missing = self.words.of(self.name, kind);
        let takes_quoted = matches!(kind, ColumnKind::Category(_));
        rows.filter(
            move |&row| {
                if takes_quoted { !self.is_word(row, missing) } else { missing.has(self.cells.at(row, self.column)) }
            },
        )
    }

    /// The rows of a column of numbers whose fields are neither numbers nor missing.
    pub(super) fn words_among_numbers(self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        let missing = self.words.of_numbers();
        rows.filter(move |&row| {
            let text = self.cells.at(row, self.column);
            !missing.has(text) && number(text).is_none()
        })
    }

    /// Returns whether the field of a row is a word, and not a missing value.
    fn is_word(&self, row: usize, missing: Missing) -> bool {
        let text = self.cells.at(row, self.column);
        !missing.has(text) || (self.cells.is_quoted(row, self.column) && !missing.is_given(text))
    }
}

/// Detects the target: numbers, or words that become 0, 1, 2, … in ascending order.
pub(super) fn target(field: Field, rows: Range<usize>, takes_unlabelled: bool) -> Result<Target, TableError> {
    let Field { cells, column, name, words } = field;
    let counts = FieldCounts::of(field, rows.clone());
    let is_numbers = !words.is_verbatim(name) && (counts.is_numbers() || counts.filled() == 0);
    let missing = if is_numbers { words.of_numbers() } else { words.of_words(name) };
    let is_missing = |row: &usize| if is_numbers { missing.has(cells.at(*row, column)) } else { !field.is_word(*row, missing) };
    if let Some(row) = rows.clone().find(is_missing).filter(|_| !takes_unlabelled) {
        let value = cells.at(row, column).to_owned();
        return Err(TableError::value(cells.line(row), name, ValueProblem::NoLabel { value }));
    }
    if is_numbers {
        let numbers = Target { name: name.to_owned(), names: Vec::new() };
        return counts.fault(field, &rows).map_or(Ok(numbers), Err);
    }
    let found = distinct(field, rows.clone(), missing);
    let different = found.len();
    if different > FEW && 10 * different >= 9 * rows.len() {
        let example = cells.at(counts.first.unwrap_or(rows.start), column).to_owned();
        let problem = ColumnProblem::Labels { different, rows: rows.len(), example };
        return Err(TableError::column(name, problem));
    }
    Ok(Target { name: name.to_owned(), names: found.into_iter().map(str::to_owned).collect() })
}
