//! Cross-validation: every machine over its folds, and the reports of all cells.

use crate::fold_machines::FoldMachineCollector;
use crate::folds::assemble::ReportAssembly;
use crate::folds::collector::{OnCellDone, ResultCollector};
use crate::folds::decide::{Decisions, HeldOutDecisions};
use crate::folds::fold_classes::FoldClasses;
use crate::folds::machine_run::{MachineRun, Step, WarmStart};
use crate::folds::outcome::Outcome;
use crate::folds::shared_machines::SharedFolds;
use crate::folds::unshared;
use crate::plan::FoldPlan;
use crate::report::finished::Finished;
use crate::report::{CvReport, Scoring};
use crate::run::control::{preparation_control, study_control, study_error};
use crate::run::error::CvError;
use crate::seed::Seeding;
use crate::study::Study;
use crate::study::layout::MachineLayout;
use crate::study::matching::Terms;
use crate::study::page_pool::PagePool;
use crate::study::space_source::{Prepared, SpaceSource};
use crate::study::spaces::Spaces;
use crate::train::Fitted;
use maxmargin_core::{BiasTerm, Formulation, Loss, Progress, RunControl, Stage};
use maxmargin_data::Par;
use maxmargin_kernel::{Gamma, RowWork};
use maxmargin_metrics::{Purpose, greatest_label, is_countable};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// A cross-validation at several values of C.
pub(crate) struct CvRequest<'a, T> {
    /// Values of C, at least one.
    pub(crate) steps: &'a [Step<'a>],
    /// Set if the steps are some of several values of C, or may be later. It decides what a run
    /// keeps from value to value, and so the last bits of results. The number of values left after
    /// an interruption must not decide that.
    pub(crate) is_along_c: bool,
    /// One machine of two classes prunes a value of C with more errors than this, or with more than
    /// a complete earlier value.
    pub(crate) max_errors: Option<usize>,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) seeding: Seeding,
    pub(crate) control: &'a RunControl<'a>,
    pub(crate) on_cell_done: OnCellDone<'a, T>,
    /// Collects the machines of all folds, if they are kept.
    pub(crate) keep: Option<&'a FoldMachineCollector<'a>>,
    /// Set if certificates count the labels that their gap fixes, which no cell of a search shows.
    pub(crate) counts_fixed_labels: bool,
    /// Memory for kernel values.
    pub(crate) pool: &'a PagePool,
}

impl<'a> Study<'a> {
    /// Cross-validates by `plan`. The result is that of `k` trainings from scratch, with a
    /// certificate for each machine of each fold.
    ///
    /// # Errors
    ///
    /// As [`Study::train`]; when a training set is no valid problem, the plan is for other data, or
    /// the seeding does not apply.
    pub fn cross_validate(&self, plan: &FoldPlan, seeding: Seeding, control: &RunControl) -> Result<CvReport, CvError> {
        let c = self.formulation.c().unwrap_or(1.0);
        Ok(self.cross_validate_along(&[c], plan, seeding, control)?.remove(0))
    }

    /// Cross-validates by `plan` with another training than [`Study::train`]: `train` makes the
    /// model of the study of each training set.
    ///
    /// # Errors
    ///
    /// As [`Study::cross_validate`], and those of `train`.
    pub fn cross_validate_by(
        &self,
        plan: &FoldPlan,
        train: &dyn Fn(&Study, &RunControl) -> Result<Fitted, CvError>,
        control: &RunControl,
    ) -> Result<CvReport, CvError> {
        if plan.len() != self.data.samples.len() {
            return Err(CvError::Plan { plan: plan.len(), data: self.data.samples.len() });
        }
        self.over_features()?;
        let report = unshared::cross_validate(self, plan, Instant::now(), control, None, train)?;
        Ok(CvReport { c: self.formulation.c(), ..report })
    }

    /// Cross-validates for several values of C over the same rows. Each model of all data starts
    /// from the one of the previous value. Returns fewer reports than values when it was
    /// interrupted or ran out of time.
    ///
    /// # Errors
    ///
    /// As [`Study::cross_validate`].
    ///
    /// # Panics
    ///
    /// When there are no values.
    pub fn cross_validate_along(
        &self,
        values: &[f64],
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<Vec<CvReport>, CvError> {
        let steps: Vec<Step> = values.iter().map(|&c| Step { c, from: None }).collect();
        self.validate(&CvRequest {
            steps: &steps,
            is_along_c: values.len() > 1,
            max_errors: None,
            plan,
            seeding,
            control,
            on_cell_done: &|_, cell| cell.report,
            keep: None,
            counts_fixed_labels: true,
            pool: &PagePool::default(),
        })
    }

    /// As [`Study::cross_validate`], with known solutions of all data: for each machine, row of the
    /// data and coefficient of every support vector. Folds that share no kernel start cold.
    pub(crate) fn cross_validate_from(
        &self,
        start: &[Terms],
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<CvReport, CvError> {
        self.cross_validate_at(Some(start), plan, seeding, control, None)
    }

    /// As [`Study::cross_validate_from`] if there is a start, and collects the machines of all
    /// folds.
    pub(crate) fn cross_validate_keeping(
        &self,
        start: Option<&[Terms]>,
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
        keep: &FoldMachineCollector,
    ) -> Result<CvReport, CvError> {
        self.cross_validate_at(start, plan, seeding, control, Some(keep))
    }

    fn cross_validate_at(
        &self,
        start: Option<&[Terms]>,
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
        keep: Option<&FoldMachineCollector>,
    ) -> Result<CvReport, CvError> {
        let step = Step { c: self.formulation.c().unwrap_or(1.0), from: start.map(WarmStart::Terms) };
        let request = CvRequest {
            steps: &[step],
            is_along_c: false,
            max_errors: None,
            plan,
            seeding,
            control,
            on_cell_done: &|_, cell| cell.report,
            keep,
            counts_fixed_labels: true,
            pool: &PagePool::default(),
        };
        Ok(self.validate(&request)?.remove(0))
    }

    /// Cross-validates at every step of a request, and returns what it keeps of each.
    pub(crate) fn validate<T: Send>(&self, request: &CvRequest<T>) -> Result<Vec<T>, CvError> {
        assert!(!request.steps.is_empty(), "at least one value of C");
        if request.plan.len() != self.data.samples.len() {
            return Err(CvError::Plan { plan: request.plan.len(), data: self.data.samples.len() });
        }
        let features = self.over_features()?;
        self.check_seeding(request.seeding, features)?;
        match self.shared(request.plan)? {
            Some(prepared) => self.validate_shared(&prepared, request, features),
            None => self.validate_unshared(request),
        }
    }

    /// Refuses a seeding of the papers if the machines have no kernel rows or another constraint:
    /// these seeds move α along an equality constraint, by sums over kernel rows.
    fn check_seeding(&self, seeding: Seeding, features: bool) -> Result<(), CvError> {
        if matches!(seeding, Seeding::Cold | Seeding::Full) || (!features && self.is_c_svc()) {
            return Ok(());
        }
        let why = if features {
            "it reads kernel rows, and here are features alone"
        } else {
            "it is for C-SVC with the hinge loss and a free bias"
        };
        Err(CvError::Seeding { seeding, why })
    }

    /// Returns true for C-SVC with the hinge loss and a free bias.
    pub(crate) fn is_c_svc(&self) -> bool {
        matches!(self.formulation, Formulation::Svc { loss: Loss::Hinge, bias_term: BiasTerm::Free, .. })
    }

    /// The samples that all folds share; `None` if their training sets are prepared differently.
    pub(crate) fn shared(&self, plan: &FoldPlan) -> Result<Option<Prepared<'a>>, CvError> {
        if self.options.scale.is_some() && self.gamma.is_some_and(Gamma::is_of_values) {
            return Ok(None);
        }
        let whole = self.prepared_by_all()?;
        // Given factors and the centre of all data do not depend on the training set.
        if self.options.scale.is_none() && whole.preparation.encoder.is_none() {
            return Ok(Some(whole));
        }
        // Every training set often has the extremes of every feature and all words, and no gaps.
        // The folds then share one kernel although samples are scaled.
        for fold in 0..plan.folds() {
            let own = self.preparation(plan.train(fold).into_iter())?;
            if !own.is_same_for(&whole.preparation, &self.data.samples) {
                return Ok(None);
            }
        }
        Ok(Some(whole))
    }

    /// The kernel values, or the features, that all machines share. Machines with a solution for
    /// each fold use the memory of `pool`.
    pub(crate) fn shared_source<'s>(
        &self,
        prepared: &Prepared<'s>,
        layout: &MachineLayout,
        features: bool,
        pool: Option<&PagePool>,
        control: &RunControl,
    ) -> Result<SpaceSource<'s>, CvError> {
        let source = SpaceSource::of(prepared, layout, features, self.options.par, &preparation_control(control));
        let source = source.map_err(|error| study_error(control, error))?;
        let source = match pool {
            Some(pool) => source.in_pool(pool).for_small_machines(layout),
            None => source,
        };
        let kept = source.keep_values(layout, self.memory, self.options.par, control);
        kept.map_err(|error| study_error(control, error.into()))?;
        if self.solver.uses_neighbours() {
            let found = source.find_neighbours(layout, self.memory, self.options.par, control);
            found.map_err(|error| study_error(control, error.into()))?;
        }
        Ok(source)
    }

    /// Cross-validates over the kernel values, or the features, that all folds share.
    fn validate_shared<T: Send>(&self, prepared: &Prepared, request: &CvRequest<T>, features: bool) -> Result<Vec<T>, CvError> {
        let begun = Instant::now();
        let CvRequest { steps, is_along_c, max_errors, plan, seeding, control, keep, counts_fixed_labels, pool, .. } = *request;
        let layout = if features { self.unsorted() } else { self.layout(Some(plan)) };
        let control = &study_control(control, begun, &self.stop);
        let source = self.shared_source(prepared, &layout, features, Some(pool), control)?;
        let (count, done) = (layout.machines.len(), AtomicUsize::new(0));
        let (factors, classes) = (self.fold_factors(plan), self.fold_classes(plan).checked()?);
        let assembly = self.assembly(&layout, &classes, plan, steps.len(), control);
        let only_value_begun = (steps.len() == 1).then_some(begun);
        let report = |value: usize, outcomes: &[Outcome], work: &[RowWork]| {
            let begun = only_value_begun.unwrap_or_else(Instant::now);
            let mut report = assembly.assemble_report(&source, outcomes, work)?;
            (report.c, report.seeding) = (self.formulation.c().map(|_| steps[value].c), seeding.name());
            report.total_seconds = begun.elapsed().as_secs_f64().max(report.total_seconds);
            if let Some(keep) = keep {
                let shared = SharedFolds { prepared, layout: &layout, source: &source, model: keep.model, par: self.options.par };
                keep.put(shared.machines(plan.folds(), outcomes)?);
            }
            Ok(report)
        };
        let collector = ResultCollector::new(steps.len(), count, report, request.on_cell_done);
        let chain = layout.level_chain();
        let validate = |p: usize, par: Par, spaces: &Spaces| {
            let of_machine = control.child(|progress| {
                let stage = if count == 1 { progress.stage } else { Stage::Machine(p) };
                let total = count * steps.len();
                if total == 1 { *progress } else { Progress { stage, done: done.load(Ordering::Relaxed), total, ..*progress } }
            });
            let run = MachineRun {
                study: self,
                layout: &layout,
                index: p,
                factors: &factors,
                classes: &classes,
                plan,
                seeding,
                steps,
                is_along_c,
                max_errors,
                keeps_machines: keep.is_some(),
                counts_fixed_labels,
                begun,
                par,
                study_control: control,
                control: &of_machine,
                finished: &done,
                chain: chain.as_ref(),
            };
            run.run(spaces, &|value, outcome, work| collector.put(value, p, outcome, work))
        };
        let (feature, memory) = (self.formulation.bias_term().feature(), self.row_memory(count, &source, is_along_c));
        Spaces::of(&source, &layout, feature, memory, |spaces| {
            if self.solver.uses_neighbours() {
                spaces.find_shared_neighbours(control).map_err(|error| study_error(control, error.into()))?;
            }
            layout.map_machines(self.options.par, |p, par| validate(p, par, spaces))
        })?;
        collector.kept()
    }

    /// The inputs of the reports of a request.
    fn assembly<'r>(
        &'r self,
        layout: &'r MachineLayout,
        classes: &'r FoldClasses,
        plan: &'r FoldPlan,
        steps: usize,
        control: &'r RunControl<'r>,
    ) -> ReportAssembly<'r> {
        let (purpose, labels) = (Purpose::from(self.formulation), &self.data.labels[..]);
        let samples = plan.rounds() * layout.data_row.len();
        let scoring =
            Scoring { purpose, machines: layout.machines.len(), levels: self.levels, greatest_label: greatest_label(labels) };
        ReportAssembly {
            rule: self.rule(),
            classes,
            labels,
            is_countable: is_countable(purpose.target_kind, labels),
            layout,
            plan,
            decisions: HeldOutDecisions {
                layout,
                plan,
                par: self.options.par,
                control,
                last: Decisions::place(steps, layout.machines.len(), samples),
                are_kept: self.options.keep_decisions || scoring.reads_decisions(),
            },
            scoring,
        }
    }

    /// Trains every fold as a study of its own: from zero, on training rows that are scaled by
    /// their own statistics.
    fn validate_unshared<T>(&self, request: &CvRequest<T>) -> Result<Vec<T>, CvError> {
        self.check_seeding(request.seeding, false)?;
        let begun = Instant::now();
        let mut kept = Vec::new();
        for (value, step) in request.steps.iter().enumerate() {
            let at_c = Study { formulation: self.formulation.with_c(step.c), ..*self };
            let train: unshared::Trainer = &|study: &Study, control: &RunControl| study.train(control);
            let report = unshared::cross_validate(&at_c, request.plan, begun, request.control, request.keep, train)?;
            let stopped = report.status().ended_early();
            let cell = Finished { report: CvReport { c: Some(step.c), ..report }, alpha: Vec::new(), values_to_repeat: 0 };
            kept.push((request.on_cell_done)(value, cell));
            if stopped {
                break;
            }
        }
        Ok(kept)
    }
}
