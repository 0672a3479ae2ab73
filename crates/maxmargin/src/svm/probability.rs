//! Probabilities and thresholds: with a training, or later.

use super::Svm;
use maxmargin_core::Goal;
use maxmargin_cv::{Calibrated, CalibrationOptions, CvError, CvWatch, Fitted, Probability, Quiet, Study, calibration_plan};
use maxmargin_data::{Dataset, Encoder};
use maxmargin_metrics::Metric;
use maxmargin_model::Model;
use maxmargin_solvers::Solver;
use std::time::Instant;

impl Svm {
    /// Gives trained models probabilities ([`Model::probabilities`]), from decision values of
    /// samples that their machines did not see: five seeded folds over the same kernel, each from
    /// the model that was just trained. [`Fitted::calibration`] says how good they are. Labels are
    /// then those of the greatest probability. Errors of a regression have a scale
    /// ([`Model::error_scale`]) and one class the probability of being inside, whichever way is
    /// asked for.
    #[must_use]
    pub fn probability(self, probability: Probability) -> Self {
        let fits = CalibrationOptions { probability: Some(probability), ..self.calibration };
        Self { calibration: fits, ..self }
    }

    /// Gives trained models of two classes a threshold ([`Model::threshold`]) in place of 0: the
    /// one with the best score by `metric` among decision values of samples that their machines did
    /// not see, from five seeded folds as for [`Svm::probability`] (the same, where both are asked
    /// for). [`Fitted::threshold`] has the score before and after. Labels are then those of the
    /// threshold, also where there are probabilities; decision values and probabilities are those
    /// of the machine.
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
        let fits = CalibrationOptions { threshold: Some(metric), ..self.calibration };
        Self { calibration: fits, ..self }
    }

    /// Gives a model that this estimator trained on `data` (or [`Svm::of_model`], of its record)
    /// what [`Svm::probability`] and [`Svm::threshold`] asked for; Platt's probabilities, where
    /// nothing was.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`]; when the model has no record of its training or was trained on
    /// other data, and when a class has one sample alone.
    pub fn calibrate(&self, model: Model, data: &Dataset) -> Result<Calibrated, CvError> {
        self.calibrate_watched(model, data, &Quiet)
    }

    /// As [`Svm::calibrate`], telling `watch`; where that ends the run, the model stays without.
    ///
    /// # Errors
    ///
    /// As [`Svm::calibrate`].
    pub fn calibrate_watched(&self, model: Model, data: &Dataset, watch: &dyn CvWatch) -> Result<Calibrated, CvError> {
        let platt = CalibrationOptions { probability: Some(Probability::Platt), ..self.calibration };
        let fits = if self.calibration.is_nothing() { platt } else { self.calibration };
        self.study(data, |study| self.calibrated(study, model, fits, watch))
    }

    /// The estimator that trained a model, as its record says; memory, threads and seeds as usual.
    ///
    /// # Errors
    ///
    /// When the model has no record of its training, or one that names no solver.
    pub fn of_model(model: &Model) -> Result<Self, CvError> {
        let other = |why: &str| CvError::OtherModel(why.to_owned());
        let record = model.record().ok_or_else(|| other("it has no record of its training"))?;
        let solver = record.solver.parse::<Solver>().map_err(|error| other(&error.to_string()))?;
        let (loss, bias_term) = (record.formulation.loss(), record.formulation.bias_term());
        let goal: Goal = record.goal();
        let mut svm =
            Self::of(record.formulation).kernel(model.kernel().clone()).solver(solver).loss(loss).bias_term(bias_term).goal(goal);
        svm = svm.multiclass(model.multiclass());
        svm = model.parts().scaler.iter().fold(svm, |svm, scaler| match scaler.factors() {
            // Less what was subtracted: a Gaussian kernel sees differences.
            Some(factors) => svm.feature_weights(&factors),
            None => svm.scale(scaler.method()),
        });
        svm = model.parts().encoder.iter().filter_map(Encoder::impute).fold(svm, Svm::impute);
        svm = model.classes().iter().zip(&record.weights).fold(svm, |svm, (label, weight)| svm.class_weight(*label, *weight));
        Ok(record.sample_weights.iter().fold(svm, |svm, weights| svm.sample_weights(weights.clone())))
    }

    /// A training, and what is fitted to folds where that is asked for; the time is for both.
    pub(super) fn fitted(&self, study: &Study, watch: &dyn CvWatch) -> Result<Fitted, CvError> {
        let begun = Instant::now();
        // Whoever asks for what the data cannot give hears of it before the work.
        self.calibration.check(study.classes, &study.data.labels)?;
        let fitted = study.train(watch)?;
        if self.calibration.is_nothing() {
            return Ok(fitted);
        }
        let rest = Study { stop: study.stop.left(begun, 0), ..*study };
        let calibrated = self.calibrated(&rest, fitted.model.clone(), self.calibration, watch)?;
        Ok(fitted.calibrated(calibrated))
    }

    fn calibrated(
        &self,
        study: &Study,
        model: Model,
        fits: CalibrationOptions,
        watch: &dyn CvWatch,
    ) -> Result<Calibrated, CvError> {
        let plan = calibration_plan(study.classes, &study.data.labels, self.seed)?;
        study.calibrate(model, fits, &plan, self.seeding, watch)
    }
}
