//! LIBSVM's trainings, folds, models and predictions on arrays, for `maxmargin.svmutil`.

use crate::data::{Data, invalid};
use crate::model::Model;
use crate::run::{Failure, run};
use maxmargin::data::{Dataset, Par};
use maxmargin::libsvm::{Classes, Folds, LibsvmProblem, LibsvmRun, Parameters, Rand, TrainedModel, cross_validate, train};
use maxmargin::model;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// A model with LIBSVM's order of labels and LIBSVM's signs of decision values.
#[pyclass(frozen, module = "maxmargin._native")]
pub(crate) struct LibsvmModel {
    learned: Arc<TrainedModel>,
    /// The rows of the support vectors in the training data, in the order of the model file; empty
    /// for a model from a file.
    rows: Vec<usize>,
    /// LIBSVM's output of the training.
    story: String,
    warning: Option<&'static str>,
}

#[pymethods]
impl LibsvmModel {
    /// Reads a model file of LIBSVM or of maxmargin.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let learned = TrainedModel::read(bytes).map_err(invalid)?;
        Ok(Self { learned: Arc::new(learned), rows: Vec::new(), story: String::new(), warning: None })
    }

    /// Returns LIBSVM's model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        self.learned.write(&mut text).map_err(invalid)?;
        Ok(PyBytes::new(py, &text))
    }

    /// The model with machines; `None` for data with one class only.
    #[getter]
    fn model(&self) -> Option<Model> {
        self.learned.model().map(|model| Model::new(model.clone()))
    }

    /// The rows of the support vectors in the training data, from 0, in the order of the model
    /// file.
    #[getter]
    fn rows(&self) -> Vec<usize> {
        self.rows.clone()
    }

    /// LIBSVM's output of the training.
    #[getter]
    fn story(&self) -> String {
        self.story.clone()
    }

    /// A warning of the training, of a ν that leaves no margin.
    #[getter]
    fn warning(&self) -> Option<&'static str> {
        self.warning
    }

    /// The number of the first feature: 0 or 1.
    #[getter]
    fn index_base(&self) -> u32 {
        self.learned.model().map_or(1, |model| model.parts().index_base)
    }

    /// The scale of the errors of a regression with probabilities.
    #[getter]
    fn error_scale(&self) -> Option<f64> {
        self.learned.model().and_then(model::Model::error_scale)
    }

    /// Returns the labels or values of all rows. With `probability`, labels have the greatest
    /// probability.
    fn predict<'py>(&self, py: Python<'py>, data: &Data, probability: bool) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (learned, data) = (Arc::clone(&self.learned), Arc::clone(&data.data));
        let labels = run(py, None, move |_| {
            let learned = if probability { TrainedModel::clone(&learned) } else { TrainedModel::clone(&learned).by_votes()? };
            Ok(learned.predict(&data.samples, Par::Pool)?)
        })?;
        Ok(labels.into_pyarray(py))
    }

    /// Returns the decision values, rows × machines. A value above 0 selects the class of a pair
    /// that comes first in the file.
    fn decisions<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(machines) = self.learned.model().map(|model| model.machines().len()) else { return Ok(None) };
        let (learned, data) = (Arc::clone(&self.learned), Arc::clone(&data.data));
        let shape = [data.samples.len(), machines];
        let values = run(py, None, move |_| -> Result<Vec<f64>, Failure> {
            let values = learned.model().map(|model| model::libsvm::decision_values(model, &data.samples, Par::Pool));
            Ok(values.transpose()?.unwrap_or_default())
        })?;
        Ok(Some(values.into_pyarray(py).reshape(shape)?))
    }
}

/// Reads parameters from a dictionary with LIBSVM's names.
fn parameters(given: &Bound<'_, PyDict>) -> PyResult<Parameters> {
    fn get<'py, T: FromPyObjectOwned<'py>>(given: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
        let missing = || PyValueError::new_err(format!("the parameter {name} is missing"));
        given.get_item(name)?.ok_or_else(missing)?.extract::<T>().map_err(Into::into)
    }
    Ok(Parameters {
        svm_type: get(given, "svm_type")?,
        kernel_type: get(given, "kernel_type")?,
        degree: get(given, "degree")?,
        gamma: get(given, "gamma")?,
        coef0: get(given, "coef0")?,
        cache_size: get(given, "cache_size")?,
        eps: get(given, "eps")?,
        c: get(given, "C")?,
        weights: get(given, "weights")?,
        nu: get(given, "nu")?,
        p: get(given, "p")?,
        shrinking: get(given, "shrinking")?,
        probability: get(given, "probability")?,
    })
}

/// Returns the problem after LIBSVM's checks.
fn problem(data: &Data, index_base: u32, parameters: &Parameters) -> PyResult<LibsvmProblem> {
    parameters.check(&data.data.labels).map_err(|fault| PyValueError::new_err(format!("Error: {fault}")))?;
    let mut data = Dataset::clone(&data.data);
    data.index_base = index_base;
    LibsvmProblem::new(data, parameters).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn settings(parameters: &Parameters) -> LibsvmRun {
    let usual = LibsvmRun::default();
    LibsvmRun { par: Par::Pool, memory: usual.memory.max((parameters.cache_size * 1_048_576.0) as u64), ..usual }
}

/// Trains as `svm-train`.
#[pyfunction]
pub(crate) fn libsvm_train(
    py: Python<'_>,
    data: &Data,
    index_base: u32,
    given: &Bound<'_, PyDict>,
) -> PyResult<(LibsvmModel, Vec<i32>)> {
    let parameters = parameters(given)?;
    let problem = problem(data, index_base, &parameters)?;
    let unknown = problem.unknown_weights(&parameters).collect();
    let (trained, rows) = run(py, None, move |_| -> Result<_, Failure> {
        let trained = train(&problem, &parameters, &settings(&parameters))?;
        let mut rows: Vec<usize> = trained.machines.iter().flat_map(|machine| machine.terms.iter().map(|term| term.0)).collect();
        rows.sort_unstable();
        rows.dedup();
        if let Some(Classes { of, .. }) = problem.classes() {
            rows.sort_by_key(|&row| of[row]);
        }
        Ok((trained, rows))
    })?;
    let (story, warning) = (trained.console_text(), trained.margin_warning());
    Ok((LibsvmModel { learned: Arc::new(trained.learned), rows, story, warning }, unknown))
}

/// Returns the predictions of `svm-train -v` for each row, on the folds of its shuffle.
#[pyfunction]
pub(crate) fn libsvm_cross_validate<'py>(
    py: Python<'py>,
    data: &Data,
    index_base: u32,
    given: &Bound<'_, PyDict>,
    folds: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let parameters = parameters(given)?;
    let problem = problem(data, index_base, &parameters)?;
    let predicted = run(py, None, move |_| -> Result<_, Failure> {
        let mut draws = Rand::default().draws();
        let folds = Folds::new(problem.labels().len(), folds, problem.classes(), &mut draws);
        Ok(cross_validate(&problem, &parameters, &folds, &settings(&parameters))?.predicted)
    })?;
    Ok(predicted.into_pyarray(py))
}
