//! The options of a training.

use crate::run::error::CvError;
use crate::seed::Seeding;
use crate::study::{CalibrationOptions, ConformalOptions};
use maxmargin_core::{BiasTerm, Formulation, Goal, Level, Loss, Refused, Solve, Stop, TargetKind, levels};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{ClassLabels, Impute, Par};
use maxmargin_kernel::{Gamma, Kernel};
use maxmargin_model::{ClassWeights, Multiclass};
use maxmargin_smo::Smo;
use maxmargin_solvers::{SmoFinish, Solver};
use std::sync::Arc;
use std::time::Duration;

/// The options of a training and of a cross-validation, with their defaults. Every interface has
/// these: the estimator of the library, the command line, Python.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub struct TrainOptions {
    /// The kernel function. Default: linear.
    pub kernel: Kernel,
    /// The kernel's width γ, as a number or by a rule, which uses the samples of each training
    /// after scaling. Default: that of the kernel.
    pub gamma: Option<Gamma>,
    /// The formulation, with its C, ε, ν and τ, and with its usual loss and bias term. Default:
    /// C-SVC with C = 1.
    pub formulation: Formulation,
    /// Levels τ of several quantiles or expectiles, two or more and ascending, with a machine for
    /// each over the same kernel values. The central one ([`maxmargin_core::levels::central`]) is
    /// that of the formulation. Default: none, which is the level of the formulation alone.
    pub levels: Vec<f64>,
    /// The loss. Default: that of the solver, which is the hinge loss, or the squared hinge loss
    /// for solvers on the simplex.
    pub loss: Option<Loss>,
    /// The bias term. Default: that of the solver, which is a free bias, or a feature of value 1
    /// for solvers on the simplex.
    pub bias_term: Option<BiasTerm>,
    /// Labels, each with a factor of C for one class; the last one of a label counts. A label that
    /// the data does not have is an error. Default: 1 for all.
    pub weights: Vec<(f64, f64)>,
    /// Factors computed from each training set, which multiply the given ones. Default: none.
    pub class_weights: ClassWeights,
    /// A factor of C for each sample, 0 or more. A sample of weight 2 is equivalent to two equal
    /// samples. Default: 1 for all.
    pub sample_weights: Option<Vec<f64>>,
    /// The multiclass scheme: the machines for several classes. Default: one for each pair.
    pub multiclass: Multiclass,
    /// The scaling of the features, fitted to the training samples; in a cross-validation to those
    /// of each fold. Default: none.
    pub scale: Option<ScaleMethod>,
    /// The rule that fills in missing values of a table, fitted as the scaling is. Default: none,
    /// so that a missing value is an error.
    pub impute: Option<Impute>,
    /// A positive factor for each feature that the kernel sees, applied after scaling. A Gaussian
    /// kernel then has one width for each feature: γ times the square of the factor. Default: none.
    pub feature_weights: Option<Arc<[f64]>>,
    /// The solver. Default: chosen by kernel and loss.
    pub solver: Solver,
    /// True to store support vectors in linear models too, so that updates can add and remove
    /// samples. Default: false.
    pub keep_support_vectors: bool,
    /// True to keep the decision values of a cross-validation in its report. False drops those of
    /// several machines as soon as the labels are known: with a hundred classes they take hundreds
    /// of megabytes. Default: true.
    pub keep_decisions: bool,
    /// True if SMO uses shrinking on large problems, and conjugate steps where they save
    /// iterations. Default: true.
    pub shrinking: bool,
    /// True if SMO merges equal samples of one class into one variable. The solution is the same.
    /// Default: true.
    pub merge_equal_rows: bool,
    /// The goal of solutions. Default: that of the solver, a KKT violation of 10⁻³ for most.
    pub goal: Option<Goal>,
    /// The limit of iterations of one training. Default: none.
    pub max_iter: Option<u64>,
    /// The time limit of a run, which stops after this long. Default: none.
    pub max_time: Option<Duration>,
    /// The budget for kernel values, in bytes. Default: 2 GiB.
    pub memory: u64,
    /// The threads. Results do not depend on them. Default: the calling thread.
    pub par: Par,
    /// The start of the training of each fold. Default: from the model of all data.
    pub seeding: Seeding,
    /// The seed of random orders, samples and starts. Default: 1.
    pub seed: u64,
    /// Probabilities and a threshold, fitted to folds after the training. Default: none.
    pub calibration: CalibrationOptions,
    /// Scores and machines of folds for intervals, sets or p-values, after the training. Default:
    /// none.
    pub conformal: Option<ConformalOptions>,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            gamma: None,
            formulation: Formulation::c_svc(1.0),
            levels: Vec::new(),
            loss: None,
            bias_term: None,
            weights: Vec::new(),
            class_weights: ClassWeights::Given,
            sample_weights: None,
            multiclass: Multiclass::OneVsOne,
            scale: None,
            impute: None,
            feature_weights: None,
            solver: Solver::Auto,
            keep_support_vectors: false,
            keep_decisions: true,
            shrinking: true,
            merge_equal_rows: true,
            goal: None,
            max_iter: None,
            max_time: None,
            memory: 2 << 30,
            par: Par::Seq,
            seeding: Seeding::Full,
            seed: 1,
            calibration: CalibrationOptions::default(),
            conformal: None,
        }
    }
}

impl TrainOptions {
    /// Returns the solver, with [`Solver::Auto`] replaced by its choice.
    pub fn resolved_solver(&self) -> Solver {
        self.solver.resolved(self.kernel == Kernel::Linear, self.formulation, self.loss, self.keep_support_vectors)
    }

    /// Returns the solver with its options. With [`Solver::Auto`], another solver takes over when
    /// SMO's pairs make no progress.
    pub fn build_solver(&self) -> Box<dyn Solve + Send> {
        let smo = if self.shrinking { Smo::default() } else { Smo::PLAIN };
        let hands_over = self.solver == Solver::Auto;
        self.resolved_solver().build_as(self.seed, SmoFinish { smo, hands_over, merge_equal_rows: self.merge_equal_rows })
    }

    /// Returns the goal of solutions, with the solver's default if none is set.
    pub fn resolved_goal(&self) -> Goal {
        self.goal.unwrap_or_else(|| self.resolved_solver().goal())
    }

    /// Returns the stopping conditions of a run.
    pub fn stop(&self) -> Stop {
        Stop { goal: self.resolved_goal(), max_iter: self.max_iter, max_time: self.max_time }
    }

    /// Returns the formulation that is solved, with loss and bias term.
    pub fn resolved_formulation(&self) -> Formulation {
        let (loss, bias_term) = self.resolved_solver().problem();
        self.formulation.with(self.loss.unwrap_or(loss), self.bias_term.unwrap_or(bias_term))
    }

    /// Returns the kernel, with the width of `gamma` if that is a number.
    pub fn resolved_kernel(&self) -> Kernel {
        match self.gamma {
            Some(Gamma::Value(gamma)) => self.kernel.clone().with_gamma(gamma),
            _ => self.kernel.clone(),
        }
    }

    /// Returns the given factor of C for each class of the data.
    ///
    /// # Errors
    ///
    /// When a weight belongs to a class that the data does not have, or is negative or not finite.
    pub fn given_weights(&self, classes: &ClassLabels) -> Result<Vec<f64>, CvError> {
        let labels = classes.labels();
        let mut weights = vec![1.0; labels.len()];
        for &(label, factor) in &self.weights {
            let Some(at) = labels.iter().position(|known| *known == label) else {
                let names: Vec<String> = labels.iter().map(f64::to_string).collect();
                return Err(CvError::UnknownClass { label, known: names.join(", ") });
            };
            if !(factor.is_finite() && factor >= 0.0) {
                return Err(CvError::ClassWeight { label, value: factor });
            }
            weights[at] = factor;
        }
        Ok(weights)
    }

    /// Checks, without data, that the solver supports the problem.
    ///
    /// # Errors
    ///
    /// When it does not. A [`CvError::Refused`] has the changes that help.
    pub fn check(&self) -> Result<(), CvError> {
        self.supported().map_err(|error| match error {
            CvError::Refused(refused) => Refused { alternatives: self.alternatives(), ..refused }.into(),
            other => other,
        })
    }

    /// Checks that several levels are those of a formulation that has one, which is the central
    /// one of them.
    fn check_levels(&self, formulation: Formulation) -> Result<(), CvError> {
        if self.levels.is_empty() {
            return Ok(());
        }
        levels::check(&self.levels).map_err(CvError::Levels)?;
        let central = self.levels[levels::central(&self.levels)];
        match formulation.level().map(Level::tau) {
            Some(tau) if tau == central => Ok(()),
            Some(tau) => Err(CvError::Levels(format!("the formulation has the level {tau}, and the central one is {central}"))),
            None => Err(CvError::Levels(format!("{} has no level", formulation.name()))),
        }
    }

    /// As [`TrainOptions::check`], with the alternatives that the solver knows.
    pub(super) fn supported(&self) -> Result<(), CvError> {
        let solver = self.resolved_solver();
        let built = solver.build(self.seed);
        let formulation = self.resolved_formulation();
        if self.levels.is_empty() && formulation.level().is_some_and(|level| level.tau().is_nan()) {
            return Err(CvError::Levels("there is none, or one is NaN: it must be above 0 and below 1".to_owned()));
        }
        formulation.check()?;
        self.goal.map_or(Ok(()), Goal::check)?;
        let other = self.loss.is_some_and(|loss| loss != formulation.loss());
        if other && formulation.level().is_some() {
            return Err(CvError::OwnLoss(formulation.name()));
        }
        self.check_levels(formulation)?;
        self.calibration.check_formulation(formulation)?;
        if other || self.bias_term.is_some_and(|bias_term| bias_term != formulation.bias_term()) {
            return Err(CvError::Fixed(formulation.name()));
        }
        if formulation.target_kind() != TargetKind::Classes
            && (self.class_weights != ClassWeights::Given || !self.weights.is_empty())
        {
            return Err(CvError::Classes(formulation.name()));
        }
        let linear = self.kernel == Kernel::Linear;
        if linear && built.takes(&formulation, true).is_ok() {
            return Ok(());
        }
        Ok(built.takes(&formulation, linear && !self.keep_support_vectors && solver.is_linear())?)
    }
}
