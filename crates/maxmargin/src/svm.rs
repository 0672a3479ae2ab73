//! The estimator: its parameters and options, training and cross-validation.

mod conformal;
mod features;
mod importance;
mod input;
pub(crate) mod nested;
mod probability;
pub(crate) mod search;
mod solver;
mod weights;

pub use input::TrainingInput;
use maxmargin_core::{BiasTerm, Formulation, Goal, Loss, Stop, TargetKind, levels};
use maxmargin_cv::{CvError, CvReport, Fitted, FoldPlan, RunControl, Seeding, Study, TrainOptions};
use maxmargin_data::{ClassLabels, Dataset, Par};
use maxmargin_kernel::{Gamma, Kernel};
use std::time::Duration;

/// A support vector machine for classification, regression or one class: its kernel, parameters and
/// solver, with methods for training and selection.
///
/// This is a plain value, which can be cloned, changed and stored: [`TrainOptions`], with a method
/// for each option. Two classes, regression and one
/// class have one machine. More classes have one machine for each pair, or one for each class
/// against the rest ([`Svm::one_vs_rest`]).
#[derive(Clone, Debug, Default)]
pub struct Svm {
    pub(crate) options: TrainOptions,
    /// True if [`Svm::c`] was called for a formulation without `C`. A training refuses it.
    has_needless_c: bool,
}

impl From<TrainOptions> for Svm {
    fn from(options: TrainOptions) -> Self {
        Self { options, has_needless_c: false }
    }
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

    /// Returns the regression of the quantile `tau`: an error costs `c tau` for each unit that the
    /// target is above, and `c (1 − tau)` for each that it is below. `tau` is in (0, 1). Otherwise
    /// as [`Svm::c_svc`].
    pub fn quantile(c: f64, tau: f64) -> Self {
        Self::of(Formulation::quantile(c, tau))
    }

    /// Returns the regression of the expectile `tau`: squared errors with the costs of
    /// [`Svm::quantile`].
    pub fn expectile(c: f64, tau: f64) -> Self {
        Self::of(Formulation::expectile(c, tau))
    }

    /// Returns the regression of several quantiles at once, one machine for each level of `levels`,
    /// in any order. The machines share kernel values, and each starts from the last one. A
    /// prediction is the value of the level nearest to 0.5, after the values of all levels are
    /// sorted. Otherwise as [`Svm::quantile`].
    pub fn quantiles(c: f64, levels: &[f64]) -> Self {
        Self::of_levels(Formulation::quantile(c, 0.5), levels)
    }

    /// Returns the regression of several expectiles at once, as [`Svm::quantiles`].
    pub fn expectiles(c: f64, levels: &[f64]) -> Self {
        Self::of_levels(Formulation::expectile(c, 0.5), levels)
    }

    fn of_levels(formulation: Formulation, levels: &[f64]) -> Self {
        let mut sorted = levels.to_vec();
        sorted.sort_by(f64::total_cmp);
        let central = sorted.get(levels::central(&sorted)).copied().unwrap_or(f64::NAN);
        let svm = Self::of(formulation.with_level(central));
        svm.with(|options| options.levels = if sorted.len() > 1 { sorted } else { Vec::new() })
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
        Self::from(TrainOptions { formulation, ..TrainOptions::default() })
    }

    /// Returns the options.
    pub fn options(&self) -> &TrainOptions {
        &self.options
    }

    /// Returns the estimator after a change of its options.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut TrainOptions)) -> Self {
        change(&mut self.options);
        self
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
        self.with(|options| options.kernel = kernel)
    }

    /// Sets the kernel's width γ, as a number or by a rule. A rule uses the samples of each
    /// training, after scaling.
    #[must_use]
    pub fn gamma(self, gamma: Gamma) -> Self {
        self.with(|options| options.gamma = Some(gamma))
    }

    /// Sets `C`, the cost of margin violations. A larger `C` fits the training data more closely.
    /// Trainings of ν-SVC and one class, which have no `C`, end with an error.
    #[must_use]
    pub fn c(self, c: f64) -> Self {
        let has_needless_c = self.has_needless_c || self.options.formulation.c().is_none();
        Self { has_needless_c, ..self.with_c_if_any(c) }
    }

    /// Sets `C`; without one nothing changes.
    pub(crate) fn with_c_if_any(self, c: f64) -> Self {
        self.with(|options| options.formulation = options.formulation.with_c(c))
    }

    /// Checks that no parameter was set that the formulation does not have.
    fn check_parameters(&self) -> Result<(), CvError> {
        if self.has_needless_c {
            return Err(search::needless_parameter("C", self.options.formulation));
        }
        Ok(())
    }

    /// Sets the loss. The default depends on the solver: hinge loss, or squared hinge loss for
    /// solvers on the simplex.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        self.with(|options| options.loss = Some(loss))
    }

    /// Sets the bias term. The default depends on the solver: a free bias, or a feature of value 1
    /// for solvers on the simplex.
    #[must_use]
    pub fn bias_term(self, bias_term: BiasTerm) -> Self {
        self.with(|options| options.bias_term = Some(bias_term))
    }

    /// Stores support vectors in linear models too, so that samples can be added and removed.
    #[must_use]
    pub fn keep_vectors(self) -> Self {
        self.with(|options| options.keep_support_vectors = true)
    }

    /// Sets the goal of solutions: a KKT violation, a relative duality gap, or both. The default is
    /// [`Solver::goal`](maxmargin_solvers::Solver::goal), a KKT violation of 10⁻³ for most solvers.
    #[must_use]
    pub fn goal(self, goal: Goal) -> Self {
        self.with(|options| options.goal = Some(goal))
    }

    /// Requests a relative duality gap of at most `gap`, in addition to the KKT violation of
    /// [`Svm::eps`] if that is set.
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        self.with(|options| options.goal = Goal::of(options.goal.and_then(Goal::kkt), Some(gap)))
    }

    /// Sets the start of the training of each fold.
    #[must_use]
    pub fn seeding(self, seeding: Seeding) -> Self {
        self.with(|options| options.seeding = seeding)
    }

    /// Sets the seed of random orders, samples and starts.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.with(|options| options.seed = seed)
    }

    /// Requests a KKT violation of at most `eps`, in addition to the duality gap of [`Svm::gap`] if
    /// that is set.
    #[must_use]
    pub fn eps(self, eps: f64) -> Self {
        self.with(|options| options.goal = Goal::of(Some(eps), options.goal.and_then(Goal::gap)))
    }

    /// Limits the iterations of a training.
    #[must_use]
    pub fn max_iter(self, most: u64) -> Self {
        self.with(|options| options.max_iter = Some(most))
    }

    /// Limits the time of a run.
    #[must_use]
    pub fn max_time(self, most: Duration) -> Self {
        self.with(|options| options.max_time = Some(most))
    }

    /// Sets the goal and the limits of iterations and time; see [`Stop`].
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        self.with(|options| {
            (options.goal, options.max_iter, options.max_time) = (Some(stop.goal), stop.max_iter, stop.max_time);
        })
    }

    /// Limits the bytes of stored kernel rows.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.with(|options| options.memory = bytes)
    }

    /// Sets the threads: the calling thread, or its rayon pool. Results do not depend on it.
    #[must_use]
    pub fn threads(self, par: Par) -> Self {
        self.with(|options| options.par = par)
    }

    /// Trains on all samples of `data`.
    ///
    /// # Errors
    ///
    /// When the data has one class, or not one finite label for each row; when a parameter is out
    /// of range, or the solver does not support the problem. A training that does not converge has
    /// a status and is not an error. One whose goal is below rounding has
    /// [`Status::Stalled`](maxmargin_core::Status::Stalled) even if the figures meet the goal;
    /// [`CertificateReport::hides`](maxmargin_cv::CertificateReport::hides) tells.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, CvError> {
        self.fit_with(data, &RunControl::unlimited())
    }

    /// Trains as [`Svm::fit`], under a control, which receives progress and can end the training.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`].
    pub fn fit_with<'d>(&self, data: impl Into<TrainingInput<'d>>, control: &RunControl) -> Result<Fitted, CvError> {
        self.study(data.into(), |study| self.fitted(study, control))
    }

    /// Cross-validates by `plan`. The result is that of `k` trainings from scratch, and each fold
    /// has a certificate.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`]; when a training set is not a valid problem, or the plan does not match the
    /// data.
    pub fn cross_validate(&self, data: &Dataset, plan: &FoldPlan) -> Result<CvReport, CvError> {
        self.cross_validate_with(data, plan, &RunControl::unlimited())
    }

    /// Cross-validates as [`Svm::cross_validate`], under a control: it receives progress, and can
    /// end the run early.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`].
    pub fn cross_validate_with<'d>(
        &self,
        data: impl Into<TrainingInput<'d>>,
        plan: &FoldPlan,
        control: &RunControl,
    ) -> Result<CvReport, CvError> {
        self.study(data.into(), |study| study.cross_validate(plan, self.options.seeding, control))
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
    pub(crate) fn study<T>(&self, input: TrainingInput, run: impl FnOnce(&Study) -> Result<T, CvError>) -> Result<T, CvError> {
        self.check()?;
        let TrainingInput { data, prepared } = input;
        let classes = self.classes(data)?;
        let weights = classes.as_ref().map_or(Ok(Vec::new()), |classes| self.options.given_weights(classes))?;
        let solver = self.options.build_solver();
        run(&Study { prepared, ..Study::new(data, classes.as_ref(), &self.options, &weights, &*solver) })
    }

    /// Returns the classes of the data, which it checks; `None` for regression and one class.
    fn classes(&self, data: &Dataset) -> Result<Option<ClassLabels>, CvError> {
        data.check()?;
        match self.options.formulation.target_kind() {
            TargetKind::Classes => Ok(Some(ClassLabels::new(&data.labels)?)),
            TargetKind::Values | TargetKind::Nothing => Ok(None),
        }
    }
}
