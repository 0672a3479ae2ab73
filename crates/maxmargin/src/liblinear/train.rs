//! One training as LIBLINEAR's `train` does it: a machine for two classes, values or one class, and one for each class of more.

use super::parameters::Parameters;
use crate::libsvm::{Classes, Run};
use crate::{Solver, Svm};
use maxmargin_core::{Formulation, Status};
use maxmargin_cv::{CertificateReport, CvError, Fitted, MachineReport};
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

/// The estimator of all columns of weights, and what it has for labels: of two classes the first is the positive one, of more each stands against the rest, whose
/// price is C itself, in the order of the classes.
pub(super) fn columns(svm: Svm, classes: &Classes, parameters: &Parameters) -> (Svm, Vec<f64>) {
    let two = classes.labels.len() <= 2;
    let label = |class: usize| if two { 1.0 - 2.0 * class as f64 } else { class as f64 };
    let priced = |svm: Svm, (class, own): (usize, &i32)| svm.class_weight(label(class), parameters.weight(*own));
    let svm = classes.labels.iter().enumerate().fold(svm.one_vs_rest(), priced);
    (svm, classes.of.iter().map(|&class| label(class)).collect())
}

/// Trains as LIBLINEAR's `train` does. Parameters are those that passed [`Parameters::check`]; data are numbered from 1.
///
/// # Errors
///
/// When there are no rows, all are of one class, or a parameter is not possible for our solvers.
pub fn train(mut data: Dataset, parameters: &Parameters, run: &Run) -> Result<Trained, CvError> {
    let mut svm = svm(parameters, run);
    let mut model = LinearModel {
        solver: parameters.solver,
        labels: Vec::new(),
        features: data.samples.features(),
        bias: parameters.bias,
        rho: None,
        weights: Vec::new(),
    };
    if parameters.has_classes() {
        let classes = Classes::new(&data.labels);
        (svm, data.labels) = columns(svm, &classes, parameters);
        model.labels = classes.labels;
    }
    let fitted = svm.fit(&data)?;
    model.weights = (0..fitted.machines.len()).map(|p| weights(&fitted, p, parameters, model.features)).collect();
    if parameters.solver == 21 {
        model.rho = Some(0.0 - fitted.model.machines()[0].bias);
    }
    Ok(Trained { model, machines: fitted.machines.iter().map(machine).collect(), certificate: Some(fitted.certificate) })
}

/// The weights of every feature by one machine, and of the bias where there is one.
fn weights(fitted: &Fitted, p: usize, parameters: &Parameters, features: usize) -> Vec<f64> {
    let (machine, parts) = (&fitted.model.machines()[p], fitted.model.parts());
    let mut w = vec![0.0; features];
    for (&k, coef) in machine.support.iter().zip(&machine.coef) {
        parts.support.row(k as usize).for_each(|j, value| w[j] += coef * value);
    }
    if parameters.bias >= 0.0 {
        w.push(if parameters.bias == 0.0 { 0.0 } else { machine.bias / parameters.bias });
    }
    w
}

fn machine(report: &MachineReport) -> Machine {
    Machine {
        iterations: report.iterations,
        objective: report.objective,
        support_vectors: report.support_vectors,
        converged: report.status == Status::Converged,
    }
}
