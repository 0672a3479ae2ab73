//! Probabilities and thresholds, fitted to out-of-fold decision values: five folds, and a
//! calibration for each machine.

mod out_of_fold;
mod probability;
pub(crate) mod threshold;

pub use out_of_fold::OutOfFold;
pub use probability::cross_fitted;
pub use threshold::{ThresholdReport, best_threshold, is_tunable};

use crate::plan::{FoldPlan, PlanError};
use crate::report::CvReport;
use crate::run::error::CvError;
use crate::run::refusal::ModelMismatch;
use crate::seed::Seeding;
use crate::study::matching::terms;
use crate::study::{CalibrationOptions, Probability, Study};
use maxmargin_core::{RunControl, TargetKind};
use maxmargin_data::ClassLabels;
use maxmargin_kernel::Gamma;
use maxmargin_metrics::{Metric, Reliability};
use maxmargin_model::{Calibration, Model, is_hash_of};
pub(crate) use probability::CalibrationFit;
use serde::Serialize;
use std::borrow::Cow;

/// Number of folds for the decision values of a calibration.
const FOLDS: usize = 5;

/// The reason why a calibration is missing after an interrupted run.
const ENDED: &str = "the run was ended before all folds had a solution";

impl CalibrationOptions {
    /// Checks that the data allows the request, before any work.
    ///
    /// # Errors
    ///
    /// When a threshold is requested and the data has not two classes, or the metric cannot choose
    /// one; as [`calibration_plan`].
    pub fn check(&self, classes: Option<&ClassLabels>, labels: &[f64]) -> Result<(), CvError> {
        self.threshold.map_or(Ok(()), |metric| threshold::check(metric, classes))?;
        if self.is_nothing() { Ok(()) } else { calibration_plan(classes, labels, 0).map(drop) }
    }
}

/// A model with probabilities or a threshold, and the reports of their fit.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The model. It lacks the parts that a report marks as missing.
    pub model: Model,
    /// The report of the probabilities, if requested.
    pub calibration: Option<CalibrationReport>,
    /// The report of the threshold, if requested.
    pub threshold: Option<ThresholdReport>,
}

impl Calibrated {
    /// The cross-validation behind the calibration; `None` if nothing was requested.
    pub fn run(&self) -> Option<&OutOfFold> {
        let calibration = self.calibration.as_ref().map(|report| &report.run);
        calibration.or(self.threshold.as_ref().map(|report| &report.run))
    }

    /// The reason why a requested part is missing.
    pub fn missing(&self) -> Option<&'static str> {
        let calibration = self.calibration.as_ref().and_then(|report| report.missing);
        calibration.or(self.threshold.as_ref().and_then(|report| report.missing))
    }
}

/// The report of the probabilities of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// `platt` or `isotonic` for classes, `laplace` for the errors of a regression, `marks` for one
    /// class.
    pub method: &'static str,
    /// The reason why there are no probabilities, if they are missing.
    pub missing: Option<&'static str>,
    /// The cross-validation, with its cost.
    #[serde(flatten)]
    pub run: OutOfFold,
    /// The scale of the errors of a regression.
    pub scale: Option<f64>,
    /// For classes: the reliability of probabilities of samples that took no part in their
    /// calibration ([`cross_fitted`]); `None` if classes have too few samples for that.
    pub reliability: Option<Reliability>,
}

/// The folds of a calibration: five, stratified if there are classes. If the smallest class has
/// fewer than five samples there are as many folds as it has samples, but at least two.
///
/// # Errors
///
/// When there are fewer than two samples, or as many classes as samples.
pub fn calibration_plan(classes: Option<&ClassLabels>, labels: &[f64], seed: u64) -> Result<FoldPlan, CvError> {
    seeded_plan(classes, labels, FOLDS, seed).map_err(|error| of_calibration(error, classes.is_some()))
}

/// Returns the error of a calibration, whose folds the user did not choose.
fn of_calibration(error: CvError, has_classes: bool) -> CvError {
    if lacks_samples(&error) { CvError::NoCalibration { has_classes } } else { error }
}

/// Returns whether [`seeded_plan`] has too few samples for two folds.
pub(crate) fn lacks_samples(error: &CvError) -> bool {
    matches!(error, CvError::Folds(PlanError::TooFew(_) | PlanError::TooMany { .. } | PlanError::SmallClasses { .. }))
}

/// As [`calibration_plan`], with another number of folds.
pub(crate) fn seeded_plan(classes: Option<&ClassLabels>, labels: &[f64], folds: usize, seed: u64) -> Result<FoldPlan, CvError> {
    let Some(classes) = classes else {
        return Ok(FoldPlan::shuffled(labels.len(), folds.min(labels.len()), seed)?);
    };
    let smallest = classes.sizes().iter().copied().min().unwrap_or(0);
    Ok(FoldPlan::stratified(labels, smallest.clamp(2, folds), seed)?)
}

impl Study<'_> {
    /// The folds of a calibration ([`calibration_plan`]) over the samples that take part: those of
    /// weight 0 are not tested.
    ///
    /// # Errors
    ///
    /// As [`calibration_plan`].
    pub fn calibration_plan(&self) -> Result<FoldPlan, CvError> {
        self.seeded_plan(FOLDS).map_err(|error| of_calibration(error, self.classes.is_some()))
    }

    /// As [`Study::calibration_plan`], with another number of folds.
    pub(crate) fn seeded_plan(&self, folds: usize) -> Result<FoldPlan, CvError> {
        let (labels, seed) = (&self.data.labels, self.options.seed);
        let Some(rows) = self.weighted_rows() else { return seeded_plan(self.classes, labels, folds, seed) };
        let own: Vec<f64> = rows.iter().map(|&row| labels[row]).collect();
        // Classes whose samples all have weight 0 have no fold of their own.
        let classes = self.classes.and_then(|classes| classes.subset(&rows).ok());
        Ok(seeded_plan(classes.as_ref(), &own, folds, seed)?.spread_to(&rows, labels.len())?)
    }

    /// The rows whose weight is not 0, ascending; `None` if these are all rows.
    pub(crate) fn weighted_rows(&self) -> Option<Vec<usize>> {
        let weights = self.sample_weights.filter(|weights| weights.contains(&0.0))?;
        Some((0..weights.len()).filter(|&row| weights[row] != 0.0).collect())
    }

    /// A plan that tests no sample of weight 0: such samples take no part in calibrations and
    /// scores.
    pub(crate) fn testing_weighted<'p>(&self, plan: &'p FoldPlan) -> Result<Cow<'p, FoldPlan>, CvError> {
        let Some(weights) = self.sample_weights.filter(|weights| weights.contains(&0.0) && weights.len() == plan.len()) else {
            return Ok(Cow::Borrowed(plan));
        };
        Ok(Cow::Owned(plan.testing(|row| weights[row] != 0.0)?))
    }

    /// The study whose kernel has the width of `model` in all folds. A calibration after the
    /// training knows this width and not the rule that gave it.
    pub(crate) fn with_width_of(&self, model: &Model) -> Self {
        Self { gamma: model.kernel().gamma().map(Gamma::Value), ..*self }
    }

    /// Calibrates `model`, which this study trained, by the options in `fits`. Cross-validates by
    /// `plan`, each fold started from the model, and fits the calibration to the out-of-fold
    /// decision values. The result does not depend on the number of threads.
    ///
    /// All folds have the width of the model's kernel, and samples of weight 0 take no part.
    ///
    /// Some cases are no errors, although the calibration is missing then: a run that ends early,
    /// errors of a regression that are all 0, and one class with too few samples inside or outside.
    /// The report has the reason. With both a threshold and probabilities, the threshold decides
    /// the labels.
    ///
    /// # Errors
    ///
    /// As [`Study::cross_validate`] and [`CalibrationOptions::check`]; when the model has no record
    /// of its training, or was trained on other data.
    pub fn calibrate(
        &self,
        model: Model,
        fits: CalibrationOptions,
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<Calibrated, CvError> {
        let begun = std::time::Instant::now();
        fits.check_formulation(self.formulation)?;
        fits.check(self.classes, &self.data.labels)?;
        let plan = &*self.testing_weighted(plan)?;
        let start = self.solutions(&model)?;
        let found = self.with_width_of(&model).cross_validate_from(&start, plan, seeding, control);
        drop(start);
        let (run, mut found) = OutOfFold::of(plan, found)?;
        found.iter_mut().for_each(|found| self.fill(plan, &mut found.decisions));
        let found = found.filter(|found| found.folds_counted == found.folds.len()).ok_or(ENDED);
        let mut all = Calibrated { model, calibration: None, threshold: None };
        if let Some(probability) = fits.probability {
            self.add_probabilities(&mut all, found.as_ref(), plan, probability, &run)?;
        }
        if let Some(metric) = fits.threshold {
            self.add_threshold(&mut all, found.as_ref(), plan, metric, run)?;
        }
        let seconds = begun.elapsed().as_secs_f64();
        all.calibration.iter_mut().for_each(|report| report.run.seconds = seconds);
        all.threshold.iter_mut().for_each(|report| report.run.seconds = seconds);
        Ok(all)
    }

    /// Fills in decision values for machines that a fold lacks: the side that is present in the
    /// training set, as LIBSVM does.
    fn fill(&self, plan: &FoldPlan, decisions: &mut [f64]) {
        let (classes, multiclass) = (self.fold_classes(plan), self.rule().multiclass);
        let sides = multiclass.sides(self.classes.map_or(0, ClassLabels::count));
        for (fold, (p, sides)) in (0..plan.folds()).flat_map(|fold| sides.iter().enumerate().map(move |machine| (fold, machine)))
        {
            let Some(value) = classes.without_a_machine(fold, *sides) else { continue };
            let before = plan.round(fold) * plan.len();
            plan.test(fold).iter().for_each(|i| decisions[(before + i) * self.machines() + p] = value);
        }
    }

    /// Adds probabilities from a cross-validation, or the reason why they are missing.
    fn add_probabilities(
        &self,
        to: &mut Calibrated,
        found: Result<&CvReport, &&'static str>,
        plan: &FoldPlan,
        probability: Probability,
        run: &OutOfFold,
    ) -> Result<(), CvError> {
        let method = match self.formulation.target_kind() {
            TargetKind::Classes => probability.name(),
            TargetKind::Values => "laplace",
            TargetKind::Nothing => "marks",
        };
        let mut report = CalibrationReport { method, missing: None, run: run.clone(), scale: None, reliability: None };
        let calibration = found.map_or_else(|why| Ok(Err(*why)), |found| self.fitted(found, probability))?;
        to.model = to.model.clone().without_calibration();
        match calibration {
            Err(why) => report.missing = Some(why),
            Ok(calibration) => {
                report.scale = calibration.first().and_then(Calibration::scale);
                to.model = to.model.clone().with_calibration(calibration)?;
            }
        }
        if let (Ok(found), Some(classes), None) = (found, self.classes, report.missing) {
            // Where both rows of a pair of classes are in one fold, none is left for a calibration
            // of the pair that they took no part in.
            let crossed = cross_fitted(&found.decisions, plan, classes, to.model.multiclass(), probability, self.options.par);
            let labels = || classes.of().repeat(found.rounds);
            report.reliability = crossed.ok().and_then(|crossed| Reliability::of(&crossed, classes.count(), &labels()));
        }
        to.calibration = Some(report);
        Ok(())
    }

    /// Adds a threshold from a cross-validation, or the reason why it is missing.
    fn add_threshold(
        &self,
        to: &mut Calibrated,
        found: Result<&CvReport, &&'static str>,
        plan: &FoldPlan,
        metric: &'static Metric,
        run: OutOfFold,
    ) -> Result<(), CvError> {
        to.model = to.model.clone().without_threshold();
        let classes = self.classes.ok_or(CvError::Classes(self.formulation.name()))?;
        let report = match found {
            Ok(found) => threshold::choose(metric, &found.decisions, plan, classes, run),
            Err(why) => ThresholdReport {
                metric: metric.name(),
                missing: Some(why),
                value: None,
                before: None,
                after: None,
                cross_fitted: None,
                run,
            },
        };
        if let Some(value) = report.value {
            to.model = to.model.clone().with_threshold(value)?;
        }
        to.threshold = Some(report);
        Ok(())
    }

    /// The calibration of each machine, or the reason why it is missing.
    fn fitted(&self, found: &CvReport, probability: Probability) -> Result<Result<Vec<Calibration>, &'static str>, CvError> {
        let decisions = &found.decisions[..];
        if let Some(classes) = self.classes {
            return Ok(Ok(
                CalibrationFit::new(decisions, classes, self.rule().multiclass, probability).over(|_| true, self.options.par)?
            ));
        }
        // Samples that no fold tests have no decision value.
        let known: Vec<f64> = decisions.iter().copied().filter(|value| !value.is_nan()).collect();
        if self.formulation.target_kind() == TargetKind::Nothing {
            let marks = Calibration::marks(&known)?;
            return Ok(marks
                .map(|marks| vec![marks])
                .ok_or("fewer than five samples are inside, or outside, of the folds that did not see them"));
        }
        let targets = self.data.labels.iter().cycle().zip(decisions).filter(|(_, value)| !value.is_nan());
        let errors: Vec<f64> = targets.map(|(target, value)| target - value).collect();
        if errors.iter().all(|error| *error == 0.0) {
            return Ok(Err("all errors are 0"));
        }
        Ok(Ok(vec![Calibration::laplace(&errors)?]))
    }

    /// Row of the data and coefficient of every support vector, for each machine of a model that
    /// was trained on this data.
    pub(crate) fn solutions(&self, model: &Model) -> Result<Vec<Vec<(usize, f64)>>, CvError> {
        let other = |why| Err(CvError::OtherModel(why));
        let Some(record) = model.record() else {
            return other(ModelMismatch::NoRecord);
        };
        if !is_hash_of(&record.data_sha256, self.data) {
            return other(ModelMismatch::Data);
        }
        let classes = self.classes.map_or(&[][..], ClassLabels::labels);
        if model.classes() != classes || record.rows != self.data.samples.len() as u64 {
            return other(ModelMismatch::Classes);
        }
        if record.formulation != self.formulation || model.multiclass() != self.rule().multiclass {
            return other(ModelMismatch::Formulation);
        }
        let samples = model.prepared(&self.data.samples)?;
        terms(model, &samples, self.classes.map_or(&[], ClassLabels::of)).or_else(|why| other(ModelMismatch::Vector(why)))
    }
}
