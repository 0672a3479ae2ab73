//! The sample matrix as linear solvers want it: rows to multiply with w, in the smallest form that holds the same numbers.

use maxmargin_data::{Par, Samples, Storage};
use maxmargin_simd::sparse::{One, SparseRows, Value, prefetch};
use maxmargin_simd::sums;
use std::borrow::Cow;

/// A dense row costs about as much as a sparse one with this share of its entries, as long as all are in the cache.
const DENSE_SHARE: f64 = 0.3;

/// Bytes of a matrix that stays in the cache. Of a larger one it is the bytes that cost.
const CACHED: usize = 1 << 24;

/// Rows that can be multiplied with a weight vector.
pub(crate) trait Rows: Sync {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Length of the weight vector, the extra feature included.
    fn width(&self) -> usize;
    /// Number of stored entries.
    fn entries(&self) -> usize;
    /// Entries of row `i`.
    fn entries_of(&self, i: usize) -> usize;
    /// `x_i · w`
    fn dot(&self, i: usize, w: &[f64]) -> f64;
    /// `w += factor x_i`
    fn add(&self, i: usize, factor: f64, w: &mut [f64]);
    /// Calls `each` with column and value of every entry of row `i` that may differ from 0, columns ascending.
    fn each(&self, i: usize, each: impl FnMut(usize, f64));
    /// Row `i` will be needed soon.
    fn prefetch(&self, i: usize);
}

/// Rows with one more feature of the same value: the bias as a weight.
pub(crate) struct Sparse<'s, V: Value> {
    rows: SparseRows<'s, V>,
    feature: Option<f64>,
}

impl<V: Value> Rows for Sparse<'_, V> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn width(&self) -> usize {
        self.rows.columns() + usize::from(self.feature.is_some())
    }

    fn entries(&self) -> usize {
        self.rows.entries() + if self.feature.is_some() { self.len() } else { 0 }
    }

    #[inline]
    fn entries_of(&self, i: usize) -> usize {
        self.rows.row(i).0.len() + usize::from(self.feature.is_some())
    }

    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let sum = self.rows.dot(i, w);
        self.feature.map_or(sum, |value| sum + value * w[self.rows.columns()])
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        self.rows.add(i, factor, w);
        if let Some(value) = self.feature {
            w[self.rows.columns()] += factor * value;
        }
    }

    fn each(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        let (columns, values) = self.rows.row(i);
        columns.iter().zip(values).for_each(|(&j, value)| each(j as usize, value.get()));
        if let Some(value) = self.feature {
            each(self.rows.columns(), value);
        }
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        self.rows.prefetch(i);
    }
}

/// Dense rows, borrowed from the samples.
pub(crate) struct Dense<'s, T> {
    values: &'s [T],
    rows: usize,
    columns: usize,
    feature: Option<f64>,
}

impl<T: Into<f64> + Copy + Sync> Dense<'_, T> {
    #[inline]
    fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }
}

impl<T: Into<f64> + Copy + Sync> Rows for Dense<'_, T> {
    fn len(&self) -> usize {
        self.rows
    }

    fn width(&self) -> usize {
        self.columns + usize::from(self.feature.is_some())
    }

    fn entries(&self) -> usize {
        self.rows * self.width()
    }

    #[inline]
    fn entries_of(&self, _: usize) -> usize {
        self.width()
    }

    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let sum = sums::dot(&w[..self.columns], self.row(i));
        self.feature.map_or(sum, |value| sum + value * w[self.columns])
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        sums::add_scaled(&mut w[..self.columns], factor, self.row(i));
        if let Some(value) = self.feature {
            w[self.columns] += factor * value;
        }
    }

    fn each(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        for (j, &value) in self.row(i).iter().enumerate() {
            let value: f64 = value.into();
            if value != 0.0 {
                each(j, value);
            }
        }
        if let Some(value) = self.feature {
            each(self.columns, value);
        }
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        if i < self.rows {
            prefetch(self.row(i));
        }
    }
}

/// Work that is done on rows of any form.
pub(crate) trait Job {
    /// What it gives.
    type Out;
    /// Does it.
    fn run<R: Rows>(self, rows: &R) -> Self::Out;
}

/// The samples of a linear problem: the numbers of [`Samples`], with the bias as one more feature where that is wanted.
///
/// Rows are borrowed; only values that are exact in `f32` are copied in that form (those that are all 1 need no values), and dense rows of mostly zeros are
/// compressed.
pub struct Matrix<'s> {
    form: Form<'s>,
    /// The number of each column that is kept, where most of very many columns are empty.
    columns: Option<Vec<u32>>,
    features: usize,
    feature: Option<f64>,
    /// `x_i · x_i` of every row, the extra feature included.
    squares: Vec<f64>,
}

enum Form<'s> {
    Ones(Sparse<'s, One>),
    Single(Sparse<'s, f32>),
    Double(Sparse<'s, f64>),
    Dense32(Dense<'s, f32>),
    Dense64(Dense<'s, f64>),
}

impl<'s> Matrix<'s> {
    /// The rows of `samples`; `feature` is the value of an additional feature that all rows have (LIBLINEAR's `-B`), whose weight is the bias and
    /// is regularised like all others.
    pub fn new(samples: &'s Samples, feature: Option<f64>, par: Par) -> Self {
        let features = samples.features();
        let (form, columns) = if let Some((packed, columns)) = samples.packed() {
            (compressed(&packed, feature), Some(columns))
        } else {
            (form_of(samples, feature), None)
        };
        let mut matrix = Self { form, columns, features, feature, squares: Vec::new() };
        matrix.squares = matrix.visit(Squares(par));
        matrix
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
            fn run<R: Rows>(self, rows: &R) -> usize {
                rows.entries()
            }
        }
        self.visit(Entries)
    }

    pub(crate) fn visit<J: Job>(&self, job: J) -> J::Out {
        match &self.form {
            Form::Ones(rows) => job.run(rows),
            Form::Single(rows) => job.run(rows),
            Form::Double(rows) => job.run(rows),
            Form::Dense32(rows) => job.run(rows),
            Form::Dense64(rows) => job.run(rows),
        }
    }

    /// The solver's weights as (feature, weight) with the features of the samples, ascending, zeros left out, and the bias of the additional feature.
    pub(crate) fn unpack(&self, w: &[f64]) -> (Vec<(u32, f64)>, f64) {
        let count = w.len() - usize::from(self.feature.is_some());
        let bias = self.feature.map_or(0.0, |value| value * w[count]);
        let name = |at: usize| self.columns.as_ref().map_or(at as u32, |columns| columns[at]);
        (w[..count].iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(at, &v)| (name(at), v)).collect(), bias)
    }
}

struct Squares(Par);

impl Job for Squares {
    type Out = Vec<f64>;

    fn run<R: Rows>(self, rows: &R) -> Vec<f64> {
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
        fn run<R: Rows>(self, rows: &R) -> Vec<f64> {
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
