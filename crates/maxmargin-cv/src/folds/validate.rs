//! Cross-validation: every machine over its folds, and what they elect.

use crate::folds::assemble::ReportAssembly;
use crate::folds::collector::ResultCollector;
use crate::folds::fold_classes::FoldClasses;
use crate::folds::fold_factors::{FoldBoxes, FoldFactors};
use crate::folds::trainer::{Prune, Trainer};
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::deadline::Deadline;
use crate::run::error::CvError;
use crate::run::watch::{CvWatch, MachineProgress};
use crate::seed::Seeding;
use crate::seed::row_boxes::RowBoxes;
use crate::study::layout::{HeldOut, MachineLayout, map_machines};
use crate::study::matching::Terms;
use crate::study::spaces::{RowWorkDelta, Spaces};
use crate::study::{Prepared, SpaceSource, Study};
use maxmargin_core::{BiasTerm, EqualityConstraint, Formulation, Loss, Problem};
use maxmargin_data::{Asking, Preparation};
use maxmargin_kernel::{Gamma, Rows};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// A value of C, and where the machines of all data begin at it: at the solution of the value
/// before, where nothing else is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) c: f64,
    pub(crate) from: Option<WarmStart<'a>>,
}

/// A solution of all data that is there already, one entry a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarmStart<'a> {
    /// Row of the data and coefficient of every support vector, at the value of C itself.
    Terms(&'a [Terms]),
    /// α of every variable ([`Finished::alpha`]) at some value of C; none of a machine whose α is
    /// empty.
    Alpha(f64, &'a [Vec<f64>]),
}

/// Who is told of every value of C as it is done.
pub(crate) type OnCellDone<'a> = &'a (dyn Fn(usize, &Finished) + Sync);

impl<'a> Study<'a> {
    /// Cross-validates by `plan`: what `k` trainings from scratch would give, each machine of each
    /// fold with a certificate.
    ///
    /// # Errors
    ///
    /// As [`Study::train`]; when a training set is no problem, the plan is for other data, or the
    /// folds cannot be seeded like that.
    pub fn cross_validate(&self, plan: &FoldPlan, seeding: Seeding, watch: &dyn CvWatch) -> Result<CvReport, CvError> {
        let c = self.formulation.c().unwrap_or(1.0);
        Ok(self.cross_validate_along(&[c], plan, seeding, watch)?.remove(0))
    }

    /// Cross-validates for several values of C over the same rows, the models of all data each from
    /// the one before. Fewer reports than values when it was interrupted or ran out of time.
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
        watch: &dyn CvWatch,
    ) -> Result<Vec<CvReport>, CvError> {
        let steps: Vec<Step> = values.iter().map(|&c| Step { c, from: None }).collect();
        self.validated((&steps, None), plan, seeding, watch, &|_, _| ())
    }

    /// As [`Study::cross_validate`], with the machines of all data from solutions that are there
    /// already: row of the data and coefficient of every support vector of each. Folds that share
    /// no kernel start cold.
    pub(crate) fn cross_validate_from(
        &self,
        start: &[Terms],
        plan: &FoldPlan,
        seeding: Seeding,
        watch: &dyn CvWatch,
    ) -> Result<CvReport, CvError> {
        let step = Step { c: self.formulation.c().unwrap_or(1.0), from: Some(WarmStart::Terms(start)) };
        Ok(self.validated((&[step], None), plan, seeding, watch, &|_, _| ())?.remove(0))
    }

    /// Cross-validates at every step, and tells `told` of each as soon as it is done. One machine
    /// of two classes gives a step up that makes more errors than `most`, or than a step before it
    /// in all.
    pub(crate) fn validated(
        &self,
        (steps, most): (&[Step], Option<usize>),
        plan: &FoldPlan,
        seeding: Seeding,
        watch: &dyn CvWatch,
        told: OnCellDone,
    ) -> Result<Vec<CvReport>, CvError> {
        assert!(!steps.is_empty(), "at least one value of C");
        if plan.len() != self.data.samples.len() {
            return Err(CvError::Plan { plan: plan.len(), data: self.data.samples.len() });
        }
        let features = self.over_features()?;
        self.check_seeding(seeding, features)?;
        match self.shared(plan)? {
            Some(prepared) => self.along(&prepared, (steps, most), plan, (seeding, features), (watch, told)),
            None => self.apart(steps, plan, seeding, (watch, told)),
        }
    }

    /// Paper seeds move α along a balance of sums over kernel rows.
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

    pub(crate) fn is_c_svc(&self) -> bool {
        matches!(self.formulation, Formulation::Svc { loss: Loss::Hinge, bias_term: BiasTerm::Free, .. })
    }

    /// The samples that all folds share; none where their training sets are prepared differently.
    pub(crate) fn shared(&self, plan: &FoldPlan) -> Result<Option<Prepared<'a>>, CvError> {
        if self.scale.is_some() && self.gamma == Some(Gamma::Scale) {
            return Ok(None);
        }
        let whole = self.prepared()?;
        if whole.preparation == Preparation::default() {
            return Ok(Some(whole));
        }
        // The extremes of a feature and all words are often in every training set, and there may be
        // no gaps: the folds then share one kernel after all.
        for fold in 0..plan.folds() {
            let own = self.preparation(plan.train(fold).into_iter())?;
            if !own.is_same_for(&whole.preparation, &self.data.samples) {
                return Ok(None);
            }
        }
        Ok(Some(whole))
    }

    fn along(
        &self,
        prepared: &Prepared,
        (steps, most): (&[Step], Option<usize>),
        plan: &FoldPlan,
        (seeding, features): (Seeding, bool),
        (watch, told): (&dyn CvWatch, OnCellDone),
    ) -> Result<Vec<CvReport>, CvError> {
        let begun = Instant::now();
        let layout = if features { self.unsorted() } else { self.layout(Some(plan)) };
        let deadline = Deadline::new(begun, &self.stop);
        let mut go_on = || deadline.may_continue(watch);
        let source =
            SpaceSource::of(prepared, &layout, features, &Asking::new(&mut go_on)).map_err(|error| deadline.error(error))?;
        let (count, done) = (layout.parts.len(), AtomicUsize::new(0));
        let (factors, classes) = (self.fold_factors(plan), self.fold_classes(plan));
        let (needs, labels) = (self.formulation.target_kind(), &self.data.labels[..]);
        let tally = ReportAssembly {
            needs,
            rule: self.rule(),
            classes: &classes,
            labels,
            layout: &layout,
            plan,
            par: self.par,
            deadline: &deadline,
            watch,
        };
        let alone = (steps.len() == 1).then_some(begun);
        let gather = ResultCollector::new(steps.len(), count, |row, outcomes, work| {
            let begun = alone.unwrap_or_else(Instant::now);
            let mut report = tally.report(&source, outcomes, work)?;
            report.c = self.formulation.c().map(|_| steps[row].c);
            report.seeding = seeding.name();
            report.total_seconds = begun.elapsed().as_secs_f64().max(report.total_seconds);
            Ok(report)
        });
        let validate = |p: usize, par: maxmargin_data::Par, spaces: &Spaces| {
            let relay = MachineProgress { watch, machine: p, machines: count, values: steps.len(), done: &done };
            let run = MachineRun {
                study: self,
                layout: &layout,
                factors: &factors,
                classes: &classes,
                plan,
                seeding,
                steps,
                most,
                begun,
                deadline: &deadline,
                par,
                watch: &relay,
                finished: &done,
            };
            run.run(spaces, p, &|row, outcome, work| gather.put((row, p), outcome, work, told))
        };
        let room = (self.memory, (self.budget(count), self.par));
        Spaces::of(&source, &layout, self.formulation.bias_term().feature(), room, |spaces| {
            map_machines(count, self.par, |p, par| validate(p, par, spaces))
        })?;
        gather.reports()
    }

    /// Every fold from nothing but its training rows, scaled by what these show: a study of its
    /// own.
    fn apart(
        &self,
        steps: &[Step],
        plan: &FoldPlan,
        seeding: Seeding,
        (watch, told): (&dyn CvWatch, OnCellDone),
    ) -> Result<Vec<CvReport>, CvError> {
        self.check_seeding(seeding, false)?;
        let begun = Instant::now();
        let mut reports = Vec::new();
        for (row, step) in steps.iter().enumerate() {
            let at_c = Study { formulation: self.formulation.with_c(step.c), ..*self };
            let report = crate::folds::unshared::cross_validate(&at_c, plan, begun, watch)?;
            let stopped = report.status().ended_early();
            let cell = Finished { report: CvReport { c: Some(step.c), ..report }, alpha: Vec::new() };
            told(row, &cell);
            reports.push(cell.report);
            if stopped {
                break;
            }
        }
        Ok(reports)
    }
}

/// Who takes what a machine has at a value of C.
type OnOutcome<'a> = &'a dyn Fn(usize, crate::folds::outcome::Outcome, maxmargin_kernel::RowWork);

/// The folds of one machine, for every value of C.
struct MachineRun<'a> {
    study: &'a Study<'a>,
    layout: &'a MachineLayout,
    factors: &'a FoldFactors,
    classes: &'a FoldClasses,
    plan: &'a FoldPlan,
    seeding: Seeding,
    steps: &'a [Step<'a>],
    /// Errors that one machine may make.
    most: Option<usize>,
    begun: Instant,
    deadline: &'a Deadline,
    par: maxmargin_data::Par,
    watch: &'a dyn CvWatch,
    /// Counts machines and values that are done.
    finished: &'a AtomicUsize,
}

impl MachineRun<'_> {
    /// α of all data where `problem` begins, as far as `from` knows machine `p`.
    fn known(&self, problem: &Problem, from: WarmStart, p: usize) -> Result<Option<Vec<f64>>, CvError> {
        match from {
            WarmStart::Terms(start) => {
                let mut place = vec![usize::MAX; self.layout.original.len()];
                for (own, &at) in self.layout.parts[p].rows.iter().enumerate() {
                    place[self.layout.original[at]] = own;
                }
                Ok(Some(problem.alpha_of(start[p].iter().map(|&(row, coef)| (place[row], coef)))))
            }
            WarmStart::Alpha(c, alpha) => {
                let Some(alpha) = alpha.get(p).filter(|alpha| !alpha.is_empty()) else { return Ok(None) };
                let old = self.study.problem(&self.layout.parts[p], self.study.formulation.with_c(c))?;
                Ok((alpha.len() == old.dual().len()).then(|| maxmargin_core::warm::along_c(old.dual(), alpha, problem.dual())))
            }
        }
    }

    fn run(&self, spaces: &Spaces, p: usize, taken: OnOutcome) -> Result<(), CvError> {
        let part = &self.layout.parts[p];
        let folds = self.layout.folds_of(part, self.plan);
        spaces.with(part, |space, new_work| self.values_in(space, new_work, (&folds, p), taken))
    }

    fn values_in(
        &self,
        space: maxmargin_kernel::Space,
        new_work: &RowWorkDelta,
        (folds, p): (&[HeldOut], usize),
        taken: OnOutcome,
    ) -> Result<(), CvError> {
        let study = self.study;
        // Machines of some samples have rows of their own and one thread; others share rows with
        // whoever runs beside them.
        let own = self.layout.parts[p].rows.len() < self.layout.original.len();
        let threads = if own { 1 } else { study.par.threads() as u64 };
        // Exact paths share what rows leave: the one of all data, and one of a fold on each thread.
        let path_memory = space.rows().map_or(0, Rows::room) / (threads + 1);
        let mut before: Option<(maxmargin_core::Dual, Vec<f64>)> = None;
        let rule = study.rule();
        let wrong = |fold: usize, decisions: &[f64]| {
            let (held, samples) = (&folds[fold], &self.layout.parts[p].rows);
            let truth = |row: usize| study.data.labels[self.layout.original[samples[row]]];
            let before = held.round * samples.len();
            let label = |row: usize| self.classes.label(fold, &rule, &decisions[before + row..=before + row]);
            held.test.iter().filter(|&&row| label(row) != truth(row)).count()
        };
        let mut most = self.most.filter(|_| self.layout.parts.len() == 1 && study.classes.is_some());
        for (row, step) in self.steps.iter().enumerate() {
            let (part, formulation) = (&self.layout.parts[p], study.formulation.with_c(step.c));
            let problem = part.problem(formulation, self.factors.all())?;
            let dual = problem.dual();
            let seeded = matches!(dual.balance(), EqualityConstraint::Sum(_)) && dual.ridge() == 0.0;
            let along = before.take().map(|(old, alpha)| maxmargin_core::warm::along_c(&old, &alpha, dual));
            let known = step.from.map_or(Ok(None), |from| self.known(&problem, from, p))?;
            let start = known.or(along);
            let trainer = Trainer {
                problem: &problem,
                machine: p,
                space,
                seeds: space.rows().filter(|_| seeded).map(|rows| (RowBoxes::new(dual, space.len()), rows)),
                folds,
                boxes: FoldBoxes { part, formulation, classes: self.classes, factors: self.factors },
                solver: study.solver,
                seeding: self.seeding,
                stop: study.stop,
                par: self.par,
                watch: self.watch,
                deadline: self.deadline,
                path_memory,
                begun: self.begun,
                keep: self.layout.parts.len() > 1,
                prune: most.map(|most| Prune { most, wrong: &wrong }),
                done: AtomicUsize::new(0),
                stopped: AtomicBool::new(false),
            };
            let mut outcome = match trainer.run(start.as_deref()) {
                // The values that came before are all there is.
                Err(CvError::Ended(_)) if row > 0 => break,
                other => other?,
            };
            outcome.complete(&trainer);
            outcome.number(p);
            let stopped = trainer.stopped.load(Ordering::Relaxed);
            let alpha = outcome.full.as_ref().map(|full| full.alpha.clone());
            if let Some(most) = most.as_mut().filter(|_| outcome.converged()) {
                *most = (0..folds.len()).map(|fold| wrong(fold, &outcome.decisions)).sum::<usize>().min(*most);
            }
            drop(trainer);
            self.finished.fetch_add(1, Ordering::Relaxed);
            taken(row, outcome, new_work.take());
            before = alpha.map(|alpha| (dual.clone(), alpha));
            if stopped && self.steps.len() > 1 {
                break;
            }
        }
        Ok(())
    }
}
