//! Blocks of rows: cut into pieces for the threads, symmetric halves copied.

use super::Rows;
use super::block::{Block, BlockMut};
use crate::Gram;
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_simd::row::RowSlice;
use maxmargin_simd::transpose::transpose;
use std::ops::Range;
use std::time::Instant;

/// Columns per piece that is copied from stored rows.
const MIRROR_COLUMNS: usize = 512;
/// Blocks with fewer entries are computed by the calling thread.
const SMALL: usize = 1 << 14;

/// A piece of a block of rows: `rows` are positions in the block, each slice of `out` receives
/// `columns` of one row.
struct Piece<'b, T> {
    rows: Range<usize>,
    columns: Range<usize>,
    /// The piece is copied from stored rows, by symmetry.
    mirrored: bool,
    out: Vec<&'b mut [T]>,
}

/// An element of stored rows: a value or a code.
trait RowElement: Copy + Send + Sync {
    /// Computes `K[ids, columns]`.
    fn fill(gram: &dyn Gram, ids: &[usize], columns: Range<usize>, out: &mut [&mut [Self]]);
    /// Copies `K[ids, columns]` from stored rows, by symmetry.
    fn mirror(rows: &Rows, ids: &[usize], columns: Range<usize>, out: &mut [&mut [Self]]);
}

impl RowElement for f32 {
    fn fill(gram: &dyn Gram, ids: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        gram.fill_rows(ids, columns, out);
    }

    fn mirror(rows: &Rows, ids: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        rows.mirror(ids, columns, out);
    }
}

/// Codes are computed instead of copied: both cost the same.
impl RowElement for u8 {
    fn fill(gram: &dyn Gram, ids: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        gram.fill_codes(ids, columns, out);
    }

    fn mirror(rows: &Rows, ids: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        rows.gram().fill_codes(ids, columns, out);
    }
}

impl Rows<'_> {
    /// Fills `out`, buffers of one or more rows of `ids` each, in pieces of a fixed size.
    pub(super) fn compute<'b>(
        &self,
        ids: &[usize],
        out: impl Iterator<Item = BlockMut<'b>>,
        mirror: bool,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        let n = self.gram().len().max(1);
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for buffer in out {
            match buffer {
                BlockMut::Values(buffer) => values.extend(buffer.chunks_exact_mut(n)),
                BlockMut::Codes(buffer) => codes.extend(buffer.chunks_exact_mut(n)),
            }
        }
        if codes.is_empty() { self.compute_as(ids, values, mirror, control) } else { self.compute_as(ids, codes, false, control) }
    }

    fn compute_as<T: RowElement>(
        &self,
        ids: &[usize],
        mut out: Vec<&mut [T]>,
        mirror: bool,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        let begun = Instant::now();
        let n = self.gram().len();
        let tile = self.gram().tile();
        let cuts = self.cuts(n, tile.columns_of_piece(ids.len()), mirror);
        let mut pieces = Vec::new();
        for (chunk, slices) in out.chunks_mut(tile.rows.max(1)).enumerate() {
            let first = chunk * tile.rows.max(1);
            let rows = first..first + slices.len();
            let mut rests: Vec<&mut [T]> = slices.iter_mut().map(std::mem::take).collect();
            for (columns, mirrored) in &cuts {
                let out = rests.iter_mut().map(|rest| rest.split_off_mut(..columns.len()).unwrap_or_default()).collect();
                pieces.push(Piece { rows: rows.clone(), columns: columns.clone(), mirrored: *mirrored, out });
            }
        }
        let work = |piece: &mut Piece<T>| {
            let ids = &ids[piece.rows.clone()];
            if piece.mirrored {
                T::mirror(self, ids, piece.columns.clone(), &mut piece.out);
            } else {
                T::fill(self.gram(), ids, piece.columns.clone(), &mut piece.out);
            }
        };
        let mut done = Ok(());
        if ids.len() * n < SMALL {
            pieces.iter_mut().for_each(work);
        } else {
            // A group is the work of all threads between two checks for cancellation.
            let per_value = self.gram().value_operations();
            let entries = tile.rows.max(1).saturating_mul(tile.columns.max(1)).min(ids.len() * n) as u64;
            let group = (RunControl::operations_between_checks() / (per_value * entries)).max(1) as usize * self.par.threads();
            for pieces in pieces.chunks_mut(group) {
                done = control.check(per_value * entries * pieces.len().div_ceil(self.par.threads()) as u64);
                if done.is_err() {
                    break;
                }
                self.par.for_chunks(pieces, 1, |_, pieces| pieces.iter_mut().for_each(work));
            }
        }
        self.count_time(begun);
        done
    }

    /// The column ranges of the pieces, each with a flag: true if all rows with these numbers are
    /// stored, so that the piece can be copied.
    fn cuts(&self, n: usize, width: usize, mirror: bool) -> Vec<(Range<usize>, bool)> {
        let mut cuts: Vec<(Range<usize>, bool)> = Vec::new();
        if !mirror {
            return (0..n).step_by(width).map(|start| (start..n.min(start.saturating_add(width)), false)).collect();
        }
        for start in (0..n).step_by(MIRROR_COLUMNS) {
            let columns = start..n.min(start + MIRROR_COLUMNS);
            let held = columns.clone().all(|j| self.resident(j).is_some());
            match cuts.last_mut() {
                Some((last, false)) if !held && columns.end - last.start <= width => last.end = columns.end,
                _ => cuts.push((columns, held)),
            }
        }
        cuts
    }

    /// Copies `out[r][j] = K[columns[j], ids[r]]` from stored rows.
    fn mirror(&self, ids: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        let sources: Vec<&[f32]> = columns
            .map(|j| match self.resident(j).map(|row| row.held()) {
                Some(RowSlice::Values(values)) => values,
                _ => &[],
            })
            .collect();
        for (c, sources) in sources.chunks(16).enumerate() {
            let mut done = 0;
            while done < ids.len() {
                // A run of consecutive rows is a range of adjacent columns of the sources.
                let run = ids[done..].iter().zip(ids[done]..).take_while(|(i, next)| *i == next).count();
                transpose(sources, ids[done], &mut out[done..done + run], 16 * c);
                done += run;
            }
        }
    }

    /// Computes one row on the calling thread.
    pub(super) fn fill(&self, i: usize, block: &mut Block) {
        let begun = Instant::now();
        match block.contents_mut() {
            BlockMut::Values(values) => self.gram().fill(&[i], 0..self.gram().len(), values),
            BlockMut::Codes(codes) => self.gram().fill_codes(&[i], 0..self.gram().len(), &mut [codes]),
        }
        self.count_time(begun);
    }
}
