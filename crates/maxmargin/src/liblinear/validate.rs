//! Cross-validation on LIBLINEAR's folds, and its search for C.

use super::parameters::Parameters;
use super::train::{columns, sides, svm, train, weighted};
use crate::Ranges;
use crate::libsvm::{Classes, Folds, Run};
use maxmargin_cv::{CvError, CvReport, FoldPlan};
use maxmargin_data::Dataset;

/// What the machines that did not see a row predict for it. `folds` are those without classes, as LIBLINEAR has them.
///
/// # Errors
///
/// As [`train`].
pub fn cross_validate(data: Dataset, parameters: &Parameters, folds: &Folds, run: &Run) -> Result<Vec<f64>, CvError> {
    Ok(along(data, parameters, &[parameters.c], folds, run)?.remove(0))
}

/// The same for several values of C, each from the one before.
///
/// # Errors
///
/// As [`train`].
pub fn search(
    data: Dataset,
    parameters: &Parameters,
    values: &[f64],
    folds: &Folds,
    run: &Run,
) -> Result<Vec<Vec<f64>>, CvError> {
    along(data, parameters, values, folds, run)
}

/// Where LIBLINEAR begins to search for C of `-s 2`: half of the greatest C at which no sample has its margin, at most, as a power of two.
pub fn start_of_search(data: &Dataset) -> f64 {
    let norm = |row: usize| {
        let mut sum = 0.0;
        data.samples.row(row).for_each(|_, value| sum += value * value);
        sum
    };
    let rows = data.samples.len();
    let greatest = (0..rows).map(norm).fold(0.0, f64::max);
    let least = 1.0 / (2.0 * rows as f64 * greatest);
    if least.is_finite() { least.log2().floor().exp2() } else { 1.0 }
}

fn along(mut data: Dataset, parameters: &Parameters, values: &[f64], folds: &Folds, run: &Run) -> Result<Vec<Vec<f64>>, CvError> {
    let plan = FoldPlan::from_folds(folds.fold_of().iter().map(|&fold| fold as u32).collect())?;
    let usual = svm(parameters, run);
    let validated = |data: &Dataset, svm: &crate::Svm| -> Result<Vec<CvReport>, CvError> {
        Ok(svm.grid(data, &plan, &Ranges::new().c(values))?.cells.into_iter().map(|cell| cell.found).collect())
    };
    if !parameters.has_classes() {
        return Ok(validated(&data, &usual)?.into_iter().map(|report| report.predicted).collect());
    }
    let classes = Classes::new(&data.labels);
    if lacks_classes(&classes, folds) {
        return values.iter().map(|&c| apart(&data, &Parameters { c, ..parameters.clone() }, folds, run)).collect();
    }
    // Per value of C, the greatest decision so far and the class that has it.
    let rows = data.labels.len();
    let mut best: Vec<Vec<(f64, usize)>> = vec![vec![(f64::NEG_INFINITY, 0); rows]; values.len()];
    for column in 0..columns(&classes) {
        let (labels, prices) = sides(&classes, parameters, column);
        data.labels = labels;
        for (report, best) in validated(&data, &weighted(&usual, prices))?.iter().zip(&mut best) {
            for (best, &decision) in best.iter_mut().zip(&report.decisions) {
                if classes.labels.len() == 2 {
                    *best = (decision, usize::from(decision <= 0.0));
                } else if decision > best.0 {
                    *best = (decision, column);
                }
            }
        }
    }
    let label = |best: &(f64, usize)| f64::from(classes.labels[best.1]);
    Ok(best.iter().map(|rows| rows.iter().map(label).collect()).collect())
}

/// Whether some training set has not all classes.
fn lacks_classes(classes: &Classes, folds: &Folds) -> bool {
    let fold_of = folds.fold_of();
    (0..classes.labels.len()).any(|class| {
        let mut of = classes.of.iter().zip(&fold_of).filter(|(own, _)| **own == class).map(|(_, fold)| fold);
        let first = of.next();
        of.all(|fold| Some(fold) == first)
    })
}

/// Every fold as a training of its own.
fn apart(data: &Dataset, parameters: &Parameters, folds: &Folds, run: &Run) -> Result<Vec<f64>, CvError> {
    let mut predicted = vec![0.0; data.labels.len()];
    for fold in 0..folds.count() {
        let rows: Vec<usize> = folds.trained(fold).collect();
        let model = train(data.select(&rows), parameters, run)?.model;
        let decisions = model.decision_values(&data.samples.select(folds.tested(fold)), run.par);
        let said = decisions.chunks_exact(model.weights.len()).map(|row| model.label(row));
        folds.tested(fold).iter().zip(said).for_each(|(&row, label)| predicted[row] = label);
    }
    Ok(predicted)
}
