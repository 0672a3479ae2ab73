//! A smooth validation loss as a function of C and γ, and its gradient.

use crate::folds::fold_classes::FoldClasses;
use crate::folds::fold_factors::{FoldBoxes, FoldFactors};
use crate::plan::FoldPlan;
use crate::run::control::{status_of, study_control, study_error, training_control};
use crate::run::error::CvError;
use crate::search::gradient::sensitivity::{GradientParameters, Moved, Sensitivity};
use crate::study::Study;
use crate::study::layout::{HeldOut, MachineLayout};
use crate::study::prepared_data::check_factors;
use crate::study::space_source::{Prepared, SpaceSource};
use maxmargin_core::{Cancelled, Dual, Problem, Progress, Refine, Run, RunControl, Stage, Start, Status, warm};
use maxmargin_data::{Par, Samples, scale::Scaler};
use maxmargin_kernel::{Kernel, Space};
use maxmargin_model::Calibration;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The loss of a cross-validation at some C and γ: Platt's loss ([`Calibration::platt_loss`]) of
/// the out-of-fold decision values.
#[derive(Clone, Debug, PartialEq)]
pub struct Smooth {
    /// The mean over all tested samples, in nats.
    pub loss: f64,
    /// The derivatives by log C, and by log γ or by log γ of each feature.
    pub gradient: Vec<f64>,
    /// Solver iterations of all folds.
    pub iterations: u64,
    /// The worst status of the folds.
    pub status: Status,
}

/// The validation loss of a study as a function of its parameters. Each fold keeps its last
/// solution, from which its next training starts.
pub struct SmoothLoss<'a> {
    study: Study<'a>,
    layout: MachineLayout,
    folds: Vec<HeldOut>,
    factors: FoldFactors,
    classes: FoldClasses,
    /// The prepared samples: one entry for all folds, or one for each fold if their training sets
    /// are prepared differently.
    grounds: Vec<Prepared<'a>>,
    last: Vec<Option<(Dual, Vec<f64>)>>,
    begun: Instant,
}

/// The result of one fold.
struct FoldResult {
    solved: (Dual, Vec<f64>),
    moved: Moved,
    iterations: u64,
    status: Status,
}

impl<'a> SmoothLoss<'a> {
    /// The loss over the folds of `plan`. C and γ of the study are ignored.
    ///
    /// # Errors
    ///
    /// When the study is no C-SVC of two classes with the hinge loss, a free bias and a Gaussian
    /// kernel; when its data cannot be prepared, or the plan is for other data.
    pub fn new(study: Study<'a>, plan: &FoldPlan) -> Result<Self, CvError> {
        let refused = |why: &str| Err(CvError::Search { option: "gradient", why: why.to_owned() });
        if plan.len() != study.data.samples.len() {
            return Err(CvError::Plan { plan: plan.len(), data: study.data.samples.len() });
        }
        if !matches!(study.options.kernel, Kernel::Rbf { .. }) {
            return refused("derivatives are those of the Gaussian kernel; use that kernel, or leave it out");
        }
        if !study.is_c_svc() {
            return refused("derivatives are those of C-SVC with the hinge loss and a free bias; leave it out");
        }
        if study.classes.is_none_or(|classes| classes.count() != 2) {
            return refused("the loss is that of one machine which tells two classes apart; leave it out");
        }
        if plan.folds() == plan.len() {
            return refused("with one sample a fold every step costs a training a sample; use fewer folds");
        }
        study.over_features()?;
        let study = Study { gamma: None, ..study };
        let grounds = match study.shared(plan)? {
            Some(whole) => vec![whole],
            None => (0..plan.folds()).map(|fold| study.prepared_by(&plan.train(fold))).collect::<Result<_, _>>()?,
        };
        let layout = study.layout(Some(plan));
        let (folds, factors, classes) = (layout.folds(plan), study.fold_factors(plan), study.fold_classes(plan));
        if (0..folds.len()).all(|fold| classes.some(fold).is_some()) {
            return refused("no training set has both classes; use other folds, such as stratified ones");
        }
        let (begun, last) = (Instant::now(), folds.iter().map(|_| None).collect());
        Ok(Self { study, layout, folds, factors, classes, grounds, last, begun })
    }

    /// Number of features that the kernel sees.
    pub fn features(&self) -> usize {
        self.grounds.iter().map(|ground| ground.samples.features()).max().unwrap_or(0)
    }

    /// The loss and its gradient at these parameters.
    ///
    /// # Errors
    ///
    /// When a training set is no valid problem, a parameter is out of range, or the run ended
    /// before all folds were solved.
    pub fn at(&mut self, c: f64, gamma: f64, control: &RunControl) -> Result<Smooth, CvError> {
        self.evaluate(c, gamma, None, control)
    }

    /// The loss with features multiplied by further factors. The derivatives are by log C, and by
    /// the logarithm of γ times the squared factor of each feature.
    ///
    /// # Errors
    ///
    /// As [`SmoothLoss::at`], and when the number of positive factors is not the number of
    /// features.
    pub fn at_features(&mut self, c: f64, gamma: f64, factors: &[f64], control: &RunControl) -> Result<Smooth, CvError> {
        check_factors(factors, self.features())?;
        self.evaluate(c, gamma, Some(factors), control)
    }

    fn evaluate(&mut self, c: f64, gamma: f64, factors: Option<&[f64]>, control: &RunControl) -> Result<Smooth, CvError> {
        let kernel = Kernel::rbf(gamma).checked()?;
        let (machine, formulation) = (&self.layout.machines[0], self.study.formulation.with_c(c));
        let problem = machine.problem(formulation, self.factors.all())?;
        let done = AtomicUsize::new(0);
        let control = study_control(control, self.begun, &self.study.stop);
        let par = self.study.options.par;
        // A fold that lacks one of the classes has no machine, and adds nothing to the loss.
        let open: Vec<usize> = (0..self.folds.len()).filter(|&h| self.classes.some(h).is_none()).collect();
        let count = open.len();
        let found: Vec<Result<FoldResult, CvError>> = {
            let this = &*self;
            let boxes = FoldBoxes { machine, formulation, classes: &this.classes, factors: &this.factors };
            let run = Evaluation { of: this, problem: &problem, boxes, gamma, factors, control: &control, done: &done };
            if let [shared] = &this.grounds[..] {
                let (source, samples) = run.source(shared, &kernel)?;
                let all = |space: Space| par.map(count, |at| run.fold(open[at], space, samples.as_ref()));
                source.with_space(machine, None, this.study.memory, par, true, all).0
            } else {
                let memory = this.study.memory / par.threads() as u64;
                par.map(count, |at| {
                    let h = open[at];
                    let (source, samples) = run.source(&this.grounds[h], &kernel)?;
                    let one = |space: Space| run.fold(h, space, samples.as_ref());
                    source.with_space(machine, None, memory, Par::Seq, true, one).0
                })
            }
        };
        let found = found.into_iter().collect::<Result<Vec<FoldResult>, CvError>>()?;
        let target = &machine.target;
        let later: Vec<bool> = open.iter().flat_map(|&h| &self.folds[h].test).map(|&row| target[row] > 0.0).collect();
        let decisions: Vec<f64> = found.iter().flat_map(|fold| &fold.moved.decisions).copied().collect();
        let (loss, slopes) = Calibration::platt_loss(&decisions, &later)?;
        let count = 1 + factors.map_or(1, <[f64]>::len);
        let mut gradient = vec![0.0; count];
        let derivatives = found.iter().flat_map(|fold| fold.moved.derivatives.chunks_exact(count));
        for (slope, row) in slopes.iter().zip(derivatives) {
            gradient.iter_mut().zip(row).for_each(|(sum, own)| *sum += slope * own);
        }
        let iterations = found.iter().map(|fold| fold.iterations).sum();
        let status = found.iter().map(|fold| fold.status).reduce(Status::worse).unwrap_or(Status::Converged);
        open.into_iter().zip(found).for_each(|(h, fold)| self.last[h] = Some(fold.solved));
        Ok(Smooth { loss, gradient, iterations, status })
    }
}

/// The evaluation of all folds at some parameters.
struct Evaluation<'e, 'a> {
    of: &'e SmoothLoss<'a>,
    problem: &'e Problem,
    boxes: FoldBoxes<'e>,
    gamma: f64,
    factors: Option<&'e [f64]>,
    control: &'e RunControl<'e>,
    done: &'e AtomicUsize,
}

impl Evaluation<'_, '_> {
    /// The kernel matrix, and its samples if every feature has its own width.
    fn source<'s>(&self, ground: &Prepared<'s>, kernel: &Kernel) -> Result<(SpaceSource<'s>, Option<Samples>), CvError> {
        let layout = &self.of.layout;
        let at = |ground: &Prepared, kernel: &Kernel| {
            SpaceSource::at(ground, kernel, layout, self.of.study.options.par, self.control)
                .map_err(|error| study_error(self.control, error))
        };
        let Some(factors) = self.factors else { return Ok((at(ground, kernel)?, None)) };
        let stretched = Scaler::stretched(None, factors).apply(&ground.samples)?;
        let (preparation, kernel) = (ground.preparation.clone(), kernel.clone());
        let ground = Prepared { preparation, samples: Cow::Owned(stretched), kernel };
        let samples = ground.samples.select(&layout.data_row);
        Ok((at(&ground, &ground.kernel)?, Some(samples)))
    }

    /// Tags an event of a solver with its fold.
    fn tag(&self, h: usize, progress: &Progress) -> Progress {
        Progress { stage: Stage::Fold(h), done: self.done.load(Ordering::Relaxed), total: self.of.folds.len(), ..*progress }
    }

    /// Trains fold `h` from its last solution, and computes derivatives of its test decision
    /// values.
    fn fold(&self, h: usize, space: Space, samples: Option<&Samples>) -> Result<FoldResult, CvError> {
        let (of, held_out) = (self.of, &self.of.folds[h]);
        let mut takes_part = vec![true; space.len()];
        held_out.out.iter().for_each(|&i| takes_part[i] = false);
        let own = if self.boxes.differ(h) { Some(self.boxes.problem(h)?) } else { None };
        let problem = own.as_ref().unwrap_or(self.problem);
        let dual = problem.of_samples(|i| takes_part[i]).map_err(|source| CvError::Fold { fold: h, source })?;
        let dual = dual.taking_part().map_or(dual, |part| part.0);
        let last = of.last[h].as_ref();
        let start = last.and_then(|(old, alpha)| Start::checked(&dual, warm::along_c(old, alpha, &dual)).ok());
        let start = start.map_or_else(|| Start::cold(&dual), Ok)?;
        let control = training_control(self.control, space, Par::Seq, move |progress| self.tag(h, progress));
        let stop = of.study.stop.left(of.begun, 0);
        let mut run = Run { stop, refine: Refine::Exact, par: Par::Seq, machine: 0, control: &control };
        let solved = of.study.solver.solve(&dual, space, start, &mut run)?;
        let solution = solved.solution;
        if solution.status.ended_early() {
            return Err(CvError::Ended(solution.status));
        }
        let control = self.control.child(move |_| {
            let (tol, rows_computed) = (stop.goal.tol(), space.rows_computed());
            self.tag(h, &Progress { tol, rows_computed, ..Progress::default() })
        });
        let gram = space.rows().expect("a Gaussian kernel has rows").gram();
        let parameters =
            samples.map_or(GradientParameters::Common, |samples| GradientParameters::Features { samples, gamma: self.gamma });
        let moved = Sensitivity::new(gram, &dual, &solution, &control)
            .and_then(|sensitivity| sensitivity.of_rows(&held_out.test, parameters, &control))
            .map_err(|Cancelled| CvError::Ended(status_of(self.control)))?;
        self.done.fetch_add(1, Ordering::Relaxed);
        Ok(FoldResult { moved, iterations: solution.work.iterations, status: solution.status, solved: (dual, solution.alpha) })
    }
}
