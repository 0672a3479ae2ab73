//! A first column that looks more like the target than the last one.

use super::options::LikelierTarget;
use super::sheet::Sheet;
use super::words::number;
use crate::dataset::{Column, ColumnKind, MissingWords};
use std::collections::BTreeSet;

/// Largest number of different values of a column that looks like classes.
const CLASSES: usize = 20;

/// Smallest mean number of rows of each of these values.
const ROWS_EACH: usize = 3;

/// Returns the first column if it holds few words or few whole numbers, and the last one, which was
/// taken, fractions or more different numbers than classes have.
pub(super) fn first_column(sheet: &Sheet, first: &Column, last: usize, words: &MissingWords) -> Option<LikelierTarget> {
    let values = |column: usize| -> BTreeSet<&str> { sheet.values(column, words).collect() };
    let (of_first, of_last) = (values(0), values(last));
    let numbers = |values: &BTreeSet<&str>| values.iter().map(|value| number(value)).collect::<Option<Vec<f64>>>();
    let is_whole = |number: &f64| number.fract() == 0.0;
    let has_words = !matches!(first.kind, ColumnKind::Number);
    let is_few = (2..=CLASSES).contains(&of_first.len()) && ROWS_EACH * of_first.len() <= sheet.rows.len();
    let like_classes = is_few && (has_words || numbers(&of_first)?.iter().all(is_whole));
    let of_last_numbers = numbers(&of_last)?;
    let like_values = of_last_numbers.len() > CLASSES || (of_last_numbers.len() > 2 && !of_last_numbers.iter().all(is_whole));
    (like_classes && like_values && !words.is_verbatim(&sheet.names[last])).then(|| LikelierTarget {
        column: first.name.clone(),
        different: of_first.len(),
        of_last: of_last.len(),
        has_words,
    })
}
