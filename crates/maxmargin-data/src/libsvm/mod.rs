//! LIBSVM's text format: one row `label [qid:group] index:value index:value …` per line.

mod chunk;
mod error;
mod merge;
mod write;

pub use error::{LineProblem, ReadError};
pub use write::write;

use crate::dataset::Dataset;
use crate::run::par::Par;
use crate::run::{Cancelled, RunControl};
use chunk::{Chunk, parse_chunk};
pub(crate) use error::MAX_INDEX;
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Bytes of text per task: large enough to outweigh its overhead, small enough to distribute
/// evenly.
const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of text between two checks for cancellation: about a tenth of a second on one thread.
const STRETCH_BYTES: usize = 1 << 25;

/// The number of the first feature in a file.
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

/// Options of [`parse`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The number of the first feature.
    pub index_base: IndexBase,
    /// Sorts indices of a row that do not ascend, instead of refusing them. Repeated indices are
    /// always refused.
    pub sort: bool,
    /// Leaves [`Dataset::sha256`] zero: hashing costs about as much as parsing.
    pub skip_hash: bool,
}

/// Parses text in LIBSVM's format.
///
/// In addition to LIBSVM's documentation it accepts comments from `#` to the end of the line,
/// `qid:3` after the label ([`Dataset::groups`]), CRLF line ends, a byte order mark, a missing last
/// line end, blank lines at the end, several blanks or tabs, and rows without features. Stored
/// zeros count for the number of features and are otherwise dropped. The samples have the form that
/// [`crate::Samples::compact`] chooses.
///
/// Numbers are rounded correctly. The result, including errors, does not depend on `par`.
///
/// # Errors
///
/// The first fault in file order, with its line and column, or that there are no rows, and
/// [`ReadError::Cancelled`] when `control` ends the run between two parts of the text.
pub fn parse(bytes: &[u8], options: &ReadOptions, par: Par, control: &RunControl) -> Result<Dataset, ReadError> {
    parse_in_chunks(bytes, *options, par, CHUNK_BYTES, STRETCH_BYTES, control)
}

fn parse_in_chunks(
    bytes: &[u8],
    options: ReadOptions,
    par: Par,
    chunk_bytes: usize,
    stretch_bytes: usize,
    control: &RunControl,
) -> Result<Dataset, ReadError> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let ranges = split_lines(text, chunk_bytes);
    let hash_tasks = usize::from(!options.skip_hash);
    let mut chunks = Vec::with_capacity(ranges.len());
    let mut hash = Some(Sha256::new()).filter(|_| !options.skip_hash);
    hash.iter_mut().for_each(|hash| hash.update(&bytes[..bytes.len() - text.len()]));
    for stretch in ranges.chunks((stretch_bytes / chunk_bytes).max(1)) {
        control.check_now().map_err(|Cancelled| ReadError::Cancelled)?;
        let all = stretch[0].start..stretch[stretch.len() - 1].end;
        // The hash is the longest task. It starts first, so that the other threads parse meanwhile.
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
    control.check_now().map_err(|Cancelled| ReadError::Cancelled)?;
    let sha256 = hash.map_or([0; 32], |hash| hash.finalize().into());
    if let Some(error) = merge::first_error(text, &ranges, &chunks) {
        return Err(error);
    }
    merge::dataset(chunks, options, sha256, par, control).map_err(|Cancelled| ReadError::Cancelled)
}

/// The line (from 1) of row `row` (from 0). They differ where lines contain only comments.
pub fn line_of_row(bytes: &[u8], row: usize) -> Option<u64> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let is_row = |line: &[u8]| line.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|first| *first != b'#');
    let mut rows = text.split(|b| *b == b'\n').enumerate().filter(|(_, line)| is_row(line));
    rows.nth(row).map(|(at, _)| at as u64 + 1)
}

enum Piece {
    /// The hash of all text so far.
    Hash(Option<Box<Sha256>>),
    Rows(Box<Chunk>),
}

/// Divides `text` into ranges of whole lines: range `k` contains the lines that begin in bytes
/// `k·size .. (k+1)·size`.
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
