//! The fields of a table as text, row by row.

use super::error::TableError;
use crate::run::{Cancelled, RunControl};
use csv::{ByteRecord, ReaderBuilder};
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
}

impl Cells {
    /// Splits text at `delimiter`. Blank lines are skipped.
    pub(super) fn of(text: &str, delimiter: u8, control: &RunControl) -> Result<Self, TableError> {
        let mut cells = Self { text: String::with_capacity(text.len()), ..Self::default() };
        let mut records = Records::of(text, delimiter);
        while let Some(found) = records.next() {
            control.check(found as u64 * 64).map_err(|Cancelled| TableError::Cancelled)?;
            let line = records.line;
            if !cells.lines.is_empty() && found != cells.width {
                records.check_closed()?;
                let expected = cells.width;
                return Err(TableError::Ragged { line, found, expected, delimiter: char::from(delimiter) });
            }
            for field in &records.record {
                // The text is UTF-8 and the delimiter ASCII, so fields are UTF-8.
                cells.push(std::str::from_utf8(field).unwrap_or_default());
            }
            cells.end_row(line);
        }
        records.check_closed()?;
        Ok(cells)
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
            (0..self.width).for_each(|c| self.push(at(i, c)));
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

/// An iterator over the rows of a text.
pub(super) struct Records<'t> {
    text: &'t str,
    reader: csv::Reader<&'t [u8]>,
    delimiter: u8,
    record: ByteRecord,
    /// The start of the row, and its line.
    begin: usize,
    line: u64,
}

impl<'t> Records<'t> {
    pub(super) fn of(text: &'t str, delimiter: u8) -> Self {
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
        Self { text, reader, delimiter, record: ByteRecord::new(), begin: 0, line: 1 }
    }

    /// Reads the next row that is not blank; returns its number of fields.
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let place = self.reader.position().byte() as usize;
            // Reading from memory cannot fail.
            if !self.reader.read_byte_record(&mut self.record).unwrap_or(false) {
                return None;
            }
            // The reader includes preceding blank lines in a row.
            let blanks = self.text.as_bytes()[place..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.line += line_ends(&self.text.as_bytes()[self.begin..place + blanks]);
            self.begin = place + blanks;
            let is_blank = self.record.len() == 1 && self.record[0].iter().all(u8::is_ascii_whitespace);
            if !is_blank {
                return Some(self.record.len());
            }
        }
    }

    /// Checks that the last row ended outside of quotes: an unclosed quote extends to the end of
    /// the text.
    fn check_closed(&self) -> Result<(), TableError> {
        let (mut inside, mut begins) = (false, true);
        let mut bytes = self.text.as_bytes()[self.begin..].iter().peekable();
        while let Some(&byte) = bytes.next() {
            if inside {
                inside = byte != b'"' || bytes.next_if(|next| **next == b'"').is_some();
            } else {
                inside = begins && byte == b'"';
                begins = byte == self.delimiter || matches!(byte, b'\r' | b'\n');
            }
        }
        if inside { Err(TableError::Unclosed { line: self.line }) } else { Ok(()) }
    }
}

/// The number of line ends of any kind: `\n`, `\r\n`, `\r`.
fn line_ends(bytes: &[u8]) -> u64 {
    let ends = |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    (0..bytes.len()).filter(|&at| ends(at)).count() as u64
}
