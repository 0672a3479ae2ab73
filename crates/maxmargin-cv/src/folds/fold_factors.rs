//! Class factors of C for every training set, and the boxes that follow from them.

use crate::folds::fold_classes::FoldClasses;
use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::study::Study;
use crate::study::layout::MachineSamples;
use maxmargin_core::{Formulation, Problem};
use maxmargin_model::ClassWeights;

/// The factors of C of every training set of a cross-validation.
pub(crate) struct FoldFactors {
    /// Factors for all data.
    all: Vec<f64>,
    /// Factors for each fold; empty if every fold has those of all data.
    folds: Vec<Vec<f64>>,
}

impl FoldFactors {
    /// The factors for all data.
    pub(crate) fn all(&self) -> &[f64] {
        &self.all
    }

    fn of(&self, fold: usize) -> &[f64] {
        self.folds.get(fold).unwrap_or(&self.all)
    }
}

impl Study<'_> {
    /// The factors of C of all folds of a plan.
    pub(crate) fn fold_factors(&self, plan: &FoldPlan) -> FoldFactors {
        let given = self.options.class_weights == ClassWeights::Given;
        let folds = if given { 0 } else { plan.folds() };
        let folds = (0..folds).map(|fold| self.factors_of(plan.train(fold).into_iter())).collect();
        FoldFactors { all: self.factors_of_all(), folds }
    }
}

/// The problems of one machine in every fold, at one value of C.
#[derive(Clone, Copy)]
pub(crate) struct FoldBoxes<'a> {
    pub(crate) machine: &'a MachineSamples,
    pub(crate) formulation: Formulation,
    pub(crate) classes: &'a FoldClasses,
    pub(crate) factors: &'a FoldFactors,
}

impl FoldBoxes<'_> {
    /// Returns true if a fold has no such machine: its training set has no sample of one of the two
    /// sides.
    pub(crate) fn lack(&self, fold: usize) -> bool {
        self.machine.classes.is_some_and(|sides| self.classes.lacks(fold, sides))
    }

    /// Returns true if samples in the training set of a fold have other boxes there than in the
    /// problem of all data.
    pub(crate) fn differ(&self, fold: usize) -> bool {
        let Some((earlier, later)) = self.machine.classes else { return false };
        let (own, all) = (self.factors.of(fold), &self.factors.all);
        earlier.into_iter().chain([later]).any(|class| own[class] != all[class]) || self.rest(fold) != 1.0
    }

    /// The problem of all samples with the boxes of a fold.
    pub(crate) fn problem(&self, fold: usize) -> Result<Problem, CvError> {
        Ok(self.machine.problem_against(self.formulation, self.factors.of(fold), self.rest(fold))?)
    }

    /// The factor of the other classes together. If only one other class is present, it is that
    /// class's own factor, as in a machine of the two.
    fn rest(&self, fold: usize) -> f64 {
        let Some((None, later)) = self.machine.classes else { return 1.0 };
        self.classes.rest(fold, later).map_or(1.0, |other| self.factors.of(fold)[other])
    }
}
