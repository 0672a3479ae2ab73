//! The rows of a text: where they begin, and how their fields are separated.

use super::blanks::without_blanks;
use super::records::{Records, most_frequent};
use super::sniff;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Number of rows that are examined.
const ROWS: usize = 1000;

/// Largest number of rows before the header that are skipped without an option.
const TITLES: usize = 30;

/// The rows of a text.
#[derive(Debug)]
pub(super) struct Body<'t> {
    /// The text as the reader of fields takes it, with the same line ends.
    pub(super) text: Cow<'t, str>,
    pub(super) delimiter: u8,
    /// The first line of the text, from 1.
    pub(super) line: u64,
}

/// The shape of one of the first rows.
struct RowShape {
    begin: usize,
    line: u64,
    fields: usize,
    /// Number of fields that are not empty.
    filled: usize,
    is_comment: bool,
    /// It is empty, or only its first field is filled, with words.
    is_title: bool,
    /// The first two fields, if they are whole numbers and the others are words.
    counts: Option<[usize; 2]>,
}

impl<'t> Body<'t> {
    /// Finds the rows: after `skip` lines, or after Excel's `sep=;`, comments and titles.
    pub(super) fn of(text: &'t str, delimiter: Option<u8>, skip: Option<usize>) -> Self {
        if let Some(lines) = skip {
            let rest = after_lines(text, lines);
            return Self::from(rest, delimiter.unwrap_or_else(|| sniff::delimiter(rest)), lines as u64 + 1);
        }
        let named = separator_line(text);
        let (rest, line) = if named.is_some() { (after_lines(text, 1), 2) } else { (text, 1) };
        let delimiter = delimiter.or(named).unwrap_or_else(|| sniff::delimiter(rest));
        let body = Self::from(rest, delimiter, line);
        let Some((begin, line)) = end_of_titles(&body) else { return body };
        let text = match body.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[begin..]),
            Cow::Owned(text) => Cow::Owned(text[begin..].to_owned()),
        };
        Self { text, delimiter, line }
    }

    fn from(text: &'t str, delimiter: u8, line: u64) -> Self {
        let mut text = without_blanks(text, delimiter);
        if lacks_name_of_rows(&text, delimiter) {
            text = Cow::Owned(format!("\"\"{}{text}", char::from(delimiter)));
        }
        Self { text, delimiter, line }
    }
}

/// Returns whether the first row is a header of R, which has no name for the column of row names:
/// words, and one field fewer than every other row, whose first fields are all different.
fn lacks_name_of_rows(text: &str, delimiter: u8) -> bool {
    let mut records = Records::of(text, delimiter, 1);
    let Some(width) = records.next().filter(|fields| *fields > 1) else { return false };
    let is_word = |field: &[u8]| std::str::from_utf8(field).is_ok_and(|field| !super::words::looks_numeric(field.trim()));
    if !records.record.iter().all(is_word) {
        return false;
    }
    let (mut names, mut has_last) = (BTreeSet::new(), false);
    while names.len() < ROWS {
        match records.next() {
            Some(fields) if fields == width + 1 && names.insert(records.record[0].to_vec()) => {
                has_last |= !records.record[width].trim_ascii().is_empty();
            }
            Some(_) => return false,
            None => break,
        }
    }
    // Delimiters at the ends of rows begin no fields.
    names.len() > 1 && has_last
}

/// The text after some lines.
fn after_lines(text: &str, lines: usize) -> &str {
    text.split_inclusive('\n').take(lines).fold(text, |rest, line| &rest[line.len()..])
}

/// The delimiter of a first line such as `sep=;`.
fn separator_line(text: &str) -> Option<u8> {
    let line = text.lines().next()?.trim_matches(['\u{20}', '\r', '"']);
    let value = line.get(..4).filter(|begin| begin.eq_ignore_ascii_case("sep=")).map(|_| &line.as_bytes()[4..])?;
    match value {
        [byte] if !byte.is_ascii_alphanumeric() && byte.is_ascii() => Some(*byte),
        b"\\t" => Some(b'\t'),
        _ => None,
    }
}

/// The first row after comments and titles, and its line; none if the first row is one of the
/// table.
///
/// Titles are plain: rows of another length or of one field, and the line with which
/// scikit-learn's files begin (numbers of rows and features, names of classes).
fn end_of_titles(body: &Body) -> Option<(usize, u64)> {
    let mut records = Records::of(&body.text, body.delimiter, body.line);
    let mut rows = Vec::new();
    while rows.len() < ROWS && records.next().is_some() {
        rows.push(RowShape::of(&records));
    }
    let is_whole = rows.len() < ROWS;
    let width = most_frequent(rows.iter().map(|row| row.fields));
    let alike = |rows: &[RowShape]| rows.iter().filter(|row| row.fields == width).count();
    if width < 2 || alike(&rows) < 2 {
        return None;
    }
    let is_title = |i: usize| {
        let row = &rows[i];
        let next = || rows[i..].iter().find(|row| row.filled > 1);
        let is_padded = || row.is_title && width > 2 && next().is_some_and(|next| 2 * next.filled > width);
        if row.fields == width { is_padded() } else { row.filled <= 1 || row.is_comment }
    };
    let counts_rows =
        |row: &RowShape| row.counts.is_some_and(|[count, features]| features + 1 == width && is_whole && count + 1 == rows.len());
    let titles = (0..rows.len().min(TITLES)).take_while(|&i| is_title(i) || (i == 0 && counts_rows(&rows[0]))).count();
    let first = rows.get(titles).filter(|_| titles > 0 && alike(&rows[titles..]) > 1)?;
    Some((first.begin, first.line))
}

impl RowShape {
    fn of(records: &Records) -> Self {
        let fields: Vec<&str> =
            records.record.iter().map(|field| std::str::from_utf8(field).unwrap_or_default().trim()).collect();
        let counts = match &fields[..] {
            [rows, features, names @ ..] if names.len() > 1 && names.iter().all(|name| !super::words::looks_numeric(name)) => {
                rows.parse().ok().zip(features.parse().ok()).map(|(rows, features)| [rows, features])
            }
            _ => None,
        };
        let filled = fields.iter().filter(|field| !field.is_empty()).count();
        let is_words = |field: &&str| !field.is_empty() && !super::words::looks_numeric(field);
        Self {
            begin: records.begin,
            line: records.line,
            fields: fields.len(),
            filled,
            is_title: filled == 0 || (filled == 1 && fields.first().is_some_and(is_words)),
            is_comment: fields.first().is_some_and(|field| field.starts_with(['#', '%'])),
            counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (String, char, u64) {
        let body = Body::of(text, None, None);
        (body.text.into_owned(), char::from(body.delimiter), body.line)
    }

    #[test]
    fn rows_before_the_header_are_skipped_where_they_are_plain() {
        assert_eq!(found("sep=;\na;y\n1;0\n2;1\n"), ("a;y\n1;0\n2;1\n".to_owned(), ';', 2));
        assert_eq!(found("\"SEP=\\t\"\r\na\ty\n"), ("a\ty\n".to_owned(), '\t', 2));
        assert_eq!(found("Weights of 2020\n\na,y\n1,0\n2,1\n"), ("a,y\n1,0\n2,1\n".to_owned(), ',', 3));
        assert_eq!(found("# a, b, c\n#\na,y\n1,0\n2,1\n"), ("a,y\n1,0\n2,1\n".to_owned(), ',', 3));
        assert_eq!(found("Title,,\n,,\na,b,y\n1,2,0\n"), ("a,b,y\n1,2,0\n".to_owned(), ',', 3));
        let iris = "3,2,no,yes\n1.5,2.5,0\n1,2,1\n3,2,1\n";
        assert_eq!(found(iris), (iris[11..].to_owned(), ',', 2));
        // A header of other length may be a fault, and one count may be a row.
        for text in ["a,b\n1,2,3\n1,5,6\n", "#a,y\n1,0\n2,1\n", "2,1,no,yes\n1.5,2.5,0\n1,2,1\n3,2,1\n", "a\n1\n2\n"] {
            assert_eq!(found(text), (text.to_owned(), ',', 1));
        }
        // R writes row names and no name for them.
        assert_eq!(found("x,y\n1,2,0\n2,5,1\n"), ("\"\",x,y\n1,2,0\n2,5,1\n".to_owned(), ',', 1));
        assert_eq!(found("x y\na 2 0\nb 5 1\n"), ("\"\" x y\na 2 0\nb 5 1\n".to_owned(), ' ', 1));
        for ragged in ["x,y\n1,2,\n2,5,\n", "x,y\n1,2,0\n1,5,1\n", "x,y\n1,2,0\n2,5\n", "x,1\n1,2,0\n2,5,1\n"] {
            assert_eq!(found(ragged).0, ragged);
        }
        let body = Body::of("x\ny,z\na,y\n1,0\n", None, Some(2));
        assert_eq!((&body.text[..], body.line), ("a,y\n1,0\n", 3));
    }
}
