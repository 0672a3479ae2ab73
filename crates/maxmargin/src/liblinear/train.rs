//! One training as LIBLINEAR's `train` does it: a machine for two classes, values or one class, and
//! one for each class of more.

use super::parameters::Parameters;
use crate::libsvm::{Classes, Run};
use crate::{Solver, Svm};
use maxmargin_core::{Formulation, Status};
use maxmargin_cv::{CertificateReport, CvError, Fitted, MachineReport};
use maxmargin_data::Dataset;
use maxmargin_kernel::Kernel;
use maxmargin_model::check_width;
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
pub struct Training {
    /// What predicts.
    pub model: LinearModel,
    /// One for each column of weights.
    pub machines: Vec<Machine>,
    /// The worst certificate.
    pub certificate: Option<CertificateReport>,
}

/// The estimator: without weights of classes.
pub(super) fn svm(parameters: &Parameters, run: &Run) -> Svm {
    svm_of(parameters.formulation(), parameters, run)
}

fn svm_of(formulation: Formulation, parameters: &Parameters, run: &Run) -> Svm {
    let svm = Svm::of(formulation).kernel(Kernel::Linear).solver(Solver::Linear).gap(parameters.gap());
    let svm = svm.threads(run.par).memory(run.memory).seed(run.seed);
    match formulation {
        Formulation::OneClass { .. } => svm,
        other => svm.loss(other.loss()).bias_term(other.bias_term()),
    }
}

/// The estimator of all columns of weights, and what it has for labels: of two classes the first is
/// the positive one, of more each stands against the rest, whose price is C itself, in the order of
/// the classes.
pub(super) fn columns(svm: Svm, classes: &Classes, parameters: &Parameters) -> (Svm, Vec<f64>) {
    let two = classes.labels.len() <= 2;
    let label = |class: usize| if two { 1.0 - 2.0 * class as f64 } else { class as f64 };
    let priced = |svm: Svm, (class, own): (usize, &i32)| svm.class_weight(label(class), parameters.weight(*own));
    let svm = classes.labels.iter().enumerate().fold(svm.one_vs_rest(), priced);
    (svm, classes.of.iter().map(|&class| label(class)).collect())
}

/// Returns the regression that is the machine of one class alone, and its targets. The hinge loss
/// of a row with the label 1 is its distance below the lower end of a tube that begins at 1 and is
/// so wide that no row of the solution lies above its upper end.
fn alone(data: &Dataset, label: i32, parameters: &Parameters) -> (Formulation, Vec<f64>) {
    let (c, rows) = (parameters.c * parameters.weight(label), data.labels.len());
    let bias = parameters.bias.max(0.0);
    let norm = |row: usize| {
        let mut sum = bias * bias;
        data.samples.row(row).for_each(|_, value| sum += value * value);
        sum
    };
    // Weights of 0 have the loss C of each row, so that the weights of the solution are no longer
    // than √(2 C rows). No decision value is greater than that times the norm of the longest row.
    let most = (2.0 * c * rows as f64).sqrt() * (0..rows).map(norm).fold(0.0, f64::max).sqrt();
    // A power of 2: 1 + width − width is 1.
    let width = most.max(1.0).log2().ceil().exp2();
    let machine = parameters.formulation();
    let values = Formulation::Svr { c, epsilon: width, loss: machine.loss(), bias_term: machine.bias_term() };
    (values, vec![1.0 + width; rows])
}

/// An estimator with its data, before it runs.
pub(super) struct TrainingSetup {
    pub(super) svm: Svm,
    /// With the labels that `svm` takes.
    pub(super) data: Dataset,
    /// Where it is about classes.
    pub(super) classes: Option<Classes>,
}

/// The estimator and the labels for this data.
pub(super) fn prepared(mut data: Dataset, parameters: &Parameters, run: &Run) -> Result<TrainingSetup, CvError> {
    if !parameters.has_classes() {
        return Ok(TrainingSetup { svm: svm(parameters, run), data, classes: None });
    }
    let classes = Classes::new(&data.labels)?;
    let svm = if let [label] = classes.labels[..] {
        let (values, targets) = alone(&data, label, parameters);
        data.labels = targets;
        svm_of(values, parameters, run)
    } else {
        let (svm, labels) = columns(svm(parameters, run), &classes, parameters);
        data.labels = labels;
        svm
    };
    Ok(TrainingSetup { svm, data, classes: Some(classes) })
}

/// Trains as LIBLINEAR's `train` does. Parameters are those that passed [`Parameters::check`]; data
/// are numbered from 1.
///
/// # Errors
///
/// When there are no rows, a class label does not fit 32 bits, weights would be many more than the
/// data has values, or a parameter is not possible for our solvers.
pub fn train(data: Dataset, parameters: &Parameters, run: &Run) -> Result<Training, CvError> {
    let TrainingSetup { svm, data, classes } = prepared(data, parameters, run)?;
    let labels = classes.map_or_else(Vec::new, |classes| classes.labels);
    let features = data.samples.features();
    let columns = if labels.len() > 2 { labels.len() } else { 1 };
    check_width(features, columns, data.samples.non_zeros())?;
    let fitted = svm.fit(&data)?;
    let model = LinearModel {
        solver: parameters.solver,
        labels,
        features,
        bias: parameters.bias,
        rho: (parameters.solver == 21).then(|| 0.0 - fitted.model.machines()[0].bias),
        weights: (0..fitted.machines.len()).map(|p| weights(&fitted, p, parameters, features)).collect(),
    };
    Ok(Training { model, machines: fitted.machines.iter().map(machine).collect(), certificate: Some(fitted.certificate) })
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
