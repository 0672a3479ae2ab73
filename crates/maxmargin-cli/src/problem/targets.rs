//! Checks of targets: labels that look like values, and regressions that explain nothing.

use crate::console::format;
use crate::console::notes::Notes;
use maxmargin::core::{Formulation, TargetKind};
use maxmargin::data::ClassLabels;

/// Whole numbers look like values if there are more distinct ones than this …
const MANY: usize = 20;

/// … and on average fewer rows of each than this.
const ROWS_EACH: usize = 3;

/// A regression has learnt nearly nothing if at least this share of its samples is at C …
const AT_C: f64 = 0.9;

/// … and it explains less than this share of the variance.
const EXPLAINED: f64 = 0.1;

/// The fewest rows for this check.
const SOME: usize = 10;

/// Returns the reason why labels look like values, if they do: three or more distinct numbers with
/// fractions among them, or whole numbers that are nearly all distinct.
pub(super) fn as_values(classes: &ClassLabels) -> Option<String> {
    let (labels, rows) = (classes.labels(), classes.of().len());
    let different = format::count(labels.len() as u64);
    if let Some(fraction) = labels.iter().find(|label| label.fract() != 0.0).filter(|_| labels.len() > 2) {
        return Some(format!("{different} different labels with fractions among them, such as {},", format::exact(*fraction)));
    }
    let many = labels.len() > MANY && rows < ROWS_EACH * labels.len();
    many.then(|| format!("{different} different numbers in {} rows", format::count(rows as u64)))
}

/// The number of samples of a regression at C, and of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedSamples {
    pub(crate) bounded: usize,
    pub(crate) samples: usize,
}

impl BoundedSamples {
    /// Returns whether nearly all samples are at C, of enough samples.
    pub(crate) fn is_near_all(self) -> bool {
        self.samples >= SOME && self.bounded as f64 >= AT_C * self.samples as f64
    }
}

/// Returns C of a regression with a tube. Without one, as of quantiles, nearly all samples are at
/// their bound whatever C is.
pub(crate) fn cost_of_tube(formulation: Formulation) -> Option<f64> {
    formulation.c().filter(|_| formulation.target_kind() == TargetKind::Values && formulation.level().is_none())
}

/// Warns if C is so small for these values that the model hardly differs from a constant.
pub(crate) fn warn_of_small_cost(c: f64, at: BoundedSamples, truth: &[f64], predicted: &[f64], notes: &mut Notes) {
    let Some((r2, deviation)) = explained(truth, predicted).filter(|(r2, _)| at.is_near_all() && *r2 < EXPLAINED) else { return };
    let (bounded, samples) = (format::count(at.bounded as u64), format::count(at.samples as u64));
    notes.warn(format!(
        "{bounded} of {samples} samples are at C = {} and r2 is {r2:.3}: the model hardly differs from a constant; the values have a standard \
         deviation of {}: use a larger -c (such as {}), or divide the values by their standard deviation",
        format::short(c),
        format::short(deviation),
        format::short(c * deviation.max(10.0)),
    ));
}

/// Returns r² over the entries with a prediction, and the standard deviation; None if all values
/// are equal.
fn explained(truth: &[f64], predicted: &[f64]) -> Option<(f64, f64)> {
    let both: Vec<(f64, f64)> = truth.iter().copied().zip(predicted.iter().copied()).filter(|(_, p)| p.is_finite()).collect();
    let n = both.len() as f64;
    let mean = both.iter().map(|(t, _)| t).sum::<f64>() / n;
    let total: f64 = both.iter().map(|(t, _)| (t - mean) * (t - mean)).sum();
    let errors: f64 = both.iter().map(|(t, p)| (t - p) * (t - p)).sum();
    (total > 0.0).then(|| (1.0 - errors / total, (total / n).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(labels: &[f64]) -> bool {
        as_values(&ClassLabels::new(labels).expect("classes")).is_some()
    }

    #[test]
    fn fractions_and_numbers_that_differ_are_values() {
        let every = |step: f64, rows: usize, each: usize| -> Vec<f64> { (0..rows).map(|i| (i / each) as f64 * step).collect() };
        // 60 different numbers in 60 and in 120 rows, halves, and fractions.
        assert!(of(&every(1.0, 60, 1)) && of(&every(7.0, 120, 2)) && of(&every(0.5, 30, 10)) && of(&every(0.1, 60, 3)));
        // Two classes of whatever numbers, ten digits, 26 letters, 105 topics.
        assert!(!of(&[0.5, 1.5, 0.5]) && !of(&every(1.0, 20, 2)) && !of(&every(1.0, 100, 4)) && !of(&every(1.0, 525, 5)));
    }

    #[test]
    fn the_mean_explains_nothing() {
        let truth = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(explained(&truth, &[2.5; 4]), Some((0.0, 1.25_f64.sqrt())));
        assert_eq!(explained(&truth, &truth).map(|found| found.0), Some(1.0));
        assert_eq!(explained(&[2.0; 4], &truth), None);
    }
}
