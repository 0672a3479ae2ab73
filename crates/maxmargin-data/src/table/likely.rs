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
/// numbers with fractions or more of them than there are classes.
///
/// Most columns have too many values, or are words: the first rows tell, and the others are not
/// read.
pub(super) fn likelier(
    sheet: &Sheet,
    other: &Column,
    place: usize,
    taken: usize,
    words: &MissingWords,
) -> Option<LikelierTarget> {
    let has_words = !matches!(other.kind, ColumnKind::Number);
    let of_other = few_values(sheet.values(place, words))?;
    let is_whole = |text: &&str| number(text).is_some_and(|number| number.fract() == 0.0);
    let has_rows = of_other.len() > 1 && ROWS_EACH * of_other.len() <= sheet.rows.len();
    if !has_rows || !(has_words || of_other.iter().all(is_whole)) || words.is_verbatim(&sheet.names[taken]) {
        return None;
    }
    if sheet.values(taken, words).any(|text| number(text).is_none()) {
        return None;
    }
    let of_taken: BTreeSet<&str> = sheet.values(taken, words).collect();
    let like_values = of_taken.len() > CLASSES || (of_taken.len() > 2 && !of_taken.iter().all(is_whole));
    like_values.then(|| LikelierTarget {
        column: other.name.clone(),
        different: of_other.len(),
        of_taken: of_taken.len(),
        has_words,
    })
}

/// Returns the different values, unless there are more than classes have.
fn few_values<'a>(values: impl Iterator<Item = &'a str>) -> Option<BTreeSet<&'a str>> {
    let mut found = BTreeSet::new();
    for value in values {
        found.insert(value);
        if found.len() > CLASSES {
            return None;
        }
    }
    Some(found)
}
