//! Numbers of the fields: samples, labels, and what was not known.

use super::cells::Cells;
use super::columns::{Columns, Kind};
use super::error::{TableError, ValueProblem, listed};
use super::infer::not_a_number;
use super::words::{is_missing, number, truth};
use crate::asking::{Asking, Halted};
use crate::samples::Samples;
use std::ops::Range;

/// What becomes of missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gaps {
    /// They are marked, and somebody fills them in.
    Keep,
    /// The first is an error.
    Refuse,
    /// The first is an error, and the model is the reason.
    NotImputed,
}

/// A column in which words stood that the model has not seen: they are none of its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWords {
    /// The name of the column.
    pub column: String,
    /// Rows with such words.
    pub rows: usize,
    /// The first such word.
    pub example: String,
    /// The line on which its row begins.
    pub line: u64,
}

/// The fields of `rows` as samples: column `c` of `columns` stands at `places[c]` of the table.
pub(super) fn samples(
    cells: &Cells,
    rows: Range<usize>,
    (columns, places): (&Columns, &[usize]),
    gaps: Gaps,
    asking: &Asking,
) -> Result<(Samples, Vec<UnknownWords>), TableError> {
    let mut unknown: Vec<Option<UnknownWords>> = vec![None; places.len()];
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    offsets.push(0);
    let (mut indices, mut values): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut missing, mut has_gaps) = (Vec::new(), false);
    for row in rows {
        asking.spend(places.len() as u64 * 64).map_err(|Halted| TableError::Halted)?;
        for (c, (column, &place)) in columns.features().iter().zip(places).enumerate() {
            let field = cells.at(row, place);
            let wrong = |problem| Err(TableError::value(cells.line(row), &column.name, problem));
            let begin = columns.features_of(c).start;
            if is_missing(field) {
                match gaps {
                    Gaps::Keep => missing.push(columns.gap(c)),
                    Gaps::Refuse => return wrong(ValueProblem::Missing),
                    Gaps::NotImputed => return wrong(ValueProblem::NotImputed),
                }
                continue;
            }
            let (at, value) = match &column.kind {
                Kind::Number => match finite(field) {
                    Ok(value) => (begin, value),
                    Err(problem) => return wrong(problem),
                },
                Kind::Boolean => match truth(field) {
                    Some(truth) => (begin, f64::from(u8::from(truth))),
                    None => return wrong(ValueProblem::other(field, &column.kind)),
                },
                Kind::Category(words) => {
                    if let Some(word) = place_of(words, field) {
                        (begin + word, 1.0)
                    } else {
                        let (name, line) = (&column.name, cells.line(row));
                        let first = || UnknownWords { column: name.clone(), rows: 0, example: field.to_owned(), line };
                        unknown[c].get_or_insert_with(first).rows += 1;
                        continue;
                    }
                }
            };
            if value != 0.0 {
                indices.push(at as u32);
                values.push(value);
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
    // Features ascend in a row, values are finite, and there are fewer than 2^32 features.
    let samples = Samples::from_sparse(features, offsets, indices, values).map_err(|_| TableError::Empty)?;
    Ok((samples.compact(), unknown.into_iter().flatten().collect()))
}

/// The labels of `rows` where `names` are the words that are known: a number each. Words that are not known follow these, in ascending order, where they are
/// taken at all.
pub(super) fn labels(
    cells: &Cells,
    rows: Range<usize>,
    (column, name): (usize, &str),
    names: &[String],
    takes_unknown: bool,
) -> Result<Vec<f64>, TableError> {
    let mut new: Vec<&str> = Vec::new();
    if !names.is_empty() && takes_unknown {
        new.extend(rows.clone().map(|row| cells.at(row, column)).filter(|field| place_of(names, field).is_none()));
        new.sort_unstable();
        new.dedup();
    }
    let label = |row: usize| {
        let field = cells.at(row, column);
        let wrong = |problem| Err(TableError::value(cells.line(row), name, problem));
        if is_missing(field) {
            return wrong(ValueProblem::NoLabel);
        }
        if names.is_empty() {
            return finite(field).or_else(wrong);
        }
        let known = place_of(names, field).or_else(|| Some(names.len() + new.binary_search(&field).ok()?));
        match known {
            Some(place) => Ok(place as f64),
            None => {
                wrong(ValueProblem::UnknownLabel { value: field.to_owned(), known: listed(names.iter().map(String::as_str)) })
            }
        }
    };
    rows.map(label).collect()
}

/// The number that a field of a column of numbers holds.
fn finite(field: &str) -> Result<f64, ValueProblem> {
    number(field).filter(|value| value.is_finite()).ok_or_else(|| match not_a_number(field) {
        ValueProblem::Word(_) => ValueProblem::other(field, &Kind::Number),
        problem => problem,
    })
}

/// The place of a word among words in ascending order.
fn place_of(names: &[String], field: &str) -> Option<usize> {
    names.binary_search_by(|name| name[..].cmp(field)).ok()
}
