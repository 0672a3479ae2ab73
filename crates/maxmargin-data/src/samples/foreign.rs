//! Samples from rows of numbers and from the matrices of other crates.

use super::compact::is_single;
use super::{ArrayForm, Samples, SamplesError, Storage};
use crate::run::RunControl;
use sprs::{CsMatViewI, SpIndex};

/// A dense matrix from its values in row order. The iterator runs twice, so that only the result is
/// allocated.
fn dense(rows: usize, features: usize, values: impl Iterator<Item = f64> + Clone) -> Result<Samples, SamplesError> {
    let mut single = true;
    for (at, value) in values.clone().enumerate() {
        if !value.is_finite() {
            return Err(SamplesError::NotFinite { row: at / features, feature: at % features, value });
        }
        single &= is_single(value);
    }
    let storage = if single {
        let mut narrow = Vec::with_capacity(rows * features);
        narrow.extend(values.map(|v| v as f32));
        Storage::Dense32(narrow)
    } else {
        let mut wide = Vec::with_capacity(rows * features);
        wide.extend(values);
        Storage::Dense64(wide)
    };
    Ok(Samples::from_parts(rows, features, storage))
}

impl Samples {
    /// A dense matrix from rows: `&[Vec<f64>]`, `&[[f64; 3]]`, `&[&[f64]]` and the like.
    ///
    /// ```
    /// use maxmargin_data::Samples;
    ///
    /// let samples = Samples::from_rows(&[[1.0, 2.0], [0.5, 0.0]])?;
    /// assert_eq!((samples.len(), samples.features()), (2, 2));
    /// let ragged = Samples::from_rows(&[vec![1.0, 2.0], vec![0.5]]).unwrap_err();
    /// assert_eq!(ragged.to_string(), "row 1 has 1 values, but the rows before it have 2");
    /// # Ok::<(), maxmargin_data::SamplesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When rows differ in length or a value is not finite.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, SamplesError> {
        let expected = rows.first().map_or(0, |row| row.as_ref().len());
        let lengths = rows.iter().map(|row| row.as_ref().len()).enumerate();
        if let Some((row, found)) = lengths.into_iter().find(|(_, length)| *length != expected) {
            return Err(SamplesError::Ragged { row, found, expected });
        }
        dense(rows.len(), expected, rows.iter().flat_map(|row| row.as_ref().iter().copied()))
    }

    /// A dense matrix from a copy of row-major `values` ([`Samples::from_dense`] takes ownership).
    ///
    /// ```
    /// use maxmargin_data::Samples;
    ///
    /// let samples = Samples::from_slice(&[1.0, 2.0, 0.5, 0.0], 2, 2)?;
    /// assert_eq!(samples.row(1).entries(), [(0, 0.5)]);
    /// # Ok::<(), maxmargin_data::SamplesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the shape does not match or a value is not finite.
    pub fn from_slice(values: &[f64], rows: usize, features: usize) -> Result<Self, SamplesError> {
        Self::from_array(values, rows, features, ArrayForm::Dense, &RunControl::unlimited())
    }

    /// Compressed rows from a sparse matrix with indices of any type, rows or columns compressed.
    /// Stored zeros are dropped.
    ///
    /// ```
    /// use maxmargin_data::Samples;
    /// use sprs::TriMat;
    ///
    /// let mut triplets = TriMat::new((2, 1_000_000));
    /// triplets.add_triplet(0, 999_999, 2.5);
    /// triplets.add_triplet(1, 3, -1.0);
    /// let rows = Samples::from_csr(triplets.to_csr::<usize>().view())?;
    /// assert_eq!(rows.row(0).entries(), [(999_999, 2.5)]);
    /// assert_eq!(Samples::from_csr(triplets.to_csc::<usize>().view())?, rows);
    /// # Ok::<(), maxmargin_data::SamplesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the indices of a row do not ascend, a column number does not fit in 32 bits, or a value
    /// is not finite.
    pub fn from_csr<I: SpIndex, P: SpIndex>(matrix: CsMatViewI<'_, f64, I, P>) -> Result<Self, SamplesError> {
        let by_rows;
        let matrix = if matrix.is_csr() {
            matrix
        } else {
            by_rows = matrix.to_csr();
            by_rows.view()
        };
        let (mut indices, mut values) = (Vec::with_capacity(matrix.nnz()), Vec::with_capacity(matrix.nnz()));
        let mut offsets = Vec::with_capacity(matrix.rows() + 1);
        offsets.push(0);
        for (row, entries) in matrix.outer_iterator().enumerate() {
            for (column, &value) in entries.iter().filter(|(_, v)| **v != 0.0) {
                let index = u32::try_from(column)
                    .map_err(|_| SamplesError::Structure(format!("column {column} of row {row} does not fit in 32 bits")))?;
                indices.push(index);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        Self::from_sparse(matrix.cols(), offsets, indices, values)
    }

    /// A dense matrix from an array of rows with any strides, of any number type that is exact in
    /// `f64` (feature `ndarray`).
    ///
    /// ```
    /// use maxmargin_data::Samples;
    /// use ndarray::array;
    ///
    /// let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// assert_eq!(Samples::from_ndarray(x.t())?, Samples::from_rows(&[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])?);
    /// assert_eq!(Samples::from_ndarray(x.mapv(|v| v as f32).view())?, Samples::from_ndarray(x.view())?);
    /// # Ok::<(), maxmargin_data::SamplesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a value is not finite.
    #[cfg(feature = "ndarray")]
    pub fn from_ndarray<T: Copy + Into<f64>>(x: ndarray::ArrayView2<'_, T>) -> Result<Self, SamplesError> {
        dense(x.nrows(), x.ncols(), x.iter().map(|&v| v.into()))
    }

    /// A dense matrix from a `faer` matrix of rows with any strides (feature `faer`).
    ///
    /// ```
    /// use maxmargin_data::Samples;
    ///
    /// let x = faer::mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// assert_eq!(Samples::from_faer(x.as_ref())?, Samples::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?);
    /// # Ok::<(), maxmargin_data::SamplesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a value is not finite.
    #[cfg(feature = "faer")]
    pub fn from_faer(x: faer::MatRef<'_, f64>) -> Result<Self, SamplesError> {
        dense(x.nrows(), x.ncols(), (0..x.nrows()).flat_map(|i| (0..x.ncols()).map(move |j| x[(i, j)])))
    }
}
