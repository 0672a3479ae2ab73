//! Where a problem's inner products come from: a kernel matrix, or the samples' own features.

use crate::features::{FeatureRows, Job, combine, products};
use crate::{Gram, Matrix, Merged, RowWork, Rows, apply_exact_asking};
use maxmargin_data::{Asking, Halted, Par};
use std::ops::Range;

/// The space that a problem lives in. Index `i` of a dual is row `i` of it.
#[derive(Clone, Copy)]
pub enum Space<'a> {
    /// Kernel values, row by row.
    Kernel(&'a Rows<'a>),
    /// The linear kernel of a matrix, of which no value is ever computed: solvers keep `w`.
    Features(&'a Matrix<'a>),
}

impl<'a> Space<'a> {
    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Space::Kernel(rows) => rows.gram().len(),
            Space::Features(matrix) => matrix.len(),
        }
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of the kernel, where there is one.
    pub fn rows(&self) -> Option<&'a Rows<'a>> {
        match self {
            Space::Kernel(rows) => Some(rows),
            Space::Features(_) => None,
        }
    }

    /// The features, where there is no kernel.
    pub fn matrix(&self) -> Option<&'a Matrix<'a>> {
        match self {
            Space::Kernel(_) => None,
            Space::Features(matrix) => Some(matrix),
        }
    }

    /// Where exact inner products come from, equal samples joined where that saves much, whether a
    /// solver has joined them or not: the certificate of a point is the same whatever found it.
    ///
    /// # Errors
    ///
    /// When it was called off.
    pub fn exact(&self, asking: &Asking) -> Result<Exact<'a>, Halted> {
        match self {
            Space::Kernel(rows) => Ok(Exact::Gram(rows.gram(), rows.merged(asking)?)),
            Space::Features(matrix) => Ok(Exact::Features(matrix)),
        }
    }

    /// What was computed and held so far: without a kernel what solvers held beside the features.
    pub fn work(&self) -> RowWork {
        match self {
            Space::Kernel(rows) => rows.work(),
            Space::Features(matrix) => RowWork { peak_bytes: matrix.ledger().peak(), ..RowWork::default() },
        }
    }

    /// Kernel rows computed so far; 0 without a kernel.
    pub fn rows_computed(&self) -> u64 {
        self.rows().map_or(0, |rows| rows.work().computed)
    }
}

/// Where exact inner products come from, in `f64`: what certificates are made of. Made from a Gram
/// matrix, a feature matrix or a [`Space`].
#[derive(Clone, Copy)]
pub enum Exact<'a> {
    /// Kernel values computed anew, and the matrix of the different samples alone, where solvers
    /// have one.
    Gram(&'a dyn Gram, Option<&'a Merged>),
    /// The features.
    Features(&'a Matrix<'a>),
}

impl<'a, G: Gram> From<&'a G> for Exact<'a> {
    fn from(gram: &'a G) -> Self {
        Self::Gram(gram, None)
    }
}

impl<'a> From<&'a dyn Gram> for Exact<'a> {
    fn from(gram: &'a dyn Gram) -> Self {
        Self::Gram(gram, None)
    }
}

impl<'a> From<&'a Matrix<'a>> for Exact<'a> {
    fn from(matrix: &'a Matrix<'a>) -> Self {
        Self::Features(matrix)
    }
}

impl<'a> From<Space<'a>> for Exact<'a> {
    fn from(space: Space<'a>) -> Self {
        match space {
            Space::Kernel(rows) => Self::Gram(rows.gram(), rows.merged_so_far()),
            Space::Features(matrix) => Self::Features(matrix),
        }
    }
}

impl<'a> Exact<'a> {
    /// The same of the different samples alone, and which of them each sample is, where solvers
    /// have joined those that are equal.
    pub fn different(&self) -> Option<(Self, &'a [u32])> {
        match *self {
            Exact::Gram(_, Some(merged)) => Some((Exact::Gram(merged.rows().gram(), None), &merged.distinct().of)),
            _ => None,
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Exact::Gram(gram, _) => gram.len(),
            Exact::Features(matrix) => matrix.len(),
        }
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The inner product of every sample with itself.
    pub fn diagonal(&self) -> &'a [f64] {
        match *self {
            Exact::Gram(gram, _) => gram.diagonal(),
            Exact::Features(matrix) => matrix.squares(),
        }
    }

    /// `κ_i`: no inner product of samples `i` and `j` is larger than `κ_i κ_j` ([`Gram::size`]).
    pub fn size(&self, i: usize) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.size(i),
            Exact::Features(matrix) => matrix.squares()[i].sqrt(),
        }
    }

    /// The part of sample `i` in the error of an inner product, as a share of the largest or of
    /// both norms ([`Gram::relative_error`]).
    pub fn relative_error(&self, i: usize) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.relative_error(i),
            Exact::Features(_) => 4.0 * f64::EPSILON,
        }
    }

    /// How far from positive semidefinite the matrix of inner products may be
    /// ([`Gram::indefiniteness`]).
    pub fn indefiniteness(&self) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.indefiniteness(),
            Exact::Features(_) => 0.0,
        }
    }

    /// `F = K[columns, ids] · coef`, from exact kernel values or from the features: `coef` is
    /// row-major `ids.len() × h`, the result row-major `columns.len() × h`. Every kernel value is
    /// computed once for all `h`. The same bits for every `par`.
    ///
    /// # Panics
    ///
    /// When `coef.len()` is not `ids.len() × h` or an index is out of range.
    pub fn sums(&self, ids: &[usize], coef: &[f64], h: usize, columns: Range<usize>, par: Par) -> Vec<f64> {
        self.sums_asking(ids, coef, h, columns, par, &Asking::nobody()).unwrap_or_default()
    }

    /// [`Exact::sums`], with the same bits, asking now and then whether to go on.
    ///
    /// # Errors
    ///
    /// When it was called off.
    ///
    /// # Panics
    ///
    /// As [`Exact::sums`].
    pub fn sums_asking(
        &self,
        ids: &[usize],
        coef: &[f64],
        h: usize,
        columns: Range<usize>,
        par: Par,
        asking: &Asking,
    ) -> Result<Vec<f64>, Halted> {
        match self {
            Exact::Gram(gram, _) => apply_exact_asking(*gram, ids, coef, h, columns, par, asking),
            Exact::Features(_) => {
                // Two passes over the features, for each right-hand side.
                asking.ask()?;
                self.sums_at(ids, coef, h, &columns.collect::<Vec<_>>(), (par, asking))
            }
        }
    }

    /// [`Exact::sums_asking`] for columns in any order; runs of consecutive ones are cheaper.
    ///
    /// # Errors
    ///
    /// When it was called off.
    ///
    /// # Panics
    ///
    /// As [`Exact::sums`].
    pub fn sums_at(
        &self,
        ids: &[usize],
        coef: &[f64],
        h: usize,
        columns: &[usize],
        (par, asking): (Par, &Asking),
    ) -> Result<Vec<f64>, Halted> {
        match self {
            Exact::Gram(..) => {
                let mut all = Vec::with_capacity(columns.len() * h);
                for run in columns.chunk_by(|a, b| a + 1 == *b) {
                    all.extend(self.sums_asking(ids, coef, h, run[0]..run[run.len() - 1] + 1, par, asking)?);
                }
                Ok(all)
            }
            Exact::Features(matrix) => {
                assert_eq!(coef.len(), ids.len() * h, "coefficients of {} samples, {h} each", ids.len());
                let mut result = vec![0.0; columns.len() * h];
                for p in 0..h {
                    asking.spend((matrix.entries() / matrix.len().max(1) * (ids.len() + columns.len())) as u64)?;
                    let coef = coef.iter().skip(p).step_by(h).copied().collect();
                    let sums = matrix.visit(Sums { ids, coef, columns, par });
                    sums.into_iter().enumerate().for_each(|(j, sum)| result[j * h + p] = sum);
                }
                Ok(result)
            }
        }
    }
}

struct Sums<'a> {
    ids: &'a [usize],
    coef: Vec<f64>,
    columns: &'a [usize],
    par: Par,
}

impl Job for Sums<'_> {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        let w = combine(rows, self.ids, &self.coef, self.par);
        let mut sums = vec![0.0; self.columns.len()];
        products(rows, self.columns, &w, &mut sums, self.par);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::{Exact, Space};
    use crate::{Kernel, KernelGram, Matrix, OffsetGram, Rows};
    use maxmargin_data::{Asking, Par, generate::Generator};

    /// The same sums come from kernel values and from features, with a bias feature and without.
    #[test]
    fn both_spaces_have_the_same_sums() {
        let data = Generator::SparseText.generate(90, Some(1024), 3).expect("a generator");
        let plain = KernelGram::new(&data.samples, Kernel::Linear).expect("a kernel");
        let ids = [3, 80, 41, 7];
        let coef: Vec<f64> = (0..8).map(|k| f64::from(k) - 2.5).collect();
        for feature in [None, Some(2.0)] {
            let gram = OffsetGram::new(&plain, feature.map_or(0.0, |value: f64| value * value));
            let rows = Rows::new(&gram, 1 << 20, Par::Seq);
            let matrix = Matrix::new(&data.samples, feature, Par::Seq);
            let (kernel, features) = (Exact::from(Space::Kernel(&rows)), Exact::from(Space::Features(&matrix)));
            assert_eq!((kernel.len(), features.len()), (90, 90));
            let expected = kernel.sums(&ids, &coef, 2, 5..70, Par::Seq);
            let found = features.sums(&ids, &coef, 2, 5..70, Par::Seq);
            assert_eq!(found.len(), 130);
            for source in [kernel, features] {
                let at = source.sums_at(&ids, &coef, 2, &[9, 60, 61], (Par::Seq, &Asking::nobody()));
                let part = at.expect("nobody calls it off");
                let whole = source.sums(&ids, &coef, 2, 0..90, Par::Seq);
                assert_eq!(part, [&whole[18..20], &whole[120..124]].concat());
            }
            assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
            assert!(found.iter().any(|sum| *sum != 0.0));
        }
    }
}
