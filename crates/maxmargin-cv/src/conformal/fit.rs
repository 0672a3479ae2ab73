//! Scores and machines of folds for a trained model.

use crate::calibrate::{OutOfFold, seeded_plan};
use crate::conformal::coverage::ConformalCoverage;
use crate::conformal::held_out::HeldOutScores;
use crate::conformal::state::Conformal;
use crate::fold_machines::{FoldMachineCollector, FoldMachines};
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::run::error::CvError;
use crate::run::refusal::ConformalProblem;
use crate::seed::Seeding;
use crate::study::matching::Terms;
use crate::study::{ConformalOptions, Exchangeable, Study};
use maxmargin_core::{Formulation, RunControl, TargetKind, levels};
use maxmargin_model::Model;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Number of folds by default, as of cross-validations.
const FOLDS: usize = 10;

/// The reason why scores are missing after an interrupted run.
const ENDED: &str = "the run was ended before all folds had a solution";

/// A model with scores and machines of folds, and the report of these.
#[derive(Clone, Debug)]
pub struct Conformalised {
    /// The model; as it was if the report says that scores are missing.
    pub model: Model,
    /// The report.
    pub report: ConformalReport,
}

/// The report of the conformal predictions of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConformalReport {
    /// The reason why there are no conformal predictions, if they are missing.
    pub missing: Option<&'static str>,
    /// The coverage of held-out rows; `None` if predictions are missing.
    #[serde(flatten)]
    pub coverage: Option<ConformalCoverage>,
    /// The cross-validation, with its cost.
    #[serde(flatten)]
    pub run: OutOfFold,
}

/// Held-out decision values of every row, and the machines of the folds that have them.
struct KeptFolds {
    /// Row-major rows × columns.
    decisions: Vec<f64>,
    columns: usize,
    machines: FoldMachines,
}

impl Study<'_> {
    /// Returns the folds of a request, after all checks that need no training.
    ///
    /// # Errors
    ///
    /// When the formulation has no conformal predictions, a row would have several scores, or a
    /// class has no score or is missing in a training set.
    pub fn conformal_plan(&self, options: &ConformalOptions) -> Result<Arc<FoldPlan>, CvError> {
        let plan = match &options.plan {
            Some(plan) => Arc::clone(plan),
            None => Arc::new(seeded_plan(self.classes, &self.data.labels, FOLDS, self.options.seed)?),
        };
        if plan.len() != self.data.samples.len() {
            return Err(CvError::Plan { plan: plan.len(), data: self.data.samples.len() });
        }
        self.check_conformal(options, &plan)?;
        Ok(plan)
    }

    /// Checks that a plan gives every class scores, and every row at most one.
    ///
    /// # Errors
    ///
    /// As [`Study::conformal_plan`].
    pub fn check_conformal(&self, options: &ConformalOptions, plan: &FoldPlan) -> Result<(), ConformalProblem> {
        if matches!(self.formulation, Formulation::Expectile { .. }) {
            return Err(ConformalProblem::Formulation(self.formulation.name()));
        }
        if plan.rounds() > 1 {
            return Err(ConformalProblem::Rounds(plan.rounds()));
        }
        if self.formulation.target_kind() == TargetKind::Classes && self.classes.is_some() {
            let known = self.fold_classes(plan);
            for fold in 0..plan.folds() {
                if let Some(label) = known.missing(fold).first() {
                    return Err(ConformalProblem::FoldClass { fold, label: *label });
                }
            }
        } else if options.per_class {
            return Err(ConformalProblem::PerClass(self.formulation.name()));
        }
        let Some(classes) = self.classes else { return Ok(()) };
        let mut tested = vec![false; classes.count()];
        (0..plan.folds()).flat_map(|fold| plan.test(fold)).for_each(|&row| tested[classes.of()[row] as usize] = true);
        match tested.iter().position(|tested| !tested) {
            Some(class) => Err(ConformalProblem::NoScore { label: classes.labels()[class] }),
            None => Ok(()),
        }
    }

    /// Adds scores and machines of folds to `model`, which this study trained. Folds start from the
    /// model where they share its kernel. The result does not depend on the number of threads.
    ///
    /// A run that ends early is no error, although the scores are missing then: the report has the
    /// reason.
    ///
    /// # Errors
    ///
    /// As [`Study::cross_validate`] and [`Study::conformal_plan`]; when the model has no record of
    /// its training, or was trained on other data.
    pub fn conformalise(
        &self,
        model: Model,
        options: &ConformalOptions,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<Conformalised, CvError> {
        let begun = Instant::now();
        let plan = self.conformal_plan(options)?;
        let (run, found) = if let Formulation::Quantile { .. } = self.formulation {
            let tail = options.level.alpha() / 2.0;
            let levels = [tail, 1.0 - tail];
            let formulation = self.formulation.with_level(levels[levels::central(&levels)]);
            let between = Study { formulation, levels: &levels, ..*self };
            between.kept_folds(&model, None, &plan, seeding, control)?
        } else {
            let start = self.solutions(&model)?;
            self.kept_folds(&model, Some(&start), &plan, seeding, control)?
        };
        let mut done = Conformalised { model, report: ConformalReport { missing: None, coverage: None, run } };
        match found {
            None => done.report.missing = Some(ENDED),
            Some(KeptFolds { decisions, columns, machines }) => {
                let scores = HeldOutScores::of(self, &plan, &decisions, columns);
                let coverage = ConformalCoverage::of(self, options, &plan, &scores)?;
                done.model = kept(options, coverage.exchangeable, scores, machines).put_into(done.model)?;
                done.report.coverage = Some(coverage);
            }
        }
        done.report.run.seconds = begun.elapsed().as_secs_f64();
        Ok(done)
    }

    /// Cross-validates, and keeps the machines of all folds; `None` if not all have a solution.
    fn kept_folds(
        &self,
        model: &Model,
        start: Option<&[Terms]>,
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<(OutOfFold, Option<KeptFolds>), CvError> {
        let collected = FoldMachineCollector::new(model);
        let found = self.cross_validate_keeping(start, plan, seeding, control, &collected);
        let (run, found) = OutOfFold::of(plan, found)?;
        let found = found.filter(|found| found.folds_counted == found.folds.len());
        let kept = |found: CvReport| KeptFolds {
            decisions: found.decisions,
            columns: found.machines,
            machines: collected.into_machines(),
        };
        Ok((run, found.map(kept)))
    }

    /// Reports what conformal predictions of held-out rows cover in a cross-validation that this
    /// study ran by `plan`; `None` if some folds have no solution.
    ///
    /// # Errors
    ///
    /// As [`Study::conformal_plan`]; for quantiles, whose intervals are between two others than
    /// that of the cross-validation.
    pub fn conformal_coverage(
        &self,
        options: &ConformalOptions,
        plan: &FoldPlan,
        report: &CvReport,
    ) -> Result<Option<ConformalCoverage>, CvError> {
        self.check_conformal(options, plan)?;
        if self.formulation.level().is_some() {
            return Err(ConformalProblem::Quantile.into());
        }
        if report.folds_counted < plan.folds() {
            return Ok(None);
        }
        Ok(Some(ConformalCoverage::of(self, options, plan, &HeldOutScores::of(self, plan, &report.decisions, report.machines))?))
    }
}

/// Returns the scores and machines that a model keeps.
fn kept(options: &ConformalOptions, exchangeable: Exchangeable, scores: HeldOutScores, machines: FoldMachines) -> Conformal {
    let HeldOutScores { rows, fold, score, class, .. } = scores;
    let FoldMachines { ensembles, places } = machines;
    Conformal { level: options.level, per_class: options.per_class, exchangeable, rows, fold, score, class, ensembles, places }
}
