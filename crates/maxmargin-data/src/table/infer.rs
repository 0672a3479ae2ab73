//! What columns hold, by what stands in them.

use super::cells::Cells;
use super::columns::{Kind, Target};
use super::error::{ColumnProblem, TableError, ValueProblem};
use super::words::{has_comma, is_missing, number, truth};
use std::collections::BTreeSet;
use std::ops::Range;

/// Most words of a column that become features.
pub const MOST_WORDS: usize = 1000;

/// Words that are nearly all different are no categories where there are more of them than this.
const FEW: usize = 50;

/// Fewer numbers than this do not make a column one of numbers against its words.
const SOME: usize = 10;

/// What stands in a column.
#[derive(Default)]
struct Tally {
    numbers: usize,
    others: usize,
    commas: usize,
    truths: usize,
    /// The first row that holds no finite number.
    first: Option<usize>,
}

impl Tally {
    fn of(cells: &Cells, rows: Range<usize>, column: usize) -> Self {
        let mut tally = Self::default();
        for row in rows {
            let field = cells.at(row, column);
            if is_missing(field) {
                continue;
            }
            if number(field).is_some_and(f64::is_finite) {
                tally.numbers += 1;
                continue;
            }
            tally.first.get_or_insert(row);
            tally.others += 1;
            tally.commas += usize::from(has_comma(field));
            tally.truths += usize::from(truth(field).is_some());
        }
        tally
    }

    /// Whether these are numbers but for slips: commas in them, or a few words among many.
    fn is_numbers(&self) -> bool {
        self.commas == self.others || (self.numbers >= SOME && self.numbers >= 9 * self.others)
    }
}

/// What a column of features holds.
pub(super) fn kind(
    cells: &Cells,
    rows: Range<usize>,
    (column, name): (usize, &str),
    is_category: bool,
) -> Result<Kind, TableError> {
    let tally = Tally::of(cells, rows.clone(), column);
    if tally.numbers + tally.others == 0 {
        return Err(TableError::column(name, ColumnProblem::Nothing));
    }
    if !is_category {
        let Some(first) = tally.first else { return Ok(Kind::Number) };
        let wrong = |row: usize| Err(TableError::value(cells.line(row), name, not_a_number(cells.at(row, column))));
        if tally.is_numbers() {
            return wrong(first);
        }
        if tally.truths == tally.others && tally.numbers == 0 {
            return Ok(Kind::Boolean);
        }
        let infinite = |row: &usize| number(cells.at(*row, column)).is_some_and(|value| !value.is_finite());
        // Words may be anything, but infinity among numbers is none.
        if let Some(row) = rows.clone().find(infinite).filter(|_| tally.numbers > 0) {
            return wrong(row);
        }
    }
    let words = words(cells, rows.clone(), column);
    let (different, filled) = (words.len(), tally.numbers + tally.others);
    let example = || cells.at(tally.first.unwrap_or(rows.start), column).to_owned();
    if different > FEW && 10 * different >= 9 * filled {
        let problem = ColumnProblem::Identifiers { different, rows: rows.len(), example: example() };
        return Err(TableError::column(name, problem));
    }
    if different > MOST_WORDS {
        return Err(TableError::column(name, ColumnProblem::TooMany { different, most: MOST_WORDS, example: example() }));
    }
    Ok(Kind::Category(words.into_iter().map(str::to_owned).collect()))
}

/// What is wrong with what should be a number.
pub(super) fn not_a_number(field: &str) -> ValueProblem {
    match number(field) {
        Some(value) if !value.is_finite() => ValueProblem::NotFinite(field.to_owned()),
        _ if has_comma(field) => ValueProblem::Comma(field.to_owned()),
        _ => ValueProblem::Word(field.to_owned()),
    }
}

/// The different words of a column, ascending.
fn words(cells: &Cells, rows: Range<usize>, column: usize) -> BTreeSet<&str> {
    rows.map(|row| cells.at(row, column)).filter(|field| !is_missing(field)).collect()
}

/// What the target is: numbers, or words that become 0, 1, 2, … in ascending order.
pub(super) fn target(cells: &Cells, rows: Range<usize>, (column, name): (usize, &str)) -> Result<Target, TableError> {
    if let Some(row) = rows.clone().find(|&row| is_missing(cells.at(row, column))) {
        return Err(TableError::value(cells.line(row), name, ValueProblem::NoLabel));
    }
    let tally = Tally::of(cells, rows.clone(), column);
    let Some(first) = tally.first else { return Ok(Target { name: name.to_owned(), names: Vec::new() }) };
    if tally.is_numbers() {
        return Err(TableError::value(cells.line(first), name, not_a_number(cells.at(first, column))));
    }
    let words = words(cells, rows.clone(), column);
    let different = words.len();
    if different > FEW && 10 * different >= 9 * rows.len() {
        let problem = ColumnProblem::Labels { different, rows: rows.len(), example: cells.at(first, column).to_owned() };
        return Err(TableError::column(name, problem));
    }
    Ok(Target { name: name.to_owned(), names: words.into_iter().map(str::to_owned).collect() })
}
