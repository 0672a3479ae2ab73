//! The estimator: its parameters and options, training and cross-validation.

mod features;
pub(crate) mod nested;
mod probability;
pub(crate) mod search;
mod solver;
mod weights;

use maxmargin_core::{BiasTerm, Formulation, Goal, Loss, Solve, Stop, TargetKind};
use maxmargin_cv::{
    CalibrationOptions, ClassWeights, CvError, CvProgress, CvReport, CvWatch, Fitted, FoldPlan, Quiet, Seeding, Study,
};
use maxmargin_data::scale::Method;
use maxmargin_data::{ClassLabels, Dataset, Impute, Par};
use maxmargin_kernel::{Gamma, Kernel};
use maxmargin_model::Multiclass;
use maxmargin_solvers::Solver;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The default of [`Svm::memory`]: 2 GiB for kernel rows.
const MEMORY: u64 = 2 << 30;

/// A support vector machine for classification, regression or one class: its kernel, parameters and
/// solver, with methods for training and selection.
///
/// This is a plain value, which can be cloned, changed and stored. Two classes, regression and one
/// class have one machine. More classes have one machine for each pair, or one for each class
/// against the rest ([`Svm::one_vs_rest`]).
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub struct Svm {
    kernel: Kernel,
    gamma: Option<Gamma>,
    /// The formulation with its default loss and bias term.
    formulation: Formulation,
    loss: Option<Loss>,
    bias_term: Option<BiasTerm>,
    weights: Vec<(f64, f64)>,
    class_weights: ClassWeights,
    sample_weights: Option<Vec<f64>>,
    scale: Option<Method>,
    impute: Option<Impute>,
    feature_weights: Option<Arc<[f64]>>,
    solver: Solver,
    keep_support_vectors: bool,
    shrinking: bool,
    merge_equal_rows: bool,
    /// The goal; `None` selects the solver's default.
    goal: Option<Goal>,
    seeding: Seeding,
    seed: u64,
    max_iter: Option<u64>,
    max_time: Option<Duration>,
    memory: u64,
    par: Par,
    calibration: CalibrationOptions,
    multiclass: Multiclass,
}

impl Svm {
    /// Returns a C-SVC with this `C`. Defaults: hinge loss, an unregularised bias, the linear
    /// kernel, a KKT tolerance of 10⁻³, the calling thread.
    pub fn c_svc(c: f64) -> Self {
        Self::of(Formulation::c_svc(c))
    }

    /// Returns an ε-SVR: an error costs `c` for each unit beyond `epsilon`, in units of the target.
    /// Otherwise as [`Svm::c_svc`].
    pub fn epsilon_svr(c: f64, epsilon: f64) -> Self {
        Self::of(Formulation::epsilon_svr(c, epsilon))
    }

    /// Returns a ν-SVR: the training finds the width ε such that at most the share `nu` of the
    /// samples lies outside. Otherwise as [`Svm::c_svc`].
    pub fn nu_svr(c: f64, nu: f64) -> Self {
        Self::of(Formulation::NuSvr { c, nu })
    }

    /// Returns a ν-SVC: at most the share `nu` of the samples violates the margin. Otherwise as
    /// [`Svm::c_svc`].
    pub fn nu_svc(nu: f64) -> Self {
        Self::of(Formulation::NuSvc { nu })
    }

    /// Returns a one-class SVM: at most the share `nu` of the samples lies outside. Labels are
    /// ignored. Otherwise as [`Svm::c_svc`].
    pub fn one_class(nu: f64) -> Self {
        Self::of(Formulation::OneClass { nu })
    }

    /// Returns an estimator of any formulation. [`Svm::loss`], [`Svm::bias_term`] and the solver
    /// can replace the formulation's loss and bias term.
    pub fn of(formulation: Formulation) -> Self {
        Self {
            kernel: Kernel::Linear,
            gamma: None,
            formulation,
            loss: None,
            bias_term: None,
            weights: Vec::new(),
            class_weights: ClassWeights::Given,
            sample_weights: None,
            scale: None,
            impute: None,
            feature_weights: None,
            solver: Solver::Auto,
            keep_support_vectors: false,
            shrinking: true,
            merge_equal_rows: true,
            goal: None,
            seeding: Seeding::default(),
            seed: 1,
            max_iter: None,
            max_time: None,
            memory: MEMORY,
            par: Par::Seq,
            calibration: CalibrationOptions::default(),
            multiclass: Multiclass::OneVsOne,
        }
    }

    /// Returns a C-SVC with the linear kernel `k(x, z) = xᵀz` and `C = 1`.
    pub fn linear() -> Self {
        Self::c_svc(1.0)
    }

    /// Returns a C-SVC with the Gaussian kernel `k(x, z) = exp(−gamma ‖x − z‖²)` and `C = 1`.
    pub fn rbf(gamma: f64) -> Self {
        Self::c_svc(1.0).kernel(Kernel::rbf(gamma))
    }

    /// Sets the kernel.
    #[must_use]
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// Sets the kernel's width γ, as a number or by a rule. A rule uses the samples of each
    /// training, after scaling.
    #[must_use]
    pub fn gamma(self, gamma: Gamma) -> Self {
        Self { gamma: Some(gamma), ..self }
    }

    /// Sets `C`, the cost of margin violations. A larger `C` fits the training data more closely.
    #[must_use]
    pub fn c(self, c: f64) -> Self {
        Self { formulation: self.formulation.with_c(c), ..self }
    }

    /// Sets the loss. The default depends on the solver: hinge loss, or squared hinge loss for
    /// solvers on the simplex.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        Self { loss: Some(loss), ..self }
    }

    /// Sets the bias term. The default depends on the solver: a free bias, or a feature of value 1
    /// for solvers on the simplex.
    #[must_use]
    pub fn bias_term(self, bias_term: BiasTerm) -> Self {
        Self { bias_term: Some(bias_term), ..self }
    }

    /// Stores support vectors in linear models too, so that samples can be added and removed.
    #[must_use]
    pub fn keep_vectors(self) -> Self {
        Self { keep_support_vectors: true, ..self }
    }

    /// Sets the goal of solutions: a KKT violation, a relative duality gap, or both. The default is
    /// [`Solver::goal`], a KKT violation of 10⁻³ for most solvers.
    #[must_use]
    pub fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// Requests a relative duality gap of at most `gap`, in addition to the KKT violation of
    /// [`Svm::eps`] if that is set.
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        Self { goal: Goal::of(self.goal.and_then(Goal::kkt), Some(gap)), ..self }
    }

    /// Sets the start of the training of each fold.
    #[must_use]
    pub fn seeding(self, seeding: Seeding) -> Self {
        Self { seeding, ..self }
    }

    /// Sets the seed of random orders, samples and starts.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Requests a KKT violation of at most `eps`, in addition to the duality gap of [`Svm::gap`] if
    /// that is set.
    #[must_use]
    pub fn eps(self, eps: f64) -> Self {
        Self { goal: Goal::of(Some(eps), self.goal.and_then(Goal::gap)), ..self }
    }

    /// Limits the iterations of a training.
    #[must_use]
    pub fn max_iter(mut self, most: u64) -> Self {
        self.max_iter = Some(most);
        self
    }

    /// Limits the time of a run.
    #[must_use]
    pub fn max_time(mut self, most: Duration) -> Self {
        self.max_time = Some(most);
        self
    }

    /// Sets the goal and the limits of iterations and time; see [`Stop`].
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        Self { goal: Some(stop.goal), max_iter: stop.max_iter, max_time: stop.max_time, ..self }
    }

    /// Limits the bytes of stored kernel rows.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets the threads: the calling thread, or its rayon pool. Results do not depend on it.
    #[must_use]
    pub fn threads(self, par: Par) -> Self {
        Self { par, ..self }
    }

    /// Trains on all samples of `data`.
    ///
    /// # Errors
    ///
    /// When the data has one class, a parameter is out of range, or the solver does not support the
    /// problem. A training that does not converge has a status and is not an error.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, CvError> {
        self.fit_watched(data, &Quiet)
    }

    /// Trains as [`Svm::fit`], with a callback for progress, which can end the training early.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`].
    pub fn fit_with(&self, data: &Dataset, progress: impl Fn(&CvProgress) -> ControlFlow<()> + Sync) -> Result<Fitted, CvError> {
        self.fit_watched(data, &progress)
    }

    /// Trains as [`Svm::fit_with`], with the callback as a trait object.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`].
    pub fn fit_watched(&self, data: &Dataset, watch: &dyn CvWatch) -> Result<Fitted, CvError> {
        self.study(data, |study| self.fitted(study, watch))
    }

    /// Cross-validates by `plan`. The result is that of `k` trainings from scratch, and each fold
    /// has a certificate.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`]; when a training set is not a valid problem, or the plan does not match the
    /// data.
    pub fn cross_validate(&self, data: &Dataset, plan: &FoldPlan) -> Result<CvReport, CvError> {
        self.cross_validate_watched(data, plan, &Quiet)
    }

    /// Cross-validates as [`Svm::cross_validate`], with a callback for progress, which can end the
    /// run early.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`].
    pub fn cross_validate_with(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        progress: impl Fn(&CvProgress) -> ControlFlow<()> + Sync,
    ) -> Result<CvReport, CvError> {
        self.cross_validate_watched(data, plan, &progress)
    }

    /// Cross-validates as [`Svm::cross_validate_with`], with the callback as a trait object.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`].
    pub fn cross_validate_watched(&self, data: &Dataset, plan: &FoldPlan, watch: &dyn CvWatch) -> Result<CvReport, CvError> {
        self.study(data, |study| study.cross_validate(plan, self.seeding, watch))
    }

    /// Cross-validates with one fold for each sample (exact leave-one-out). Only support vectors
    /// need another training.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], and when there are fewer than two samples.
    pub fn leave_one_out(&self, data: &Dataset) -> Result<CvReport, CvError> {
        let plan = FoldPlan::leave_one_out(data.samples.len())?;
        self.cross_validate(data, &plan)
    }

    /// Runs `run` on the study of this estimator and data.
    fn study<T>(&self, data: &Dataset, run: impl FnOnce(&Study) -> Result<T, CvError>) -> Result<T, CvError> {
        self.check()?;
        let classes = self.classes(data)?;
        let weights = classes.as_ref().map_or(Ok(Vec::new()), |classes| self.given_weights(classes))?;
        run(&self.study_of(data, classes.as_ref(), &weights, &*self.solve()))
    }

    /// Returns the classes of the data; `None` for regression and one class.
    fn classes(&self, data: &Dataset) -> Result<Option<ClassLabels>, CvError> {
        match self.formulation.target_kind() {
            TargetKind::Classes => Ok(Some(ClassLabels::new(&data.labels)?)),
            TargetKind::Values | TargetKind::Nothing => Ok(None),
        }
    }

    fn study_of<'a>(
        &'a self,
        data: &'a Dataset,
        classes: Option<&'a ClassLabels>,
        weights: &'a [f64],
        solver: &'a dyn Solve,
    ) -> Study<'a> {
        Study {
            data,
            classes,
            multiclass: self.multiclass,
            kernel: &self.kernel,
            gamma: self.gamma,
            scale: self.scale,
            impute: self.impute,
            feature_weights: self.feature_weights.as_deref(),
            formulation: self.formulation(),
            weights,
            class_weights: self.class_weights,
            sample_weights: self.sample_weights.as_deref(),
            solver,
            stop: Stop { goal: self.resolved_goal(), max_iter: self.max_iter, max_time: self.max_time },
            memory: self.memory,
            par: self.par,
        }
    }
}
