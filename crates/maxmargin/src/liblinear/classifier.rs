//! The solvers that no dual of [`crate::Svm`] describes: `-s 0`, `4`, `5`, `6` and `7`.

use super::machine::{LiblinearMachine, NonzeroWeights, Training};
use super::parameters::Parameters;
use crate::LinearClassifier;
use crate::libsvm::{Classes, Folds};
use crate::linear_classifier::{ClassRows, ColumnFit, Engine};
use maxmargin_core::{RunControl, Status};
use maxmargin_cv::{CertificateReport, CvError};
use maxmargin_data::Dataset;
use maxmargin_model::check_width;
use maxmargin_model::liblinear::LinearModel;

/// The factors of C for classes in their order.
fn weights(classes: &Classes, parameters: &Parameters) -> Vec<f64> {
    classes.labels.iter().map(|label| parameters.weight(*label)).collect()
}

/// Returns the columns of weights of these classes, each from its own start.
fn fit(
    engine: &Engine,
    classes: &Classes,
    parameters: &Parameters,
    starts: Option<&[ColumnFit]>,
) -> Result<Vec<ColumnFit>, CvError> {
    let weight = weights(classes, parameters);
    // The first of two classes is the positive one.
    let rows = ClassRows { of: &classes.of, classes: classes.labels.len(), positive: 0, weight: &weight };
    engine.fit(&rows, starts, &RunControl::unlimited())
}

/// Returns true if there is nothing to separate: the machine of all classes has one class.
fn is_trivial(classes: &Classes, parameters: &Parameters) -> bool {
    parameters.solver == 4 && classes.labels.len() < 2
}

fn model(fits: &[ColumnFit], classes: &Classes, features: usize, parameters: &Parameters) -> LinearModel {
    let column = |fit: &ColumnFit| {
        let mut w = vec![0.0; features];
        fit.weights.iter().for_each(|&(j, value)| w[j as usize] = value);
        if parameters.bias >= 0.0 {
            w.push(if parameters.bias == 0.0 { 0.0 } else { fit.bias / parameters.bias });
        }
        w
    };
    let weights = if fits.is_empty() {
        vec![vec![0.0; features + usize::from(parameters.bias >= 0.0)]]
    } else {
        fits.iter().map(column).collect()
    };
    LinearModel { solver: parameters.solver, labels: classes.labels.clone(), features, bias: parameters.bias, rho: None, weights }
}

/// Trains a classifier as LIBLINEAR's `train`.
///
/// # Errors
///
/// As [`super::train`].
pub(super) fn train_classifier(
    data: &Dataset,
    classifier: &LinearClassifier,
    parameters: &Parameters,
) -> Result<Training, CvError> {
    data.check()?;
    let classes = Classes::new(&data.labels)?;
    let features = data.samples.features();
    let columns = if classes.labels.len() > 2 || parameters.solver == 4 { classes.labels.len() } else { 1 };
    check_width(features, columns, data.samples.non_zeros())?;
    let engine = Engine::new(classifier, &data.samples);
    let fits = if is_trivial(&classes, parameters) { Vec::new() } else { fit(&engine, &classes, parameters, None)? };
    let goal = classifier.stop.goal;
    let reports: Vec<CertificateReport> =
        fits.iter().map(|fit| CertificateReport::new(&fit.report.certificate, goal.met(&fit.report.certificate))).collect();
    let certificate = reports.iter().copied().reduce(CertificateReport::worse);
    let model = model(&fits, &classes, features, parameters);
    let count = if parameters.solver == 4 { fits.len().min(1) } else { fits.len() };
    let width = features + usize::from(parameters.bias >= 0.0);
    let machines = fits.iter().zip(reports).take(count).map(|(fit, report)| machine(fit, report, parameters, width)).collect();
    Ok(Training { model, machines, certificate })
}

fn machine(fit: &ColumnFit, certificate: CertificateReport, parameters: &Parameters, width: usize) -> LiblinearMachine {
    let (report, is_sparse) = (&fit.report, matches!(parameters.solver, 5 | 6));
    let work = &report.work;
    let iterations = match parameters.solver {
        4 => work.sweeps,
        5 | 6 => work.rounds,
        _ => work.newton_steps,
    };
    LiblinearMachine {
        iterations,
        // The dual objective is minimised, and the primal one of the L1 norm.
        objective: if is_sparse { report.certificate.primal } else { -report.certificate.dual },
        support_vectors: report.dual_nonzeros,
        nonzeros: is_sparse.then_some(NonzeroWeights { nonzeros: report.nonzeros, all: width }),
        converged: report.status == Status::Converged,
        certificate,
    }
}

/// Returns the predictions for every value of C by machines that were not trained on their rows.
/// Each value of C starts from the solution of the one before.
///
/// # Errors
///
/// As [`super::train`].
pub(super) fn validate_classifier(
    data: &Dataset,
    classifier: &LinearClassifier,
    parameters: &Parameters,
    values: &[f64],
    folds: &Folds,
) -> Result<Vec<Vec<f64>>, CvError> {
    data.check()?;
    Classes::new(&data.labels)?;
    let mut predicted = vec![vec![0.0; data.labels.len()]; values.len()];
    for fold in 0..folds.count() {
        let rows: Vec<usize> = folds.trained(fold).collect();
        let labels: Vec<f64> = rows.iter().map(|&row| data.labels[row]).collect();
        let classes = Classes::new(&labels)?;
        let (samples, tested) = (data.samples.select(&rows), data.samples.select(folds.tested(fold)));
        let mut engine = Engine::new(classifier, &samples);
        let mut fits: Option<Vec<ColumnFit>> = None;
        for (&c, predicted) in values.iter().zip(&mut predicted) {
            engine.set_cost(c);
            let trivial = is_trivial(&classes, parameters);
            let found = if trivial { Vec::new() } else { fit(&engine, &classes, parameters, fits.as_deref())? };
            let model = model(&found, &classes, samples.features(), parameters);
            let decisions = model.decision_values(&tested, classifier.par);
            let said = decisions.chunks_exact(model.weights.len()).map(|row| model.label(row));
            folds.tested(fold).iter().zip(said).for_each(|(&row, label)| predicted[row] = label);
            fits = Some(found).filter(|fits| !fits.is_empty());
        }
    }
    Ok(predicted)
}
