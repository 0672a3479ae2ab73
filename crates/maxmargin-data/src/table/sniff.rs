//! Detection of the format of a text and of its delimiter from the first lines.

use super::cells::Records;
use super::words::looks_numeric;

/// The delimiters that are tried. The comma is last, because it occurs in numbers and sentences.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Number of bytes and rows that are examined.
const BYTES: usize = 1 << 18;
const ROWS: usize = 1000;

/// The format of a text by its contents, independently of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// `label index:value …`: LIBSVM's format.
    Libsvm,
    /// Fields between delimiters.
    Table,
    /// Words between tabs that could be `index:value` or times of day, or only labels.
    Either,
}

/// Detects the format of a text by its first lines.
///
/// ```
/// use maxmargin_data::table::{Look, look};
///
/// assert_eq!(look(b"+1 1:0.5 3:2\n"), Look::Libsvm);
/// assert_eq!(look(b"age,income\n31,2000\n"), Look::Table);
/// assert_eq!(look(b"7\t12:30\n"), Look::Either);
/// ```
pub fn look(bytes: &[u8]) -> Look {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(BYTES)]);
    let mut lines = shown.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|line| !line.is_empty());
    let mut looks = lines.by_ref().take(20).map(of_line);
    // A line with only a label decides nothing. The first line that decides is used.
    looks.find(|look| *look != Look::Either).unwrap_or(Look::Either)
}

fn of_line(line: &str) -> Look {
    let mut words = line.split_ascii_whitespace();
    let label = words.next().unwrap_or_default();
    let is_pair = |word: &str| {
        word.split_once(':').is_some_and(|(index, value)| {
            (index == "qid" || index.bytes().all(|b| b.is_ascii_digit())) && !index.is_empty() && !value.is_empty()
        })
    };
    let pairs = words.clone().count();
    // LIBSVM's format also separates several labels by commas.
    if pairs > 0 && words.all(is_pair) && label.split(',').all(looks_numeric) {
        return if line.contains('\t') { Look::Either } else { Look::Libsvm };
    }
    if line.bytes().any(|byte| DELIMITERS.contains(&byte)) { Look::Table } else { Look::Either }
}

/// Detects the delimiter: the first one that gives the first rows equal numbers of fields, or else
/// the one for which most rows have them.
pub(super) fn delimiter(text: &str) -> u8 {
    let cut = (0..=text.len().min(BYTES)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let shown = &text[..cut];
    let mut best = (0, b',');
    for delimiter in DELIMITERS {
        let mut records = Records::of(shown, delimiter);
        let mut counts = Vec::new();
        while let Some(fields) = records.next() {
            counts.push(fields);
            if counts.len() == ROWS {
                break;
            }
        }
        // The last row may be incomplete.
        if cut < text.len() && counts.len() > 1 && counts.len() < ROWS {
            counts.pop();
        }
        let first = counts.first().copied().unwrap_or(0);
        let alike = if first > 1 { counts.iter().filter(|&&count| count == first).count() } else { 0 };
        if alike > 0 && alike == counts.len() {
            return delimiter;
        }
        if alike >= best.0 && alike > 0 {
            best = (alike, delimiter);
        }
    }
    best.1
}
