//! The report of a cross-validation as it grows, fold by fold.

use crate::engine::Engine;
use crate::problem::{Order, Pool};
use crate::report::{CvReport, FoldReport, FullReport, counts};
use crate::task::Task;
use maxmargin_core::{Dual, Solution};
use std::ops::Range;

/// The decision function of one fold: sorted positions and coefficients of its support vectors, and the bias.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoldModel {
    pub(crate) terms: Vec<(usize, f64)>,
    pub(crate) bias: f64,
}

impl FoldModel {
    /// The decision function of a solution.
    pub(crate) fn of(dual: &Dual, solution: &Solution) -> Self {
        let term = |k: usize| (solution.alpha[k] != 0.0).then(|| (dual.ids()[k], dual.sign()[k] * solution.alpha[k]));
        Self { terms: (0..dual.len()).filter_map(term).collect(), bias: solution.bias }
    }
}

/// Reports of the folds that are done, and exact decision values of their test samples.
pub(crate) struct Outcome<'a> {
    order: &'a Order,
    /// The decision function of each fold, where they are kept.
    pub(crate) models: Option<Vec<FoldModel>>,
    folds: Vec<Option<FoldReport>>,
    /// In sorted order.
    decisions: Vec<f64>,
    full: Option<Full>,
    pub(crate) certify_seconds: f64,
}

/// The model of all data and what it says of every sample.
struct Full {
    report: FullReport,
    /// Exact decision values, in sorted order.
    decisions: Vec<f64>,
    support_vectors: usize,
    bounded: usize,
    model: Option<FoldModel>,
}

impl<'a> Outcome<'a> {
    /// Nothing yet; `keep` tells whether decision functions are wanted.
    pub(crate) fn new(order: &'a Order, keep: bool) -> Self {
        let (folds, samples) = (order.folds(), order.original().len());
        let models = keep.then(|| vec![FoldModel::default(); folds]);
        Self { order, models, folds: vec![None; folds], decisions: vec![0.0; samples], full: None, certify_seconds: 0.0 }
    }

    /// Whether fold `h` has been reported.
    pub(crate) fn has(&self, h: usize) -> bool {
        self.folds[h].is_some()
    }

    /// Takes the judged model of all data.
    pub(crate) fn set_full(&mut self, order: &Order, task: &Task) {
        let audit = task.audit.as_ref().expect("judged before it is reported");
        let (support_vectors, bounded) = counts(&task.dual, &task.solution.alpha);
        let report = FullReport {
            status: task.solution.status,
            iterations: task.solution.work.iterations,
            rows_computed: task.solution.work.rows_computed,
            solve_seconds: task.solve_seconds,
            objective: -audit.certificate.dual,
            certificate: audit.certificate.into(),
            alpha: order.restore(&task.solution.alpha),
            bias: task.solution.bias,
        };
        let model = self.models.is_some().then(|| FoldModel::of(&task.dual, &task.solution));
        self.full = Some(Full { report, decisions: audit.decisions.clone(), support_vectors, bounded, model });
    }

    /// Takes a judged fold.
    pub(crate) fn add(&mut self, task: &Task, pool: &Pool) {
        let Some(fold) = task.fold else { return };
        let audit = task.audit.as_ref().expect("judged before it is reported");
        let correct = self.decide(task.hidden.clone(), &audit.decisions, pool);
        let judged = FoldReport::of(fold, &task.dual, &task.solution, audit, (task.hidden.len(), correct));
        if let Some(models) = &mut self.models {
            models[fold] = FoldModel::of(&task.dual, &task.solution);
        }
        self.folds[fold] = Some(FoldReport {
            seed_steps: task.seed_steps,
            breakpoints: task.breakpoints,
            seed_seconds: task.seed_seconds,
            solve_seconds: task.solve_seconds,
            ..judged
        });
    }

    /// Takes a fold whose samples have no α in the model of all data: that model is its solution, with the same certificate.
    pub(crate) fn add_untouched(&mut self, fold: usize, hidden: Range<usize>, pool: &Pool) {
        let Some(full) = self.full.take() else { return };
        let correct = self.decide(hidden.clone(), &full.decisions, pool);
        self.folds[fold] = Some(FoldReport {
            fold,
            train: pool.labels.len() - hidden.len(),
            test: hidden.len(),
            status: full.report.status,
            iterations: 0,
            rows_computed: 0,
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            correct,
            objective: full.report.objective,
            support_vectors: full.support_vectors,
            bounded: full.bounded,
            certificate: full.report.certificate,
        });
        if let (Some(models), Some(model)) = (&mut self.models, &full.model) {
            models[fold] = model.clone();
        }
        self.full = Some(full);
    }

    /// Records the decision values of a test range; returns how many have the right sign.
    fn decide(&mut self, hidden: Range<usize>, decisions: &[f64], pool: &Pool) -> usize {
        self.decisions[hidden.clone()].copy_from_slice(&decisions[hidden.clone()]);
        hidden.filter(|&i| (decisions[i] >= 0.0) == (pool.labels[i] > 0.0)).count()
    }

    /// The whole report.
    pub(crate) fn finish(self, engine: &Engine) -> CvReport {
        let folds: Vec<FoldReport> = self.folds.into_iter().flatten().collect();
        let full = self.full.map(|full| full.report);
        let correct = folds.iter().map(|f| f.correct).sum();
        let iterations = folds.iter().map(|f| f.iterations).sum();
        let work = engine.rows.work();
        CvReport {
            accuracy: correct as f64 / self.decisions.len() as f64,
            correct,
            iterations,
            total_iterations: iterations + full.as_ref().map_or(0, |f| f.iterations),
            seed_steps: folds.iter().map(|f| f.seed_steps).sum(),
            folds,
            full,
            kernel_seconds: work.time.as_secs_f64(),
            certify_seconds: self.certify_seconds,
            total_seconds: engine.begun.elapsed().as_secs_f64(),
            rows_computed: work.computed,
            kernel_bytes: work.peak_bytes,
            decisions: self.order.restore(&self.decisions),
        }
    }
}
