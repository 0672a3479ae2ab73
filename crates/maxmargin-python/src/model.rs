//! A trained model: its numbers, predictions, file, verification and updates.

use crate::blocks::predict;
use crate::change::changed;
use crate::data::{Explained, Vectors, compressed, invalid};
use crate::group_parts::GroupParts;
use crate::report::{certificate, conformal, machines};
use crate::rows::rows;
use crate::run::run;
use crate::weights::{check_weights, sum_weights};
use maxmargin::background::in_parts;
use maxmargin::conformal::Level;
use maxmargin::cv::{CalibrationReport, CertificateReport, Conformal, ConformalReport, TrainingData, full_p_values, verify};
use maxmargin::data::{Par, Samples};
use maxmargin::explain::Explain;
use maxmargin::{LinearRecord, kernel::Kernel, model, verify_linear};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Arc, OnceLock};

/// A trained model, as `load` reads it and `train` makes it.
///
/// Methods take rows as arrays, lists or matrices of scipy.
///
/// Examples
/// --------
/// >>> import maxmargin
/// >>> maxmargin.train([[0.0], [1.0]], [0, 1], kernel="rbf", gamma=0.5).kernel
/// 'rbf'
/// >>> maxmargin.train([[0.0], [1.0]], [0, 1]).predict([[0.9], [0.2]]).tolist()
/// [1.0, 0.0]
#[pyclass(frozen, module = "maxmargin._native")]
pub(crate) struct Model {
    pub(crate) trained: Arc<model::Model>,
    /// The reports of the training, which files do not contain.
    reports: Reports,
    /// The scores and machines of folds, once they were read.
    conformal: OnceLock<Option<Arc<Conformal>>>,
}

/// The reports of what a training added to its model.
#[derive(Default)]
pub(crate) struct Reports {
    pub(crate) calibration: Option<CalibrationReport>,
    pub(crate) conformal: Option<ConformalReport>,
}

impl Model {
    pub(crate) fn new(model: model::Model) -> Self {
        Self::with_reports(model, Reports::default())
    }

    pub(crate) fn with_reports(model: model::Model, reports: Reports) -> Self {
        Self { trained: Arc::new(model), reports, conformal: OnceLock::new() }
    }

    /// Returns the scores and machines of folds.
    fn kept_folds(&self) -> PyResult<Arc<Conformal>> {
        let kept = if let Some(kept) = self.conformal.get() {
            kept
        } else {
            let kept = Conformal::of(&self.trained).map_err(invalid)?.map(Arc::new);
            self.conformal.get_or_init(|| kept)
        };
        kept.clone().ok_or_else(|| {
            PyValueError::new_err("the model has no scores of folds: fit with conformal=0.1, or another share that may miss")
        })
    }
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
        Ok(PyBytes::new(py, &model::encode(&self.trained).map_err(invalid)?))
    }

    /// Returns LIBSVM's model file.
    fn to_libsvm<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        model::libsvm::write_model(&self.trained, &mut text).map_err(invalid)?;
        Ok(PyBytes::new(py, &text))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let classes = match self.trained.classes().len() {
            0 => String::new(),
            classes => format!(", {classes} classes"),
        };
        let (kernel, vectors, features) = (self.trained.kernel().name(), self.trained.support_vectors(), self.trained.features());
        format!("<Model: {kernel} kernel{classes}, {vectors} support vectors, {features} features>")
    }

    /// The labels; empty for regression and one class.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.trained.classes().to_vec().into_pyarray(py)
    }

    /// The number of features of the training data.
    #[getter]
    fn features(&self) -> usize {
        self.trained.features()
    }

    /// The formulation; `None` if the model has no training record.
    #[getter]
    fn formulation(&self) -> Option<&'static str> {
        self.trained.record().map(|record| record.formulation.name())
    }

    /// The kernel's name.
    #[getter]
    fn kernel(&self) -> &'static str {
        self.trained.kernel().name()
    }

    /// The kernel's gamma; `None` if it has none.
    #[getter]
    fn gamma(&self) -> Option<f64> {
        self.trained.kernel().gamma()
    }

    /// Returns for each machine the rows of its support vectors in the training data, their
    /// coefficients (positive for the later class), its bias, and the status of its training.
    /// Without a training record, rows are indices of the model's own vectors.
    fn machines<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        machines(py, &self.trained)
    }

    /// Returns the weights of a machine of the linear kernel, one for each feature.
    fn weights<'py>(&self, py: Python<'py>, machine: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if machine >= self.trained.machines().len() {
            return Err(PyIndexError::new_err(format!("there is no machine {machine}")));
        }
        if *self.trained.kernel() != Kernel::Linear {
            return Err(PyValueError::new_err("only machines of the linear kernel have weights"));
        }
        check_weights(&self.trained)?;
        // A model does not store weights that are almost all 0.
        let mut weights = self.trained.weights(machine).map_or_else(|| sum_weights(&self.trained, machine), <[f64]>::to_vec);
        weights.resize(self.trained.features(), 0.0);
        Ok(weights.into_pyarray(py))
    }

    /// Returns the support vectors of all machines, by ascending row of the training data, as
    /// (values, indices, indptr, features).
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Vectors<'py>> {
        let plain = self.trained.uncentred().map_err(invalid)?;
        let (values, indices, indptr, features) = compressed(&plain.parts().support);
        Ok((values.into_pyarray(py), indices.into_pyarray(py), indptr.into_pyarray(py), features))
    }

    /// Returns the stored training data, as (values, indices, indptr, features) and labels; `None`
    /// if the model does not store it.
    fn kept<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vectors<'py>, Bound<'py, PyArray1<f64>>)>> {
        let Some(kept) = TrainingData::of(&self.trained).map_err(invalid)? else { return Ok(None) };
        let (values, indices, indptr, features) = compressed(&kept.data.samples);
        let rows = (values.into_pyarray(py), indices.into_pyarray(py), indptr.into_pyarray(py), features);
        Ok(Some((rows, kept.data.labels.into_pyarray(py))))
    }

    /// The sample weights of the training; `None` if there were none.
    #[getter]
    fn sample_weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let weights = match self.trained.record() {
            Some(record) => record.sample_weights.clone()?,
            None => LinearRecord::of(&self.trained).ok()??.sample_weights?,
        };
        Some(weights.into_pyarray(py))
    }

    /// Returns the decision values, samples × machines. A value of 0 and above selects the later
    /// class of a pair.
    #[pyo3(signature = (data, report=None))]
    fn decisions<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        report: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let data = rows(data, None, &self.trained)?;
        let shape = [data.samples.len(), self.trained.machines().len()];
        let values = predict(py, &self.trained, &data, report.as_ref(), model::Model::decision_values)?;
        values.into_pyarray(py).reshape(shape)
    }

    /// Returns the prediction for each sample: a label, a value, or 1 (inside) and −1.
    fn predict<'py>(&self, py: Python<'py>, data: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let labels = predict(py, &self.trained, &rows(data, None, &self.trained)?, None, model::Model::predict)?;
        Ok(labels.into_pyarray(py))
    }

    /// Returns the probability of every class, samples × classes.
    fn probabilities<'py>(&self, py: Python<'py>, data: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let data = rows(data, None, &self.trained)?;
        let shape = [data.samples.len(), self.trained.outcomes().len()];
        let values = predict(py, &self.trained, &data, None, model::Model::probabilities)?;
        values.into_pyarray(py).reshape(shape)
    }

    /// Returns the Shapley values of the decision values, samples × machines × features; the value
    /// of each machine before any feature is known; the decision values, samples × machines; and
    /// the interactions of all pairs, samples × machines × features × features, if asked for.
    #[pyo3(signature = (data, background=None, interactions=false))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        background: Option<&Bound<'_, PyAny>>,
        interactions: bool,
    ) -> PyResult<Explained<'py>> {
        let (model, data) = (Arc::clone(&self.trained), rows(data, None, &self.trained)?);
        let background = background.map(|data| rows(data, None, &model)).transpose()?;
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
        self.trained.calibration().iter().map(|of| (of.name(), numbers(of))).collect()
    }

    /// The calibration report of this training, with the quality of probabilities on samples that
    /// took no part.
    #[getter]
    fn calibration<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(report) = &self.reports.calibration else { return Ok(None) };
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

    /// Returns the lower and the upper bound of every sample's interval, samples × 2. `alpha` is
    /// the share of intervals that may miss the truth, by default that of the training; `groups`
    /// has the group of each sample, if the model has groups.
    #[pyo3(signature = (data, alpha=None, groups=None))]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        alpha: Option<f64>,
        groups: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (kept, model, data) = (self.kept_folds()?, Arc::clone(&self.trained), rows(data, None, &self.trained)?);
        let level = alpha.map_or(Ok(kept.level()), Level::new).map_err(invalid)?;
        let rows = data.samples.len();
        let found = run(py, None, move |channel| {
            let groups = GroupParts::new(groups, data.samples.len())?;
            in_parts(&model, &data, channel, |rows| kept.intervals(&model, rows, level, groups.next(rows.len()), Par::Pool))
        })?;
        let bounds: Vec<f64> = found.iter().flat_map(|of| [of.lower, of.upper]).collect();
        bounds.into_pyarray(py).reshape([rows, 2])
    }

    /// Returns whether each class is in the set of each sample, samples × classes. With
    /// `per_class`, about the share `alpha` of the samples of each class misses it; `groups` as for
    /// intervals.
    #[pyo3(signature = (data, alpha=None, per_class=false, groups=None))]
    fn sets<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        alpha: Option<f64>,
        per_class: bool,
        groups: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let (kept, model, data) = (self.kept_folds()?, Arc::clone(&self.trained), rows(data, None, &self.trained)?);
        let level = alpha.map_or(Ok(kept.level()), Level::new).map_err(invalid)?;
        let shape = [data.samples.len(), self.trained.classes().len()];
        let found = run(py, None, move |channel| {
            let groups = GroupParts::new(groups, data.samples.len())?;
            let sets = |rows: &Samples| kept.sets(&model, rows, level, per_class, groups.next(rows.len()), Par::Pool);
            in_parts(&model, &data, channel, sets)
        })?;
        found.into_pyarray(py).reshape(shape)
    }

    /// Returns the p-value of both classes for every sample by full conformal prediction, samples ×
    /// 2. The model keeps its training data.
    #[pyo3(signature = (data, per_class=false, memory=2 << 30))]
    fn full_p_values<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        per_class: bool,
        memory: u64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, data) = (Arc::clone(&self.trained), rows(data, None, &self.trained)?);
        let rows = data.samples.len();
        let found = run(py, None, move |channel| {
            Ok(full_p_values(&model, &data.samples, per_class, memory, Par::Pool, &channel.control())?)
        })?;
        found.into_pyarray(py).reshape([rows, 2])
    }

    /// Whether the model has scores of folds, for intervals or sets.
    #[getter]
    fn is_conformal(&self) -> bool {
        matches!(Conformal::of(&self.trained), Ok(Some(_)))
    }

    /// Whether groups have the promise by themselves.
    #[getter]
    fn has_groups(&self) -> PyResult<bool> {
        Ok(self.is_conformal() && self.kept_folds()?.groups().is_some())
    }

    /// Checks the groups of all samples, which predictions may take in parts.
    fn check_groups(&self, groups: Option<Vec<String>>, rows: usize) -> PyResult<()> {
        self.kept_folds()?.check_groups(groups.as_deref(), rows).map_err(invalid)
    }

    /// The report of the conformal predictions of this training, with the coverage of held-out
    /// samples.
    #[getter]
    fn conformal<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.reports.conformal.as_ref().map(|report| conformal(py, report)).transpose()
    }

    /// Verifies the model against its training data, rows and targets. Every claim of the model is
    /// recomputed.
    #[pyo3(signature = (data, y=None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (model, data) = (Arc::clone(&self.trained), rows(data, y, &self.trained)?);
        let verdict = run(py, None, move |_| {
            Ok(match LinearRecord::of(&model)? {
                Some(record) => verify_linear(&model, &record, &data, None, Par::Pool)?,
                None => verify(&model, &data, None, None, Par::Pool)?,
            })
        })?;
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

    /// Returns the model with the samples `add` and their targets `y`, and without the rows
    /// `remove` of its current training data, along exact paths.
    #[pyo3(signature = (add=None, remove=Vec::new(), memory=2 << 30, *, y=None))]
    fn updated(
        &self,
        py: Python<'_>,
        add: Option<&Bound<'_, PyAny>>,
        remove: Vec<usize>,
        memory: u64,
        y: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let model = Arc::clone(&self.trained);
        let add = add.map(|add| rows(add, y, &model)).transpose()?;
        let updated = run(py, None, move |channel| changed(&model, add.as_deref(), &remove, memory, channel))?;
        Ok(Self::new(updated))
    }
}
