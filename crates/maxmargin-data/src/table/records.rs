//! The rows of a text, each with its fields and its line.

use super::error::TableError;
use csv::{ByteRecord, ReaderBuilder};

/// An iterator over the rows of a text.
pub(super) struct Records<'t> {
    text: &'t str,
    reader: csv::Reader<&'t [u8]>,
    delimiter: u8,
    pub(super) record: ByteRecord,
    /// The start of the row, and its line.
    pub(super) begin: usize,
    pub(super) line: u64,
}

impl<'t> Records<'t> {
    /// The rows of a text that begins in this line of its file.
    pub(super) fn of(text: &'t str, delimiter: u8, line: u64) -> Self {
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
        Self { text, reader, delimiter, record: ByteRecord::new(), begin: 0, line }
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

    /// Whether each field of the row has quotes; empty if none has.
    pub(super) fn quotes(&self) -> Vec<bool> {
        let row = &self.text.as_bytes()[self.begin..self.reader.position().byte() as usize];
        if !row.contains(&b'"') {
            return Vec::new();
        }
        let (mut quotes, mut inside) = (vec![row[0] == b'"'], row[0] == b'"');
        let mut bytes = row.iter().skip(1).peekable();
        while let Some(&byte) = bytes.next() {
            // Two quotes in a quoted field are one quote, and end nothing.
            inside ^= byte == b'"' && quotes.last() == Some(&true);
            if byte == self.delimiter && !inside {
                inside = bytes.next_if(|next| **next == b'"').is_some();
                quotes.push(inside);
            }
        }
        quotes
    }

    /// Checks that the last row ended outside of quotes: an unclosed quote extends to the end of
    /// the text.
    pub(super) fn check_closed(&self) -> Result<(), TableError> {
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

/// The most frequent of some numbers; of equally frequent ones the greatest.
pub(super) fn most_frequent(numbers: impl Iterator<Item = usize>) -> usize {
    let mut sorted: Vec<usize> = numbers.collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).max_by_key(|chunk| chunk.len()).map_or(0, |chunk| chunk[0])
}
