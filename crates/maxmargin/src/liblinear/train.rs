//! One training as LIBLINEAR's `train` does it: a machine for two classes, values or one class, and one for each class of more.

use super::parameters::Parameters;
use crate::libsvm::{Classes, Run};
use crate::{Solver, Svm};
use maxmargin_core::{Formulation, Status};
use maxmargin_cv::{CertificateReport, CvError, Fitted};
use maxmargin_data::Dataset;
use maxmargin_kernel::Kernel;
use maxmargin_model::liblinear::LinearModel;

/// One column of weights as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Of our solver.
    pub iterations: u64,
    /// The dual objective, minimised.
    pub objective: f64,
    /// Samples with a dual variable that is not 0.
    pub support_vectors: usize,
    /// Whether what was asked for was reached.
    pub converged: bool,
}

/// What a training gives.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What predicts.
    pub model: LinearModel,
    /// One for each column of weights.
    pub machines: Vec<Machine>,
    /// The worst certificate.
    pub certificate: Option<CertificateReport>,
}

/// The estimator: without weights of classes.
pub(super) fn svm(parameters: &Parameters, run: &Run) -> Svm {
    let formulation = parameters.formulation();
    let svm = Svm::of(formulation).kernel(Kernel::Linear).solver(Solver::Linear).gap(parameters.gap());
    let svm = svm.threads(run.par).memory(run.memory).seed(run.seed);
    match formulation {
        Formulation::OneClass { .. } => svm,
        other => svm.loss(other.loss()).offset(other.offset()),
    }
}

/// Which samples a column of weights speaks for, and the price of both sides: two classes are one column, of more each stands against the rest, whose
/// price is C itself.
pub(super) fn sides(classes: &Classes, parameters: &Parameters, column: usize) -> (Vec<f64>, [f64; 2]) {
    let labels = classes.of.iter().map(|&class| if class == column { 1.0 } else { -1.0 }).collect();
    let weight = |class: usize| parameters.weight(classes.labels[class]);
    (labels, [weight(column), if classes.labels.len() == 2 { weight(1 - column) } else { 1.0 }])
}

/// The estimator of a column.
pub(super) fn weighted(svm: &Svm, [positive, negative]: [f64; 2]) -> Svm {
    svm.clone().class_weight(1.0, positive).class_weight(-1.0, negative)
}

/// Columns of weights.
pub(super) fn columns(classes: &Classes) -> usize {
    if classes.labels.len() == 2 { 1 } else { classes.labels.len() }
}

/// Trains as LIBLINEAR's `train` does. Parameters are those that passed [`Parameters::check`]; data are numbered from 1.
///
/// # Errors
///
/// When there are no rows, all are of one class, or a parameter is not possible for our solvers.
pub fn train(mut data: Dataset, parameters: &Parameters, run: &Run) -> Result<Trained, CvError> {
    let svm = svm(parameters, run);
    let mut model = LinearModel {
        solver: parameters.solver,
        labels: Vec::new(),
        features: data.samples.features(),
        bias: parameters.bias,
        rho: None,
        weights: Vec::new(),
    };
    let mut trained = Vec::new();
    if parameters.has_classes() {
        let classes = Classes::new(&data.labels);
        model.labels.clone_from(&classes.labels);
        for column in 0..columns(&classes) {
            let (labels, prices) = sides(&classes, parameters, column);
            data.labels = labels;
            trained.push(weighted(&svm, prices).fit(&data)?);
        }
    } else {
        trained.push(svm.fit(&data)?);
    }
    model.weights = trained.iter().map(|fitted| weights(fitted, parameters, model.features)).collect();
    if parameters.solver == 21 {
        model.rho = trained.first().map(|fitted| 0.0 - fitted.model.machines()[0].bias);
    }
    let certificate = trained.iter().map(|fitted| fitted.certificate).reduce(CertificateReport::worse);
    Ok(Trained { model, machines: trained.iter().map(machine).collect(), certificate })
}

/// The weights of every feature, and of the bias where there is one.
fn weights(fitted: &Fitted, parameters: &Parameters, features: usize) -> Vec<f64> {
    let (machine, parts) = (&fitted.model.machines()[0], fitted.model.parts());
    let mut w = vec![0.0; features];
    for (&k, coef) in machine.support.iter().zip(&machine.coef) {
        parts.support.row(k as usize).for_each(|j, value| w[j] += coef * value);
    }
    if parameters.bias >= 0.0 {
        w.push(if parameters.bias == 0.0 { 0.0 } else { machine.bias / parameters.bias });
    }
    w
}

fn machine(fitted: &Fitted) -> Machine {
    let report = &fitted.machines[0];
    Machine {
        iterations: report.iterations,
        objective: report.objective,
        support_vectors: report.support_vectors,
        converged: report.status == Status::Converged,
    }
}
