//! A column that looks more like the target than the one that was taken.

use super::options::LikelierTarget;
use super::sheet::Sheet;
use super::words::number;
use crate::dataset::{Column, ColumnKind, MissingWords};
use std::collections::BTreeSet;

/// Largest number of different values of a column that looks like classes.
const CLASSES: usize = 20;

/// Smallest mean number of rows of each of these values.
const ROWS_EACH: usize = 3;

/// Returns this column if it holds few words or few whole numbers, and the one that was taken,
/// fractions or more different numbers than classes have.
pub(super) fn likelier(
    sheet: &Sheet,
    other: &Column,
    place: usize,
    taken: usize,
    words: &MissingWords,
) -> Option<LikelierTarget> {
    let values = |column: usize| -> BTreeSet<&str> { sheet.values(column, words).collect() };
    let (of_other, of_taken) = (values(place), values(taken));
    let numbers = |values: &BTreeSet<&str>| values.iter().map(|value| number(value)).collect::<Option<Vec<f64>>>();
    let is_whole = |number: &f64| number.fract() == 0.0;
    let has_words = !matches!(other.kind, ColumnKind::Number);
    let is_few = (2..=CLASSES).contains(&of_other.len()) && ROWS_EACH * of_other.len() <= sheet.rows.len();
    let like_classes = is_few && (has_words || numbers(&of_other)?.iter().all(is_whole));
    let taken_numbers = numbers(&of_taken)?;
    let like_values = taken_numbers.len() > CLASSES || (taken_numbers.len() > 2 && !taken_numbers.iter().all(is_whole));
    (like_classes && like_values && !words.is_verbatim(&sheet.names[taken])).then(|| LikelierTarget {
        column: other.name.clone(),
        different: of_other.len(),
        of_taken: of_taken.len(),
        has_words,
    })
}
