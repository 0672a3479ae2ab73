//! The estimator: parameters in, certified models and reports out.

pub(crate) mod chosen;
mod features;
pub(crate) mod grid;
pub(crate) mod keys;
pub(crate) mod nested;
mod probability;
pub(crate) mod ranges;
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

/// Budget for kernel rows unless [`Svm::memory`] says otherwise: 2 GiB.
const MEMORY: u64 = 2 << 30;

/// A support vector machine for classes, values or one class: kernel, parameters, solver, and the
/// means to train and to select it.
///
/// A plain value: clone it, change it, keep it. Two classes are one machine, more of them one for
/// each pair, or one for each against the rest ([`Svm::one_vs_rest`]); regression and one class are
/// one.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub struct Svm {
    kernel: Kernel,
    gamma: Option<Gamma>,
    /// With the loss and the bias that are its own.
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
    /// None: what the solver is usually asked for.
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
    /// A C-SVC with this `C`: hinge loss, a bias that is not regularised, the linear kernel until
    /// [`Svm::kernel`] says otherwise, ε = 10⁻³, on the calling thread.
    pub fn c_svc(c: f64) -> Self {
        Self::of(Formulation::c_svc(c))
    }

    /// Regression whose errors within `epsilon` (in units of the target) cost nothing, and beyond
    /// it `c` each; otherwise as [`Svm::c_svc`].
    pub fn epsilon_svr(c: f64, epsilon: f64) -> Self {
        Self::of(Formulation::epsilon_svr(c, epsilon))
    }

    /// Regression with a width that is found: at most the share `nu` of the samples lies outside;
    /// otherwise as [`Svm::c_svc`].
    pub fn nu_svr(c: f64, nu: f64) -> Self {
        Self::of(Formulation::NuSvr { c, nu })
    }

    /// Classes, at most the share `nu` of whose samples misses its margin; otherwise as
    /// [`Svm::c_svc`].
    pub fn nu_svc(nu: f64) -> Self {
        Self::of(Formulation::NuSvc { nu })
    }

    /// Where the samples of one class are: at most the share `nu` of them is left outside. Labels
    /// are not looked at. Otherwise as [`Svm::c_svc`].
    pub fn one_class(nu: f64) -> Self {
        Self::of(Formulation::OneClass { nu })
    }

    /// Any formulation; its loss and bias count where [`Svm::loss`] and [`Svm::offset`] are not
    /// called and the solver has no other.
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

    /// `k(x, z) = xᵀz`, `C = 1`.
    pub fn linear() -> Self {
        Self::c_svc(1.0)
    }

    /// `k(x, z) = exp(−gamma ‖x − z‖²)`, `C = 1`.
    pub fn rbf(gamma: f64) -> Self {
        Self::c_svc(1.0).kernel(Kernel::rbf(gamma))
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// The kernel's width by a rule: from the samples, scaled or not, that a model is trained on.
    #[must_use]
    pub fn gamma(self, gamma: Gamma) -> Self {
        Self { gamma: Some(gamma), ..self }
    }

    /// The price of a missed margin: larger fits the training data more closely.
    #[must_use]
    pub fn c(self, c: f64) -> Self {
        Self { formulation: self.formulation.with_c(c), ..self }
    }

    /// The loss; the solver's own where this is not called: hinge, and squared hinge on the
    /// simplex.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        Self { loss: Some(loss), ..self }
    }

    /// What the bias is; the solver's own where this is not called: free, and a feature of value 1
    /// on the simplex.
    #[must_use]
    pub fn bias_term(self, bias_term: BiasTerm) -> Self {
        Self { bias_term: Some(bias_term), ..self }
    }

    /// Keeps support vectors in linear models, too, so that samples can be added and removed.
    #[must_use]
    pub fn keep_vectors(self) -> Self {
        Self { keep_support_vectors: true, ..self }
    }

    /// What a solution has to show: a KKT violation, a relative duality gap, or both. Where nothing
    /// is asked for it is [`Solver::goal`]: a violation of 10⁻³ for most.
    #[must_use]
    pub fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// Asks for a relative duality gap: alone, or besides the violation of [`Svm::eps`].
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        Self { goal: Goal::of(self.goal.and_then(Goal::kkt), Some(gap)), ..self }
    }

    /// How the training of each fold starts.
    #[must_use]
    pub fn seeding(self, seeding: Seeding) -> Self {
        Self { seeding, ..self }
    }

    /// Seed of random orders, samples and starts.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Asks for a KKT violation of at most this: alone, or besides the gap of [`Svm::gap`].
    #[must_use]
    pub fn eps(self, eps: f64) -> Self {
        Self { goal: Goal::of(Some(eps), self.goal.and_then(Goal::gap)), ..self }
    }

    /// Gives up a training after this many iterations.
    #[must_use]
    pub fn max_iter(mut self, most: u64) -> Self {
        self.max_iter = Some(most);
        self
    }

    /// Gives up after this long.
    #[must_use]
    pub fn max_time(mut self, most: Duration) -> Self {
        self.max_time = Some(most);
        self
    }

    /// When to stop; see [`Stop`].
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        Self { goal: Some(stop.goal), max_iter: stop.max_iter, max_time: stop.max_time, ..self }
    }

    /// Bytes of kernel rows that may be held.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Threads: the calling one, or the rayon pool that it is in. Results are the same for any.
    #[must_use]
    pub fn threads(self, par: Par) -> Self {
        Self { par, ..self }
    }

    /// Who will solve, `Auto` resolved.
    pub fn resolved_solver(&self) -> Solver {
        self.solver.resolved(self.kernel == Kernel::Linear, self.formulation, self.loss, self.keep_support_vectors)
    }

    /// What solutions will be asked to show.
    pub fn resolved_goal(&self) -> Goal {
        self.goal.unwrap_or_else(|| self.resolved_solver().goal())
    }

    /// What will be solved.
    pub fn formulation(&self) -> Formulation {
        let (loss, bias_term) = self.resolved_solver().problem();
        self.formulation.with(self.loss.unwrap_or(loss), self.bias_term.unwrap_or(bias_term))
    }

    /// Whether the solver takes what is asked, before there is any data.
    ///
    /// # Errors
    ///
    /// When it does not, with what does.
    pub fn check(&self) -> Result<(), CvError> {
        let solver = self.resolved_solver();
        let built = solver.build(self.seed);
        let formulation = self.formulation();
        formulation.check()?;
        let other = self.loss.is_some_and(|loss| loss != formulation.loss());
        if other || self.bias_term.is_some_and(|bias_term| bias_term != formulation.bias_term()) {
            return Err(CvError::Fixed(formulation.name()));
        }
        if formulation.target_kind() != TargetKind::Classes
            && (self.class_weights != ClassWeights::Given || !self.weights.is_empty())
        {
            return Err(CvError::Classes(formulation.name()));
        }
        if self.kernel == Kernel::Linear && built.takes(&formulation, true).is_ok() {
            return Ok(());
        }
        Ok(built.takes(&formulation, self.kernel == Kernel::Linear && !self.keep_support_vectors && solver.is_linear())?)
    }

    /// Trains on all of `data`.
    ///
    /// # Errors
    ///
    /// When the data has one class, a parameter is out of range, or the solver does not take the
    /// problem. Not converging is a status, not an error.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, CvError> {
        self.fit_watched(data, &Quiet)
    }

    /// As [`Svm::fit`], telling `progress`, which may end the training early.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`].
    pub fn fit_with(&self, data: &Dataset, progress: impl Fn(&CvProgress) -> ControlFlow<()> + Sync) -> Result<Fitted, CvError> {
        self.fit_watched(data, &progress)
    }

    /// As [`Svm::fit_with`], for a watch that is a value.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`].
    pub fn fit_watched(&self, data: &Dataset, watch: &dyn CvWatch) -> Result<Fitted, CvError> {
        self.study(data, |study| self.fitted(study, watch))
    }

    /// Cross-validates by `plan`: what `k` trainings from scratch would give, each fold with a
    /// certificate.
    ///
    /// # Errors
    ///
    /// As [`Svm::fit`]; when a training set is no problem or the plan is for other data.
    pub fn cross_validate(&self, data: &Dataset, plan: &FoldPlan) -> Result<CvReport, CvError> {
        self.cross_validate_watched(data, plan, &Quiet)
    }

    /// As [`Svm::cross_validate`], telling `progress`, which may end the run early.
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

    /// As [`Svm::cross_validate_with`], for a watch that is a value.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`].
    pub fn cross_validate_watched(&self, data: &Dataset, plan: &FoldPlan, watch: &dyn CvWatch) -> Result<CvReport, CvError> {
        self.study(data, |study| study.cross_validate(plan, self.seeding, watch))
    }

    /// Exact leave-one-out: one fold for each sample; only support vectors cost work.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], and when there are fewer than two samples.
    pub fn leave_one_out(&self, data: &Dataset) -> Result<CvReport, CvError> {
        let plan = FoldPlan::leave_one_out(data.samples.len())?;
        self.cross_validate(data, &plan)
    }

    /// What the layer below is told.
    fn study<T>(&self, data: &Dataset, run: impl FnOnce(&Study) -> Result<T, CvError>) -> Result<T, CvError> {
        self.check()?;
        let classes = self.classes(data)?;
        let weights = classes.as_ref().map_or(Ok(Vec::new()), |classes| self.given_weights(classes))?;
        run(&self.study_of(data, classes.as_ref(), &weights, &*self.solve()))
    }

    /// The classes of the data, where the formulation is about classes.
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
