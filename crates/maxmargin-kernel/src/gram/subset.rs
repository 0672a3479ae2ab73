//! A part of a Gram matrix: some of its samples, in any order.

use super::distinct::{Distinct, Mark};
use super::exact_values::{ComputeExact, ExactValues};
use super::kept::{KeptValues, pieces_of};
use super::matrix::{Gram, Tile, indefiniteness};
use crate::neighbours::{FEWEST, Neighbours};
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::pages::Pages;
use maxmargin_simd::row::CodeTable;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A view of `K[ids, ids]` of another matrix.
///
/// A problem over some samples (a pair of classes, the training part of a fold) then has rows of
/// only these samples, in its own order.
pub struct Subset<'g> {
    gram: &'g dyn Gram,
    ids: Vec<usize>,
    /// Runs of consecutive ids: the position of the first id, and the ids.
    runs: Vec<(usize, Range<usize>)>,
    diagonal: Vec<f64>,
    indefiniteness: OnceLock<f64>,
    /// The exact values that this part keeps itself.
    exact: Option<ExactValues>,
    /// The result of [`Gram::find_neighbours`].
    neighbours: OnceLock<Option<Neighbours>>,
}

impl<'g> Subset<'g> {
    /// The part of `gram` with the samples `ids`. Long runs of consecutive ids are faster.
    ///
    /// # Panics
    ///
    /// When an id is out of range.
    pub fn new(gram: &'g dyn Gram, ids: Vec<usize>) -> Self {
        let diagonal = ids.iter().map(|&i| gram.diagonal()[i]).collect();
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, &id) in ids.iter().enumerate() {
            match runs.last_mut() {
                Some((_, run)) if run.end == id => run.end += 1,
                _ => runs.push((at, id..id + 1)),
            }
        }
        Self { gram, ids, runs, diagonal, indefiniteness: OnceLock::new(), exact: None, neighbours: OnceLock::new() }
    }

    /// Keeps the exact values that sums need: eight bytes for each pair of a support vector and a
    /// sample. It is worth its memory where several solutions of the same small problem are
    /// certified.
    #[must_use]
    pub fn keeping_exact_values(self) -> Self {
        Self { exact: Some(ExactValues::new(self.ids.len(), &Pages::new())), ..self }
    }

    /// The samples, as indices of the whole matrix.
    pub fn ids(&self) -> &[usize] {
        &self.ids
    }

    fn pieces(&self, columns: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        pieces_of(&self.runs, columns)
    }

    fn whole(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().map(|&r| self.ids[r]).collect()
    }
}

impl ComputeExact for Subset<'_> {
    fn compute_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        let (ids, width) = (self.whole(rows), columns.len());
        let mut block = Vec::new();
        for (at, run) in self.pieces(columns) {
            let count = run.len();
            if count == width {
                self.gram.fill_exact(&ids, run, out);
                return;
            }
            block.resize(ids.len() * count, 0.0);
            self.gram.fill_exact(&ids, run, &mut block);
            for (row, out) in block.chunks_exact(count).zip(out.chunks_exact_mut(width)) {
                out[at..at + count].copy_from_slice(row);
            }
        }
    }

    fn operations(&self) -> u64 {
        self.gram.value_operations()
    }
}

impl Gram for Subset<'_> {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn base(&self) -> f64 {
        self.gram.base()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        let mut slices: Vec<&mut [f32]> = out.chunks_mut(columns.len().max(1)).collect();
        self.fill_rows(rows, columns, &mut slices);
    }

    fn fill_rows(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        let ids = self.whole(rows);
        for (at, run) in self.pieces(columns) {
            let mut slices: Vec<&mut [f32]> = out.iter_mut().map(|out| &mut out[at..at + run.len()]).collect();
            self.gram.fill_rows(&ids, run, &mut slices);
        }
    }

    fn table(&self) -> Option<CodeTable> {
        self.gram.table()
    }

    fn fill_codes(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        let ids = self.whole(rows);
        for (at, run) in self.pieces(columns) {
            let mut slices: Vec<&mut [u8]> = out.iter_mut().map(|out| &mut out[at..at + run.len()]).collect();
            self.gram.fill_codes(&ids, run, &mut slices);
        }
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        if !self.kept_exact().is_some_and(|kept| kept.copy(rows, columns.clone(), out)) {
            self.compute_exact(rows, columns, out);
        }
    }

    fn kept_exact(&self) -> Option<KeptValues<'_>> {
        match &self.exact {
            Some(exact) => Some(KeptValues::new(exact, self)),
            None => self.gram.kept_exact()?.part(&self.ids, &self.runs),
        }
    }

    fn has_small_sums(&self) -> bool {
        self.gram.has_small_sums()
    }

    /// Takes those of the whole matrix, where these are known.
    fn find_neighbours(&self, bytes: u64, _: Par, control: &RunControl) -> Result<(), Cancelled> {
        let Some(all) = self.gram.neighbours().filter(|_| self.len() >= FEWEST) else { return Ok(()) };
        control.check(all.count() as u64)?;
        self.neighbours.get_or_init(|| all.part(&self.ids, bytes));
        Ok(())
    }

    fn neighbours(&self) -> Option<&Neighbours> {
        self.neighbours.get()?.as_ref()
    }

    fn tile(&self) -> Tile {
        self.gram.tile()
    }

    fn part(&self, ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        self.gram.part(&self.whole(ids))
    }

    fn distinct(&self, control: &RunControl) -> Result<Option<Arc<Distinct>>, Cancelled> {
        let Some(whole) = self.gram.distinct(control)? else { return Ok(None) };
        let kind = |k: usize| whole.of[self.ids[k]];
        // The marks themselves are not known here. Copies of a kind with one class (or one fold)
        // get equal marks, all other samples different ones.
        let one = |k: usize, until: usize| if (kind(k) as usize) < until { 0 } else { k as u32 };
        let mark = |k: usize| Mark { class: one(k, whole.mixed), fold: one(k, whole.spread) };
        let found = Distinct::of(self.ids.len(), |k, words| words.push(u64::from(kind(k))), mark, control)?;
        Ok(found.map(Arc::new))
    }

    fn relative_error(&self, i: usize) -> f64 {
        self.gram.relative_error(self.ids[i])
    }

    fn largest(&self) -> Option<f64> {
        self.gram.largest()
    }

    /// Principal parts of a semidefinite matrix are semidefinite. A small part of an indefinite
    /// matrix may be semidefinite, too.
    fn indefiniteness(&self) -> f64 {
        let whole = self.gram.indefiniteness();
        if whole.is_finite() { whole } else { *self.indefiniteness.get_or_init(|| indefiniteness(self)) }
    }

    fn value_cost(&self) -> f64 {
        self.gram.value_cost()
    }
}

/// `K[ids, ids]` of any matrix: a copy of the samples where the matrix can make one, a view of it
/// otherwise.
///
/// # Panics
///
/// When an id is out of range.
pub fn part_of<'g>(gram: &'g dyn Gram, ids: &[usize]) -> Box<dyn Gram + Send + 'g> {
    gram.part(ids).unwrap_or_else(|| Box::new(Subset::new(gram, ids.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::{Pages, Subset};
    use crate::{Gram, Kernel, KernelGram};
    use maxmargin_data::{Par, RunControl, generate::Generator};
    use proptest::prelude::*;

    proptest! {
        /// Every entry of a part equals the entry of the whole matrix, bit for bit.
        #[test]
        fn a_part_has_the_entries_of_the_whole(
            ids in prop::collection::vec(0_usize..60, 1..50),
            asked in prop::collection::vec(any::<prop::sample::Index>(), 1..5),
            cut in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let data = Generator::Banana.generate(60, None, 3).expect("a generator");
            let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a kernel");
            let part = Subset::new(&gram, ids.clone());
            prop_assert_eq!((part.len(), part.ids()), (ids.len(), &ids[..]));
            let asked: Vec<usize> = asked.iter().map(|i| i.index(ids.len())).collect();
            let (a, b) = (cut.0.index(ids.len() + 1), cut.1.index(ids.len() + 1));
            let columns = a.min(b)..a.max(b);
            let (mut single, mut exact) = (vec![f32::NAN; asked.len() * columns.len()], vec![f64::NAN; asked.len() * columns.len()]);
            part.fill(&asked, columns.clone(), &mut single);
            part.fill_exact(&asked, columns.clone(), &mut exact);
            let keeping = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a kernel");
            keeping.keep_exact(&Pages::new());
            // With no row kept, one of them, and all.
            for own in [false, true] {
                let part = if own { Subset::new(&gram, ids.clone()).keeping_exact_values() } else { Subset::new(&keeping, ids.clone()) };
                for count in [0, 1, asked.len()] {
                    let rows = asked.iter().copied().take(count);
                    part.kept_exact().expect("kept").keep(rows, Par::Seq, &RunControl::unlimited()).expect("unlimited");
                    let mut kept = vec![f64::NAN; exact.len()];
                    part.fill_exact(&asked, columns.clone(), &mut kept);
                    prop_assert_eq!(&kept, &exact);
                }
            }
            let (mut k32, mut k64) = ([0.0_f32], [0.0_f64]);
            let mut entries = single.iter().zip(&exact);
            for &r in &asked {
                prop_assert_eq!(part.diagonal()[r], gram.diagonal()[ids[r]]);
                for j in columns.clone() {
                    gram.fill(&[ids[r]], ids[j]..ids[j] + 1, &mut k32);
                    gram.fill_exact(&[ids[r]], ids[j]..ids[j] + 1, &mut k64);
                    prop_assert_eq!(entries.next(), Some((&k32[0], &k64[0])));
                }
            }
        }
    }
}
