//! A trained model: its numbers, predictions, file, verification and updates.

use crate::data::{Data, Vectors, compressed, invalid};
use crate::report::{certificate, status};
use crate::run::{Channel, Failure, at_once, run};
use maxmargin::cv::{CalibrationReport, CertificateReport, Change, TrainingData, update, verify};
use maxmargin::data::{Dataset, Par};
use maxmargin::explain::Explain;
use maxmargin::kernel::Kernel;
use maxmargin::model;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArray4, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// Shapley values, base values, decision values and interactions.
type Explained<'py> =
    (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray4<f64>>>);

/// The number of products between two checks for cancellation, about a fifth of a second.
const PRODUCTS: usize = 1 << 33;

/// Largest number of products of a prediction on the calling thread: another thread would take as
/// long to start.
const FEW: usize = 1 << 20;

/// Fewest rows between two checks for cancellation: fewer would not occupy all threads.
const ROWS: usize = 1 << 10;

/// Returns the approximate number of products for a row: values of support vectors, and one
/// coefficient of each at least.
fn products(model: &model::Model) -> usize {
    let support = &model.parts().support;
    support.bytes() / size_of::<f64>() + support.len() + 1
}

/// A trained model.
#[pyclass(frozen, module = "maxmargin._native")]
pub(crate) struct Model {
    model: Arc<model::Model>,
    /// The calibration report of the training, which files do not contain.
    calibration: Option<CalibrationReport>,
}

impl Model {
    pub(crate) fn new(model: model::Model) -> Self {
        Self::calibrated(model, None)
    }

    pub(crate) fn calibrated(model: model::Model, calibration: Option<CalibrationReport>) -> Self {
        Self { model: Arc::new(model), calibration }
    }
}

/// Predicts rows by `each`: a few at once on the calling thread, many in parts on the pool.
fn predict<T: Send + 'static>(
    py: Python<'_>,
    model: &Arc<model::Model>,
    data: &Arc<Dataset>,
    report: Option<&Bound<'_, PyAny>>,
    each: impl Fn(&model::Model, &maxmargin::data::Samples, Par) -> Result<Vec<T>, model::ModelError> + Send + Sync + 'static,
) -> PyResult<Vec<T>> {
    if data.samples.len().saturating_mul(products(model)) <= FEW {
        return at_once(py, || Ok(each(model, &data.samples, Par::Seq)?));
    }
    let (model, data) = (Arc::clone(model), Arc::clone(data));
    run(py, report, move |channel| in_parts(&model, &data, channel, |rows| each(&model, rows, Par::Pool)))
}

/// Calls `each` on parts of the rows, until the caller does not wait any more.
fn in_parts<T>(
    model: &model::Model,
    data: &Dataset,
    channel: &Channel,
    each: impl Fn(&maxmargin::data::Samples) -> Result<Vec<T>, model::ModelError>,
) -> Result<Vec<T>, Failure> {
    let (rows, part) = (data.samples.len(), (PRODUCTS / products(model)).max(ROWS));
    if rows <= part {
        return Ok(each(&data.samples)?);
    }
    let mut all = Vec::new();
    for begin in (0..rows).step_by(part) {
        if channel.is_cancelled() {
            break;
        }
        let part: Vec<usize> = (begin..rows.min(begin + part)).collect();
        all.extend(each(&data.samples.select(&part))?);
    }
    Ok(all)
}

/// Returns `w = Σ coef_k x_k` of a machine. The caller checks that the memory suffices.
fn sum_weights(model: &model::Model, machine: usize) -> Vec<f64> {
    let mut weights = vec![0.0; model.features()];
    let machine = &model.machines()[machine];
    for (&vector, coef) in machine.support.iter().zip(&machine.coef) {
        model.parts().support.row(vector as usize).for_each(|column, value| weights[column] += coef * value);
    }
    weights
}

/// Checks that there are not far more weights than values: a single index of 4,000,000,000 would
/// need 32 GB.
fn check_weights(model: &model::Model) -> PyResult<()> {
    let terms: usize = model.machines().iter().map(|machine| machine.coef.len()).sum();
    let entries = model.parts().support.non_zeros() + terms;
    model::check_width(model.features(), model.machines().len(), entries).map_err(|_| {
        PyMemoryError::new_err(format!(
            "there is a weight for each of {} features, and there are {entries} values; number the \
             features without gaps, or use maxmargin.train, whose models store only values that occur",
            model.features()
        ))
    })
}

#[pymethods]
impl Model {
    /// Reads a model of `to_bytes` or of the command channel, or a model file of LIBSVM.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        model::read(bytes).map(Self::new).map_err(invalid)
    }

    /// Returns the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &model::encode(&self.model).map_err(invalid)?))
    }

    /// Returns LIBSVM's model file.
    fn to_libsvm<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        model::libsvm::write_model(&self.model, &mut text).map_err(invalid)?;
        Ok(PyBytes::new(py, &text))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let classes = match self.model.classes().len() {
            0 => String::new(),
            classes => format!(", {classes} classes"),
        };
        let (kernel, vectors, features) = (self.model.kernel().name(), self.model.support_vectors(), self.model.features());
        format!("<Model: {kernel} kernel{classes}, {vectors} support vectors, {features} features>")
    }

    /// The labels; empty for regression and one class.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.classes().to_vec().into_pyarray(py)
    }

    /// The number of features of the training data.
    #[getter]
    fn features(&self) -> usize {
        self.model.features()
    }

    /// The formulation; `None` if the model has no training record.
    #[getter]
    fn formulation(&self) -> Option<&'static str> {
        self.model.record().map(|record| record.formulation.name())
    }

    /// The kernel's name.
    #[getter]
    fn kernel(&self) -> &'static str {
        self.model.kernel().name()
    }

    /// The kernel's gamma; `None` if it has none.
    #[getter]
    fn gamma(&self) -> Option<f64> {
        self.model.kernel().gamma()
    }

    /// Returns for each machine the rows of its support vectors in the training data, their
    /// coefficients (positive for the later class), its bias, and the status of its training.
    /// Without a training record, rows are indices of the model's own vectors.
    fn machines<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let record = self.model.record();
        // Biases of features as they come, which `intercept_` is.
        let plain = self.model.uncentred().map_err(invalid)?;
        let machine = |(p, machine): (usize, &model::Machine)| {
            let fields = PyDict::new(py);
            let training = record.map(|record| &record.machines[p]);
            let rows: Vec<i64> = match training {
                Some(training) => training.rows.iter().map(|&row| row as i64).collect(),
                None => machine.support.iter().map(|&row| row.into()).collect(),
            };
            let coef = training.and_then(|training| training.folded.clone()).unwrap_or_else(|| machine.coef.clone());
            fields.set_item("rows", rows.into_pyarray(py))?;
            fields.set_item("coef", coef.into_pyarray(py))?;
            fields.set_item("bias", machine.bias)?;
            if let (Some(training), Some(record)) = (training, record) {
                fields.set_item("status", status(training.status))?;
                fields.set_item("iterations", training.iterations)?;
                let holds = record.goal().met(&training.certificate);
                fields.set_item("certificate", certificate(py, &CertificateReport::new(&training.certificate, holds))?)?;
            }
            Ok(fields)
        };
        plain.machines().iter().enumerate().map(machine).collect()
    }

    /// Returns the weights of a machine of the linear kernel, one for each feature.
    fn weights<'py>(&self, py: Python<'py>, machine: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if machine >= self.model.machines().len() {
            return Err(PyIndexError::new_err(format!("there is no machine {machine}")));
        }
        if *self.model.kernel() != Kernel::Linear {
            return Err(PyValueError::new_err("only machines of the linear kernel have weights"));
        }
        check_weights(&self.model)?;
        // A model does not store weights that are almost all 0.
        let mut weights = self.model.weights(machine).map_or_else(|| sum_weights(&self.model, machine), <[f64]>::to_vec);
        weights.resize(self.model.features(), 0.0);
        Ok(weights.into_pyarray(py))
    }

    /// Returns the support vectors of all machines, by ascending row of the training data, as
    /// (values, indices, indptr, features).
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Vectors<'py>> {
        let plain = self.model.uncentred().map_err(invalid)?;
        let (values, indices, indptr, features) = compressed(&plain.parts().support);
        Ok((values.into_pyarray(py), indices.into_pyarray(py), indptr.into_pyarray(py), features))
    }

    /// Returns the stored training data, as (values, indices, indptr, features) and labels; `None`
    /// if the model does not store it.
    fn kept<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vectors<'py>, Bound<'py, PyArray1<f64>>)>> {
        let Some(kept) = TrainingData::of(&self.model).map_err(invalid)? else { return Ok(None) };
        let (values, indices, indptr, features) = compressed(&kept.data.samples);
        let rows = (values.into_pyarray(py), indices.into_pyarray(py), indptr.into_pyarray(py), features);
        Ok(Some((rows, kept.data.labels.into_pyarray(py))))
    }

    /// The sample weights of the training; `None` if there were none.
    #[getter]
    fn sample_weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let weights = self.model.record()?.sample_weights.as_ref()?;
        Some(weights.clone().into_pyarray(py))
    }

    /// Returns the decision values, samples × machines. A value of 0 and above selects the later
    /// class of a pair.
    #[pyo3(signature = (data, report=None))]
    fn decisions<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        report: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [data.data.samples.len(), self.model.machines().len()];
        let values = predict(py, &self.model, &data.data, report.as_ref(), model::Model::decision_values)?;
        values.into_pyarray(py).reshape(shape)
    }

    /// Returns the prediction for each sample: a label, a value, or 1 (inside) and −1.
    fn predict<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let labels = predict(py, &self.model, &data.data, None, model::Model::predict)?;
        Ok(labels.into_pyarray(py))
    }

    /// Returns the probability of every class, samples × classes.
    fn probabilities<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [data.data.samples.len(), self.model.outcomes().len()];
        let values = predict(py, &self.model, &data.data, None, model::Model::probabilities)?;
        values.into_pyarray(py).reshape(shape)
    }

    /// Returns the Shapley values of the decision values, samples × machines × features; the value
    /// of each machine before any feature is known; the decision values, samples × machines; and
    /// the interactions of all pairs, samples × machines × features × features, if asked for.
    #[pyo3(signature = (data, background=None, interactions=false))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        background: Option<&Data>,
        interactions: bool,
    ) -> PyResult<Explained<'py>> {
        let (model, data) = (Arc::clone(&self.model), Arc::clone(&data.data));
        let background = background.map(|data| Arc::clone(&data.data));
        let found = run(py, None, move |channel| {
            let explain = if interactions { Explain::default().interactions() } else { Explain::default() };
            let background = background.as_ref().map(|data| &data.samples);
            Ok(explain.rows(&model, &data.samples, background, Par::Pool, &channel.control())?)
        })?;
        let (rows, machines, players) = (found.rows(), found.machines(), found.players());
        let base: Vec<f64> = (0..machines).map(|m| found.base(m)).collect();
        let values = found.all_values().to_vec().into_pyarray(py).reshape([rows, machines, players])?;
        let decisions = found.all_decisions().to_vec().into_pyarray(py).reshape([rows, machines])?;
        let shape = [rows, machines, players, players];
        let pairs = found.all_interactions().map(|all| all.to_vec().into_pyarray(py).reshape(shape)).transpose()?;
        Ok((values, base.into_pyarray(py), decisions, pairs))
    }

    /// Returns the name of each machine's calibration, and the two numbers of its sigmoid if it is
    /// one.
    fn calibrations(&self) -> Vec<(&'static str, Option<(f64, f64)>)> {
        let numbers = |of: &model::Calibration| match of {
            model::Calibration::Sigmoid { a, b } => Some((*a, *b)),
            _ => None,
        };
        self.model.calibration().iter().map(|of| (of.name(), numbers(of))).collect()
    }

    /// The calibration report of this training, with the quality of probabilities on samples that
    /// took no part.
    #[getter]
    fn calibration<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(report) = &self.calibration else { return Ok(None) };
        let fields = PyDict::new(py);
        fields.set_item("method", report.method)?;
        fields.set_item("missing", report.missing)?;
        fields.set_item("folds", report.run.folds)?;
        let of = report.reliability.as_ref();
        fields.set_item("log_loss", of.map(|of| of.log_loss))?;
        fields.set_item("brier", of.map(|of| of.brier))?;
        fields.set_item("expected_calibration_error", of.map(|of| of.expected_calibration_error))?;
        Ok(Some(fields))
    }

    /// Verifies the model against its training data. Every claim of the model is recomputed.
    fn verify<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyDict>> {
        let (model, data) = (Arc::clone(&self.model), Arc::clone(&data.data));
        let verdict = run(py, None, move |_| Ok(verify(&model, &data, None, None, Par::Pool)?))?;
        let fields = PyDict::new(py);
        fields.set_item("matches", verdict.matches())?;
        fields.set_item("met", verdict.met())?;
        let checks: Vec<_> = verdict.checks.iter().map(|check| (check.what, check.passed, check.detail.clone())).collect();
        fields.set_item("checks", checks)?;
        let machines =
            verdict.machines.iter().map(|machine| certificate(py, &CertificateReport::new(&machine.certificate, machine.met)));
        fields.set_item("certificates", machines.collect::<PyResult<Vec<_>>>()?)?;
        Ok(fields)
    }

    /// Returns the model with the samples `add`, and without the rows `remove` of its current
    /// training data, along exact paths.
    #[pyo3(signature = (add=None, remove=Vec::new(), memory=2 << 30))]
    fn updated(&self, py: Python<'_>, add: Option<&Data>, remove: Vec<usize>, memory: u64) -> PyResult<Self> {
        let model = Arc::clone(&self.model);
        let add = add.map(|data| Arc::clone(&data.data));
        let updated = run(py, None, move |channel| {
            let kept = TrainingData::of(&model)?.ok_or("the model does not keep its training data: fit with keep_data=True")?;
            if !model.calibration().is_empty() {
                return Err(
                    "the model has probabilities, which were fitted to its current rows: fit on the changed data instead".into(),
                );
            }
            let rows = kept.numbers.len();
            if let Some((_, row)) = remove.iter().enumerate().find(|(at, row)| remove[..*at].contains(row)) {
                return Err(format!("row {row} (from 0) is named twice: name each row that is to be removed once").into());
            }
            let number = |&row: &usize| {
                let number = kept.numbers.get(row).copied();
                number.ok_or_else(|| format!("row {row} (from 0) is to be removed, but there are {rows} rows"))
            };
            let remove = remove.iter().map(number).collect::<Result<Vec<u64>, _>>()?;
            let change = Change { add: add.as_deref(), remove: &remove, c: None };
            Ok(update(&model, &kept, &change, memory, Par::Pool, &|_| channel.check())?)
        })?;
        Ok(Self::new(updated.model))
    }
}
