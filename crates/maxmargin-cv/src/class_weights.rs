//! Factors of C for classes: the given ones, and those that belong to a training set.

use crate::arrangement::MachineSamples;
use crate::error::CvError;
use crate::fold_classes::FoldClasses;
use crate::plan::FoldPlan;
use crate::study::Study;
use maxmargin_core::{Formulation, Problem};
use maxmargin_data::ClassLabels;

/// Factors of C for classes that follow from a training set, besides the given ones
/// ([`Study::weights`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassWeights {
    /// None: the given factors alone.
    #[default]
    Given,
    /// All classes weigh the same: `rows / (classes · rows of the class)`, of the training set. In
    /// a cross-validation every fold has its own.
    Balanced,
    /// As `Balanced`, where every row counts as much as its own weight.
    BalancedByWeight,
}

impl ClassWeights {
    /// The factor of each class of `classes` in the training set of `rows`; 1 for a class that has
    /// no row there, or no weight.
    pub fn factors(self, classes: &ClassLabels, sample_weights: Option<&[f64]>, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let count = classes.count();
        let by_weight = sample_weights.filter(|_| self == Self::BalancedByWeight);
        if self == Self::Given {
            return vec![1.0; count];
        }
        let (mut present, mut mass) = (vec![false; count], vec![0.0; count]);
        for row in rows {
            let class = classes.of()[row] as usize;
            present[class] = true;
            mass[class] += by_weight.map_or(1.0, |weights| weights[row]);
        }
        let even = mass.iter().sum::<f64>() / present.iter().filter(|present| **present).count() as f64;
        mass.iter().map(|mass| if *mass > 0.0 { even / mass } else { 1.0 }).collect()
    }
}

/// The factors of C of every training set of a cross-validation.
pub(crate) struct FoldFactors {
    /// Of all data.
    all: Vec<f64>,
    /// Of each fold; empty where all are those of all data.
    folds: Vec<Vec<f64>>,
}

impl FoldFactors {
    /// Those of all data.
    pub(crate) fn all(&self) -> &[f64] {
        &self.all
    }

    fn of(&self, fold: usize) -> &[f64] {
        self.folds.get(fold).unwrap_or(&self.all)
    }
}

impl Study<'_> {
    /// The factor of C of each class in the training set of `rows`.
    pub(crate) fn factors_of(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let Some(classes) = self.classes else { return Vec::new() };
        let own = self.class_weights.factors(classes, self.sample_weights, rows);
        own.iter().zip(self.weights).map(|(own, given)| own * given).collect()
    }

    /// The factor of C of each class in all data.
    pub(crate) fn factors_of_all(&self) -> Vec<f64> {
        self.factors_of(0..self.data.samples.len())
    }

    /// The factors of C of all folds of a plan.
    pub(crate) fn fold_factors(&self, plan: &FoldPlan) -> FoldFactors {
        let given = self.class_weights == ClassWeights::Given;
        let folds = if given { 0 } else { plan.folds() };
        let folds = (0..folds).map(|fold| self.factors_of(plan.train(fold).into_iter())).collect();
        FoldFactors { all: self.factors_of_all(), folds }
    }
}

/// The problems of one machine in every fold, at one value of C.
#[derive(Clone, Copy)]
pub(crate) struct FoldBoxes<'a> {
    pub(crate) part: &'a MachineSamples,
    pub(crate) formulation: Formulation,
    pub(crate) classes: &'a FoldClasses,
    pub(crate) factors: &'a FoldFactors,
}

impl FoldBoxes<'_> {
    /// Whether a fold has no such machine: its training set has no sample of one of the two sides.
    pub(crate) fn lack(&self, fold: usize) -> bool {
        self.part.classes.is_some_and(|sides| self.classes.lacks(fold, sides))
    }

    /// Whether samples that are in the training set of a fold have other boxes there than in all
    /// data.
    pub(crate) fn differ(&self, fold: usize) -> bool {
        let Some((earlier, later)) = self.part.classes else { return false };
        let (own, all) = (self.factors.of(fold), &self.factors.all);
        earlier.into_iter().chain([later]).any(|class| own[class] != all[class]) || self.rest(fold) != 1.0
    }

    /// The problem of all samples with the boxes that they have in a fold.
    pub(crate) fn problem(&self, fold: usize) -> Result<Problem, CvError> {
        Ok(self.part.problem_against(self.formulation, self.factors.of(fold), self.rest(fold))?)
    }

    /// The factor of the rest: where that is one class alone, it has its own, as in a machine of
    /// the two.
    fn rest(&self, fold: usize) -> f64 {
        let Some((None, later)) = self.part.classes else { return 1.0 };
        self.classes.rest(fold, later).map_or(1.0, |other| self.factors.of(fold)[other])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_training_set_has_factors_of_its_own() {
        let classes = ClassLabels::new(&[1.0, 2.0, 2.0, 2.0, 5.0]).expect("three classes");
        let weights = [1.0, 0.5, 0.5, 2.0, 0.0];
        let of = |mode: ClassWeights, rows: &[usize]| mode.factors(&classes, Some(&weights), rows.iter().copied());
        assert_eq!(of(ClassWeights::Given, &[0, 1]), [1.0; 3]);
        assert_eq!(of(ClassWeights::Balanced, &[0, 1, 2, 3, 4]), [5.0 / 3.0, 5.0 / 9.0, 5.0 / 3.0]);
        // A class that is not there is not counted.
        assert_eq!(of(ClassWeights::Balanced, &[0, 1, 2]), [1.5, 0.75, 1.0]);
        // A class without weight is counted, as scikit-learn counts it.
        assert_eq!(of(ClassWeights::BalancedByWeight, &[0, 1, 2, 4]), [2.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert_eq!(ClassWeights::BalancedByWeight.factors(&classes, None, 0..3), [1.5, 0.75, 1.0]);
    }
}
