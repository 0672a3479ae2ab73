//! Arrays of numpy and scipy as samples. They are copied once, so that later writes to an array do
//! not change a training.

use crate::run::{Failure, run};
use maxmargin::data::samples::{ArrayForm, SamplesError};
use maxmargin::data::{Dataset, Par, ReadOptions, RunControl, Samples, compress, libsvm};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArray3, PyArray4, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Samples and their targets.
#[pyclass(frozen, module = "maxmargin._native")]
pub(crate) struct Data {
    pub(crate) data: Arc<Dataset>,
}

impl Data {
    /// Returns samples with one target each. `y` is `None` for prediction.
    fn of(samples: Samples, y: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        let y = y.map_or_else(|| Ok(vec![0.0; samples.len()]), |y| y.as_slice().map(<[f64]>::to_vec))?;
        let data = Dataset::from_samples(samples, &y).map_err(invalid)?;
        Ok(Self { data: Arc::new(data) })
    }
}

#[pymethods]
impl Data {
    /// Returns the samples of a C-contiguous array of float32 or float64.
    #[staticmethod]
    #[pyo3(signature = (x, y=None))]
    fn dense(x: &Bound<'_, PyAny>, y: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        // Rows to predict are read once.
        let form = if y.is_some() { ArrayForm::Smallest } else { ArrayForm::Dense };
        let (rows, features) = shape_of(x)?;
        let samples = if let Ok(x) = x.cast::<PyArray2<f64>>() {
            from_array(x.readonly().as_slice()?, rows, features, form)
        } else {
            from_array(x.cast::<PyArray2<f32>>().map_err(|_| wrong_type())?.readonly().as_slice()?, rows, features, form)
        };
        Self::of(samples?, y)
    }

    /// Returns samples of a precomputed kernel matrix: kernel values of training samples with each
    /// other, or of other samples with them.
    #[staticmethod]
    #[pyo3(signature = (k, y=None))]
    fn precomputed(k: &Bound<'_, PyAny>, y: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        let (values, columns) = kernel_values(k)?;
        let rows = values.len() / columns;
        let of_kernel = |error| match error {
            // Column 0 does not belong to the matrix.
            SamplesError::NotFinite { row, feature, value } => PyValueError::new_err(format!(
                "the kernel matrix has {value} in row {row}, column {} (both from 0): kernel values are finite numbers",
                feature - 1
            )),
            other => invalid(other),
        };
        Self::of(Samples::from_dense(rows, columns, values).map_err(of_kernel)?, y)
    }

    /// Returns samples of compressed rows: values of float32 or float64, and sorted indices without
    /// duplicates of int32 or int64.
    #[staticmethod]
    #[pyo3(signature = (values, indices, indptr, features, y=None))]
    fn csr(
        values: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        indptr: &Bound<'_, PyAny>,
        features: usize,
        y: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let offsets = integers(indptr, |at| usize::try_from(at).ok())?;
        let indices = integers(indices, |at| u32::try_from(at).ok())?;
        let values = match values.extract::<PyReadonlyArray1<'_, f64>>() {
            Ok(values) => values.as_slice()?.to_vec(),
            Err(_) => values.extract::<PyReadonlyArray1<'_, f32>>()?.as_slice()?.iter().map(|&value| f64::from(value)).collect(),
        };
        let samples = Samples::from_sparse(features, offsets, indices, values).map_err(invalid)?;
        Self::of(samples.compact(), y)
    }

    /// (rows, features)
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.data.samples.len(), self.data.samples.features())
    }
}

/// Copies an array until a signal raises an exception.
fn from_array<T: Copy + Into<f64>>(values: &[T], rows: usize, features: usize, form: ArrayForm) -> PyResult<Samples> {
    let mut raised = None;
    let control = RunControl::new(|_| {
        raised = Python::attach(|py| py.check_signals().err());
        if raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let samples = Samples::from_array(values, rows, features, form, &control).map_err(invalid);
    drop(control);
    raised.map_or(samples, Err)
}

/// Returns the shape of an array of rows.
fn shape_of(x: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    let untyped = x.cast::<PyUntypedArray>()?;
    if untyped.ndim() != 2 {
        return Err(PyValueError::new_err(format!("expected an array of 2 dimensions, got {}", untyped.ndim())));
    }
    // `as_slice` would confuse rows and columns of an array in Fortran order.
    if !untyped.is_c_contiguous() {
        return Err(PyValueError::new_err("the array is not C-contiguous; convert it with numpy.ascontiguousarray"));
    }
    Ok((untyped.shape()[0], untyped.shape()[1]))
}

fn wrong_type() -> PyErr {
    PyTypeError::new_err("expected an array of float32 or float64")
}

/// Returns the values of a kernel matrix with a column of serial numbers before it, which only rows
/// of the training set have, and the number of its columns.
fn kernel_values(k: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, usize)> {
    fn copied<T: Element + Copy + Into<f64>>(k: &Bound<'_, PyArray2<T>>) -> PyResult<Vec<f64>> {
        let k: PyReadonlyArray2<'_, T> = k.readonly();
        let columns = k.shape()[1];
        let mut values = Vec::with_capacity(k.shape()[0] * (columns + 1));
        for (row, of_row) in k.as_slice()?.chunks(columns.max(1)).enumerate() {
            k.py().check_signals()?;
            values.push(if row < columns { (row + 1) as f64 } else { 0.0 });
            values.extend(of_row.iter().map(|&value| value.into()));
        }
        Ok(values)
    }
    let columns = shape_of(k)?.1 + 1;
    let values = if let Ok(k) = k.cast::<PyArray2<f64>>() {
        copied(k)
    } else {
        copied(k.cast::<PyArray2<f32>>().map_err(|_| wrong_type())?)
    };
    Ok((values?, columns))
}

/// Converts an array of int32 or int64 to another type.
fn integers<T>(from: &Bound<'_, PyAny>, into: impl Fn(i64) -> Option<T>) -> PyResult<Vec<T>> {
    let too_large = || PyOverflowError::new_err("a matrix of more than 2^32 columns, or with negative indices");
    if let Ok(from) = from.extract::<PyReadonlyArray1<'_, i32>>() {
        return from.as_slice()?.iter().map(|&at| into(at.into()).ok_or_else(too_large)).collect();
    }
    let from = from.extract::<PyReadonlyArray1<'_, i64>>()?;
    from.as_slice()?.iter().map(|&at| into(at).ok_or_else(too_large)).collect()
}

/// Returns the factors of C of samples.
pub(crate) fn sample_weights(given: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Option<Vec<f64>>> {
    let Some(weights) = given else { return Ok(None) };
    if !weights.is_contiguous() {
        return Err(PyValueError::new_err("the sample weights are not contiguous; convert them with numpy.ascontiguousarray"));
    }
    Ok(Some(weights.as_slice()?.to_vec()))
}

/// Converts an error of the library to Python's `ValueError`.
pub(crate) fn invalid(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Compressed rows as numpy arrays: values, indices, offsets and the number of columns.
pub(crate) type Vectors<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, usize);

/// Shapley values, base values, decision values and interactions.
pub(crate) type Explained<'py> =
    (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray4<f64>>>);

/// Returns samples of any storage as compressed rows, in vectors.
pub(crate) fn compressed(samples: &Samples) -> (Vec<f64>, Vec<i64>, Vec<i64>, usize) {
    let entries = samples.non_zeros();
    let (mut values, mut indices, mut indptr) = (Vec::with_capacity(entries), Vec::with_capacity(entries), vec![0]);
    for row in 0..samples.len() {
        samples.row(row).for_each(|column, value| {
            if value != 0.0 {
                values.push(value);
                indices.push(column as i64);
            }
        });
        indptr.push(values.len() as i64);
    }
    (values, indices, indptr, samples.features())
}

/// Returns the generated table of penguins as text.
#[pyfunction]
pub(crate) fn penguins(rows: usize, seed: u64) -> String {
    maxmargin::data::generate::penguins(rows, seed)
}

/// Returns the rows of a LIBSVM text, which may be compressed, their labels, and the index of the
/// first column.
#[pyfunction]
pub(crate) fn read_libsvm(py: Python<'_>, bytes: Vec<u8>) -> PyResult<(Vectors<'_>, Bound<'_, PyArray1<f64>>, u32)> {
    let ((values, indices, indptr, features), labels, base) = run(py, None, move |_| -> Result<_, Failure> {
        let text = compress::read_all(&bytes[..], u64::MAX)?;
        let data = libsvm::parse(&text, &ReadOptions::default(), Par::Pool, &RunControl::unlimited())?;
        Ok((compressed(&data.samples), data.labels, data.index_base))
    })?;
    let rows = (values.into_pyarray(py), indices.into_pyarray(py), indptr.into_pyarray(py), features);
    Ok((rows, labels.into_pyarray(py), base))
}
