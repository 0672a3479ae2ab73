//! The source of a problem's inner products: a kernel matrix, or the samples' features.

use crate::apply::{SampleTerms, apply_exact_to, small_sums};
use crate::features::{FeatureRows, Job, TwofoldWeights, combine, combine_twofold, products};
use crate::{DistinctRows, Gram, Matrix, Neighbours, RowWork, Rows, apply_exact};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// The source of a problem's inner products. Variable `i` of a dual belongs to its sample `i`.
#[derive(Clone, Copy)]
pub enum Space<'a> {
    /// Rows of kernel values.
    Kernel(&'a Rows<'a>),
    /// The features of a linear kernel. Solvers keep `w` and compute no kernel values.
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

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kernel rows, if there is a kernel.
    pub fn rows(&self) -> Option<&'a Rows<'a>> {
        match self {
            Space::Kernel(rows) => Some(rows),
            Space::Features(_) => None,
        }
    }

    /// The features, if there is no kernel.
    pub fn matrix(&self) -> Option<&'a Matrix<'a>> {
        match self {
            Space::Kernel(_) => None,
            Space::Features(matrix) => Some(matrix),
        }
    }

    /// The source of exact inner products. It merges equal samples where that saves much work, even
    /// if no solver has merged them: the certificate of a point must not depend on the solver.
    ///
    /// # Errors
    ///
    /// When `control` cancels the search for equal samples.
    pub fn exact(&self, control: &RunControl) -> Result<Exact<'a>, Cancelled> {
        match self {
            Space::Kernel(rows) => Ok(Exact::Gram(rows.gram(), rows.merged(control)?)),
            Space::Features(matrix) => Ok(Exact::Features(matrix)),
        }
    }

    /// Prepares for solvers that work on neighbours ([`Rows::find_neighbours`]).
    ///
    /// # Errors
    ///
    /// When `control` cancels the search.
    pub fn find_neighbours(&self, control: &RunControl) -> Result<(), Cancelled> {
        self.rows().map_or(Ok(()), |rows| rows.find_neighbours(control))
    }

    /// The work and the memory so far. Without a kernel only the peak of the memory budget counts.
    pub fn work(&self) -> RowWork {
        match self {
            Space::Kernel(rows) => rows.work(),
            Space::Features(matrix) => RowWork { peak_bytes: matrix.memory_budget().peak(), ..RowWork::default() },
        }
    }

    /// Kernel rows computed so far; 0 without a kernel.
    pub fn rows_computed(&self) -> u64 {
        self.rows().map_or(0, |rows| rows.work().computed)
    }
}

/// The source of exact inner products in `f64`, for certificates. It is created from a Gram matrix,
/// a feature matrix or a [`Space`].
#[derive(Clone, Copy)]
pub enum Exact<'a> {
    /// Kernel values, computed anew, and the rows of the distinct samples where they exist.
    Gram(&'a dyn Gram, Option<&'a DistinctRows>),
    /// The features.
    Features(&'a Matrix<'a>),
    /// The features, with weights in twice the working precision ([`Exact::twofold`]).
    TwofoldFeatures(&'a Matrix<'a>),
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
    /// The source restricted to the distinct samples, and the kind of each sample, where equal
    /// samples are merged.
    pub fn different(&self) -> Option<(Self, &'a [u32])> {
        match *self {
            Exact::Gram(_, Some(merged)) => Some((Exact::Gram(merged.rows().gram(), None), &merged.distinct().of)),
            _ => None,
        }
    }

    /// The same source with sums in twice the working precision, if it can have them and has not.
    ///
    /// Of features, the rounding of plain sums grows with the coefficients: with `Σ |c_i| ‖x_i‖`,
    /// which exceeds `‖w‖` by orders of magnitude where classes can be separated and C is large.
    pub fn twofold(&self) -> Option<Self> {
        match *self {
            Exact::Features(matrix) => Some(Exact::TwofoldFeatures(matrix)),
            Exact::Gram(..) | Exact::TwofoldFeatures(_) => None,
        }
    }

    /// Returns true if sums have twice the working precision.
    pub fn is_twofold(&self) -> bool {
        matches!(self, Exact::TwofoldFeatures(_))
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Exact::Gram(gram, _) => gram.len(),
            Exact::Features(matrix) | Exact::TwofoldFeatures(matrix) => matrix.len(),
        }
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The inner product of every sample with itself.
    pub fn diagonal(&self) -> &'a [f64] {
        match *self {
            Exact::Gram(gram, _) => gram.diagonal(),
            Exact::Features(matrix) | Exact::TwofoldFeatures(matrix) => matrix.squares(),
        }
    }

    /// A number `κ_i` such that the inner product of samples `i` and `j` is at most `κ_i κ_j`
    /// ([`Gram::size`]).
    pub fn size(&self, i: usize) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.size(i),
            Exact::Features(matrix) | Exact::TwofoldFeatures(matrix) => matrix.squares()[i].sqrt(),
        }
    }

    /// The contribution of sample `i` to the relative error of its inner products
    /// ([`Gram::relative_error`]).
    pub fn relative_error(&self, i: usize) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.relative_error(i),
            Exact::Features(_) => 4.0 * f64::EPSILON,
            Exact::TwofoldFeatures(_) => 0.0,
        }
    }

    /// A bound on every inner product that is left out of sums because it is negligible; usually 0
    /// ([`Gram::neighbours`]).
    pub fn left_out(&self) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.neighbours().map_or(0.0, Neighbours::left_out),
            Exact::Features(_) | Exact::TwofoldFeatures(_) => 0.0,
        }
    }

    /// A shift that makes the matrix of inner products positive semidefinite
    /// ([`Gram::indefiniteness`]).
    pub fn indefiniteness(&self) -> f64 {
        match self {
            Exact::Gram(gram, _) => gram.indefiniteness(),
            Exact::Features(_) | Exact::TwofoldFeatures(_) => 0.0,
        }
    }

    /// Computes the products of some samples with weights, given as (feature, weight); `None` if
    /// there are no features, or if no sample has one of them.
    pub fn products(&self, weights: &[(u32, f64)], samples: &[usize], par: Par) -> Option<Vec<f64>> {
        match self {
            Exact::Features(matrix) | Exact::TwofoldFeatures(matrix) => {
                Some(matrix.products(&matrix.pack(weights, 0.0)?, samples, par))
            }
            Exact::Gram(..) => None,
        }
    }

    /// Computes `F = K[columns, ids] · coef` from exact kernel values or from the features. `coef`
    /// is row-major `ids.len() × h`, the result row-major `columns.len() × h`. Every kernel value
    /// is computed once for all `h`. The bits do not depend on `par`.
    ///
    /// # Errors
    ///
    /// When `control` ends the run.
    ///
    /// # Panics
    ///
    /// When `coef.len()` is not `ids.len() × h` or an index is out of range.
    pub fn sums(
        &self,
        ids: &[usize],
        coef: &[f64],
        h: usize,
        columns: Range<usize>,
        par: Par,
        control: &RunControl,
    ) -> Result<Vec<f64>, Cancelled> {
        if let Exact::Gram(gram, _) = self
            && !gram.has_small_sums()
            && gram.neighbours().is_none()
        {
            return apply_exact(*gram, ids, coef, h, columns, par, control);
        }
        assert_eq!(coef.len(), ids.len() * h, "coefficients of {} samples, {h} each", ids.len());
        let point = |p: usize| -> Vec<(usize, f64)> {
            let terms = ids.iter().zip(coef.iter().skip(p).step_by(h));
            terms.filter(|(_, c)| **c != 0.0).map(|(&id, &c)| (id, c)).collect()
        };
        let points: Vec<Vec<(usize, f64)>> = (0..h).map(point).collect();
        let points: Vec<&[(usize, f64)]> = points.iter().map(Vec::as_slice).collect();
        let sums = self.sums_of(&points, std::slice::from_ref(&columns), par, control)?;
        Ok(if h == 1 { sums } else { transposed(&sums, columns.len()) })
    }

    /// Computes `Σ_l c_l K(l, column)` for each point and the columns of `runs`; the sums of a
    /// point follow each other. A point is a list of samples with coefficients, each sample once.
    ///
    /// # Errors
    ///
    /// When `control` ends the run.
    ///
    /// # Panics
    ///
    /// When an index is out of range.
    pub fn sums_of(
        &self,
        points: &[&[(usize, f64)]],
        runs: &[Range<usize>],
        par: Par,
        control: &RunControl,
    ) -> Result<Vec<f64>, Cancelled> {
        let h = points.len();
        if h == 0 {
            return Ok(Vec::new());
        }
        if let Exact::Gram(gram, _) = self
            && let Some(neighbours) = gram.neighbours()
        {
            return neighbours.sums_of(points, runs, par, control);
        }
        match self {
            Exact::Gram(gram, _) if gram.has_small_sums() => small_sums(*gram, points, runs, par, control),
            Exact::Gram(gram, _) => {
                let terms = SampleTerms::of_points(points, gram.len());
                Ok(transposed(&apply_exact_to(*gram, &terms, h, runs, par, control)?, h))
            }
            Exact::Features(matrix) | Exact::TwofoldFeatures(matrix) => {
                let columns: Vec<usize> = runs.iter().cloned().flatten().collect();
                let mut result = Vec::with_capacity(columns.len() * h);
                for point in points {
                    control.check((matrix.entries() / matrix.len().max(1) * (point.len() + columns.len())) as u64)?;
                    let (ids, coef): (Vec<usize>, Vec<f64>) = point.iter().copied().unzip();
                    result.extend(matrix.visit(Sums { ids: &ids, coef, columns: &columns, is_twofold: self.is_twofold(), par }));
                }
                Ok(result)
            }
        }
    }
}

/// The transpose of a row-major matrix with `width` columns.
fn transposed(sums: &[f64], width: usize) -> Vec<f64> {
    (0..width).flat_map(|p| sums.iter().skip(p).step_by(width).copied()).collect()
}

/// Sums at some columns, from the features, for one right-hand side.
struct Sums<'a> {
    ids: &'a [usize],
    coef: Vec<f64>,
    columns: &'a [usize],
    is_twofold: bool,
    par: Par,
}

impl Job for Sums<'_> {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns.len()];
        if !self.is_twofold {
            let w = combine(rows, self.ids, &self.coef, self.par);
            products(rows, self.columns, &w, &mut sums, self.par);
            return sums;
        }
        let TwofoldWeights { main, rest } = combine_twofold(rows, self.ids, &self.coef, self.par);
        let mut rests = sums.clone();
        products(rows, self.columns, &main, &mut sums, self.par);
        products(rows, self.columns, &rest, &mut rests, self.par);
        sums.iter_mut().zip(rests).for_each(|(sum, rest)| *sum += rest);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::{Exact, Space, transposed};
    use crate::{Kernel, KernelGram, Matrix, OffsetGram, Rows};
    use maxmargin_data::{Par, RunControl, Samples, generate::Generator};

    /// The same sums come from kernel values and from features, with a bias feature and without.
    #[test]
    fn both_spaces_have_the_same_sums() {
        let data = Generator::SparseText.generate(90, Some(1024), 3).expect("a generator");
        let plain = KernelGram::new(&data.samples, Kernel::Linear, &RunControl::unlimited()).expect("a kernel");
        let ids = [3, 80, 41, 7];
        let coef: Vec<f64> = (0..8).map(|k| f64::from(k) - 2.5).collect();
        for feature in [None, Some(2.0)] {
            let gram = OffsetGram::new(&plain, feature.map_or(0.0, |value: f64| value * value));
            let rows = Rows::new(&gram, 1 << 20, Par::Seq);
            let matrix = Matrix::new(&data.samples, feature, Par::Seq);
            let (kernel, features) = (Exact::from(Space::Kernel(&rows)), Exact::from(Space::Features(&matrix)));
            assert_eq!((kernel.len(), features.len()), (90, 90));
            let expected = kernel.sums(&ids, &coef, 2, 5..70, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            let found = features.sums(&ids, &coef, 2, 5..70, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            assert_eq!(found.len(), 130);
            for source in [kernel, features] {
                let of = |p: usize| ids.iter().copied().zip(coef.iter().skip(p).step_by(2).copied());
                let points: [Vec<(usize, f64)>; 2] = [of(0).collect(), of(1).collect()];
                let at = source.sums_of(&[&points[0], &points[1]], &[9..10, 60..62], Par::Seq, &RunControl::unlimited());
                let part = at.expect("not cancelled");
                let whole = source.sums(&ids, &coef, 2, 0..90, Par::Seq, &RunControl::unlimited()).expect("unlimited");
                assert_eq!(part, transposed(&[&whole[18..20], &whole[120..124]].concat(), 2));
            }
            assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
            assert!(found.iter().any(|sum| *sum != 0.0));
        }
    }

    /// Large coefficients that cancel leave no rounding of their size, in any number of parts.
    #[test]
    fn twofold_sums_keep_what_large_terms_hide() {
        let rows: i64 = 400;
        let value = |i: i64, at: i64| (i * i + 3 * at) % 11;
        let large = |i: i64| (9_000_000_000_000_001 + i) * if i % 2 == 0 { 1 } else { -1 };
        let values = (0..rows).flat_map(|i| (0..3).map(move |at| value(i, at) as f64)).collect();
        let samples = Samples::from_dense(rows as usize, 3, values).expect("a matrix").compact();
        let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
        let ids: Vec<usize> = (0..rows as usize).collect();
        let coef: Vec<f64> = (0..rows).map(|i| large(i) as f64).collect();
        // The same in whole numbers.
        let sum_of = |of: &dyn Fn(i64) -> i64| (0..rows).map(|i| i128::from(large(i)) * i128::from(of(i))).sum::<i128>();
        let w: Vec<i128> = (0..3).map(|at| sum_of(&|i| value(i, at))).collect();
        let bias = sum_of(&|_| 1);
        let plain = Exact::from(&matrix);
        let twofold = plain.twofold().expect("features");
        assert!(twofold.is_twofold() && twofold.twofold().is_none());
        let sums = |source: Exact| source.sums(&ids, &coef, 1, 0..8, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        for (i, sum) in (0..).zip(sums(twofold)) {
            let expected = (0..3).map(|at| w[at as usize] * i128::from(value(i, at))).sum::<i128>() + bias;
            assert!((sum - expected as f64).abs() <= 1e-15 * (expected as f64).abs(), "{sum} {expected}");
        }
        assert_ne!(sums(plain), sums(twofold));
    }
}
