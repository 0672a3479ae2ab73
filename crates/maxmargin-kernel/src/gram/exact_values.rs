//! Exact values of a matrix, in memory: the rows that sums have needed.

use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::pages::{Pages, Piece};
use maxmargin_simd::row_sums::BLOCK;
use std::ops::Range;
use std::sync::OnceLock;

/// Rows that are computed together.
const TOGETHER: usize = 32;

/// The source of exact values: it computes `K[rows, columns]` in `f64`, row-major.
pub(crate) trait ComputeExact: Sync {
    fn compute_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]);

    /// Multiply-add operations of a value.
    fn operations(&self) -> u64;
}

/// The rows of a square matrix that were needed so far. Most samples never become support vectors,
/// and the first touch of memory costs as much as many values.
#[derive(Debug)]
pub(crate) struct ExactValues {
    rows: Box<[OnceLock<Piece>]>,
    pages: Pages,
}

impl ExactValues {
    /// No rows yet, of a matrix of `len` samples. The memory is from `pages`.
    pub(crate) fn new(len: usize, pages: &Pages) -> Self {
        Self { rows: (0..len).map(|_| OnceLock::new()).collect(), pages: pages.clone() }
    }

    /// Number of samples.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row of a sample, if it is kept: the values of all samples, and of whole blocks.
    #[inline]
    pub(crate) fn row(&self, sample: usize) -> Option<&[f64]> {
        self.rows[sample].get().map(|piece| bytemuck::cast_slice(piece))
    }

    /// Bytes of a row.
    fn row_bytes(len: usize) -> usize {
        // An odd number of cache lines: a column of lines is spread over all of a cache.
        8 * BLOCK * (len.div_ceil(BLOCK) | 1)
    }

    /// The most bytes that all rows take.
    pub(crate) fn most_bytes(len: usize) -> u64 {
        len as u64 * Self::row_bytes(len) as u64
    }

    /// Computes the rows of `samples` that are not kept. Threads that need the same row at the same
    /// time both compute it, and one of them is kept: no thread waits for another.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation.
    pub(crate) fn keep(
        &self,
        samples: impl Iterator<Item = usize>,
        source: &dyn ComputeExact,
        par: Par,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        let mut missing: Vec<usize> = samples.filter(|&sample| self.rows[sample].get().is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let len = self.len();
        let blocks: Vec<&[usize]> = missing.chunks(TOGETHER).collect();
        for blocks in blocks.chunks(par.threads()) {
            control.check(source.operations().saturating_mul((TOGETHER * blocks.len() * len) as u64))?;
            par.map(blocks.len(), |at| {
                let rows = blocks[at];
                let mut block = vec![0.0; rows.len() * len];
                source.compute_exact(rows, 0..len, &mut block);
                for (&sample, values) in rows.iter().zip(block.chunks_exact(len)) {
                    self.rows[sample].get_or_init(|| self.piece(values));
                }
            });
        }
        Ok(())
    }

    fn piece(&self, values: &[f64]) -> Piece {
        let mut piece = self.pages.take(Self::row_bytes(values.len()));
        bytemuck::cast_slice_mut(&mut piece)[..values.len()].copy_from_slice(values);
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The value of a pair is 1000 times its row plus its column; counts the computed rows.
    struct Numbers(AtomicUsize);

    impl ComputeExact for Numbers {
        fn compute_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
            self.0.fetch_add(rows.len(), Ordering::Relaxed);
            for (row, out) in rows.iter().zip(out.chunks_exact_mut(columns.len())) {
                columns.clone().zip(out).for_each(|(column, out)| *out = (1000 * row + column) as f64);
            }
        }

        /// So many that the control is asked at each block.
        fn operations(&self) -> u64 {
            1 << 40
        }
    }

    #[test]
    fn a_row_is_computed_when_it_is_needed_first() {
        let (source, pages) = (Numbers(AtomicUsize::new(0)), Pages::new());
        let values = ExactValues::new(300, &pages);
        let keep = |samples: Range<usize>| {
            values.keep(samples, &source, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            source.0.load(Ordering::Relaxed)
        };
        assert_eq!((keep(40..120), keep(100..130), keep(50..60)), (80, 90, 90));
        let kept: Vec<usize> = (0..300).filter(|&sample| values.row(sample).is_some()).collect();
        assert!(kept.iter().copied().eq(40..130));
        assert!(kept.iter().all(|&row| values.row(row).expect("kept")[299] == (1000 * row + 299) as f64));
        // A third of the rows takes a third of the memory, and the last mapping may be half empty.
        assert!(pages.bytes() < ExactValues::most_bytes(300), "{}", pages.bytes());
    }

    #[test]
    fn a_cancelled_run_computes_nothing() {
        let (source, values) = (Numbers(AtomicUsize::new(0)), ExactValues::new(200, &Pages::new()));
        let control = RunControl::new(|_| ControlFlow::Break(()));
        assert!(values.keep(0..200, &source, Par::Seq, &control).is_err());
        assert_eq!((source.0.into_inner(), (0..200).find(|&sample| values.row(sample).is_some())), (0, None));
    }
}
