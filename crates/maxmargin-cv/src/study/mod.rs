//! A study: data, its machines, and the settings of their training.

mod alternatives;
mod calibration_options;
mod conformal_groups;
mod conformal_options;
pub(crate) mod layout;
pub(crate) mod level_chain;
pub(crate) mod matching;
mod options;
pub(crate) mod page_pool;
pub(crate) mod prepared_data;
pub(crate) mod refit;
pub(crate) mod space_source;
pub(crate) mod spaces;
pub(crate) mod twin_alpha;

pub use calibration_options::{CalibrationOptions, Probability};
pub use conformal_groups::ConformalGroups;
pub use conformal_options::{ConformalOptions, Exchangeable};
pub use options::TrainOptions;
pub use prepared_data::PreparedData;

use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::study::layout::{MachineLayout, MachineSamples, has_one_thread_each};
use crate::study::prepared_data::PreparationOptions;
use crate::study::space_source::{Prepared, SpaceSource};
use crate::study::spaces::RowMemory;
use maxmargin_core::{Formulation, Problem, Solve, Stop, TargetKind};
use maxmargin_data::{ClassLabels, Dataset, Preparation, Samples};
use maxmargin_kernel::{Gamma, Kernel};
use maxmargin_model::Rule;
use std::borrow::Cow;

/// The inputs of a training or a cross-validation: data, labels, options, solver. Two classes need
/// one machine; more classes need one for each pair, or one for each against the rest. Regression
/// and one class need one machine, several levels of quantiles one for each.
///
/// The fields after `options` begin as these say ([`Study::new`]). They are those that change from
/// fold to fold, or from cell to cell of a search.
#[derive(Clone, Copy)]
pub struct Study<'a> {
    /// The data, before any scaling.
    pub data: &'a Dataset,
    /// The classes, if the formulation needs them ([`Formulation::target_kind`]). Otherwise the
    /// labels of the data are values, or are not used.
    pub classes: Option<&'a ClassLabels>,
    /// The options.
    pub options: &'a TrainOptions,
    /// The solver.
    pub solver: &'a dyn Solve,
    /// A given factor of C for each class; empty without classes. With one-versus-rest machines,
    /// the factor of a class counts in its own machine only, and the rest has the factor 1.
    pub weights: &'a [f64],
    /// A factor of C for each sample, which multiplies that of its class. `None` means 1.
    pub sample_weights: Option<&'a [f64]>,
    /// The formulation that is solved, with loss and bias term.
    pub formulation: Formulation,
    /// Levels τ of several machines in place of that of the formulation, ascending; empty for one
    /// machine.
    pub levels: &'a [f64],
    /// A rule for the kernel's width.
    pub gamma: Option<Gamma>,
    /// The stopping conditions of a training. The time limit is for the whole run.
    pub stop: Stop,
    /// Memory for kernel rows, in bytes.
    pub memory: u64,
    /// Samples that are prepared already. They are used if they are those of this study's data and
    /// options.
    pub prepared: Option<&'a PreparedData<'a>>,
}

/// Checks that there is a factor of C for each row, finite and 0 or more.
///
/// # Errors
///
/// When there is not.
pub fn check_sample_weights(weights: &[f64], rows: usize) -> Result<(), CvError> {
    if weights.len() != rows {
        return Err(CvError::SampleWeights { found: weights.len(), rows });
    }
    match weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        Some(row) => Err(CvError::SampleWeight { row, value: weights[row] }),
        None => Ok(()),
    }
}

impl<'a> Study<'a> {
    /// Returns the study of `data` by these options. `weights` has the factor of C that they give
    /// to each class ([`TrainOptions::given_weights`]), `solver` is theirs
    /// ([`TrainOptions::build_solver`]).
    pub fn new(
        data: &'a Dataset,
        classes: Option<&'a ClassLabels>,
        options: &'a TrainOptions,
        weights: &'a [f64],
        solver: &'a dyn Solve,
    ) -> Self {
        Self {
            data,
            classes,
            options,
            solver,
            weights,
            sample_weights: options.sample_weights.as_deref(),
            formulation: options.resolved_formulation(),
            levels: &options.levels,
            gamma: options.gamma,
            stop: options.stop(),
            memory: options.memory,
            prepared: None,
        }
    }

    /// Returns true if the machines work on features and no kernel value is computed.
    ///
    /// # Errors
    ///
    /// When the solver does not take the formulation, or the weights, classes and labels do not fit
    /// each other.
    pub(crate) fn over_features(&self) -> Result<bool, CvError> {
        self.data.check()?;
        let count = self.classes.map_or(0, ClassLabels::count);
        if self.weights.len() != count {
            return Err(CvError::Weights { found: self.weights.len(), classes: count });
        }
        if let Some(weights) = self.sample_weights {
            check_sample_weights(weights, self.data.samples.len())?;
        }
        if (self.formulation.target_kind() == TargetKind::Classes) != self.classes.is_some() {
            return Err(CvError::Classes(self.formulation.name()));
        }
        let words = self.data.columns.as_ref().map_or(&[][..], |columns| columns.labels());
        if let (TargetKind::Values, Some(word)) = (self.formulation.target_kind(), words.first()) {
            return Err(CvError::Words { formulation: self.formulation.name(), word: word.clone() });
        }
        if self.options.kernel == Kernel::Linear && self.solver.takes(&self.formulation, true).is_ok() {
            return Ok(true);
        }
        self.solver.takes(&self.formulation, false)?;
        Ok(false)
    }

    /// The samples, imputed and scaled by statistics of all of them, and the kernel with its width
    /// for them.
    pub(crate) fn prepared_by_all(&self) -> Result<Prepared<'a>, CvError> {
        let options = self.preparation_options();
        if let Some(known) = self.prepared.filter(|prepared| prepared.serves(self.data, &options)) {
            return self.with_kernel(known.preparation.clone(), Cow::Borrowed(&*known.samples));
        }
        let PreparedData { preparation, samples, .. } = options.prepare(self.data)?;
        self.with_kernel(preparation, samples)
    }

    /// As [`Study::prepared_by_all`], with the statistics of some rows.
    pub(crate) fn prepared_by(&self, rows: &[usize]) -> Result<Prepared<'a>, CvError> {
        let preparation = self.preparation(rows.iter().copied())?;
        let samples = preparation.apply(&self.data.samples)?;
        self.with_kernel(preparation, samples)
    }

    fn with_kernel(&self, preparation: Preparation, samples: Cow<'a, Samples>) -> Result<Prepared<'a>, CvError> {
        let kernel = match self.gamma {
            None => self.options.kernel.clone().checked()?,
            Some(gamma) => self.options.kernel.resolved(gamma, &samples)?,
        };
        Ok(Prepared { preparation, samples, kernel })
    }

    /// The study with the width of all data where features are not scaled: as LIBSVM's programs,
    /// and whether or not gaps are filled by each training set.
    pub(crate) fn with_one_width(&self) -> Result<Self, CvError> {
        if self.options.scale.is_some() || !self.gamma.is_some_and(Gamma::is_of_values) {
            return Ok(*self);
        }
        Ok(Self { gamma: self.prepared_by_all()?.kernel.gamma().map(Gamma::Value), ..*self })
    }

    fn preparation_options(&self) -> PreparationOptions {
        PreparationOptions::new(self.options, self.formulation)
    }

    /// The preparation of samples by the statistics of some rows.
    pub(crate) fn preparation(&self, rows: impl Iterator<Item = usize> + Clone) -> Result<Preparation, CvError> {
        self.preparation_options().fit(self.data, rows)
    }

    /// The decision rule over the machines.
    pub(crate) fn rule(&self) -> Rule {
        match (self.formulation.target_kind(), self.classes) {
            (TargetKind::Classes, Some(classes)) => Rule::of(classes, self.options.multiclass),
            (TargetKind::Nothing, _) => Rule::INLIER,
            _ => Rule::of_levels(self.levels),
        }
    }

    /// The factor of C of each class in the training set of `rows`.
    pub(crate) fn factors_of(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let Some(classes) = self.classes else { return Vec::new() };
        let own = self.rule_factors(classes, rows);
        own.iter().zip(self.weights).map(|(own, given)| own * given).collect()
    }

    /// The factor of C of each class by the rule of the options, in the training set of `rows`.
    pub(crate) fn rule_factors(&self, classes: &ClassLabels, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        self.options.class_weights.factors(classes.of(), classes.count(), self.sample_weights, rows)
    }

    /// The factor of C of each class in all data.
    pub(crate) fn factors_of_all(&self) -> Vec<f64> {
        self.factors_of(0..self.data.samples.len())
    }

    /// Number of machines.
    pub(crate) fn machines(&self) -> usize {
        self.classes.map_or(self.levels.len().max(1), |classes| self.rule().multiclass.sides(classes.count()).len())
    }

    /// The machines and the order of their samples for a training, or, with a plan, for folds over
    /// kernel rows.
    pub(crate) fn layout(&self, plan: Option<&FoldPlan>) -> MachineLayout {
        let multiclass = self.rule().multiclass;
        let found = match (self.classes, plan) {
            (Some(classes), Some(plan)) => MachineLayout::by_fold(plan, classes, multiclass),
            (Some(classes), None) => MachineLayout::sorted(classes.of(), classes.count(), multiclass),
            (None, plan) => MachineLayout::of_values(&self.data.labels, self.levels, plan),
        };
        found.weighted(self.sample_weights)
    }

    /// The machines over samples in the order of the data.
    pub(crate) fn unsorted(&self) -> MachineLayout {
        match self.classes {
            Some(classes) => {
                let multiclass = self.rule().multiclass;
                MachineLayout::unsorted(classes.of(), classes.count(), multiclass).weighted(self.sample_weights)
            }
            None => self.layout(None),
        }
    }

    /// The problem of one machine of all data over rows `0…n` of its space.
    pub(crate) fn problem(&self, machine: &MachineSamples, formulation: Formulation) -> Result<Problem, CvError> {
        Ok(machine.problem(formulation, &self.factors_of_all())?)
    }

    /// Memory for kernel rows of so many machines, beside the values that `source` keeps. Machines
    /// that run in parallel share it.
    pub(crate) fn row_memory(&self, machines: usize, source: &SpaceSource, keep_exact: bool) -> RowMemory {
        let par = self.options.par;
        let threads = if has_one_thread_each(machines, par) { par.threads() as u64 } else { 1 };
        let memory = self.memory.saturating_sub(source.kept_bytes());
        RowMemory { all: memory, each: memory / threads, par, keep_exact }
    }
}
