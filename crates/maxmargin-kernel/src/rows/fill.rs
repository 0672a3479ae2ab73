//! Rows computed in blocks: cut into pieces that threads share, symmetric halves copied.

use super::{Rows, SINGLE_VALUE};
use crate::block::Block;
use maxmargin_data::{Asking, Halted};
use maxmargin_simd::transpose::transpose;
use std::ops::Range;
use std::time::Instant;

/// Columns that are copied from rows already held, at once.
const MIRROR_COLUMNS: usize = 512;
/// Blocks with fewer entries are computed on the calling thread.
const SMALL: usize = 1 << 14;

/// A piece of a block of rows: `rows` index the block, every slice of `out` holds `columns` of one row.
struct Piece<'b> {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Copied from rows that are held, by symmetry.
    mirrored: bool,
    out: Vec<&'b mut [f32]>,
}

impl Rows<'_> {
    /// Fills `out`, one slice per row of `ids`, in pieces of fixed size.
    pub(super) fn compute<'b>(
        &self,
        ids: &[usize],
        out: impl Iterator<Item = &'b mut [f32]>,
        mirror: bool,
        asking: &Asking,
    ) -> Result<(), Halted> {
        let begun = Instant::now();
        let n = self.gram.len();
        let tile = self.gram.tile();
        let cuts = self.cuts(n, tile.columns.max(1), mirror);
        let mut pieces = Vec::new();
        let mut out: Vec<&mut [f32]> = out.collect();
        for (chunk, slices) in out.chunks_mut(tile.rows.max(1)).enumerate() {
            let first = chunk * tile.rows.max(1);
            let rows = first..first + slices.len();
            let mut rests: Vec<&mut [f32]> = slices.iter_mut().map(std::mem::take).collect();
            for (columns, mirrored) in &cuts {
                let out = rests.iter_mut().map(|rest| rest.split_off_mut(..columns.len()).unwrap_or_default()).collect();
                pieces.push(Piece { rows: rows.clone(), columns: columns.clone(), mirrored: *mirrored, out });
            }
        }
        let work = |piece: &mut Piece| {
            let ids = &ids[piece.rows.clone()];
            if piece.mirrored {
                self.mirror(ids, piece.columns.clone(), &mut piece.out);
            } else {
                self.gram.fill_rows(ids, piece.columns.clone(), &mut piece.out);
            }
        };
        let mut done = Ok(());
        if ids.len() * n < SMALL {
            pieces.iter_mut().for_each(work);
        } else {
            // What all threads do between two questions.
            let entries = tile.rows.max(1).saturating_mul(tile.columns.max(1)).min(ids.len() * n) as u64;
            let group = (Asking::piece() / (SINGLE_VALUE * entries)).max(1) as usize * self.par.threads();
            for pieces in pieces.chunks_mut(group) {
                done = asking.spend(SINGLE_VALUE * entries * pieces.len().div_ceil(self.par.threads()) as u64);
                if done.is_err() {
                    break;
                }
                self.par.for_chunks(pieces, 1, |_, pieces| pieces.iter_mut().for_each(work));
            }
        }
        self.count_time(begun);
        done
    }

    /// The column ranges of the pieces, and whether each is mirrored: all rows of the same numbers are held.
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

    /// `out[r][j] = K[columns[j], ids[r]]`, from rows that are held.
    fn mirror(&self, ids: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        let sources: Vec<&[f32]> = columns.map(|j| self.resident(j).unwrap_or_default()).collect();
        for (c, sources) in sources.chunks(16).enumerate() {
            let mut done = 0;
            while done < ids.len() {
                // Runs of consecutive rows are columns that lie side by side.
                let run = ids[done..].iter().zip(ids[done]..).take_while(|(i, next)| *i == next).count();
                transpose(sources, ids[done], &mut out[done..done + run], 16 * c);
                done += run;
            }
        }
    }

    /// Computes one row on the calling thread.
    pub(super) fn fill(&self, i: usize, block: &mut Block) {
        let begun = Instant::now();
        self.gram.fill(&[i], 0..self.gram.len(), block.values_mut());
        self.count_time(begun);
    }
}
