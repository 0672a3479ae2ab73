//! The folds of one machine, for one value of C after the other.

use crate::folds::carried::CarriedMachines;
use crate::folds::fold_classes::FoldClasses;
use crate::folds::fold_factors::{FoldBoxes, FoldFactors};
use crate::folds::outcome::Outcome;
use crate::folds::trainer::{Prune, Trainer};
use crate::plan::FoldPlan;
use crate::run::control::status_of;
use crate::run::error::CvError;
use crate::seed::Seeding;
use crate::seed::bounded::BoundedSums;
use crate::seed::row_boxes::RowBoxes;
use crate::study::Study;
use crate::study::layout::{HeldOut, MachineLayout, MachineSamples};
use crate::study::level_chain::LevelChain;
use crate::study::matching::Terms;
use crate::study::spaces::{RowWorkDelta, Spaces};
use maxmargin_core::{Dual, EqualityConstraint, Formulation, Problem, RunControl, warm};
use maxmargin_data::{Cancelled, Par};
use maxmargin_kernel::{RowWork, Rows, Space};
use maxmargin_model::Rule;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

/// A value of C, and a known solution from which the machines of all data start. Without one they
/// start from the solution of the previous value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) c: f64,
    pub(crate) from: Option<WarmStart<'a>>,
}

/// A known solution of all data, with one entry for each machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarmStart<'a> {
    /// Row of the data and coefficient of every support vector, at the same value of C.
    Terms(&'a [Terms]),
    /// A value of C, and α of every variable
    /// ([`Finished::alpha`](crate::report::finished::Finished::alpha)) at it. A machine with empty
    /// α has no known solution.
    Alpha(f64, &'a [Vec<f64>]),
}

/// Callback for the outcome of one machine at one value of C: the value's index, the outcome, and
/// the work on kernel rows.
type OnOutcome<'a> = &'a dyn Fn(usize, Outcome, RowWork);

/// The folds of one machine, for every value of C.
pub(crate) struct MachineRun<'a> {
    pub(crate) study: &'a Study<'a>,
    pub(crate) layout: &'a MachineLayout,
    /// The index of the machine in the layout.
    pub(crate) index: usize,
    pub(crate) factors: &'a FoldFactors,
    pub(crate) classes: &'a FoldClasses,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) seeding: Seeding,
    pub(crate) steps: &'a [Step<'a>],
    /// Set if the steps are some of several values of C, or may be later.
    pub(crate) is_along_c: bool,
    /// A cell with more errors than this is pruned.
    pub(crate) max_errors: Option<usize>,
    /// Set if machines of folds are kept after the run.
    pub(crate) keeps_machines: bool,
    /// Set if certificates count the labels that their gap fixes.
    pub(crate) counts_fixed_labels: bool,
    pub(crate) begun: std::time::Instant,
    pub(crate) par: Par,
    /// The control of the study, and of this machine.
    pub(crate) study_control: &'a RunControl<'a>,
    pub(crate) control: &'a RunControl<'a>,
    /// Counts machines and values that are done.
    pub(crate) finished: &'a AtomicUsize,
    /// The machine of the last level at the first value of C, if there are several levels.
    pub(crate) chain: Option<&'a LevelChain>,
}

impl MachineRun<'_> {
    /// Runs all folds at every value of C, and calls `on_outcome` after each value.
    pub(crate) fn run(&self, spaces: &Spaces, on_outcome: OnOutcome) -> Result<(), CvError> {
        let folds = self.layout.folds_of(self.machine(), self.plan);
        spaces.with(self.machine(), |space, new_work| {
            if self.study.solver.uses_neighbours() {
                let found = spaces.find_own_neighbours(space, self.control);
                found.map_err(|Cancelled| CvError::Ended(status_of(self.control)))?;
            }
            self.values_in(space, new_work, &folds, on_outcome)
        })
    }

    fn machine(&self) -> &MachineSamples {
        &self.layout.machines[self.index]
    }

    fn values_in(&self, space: Space, new_work: &RowWorkDelta, folds: &[HeldOut], on_outcome: OnOutcome) -> Result<(), CvError> {
        let path_memory = self.path_memory(space);
        let rule = self.study.rule();
        let errors_of = |fold: usize, decisions: &[f64]| self.errors(&rule, folds, fold, decisions);
        let mut max_errors = self.max_errors.filter(|_| self.layout.machines.len() == 1 && self.study.classes.is_some());
        let mut previous: Option<(Dual, Vec<f64>)> = None;
        let mut carried = CarriedMachines::default();
        let mut bounded = self.bounded_sums(space, folds)?;
        let _reserved = bounded.as_ref().zip(space.rows()).map(|(sums, rows)| rows.reserve(sums.bytes(space.len())));
        for (value, step) in self.steps.iter().enumerate() {
            let formulation = self.study.formulation.with_c(step.c);
            let problem = self.machine().problem(formulation, self.factors.all())?;
            let dual = problem.dual();
            let start = self.start(&problem, step, previous.take())?;
            let prune = max_errors.map(|max_errors| Prune { max_errors, errors_of: &errors_of });
            let trainer = Trainer {
                bounded: RwLock::new(bounded.take()),
                carried: std::mem::take(&mut carried),
                carries: value + 1 < self.steps.len(),
                ..self.trainer(&problem, formulation, space, folds, path_memory, prune)
            };
            let mut outcome = match trainer.run(start.as_deref()) {
                // The run has ended. The outcomes of the previous values are reported.
                Err(CvError::Ended(_)) if value > 0 => break,
                other => other?,
            };
            outcome.complete(&trainer);
            outcome.number(self.index);
            let stopped = trainer.stopped.load(Ordering::Relaxed);
            if let (0, Some(chain), Some(full)) = (value, self.chain, &outcome.full) {
                chain.put(dual, &full.alpha, full.decisions.clone());
            }
            let alpha = outcome.full.as_ref().map(|full| full.alpha.clone());
            carried = std::mem::take(&mut outcome.carried);
            outcome.carried_values = carried.values();
            if let Some(most) = max_errors.as_mut().filter(|_| outcome.converged()) {
                *most = (0..folds.len()).map(|fold| errors_of(fold, &outcome.decisions)).sum::<usize>().min(*most);
            }
            bounded = trainer.bounded.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.finished.fetch_add(1, Ordering::Relaxed);
            on_outcome(value, outcome, new_work.take());
            previous = alpha.map(|alpha| (dual.clone(), alpha));
            if stopped && self.steps.len() > 1 {
                break;
            }
        }
        Ok(())
    }

    /// Kernel sums of bounded samples, if the folds start from the machine of all data at each of
    /// several values of C, and have its boxes.
    fn bounded_sums(&self, space: Space, folds: &[HeldOut]) -> Result<Option<BoundedSums>, CvError> {
        let is_plain = self.seeding == Seeding::Full && (0..folds.len()).all(|h| !self.boxes(self.study.formulation).differ(h));
        if !self.is_along_c || !is_plain || self.study.formulation.c().is_none() {
            return Ok(None);
        }
        let unit = self.machine().problem(self.study.formulation.with_c(1.0), self.factors.all())?;
        let out: Vec<&[usize]> = folds.iter().map(|fold| &fold.out[..]).collect();
        let room = space.rows().map_or(0, Rows::room);
        Ok(BoundedSums::new(unit.dual(), &out, space.len()).filter(|bounded| bounded.bytes(space.len()) <= room / 2))
    }

    fn boxes(&self, formulation: Formulation) -> FoldBoxes<'_> {
        FoldBoxes { machine: self.machine(), formulation, classes: self.classes, factors: self.factors }
    }

    /// Errors in the test samples of a fold, by the decision values of all rounds.
    fn errors(&self, rule: &Rule, folds: &[HeldOut], fold: usize, decisions: &[f64]) -> usize {
        let (held_out, samples) = (&folds[fold], &self.machine().rows);
        let truth = |row: usize| self.study.data.labels[self.layout.data_row[samples[row]]];
        let before = held_out.round * samples.len();
        let label = |row: usize| self.classes.label(fold, rule, &decisions[before + row..=before + row]);
        held_out.test.iter().filter(|&&row| label(row) != truth(row)).count()
    }

    /// α of all data at which `problem` starts: from the step's known solution, from the solution
    /// of the previous value of C, or from that of the last level.
    fn start(&self, problem: &Problem, step: &Step, previous: Option<(Dual, Vec<f64>)>) -> Result<Option<Vec<f64>>, CvError> {
        let along = previous.map(|(old, alpha)| warm::along_c(&old, &alpha, problem.dual()));
        let along = along.or_else(|| self.chain.and_then(|chain| chain.start(problem.dual())));
        let known = step.from.map_or(Ok(None), |from| self.known(problem, from))?;
        Ok(known.or(along))
    }

    /// α of all data from a known solution, if that has one of this machine.
    fn known(&self, problem: &Problem, from: WarmStart) -> Result<Option<Vec<f64>>, CvError> {
        match from {
            WarmStart::Terms(start) => {
                let mut place = vec![usize::MAX; self.layout.data_row.len()];
                for (own, &at) in self.machine().rows.iter().enumerate() {
                    place[self.layout.data_row[at]] = own;
                }
                Ok(Some(problem.alpha_of(start[self.index].iter().map(|&(row, coef)| (place[row], coef)))))
            }
            WarmStart::Alpha(c, alpha) => {
                let Some(alpha) = alpha.get(self.index).filter(|alpha| !alpha.is_empty()) else { return Ok(None) };
                let old = self.study.problem(self.machine(), self.study.formulation.with_c(c))?;
                Ok((alpha.len() == old.dual().len()).then(|| warm::along_c(old.dual(), alpha, problem.dual())))
            }
        }
    }

    /// The trainer of this machine at one value of C.
    fn trainer<'t>(
        &'t self,
        problem: &'t Problem,
        formulation: Formulation,
        space: Space<'t>,
        folds: &'t [HeldOut],
        path_memory: u64,
        prune: Option<Prune<'t>>,
    ) -> Trainer<'t> {
        let dual = problem.dual();
        // Paper seeds are made for problems with a sum constraint and without a ridge.
        let seeded = matches!(dual.balance(), EqualityConstraint::Sum(_)) && dual.ridge() == 0.0;
        Trainer {
            problem,
            machine: self.index,
            space,
            seeds: space.rows().filter(|_| seeded).map(|rows| (RowBoxes::new(dual, space.len()), rows)),
            folds,
            boxes: self.boxes(formulation),
            solver: self.study.solver,
            seeding: self.seeding,
            stop: self.study.stop,
            par: self.par,
            study_control: self.study_control,
            control: self.control,
            path_memory,
            begun: self.begun,
            keep: self.keeps_machines || self.layout.machines.len() > 1,
            counts_fixed_labels: self.counts_fixed_labels,
            prune,
            bounded: RwLock::default(),
            carried: CarriedMachines::default(),
            carries: false,
            done: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Bytes for one exact path. Paths share the memory that kernel rows leave: the path of all
    /// data, and the path of a fold on each thread.
    fn path_memory(&self, space: Space) -> u64 {
        // A machine of some samples has its own rows and runs on one thread. Machines of all
        // samples share rows with those that run in parallel.
        let own_rows = self.machine().rows.len() < self.layout.data_row.len();
        let threads = if own_rows { 1 } else { self.study.options.par.threads() as u64 };
        space.rows().map_or(0, Rows::room) / (threads + 1)
    }
}
