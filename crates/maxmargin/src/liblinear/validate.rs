//! Cross-validation on LIBLINEAR's folds, and its search for C.

use super::classifier::validate_classifier;
use super::parameters::Parameters;
use super::train::{columns, prepared, svm};
use crate::Ranges;
use crate::libsvm::{Classes, Folds, LibsvmRun};
use maxmargin_cv::{CvError, CvReport, FoldPlan, PlanError};
use maxmargin_data::Dataset;
use maxmargin_data::classes::greatest_in_order;

/// Returns the prediction for each row by the machines that were not trained on it. `folds` are not
/// stratified, as in LIBLINEAR.
///
/// # Errors
///
/// As [`train`](crate::liblinear::train).
pub fn cross_validate(data: Dataset, parameters: &Parameters, folds: &Folds, run: &LibsvmRun) -> Result<Vec<f64>, CvError> {
    Ok(along(data, parameters, &[parameters.c], folds, run)?.remove(0))
}

/// Cross-validates for several values of C, each from the solution before.
///
/// # Errors
///
/// As [`train`](crate::liblinear::train).
pub fn search(
    data: Dataset,
    parameters: &Parameters,
    values: &[f64],
    folds: &Folds,
    run: &LibsvmRun,
) -> Result<Vec<Vec<f64>>, CvError> {
    along(data, parameters, values, folds, run)
}

/// Returns the greatest C of a search for C, for `-s 0`, `-s 2` and `-s 11`.
pub fn end_of_search(parameters: &Parameters) -> f64 {
    if parameters.is_regression() { 1_048_576.0 } else { 1024.0 }
}

/// Returns LIBLINEAR's first C of a search, a power of 2. For `-s 0` it is at most the inverse of
/// the rows times the largest squared norm of one, for `-s 2` half of that: no sample reaches its
/// margin. For `-s 11` it is a hundredth of a bound below
/// which zero weights are as good as any.
pub fn start_of_search(data: &Dataset, parameters: &Parameters) -> f64 {
    let bias = parameters.bias.max(0.0);
    let norm = |row: usize| {
        let mut sum = bias * bias;
        data.samples.row(row).for_each(|_, value| sum += value * value);
        sum
    };
    let rows = data.samples.len();
    let greatest = (0..rows).map(norm).fold(0.0, f64::max);
    let least = if parameters.is_regression() {
        let missed = |y: &f64| (y.abs() - parameters.p).max(0.0).powi(2);
        let (sum, loss) = data.labels.iter().fold((0.0, 0.0), |(sum, loss), y| (sum + y.abs(), loss + missed(y)));
        // Without a loss, any C is too small.
        if loss > 0.0 { 0.01 * loss / (8.0 * sum * sum * greatest) } else { f64::MAX }
    } else {
        1.0 / (if parameters.solver == 0 { 1.0 } else { 2.0 } * rows as f64 * greatest)
    };
    if least.is_finite() { least.log2().floor().exp2().min(end_of_search(parameters)) } else { 1.0 }
}

/// Returns the widths of a search of `-s 11`, descending. They are multiples of a twentieth of the
/// greatest target, from the multiple at or below `first` if that is given, otherwise from the
/// nineteenth.
pub fn widths_of_search(targets: &[f64], first: Option<f64>) -> Vec<f64> {
    const STEPS: usize = 20;
    let most = targets.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
    let start = first.filter(|p| *p > 0.0).map_or(STEPS - 1, |p| ((p / (most / STEPS as f64)) as usize).min(STEPS - 1));
    (0..=start).rev().map(|step| step as f64 * most / STEPS as f64).collect()
}

/// Returns the predictions for every value of C.
fn along(
    mut data: Dataset,
    parameters: &Parameters,
    values: &[f64],
    folds: &Folds,
    run: &LibsvmRun,
) -> Result<Vec<Vec<f64>>, CvError> {
    if folds.count() < 2 {
        return Err(PlanError::NothingLeft { fold: 1 }.into());
    }
    if let Some(classifier) = parameters.classifier(run) {
        return validate_classifier(&data, &classifier, parameters, values, folds);
    }
    let plan = FoldPlan::from_folds(&folds.fold_of().iter().map(|&fold| fold as u32).collect::<Vec<_>>())?;
    let usual = svm(parameters, run);
    let validated = |data: &Dataset, svm: &crate::Svm| -> Result<Vec<CvReport>, CvError> {
        Ok(svm.grid(data, &plan, &Ranges::new().c(values))?.cells.into_iter().map(|cell| cell.result).collect())
    };
    if !parameters.has_classes() {
        return Ok(validated(&data, &usual)?.into_iter().map(|report| report.predicted).collect());
    }
    let classes = Classes::new(&data.labels)?;
    if lacks_classes(&classes, folds) {
        return values.iter().map(|&c| apart(&data, &Parameters { c, ..parameters.clone() }, folds, run)).collect();
    }
    let (svm, labels) = columns(usual, &classes, parameters);
    data.labels = labels;
    let orders: Vec<Vec<u32>> = (0..folds.count()).map(|fold| ranks(&classes, folds.trained(fold))).collect();
    let fold_of = folds.fold_of();
    let label = |(row, fold): (&[f64], &usize)| label(&classes, &orders[*fold], row);
    let said = |report: CvReport| report.decisions.chunks_exact(report.machines).zip(&fold_of).map(label).collect();
    Ok(validated(&data, &svm)?.into_iter().map(said).collect())
}

/// Returns the label from the decision values of a row. Ties are decided by `ranks`.
fn label(classes: &Classes, ranks: &[u32], row: &[f64]) -> f64 {
    let class = match row {
        [_] => classes.elected(row, ranks),
        all => greatest_in_order(ranks, all),
    };
    f64::from(classes.labels[class])
}

/// Returns the order of classes for ties of machines that are trained on `rows`.
fn ranks(classes: &Classes, rows: impl Iterator<Item = usize>) -> Vec<u32> {
    classes.ranks(&classes.order_of(rows))
}

/// Returns true if some training set lacks a class, or if there is only one class.
fn lacks_classes(classes: &Classes, folds: &Folds) -> bool {
    let fold_of = folds.fold_of();
    classes.labels.len() < 2
        || (0..classes.labels.len()).any(|class| {
            let mut of = classes.of.iter().zip(&fold_of).filter(|(own, _)| **own == class).map(|(_, fold)| fold);
            let first = of.next();
            of.all(|fold| Some(fold) == first)
        })
}

/// Cross-validates with an independent training for every fold.
fn apart(data: &Dataset, parameters: &Parameters, folds: &Folds, run: &LibsvmRun) -> Result<Vec<f64>, CvError> {
    let mut predicted = vec![0.0; data.labels.len()];
    for fold in 0..folds.count() {
        let rows: Vec<usize> = folds.trained(fold).collect();
        let labels: Vec<f64> = rows.iter().map(|&row| data.labels[row]).collect();
        let classes = Classes::new(&labels)?;
        if let [only] = classes.labels[..] {
            folds.tested(fold).iter().for_each(|&row| predicted[row] = f64::from(only));
            continue;
        }
        let training = prepared(data.select(&rows), parameters, run)?;
        let model = training.svm.fit(&training.data)?.model;
        let decisions = model.decision_values(&data.samples.select(folds.tested(fold)), run.par)?;
        let ranks = ranks(&classes, 0..rows.len());
        let said = decisions.chunks_exact(model.machines().len()).map(|row| label(&classes, &ranks, row));
        folds.tested(fold).iter().zip(said).for_each(|(&row, label)| predicted[row] = label);
    }
    Ok(predicted)
}
