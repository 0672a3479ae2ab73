//! The sample matrix for linear solvers: rows to multiply with w, in the smallest layout that holds
//! the same numbers.

mod matrix_jobs;
mod memory_budget;
mod passes;
mod rows;

pub use memory_budget::{MemoryBudget, Reservation};
pub use passes::{CHUNK, combine, combine_precisely, products};
pub(crate) use passes::{TwofoldWeights, combine_twofold};
pub use rows::FeatureRows;

use crate::function::{KernelError, LARGEST_SQUARE};
use matrix_jobs::{ProductSizes, Products, SquareOfSum, Weights};
use maxmargin_data::{Par, Samples, Storage};
use maxmargin_simd::sparse::{One, SparseRows};
use rows::{Dense, Sparse};
use std::borrow::Cow;

/// The rounding of weights in a margin from which it is avoided: tolerances are larger.
const SEEN: f64 = 1e-7;

/// A dense row costs about as much as a sparse row with this share of its entries, if the matrix is
/// in the cache.
const DENSE_SHARE: f64 = 0.3;

/// Bytes of a matrix that stays in the cache. The time of larger matrices is proportional to their
/// bytes.
const CACHED: usize = 1 << 24;

/// A computation on rows of any layout ([`Matrix::visit`]).
pub trait Job {
    /// The result.
    type Out;
    /// Runs the computation.
    fn run<R: FeatureRows>(self, rows: &R) -> Self::Out;
}

/// The samples of a linear problem: the numbers of [`Samples`], optionally with one more feature
/// for the bias.
///
/// Rows are borrowed where possible. Values that are exact in `f32` are copied in this precision
/// (values that are all 1 are not stored), and dense rows of mostly zeros are compressed.
pub struct Matrix<'s> {
    layout: Layout<'s>,
    /// The feature of each column, where empty columns are left out.
    columns: Option<Vec<u32>>,
    features: usize,
    feature: Option<f64>,
    /// `x_i · x_i` of every row, including the additional feature.
    squares: Vec<f64>,
    memory_budget: MemoryBudget,
}

enum Layout<'s> {
    Ones(Sparse<'s, One>),
    Single(Sparse<'s, f32>),
    Double(Sparse<'s, f64>),
    Dense32(Dense<'s, f32>),
    Dense64(Dense<'s, f64>),
}

impl<'s> Matrix<'s> {
    /// The rows of `samples`. `feature` is the value of an additional feature of all rows
    /// (LIBLINEAR's `-B`). Its weight gives the bias and is regularised like all other weights.
    pub fn new(samples: &'s Samples, feature: Option<f64>, par: Par) -> Self {
        let features = samples.features();
        let (layout, columns) = if let Some((packed, columns)) = samples.packed() {
            (compressed(&packed, feature), Some(columns))
        } else {
            (layout_of(samples, feature), None)
        };
        let mut matrix =
            Self { layout, columns, features, feature, squares: Vec::new(), memory_budget: MemoryBudget::new(u64::MAX) };
        matrix.squares = matrix.visit(Squares(par));
        matrix
    }

    /// The same matrix with a budget of `budget` bytes for the data of solvers.
    #[must_use]
    pub fn with_budget(self, budget: u64) -> Self {
        Self { memory_budget: MemoryBudget::new(budget), ..self }
    }

    /// The memory budget for the data of solvers over this matrix.
    pub fn memory_budget(&self) -> &MemoryBudget {
        &self.memory_budget
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of features of the samples.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Value of the additional feature, if there is one.
    pub fn feature(&self) -> Option<f64> {
        self.feature
    }

    /// `x_i · x_i` of every row, including the additional feature.
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Checks that linear machines can compute with every row.
    ///
    /// # Errors
    ///
    /// When the sum of a row's squares is too large.
    pub fn check(&self) -> Result<(), KernelError> {
        match self.squares.iter().position(|square| square.is_nan() || *square > LARGEST_SQUARE) {
            Some(at) => Err(KernelError::Length { row: at + 1, value: self.squares[at] }),
            None => Ok(()),
        }
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        struct Entries;
        impl Job for Entries {
            type Out = usize;
            fn run<R: FeatureRows>(self, rows: &R) -> usize {
                rows.entries()
            }
        }
        self.visit(Entries)
    }

    /// Runs `job` on the rows in their layout.
    pub fn visit<J: Job>(&self, job: J) -> J::Out {
        match &self.layout {
            Layout::Ones(rows) => job.run(rows),
            Layout::Single(rows) => job.run(rows),
            Layout::Double(rows) => job.run(rows),
            Layout::Dense32(rows) => job.run(rows),
            Layout::Dense64(rows) => job.run(rows),
        }
    }

    /// Computes `Σ_k coef_k x_{ids[k]}` as pairs (feature, weight) in ascending order, without
    /// zeros, and the bias of the additional feature. Where rounding of the sum could be seen in
    /// margins it is computed in twice the working precision, as certificates are: the weights
    /// have the primal objective that the certificate says. The bits do not depend on `par`.
    ///
    /// # Panics
    ///
    /// When there is not one coefficient per id, or an id is out of range.
    pub fn weights(&self, ids: &[usize], coef: &[f64], par: Par) -> (Vec<(u32, f64)>, f64) {
        assert_eq!(ids.len(), coef.len(), "one coefficient per row");
        let mass: f64 = ids.iter().zip(coef).map(|(&id, coef)| coef.abs() * self.squares[id].sqrt()).sum();
        let longest = self.squares.iter().fold(0.0_f64, |longest, square| longest.max(*square)).sqrt();
        let is_precise = f64::EPSILON * mass * longest > SEEN;
        self.unpack(&self.visit(Weights { ids, coef, is_precise, par }))
    }

    /// Computes `x_i · w` for some rows, with a solver's weights ([`Matrix::pack`]). The bits do
    /// not depend on `par`.
    ///
    /// # Panics
    ///
    /// When there is not one weight per column, or an id is out of range.
    pub fn products(&self, w: &[f64], ids: &[usize], par: Par) -> Vec<f64> {
        self.visit(Products { w, ids, par })
    }

    /// Computes `Σ_j |x_ij w_j|` for some rows, to which the rounding of [`Matrix::products`] is
    /// relative.
    ///
    /// # Panics
    ///
    /// As [`Matrix::products`].
    pub fn product_sizes(&self, w: &[f64], ids: &[usize], par: Par) -> Vec<f64> {
        self.visit(ProductSizes { w, ids, par })
    }

    /// Computes `‖Σ_k coef_k x_{ids[k]}‖²` from a sum in twice the working precision.
    ///
    /// # Panics
    ///
    /// As [`Matrix::weights`].
    pub fn square_of_sum(&self, ids: &[usize], coef: &[f64], par: Par) -> f64 {
        assert_eq!(ids.len(), coef.len(), "one coefficient per row");
        self.visit(SquareOfSum { ids, coef, par })
    }

    /// Converts a solver's weights to pairs (feature, weight) in ascending order, without zeros,
    /// and the bias of the additional feature.
    pub fn unpack(&self, w: &[f64]) -> (Vec<(u32, f64)>, f64) {
        let count = w.len() - usize::from(self.feature.is_some());
        let bias = self.feature.map_or(0.0, |value| value * w[count]);
        let name = |at: usize| self.columns.as_ref().map_or(at as u32, |columns| columns[at]);
        (w[..count].iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(at, &v)| (name(at), v)).collect(), bias)
    }

    /// Converts pairs (feature, weight) and the bias of the additional feature to a solver's
    /// weights: the inverse of [`Matrix::unpack`]. `None` if a weight is of a feature without a
    /// column, or if there is a bias and no additional feature.
    pub fn pack(&self, weights: &[(u32, f64)], bias: f64) -> Option<Vec<f64>> {
        let count = self.columns.as_ref().map_or(self.features, Vec::len);
        let mut w = vec![0.0; count];
        for &(feature, weight) in weights.iter().filter(|(_, weight)| *weight != 0.0) {
            let at = match &self.columns {
                Some(columns) => columns.binary_search(&feature).ok()?,
                None => feature as usize,
            };
            *w.get_mut(at)? = weight;
        }
        match self.feature {
            Some(value) => w.push(bias / value),
            None if bias != 0.0 => return None,
            None => {}
        }
        Some(w)
    }
}

struct Squares(Par);

impl Job for Squares {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        let mut squares = vec![0.0; rows.len()];
        self.0.for_chunks(&mut squares, 4096, |chunk, squares| {
            for (i, square) in squares.iter_mut().enumerate() {
                rows.each(chunk * 4096 + i, |_, v| *square += v * v);
            }
        });
        squares
    }
}

/// Selects the layout for `samples`.
fn layout_of(samples: &Samples, feature: Option<f64>) -> Layout<'_> {
    let (rows, columns) = (samples.len(), samples.features());
    let entries = samples.non_zeros();
    let number = if matches!(samples.storage(), Storage::Dense32(_)) { size_of::<f32>() } else { size_of::<f64>() };
    let dense_bytes = rows * columns * number;
    let dense = if dense_bytes > CACHED {
        dense_bytes <= entries * (size_of::<u32>() + number)
    } else {
        entries as f64 > DENSE_SHARE * rows as f64 * columns as f64
    };
    match samples.storage() {
        Storage::Dense32(values) if dense => Layout::Dense32(Dense { values, rows, columns, feature }),
        Storage::Dense64(values) if dense => Layout::Dense64(Dense { values, rows, columns, feature }),
        Storage::Sparse(matrix) => {
            let (offsets, indices) = (matrix.indptr(), matrix.indices());
            let offsets = offsets.raw_storage().to_vec();
            smallest(offsets, indices, matrix.data(), columns, feature)
        }
        _ => compressed(samples, feature),
    }
}

/// Copies the samples into compressed rows.
fn compressed<'s>(samples: &Samples, feature: Option<f64>) -> Layout<'s> {
    let entries = samples.non_zeros();
    let (mut offsets, mut indices, mut values) =
        (Vec::with_capacity(samples.len() + 1), Vec::with_capacity(entries), Vec::with_capacity(entries));
    offsets.push(0);
    for i in 0..samples.len() {
        samples.row(i).for_each(|j, v| {
            if v != 0.0 {
                indices.push(j as u32);
                values.push(v);
            }
        });
        offsets.push(indices.len());
    }
    smallest(offsets, indices, values, samples.features(), feature)
}

/// The smallest layout that holds the numbers.
fn smallest<'s>(
    offsets: Vec<usize>,
    indices: impl Into<Cow<'s, [u32]>>,
    values: impl Into<Cow<'s, [f64]>>,
    columns: usize,
    feature: Option<f64>,
) -> Layout<'s> {
    let values: Cow<'s, [f64]> = values.into();
    if values.iter().all(|v| *v == 1.0) {
        let ones = vec![One; values.len()];
        Layout::Ones(Sparse { rows: SparseRows::new(offsets, indices, ones, columns), feature })
    } else if values.iter().all(|v| f64::from(*v as f32) == *v) {
        let single: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        Layout::Single(Sparse { rows: SparseRows::new(offsets, indices, single, columns), feature })
    } else {
        Layout::Double(Sparse { rows: SparseRows::new(offsets, indices, values, columns), feature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Products<'w>(&'w [f64]);

    impl Job for Products<'_> {
        type Out = Vec<f64>;
        fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
            (0..rows.len()).map(|i| rows.dot(i, self.0)).collect()
        }
    }

    #[test]
    fn every_layout_has_the_same_numbers() {
        let w = [1.0, 10.0, 100.0, 1000.0, 5.0];
        let cases: [(Vec<f64>, [f64; 2]); 4] = [
            (vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1000.0]),
            (vec![0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0], [0.5, 2000.0]),
            (vec![0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0], [0.1, 3000.0]),
            (vec![0.1, 0.2, 0.3, 0.4, 1.0, 2.0, 3.0, 0.0], [432.1, 321.0]),
        ];
        for (values, expected) in cases {
            let samples = Samples::from_dense(2, 4, values).expect("a matrix").compact();
            for feature in [None, Some(2.0)] {
                let matrix = Matrix::new(&samples, feature, Par::Seq);
                let extra = feature.map_or(0.0, |f| 5.0 * f);
                let w = &w[..4 + usize::from(feature.is_some())];
                let found = matrix.visit(Products(w));
                assert!(found.iter().zip(expected).all(|(f, e)| (f - e - extra).abs() < 1e-12), "{found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn empty_columns_cost_nothing() {
        let far = 3_000_000_000;
        let samples = Samples::from_sparse(far as usize + 1, vec![0, 1, 2], vec![far, 7], vec![2.0, 3.0]).expect("a matrix");
        let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
        assert_eq!(matrix.squares(), [5.0, 10.0]);
        assert_eq!(matrix.unpack(&[0.5, -0.25, 4.0]), (vec![(7, 0.5), (far, -0.25)], 4.0));
        assert_eq!(matrix.pack(&[(7, 0.5), (far, -0.25)], 4.0), Some(vec![0.5, -0.25, 4.0]));
        assert_eq!(matrix.pack(&[(8, 0.5)], 4.0), None, "feature 8 has no column");
        let without = Matrix::new(&samples, None, Par::Seq);
        assert_eq!((without.pack(&[], 0.0), without.pack(&[], 1.0)), (Some(vec![0.0, 0.0]), None));
    }
}
