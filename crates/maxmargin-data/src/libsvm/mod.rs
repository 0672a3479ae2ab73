//! LIBSVM-format text: `label [qid:group] index:value index:value …`, one row a line.

mod chunk;
mod error;
mod merge;
mod write;

pub use error::{Problem, ReadError};
pub use write::write;

use crate::dataset::Dataset;
use crate::run::par::Par;
use crate::run::{Asking, Halted};
pub(crate) use chunk::MAX_INDEX;
use chunk::{Chunk, parse_chunk};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Bytes of text in one piece of work: long enough to pay for a task, short enough to share out
/// well.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of text between two questions whether to go on: a tenth of a second or so on one thread.
const STRETCH_BYTES: usize = 1 << 25;

/// How a file numbers its features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexBase {
    /// From 0 if any row uses index 0, otherwise from 1.
    #[default]
    Auto,
    /// From 0.
    Zero,
    /// From 1; index 0 is an error.
    One,
}

/// What [`parse`] accepts beyond the ordinary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// How features are numbered.
    pub index_base: IndexBase,
    /// Sort the indices of a row that are out of order, instead of refusing them. Repeated indices
    /// are refused always.
    pub sort: bool,
    /// Leave [`Dataset::sha256`] zero: hashing costs about as much as parsing.
    pub skip_hash: bool,
}

/// Reads LIBSVM-format text.
///
/// Accepted beyond what LIBSVM documents: comments from `#` to the end of the line, `qid:3` after
/// the label ([`Dataset::groups`]), CRLF line ends, a byte order mark, a missing last line end,
/// blank lines at the very end, several blanks or tabs. A row may be a label alone. Stored zeros
/// count for the number of features and are otherwise dropped. The samples are in the form that
/// [`crate::Samples::compact`] chooses.
///
/// Numbers are rounded correctly. The result, errors included, is the same whatever `par` is.
///
/// # Errors
///
/// The first fault in file order, with its line and column, or that there are no rows.
pub fn parse(bytes: &[u8], options: &ReadOptions, par: Par) -> Result<Dataset, ReadError> {
    parse_asking(bytes, options, par, &Asking::nobody())
}

/// [`parse`], asking between stretches of the text whether to go on.
///
/// # Errors
///
/// As [`parse`], and [`ReadError::Halted`] when it was called off.
pub fn parse_asking(bytes: &[u8], options: &ReadOptions, par: Par, asking: &Asking) -> Result<Dataset, ReadError> {
    parse_in_chunks(bytes, *options, par, CHUNK_BYTES, STRETCH_BYTES, asking)
}

fn parse_in_chunks(
    bytes: &[u8],
    options: ReadOptions,
    par: Par,
    chunk_bytes: usize,
    stretch_bytes: usize,
    asking: &Asking,
) -> Result<Dataset, ReadError> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let ranges = split_lines(text, chunk_bytes);
    let hash_tasks = usize::from(!options.skip_hash);
    let mut chunks = Vec::with_capacity(ranges.len());
    let mut hash = Some(Sha256::new()).filter(|_| !options.skip_hash);
    hash.iter_mut().for_each(|hash| hash.update(&bytes[..bytes.len() - text.len()]));
    for stretch in ranges.chunks((stretch_bytes / chunk_bytes).max(1)) {
        asking.ask().map_err(|Halted| ReadError::Halted)?;
        let all = stretch[0].start..stretch[stretch.len() - 1].end;
        // The hash is the longest task: it goes first, so that the other threads parse meanwhile.
        let pieces = par.map(stretch.len() + hash_tasks, |task| {
            if task < hash_tasks {
                return Piece::Hash(hash.clone().map(|hash| Box::new(hash.chain_update(&text[all.clone()]))));
            }
            Piece::Rows(Box::new(parse_chunk(&text[stretch[task - hash_tasks].clone()], options)))
        });
        for piece in pieces {
            match piece {
                Piece::Hash(so_far) => hash = so_far.map(|hash| *hash),
                Piece::Rows(chunk) => chunks.push(*chunk),
            }
        }
    }
    asking.ask().map_err(|Halted| ReadError::Halted)?;
    let sha256 = hash.map_or([0; 32], |hash| hash.finalize().into());
    if let Some(error) = merge::first_error(text, &ranges, &chunks) {
        return Err(error);
    }
    merge::dataset(chunks, options, sha256, par, asking).map_err(|Halted| ReadError::Halted)
}

/// The line, from 1, of row `row`, from 0: they differ where lines are comments alone.
pub fn line_of_row(bytes: &[u8], row: usize) -> Option<u64> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let is_row = |line: &[u8]| line.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|first| *first != b'#');
    let mut rows = text.split(|b| *b == b'\n').enumerate().filter(|(_, line)| is_row(line));
    rows.nth(row).map(|(at, _)| at as u64 + 1)
}

enum Piece {
    /// Of all text up to here.
    Hash(Option<Box<Sha256>>),
    Rows(Box<Chunk>),
}

/// Cuts `text` into ranges of whole lines: range `k` holds the lines that begin in bytes `k·size ..
/// (k+1)·size`.
fn split_lines(text: &[u8], size: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(text.len() / size + 1);
    let mut begin = 0;
    let mut boundary = size;
    while begin < text.len() {
        let mut end = text.len();
        if boundary < text.len() {
            // A line begins at `boundary` if the byte before is a line end.
            let from = begin.max(boundary - 1);
            end = text[from..].iter().position(|b| *b == b'\n').map_or(text.len(), |at| from + at + 1);
        }
        ranges.push(begin..end);
        begin = end;
        while boundary <= begin {
            boundary += size;
        }
    }
    ranges
}

#[cfg(test)]
mod tests;
