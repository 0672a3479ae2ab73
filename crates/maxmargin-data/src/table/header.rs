//! Detection of a header.

use super::cells::Cells;
use super::words::{is_mark, is_missing, looks_numeric, number};

/// Number of rows that are examined.
const ROWS: usize = 1000;

/// Usual names of targets.
pub(super) const TARGETS: [&str; 4] = ["target", "label", "class", "y"];

/// The decision on the header, and whether it is ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) is_there: bool,
    /// The first row has numbers that could be names or values.
    pub(super) is_doubtful: bool,
}

/// The first field of a column, compared with the fields after it.
struct FirstField {
    number: Option<f64>,
    /// The field is neither a number nor missing.
    is_word: bool,
    /// The first field occurs again.
    comes_again: bool,
    below: OtherFields,
}

/// The fields after the first one.
#[derive(Default)]
struct OtherFields {
    numbers: usize,
    words: usize,
    least: f64,
    greatest: f64,
    fractions: usize,
    /// The numbers increase by one.
    counts_up: bool,
}

impl OtherFields {
    fn of<'a>(fields: impl Iterator<Item = &'a str>) -> Self {
        let mut below = Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, counts_up: true, ..Self::default() };
        let mut last: Option<f64> = None;
        for field in fields.filter(|field| !is_missing(field) && !is_mark(field)) {
            if !looks_numeric(field) {
                below.words += 1;
                continue;
            }
            below.numbers += 1;
            let Some(value) = number(field) else { continue };
            (below.least, below.greatest) = (below.least.min(value), below.greatest.max(value));
            below.fractions += usize::from(value.fract() != 0.0);
            below.counts_up &= last.is_none_or(|last| value == last + 1.0);
            last = Some(value);
        }
        below
    }

    fn is_numeric(&self) -> bool {
        self.numbers > 0 && self.numbers >= self.words
    }
}

impl FirstField {
    fn of(cells: &Cells, rows: &[usize], c: usize) -> Self {
        let field = cells.at(0, c);
        let below = OtherFields::of(rows.iter().map(|&row| cells.at(row, c)));
        let is_number = looks_numeric(field);
        let is_word = !is_number && !is_missing(field);
        let comes_again = rows.iter().any(|&row| cells.at(row, c) == field);
        Self { number: number(field), is_word, comes_again, below }
    }

    /// Returns whether the first field is a word before numbers, and not one of the words among
    /// them.
    fn is_name_of_numbers(&self) -> bool {
        self.is_word && !self.comes_again && self.below.is_numeric()
    }

    /// Returns whether the first field is a number that does not suit the column: outside of its
    /// range, a whole number if at least half of the column are fractions, or before words.
    fn differs_from_column(&self) -> bool {
        let OtherFields { least, greatest, fractions, numbers, .. } = self.below;
        let outside = |value: f64| value < least || value > greatest;
        let differs = |value: f64| outside(value) || (2 * fractions >= numbers && value.fract() == 0.0);
        self.number.is_some_and(|value| !self.below.is_numeric() || differs(value))
    }
}

/// Compares the first row with the following ones, column by column.
///
/// A first row without numbers is a header if a column has numbers after its word, or if none of
/// its words occurs again. A first row with numbers is a header in these cases:
/// - a word precedes numbers, and the numbers of the row ascend or descend, or are at most as many
///   as such words, or one of these words is a usual name of targets;
/// - there are words, none of which occurs again, and two or more consecutive numbers, or three or
///   more with equal differences;
/// - there are only the numbers 0, 1, 2, … in this order, and most of them do not suit their
///   columns, or the first field is empty and precedes an index.
pub(super) fn find(cells: &Cells) -> Header {
    let rows = cells.rows().min(ROWS);
    if rows == 0 {
        return Header { is_there: false, is_doubtful: false };
    }
    let numeric = (0..cells.width()).filter(|&c| looks_numeric(cells.at(0, c))).count();
    // Files that were joined repeat their header.
    let below: Vec<usize> = (1..rows).filter(|&row| numeric > 0 || !cells.repeats(row, 0)).collect();
    let tops: Vec<FirstField> = (0..cells.width()).map(|c| FirstField::of(cells, &below, c)).collect();
    let words = || tops.iter().filter(|top| top.is_word);
    if numeric == 0 {
        let is_there = words().any(|top| top.below.numbers > 0 && top.below.words == 0) || words().all(|top| !top.comes_again);
        return Header { is_there, is_doubtful: false };
    }
    let numbers: Vec<f64> = tops.iter().filter_map(|top| top.number).collect();
    let follow = |step: f64| numbers.windows(2).all(|pair| pair[1] == pair[0] + step);
    let ordered = numbers.is_sorted_by(|a, b| a < b) || numbers.is_sorted_by(|a, b| a > b);
    let names = tops.iter().filter(|top| top.is_name_of_numbers()).count();
    let is_target =
        |c: usize| tops[c].is_name_of_numbers() && TARGETS.iter().any(|name| cells.at(0, c).eq_ignore_ascii_case(name));
    let new_words = words().next().is_some() && words().all(|top| !top.comes_again);
    let strangers = tops.iter().filter(|top| top.differs_from_column()).count();
    let index = cells.at(0, 0).is_empty() && rows > 2 && tops[0].below.words == 0 && tops[0].below.counts_up;
    let over_numbers =
        names > 0 && numbers.len() == numeric && (ordered || names >= numeric || (0..cells.width()).any(is_target));
    let even = numbers.len() > 2 && follow(numbers[1] - numbers[0]) && numbers[0] != numbers[1];
    let among_words = new_words && numbers.len() > 1 && (follow(1.0) || even) && rows > 2;
    let counted = numbers.len() > 1 && numbers[0] == 0.0 && follow(1.0);
    let alone = words().next().is_none() && counted && (index || 2 * strangers > numeric);
    let is_there = over_numbers || among_words || alone;
    let could_be = names > 0 || (strangers > 0 && follow(1.0) && (counted || numbers.len() > 2));
    Header { is_there, is_doubtful: is_there || could_be }
}
