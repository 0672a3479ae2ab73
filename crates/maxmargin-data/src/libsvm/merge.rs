//! Merges the chunks in file order into a data set, or finds the first error.

use super::chunk::{Chunk, Fault, Place, word_end};
use super::error::{LineProblem, ReadError};
use super::{IndexBase, ReadOptions};
use crate::dataset::Dataset;
use crate::run::par::Par;
use crate::run::{Cancelled, RunControl};
use crate::samples::{Samples, Storage, prefers_dense};
use crate::text::quote::quoted;
use sprs::CsMatI;
use std::ops::Range;

/// Largest number of characters of quoted text in errors.
const QUOTED: usize = 40;

/// Chunks that each thread copies between two checks for cancellation.
pub(super) const TOGETHER: usize = 16;

/// The first error in file order.
pub(super) fn first_error(text: &[u8], ranges: &[Range<usize>], chunks: &[Chunk]) -> Option<ReadError> {
    let mut lines_before = 0;
    // Blank lines are an error only before a row, possibly of a later chunk.
    let mut blank: Option<(usize, usize)> = None;
    let mut grouped: Option<bool> = None;
    for (range, chunk) in ranges.iter().zip(chunks) {
        let report = |fault: Fault| {
            let Fault { place: Place { line, at }, problem } = fault;
            Some(error(text, range.start + at, lines_before + line, problem))
        };
        let has_data = !chunk.labels.is_empty() || chunk.fault.is_some();
        if let Some((line, at)) = blank.filter(|_| has_data) {
            return Some(error(text, at, line, LineProblem::BlankLine));
        }
        if let Some(fault) = mixed_groups(chunk, &mut grouped).or(chunk.fault) {
            return report(fault);
        }
        blank = blank.or(chunk.blank.map(|place| (lines_before + place.line, range.start + place.at)));
        lines_before += chunk.lines;
    }
    chunks.iter().all(|chunk| chunk.labels.is_empty()).then_some(ReadError::Empty)
}

/// The first row with a group if the first row of the file has none, or without one otherwise. It
/// always precedes the chunk's own fault, because the reader records a row's group before its
/// features.
fn mixed_groups(chunk: &Chunk, grouped: &mut Option<bool>) -> Option<Fault> {
    let (with, without) = (chunk.first_with_group, chunk.first_without_group);
    let expected = *grouped.get_or_insert(match (with, without) {
        (Some(with), Some(without)) => with.at < without.at,
        (None, None) => return None,
        (with, None) => with.is_some(),
        (None, Some(_)) => false,
    });
    let place = if expected { without } else { with };
    place.map(|place| Fault { place, problem: LineProblem::MixedGroups { here: !expected } })
}

fn error(text: &[u8], at: usize, lines_before: usize, problem: LineProblem) -> ReadError {
    let line_start = text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    let (line, column) = (lines_before as u64 + 1, (at - line_start) as u64 + 1);
    if problem == LineProblem::BlankLine {
        return ReadError::Line { line, column, text: String::new(), problem };
    }
    let word = &text[at..word_end(text, at)];
    if word.iter().any(u8::is_ascii_control) {
        return ReadError::Binary { line, column };
    }
    let text = quoted(&String::from_utf8_lossy(word), QUOTED);
    ReadError::Line { line, column, text, problem }
}

/// A chunk and the parts of the result that it fills.
struct Job<'a, T> {
    chunk: Chunk,
    parts: T,
    /// Number of entries of earlier chunks.
    before: usize,
    offsets: &'a mut [usize],
}

/// Merges chunks without faults, of which at least one has a row.
pub(super) fn dataset(
    mut chunks: Vec<Chunk>,
    options: ReadOptions,
    sha256: [u8; 32],
    par: Par,
    control: &RunControl,
) -> Result<Dataset, Cancelled> {
    let rows = chunks.iter().map(|c| c.labels.len()).sum();
    let entries = chunks.iter().map(|c| c.values.len()).sum();
    let max_index = chunks.iter().filter_map(|c| c.max_index).max();
    let index_base = match options.index_base {
        IndexBase::Auto => u32::from(!chunks.iter().any(|c| c.has_index_zero)),
        IndexBase::Zero => 0,
        IndexBase::One => 1,
    };
    let features = max_index.map_or(0, |max| (max - index_base) as usize + 1);
    let single = !chunks.iter().any(|c| c.needs_double);
    let mut labels = Vec::with_capacity(rows);
    let mut groups = Vec::new();
    for chunk in &mut chunks {
        labels.append(&mut chunk.labels);
        groups.append(&mut chunk.groups);
    }
    let merge = Merge { rows, features, entries, index_base, par, control };
    let storage = if !prefers_dense(rows, features, entries, single) {
        merge.sparse(chunks)?
    } else if single {
        Storage::Dense32(merge.dense(chunks, |v| v as f32)?)
    } else {
        Storage::Dense64(merge.dense(chunks, |v| v)?)
    };
    let samples = Samples::from_parts(rows, features, storage);
    let groups = (!groups.is_empty()).then_some(groups);
    Ok(Dataset { samples, labels, groups, index_base, sha256, columns: None })
}

/// The shape of the result, and the means to build it.
struct Merge<'r, 'a> {
    rows: usize,
    features: usize,
    entries: usize,
    index_base: u32,
    par: Par,
    control: &'r RunControl<'a>,
}

impl Merge<'_, '_> {
    /// Copies the chunks into a dense matrix.
    fn dense<T: Copy + Default + Send>(
        &self,
        chunks: Vec<Chunk>,
        convert: impl Fn(f64) -> T + Sync,
    ) -> Result<Vec<T>, Cancelled> {
        let (rows, features, base) = (self.rows, self.features, self.index_base);
        let mut values = vec![T::default(); rows * features];
        let mut rest = &mut values[..];
        let mut jobs = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let (part, tail) = rest.split_at_mut(chunk.ends.len() * features);
            rest = tail;
            jobs.push((chunk, part));
        }
        self.each_job(&mut jobs, |(chunk, part)| {
            // Taking the chunk frees its memory after its rows are copied.
            let chunk = std::mem::take(chunk);
            let mut begin = 0;
            for (row, end) in chunk.ends.iter().enumerate() {
                let row = &mut part[row * features..(row + 1) * features];
                for (index, value) in chunk.indices[begin..*end].iter().zip(&chunk.values[begin..*end]) {
                    row[(index - base) as usize] = convert(*value);
                }
                begin = *end;
            }
        })?;
        Ok(values)
    }

    /// Copies the chunks into compressed rows.
    fn sparse(&self, chunks: Vec<Chunk>) -> Result<Storage, Cancelled> {
        let (rows, features, entries, base) = (self.rows, self.features, self.entries, self.index_base);
        let mut offsets = vec![0; rows + 1];
        let mut indices = vec![0; entries];
        let mut values = vec![0.0; entries];
        let (mut offsets_left, mut indices_left, mut values_left) = (&mut offsets[1..], &mut indices[..], &mut values[..]);
        let mut before = 0;
        let mut jobs = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let count = chunk.values.len();
            let (offsets, tail) = offsets_left.split_at_mut(chunk.ends.len());
            offsets_left = tail;
            let (indices, tail) = indices_left.split_at_mut(count);
            indices_left = tail;
            let (values, tail) = values_left.split_at_mut(count);
            values_left = tail;
            jobs.push(Job { chunk, parts: (indices, values), before, offsets });
            before += count;
        }
        self.each_job(&mut jobs, |job| {
            let chunk = std::mem::take(&mut job.chunk);
            job.offsets.iter_mut().zip(&chunk.ends).for_each(|(o, end)| *o = job.before + end);
            job.parts.0.iter_mut().zip(&chunk.indices).for_each(|(j, index)| *j = index - base);
            job.parts.1.copy_from_slice(&chunk.values);
        })?;
        Ok(Storage::Sparse(CsMatI::new((rows, features), offsets, indices, values)))
    }

    /// Runs one job per chunk, with checks for cancellation between groups of them.
    fn each_job<J: Send>(&self, jobs: &mut [J], job: impl Fn(&mut J) + Sync) -> Result<(), Cancelled> {
        for jobs in jobs.chunks_mut(TOGETHER * self.par.threads()) {
            self.control.check_now()?;
            self.par.for_chunks(jobs, 1, |_, jobs| jobs.iter_mut().for_each(&job));
        }
        Ok(())
    }
}
