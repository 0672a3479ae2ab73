//! Scores and machines of folds for a trained model.

use crate::calibrate::{OutOfFold, lacks_samples};
use crate::conformal::class_scores::{AdaptiveScores, Scorer, class_of_one_fold};
use crate::conformal::coverage::ConformalCoverage;
use crate::conformal::held_out::HeldOutScores;
use crate::conformal::kept_folds::KeptFolds;
use crate::conformal::spread_range::SpreadRange;
use crate::conformal::state::Conformal;
use crate::fold_machines::FoldMachines;
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::run::error::CvError;
use crate::run::refusal::ConformalProblem;
use crate::seed::Seeding;
use crate::study::{ConformalGroups, ConformalOptions, Exchangeable, Study};
use maxmargin_conformal::ConformalScore;
use maxmargin_core::{Formulation, RunControl, TargetKind, levels};
use maxmargin_model::Model;
use serde::Serialize;
use std::borrow::Cow;
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

impl Study<'_> {
    /// Returns the folds of a request, after all checks that need no training.
    ///
    /// # Errors
    ///
    /// When the formulation has no conformal predictions, a row would have several scores, or a
    /// class or a group has no score, or a class is missing in a training set.
    pub fn conformal_plan(&self, options: &ConformalOptions) -> Result<Arc<FoldPlan>, CvError> {
        let rows = self.data.samples.len();
        let plan = match &options.plan {
            None => match self.seeded_plan(FOLDS) {
                Err(error) if lacks_samples(&error) => {
                    return Err(ConformalProblem::TooFew { has_classes: self.classes.is_some() }.into());
                }
                plan => Arc::new(plan?),
            },
            Some(plan) if plan.len() != rows => return Err(CvError::Plan { plan: plan.len(), data: rows }),
            Some(plan) => match self.testing_weighted(plan)? {
                Cow::Borrowed(_) => Arc::clone(plan),
                Cow::Owned(fewer) => Arc::new(fewer),
            },
        };
        self.check_conformal(options, &plan)?;
        Ok(plan)
    }

    /// Checks that there is one group for each row, and a score for each group.
    fn check_groups(&self, groups: &ConformalGroups, plan: &FoldPlan) -> Result<(), ConformalProblem> {
        let rows = self.data.samples.len();
        if groups.of().len() != rows {
            return Err(ConformalProblem::GroupCount { groups: groups.of().len(), rows });
        }
        let mut tested = vec![false; groups.names().len()];
        (0..plan.folds()).flat_map(|fold| plan.test(fold)).for_each(|&row| tested[groups.of()[row] as usize] = true);
        match tested.iter().position(|tested| !tested) {
            Some(group) => Err(ConformalProblem::UntestedGroup(groups.names()[group].clone())),
            None => Ok(()),
        }
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
        options.groups.iter().try_for_each(|groups| self.check_groups(groups, plan))?;
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
        if options.score == ConformalScore::Scaled {
            return self.check_scaled(plan);
        }
        let Some(classes) = self.classes else {
            return match options.score {
                ConformalScore::Adaptive(_) => Err(ConformalProblem::NoProbabilities(self.formulation.name())),
                _ => Ok(()),
            };
        };
        if let (ConformalScore::Adaptive(_), Some(label)) = (options.score, class_of_one_fold(plan, classes)) {
            return Err(ConformalProblem::OneFold { label });
        }
        let mut tested = vec![false; classes.count()];
        (0..plan.folds()).flat_map(|fold| plan.test(fold)).for_each(|&row| tested[classes.of()[row] as usize] = true);
        match tested.iter().position(|tested| !tested) {
            Some(class) => Err(ConformalProblem::NoScore { label: classes.labels()[class] }),
            None => Ok(()),
        }
    }

    /// Adds scores and machines of folds to `model`, which this study trained. Folds have the width
    /// of its kernel and start from it where they share it. Samples of weight 0 have no score. The
    /// result does not depend on the number of threads.
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
        let own = self.with_width_of(&model);
        let (run, found) = if let Formulation::Quantile { .. } = self.formulation {
            let tail = options.level.alpha() / 2.0;
            let levels = [tail, 1.0 - tail];
            let formulation = self.formulation.with_level(levels[levels::central(&levels)]);
            let between = Study { formulation, levels: &levels, ..own };
            between.kept_folds(&model, None, &plan, seeding, control)?
        } else {
            let start = self.solutions(&model)?;
            own.kept_folds(&model, Some(&start), &plan, seeding, control)?
        };
        let mut done = Conformalised { model, report: ConformalReport { missing: None, coverage: None, run } };
        let found = match found {
            Some(first) if options.score == ConformalScore::Scaled => {
                let rest = Study { stop: self.stop.left(begun, 0), ..own };
                let (second, found) = rest.with_spread(first, &done.model, &plan, seeding, control)?;
                done.report.run.add(&second);
                found
            }
            found => found,
        };
        match found {
            None => done.report.missing = Some(ENDED),
            Some(KeptFolds { decisions, columns, machines, spread }) => {
                let (scores, adaptive) = self.held_out_scores(options, &plan, &decisions, columns, spread)?;
                let coverage = ConformalCoverage::of(self, options, &plan, &scores)?;
                let kept = kept(options, coverage.exchangeable, scores, machines);
                done.model = Conformal { adaptive, spread, ..kept }.put_into(done.model)?;
                done.report.coverage = Some(coverage);
            }
        }
        done.report.run.seconds = begun.elapsed().as_secs_f64();
        Ok(done)
    }

    /// Reports what conformal predictions of held-out rows cover in a cross-validation that this
    /// study ran by `plan`; `None` if some folds have no solution.
    ///
    /// # Errors
    ///
    /// As [`Study::check_conformal_coverage`].
    pub fn conformal_coverage(
        &self,
        options: &ConformalOptions,
        plan: &FoldPlan,
        report: &CvReport,
    ) -> Result<Option<ConformalCoverage>, CvError> {
        let plan = &*self.testing_weighted(plan)?;
        self.check_conformal_coverage(options, plan)?;
        if report.folds_counted < plan.folds() {
            return Ok(None);
        }
        let (scores, _) = self.held_out_scores(options, plan, &report.decisions, report.machines, None)?;
        Ok(Some(ConformalCoverage::of(self, options, plan, &scores)?))
    }

    /// Checks that [`Study::conformal_coverage`] is possible, before the cross-validation.
    ///
    /// # Errors
    ///
    /// As [`Study::conformal_plan`]; for quantiles, whose intervals are between two others than
    /// that of the cross-validation, and for scaled errors, which need a second one.
    pub fn check_conformal_coverage(&self, options: &ConformalOptions, plan: &FoldPlan) -> Result<(), ConformalProblem> {
        self.check_conformal(options, plan)?;
        if self.formulation.level().is_some() {
            return Err(ConformalProblem::Quantile);
        }
        if options.score == ConformalScore::Scaled { Err(ConformalProblem::Scaled) } else { Ok(()) }
    }

    /// Returns the scores of all tested rows, and the probabilities behind them.
    fn held_out_scores(
        &self,
        options: &ConformalOptions,
        plan: &FoldPlan,
        decisions: &[f64],
        columns: usize,
        spread: Option<SpreadRange>,
    ) -> Result<(HeldOutScores, Option<AdaptiveScores>), ConformalProblem> {
        let adaptive = AdaptiveScores::fit(self, options.score, plan, decisions)?;
        let scorer = Scorer { multiclass: self.rule().multiclass, adaptive: adaptive.as_ref(), spread };
        Ok((HeldOutScores::of(self, scorer, plan, decisions, columns), adaptive))
    }
}

/// Returns the scores and machines that a model keeps.
fn kept(options: &ConformalOptions, exchangeable: Exchangeable, scores: HeldOutScores, machines: FoldMachines) -> Conformal {
    let HeldOutScores { rows, fold, score, class, .. } = scores;
    let FoldMachines { ensembles, places } = machines;
    let groups = options.groups.as_ref().map(|groups| groups.select(&rows));
    Conformal {
        level: options.level,
        per_class: options.per_class,
        exchangeable,
        rows,
        fold,
        score,
        class,
        ensembles,
        places,
        adaptive: None,
        spread: None,
        groups,
    }
}
