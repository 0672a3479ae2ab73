//! Classes that the training sets of a plan have, and what their machines elect where one is
//! missing.

use crate::plan::FoldPlan;
use crate::study::Study;
use maxmargin_core::TargetKind;
use maxmargin_model::Rule;

/// The classes that have a sample with a weight in the training set of every fold.
pub(crate) struct FoldClasses {
    /// Labels of all classes; none where the formulation is not about classes.
    labels: Vec<f64>,
    /// Classes of each fold, ascending; empty where every fold has all of them.
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
    /// The classes of a fold, where it does not have all of them.
    pub(crate) fn some(&self, fold: usize) -> Option<&[usize]> {
        self.present.get(fold).map(|present| &present[..]).filter(|present| present.len() < self.labels.len())
    }

    /// The labels of the classes that a fold does not have, ascending.
    pub(crate) fn missing(&self, fold: usize) -> Vec<f64> {
        let Some(present) = self.some(fold) else { return Vec::new() };
        (0..self.labels.len()).filter(|class| !present.contains(class)).map(|class| self.labels[class]).collect()
    }

    /// Whether a fold has no samples for one of the two sides of a machine.
    pub(crate) fn lacks(&self, fold: usize, sides: (Option<usize>, usize)) -> bool {
        let (earlier, later) = sides;
        self.some(fold).is_some_and(|present| {
            present.len() < 2 || [earlier, Some(later)].into_iter().flatten().any(|class| !present.contains(&class))
        })
    }

    /// The class that stands for the rest, of a fold with two classes.
    pub(crate) fn rest(&self, fold: usize, class: usize) -> Option<usize> {
        let present = self.some(fold).filter(|present| present.len() == 2)?;
        present.iter().copied().find(|other| *other != class)
    }

    /// The label that the machines of a fold elect by their decision values, one for each machine
    /// of all classes: machines that the fold does not have take no part. Where there is one class
    /// alone, it is said of every sample.
    pub(crate) fn label(&self, fold: usize, rule: &Rule, decisions: &[f64]) -> f64 {
        let Some(present) = self.some(fold) else { return rule.label(decisions) };
        let classes: Vec<f64> = present.iter().map(|&class| self.labels[class]).collect();
        if let [only] = classes[..] {
            return only;
        }
        let sides = rule.multiclass.sides(self.labels.len());
        let own = sides.into_iter().zip(decisions).filter(|(sides, _)| !self.lacks(fold, *sides)).map(|(_, value)| *value);
        Rule { classes, ..rule.clone() }.label(&own.collect::<Vec<f64>>())
    }

    /// The decision value of a machine that a fold does not have, as LIBSVM's calibrations take it:
    /// 1 where only the later side has samples, −1 where only the earlier has, 0 where neither has.
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

    /// Of four classes 1, 2, 3 and 4 some folds lack some.
    fn four() -> FoldClasses {
        let present = vec![vec![0, 1, 2, 3], vec![0, 2, 3], vec![1, 3], vec![2]];
        FoldClasses { labels: vec![1.0, 2.0, 3.0, 4.0], present }
    }

    #[test]
    fn machines_of_missing_classes_do_not_vote() {
        let classes = ClassLabels::new(&[1.0, 2.0, 3.0, 4.0]).expect("classes");
        let (four, pairs) = (four(), Rule::of(&classes, Multiclass::OneVsOne));
        // (1,2) (1,3) (1,4) (2,3) (2,4) (3,4): all for the second class, where it is known.
        let all = [1.0, -1.0, -1.0, -1.0, -1.0, 1.0];
        assert_eq!((four.label(0, &pairs, &all), four.missing(0)), (2.0, vec![]));
        let nan = f64::NAN;
        assert_eq!((four.label(1, &pairs, &[nan, -1.0, 1.0, nan, nan, 1.0]), four.missing(1)), (4.0, vec![2.0]));
        assert_eq!((four.label(2, &pairs, &[nan, nan, nan, nan, -1.0, nan]), four.missing(2)), (2.0, vec![1.0, 3.0]));
        assert_eq!((four.label(3, &pairs, &[nan; 6]), four.missing(3)), (3.0, vec![1.0, 2.0, 4.0]));
        let rest = Rule::of(&classes, Multiclass::OneVsRest);
        assert_eq!(four.label(1, &rest, &[-2.0, nan, -0.5, -1.0]), 3.0);
        assert_eq!(four.label(2, &rest, &[nan, -0.5, nan, 0.5]), 4.0);
        assert_eq!(four.label(3, &rest, &[nan; 4]), 3.0);
    }

    #[test]
    fn a_side_that_is_there_alone_is_said() {
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
