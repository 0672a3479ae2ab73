//! Parses whole lines of text into separate arrays, which the caller merges.

use super::error::{LineProblem, MAX_INDEX};
use super::{IndexBase, ReadOptions};
use crate::samples::is_single;
use crate::text::number::{digits, short_decimal};

/// A position in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Number of earlier lines of the chunk.
    pub(super) line: usize,
    /// The byte offset in the chunk.
    pub(super) at: usize,
}

/// The first fault of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) place: Place,
    pub(super) problem: LineProblem,
}

/// The rows of a chunk, up to its first fault.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) labels: Vec<f64>,
    /// The groups of the rows that have one.
    pub(super) groups: Vec<u64>,
    /// The end of each row in `indices`.
    pub(super) ends: Vec<usize>,
    /// The indices of the file.
    pub(super) indices: Vec<u32>,
    /// The nonzero values.
    pub(super) values: Vec<f64>,
    /// The greatest index, including stored zeros.
    pub(super) max_index: Option<u32>,
    pub(super) has_index_zero: bool,
    /// A value is not exact in `f32`.
    pub(super) needs_double: bool,
    pub(super) lines: usize,
    pub(super) first_with_group: Option<Place>,
    pub(super) first_without_group: Option<Place>,
    /// The first of the blank lines after the last row.
    pub(super) blank: Option<Place>,
    pub(super) fault: Option<Fault>,
}

/// Parses the lines of `text`, up to the first fault.
pub(super) fn parse_chunk(text: &[u8], options: ReadOptions) -> Chunk {
    let mut chunk = Chunk::default();
    // A feature takes at least four bytes of text (`1:1 `). The estimate avoids most reallocations.
    chunk.indices.reserve(text.len() / 6);
    chunk.values.reserve(text.len() / 6);
    let mut at = 0;
    let mut scratch = Vec::new();
    while at < text.len() {
        match chunk.line(text, at, options, &mut scratch) {
            Ok(next) => at = next,
            Err(fault) => {
                chunk.fault = Some(fault);
                break;
            }
        }
        chunk.lines += 1;
    }
    chunk
}

/// A feature of an unsorted row: index, value, position in the text.
type Unordered = (u32, f64, usize);

impl Chunk {
    /// Parses the line at `start`; returns the start of the next line.
    #[inline]
    fn line(&mut self, text: &[u8], start: usize, options: ReadOptions, scratch: &mut Vec<Unordered>) -> Result<usize, Fault> {
        let line = self.lines;
        let fault = |at, problem| Fault { place: Place { line, at }, problem };
        let mut at = skip_blanks(text, start);
        match peek(text, at) {
            b'\n' => {
                self.blank.get_or_insert(Place { line, at: start });
                return Ok(at + 1);
            }
            b'#' => return Ok(line_end(text, at) + 1),
            _ => {}
        }
        if let Some(place) = self.blank {
            return Err(Fault { place, problem: LineProblem::BlankLine });
        }
        let label_at = at;
        let (label, end) = number(text, at).map_err(|_| fault(at, label_problem(text, at)))?;
        at = skip_blanks(text, end);
        let has_group = text[at.min(text.len())..].starts_with(b"qid:");
        let first = if has_group { &mut self.first_with_group } else { &mut self.first_without_group };
        first.get_or_insert(Place { line, at: label_at });
        if has_group {
            let (group, end) = group(text, at + 4).ok_or(fault(at, LineProblem::BadGroup))?;
            self.groups.push(group);
            at = skip_blanks(text, end);
        }
        let (next, problem) = if options.sort {
            let (end, problem) = unordered_features(text, at, scratch);
            match self.push_sorted(scratch, options) {
                Some((at, repeated)) => (at, Some(repeated)),
                None => (end, problem),
            }
        } else {
            self.features(text, at, options)
        };
        if let Some(problem) = problem {
            return Err(fault(next, problem));
        }
        self.labels.push(label);
        self.ends.push(self.indices.len());
        Ok(next)
    }

    /// Parses features to the end of the line. Returns the start of the next line, or the position
    /// of a fault and the fault.
    #[inline]
    fn features(&mut self, text: &[u8], start: usize, options: ReadOptions) -> (usize, Option<LineProblem>) {
        let mut at = start;
        // One more than the previous index, so that 0 is the smallest possible one.
        let mut least: u64 = 0;
        loop {
            match peek(text, at) {
                b'\n' => break,
                b'#' => {
                    at = line_end(text, at);
                    break;
                }
                _ => {}
            }
            let (index, value, end) = match feature(text, at) {
                Ok(feature) => feature,
                Err(problem) => return (at, Some(problem)),
            };
            if u64::from(index) < least {
                let row = self.ends.last().copied().unwrap_or(0);
                let previous = (least - 1) as u32;
                let known = index == previous || self.indices[row..].contains(&index);
                return (at, Some(if known { LineProblem::Repeated } else { LineProblem::Unsorted { previous } }));
            }
            if index == 0 {
                if options.index_base == IndexBase::One {
                    return (at, Some(LineProblem::ZeroIndex));
                }
                self.has_index_zero = true;
            }
            least = u64::from(index) + 1;
            self.push(index, value);
            at = skip_blanks(text, end);
        }
        if least > 0 {
            self.max_index = self.max_index.max(Some((least - 1) as u32));
        }
        (at + 1, None)
    }

    #[inline]
    fn push(&mut self, index: u32, value: f64) {
        if value != 0.0 {
            self.needs_double |= !is_single(value);
            self.indices.push(index);
            self.values.push(value);
        }
    }

    /// Adds a row in index order. Returns the first feature in text order with a repeated or
    /// forbidden index.
    fn push_sorted(&mut self, row: &mut [Unordered], options: ReadOptions) -> Option<(usize, LineProblem)> {
        row.sort_by_key(|&(index, _, at)| (index, at));
        let repeated = row.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[1].2, LineProblem::Repeated));
        let zero =
            row.first().filter(|f| f.0 == 0 && options.index_base == IndexBase::One).map(|f| (f.2, LineProblem::ZeroIndex));
        let first = repeated.chain(zero).min_by_key(|(at, _)| *at);
        if first.is_none() {
            self.has_index_zero |= row.first().is_some_and(|f| f.0 == 0);
            self.max_index = self.max_index.max(row.last().map(|f| f.0));
            for &(index, value, _) in &*row {
                self.push(index, value);
            }
        }
        first
    }
}

/// Parses features in any order to the end of the line or the first fault; returns like
/// [`Chunk::features`].
fn unordered_features(text: &[u8], start: usize, row: &mut Vec<Unordered>) -> (usize, Option<LineProblem>) {
    row.clear();
    let mut at = start;
    loop {
        match peek(text, at) {
            b'\n' => return (at + 1, None),
            b'#' => return (line_end(text, at) + 1, None),
            _ => {}
        }
        match feature(text, at) {
            Ok((index, value, end)) => {
                row.push((index, value, at));
                at = skip_blanks(text, end);
            }
            Err(problem) => return (at, Some(problem)),
        }
    }
}

/// Parses `index:value` at `at`: index, value and the position after it.
#[inline]
fn feature(text: &[u8], at: usize) -> Result<(u32, f64, usize), LineProblem> {
    let (index, count) = digits(text, at);
    let end = at + count;
    if count == 0 || text.get(end) != Some(&b':') {
        return Err(feature_problem(text, at));
    }
    // Ten digits suffice for any index; more than 19 could wrap.
    let index = if count > 19 { u64::MAX } else { index };
    let index = u32::try_from(index).ok().filter(|i| *i <= MAX_INDEX).ok_or(LineProblem::IndexTooLarge)?;
    let (value, end) = number(text, end + 1)?;
    Ok((index, value, end))
}

/// Parses a finite number before a blank, a comment or the end of the line.
#[inline]
fn number(text: &[u8], at: usize) -> Result<(f64, usize), LineProblem> {
    match short_decimal(text, at) {
        Some((value, end)) if is_end(peek(text, end)) => Ok((value, end)),
        _ => long_number(text, at),
    }
}

/// Parses numbers that the fast path cannot: exponents, many digits. Refuses other words.
#[cold]
#[inline(never)]
fn long_number(text: &[u8], at: usize) -> Result<(f64, usize), LineProblem> {
    let end = word_end(text, at);
    let word = &text[at.min(end)..end];
    if word.is_empty() {
        return Err(LineProblem::MissingValue);
    }
    let value: f64 = fast_float2::parse(word).map_err(|_| LineProblem::BadValue)?;
    if value.is_finite() { Ok((value, end)) } else { Err(LineProblem::NotFinite) }
}

/// Parses the integer of `qid:`.
fn group(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let end = word_end(text, at);
    let word = std::str::from_utf8(&text[at..end]).ok().filter(|word| !word.starts_with('+'))?;
    Some((word.parse().ok()?, end))
}

/// The problem of a word at `at` that is not a label.
#[cold]
fn label_problem(text: &[u8], at: usize) -> LineProblem {
    let word = &text[at..word_end(text, at)];
    let line = &text[at..line_end(text, at)];
    if fast_float2::parse::<f64, _>(word).is_ok() {
        LineProblem::NotFinite
    } else if word.contains(&b':') {
        LineProblem::MissingLabel
    } else if word.iter().any(|b| matches!(b, b',' | b';')) {
        if line.contains(&b':') { LineProblem::MultiLabel } else { LineProblem::Separated }
    } else {
        LineProblem::BadLabel
    }
}

/// The problem of a word at `at` that does not begin with an index and a colon.
#[cold]
fn feature_problem(text: &[u8], at: usize) -> LineProblem {
    let word = &text[at..word_end(text, at)];
    let index = word.split(|b| *b == b':').next().unwrap_or(word);
    let has_colon = index.len() < word.len();
    if word.starts_with(b"qid:") {
        LineProblem::LateGroup
    } else if has_colon && index.len() > 1 && index[0] == b'-' && index[1..].iter().all(u8::is_ascii_digit) {
        LineProblem::NegativeIndex
    } else if !has_colon && fast_float2::parse::<f64, _>(word).is_ok() {
        LineProblem::MissingValue
    } else {
        LineProblem::BadFeature
    }
}

/// The byte at `at`, or a line end beyond the text.
#[inline]
fn peek(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b'\n')
}

#[inline]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0B | 0x0C)
}

/// Returns whether this byte ends a word.
#[inline]
fn is_end(byte: u8) -> bool {
    is_blank(byte) || byte == b'\n' || byte == b'#'
}

#[inline]
fn skip_blanks(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while is_blank(peek(text, at)) {
        at += 1;
    }
    at
}

/// The end of the word at `at`.
pub(super) fn word_end(text: &[u8], at: usize) -> usize {
    text.iter().skip(at).position(|b| is_end(*b)).map_or(text.len(), |length| at + length)
}

/// The line end at or after `at` (or the end of the text).
fn line_end(text: &[u8], at: usize) -> usize {
    text.iter().skip(at).position(|b| *b == b'\n').map_or(text.len(), |length| at + length)
}
