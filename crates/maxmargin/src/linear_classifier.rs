//! Linear classifiers beyond the duals of [`Svm`](crate::Svm): logistic regression, the L1 norm of
//! the weights, and all classes at once.

mod engine;
mod options;
mod record;
mod verify;

use engine::Weights;
pub(crate) use engine::{ClassRows, ColumnFit, Engine};
pub use options::{cross_validate_linear, fit_linear};
pub use record::{LinearRecord, LinearRecordError};
pub use verify::verify_linear;

use maxmargin_core::{BiasTerm, Certificate, DualError, Goal, MarginLoss, Penalty, RunControl, Status, Stop};
use maxmargin_cv::{CertificateReport, CvError, TrainOptions};
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_linear::{LinearWork, Method};
use maxmargin_model::{Model, Multiclass, Rule, data_sha256};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The objective of a [`LinearClassifier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinearObjective {
    /// A loss of the margin and a norm of the weights: one machine for two classes, one for each
    /// class against the rest for more.
    Margin {
        /// The loss.
        loss: MarginLoss,
        /// The norm of the weights.
        penalty: Penalty,
    },
    /// All classes at once (Crammer and Singer), with the L2 norm.
    CrammerSinger,
}

/// A linear classifier: logistic regression with the L2 or the L1 norm, the squared hinge loss with
/// either, or the machine of Crammer and Singer. Every machine has a certificate: a duality gap,
/// computed from the features in double precision.
///
/// This is a plain value, as [`Svm`](crate::Svm) is.
///
/// ```
/// use maxmargin::{LinearClassifier, prelude::*};
///
/// let data = Generator::Blobs.generate(200, None, 1)?;
/// let fitted = LinearClassifier::logistic(1.0).fit(&data)?;
/// assert!(fitted.certificate.holds && fitted.certificate.relative_gap < 1e-6);
/// let labels = fitted.model.predict(&data.samples, Par::Seq)?;
///
/// let sparse = LinearClassifier::logistic(1.0).penalty(Penalty::L1).fit(&data)?;
/// assert!(sparse.certificate.holds);
/// # assert_eq!(labels.len(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearClassifier {
    pub(crate) objective: LinearObjective,
    pub(crate) c: f64,
    pub(crate) bias_term: BiasTerm,
    pub(crate) class_weights: Vec<(f64, f64)>,
    pub(crate) sample_weights: Option<Vec<f64>>,
    pub(crate) stop: Stop,
    pub(crate) method: Method,
    pub(crate) seed: u64,
    pub(crate) par: Par,
}

/// The training of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearMachineReport {
    /// The certificate.
    pub certificate: Certificate,
    /// The end of the run.
    pub status: Status,
    /// The number of weights other than 0, that of the bias included.
    pub nonzeros: usize,
    /// The number of dual variables other than 0, where a training has them (Crammer and Singer).
    pub dual_nonzeros: Option<usize>,
    /// The cost of the run.
    pub work: LinearWork,
}

/// The data of a training.
#[derive(Clone, Copy)]
struct TrainingSet<'a> {
    /// The data as they were given.
    data: &'a Dataset,
    /// Their samples, filled in and scaled.
    samples: &'a Samples,
    classes: &'a ClassLabels,
    /// The factor of C for each class.
    weights: &'a [f64],
}

/// A trained classifier.
#[derive(Clone, Debug)]
pub struct FittedLinear {
    /// The model. It stores weights, and the [record](LinearRecord) of its training.
    pub model: Model,
    /// The machines; one for Crammer and Singer.
    pub machines: Vec<LinearMachineReport>,
    /// The worst certificate.
    pub certificate: CertificateReport,
}

impl LinearClassifier {
    /// Returns a classifier with this objective and cost. Defaults: a bias that is not regularised,
    /// a relative duality gap of 10⁻⁶, the calling thread.
    pub fn of(objective: LinearObjective, c: f64) -> Self {
        Self {
            objective,
            c,
            bias_term: BiasTerm::Free,
            class_weights: Vec::new(),
            sample_weights: None,
            stop: Stop::when(Goal::Gap(1e-6)),
            method: Method::Hybrid,
            seed: 1,
            par: Par::Seq,
        }
    }

    /// Returns a logistic regression with the L2 norm.
    pub fn logistic(c: f64) -> Self {
        Self::of(LinearObjective::Margin { loss: MarginLoss::Logistic, penalty: Penalty::L2 }, c)
    }

    /// Returns a classifier with the squared hinge loss and the L1 norm.
    pub fn sparse_svc(c: f64) -> Self {
        Self::of(LinearObjective::Margin { loss: MarginLoss::SquaredHinge, penalty: Penalty::L1 }, c)
    }

    /// Returns the machine of Crammer and Singer. It has no bias by default, and no free one.
    pub fn crammer_singer(c: f64) -> Self {
        Self { bias_term: BiasTerm::None, ..Self::of(LinearObjective::CrammerSinger, c) }
    }

    /// Sets the norm of the weights. The machine of Crammer and Singer has the L2 norm alone.
    #[must_use]
    pub fn penalty(self, penalty: Penalty) -> Self {
        match self.objective {
            LinearObjective::Margin { loss, .. } => Self { objective: LinearObjective::Margin { loss, penalty }, ..self },
            LinearObjective::CrammerSinger => self,
        }
    }

    /// Sets the kind of bias.
    #[must_use]
    pub fn bias_term(self, bias_term: BiasTerm) -> Self {
        Self { bias_term, ..self }
    }

    /// Sets a factor of `C` for one class. With three classes or more it applies to the samples of
    /// the class in its own machine, where the rest has `C`.
    #[must_use]
    pub fn class_weight(mut self, label: f64, factor: f64) -> Self {
        self.class_weights.push((label, factor));
        self
    }

    /// Sets a factor of `C` for each sample, 0 or more.
    #[must_use]
    pub fn sample_weights(self, weights: Vec<f64>) -> Self {
        Self { sample_weights: Some(weights), ..self }
    }

    /// Sets the goal of trainings.
    #[must_use]
    pub fn goal(self, goal: Goal) -> Self {
        Self { stop: Stop { goal, ..self.stop }, ..self }
    }

    /// Sets the relative duality gap that trainings must reach.
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        self.goal(Goal::Gap(gap))
    }

    /// Limits the iterations and the time of a machine.
    #[must_use]
    pub fn limits(self, max_iter: Option<u64>, max_time: Option<Duration>) -> Self {
        Self { stop: Stop { max_iter, max_time, ..self.stop }, ..self }
    }

    /// Sets the method, for comparisons.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Sets the seed of random orders.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the threads.
    #[must_use]
    pub fn threads(self, par: Par) -> Self {
        Self { par, ..self }
    }

    /// Trains on all samples.
    ///
    /// # Errors
    ///
    /// When there is one class only, or one whose samples all have weight 0 beside a free bias, or
    /// not one finite label for each row. When C or a weight is not valid, all weights are 0, or
    /// the solver refuses the problem.
    pub fn fit(&self, data: &Dataset) -> Result<FittedLinear, CvError> {
        self.fit_with(data, &RunControl::unlimited())
    }

    /// Trains as [`LinearClassifier::fit`], with progress, limits and cancellation.
    ///
    /// # Errors
    ///
    /// As [`LinearClassifier::fit`].
    pub fn fit_with(&self, data: &Dataset, control: &RunControl) -> Result<FittedLinear, CvError> {
        data.check()?;
        let classes = ClassLabels::new(&data.labels)?;
        let weights = TrainOptions { weights: self.class_weights.clone(), ..TrainOptions::default() }.given_weights(&classes)?;
        self.fit_classes(&TrainingSet { data, samples: &data.samples, classes: &classes, weights: &weights }, control)
    }

    /// Trains on prepared samples of known classes.
    fn fit_classes(&self, set: &TrainingSet, control: &RunControl) -> Result<FittedLinear, CvError> {
        let TrainingSet { data, samples, classes, weights } = *set;
        let of: Vec<usize> = classes.of().iter().map(|&class| class as usize).collect();
        // The second of two classes has positive decision values.
        let rows = ClassRows { of: &of, classes: classes.count(), positive: classes.count() - 1, weight: weights };
        let engine = Engine::new(self, samples);
        engine.check_costs(&rows)?;
        let (fits, hash) = self.par.join(|| engine.fit(&rows, None, control), || data_sha256(data));
        let fits = fits?;
        let goal = self.stop.goal;
        let report = |fit: &ColumnFit| CertificateReport::new(&fit.report.certificate, goal.met(&fit.report.certificate));
        let certificate = fits.iter().map(report).reduce(CertificateReport::worse).unwrap_or(CertificateReport::NO_MACHINE);
        let mut machines: Vec<_> = fits.iter().map(|fit| (fit.weights.clone(), fit.bias)).collect();
        if let ([first, second], 2) = (&fits[..], classes.count()) {
            let Weights { weights, bias } = second.of_column().minus(&first.of_column());
            machines = vec![(weights, bias)];
        }
        let model = Model::from_weights(samples.features(), Rule::of(classes, Multiclass::OneVsRest), &machines)?;
        let record = LinearRecord::new(self, set, hash, &fits);
        let model = record.put_into(model.with_index_base(data.index_base)?)?;
        Ok(FittedLinear { model, machines: record.machines, certificate })
    }

    pub(crate) fn check(&self) -> Result<(), CvError> {
        self.stop.goal.check()?;
        if let Some(value) = self.bias_term.feature().filter(|value| !(value * value).is_finite()) {
            return Err(DualError::BiasFeature(value).into());
        }
        if self.c.is_finite() && self.c > 0.0 {
            return Ok(());
        }
        Err(DualError::Upper { variable: 0, value: self.c }.into())
    }
}
