//! Linear classifiers beyond the duals of `Svm`, built from Python's keyword arguments.

use crate::data::{Data, invalid, sample_weights};
use crate::model::Model;
use crate::run::{run_sized, training_products};
use maxmargin::core::{BiasTerm, Goal};
use maxmargin::data::Par;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Parameters of trainings: the squared hinge loss with the L1 norm, or the machine of Crammer and
/// Singer. A plain value.
#[pyclass(frozen, module = "maxmargin._native")]
pub(crate) struct LinearClassifier {
    classifier: maxmargin::LinearClassifier,
}

#[pymethods]
impl LinearClassifier {
    /// With `all_classes`, the machine of Crammer and Singer. `bias` is 0 for no bias, or the value
    /// of an additional feature. `class_weight` has pairs of a label and a factor of C. `max_iter`
    /// counts coordinate steps, `max_time` is in seconds.
    #[new]
    #[pyo3(signature = (all_classes, *, c, bias, class_weight, tol, max_iter=None, max_time=None, seed=1))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python, one by one")]
    fn new(
        all_classes: bool,
        c: f64,
        bias: f64,
        class_weight: Vec<(f64, f64)>,
        tol: f64,
        max_iter: Option<u64>,
        max_time: Option<f64>,
        seed: u64,
    ) -> PyResult<Self> {
        use maxmargin::LinearClassifier as Of;
        let bias_term = if bias == 0.0 { BiasTerm::None } else { BiasTerm::Feature(bias) };
        let max_time = max_time.map(Duration::try_from_secs_f64).transpose().map_err(invalid)?;
        let of = if all_classes { Of::crammer_singer(c) } else { Of::sparse_svc(c) };
        let of = of.bias_term(bias_term).goal(Goal::Kkt(tol)).limits(max_iter, max_time).seed(seed).threads(Par::Pool);
        let classifier = class_weight.iter().fold(of, |of, &(label, factor)| of.class_weight(label, factor));
        Ok(Self { classifier })
    }

    /// Trains on all samples of `data`.
    #[pyo3(signature = (data, sample_weight=None, report=None))]
    fn fit(
        &self,
        py: Python<'_>,
        data: &Data,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Model> {
        let (mut classifier, data) = (self.classifier.clone(), Arc::clone(&data.data));
        if let Some(weights) = sample_weights(sample_weight)? {
            classifier = classifier.sample_weights(weights);
        }
        let fitted = run_sized(py, report.as_ref(), training_products(&data), move |channel, par| {
            Ok(classifier.clone().threads(par).fit_with(&data, &channel.control())?)
        })?;
        Ok(Model::new(fitted.model))
    }
}

/// Returns a model of two classes with the decision value 0 for the first one.
#[pyfunction]
pub(crate) fn first_at_zero(model: &Model) -> PyResult<Model> {
    let model = maxmargin::model::Model::clone(&model.trained);
    Ok(Model::new(model.with_tie_order(vec![1, 0]).map_err(invalid)?))
}
