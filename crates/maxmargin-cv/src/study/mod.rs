//! A study: data, its machines, and how they are solved.

mod class_weights;
pub(crate) mod label_text;
pub(crate) mod layout;
pub(crate) mod matching;
pub(crate) mod spaces;

pub use class_weights::ClassWeights;

use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::study::layout::{MachineLayout, MachineSamples, side_by_side};
use maxmargin_core::{Formulation, Problem, Solve, Stop, TargetKind};
use maxmargin_data::scale::Method;
use maxmargin_data::{Asking, ClassLabels, Dataset, Halted, Impute, Par, Preparation, Preparing, Samples};
use maxmargin_kernel::{Gamma, Gram, Kernel, KernelError, KernelGram, Matrix, OffsetGram, Pages, RowWork, Rows, Space, Subset};
use maxmargin_model::{Multiclass, Rule};
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Data, labels, kernel, formulation, solver: everything that a training or a cross-validation
/// needs. Two classes are one machine, more of them one for each pair, or one for each against the
/// rest; regression and one class are one.
#[derive(Clone, Copy)]
pub struct Study<'a> {
    /// The data, before any scaling.
    pub data: &'a Dataset,
    /// Its classes, where the formulation is about classes ([`Formulation::needs`]); the labels of
    /// the data are values otherwise, or nobody's business.
    pub classes: Option<&'a ClassLabels>,
    /// Which of them the machines tell apart; two classes are a pair in any case.
    pub multiclass: Multiclass,
    /// The kernel; its width is that of `gamma`, where there is one.
    pub kernel: &'a Kernel,
    /// The width by a rule.
    pub gamma: Option<Gamma>,
    /// How features are scaled: by what the training samples show, in a cross-validation those of
    /// each fold.
    pub scale: Option<Method>,
    /// How missing values of a table are filled in: by what the training samples show, as with the
    /// scaling. Without it they are errors.
    pub impute: Option<Impute>,
    /// What each feature is multiplied by behind all that: one number for each that a kernel sees.
    /// The width of a Gaussian kernel times their squares is one for each feature.
    pub feature_weights: Option<&'a [f64]>,
    /// Which support vector machine.
    pub formulation: Formulation,
    /// A given factor of C for each class; none where there are no classes. Against the rest that
    /// of a class counts in its own machine alone, where the rest has C.
    pub weights: &'a [f64],
    /// The factors that follow from a training set, besides the given ones.
    pub class_weights: ClassWeights,
    /// A factor of C for each sample, besides that of its class; `None`: 1.
    pub sample_weights: Option<&'a [f64]>,
    /// Who solves.
    pub solver: &'a dyn Solve,
    /// When a training stops; the time is for all together.
    pub stop: Stop,
    /// Bytes of kernel rows that may be held.
    pub memory: u64,
    /// Threads.
    pub par: Par,
}

/// Samples as the kernel sees them.
pub(crate) struct Prepared<'s> {
    pub(crate) preparation: Preparation,
    pub(crate) samples: Cow<'s, Samples>,
    pub(crate) kernel: Kernel,
}

/// Where the machines of a study have their values from, in the order of an layout.
pub(crate) enum SpaceSource<'s> {
    Gram(KernelGram, PagePool),
    Features(Cow<'s, Samples>),
}

/// Memory of machines that are done, for those that come: each thread that solves one takes what
/// another has left.
#[derive(Default)]
pub(crate) struct PagePool(Mutex<Vec<Pages>>);

impl PagePool {
    /// Calls `each` with memory that nobody else has.
    fn with<T>(&self, each: impl FnOnce(Pages) -> T) -> T {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = idle().pop().unwrap_or_default();
        let result = each(pages.clone());
        idle().push(pages);
        result
    }
}

impl<'a> Study<'a> {
    /// Whether the machines work on features and no kernel value is computed.
    ///
    /// # Errors
    ///
    /// When the solver does not take the formulation, or there are not as many weights as classes.
    pub(crate) fn over_features(&self) -> Result<bool, CvError> {
        let count = self.classes.map_or(0, ClassLabels::count);
        if self.weights.len() != count {
            return Err(CvError::Weights { found: self.weights.len(), classes: count });
        }
        let (weights, rows) = (self.sample_weights.unwrap_or_default(), self.data.samples.len());
        if self.sample_weights.is_some() && weights.len() != rows {
            return Err(CvError::SampleWeights { found: weights.len(), rows });
        }
        if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(CvError::SampleWeight { row, value: weights[row] });
        }
        if (self.formulation.target_kind() == TargetKind::Classes) != self.classes.is_some() {
            return Err(CvError::Classes(self.formulation.name()));
        }
        let words = self.data.columns.as_ref().map_or(&[][..], |columns| columns.labels());
        if let (TargetKind::Values, Some(word)) = (self.formulation.target_kind(), words.first()) {
            return Err(CvError::Words { formulation: self.formulation.name(), word: word.clone() });
        }
        if *self.kernel == Kernel::Linear && self.solver.takes(&self.formulation, true).is_ok() {
            return Ok(true);
        }
        self.solver.takes(&self.formulation, false)?;
        Ok(false)
    }

    /// The samples with their gaps filled and scaled by what all of them show, and the kernel with
    /// its width for these.
    pub(crate) fn prepared(&self) -> Result<Prepared<'a>, CvError> {
        self.prepared_as(self.preparation(0..self.data.samples.len())?)
    }

    /// All samples as [`Study::prepared`], by what some rows show.
    pub(crate) fn prepared_by(&self, rows: &[usize]) -> Result<Prepared<'a>, CvError> {
        self.prepared_as(self.preparation(rows.iter().copied())?)
    }

    fn prepared_as(&self, preparation: Preparation) -> Result<Prepared<'a>, CvError> {
        let samples = preparation.apply(&self.data.samples)?;
        let kernel = match self.gamma {
            None => self.kernel.clone().checked()?,
            Some(gamma) => self.kernel.resolved(gamma, &samples)?,
        };
        Ok(Prepared { preparation, samples, kernel })
    }

    /// How samples are prepared by what some rows show.
    pub(crate) fn preparation(&self, rows: impl Iterator<Item = usize> + Clone) -> Result<Preparation, CvError> {
        let found = Preparing { impute: self.impute, scale: self.scale }.fit_rows(self.data, rows)?;
        let Some(factors) = self.feature_weights else { return Ok(found) };
        let features = found.encoder.as_ref().map_or(self.data.samples.features(), |encoder| encoder.columns().width());
        if factors.len() != features || !factors.iter().all(|factor| factor.is_normal() && *factor > 0.0) {
            return Err(CvError::Factors { found: factors.len(), features });
        }
        Ok(found.stretched(factors))
    }

    /// How the machines decide.
    pub(crate) fn rule(&self) -> Rule {
        match (self.formulation.target_kind(), self.classes) {
            (TargetKind::Classes, Some(classes)) => Rule::of(classes, self.multiclass),
            (TargetKind::Nothing, _) => Rule::INLIER,
            _ => Rule::VALUE,
        }
    }

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

    /// Number of machines.
    pub(crate) fn machines(&self) -> usize {
        self.classes.map_or(1, |classes| self.rule().multiclass.sides(classes.count()).len())
    }

    /// The machines and the order of their samples: that of a training, or, with a plan, that of
    /// folds over kernel rows.
    pub(crate) fn layout(&self, plan: Option<&FoldPlan>) -> MachineLayout {
        let multiclass = self.rule().multiclass;
        let found = match (self.classes, plan) {
            (Some(classes), Some(plan)) => MachineLayout::by_fold(plan, classes, multiclass),
            (Some(classes), None) => MachineLayout::sorted(classes.of(), classes.count(), multiclass),
            (None, plan) => MachineLayout::alone(&self.data.labels, plan),
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
    pub(crate) fn problem(&self, part: &MachineSamples, formulation: Formulation) -> Result<Problem, CvError> {
        Ok(part.problem(formulation, &self.factors_of_all())?)
    }

    /// Bytes of kernel rows for one of so many machines: a part of all where they run side by side.
    pub(crate) fn budget(&self, machines: usize) -> u64 {
        if side_by_side(machines, self.par) { self.memory / self.par.threads() as u64 } else { self.memory }
    }
}

impl<'s> SpaceSource<'s> {
    /// Values of the samples in the order of `layout`.
    pub(crate) fn of(
        prepared: &Prepared<'s>,
        layout: &MachineLayout,
        features: bool,
        asking: &Asking,
    ) -> Result<Self, KernelError> {
        if features {
            return Ok(Self::Features(sorted(prepared, layout, asking)?));
        }
        Self::at(prepared, &prepared.kernel, layout, asking)
    }

    /// Values of another kernel.
    pub(crate) fn at(prepared: &Prepared, kernel: &Kernel, layout: &MachineLayout, asking: &Asking) -> Result<Self, KernelError> {
        let gram = KernelGram::new_asking(&*sorted(prepared, layout, asking)?, kernel.clone(), asking);
        let gram = gram.map_err(|error| error.in_order(&layout.original))?;
        Ok(Self::Gram(gram.marked(layout.marks()), PagePool::default()))
    }

    /// Calls `each` with the space of a part, and tells what its store of rows did.
    pub(crate) fn with_space<T>(
        &self,
        part: &MachineSamples,
        feature: Option<f64>,
        (budget, par): (u64, Par),
        each: impl FnOnce(Space) -> T,
    ) -> (T, RowWork) {
        match self {
            SpaceSource::Gram(all, idle) => {
                // A machine of all samples needs no part of the matrix; a bias feature is a
                // constant of the kernel.
                let part = (part.rows.len() < all.len()).then(|| Subset::new(all, part.rows.clone()));
                let plain = part.as_ref().map_or(all as &dyn Gram, |part| part);
                let with = feature.map(|value| OffsetGram::new(plain, value * value));
                idle.with(|pages| {
                    let rows = Rows::in_pages(with.as_ref().map_or(plain, |with| with), budget, par, pages);
                    let result = each(Space::Kernel(&rows));
                    (result, rows.work())
                })
            }
            SpaceSource::Features(all) => {
                let part = (part.rows.len() < all.len()).then(|| all.select(&part.rows));
                let matrix = Matrix::new(part.as_ref().unwrap_or(all), feature, par).with_budget(budget);
                let result = each(Space::Features(&matrix));
                (result, Space::Features(&matrix).work())
            }
        }
    }
}

/// Samples in the order of an layout.
fn sorted<'s>(prepared: &Prepared<'s>, layout: &MachineLayout, asking: &Asking) -> Result<Cow<'s, Samples>, Halted> {
    if layout.is_identity() {
        return Ok(prepared.samples.clone());
    }
    prepared.samples.select_asking(&layout.original, asking).map(Cow::Owned)
}
