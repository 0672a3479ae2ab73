//! A kernel matrix plus a constant: a bias term inside the kernel.

use super::distinct::Distinct;
use super::matrix::{Gram, Tile, indefiniteness};
use super::reference::GramRef;
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_simd::row::CodeTable;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A view of another Gram matrix with the entries `K_ij + offset`.
///
/// A constant of 1 acts like a feature with value 1 in every sample: the model's bias becomes one
/// of its weights and is regularised with them (the L2-SVM of Frandi et al. 2013, the linear SVMs
/// of LIBLINEAR).
///
/// ```
/// use maxmargin_kernel::{FnGram, Gram, OffsetGram};
///
/// let products = FnGram::new(3, |i, j| (i * j) as f64);
/// let with_bias = OffsetGram::new(&products, 1.0);
/// let mut row = [0.0; 3];
/// with_bias.fill(&[2], 0..3, &mut row);
/// assert_eq!(row, [1.0, 3.0, 5.0]);
/// ```
pub struct OffsetGram<'g> {
    gram: GramRef<'g>,
    offset: f64,
    diagonal: Vec<f64>,
    indefiniteness: OnceLock<f64>,
}

impl<'g> OffsetGram<'g> {
    /// The matrix `K + offset`. If the offset is NaN, so is every entry.
    pub fn new(gram: &'g dyn Gram, offset: f64) -> Self {
        let diagonal = gram.diagonal().iter().map(|k| k + offset).collect();
        Self { gram: GramRef::Borrowed(gram), offset, diagonal, indefiniteness: OnceLock::new() }
    }

    /// The constant.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The constant that is added to values in `f32`.
    fn offset_in_values(&self) -> f32 {
        if self.base() == 0.0 { self.offset as f32 } else { 0.0 }
    }
}

impl Gram for OffsetGram<'_> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn base(&self) -> f64 {
        // The offset is subtracted together with the base of the inner matrix.
        let base = self.gram.get().base();
        if base == 0.0 { 0.0 } else { base + self.offset }
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        self.gram.get().fill(rows, columns, out);
        let offset = self.offset_in_values();
        out.iter_mut().for_each(|k| *k += offset);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        self.gram.get().fill_exact(rows, columns, out);
        out.iter_mut().for_each(|k| *k += self.offset);
    }

    fn fill_rows(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        self.gram.get().fill_rows(rows, columns, out);
        let offset = self.offset_in_values();
        out.iter_mut().for_each(|row| row.iter_mut().for_each(|k| *k += offset));
    }

    fn table(&self) -> Option<CodeTable> {
        let plain = self.gram.get().table()?;
        let offset = self.offset_in_values();
        Some(CodeTable::new(|code| plain.value(code) + offset))
    }

    fn fill_codes(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        self.gram.get().fill_codes(rows, columns, out);
    }

    fn tile(&self) -> Tile {
        self.gram.get().tile()
    }

    fn part(&self, ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        let gram = GramRef::Owned(self.gram.get().part(ids)?);
        let diagonal = ids.iter().map(|&i| self.diagonal[i]).collect();
        Some(Box::new(OffsetGram { gram, offset: self.offset, diagonal, indefiniteness: OnceLock::new() }))
    }

    fn distinct(&self, control: &RunControl) -> Result<Option<Arc<Distinct>>, Cancelled> {
        self.gram.get().distinct(control)
    }

    fn relative_error(&self, i: usize) -> f64 {
        self.gram.get().relative_error(i)
    }

    fn largest(&self) -> Option<f64> {
        self.gram.get().largest().map(|largest| largest + self.offset.abs())
    }

    fn indefiniteness(&self) -> f64 {
        // A nonnegative constant matrix is semidefinite.
        if self.offset >= 0.0 {
            self.gram.get().indefiniteness()
        } else {
            *self.indefiniteness.get_or_init(|| indefiniteness(self))
        }
    }

    fn value_cost(&self) -> f64 {
        self.gram.get().value_cost()
    }
}

#[cfg(test)]
mod tests {
    use super::OffsetGram;
    use crate::{Gram, Kernel, KernelGram, Rows};
    use maxmargin_data::{Par, RunControl, generate::Generator};

    /// Blocks, stored rows, exact entries and the diagonal all contain the constant once.
    #[test]
    fn every_entry_is_offset_once() {
        let data = Generator::Banana.generate(70, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a kernel");
        let with = OffsetGram::new(&gram, 1.0);
        assert_eq!((with.len(), with.offset(), with.tile()), (70, 1.0, gram.tile()));
        let (mut plain, mut moved) = (vec![0.0; 3 * 40], vec![0.0; 3 * 40]);
        gram.fill_exact(&[4, 66, 9], 10..50, &mut plain);
        with.fill_exact(&[4, 66, 9], 10..50, &mut moved);
        assert!(plain.iter().zip(&moved).all(|(k, m)| k + 1.0 == *m));
        let (mut block, mut whole) = (vec![0.0_f32; 3 * 40], vec![0.0_f32; 3 * 40]);
        gram.fill(&[4, 66, 9], 10..50, &mut block);
        with.fill(&[4, 66, 9], 10..50, &mut whole);
        assert!(block.iter().zip(&whole).all(|(k, m)| k + 1.0 == *m));
        let rows = Rows::new(&with, u64::MAX, Par::Seq);
        rows.fetch(&[4, 9], &RunControl::unlimited()).expect("unlimited");
        assert_eq!(rows.row(4).entries().part(10..50).to_vec(), whole[..40]);
        assert_eq!(rows.row(66).entries().part(10..50).to_vec(), whole[40..80]);
        assert!(with.diagonal().iter().all(|k| *k == 2.0));
    }
}
