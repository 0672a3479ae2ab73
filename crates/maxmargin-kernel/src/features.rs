//! The sample matrix as linear solvers want it: rows to multiply with w, in the smallest form that
//! holds the same numbers.

mod passes;
mod rows;

pub use passes::{CHUNK, combine, products};
pub use rows::FeatureRows;

use crate::ledger::MemoryBudget;
use maxmargin_data::{Par, Samples, Storage};
use maxmargin_simd::sparse::{One, SparseRows};
use rows::{Dense, Sparse};
use std::borrow::Cow;

/// A dense row costs about as much as a sparse one with this share of its entries, as long as all
/// are in the cache.
const DENSE_SHARE: f64 = 0.3;

/// Bytes of a matrix that stays in the cache. Of a larger one it is the bytes that cost.
const CACHED: usize = 1 << 24;

/// Work that is done on rows of any form.
pub trait Job {
    /// What it gives.
    type Out;
    /// Does it.
    fn run<R: FeatureRows>(self, rows: &R) -> Self::Out;
}

/// The samples of a linear problem: the numbers of [`Samples`], with the bias as one more feature
/// where that is wanted.
///
/// Rows are borrowed; only values that are exact in `f32` are copied in that form (those that are
/// all 1 need no values), and dense rows of mostly zeros are compressed.
pub struct Matrix<'s> {
    form: Form<'s>,
    /// The number of each column that is kept, where most of very many columns are empty.
    columns: Option<Vec<u32>>,
    features: usize,
    feature: Option<f64>,
    /// `x_i · x_i` of every row, the extra feature included.
    squares: Vec<f64>,
    ledger: MemoryBudget,
}

enum Form<'s> {
    Ones(Sparse<'s, One>),
    Single(Sparse<'s, f32>),
    Double(Sparse<'s, f64>),
    Dense32(Dense<'s, f32>),
    Dense64(Dense<'s, f64>),
}

impl<'s> Matrix<'s> {
    /// The rows of `samples`; `feature` is the value of an additional feature that all rows have
    /// (LIBLINEAR's `-B`), whose weight is the bias and is regularised like all others.
    pub fn new(samples: &'s Samples, feature: Option<f64>, par: Par) -> Self {
        let features = samples.features();
        let (form, columns) = if let Some((packed, columns)) = samples.packed() {
            (compressed(&packed, feature), Some(columns))
        } else {
            (form_of(samples, feature), None)
        };
        let mut matrix = Self { form, columns, features, feature, squares: Vec::new(), ledger: MemoryBudget::new(u64::MAX) };
        matrix.squares = matrix.visit(Squares(par));
        matrix
    }

    /// The same, with `budget` bytes for what solvers hold beside it.
    #[must_use]
    pub fn with_budget(self, budget: u64) -> Self {
        Self { ledger: MemoryBudget::new(budget), ..self }
    }

    /// What solvers hold beside it.
    pub fn ledger(&self) -> &MemoryBudget {
        &self.ledger
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of features of the samples.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Value of the additional feature.
    pub fn feature(&self) -> Option<f64> {
        self.feature
    }

    /// `x_i · x_i` of every row, the additional feature included.
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Stored entries.
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

    /// Does `job` on the rows in the form that they are held in.
    pub fn visit<J: Job>(&self, job: J) -> J::Out {
        match &self.form {
            Form::Ones(rows) => job.run(rows),
            Form::Single(rows) => job.run(rows),
            Form::Double(rows) => job.run(rows),
            Form::Dense32(rows) => job.run(rows),
            Form::Dense64(rows) => job.run(rows),
        }
    }

    /// `Σ_k coef_k x_{ids[k]}` as (feature, weight), features ascending, zeros left out, and the
    /// bias of the additional feature. The same bits for every `par`.
    ///
    /// # Panics
    ///
    /// When there is not one coefficient per id, or an id is out of range.
    pub fn weights(&self, ids: &[usize], coef: &[f64], par: Par) -> (Vec<(u32, f64)>, f64) {
        assert_eq!(ids.len(), coef.len(), "one coefficient per row");
        self.unpack(&self.visit(Weights { ids, coef, par }))
    }

    /// The solver's weights as (feature, weight) with the features of the samples, ascending, zeros
    /// left out, and the bias of the additional feature.
    pub fn unpack(&self, w: &[f64]) -> (Vec<(u32, f64)>, f64) {
        let count = w.len() - usize::from(self.feature.is_some());
        let bias = self.feature.map_or(0.0, |value| value * w[count]);
        let name = |at: usize| self.columns.as_ref().map_or(at as u32, |columns| columns[at]);
        (w[..count].iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(at, &v)| (name(at), v)).collect(), bias)
    }
}

struct Weights<'a> {
    ids: &'a [usize],
    coef: &'a [f64],
    par: Par,
}

impl Job for Weights<'_> {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        combine(rows, self.ids, self.coef, self.par)
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

fn form_of(samples: &Samples, feature: Option<f64>) -> Form<'_> {
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
        Storage::Dense32(values) if dense => Form::Dense32(Dense { values, rows, columns, feature }),
        Storage::Dense64(values) if dense => Form::Dense64(Dense { values, rows, columns, feature }),
        Storage::Sparse(matrix) => {
            let (offsets, indices) = (matrix.indptr(), matrix.indices());
            let offsets = offsets.raw_storage().to_vec();
            smallest(offsets, indices, matrix.data(), columns, feature)
        }
        _ => compressed(samples, feature),
    }
}

/// A copy in compressed rows.
fn compressed<'s>(samples: &Samples, feature: Option<f64>) -> Form<'s> {
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

/// The smallest form that holds the numbers.
fn smallest<'s>(
    offsets: Vec<usize>,
    indices: impl Into<Cow<'s, [u32]>>,
    values: impl Into<Cow<'s, [f64]>>,
    columns: usize,
    feature: Option<f64>,
) -> Form<'s> {
    let values: Cow<'s, [f64]> = values.into();
    if values.iter().all(|v| *v == 1.0) {
        let ones = vec![One; values.len()];
        Form::Ones(Sparse { rows: SparseRows::new(offsets, indices, ones, columns), feature })
    } else if values.iter().all(|v| f64::from(*v as f32) == *v) {
        let single: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        Form::Single(Sparse { rows: SparseRows::new(offsets, indices, single, columns), feature })
    } else {
        Form::Double(Sparse { rows: SparseRows::new(offsets, indices, values, columns), feature })
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
    fn every_form_has_the_same_numbers() {
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
    }
}
