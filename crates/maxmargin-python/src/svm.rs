//! The estimator of the library, built from Python's keyword arguments.

use crate::cells::{self, Outbox};
use crate::data::{Data, invalid, sample_weights};
use crate::model::{Model, Reports};
use crate::report::{cell, validation};
use crate::run::{Channel, run, run_beside, run_sized, training_products};
use maxmargin::conformal::{ConformalScore, Level};
use maxmargin::core::{BiasTerm, FormulationKind, FormulationParameters, Goal, Loss, levels};
use maxmargin::cv::{
    CalibrationOptions, ConformalGroups, ConformalOptions, CvReport, FoldPlan, Importance, ImportanceOptions, Seeding,
    TrainingData,
};
use maxmargin::data::{Dataset, Par};
use maxmargin::kernel::KernelKind;
use maxmargin::metrics::{Metric, all_metrics};
use maxmargin::model::Multiclass;
use maxmargin::{Fitted, Ranges, TrainOptions};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;
use std::time::Duration;

/// A score, and the means and deviations by which it gets worse.
type Importances<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// A level of quantiles or expectiles, or several.
#[derive(FromPyObject)]
enum Tau {
    One(f64),
    Several(Vec<f64>),
}

impl Tau {
    /// Returns all levels, ascending.
    fn sorted(self) -> Vec<f64> {
        let mut levels = match self {
            Self::One(level) => vec![level],
            Self::Several(levels) => levels,
        };
        levels.sort_by(f64::total_cmp);
        levels
    }
}

/// Parameters of trainings: [`TrainOptions`] by keyword, with the same defaults. A plain value.
#[pyclass(frozen, module = "maxmargin._native")]
pub(crate) struct Svm {
    svm: maxmargin::Svm,
    keep: bool,
}

#[pymethods]
impl Svm {
    /// `bias` is `None` for an unregularised bias, 0 for no bias, or the value of an additional
    /// feature. `class_weight` has pairs of a label and a factor of C. With `one_vs_rest`, more
    /// than two classes have one machine for each against the others. `keep_data` stores the
    /// training data, so that samples can be added and removed. With `keep_vectors`, a linear model
    /// stores its support vectors, and SMO trains it. `probability` is platt or isotonic.
    /// `conformal` is the share of intervals or sets that may miss the truth, `conformal_score` the
    /// kind of score: plain, scaled, aps, raps or raps:WEIGHT:FREE. `seeding` sets the
    /// start of folds. `memory` is in bytes, `max_time` in seconds.
    #[new]
    #[pyo3(signature = (formulation, *, kernel="linear", gamma=1.0, coef0=0.0, degree=3, c=1.0, nu=0.5, epsilon=0.1, tau=Tau::One(0.5), squared=false, bias=None,
        class_weight=Vec::new(), one_vs_rest=false, tol=1e-3, max_iter=None, max_time=None, memory=2 << 30, shrinking=true, keep_data=false, keep_vectors=false, solver="auto", seed=1, probability=None, conformal=None, conformal_score="plain", seeding="full"))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "keywords of Python, one by one")]
    fn new(
        formulation: &str,
        kernel: &str,
        gamma: f64,
        coef0: f64,
        degree: u32,
        c: f64,
        nu: f64,
        epsilon: f64,
        tau: Tau,
        squared: bool,
        bias: Option<f64>,
        class_weight: Vec<(f64, f64)>,
        one_vs_rest: bool,
        tol: f64,
        max_iter: Option<u64>,
        max_time: Option<f64>,
        memory: u64,
        shrinking: bool,
        keep_data: bool,
        keep_vectors: bool,
        solver: &str,
        seed: u64,
        probability: Option<&str>,
        conformal: Option<f64>,
        conformal_score: &str,
        seeding: &str,
    ) -> PyResult<Self> {
        let bias_term = match bias {
            None => BiasTerm::Free,
            Some(0.0) => BiasTerm::None,
            Some(value) => BiasTerm::Feature(value),
        };
        let known = FormulationKind::named(formulation);
        let known = known.ok_or_else(|| PyValueError::new_err(format!("no formulation is called `{formulation}`")))?;
        let levels = tau.sorted();
        let tau = levels.get(levels::central(&levels)).copied().unwrap_or(f64::NAN);
        let formulation = known.formulation(FormulationParameters { c, epsilon, nu, tau });
        let loss = if squared { Loss::SquaredHinge } else { formulation.loss() };
        let kind = KernelKind::named(kernel);
        let kind = kind.ok_or_else(|| PyValueError::new_err(format!("no kernel is called `{kernel}`")))?;
        let kernel = kind.kernel(gamma, coef0, degree);
        let max_time = max_time.map(Duration::try_from_secs_f64).transpose().map_err(invalid)?;
        let probability = probability.map(str::parse).transpose().map_err(PyValueError::new_err::<String>)?;
        let conformal = conformal.map(Level::new).transpose().map_err(invalid)?;
        let score: ConformalScore = conformal_score.parse().map_err(invalid)?;
        let of_level = |level| ConformalOptions { score, ..ConformalOptions::new(level) };
        let known = Seeding::ALL.iter().find(|known| known.0 == seeding);
        let names = || Seeding::ALL.map(|known| known.0).join(", ");
        let unknown = || PyValueError::new_err(format!("no seeding is called `{seeding}`; there are {}", names()));
        let svm = maxmargin::Svm::from(TrainOptions {
            kernel,
            formulation,
            levels: if levels.len() > 1 { levels } else { Vec::new() },
            loss: Some(loss),
            bias_term: Some(bias_term),
            weights: class_weight,
            multiclass: if one_vs_rest { Multiclass::OneVsRest } else { Multiclass::OneVsOne },
            solver: solver.parse().map_err(invalid)?,
            keep_support_vectors: keep_data || keep_vectors,
            shrinking,
            goal: Goal::of(Some(tol), None),
            max_iter,
            max_time,
            memory,
            par: Par::Pool,
            seeding: known.ok_or_else(unknown)?.1,
            seed,
            calibration: CalibrationOptions { probability, threshold: None },
            conformal: conformal.map(of_level),
            ..TrainOptions::default()
        });
        svm.check().map_err(invalid)?;
        Ok(Self { svm, keep: keep_data })
    }

    /// Trains on all samples of `data`. `folds` are those of conformal predictions, as in
    /// `cross_validate`, and `groups` has the group of each sample, if each group has the promise
    /// by itself.
    #[pyo3(signature = (data, sample_weight=None, report=None, *, folds=None, groups=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python, one by one")]
    fn fit(
        &self,
        py: Python<'_>,
        data: &Data,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Bound<'_, PyAny>>,
        folds: Option<Vec<(Vec<usize>, Vec<usize>)>>,
        groups: Option<Vec<String>>,
    ) -> PyResult<Model> {
        let (svm, keep, data) = (self.weighted(sample_weight)?, self.keep, Arc::clone(&data.data));
        let plan = folds.map(|folds| FoldPlan::from_tests(data.labels.len(), folds)).transpose().map_err(invalid)?;
        let groups = groups.map(|groups| ConformalGroups::new(&groups)).transpose().map_err(invalid)?;
        let svm = match svm.options().conformal.clone() {
            Some(options) => {
                let plan = plan.map(Arc::new).or(options.plan.clone());
                svm.conformal_with(ConformalOptions { plan, groups: groups.map(Arc::new), ..options })
            }
            None if groups.is_some() => {
                return Err(PyValueError::new_err("groups are for conformal predictions: set conformal=0.1"));
            }
            None => svm,
        };
        let products = training_products(&data);
        let (model, reports) = run_sized(py, report.as_ref(), products, move |channel, par| {
            let svm = svm.clone().threads(par);
            let Fitted { model, calibration, conformal, .. } = svm.fit_with(&*data, &channel.control())?;
            // Predicted labels follow decision values, as in scikit-learn, even if there are
            // probabilities.
            let decision_rule = model.multiclass().decision_rule();
            let model = if model.classes().is_empty() { model } else { model.with_decision_rule(decision_rule)? };
            Ok((
                if keep { TrainingData::new(Dataset::clone(&data)).put_into(model)? } else { model },
                Reports { calibration, conformal },
            ))
        })?;
        Ok(Model::with_reports(model, reports))
    }

    /// Cross-validates over the training and test sets `folds`, and shuffles every feature of the
    /// held-out rows `repeats` times. Returns the mean and the standard deviation by which the
    /// score gets worse, one of each feature; `None` if a fold has no solution.
    #[pyo3(signature = (data, folds, metric, repeats=5, seed=1, sample_weight=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python, one by one")]
    fn importance<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        folds: Vec<(Vec<usize>, Vec<usize>)>,
        metric: &str,
        repeats: usize,
        seed: u64,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Option<Importances<'py>>> {
        let (svm, data) = (self.weighted(sample_weight)?, Arc::clone(&data.data));
        let plan = FoldPlan::from_tests(data.labels.len(), folds).map_err(invalid)?;
        let known = all_metrics(svm.formulation()).find(|known| known.name() == metric);
        let metric = known.ok_or_else(|| {
            let names: Vec<&str> = all_metrics(svm.formulation()).map(Metric::name).collect();
            PyValueError::new_err(format!("`{metric}` is no metric of this formulation, which has {}", names.join(", ")))
        })?;
        let options = ImportanceOptions { repeats, seed, metric: Some(metric), columns: None };
        let found =
            run(py, None, move |channel| Ok(svm.cross_validate_with_importance(&*data, &plan, &options, &channel.control())?.1))?;
        let of = |found: Importance| {
            let (means, deviations): (Vec<f64>, Vec<f64>) = found.columns.iter().map(|of| (of.mean, of.deviation)).unzip();
            (found.score, means.into_pyarray(py), deviations.into_pyarray(py))
        };
        Ok(found.map(of))
    }

    /// Cross-validates. `folds` has the test rows of each fold, and the rows that it leaves out of
    /// both training and test.
    #[pyo3(signature = (data, folds, sample_weight=None, report=None))]
    fn cross_validate<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        folds: Vec<(Vec<usize>, Vec<usize>)>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (svm, data) = (self.weighted(sample_weight)?, Arc::clone(&data.data));
        let plan = FoldPlan::from_tests(data.labels.len(), folds).map_err(invalid)?;
        validation(py, run(py, report.as_ref(), move |channel| Ok(svm.cross_validate_with(&*data, &plan, &channel.control())?))?)
    }

    /// Cross-validates every combination of C and gamma over the same folds. Without values, the
    /// estimator's own count. Returns the cells, and the errors of combinations that are not valid
    /// problems. `decisions` is false to drop decision values.
    #[pyo3(signature = (data, folds, costs, gammas, sample_weight=None, report=None, *, decisions=true))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python, one by one")]
    fn grid<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        folds: Vec<(Vec<usize>, Vec<usize>)>,
        costs: Vec<f64>,
        gammas: Vec<f64>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Bound<'_, PyAny>>,
        decisions: bool,
    ) -> PyResult<(Vec<Bound<'py, PyDict>>, Vec<String>)> {
        let (svm, data) = (self.weighted(sample_weight)?, Arc::clone(&data.data));
        let plan = FoldPlan::from_tests(data.labels.len(), folds).map_err(invalid)?;
        let ranges = Ranges::new().c(&costs).gamma(&gammas);
        let found = run(py, report.as_ref(), move |channel| {
            let keep = |_: &maxmargin::Svm, report: CvReport| CvReport {
                decisions: if decisions { report.decisions } else { Vec::new() },
                ..report
            };
            Ok(svm.grid_with(&data, &plan, &ranges, &channel.control(), keep)?)
        })?;
        let cells = found.cells.into_iter().map(|of| cell(py, of)).collect::<PyResult<_>>()?;
        Ok((cells, found.failed.iter().map(|failed| failed.result.to_string()).collect()))
    }

    /// Returns the keys of the cells of such a grid, one list for each gamma. Cells with equal keys
    /// have equal bits.
    #[pyo3(signature = (data, folds, costs, gammas, sample_weight=None))]
    fn keys(
        &self,
        py: Python<'_>,
        data: &Data,
        folds: Vec<(Vec<usize>, Vec<usize>)>,
        costs: Vec<f64>,
        gammas: Vec<f64>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Vec<Vec<String>>> {
        let (svm, data) = (self.weighted(sample_weight)?, Arc::clone(&data.data));
        let plan = FoldPlan::from_tests(data.labels.len(), folds).map_err(invalid)?;
        let ranges = Ranges::new().c(&costs).gamma(&gammas);
        run(py, None, move |channel| cells::keys(&svm, &data, &plan, ranges, channel))
    }

    /// Computes one column of such a grid: all values of C at one gamma, or at the estimator's own.
    /// `known` are the bytes of its first cells. `keep` is called with the key and the bytes of
    /// each other cell as soon as it is finished.
    #[pyo3(signature = (data, folds, costs, gamma, known, keep, sample_weight=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python, one by one")]
    fn column(
        &self,
        py: Python<'_>,
        data: &Data,
        folds: Vec<(Vec<usize>, Vec<usize>)>,
        costs: Vec<f64>,
        gamma: Option<f64>,
        known: Vec<Vec<u8>>,
        keep: Bound<'_, PyAny>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let (svm, data) = (self.weighted(sample_weight)?, Arc::clone(&data.data));
        let plan = FoldPlan::from_tests(data.labels.len(), folds).map_err(invalid)?;
        let ranges = Ranges::new().c(&costs).gamma(gamma.as_slice());
        let outbox = Arc::new(Outbox::default());
        let worker_outbox = Arc::clone(&outbox);
        let hand_over = || {
            let handed = |(key, bytes): cells::Sealed| keep.call1((key, PyBytes::new(py, &bytes))).map(drop);
            outbox.drain().into_iter().try_for_each(handed)
        };
        let solve = move |channel: &Channel| cells::solve(&svm, &data, &plan, ranges, &known, &worker_outbox, channel);
        let ended = run_beside(py, None, hand_over, solve);
        // Finished cells are handed over even if the run ended with an error.
        hand_over().and(ended)
    }
}

impl Svm {
    fn weighted(&self, sample_weight: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<maxmargin::Svm> {
        let svm = self.svm.clone();
        Ok(match sample_weights(sample_weight)? {
            Some(weights) => svm.sample_weights(weights),
            None => svm,
        })
    }
}
