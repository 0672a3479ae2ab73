//! Decimal commas: the columns of numbers that have them.

use super::cells::Cells;
use super::words::{could_be_thousands, has_comma, has_decimal_comma, is_mark, is_missing, number};
use std::ops::Range;

/// Returns those of `columns` whose commas are decimal ones. Unless `is_asked`, there are none in a
/// table whose commas could all separate thousands.
pub(super) fn columns(cells: &Cells, rows: &Range<usize>, columns: &[usize], is_asked: bool) -> Vec<usize> {
    let mut is_certain = is_asked;
    let mut has_decimal_commas = |&column: &usize| {
        let (mut numbers, mut commas, mut others, mut certain) = (0, 0, 0, false);
        for field in rows.clone().map(|row| cells.at(row, column)) {
            if has_decimal_comma(field) {
                commas += 1;
                certain |= !could_be_thousands(field);
            } else if has_comma(field) || (number(field).is_some() && field.contains('.')) {
                // Points and commas in one column: no notation is certain.
                return false;
            } else if number(field).is_some() {
                numbers += 1;
            } else {
                others += usize::from(!is_missing(field) && !is_mark(field));
            }
        }
        let is_column = commas > 0 && numbers + commas >= others;
        is_certain |= is_column && certain;
        is_column
    };
    let found: Vec<usize> = columns.iter().copied().filter(&mut has_decimal_commas).collect();
    if is_certain { found } else { Vec::new() }
}
