//! A training like LIBLINEAR's `train`: one machine for two classes, regression or one class, and
//! one machine per class for more.

use super::classifier::train_classifier;
use super::machine::{LiblinearMachine, Training};
use super::parameters::Parameters;
use crate::libsvm::{Classes, LibsvmRun};
use crate::{Solver, Svm};
use maxmargin_core::{Formulation, Status};
use maxmargin_cv::{CvError, Fitted, MachineReport};
use maxmargin_data::Dataset;
use maxmargin_kernel::Kernel;
use maxmargin_model::check_width;
use maxmargin_model::liblinear::LinearModel;

/// Returns the estimator without class weights.
pub(super) fn svm(parameters: &Parameters, run: &LibsvmRun) -> Svm {
    svm_of(parameters.formulation(), parameters, run)
}

fn svm_of(formulation: Formulation, parameters: &Parameters, run: &LibsvmRun) -> Svm {
    let svm = Svm::of(formulation).kernel(Kernel::Linear).solver(Solver::Linear).gap(parameters.gap());
    let svm = svm.threads(run.par).memory(run.memory).seed(run.seed);
    match formulation {
        Formulation::OneClass { .. } => svm,
        other => svm.loss(other.loss()).bias_term(other.bias_term()),
    }
}

/// Returns the estimator of all columns of weights, and the labels for it. The first of two classes
/// is the positive one. More classes are one-vs-rest in the order of the classes, where the rest
/// has C itself as its cost.
pub(super) fn columns(svm: Svm, classes: &Classes, parameters: &Parameters) -> (Svm, Vec<f64>) {
    let two = classes.labels.len() <= 2;
    let label = |class: usize| if two { 1.0 - 2.0 * class as f64 } else { class as f64 };
    let priced = |svm: Svm, (class, own): (usize, &i32)| svm.class_weight(label(class), parameters.weight(*own));
    let svm = classes.labels.iter().enumerate().fold(svm.one_vs_rest(), priced);
    (svm, classes.of.iter().map(|&class| label(class)).collect())
}

/// Returns a regression and its targets that are equivalent to the machine of data with one class
/// only. The hinge loss of a row with the label 1 is its distance below the lower end of a tube
/// that begins at 1. The tube is so wide that no row of the solution lies above its upper end.
fn single_class(data: &Dataset, label: i32, parameters: &Parameters) -> (Formulation, Vec<f64>) {
    let (c, rows) = (parameters.c * parameters.weight(label), data.labels.len());
    let bias = parameters.bias.max(0.0);
    let norm = |row: usize| {
        let mut sum = bias * bias;
        data.samples.row(row).for_each(|_, value| sum += value * value);
        sum
    };
    // Zero weights have the loss C for each row, so that the norm of the solution's weights is at
    // most √(2 C rows). No decision value exceeds that bound times the greatest norm of a row.
    let most = (2.0 * c * rows as f64).sqrt() * (0..rows).map(norm).fold(0.0, f64::max).sqrt();
    // With a power of 2, the sum 1 + width − width is exactly 1.
    let width = most.max(1.0).log2().ceil().exp2();
    let machine = parameters.formulation();
    let values = Formulation::Svr { c, epsilon: width, loss: machine.loss(), bias_term: machine.bias_term() };
    (values, vec![1.0 + width; rows])
}

/// An estimator with its data, before the training.
pub(super) struct TrainingSetup {
    pub(super) svm: Svm,
    /// The data with the labels for `svm`.
    pub(super) data: Dataset,
    /// The classes; `None` for regression and one class.
    pub(super) classes: Option<Classes>,
}

/// Returns the estimator and the labels for this data.
pub(super) fn prepared(mut data: Dataset, parameters: &Parameters, run: &LibsvmRun) -> Result<TrainingSetup, CvError> {
    if !parameters.has_classes() {
        return Ok(TrainingSetup { svm: svm(parameters, run), data, classes: None });
    }
    let classes = Classes::new(&data.labels)?;
    let svm = if let [label] = classes.labels[..] {
        let (values, targets) = single_class(&data, label, parameters);
        data.labels = targets;
        svm_of(values, parameters, run)
    } else {
        let (svm, labels) = columns(svm(parameters, run), &classes, parameters);
        data.labels = labels;
        svm
    };
    Ok(TrainingSetup { svm, data, classes: Some(classes) })
}

/// Trains as LIBLINEAR's `train`. The parameters must have passed [`Parameters::check`]; features
/// are numbered from 1.
///
/// # Errors
///
/// When there are no rows, a class label does not fit 32 bits, the model would have far more
/// weights than the data has values, or a solver does not support a parameter.
pub fn train(data: Dataset, parameters: &Parameters, run: &LibsvmRun) -> Result<Training, CvError> {
    if let Some(classifier) = parameters.classifier(run) {
        return train_classifier(&data, &classifier, parameters);
    }
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
    Ok(Training {
        model,
        machines: fitted.machines.iter().map(|report| machine(report, parameters)).collect(),
        certificate: Some(fitted.certificate),
    })
}

/// Returns the weights of one machine for every feature, and for the bias feature if there is one.
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

fn machine(report: &MachineReport, parameters: &Parameters) -> LiblinearMachine {
    LiblinearMachine {
        iterations: report.iterations,
        objective: report.objective,
        support_vectors: Some(report.support_vectors),
        nonzeros: None,
        converged: report.status == Status::Converged || is_solved_at_zero(report, parameters),
        certificate: report.certificate,
    }
}

/// Returns true if LIBLINEAR's own rule is met where a relative gap cannot be small: one class
/// whose hull has the origin, so that the optimum is 0.
fn is_solved_at_zero(report: &MachineReport, parameters: &Parameters) -> bool {
    parameters.solver == 21 && report.certificate.kkt <= parameters.tolerance()
}
