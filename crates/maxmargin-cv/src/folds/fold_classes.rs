//! The classes that each training set of a plan has, and the labels that its machines elect if a
//! class is missing.

use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::study::Study;
use maxmargin_core::{DualError, TargetKind};
use maxmargin_model::Rule;

/// The classes that have a sample with positive weight in the training set of every fold.
pub(crate) struct FoldClasses {
    /// Labels of all classes; empty if the formulation has no classes.
    labels: Vec<f64>,
    /// Classes of each fold, ascending; empty if every fold has all of them.
    present: Vec<Vec<usize>>,
}

impl Study<'_> {
    /// The classes of the training sets of a plan.
    pub(crate) fn fold_classes(&self, plan: &FoldPlan) -> FoldClasses {
        let (TargetKind::Classes, Some(classes)) = (self.formulation.target_kind(), self.classes) else {
            return FoldClasses { labels: Vec::new(), present: Vec::new() };
        };
        let counts = |row: usize| self.sample_weights.is_none_or(|weights| weights[row] > 0.0);
        let mut all = vec![0_usize; classes.count()];
        let of = |row: usize| classes.of()[row] as usize;
        (0..plan.len()).filter(|&row| counts(row)).for_each(|row| all[of(row)] += 1);
        let present = |fold: usize| -> Vec<usize> {
            let mut left = all.clone();
            plan.left_out(fold).filter(|&row| counts(row)).for_each(|row| left[of(row)] -= 1);
            (0..left.len()).filter(|&class| left[class] > 0).collect()
        };
        let present: Vec<Vec<usize>> = (0..plan.folds()).map(present).collect();
        let whole = present.iter().all(|present| present.len() == all.len());
        FoldClasses { labels: classes.labels().to_vec(), present: if whole { Vec::new() } else { present } }
    }
}

impl FoldClasses {
    /// Checks that the training set of every fold has a sample.
    ///
    /// # Errors
    ///
    /// When one has no sample with a positive weight.
    pub(crate) fn checked(self) -> Result<Self, CvError> {
        match self.present.iter().position(Vec::is_empty) {
            Some(fold) => Err(CvError::Fold { fold, source: DualError::OneClass }),
            None => Ok(self),
        }
    }

    /// The classes of a fold if some are missing; `None` if it has all of them.
    pub(crate) fn some(&self, fold: usize) -> Option<&[usize]> {
        self.present.get(fold).map(|present| &present[..]).filter(|present| present.len() < self.labels.len())
    }

    /// The labels of the classes that are missing in a fold, ascending.
    pub(crate) fn missing(&self, fold: usize) -> Vec<f64> {
        let Some(present) = self.some(fold) else { return Vec::new() };
        (0..self.labels.len()).filter(|class| !present.contains(class)).map(|class| self.labels[class]).collect()
    }

    /// Returns true if a fold has no samples for one of the two sides of a machine.
    pub(crate) fn lacks(&self, fold: usize, sides: (Option<usize>, usize)) -> bool {
        let (earlier, later) = sides;
        self.some(fold).is_some_and(|present| {
            present.len() < 2 || [earlier, Some(later)].into_iter().flatten().any(|class| !present.contains(&class))
        })
    }

    /// The only other class of a fold with two classes; `None` for other folds.
    pub(crate) fn rest(&self, fold: usize, class: usize) -> Option<usize> {
        let present = self.some(fold).filter(|present| present.len() == 2)?;
        present.iter().copied().find(|other| *other != class)
    }

    /// The label that the machines of a fold elect. `decisions` has one value for each machine of
    /// all classes; machines that the fold does not have take no part. If the fold has one class
    /// only, the label is that class, and NaN without any.
    pub(crate) fn label(&self, fold: usize, rule: &Rule, decisions: &[f64]) -> f64 {
        let Some(present) = self.some(fold) else { return rule.label(decisions) };
        let classes: Vec<f64> = present.iter().map(|&class| self.labels[class]).collect();
        if classes.len() < 2 {
            return classes.first().copied().unwrap_or(f64::NAN);
        }
        let sides = rule.multiclass.sides(self.labels.len());
        let own = sides.into_iter().zip(decisions).filter(|(sides, _)| !self.lacks(fold, *sides)).map(|(_, value)| *value);
        Rule { classes, ..rule.clone() }.label(&own.collect::<Vec<f64>>())
    }

    /// The decision value for a machine that a fold does not have, as LIBSVM's calibrations take
    /// it: 1 if only the later side has samples, −1 if only the earlier side has, 0 if neither has.
    pub(crate) fn without_a_machine(&self, fold: usize, sides: (Option<usize>, usize)) -> Option<f64> {
        let present = self.some(fold).filter(|_| self.lacks(fold, sides))?;
        let (earlier, later) = sides;
        let below = earlier.map_or_else(|| present.iter().any(|class| *class != later), |earlier| present.contains(&earlier));
        Some(f64::from(u8::from(present.contains(&later))) - f64::from(u8::from(below)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::ClassLabels;
    use maxmargin_model::Multiclass;

    /// Four classes 1, 2, 3 and 4; some folds lack some of them.
    fn four() -> FoldClasses {
        let present = vec![vec![0, 1, 2, 3], vec![0, 2, 3], vec![1, 3], vec![2]];
        FoldClasses { labels: vec![1.0, 2.0, 3.0, 4.0], present }
    }

    #[test]
    fn machines_of_missing_classes_do_not_vote() {
        let classes = ClassLabels::new(&[1.0, 2.0, 3.0, 4.0]).expect("classes");
        let (four, pairs) = (four(), Rule::of(&classes, Multiclass::OneVsOne));
        // (1,2) (1,3) (1,4) (2,3) (2,4) (3,4): all vote for the second class if it is present.
        let all = [1.0, -1.0, -1.0, -1.0, -1.0, 1.0];
        assert_eq!((four.label(0, &pairs, &all), four.missing(0)), (2.0, vec![]));
        let nan = f64::NAN;
        assert_eq!((four.label(1, &pairs, &[nan, -1.0, 1.0, nan, nan, 1.0]), four.missing(1)), (4.0, vec![2.0]));
        assert_eq!((four.label(2, &pairs, &[nan, nan, nan, nan, -1.0, nan]), four.missing(2)), (2.0, vec![1.0, 3.0]));
        assert_eq!((four.label(3, &pairs, &[nan; 6]), four.missing(3)), (3.0, vec![1.0, 2.0, 4.0]));
        let rest = Rule::of(&classes, Multiclass::OneVsRest);
        let four = four.checked().expect("every fold has a class");
        let none = FoldClasses { present: vec![vec![0, 1, 2, 3], vec![]], ..four };
        assert!(none.label(1, &pairs, &[nan; 6]).is_nan());
        let error = none.checked().err().expect("a fold without classes");
        assert!(error.to_string().starts_with("fold 1: "), "{error}");
        let four = self::four();
        assert_eq!(four.label(1, &rest, &[-2.0, nan, -0.5, -1.0]), 3.0);
        assert_eq!(four.label(2, &rest, &[nan, -0.5, nan, 0.5]), 4.0);
        assert_eq!(four.label(3, &rest, &[nan; 4]), 3.0);
    }

    #[test]
    fn the_only_side_present_is_predicted() {
        let four = four();
        assert_eq!(four.without_a_machine(1, (Some(0), 2)), None);
        assert_eq!(four.without_a_machine(1, (Some(1), 2)), Some(1.0));
        assert_eq!(four.without_a_machine(1, (Some(0), 1)), Some(-1.0));
        assert_eq!(four.without_a_machine(2, (Some(0), 2)), Some(0.0));
        assert_eq!([1, 3].map(|class| four.without_a_machine(2, (None, class))), [None; 2]);
        assert_eq!(four.without_a_machine(2, (None, 0)), Some(-1.0));
        assert_eq!([2, 3].map(|class| four.without_a_machine(3, (None, class))), [Some(1.0), Some(-1.0)]);
        assert_eq!((four.rest(2, 1), four.rest(2, 3), four.rest(1, 0)), (Some(3), Some(1), None));
    }
}
