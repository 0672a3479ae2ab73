//! Trainings of a linear SVM with L1 loss and no bias, by our solvers or by LIBLINEAR's program,
//! all compared with the same bound.

mod bound;
mod liblinear;

use super::contender::{MeasuredSolver, Training};
use crate::cell::job::{Data, Train};
use crate::failure::Failure;
use crate::measured::{LinearFigures, Measured};
use bound::Bound;
use maxmargin::core::{BiasTerm, Dual, EqualityConstraint, Formulation, Loss, Reason, Refused, Run, Solve, Solved, Start};
use maxmargin::data::{BinaryLabels, ClassLabels, Dataset, Par};
use maxmargin::kernel::Space;
use maxmargin::linear::{Config, Linear, LinearWork, Method, adapt, solve};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A problem of two classes and the cell that it belongs to.
pub(crate) struct Problem<'a> {
    cell: &'a Train,
    data: &'a Dataset,
    labels: BinaryLabels,
    par: Par,
}

/// The result of LIBLINEAR's program.
struct LiblinearResult {
    /// One weight a feature; absent for a program that was stopped.
    w: Option<Vec<f64>>,
    train_seconds: Option<f64>,
    process_seconds: f64,
    sweeps: Option<u64>,
    status: String,
    support_vectors: usize,
}

/// A linear method that stops by its own rule, as LIBLINEAR does. The product's solver continues
/// until its certificate holds.
pub(crate) struct OwnRule {
    usual: Linear,
    shrinking: Option<bool>,
    /// True if adaptation is timed by itself.
    clocks: bool,
    /// Sums over all machines.
    work: Mutex<LinearWork>,
    /// The input of each machine's timed adaptation.
    adapted: Mutex<Vec<Adapted>>,
}

/// Steps of a training and the gain of a step on each variable: 1 where the solution is between its
/// bounds, 0 elsewhere.
struct Adapted {
    steps: u64,
    gains: Vec<f64>,
}

impl Adapted {
    fn of(dual: &Dual, alpha: &[f64], steps: u64) -> Self {
        let gain = |(a, upper): (&f64, &f64)| f64::from(u8::from(0.0 < *a && a < upper));
        Self { steps, gains: alpha.iter().zip(dual.upper()).map(gain).collect() }
    }

    /// Returns the seconds of schedules and preferences for so many steps, without the steps.
    fn seconds(&self, seed: u64) -> f64 {
        let begun = Instant::now();
        let made = adapt(&self.gains, self.steps, seed);
        begun.elapsed().as_secs_f64() * self.steps as f64 / made.max(1) as f64
    }
}

impl OwnRule {
    pub(crate) fn of(method: Method, cell: &Train) -> Self {
        let (usual, clocks) = (Linear { method, seed: cell.setting.seed }, cell.linear.adaptation && method == Method::Avsf);
        Self { usual, shrinking: cell.linear.shrinking, clocks, work: Mutex::default(), adapted: Mutex::default() }
    }

    fn adaptation_seconds(&self) -> f64 {
        let adapted = self.adapted.lock().unwrap_or_else(PoisonError::into_inner);
        adapted.iter().map(|adapted| adapted.seconds(self.usual.seed)).sum()
    }
}

impl Solve for OwnRule {
    fn name(&self) -> &'static str {
        self.usual.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.usual.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.usual.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let matrix = space.matrix().ok_or_else(|| Refused::new(self.name(), Reason::NoFeatures))?;
        let Linear { method, seed } = self.usual;
        let config = Config { method, seed, shrinking: self.shrinking, par: run.par };
        let found =
            solve(matrix, dual, start, &config, &run.stop, run.control).map_err(|error| Refused::failed(self.name(), &error))?;
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) += found.work;
        if self.clocks {
            let adapted = Adapted::of(dual, &found.solution.alpha, found.work.steps);
            self.adapted.lock().unwrap_or_else(PoisonError::into_inner).push(adapted);
        }
        Ok(Solved { solution: found.solution, exact: true, counts: Vec::new() })
    }
}

impl MeasuredSolver for OwnRule {
    fn formulation(&self, c: f64) -> Formulation {
        Formulation::Svc { c, loss: Loss::Hinge, bias_term: BiasTerm::None }
    }

    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        let Training { cell, data, fitted, .. } = *training;
        let work = *self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = training.classes.and_then(ClassLabels::binary);
        let judged = labels.map(|labels| {
            let mut w = vec![0.0; data.samples.features()];
            fitted.model.parts().support.row(0).for_each(|feature, weight| w[feature] = weight);
            Problem { cell, data, labels, par: training.par }.judge(Some(&w))
        });
        measured.iterations = Some(work.steps);
        measured.linear = Some(LinearFigures {
            train_seconds: Some(fitted.solve_seconds),
            process_seconds: training.process_seconds,
            limit_seconds: cell.setting.time_limit_seconds,
            sweeps: Some(work.sweeps),
            work: Some(work),
            adaptation_seconds: self.clocks.then(|| self.adaptation_seconds()),
            ..judged.transpose()?.unwrap_or_default()
        });
        Ok(())
    }
}

/// Trains by LIBLINEAR's program on the file of `data`.
pub(crate) fn program(cell: &Train, source: &Data, data: &Dataset, classes: &ClassLabels, par: Par) -> Result<Measured, Failure> {
    let begun = Instant::now();
    let (Data::File { file }, Some(labels)) = (source, classes.binary()) else {
        return Err(Failure::outside(liblinear::PROGRAM, "it is measured on files of two classes"));
    };
    let problem = Problem { cell, data, labels, par };
    let found = liblinear::train(&problem, file)?;
    let total_seconds = begun.elapsed().as_secs_f64();
    Ok(Measured {
        objective: f64::NAN,
        kkt: f64::NAN,
        relative_gap: f64::NAN,
        support_vectors: found.support_vectors,
        status: found.status,
        solve_seconds: found.train_seconds.unwrap_or(found.process_seconds),
        total_seconds,
        linear: Some(LinearFigures {
            train_seconds: found.train_seconds,
            process_seconds: found.process_seconds,
            limit_seconds: cell.setting.time_limit_seconds,
            sweeps: found.sweeps,
            ..problem.judge(found.w.as_deref())?
        }),
        ..Measured::default()
    })
}

impl Problem<'_> {
    fn dual(&self) -> Result<Dual, Failure> {
        let n = self.labels.signs.len();
        let (linear_term, upper) = (vec![-1.0; n], vec![self.cell.setting.c; n]);
        Ok(Dual::new((0..n).collect(), self.labels.signs.clone(), linear_term, upper, 0.0, EqualityConstraint::Free)?)
    }

    /// Returns the objective of w and its distance from the optimum.
    fn judge(&self, w: Option<&[f64]>) -> Result<LinearFigures, Failure> {
        let primal = w.map(|w| self.primal(w));
        let bound = self.cell.linear.bound_gap.map(|gap| bound::of(self, gap)).transpose()?;
        let excess = |(primal, Bound { dual, .. })| if primal > 0.0 { (primal - dual) / primal } else { 0.0 };
        Ok(LinearFigures {
            primal,
            bound: bound.map(|bound| bound.dual),
            bound_gap: bound.map(|bound| bound.relative_gap),
            excess: primal.zip(bound).map(excess),
            ..LinearFigures::default()
        })
    }

    /// Returns `½‖w‖² + C Σ max(0, 1 − y w · x)`. Features without an entry in `w` have weight 0.
    fn primal(&self, w: &[f64]) -> f64 {
        let samples = &self.data.samples;
        let loss = |i: usize| {
            let mut product = 0.0;
            samples.row(i).for_each(|j, value| product += value * w.get(j).copied().unwrap_or(0.0));
            (1.0 - self.labels.signs[i] * product).max(0.0)
        };
        0.5 * w.iter().map(|v| v * v).sum::<f64>() + self.cell.setting.c * (0..samples.len()).map(loss).sum::<f64>()
    }
}
