//! Cross-validation on LIBSVM's folds.

use super::folds::Folds;
use super::parameters::Parameters;
use super::train::{LibsvmProblem, LibsvmRun, train};
use maxmargin_cv::{CvError, CvReport, FoldPlan, PlanError};
use maxmargin_data::Dataset;
use std::fmt::Write;

/// The predictions of a cross-validation.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldPredictions {
    /// The label or value of every row, by the machines that were not trained on it.
    pub predicted: Vec<f64>,
    /// The report of the folds, if they were trained together over shared kernels.
    pub report: Option<Box<CvReport>>,
}

impl FoldPredictions {
    /// Returns LIBSVM's output during cross-validation: iterations and support vectors of each
    /// machine of each fold.
    pub fn console_text(&self, classes: bool) -> String {
        let mut text = String::new();
        for fold in self.report.iter().flat_map(|report| &report.folds) {
            for machine in &fold.machines {
                let _ = writeln!(text, "*\noptimization finished, #iter = {}", machine.iterations);
                let _ = writeln!(text, "nSV = {}, nBSV = {}", machine.support_vectors, machine.bounded);
            }
            if classes {
                let _ = writeln!(text, "Total nSV = {}", fold.support_vectors);
            }
        }
        text
    }
}

/// Cross-validates as `svm-train -v`. All folds are trained together if every training set has all
/// classes.
///
/// # Errors
///
/// As [`train`].
pub fn cross_validate(
    problem: &LibsvmProblem,
    parameters: &Parameters,
    folds: &Folds,
    run: &LibsvmRun,
) -> Result<FoldPredictions, CvError> {
    // With probabilities, LIBSVM predicts by them, and each training calibrates its own.
    if parameters.has_classes() && (parameters.probability == 1 || lacks_classes(problem, folds)) {
        return apart(problem, parameters, folds, run);
    }
    // Empty folds are left out.
    let mut used: Vec<usize> = (0..folds.count()).filter(|&fold| !folds.tested(fold).is_empty()).collect();
    used.dedup();
    if used.len() < 2 {
        return apart(problem, parameters, folds, run);
    }
    let place = |fold: &usize| used.partition_point(|known| known < fold) as u32;
    let fold_of = folds.fold_of();
    let plan = FoldPlan::from_folds(&fold_of.iter().map(place).collect::<Vec<_>>())?;
    let report = problem.svm(&Parameters { probability: 0, ..parameters.clone() }, run).cross_validate(&problem.data, &plan)?;
    let predicted = match &problem.classes {
        None => report.predicted.clone(),
        Some(classes) => {
            let ranks = |fold| classes.ranks(&classes.order_of(folds.trained(fold)));
            let orders: Vec<Vec<u32>> = (0..folds.count()).map(ranks).collect();
            let rows = report.decisions.chunks_exact(report.machines);
            let label =
                |(decisions, fold): (&[f64], &usize)| f64::from(classes.labels[classes.elected(decisions, &orders[*fold])]);
            rows.zip(&fold_of).map(label).collect()
        }
    };
    Ok(FoldPredictions { predicted, report: Some(Box::new(report)) })
}

/// Returns true if some training set lacks a class, so that its training is another problem, or if
/// there is only one class.
fn lacks_classes(problem: &LibsvmProblem, folds: &Folds) -> bool {
    let Some(classes) = &problem.classes else { return false };
    let fold_of = folds.fold_of();
    let mut seen: Vec<Option<usize>> = vec![None; classes.labels.len()];
    let mut several = vec![false; seen.len()];
    for (&class, &fold) in classes.of.iter().zip(&fold_of) {
        several[class] |= *seen[class].get_or_insert(fold) != fold;
    }
    several.len() < 2 || several.iter().any(|several| !several)
}

/// Cross-validates with an independent training for every fold, with rows in LIBSVM's order.
fn apart(problem: &LibsvmProblem, parameters: &Parameters, folds: &Folds, run: &LibsvmRun) -> Result<FoldPredictions, CvError> {
    let mut predicted = vec![0.0; problem.given.len()];
    for fold in (0..folds.count()).filter(|&fold| !folds.tested(fold).is_empty()) {
        let rows: Vec<usize> = folds.trained(fold).collect();
        let labels = rows.iter().map(|&row| problem.given[row]).collect();
        if rows.is_empty() {
            return Err(CvError::Folds(PlanError::NothingLeft { fold: fold + 1 }));
        }
        let training = LibsvmProblem::new(Dataset { labels, ..problem.data.select(&rows) }, parameters)?;
        let learned = train(&training, parameters, run)?.learned;
        let said = learned.predict(&problem.data.samples.select(folds.tested(fold)), run.par)?;
        folds.tested(fold).iter().zip(said).for_each(|(&row, label)| predicted[row] = label);
    }
    Ok(FoldPredictions { predicted, report: None })
}

/// Returns the mean squared error and the squared correlation, summed in LIBSVM's order. The
/// correlation is NaN if the truth or the prediction is constant.
pub fn squares(truth: &[f64], predicted: &[f64]) -> (f64, f64) {
    let (mut error, mut v, mut y, mut vv, mut yy, mut vy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (&target, &value) in truth.iter().zip(predicted) {
        error += (value - target) * (value - target);
        v += value;
        y += target;
        vv += value * value;
        yy += target * target;
        vy += value * target;
    }
    let l = truth.len() as f64;
    let both = l * vy - v * y;
    (error / l, (both * both) / ((l * vv - v * v) * (l * yy - y * y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libsvm::Rand;

    #[test]
    fn a_class_of_one_sample_is_missing_from_one_training() {
        let x: Vec<[f64; 1]> = (0..9).map(|i| [f64::from(i)]).collect();
        let y = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0];
        let parameters = Parameters { gamma: 0.5, c: 100.0, ..Parameters::default() };
        let problem = LibsvmProblem::new(Dataset::from_rows(&x, &y).expect("rows"), &parameters).expect("classes");
        let folds = Folds::new(9, 3, problem.classes(), &mut Rand::default().draws());
        let judged = cross_validate(&problem, &parameters, &folds, &LibsvmRun::default()).expect("predictions");
        assert!(judged.report.is_none());
        assert_eq!(judged.predicted[8], 2.0);
        assert!(judged.predicted.iter().all(|label| [1.0, 2.0, 3.0].contains(label)));
    }

    #[test]
    fn squares_by_hand() {
        assert_eq!(squares(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), (14.0 / 3.0, 1.0));
        assert!(squares(&[1.0, 1.0], &[1.0, 2.0]).1.is_nan());
    }
}
