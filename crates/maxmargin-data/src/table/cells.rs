//! The fields of a table as text, row by row.

use super::body::Body;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::encoding::without_marks;
use super::error::TableError;
use super::records::Records;
use super::words::{has_decimal_comma, is_mark, is_missing};
use crate::run::{Cancelled, RunControl};
use std::ops::Range;

/// All fields, without surrounding blanks, with the same number in each row.
#[derive(Debug, Default)]
pub(super) struct Cells {
    text: String,
    /// The end of each field in the text; the next field begins there.
    ends: Vec<usize>,
    /// The line on which each row begins, from 1.
    lines: Vec<u64>,
    width: usize,
    /// The fields that are words for missing values in quotes, in ascending order.
    quoted: Vec<usize>,
}

impl Cells {
    /// Splits the rows of a text. Blank lines are skipped.
    pub(super) fn of(body: &Body, control: &RunControl) -> Result<Self, TableError> {
        let Body { text, delimiter, line } = body;
        let delimiter = *delimiter;
        let mut cells = Self { text: String::with_capacity(text.len()), ..Self::default() };
        let mut records = Records::of(text, delimiter, *line);
        let mut has_bare_fields = false;
        while let Some(found) = records.next() {
            control.check(found as u64 * 64).map_err(|Cancelled| TableError::Cancelled)?;
            let line = records.line;
            let width = if cells.lines.is_empty() { found } else { cells.width };
            // Delimiters at the end of a row begin no field.
            let is_padded = found > width && records.record.iter().skip(width).all(|field| field.trim_ascii().is_empty());
            if found != width && !is_padded {
                records.check_closed()?;
                return Err(TableError::Ragged { line, found, expected: width, delimiter: char::from(delimiter) });
            }
            let quotes = records.quotes();
            for (c, field) in records.record.iter().enumerate().take(width) {
                // The text is UTF-8 and the delimiter ASCII, so fields are UTF-8.
                let field = std::str::from_utf8(field).unwrap_or_default().trim();
                if !quotes.get(c).is_some_and(|quoted| *quoted) {
                    has_bare_fields |= !cells.lines.is_empty() && !field.is_empty();
                } else if !field.is_empty() && (is_missing(field) || is_mark(field)) {
                    cells.quoted.push(cells.ends.len());
                }
                cells.push(field);
            }
            cells.end_row(line);
        }
        records.check_closed()?;
        // Where every field has quotes, they distinguish nothing.
        if !has_bare_fields {
            cells.quoted.clear();
        }
        Ok(cells)
    }

    /// Removes the last columns while they are empty in all rows, the header included.
    pub(super) fn remove_empty_end(&mut self) {
        let width = (1..=self.width).rev().find(|&width| (0..self.rows()).any(|row| !self.at(row, width - 1).is_empty()));
        let (old, width) = (self.width, width.unwrap_or(self.width));
        if width < old {
            self.ends = (0..self.rows() * old).filter(|k| k % old < width).map(|k| self.ends[k]).collect();
            self.quoted.iter_mut().for_each(|k| *k = *k / old * width + *k % old);
            self.width = width;
        }
    }

    /// Returns whether all fields of two rows are the same.
    pub(super) fn repeats(&self, row: usize, other: usize) -> bool {
        (0..self.width).all(|c| self.at(row, c) == self.at(other, c))
    }

    /// Returns whether the field is a word for missing values in quotes, in a table that quotes
    /// some fields: a word of its own.
    pub(super) fn is_quoted(&self, row: usize, column: usize) -> bool {
        !self.quoted.is_empty() && self.quoted.binary_search(&(row * self.width + column)).is_ok()
    }

    /// Returns whether quotes distinguish words of this column from missing values.
    pub(super) fn has_quoted(&self, column: usize) -> bool {
        self.quoted.iter().any(|k| k % self.width == column)
    }

    /// Writes the decimal commas of a column as points.
    pub(super) fn write_points(&mut self, column: usize, rows: Range<usize>) {
        for row in rows {
            let k = row * self.width + column;
            let begin = if k == 0 { 0 } else { self.ends[k - 1] };
            let field = &self.text[begin..self.ends[k]];
            if has_decimal_comma(field) {
                let at = begin + field.find(',').unwrap_or(0);
                self.text.replace_range(at..=at, ".");
            }
        }
    }

    /// Creates cells with a row of names, number 0; [`Self::push_rows`] adds the others.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn below(names: &[String]) -> Self {
        let mut cells = Self::default();
        names.iter().for_each(|name| cells.push(name));
        cells.end_row(0);
        cells
    }

    /// Adds rows with the following numbers. `at` returns the field of a row and a column.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn push_rows<'a>(&mut self, rows: usize, at: impl Fn(usize, usize) -> &'a str) {
        for i in 0..rows {
            (0..self.width).for_each(|c| self.push(&without_marks(at(i, c))));
            self.end_row(self.lines.len() as u64);
        }
    }

    /// Adds a field to the current row.
    pub(super) fn push(&mut self, field: &str) {
        self.text.push_str(field.trim());
        self.ends.push(self.text.len());
    }

    /// Finishes a row, which must have as many fields as the first.
    pub(super) fn end_row(&mut self, line: u64) {
        if self.lines.is_empty() {
            self.width = self.ends.len();
        }
        self.lines.push(line);
    }

    pub(super) fn rows(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The field of a row and a column.
    pub(super) fn at(&self, row: usize, column: usize) -> &str {
        let k = row * self.width + column;
        let begin = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.text[begin..self.ends[k]]
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.lines[row]
    }

    /// The lines of some rows.
    pub(super) fn lines(&self, rows: Range<usize>) -> Vec<u64> {
        self.lines[rows].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_at_the_ends_of_rows_begin_no_fields() {
        let cells = |text: &str| {
            let mut cells = Cells::of(&Body::of(text, None, None), &RunControl::unlimited())?;
            cells.remove_empty_end();
            let rows = (0..cells.rows()).map(|row| (0..cells.width()).map(|c| cells.at(row, c).to_owned()).collect());
            Ok::<Vec<Vec<String>>, TableError>(rows.collect())
        };
        let plain = cells("a,b,y\n1,2,0\n3,,1\n").expect("rows");
        for text in ["a,b,y,\n1,2,0,\n3,,1,\n", "a,b,y\n1,2,0,\n3,,1, ,\n", "a,b,y,,\n1,2,0,,\n3,,1,,\n"] {
            assert_eq!(cells(text).expect(text), plain, "{text:?}");
        }
        // A field there belongs to a column.
        assert_eq!(cells("a,b,y,\n1,2,0,5\n").expect("rows")[1].len(), 4);
        assert!(matches!(cells("a,b,y\n1,2,0\n1,2,0,5\n"), Err(TableError::Ragged { line: 3, found: 4, expected: 3, .. })));
        let quoted = "a,b,y,\n1,\"NA\",0,\n3,x,1,\n";
        let mut cells = Cells::of(&Body::of(quoted, None, None), &RunControl::unlimited()).expect("rows");
        cells.remove_empty_end();
        assert!(cells.is_quoted(1, 1) && !cells.is_quoted(2, 1));
    }
}
