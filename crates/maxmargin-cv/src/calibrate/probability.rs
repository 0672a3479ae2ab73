//! Probabilities of classes: calibrations fitted to out-of-fold decision values.

use crate::plan::FoldPlan;
use crate::study::Probability;
use maxmargin_data::{ClassLabels, Par};
use maxmargin_model::{Calibration, ModelError, Multiclass};

/// Cross-fitted probabilities of every sample: rounds × samples × classes in the order of the
/// labels, NaN without decision values.
///
/// They follow from the decision values of a cross-validation
/// ([`CvReport::decisions`](crate::CvReport::decisions)). The calibration for a fold is fitted to
/// samples that the fold does *not* test. A sample thus takes part neither in the machines nor in
/// the calibration behind its own probability.
///
/// # Errors
///
/// When some classes have too few samples outside a fold to fit a calibration.
///
/// # Panics
///
/// When plan, classes and decision values belong to different data sets.
pub fn cross_fitted(
    decisions: &[f64],
    plan: &FoldPlan,
    classes: &ClassLabels,
    multiclass: Multiclass,
    probability: Probability,
    par: Par,
) -> Result<Vec<f64>, ModelError> {
    let fit = CalibrationFit::new(decisions, classes, multiclass, probability);
    let count = classes.count();
    let width = fit.width;
    let mut all = vec![f64::NAN; plan.rounds() * plan.len() * count];
    for fold in 0..plan.folds() {
        let mut others = vec![true; plan.len()];
        plan.test(fold).iter().for_each(|&i| others[i] = false);
        let calibration = fit.over(|i| others[i], par)?;
        let before = plan.round(fold) * plan.len();
        let tested: Vec<usize> = plan.test(fold).iter().map(|i| before + i).filter(|&at| fit.known[at]).collect();
        let rows = par.map(tested.len().div_ceil(TOGETHER), |part| {
            let of = |at: &usize| multiclass.probabilities(count, &calibration, &decisions[at * width..(at + 1) * width]);
            tested[part * TOGETHER..tested.len().min((part + 1) * TOGETHER)].iter().map(of).collect::<Vec<_>>()
        });
        for (at, row) in tested.iter().zip(rows.into_iter().flatten()) {
            all[at * count..(at + 1) * count].copy_from_slice(&row);
        }
    }
    Ok(all)
}

/// Number of samples in a block of work.
const TOGETHER: usize = 256;

/// Decision values of classes, to which calibrations are fitted.
pub(crate) struct CalibrationFit<'a> {
    /// Row-major samples × machines, round after round.
    decisions: &'a [f64],
    classes: &'a ClassLabels,
    multiclass: Multiclass,
    probability: Probability,
    /// Number of machines.
    width: usize,
    /// For each row of the decision values, true if it has no NaN.
    known: Vec<bool>,
}

impl<'a> CalibrationFit<'a> {
    pub(crate) fn new(decisions: &'a [f64], classes: &'a ClassLabels, multiclass: Multiclass, probability: Probability) -> Self {
        let width = multiclass.sides(classes.count()).len();
        let matrix = width * classes.of().len();
        assert!(decisions.len().is_multiple_of(matrix), "a decision value of each machine for each sample");
        let known = decisions.chunks_exact(width).map(|row| row.iter().all(|f| !f.is_nan())).collect();
        Self { decisions, classes, multiclass, probability, width, known }
    }

    /// Fits the calibration of each machine to the samples of its two sides that have decision
    /// values and that `counts` accepts.
    pub(crate) fn over(&self, counts: impl Fn(usize) -> bool + Sync, par: Par) -> Result<Vec<Calibration>, ModelError> {
        let width = self.width;
        let of = self.classes.of();
        let class = |at: usize| of[at % of.len()] as usize;
        let sides = self.multiclass.sides(self.classes.count());
        let one = |p: usize| {
            let (earlier, later) = sides[p];
            let is_side = |at: usize| earlier.is_none_or(|earlier| [earlier, later].contains(&class(at)));
            let counted = |at: &usize| is_side(*at) && counts(at % of.len()) && self.known[*at];
            let rows: Vec<usize> = (0..self.known.len()).filter(counted).collect();
            let decisions: Vec<f64> = rows.iter().map(|at| self.decisions[at * width + p]).collect();
            let sides: Vec<bool> = rows.iter().map(|&at| class(at) == later).collect();
            self.probability.fit(&decisions, &sides)
        };
        par.map(sides.len(), one).into_iter().collect()
    }
}
