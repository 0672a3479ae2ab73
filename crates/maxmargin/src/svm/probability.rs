//! Probabilities and thresholds, fitted with a training or later.

use super::Svm;
use maxmargin_core::Goal;
use maxmargin_cv::{Calibrated, CalibrationOptions, CvError, Fitted, ModelMismatch, Probability, RunControl, Study};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{Dataset, Encoder};
use maxmargin_metrics::Metric;
use maxmargin_model::Model;
use maxmargin_solvers::Solver;
use std::time::Instant;

impl Svm {
    /// Adds probabilities to trained models ([`Model::probabilities`]). They are fitted to decision
    /// values of samples that the machines were not trained on, from five seeded folds over the
    /// same kernel. Each fold starts from the trained model. [`Fitted::calibration`] reports their
    /// quality. Models then predict the class with the greatest probability.
    ///
    /// For every `probability`, a regression gets a scale of its errors ([`Model::error_scale`]),
    /// and a one-class model the probability of being inside.
    #[must_use]
    pub fn probability(self, probability: Probability) -> Self {
        self.with(|options| options.calibration.probability = Some(probability))
    }

    /// Adds a threshold ([`Model::threshold`]) instead of 0 to trained models of two classes. It
    /// has the best score by `metric` on decision values of samples that the machines were not
    /// trained on, from the five seeded folds of [`Svm::probability`]. [`Fitted::threshold`] has
    /// the score before and after.
    ///
    /// Models then predict by the threshold, even if they have probabilities. Decision values and
    /// probabilities do not change.
    ///
    /// ```
    /// use maxmargin::metrics::BALANCED_ACCURACY;
    /// use maxmargin::prelude::*;
    ///
    /// // One sample in eight is of the class 1.
    /// let all = Generator::Banana.generate(400, None, 1)?;
    /// let rows: Vec<usize> = (0..400).filter(|&i| all.labels[i] < 0.0 || i % 7 == 0).collect();
    /// let data = all.select(&rows);
    /// let fitted = Svm::rbf(0.5).c(0.1).threshold(&BALANCED_ACCURACY).fit(&data)?;
    /// let report = fitted.threshold.clone().expect("asked for");
    /// assert!(report.after > report.before); // of samples that the machines of the folds did not see
    /// let threshold = fitted.model.threshold().expect("there is one");
    /// let (decisions, labels) = (fitted.decision_values(&data.samples)?, fitted.predict(&data.samples)?);
    /// assert!(decisions.iter().zip(&labels).all(|(f, label)| (*f >= threshold) == (*label == 1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn threshold(self, metric: &'static Metric) -> Self {
        self.with(|options| options.calibration.threshold = Some(metric))
    }

    /// Adds the requested [`Svm::probability`] and [`Svm::threshold`] to a model that this
    /// estimator trained on `data`, or Platt's probabilities if neither is set. [`Svm::of_model`]
    /// returns the estimator of a model.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`]; when the model has no record of its training or was trained on
    /// other data, and when a class has only one sample.
    pub fn calibrate(&self, model: Model, data: &Dataset) -> Result<Calibrated, CvError> {
        self.calibrate_with(model, data, &RunControl::unlimited())
    }

    /// Calibrates as [`Svm::calibrate`], under a control. If it ends the run early, the model does
    /// not change.
    ///
    /// # Errors
    ///
    /// As [`Svm::calibrate`].
    pub fn calibrate_with(&self, model: Model, data: &Dataset, control: &RunControl) -> Result<Calibrated, CvError> {
        let platt = CalibrationOptions { probability: Some(Probability::Platt), ..self.options.calibration };
        let fits = if self.options.calibration.is_nothing() { platt } else { self.options.calibration };
        self.study(data.into(), |study| self.calibrated(study, model, fits, control))
    }

    /// Returns the estimator that trained a model, from its record. Memory, threads and seeds have
    /// their defaults.
    ///
    /// # Errors
    ///
    /// When the model has no record of its training, or one that names no solver.
    pub fn of_model(model: &Model) -> Result<Self, CvError> {
        let record = model.record().ok_or(CvError::OtherModel(ModelMismatch::NoRecord))?;
        let solver =
            record.solver.parse::<Solver>().map_err(|error| CvError::OtherModel(ModelMismatch::Solver(error.to_string())))?;
        let (loss, bias_term) = (record.formulation.loss(), record.formulation.bias_term());
        let goal: Goal = record.goal();
        let mut svm =
            Self::of(record.formulation).kernel(model.kernel().clone()).solver(solver).loss(loss).bias_term(bias_term).goal(goal);
        svm = svm.multiclass(model.multiclass());
        svm = model.parts().scaler.iter().fold(svm, |svm, scaler| match scaler.factors() {
            // The shift of the scaler is left out: a Gaussian kernel depends on differences only.
            Some(factors) => svm.feature_weights(&factors),
            // A study centres by itself.
            None if scaler.method() == ScaleMethod::Centre => svm,
            None => svm.scale(scaler.method()),
        });
        svm = model.parts().encoder.iter().filter_map(Encoder::impute).fold(svm, Svm::impute);
        let given = model.classes().iter().zip(&record.given_weights);
        svm = given.fold(svm, |svm, (label, weight)| svm.class_weight(*label, *weight));
        svm = svm.with(|options| options.class_weights = record.class_weights);
        Ok(record.sample_weights.iter().fold(svm, |svm, weights| svm.sample_weights(weights.clone())))
    }

    /// Trains, and fits the requested calibration to folds. The time limit is for both.
    pub(super) fn fitted(&self, study: &Study, control: &RunControl) -> Result<Fitted, CvError> {
        let begun = Instant::now();
        // This check comes before the training, so that an impossible request fails early.
        self.options.calibration.check(study.classes, &study.data.labels)?;
        if let Some(options) = &self.options.conformal {
            study.conformal_plan(options)?;
        }
        let mut fitted = study.train(control)?;
        let rest = || Study { stop: study.stop.left(begun, 0), ..*study };
        if !self.options.calibration.is_nothing() {
            let calibrated = self.calibrated(&rest(), fitted.model.clone(), self.options.calibration, control)?;
            fitted = fitted.calibrated(calibrated);
        }
        if let Some(options) = &self.options.conformal {
            let done = rest().conformalise(fitted.model.clone(), options, self.options.seeding, control)?;
            fitted = fitted.conformalised(done);
        }
        Ok(fitted)
    }

    fn calibrated(
        &self,
        study: &Study,
        model: Model,
        fits: CalibrationOptions,
        control: &RunControl,
    ) -> Result<Calibrated, CvError> {
        let plan = study.calibration_plan()?;
        study.calibrate(model, fits, &plan, self.options.seeding, control)
    }
}
