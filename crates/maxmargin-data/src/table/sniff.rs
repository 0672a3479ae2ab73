//! Detection of the format of a text and of its delimiter from the first lines.

use super::blanks::without_blanks;
use super::encoding::decode;
use super::records::{Records, most_frequent};
use super::words::looks_numeric;
use std::borrow::Cow;

/// The delimiters that are tried. The comma is last, because it occurs in numbers and sentences.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Number of bytes and rows that are examined.
const BYTES: usize = 1 << 18;
const ROWS: usize = 1000;

/// Number of lines that are examined for the format.
const LINES: usize = 20;

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
    let begin = &bytes[..bytes.len().min(BYTES)];
    let shown = decode(begin).map_or_else(|_| String::from_utf8_lossy(begin), |(text, _)| text);
    let lines = shown.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.take(LINES).collect();
    // A line with only a label decides nothing. The first line that decides is used.
    let look = lines.iter().map(|line| of_line(line)).find(|look| *look != Look::Either);
    look.unwrap_or(if has_blank_columns(&lines) { Look::Table } else { Look::Either })
}

/// Returns whether the lines have the same number of words each, two or more, and none with a
/// colon. The header may lack the name of the row names.
fn has_blank_columns(lines: &[&str]) -> bool {
    let counts: Vec<usize> = lines.iter().map(|line| line.split_ascii_whitespace().count()).collect();
    are_columns(&counts) && lines.iter().all(|line| !line.contains(':'))
}

/// Returns whether rows with these numbers of fields have columns, two or more.
fn are_columns(counts: &[usize]) -> bool {
    let [first, others @ ..] = counts else { return false };
    let Some(usual) = others.first() else { return false };
    *usual > 1 && others.iter().all(|count| count == usual) && (first == usual || (first + 1 == *usual && *first > 1))
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
/// the one for which most rows have them. Blanks are delimiters where no other one is.
pub(super) fn delimiter(text: &str) -> u8 {
    let cut = (0..=text.len().min(BYTES)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let mut best = (0, None);
    for delimiter in DELIMITERS {
        let counts = field_counts(text, cut, delimiter);
        let usual = most_frequent(counts.iter().copied());
        let alike = if usual > 1 { counts.iter().filter(|&&count| count == usual).count() } else { 0 };
        if alike > 0 && alike == counts.len() {
            return delimiter;
        }
        if alike >= best.0 && alike > 0 {
            best = (alike, Some(delimiter));
        }
    }
    let by_blanks = || {
        // Words with colons are LIBSVM's format or times, and no plain columns.
        let counts = if text[..cut].contains(':') { Vec::new() } else { field_counts(text, cut, b' ') };
        are_columns(&counts)
    };
    best.1.unwrap_or_else(|| if by_blanks() { b' ' } else { b',' })
}

/// The number of fields of each of the first rows, in the text up to `cut`.
fn field_counts(text: &str, cut: usize, delimiter: u8) -> Vec<usize> {
    let shown: Cow<'_, str> = without_blanks(&text[..cut], delimiter);
    let mut records = Records::of(&shown, delimiter, 1);
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
    counts
}
