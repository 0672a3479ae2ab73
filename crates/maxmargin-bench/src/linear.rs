//! One training of a linear SVM: L1 loss without bias, by one of our solvers or by LIBLINEAR's program, all judged alike.

mod bound;
mod liblinear;
mod source;

use crate::cell::{Cell, Failure, KernelName, Solver};
use crate::measured::Measured;
use bound::Bound;
use maxmargin::core::{Balance, Dual, Silent, Start, Stop};
use maxmargin::data::libsvm::{self, ReadOptions};
use maxmargin::data::{BinaryLabels, Dataset, Par};
use maxmargin::linear::{Config, LinearWork, Matrix, Method, solve};
use serde::Serialize;
use source::Source;
use std::time::{Duration, Instant};

/// What is measured of linear trainings alone.
#[derive(Debug, Serialize)]
pub(crate) struct Trained {
    /// Training alone, from parsed data to the solution; absent where a program does not say.
    train_seconds: Option<f64>,
    /// Reading the file included, and for a program its start and the writing of its model.
    process_seconds: f64,
    /// The limit that the run had, in seconds.
    limit_seconds: Option<f64>,
    /// Sweeps of coordinate descent.
    sweeps: Option<u64>,
    /// The counts of our solvers: `steps` are updates looked at, as the paper counts them.
    work: Option<LinearWork>,
    /// Objective of w, in `f64`; absent where there is no w.
    primal: Option<f64>,
    /// A certified dual objective of the problem: no primal objective is smaller.
    bound: Option<f64>,
    /// Relative duality gap of the solution that the bound comes from.
    bound_gap: Option<f64>,
    /// (primal − bound) / primal: how far w is from the optimum at most.
    excess: Option<f64>,
}

/// A problem and how it is to be solved.
pub(crate) struct Problem<'a> {
    cell: &'a Cell,
    source: &'a Source,
    data: &'a Dataset,
    labels: &'a BinaryLabels,
    par: Par,
}

/// What a solver gave.
struct Found {
    /// One weight a feature; absent for a program that was stopped.
    w: Option<Vec<f64>>,
    train_seconds: Option<f64>,
    process_seconds: f64,
    sweeps: Option<u64>,
    work: Option<LinearWork>,
    status: String,
    /// Of the solver's own α: dual objective, KKT violation, relative gap.
    own: Option<(f64, f64, f64)>,
    support_vectors: usize,
}

/// Whether the solver is one of these.
pub(crate) fn knows(solver: Solver) -> bool {
    method(solver).is_some() || solver == Solver::Liblinear
}

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    if cell.kernel != KernelName::Linear {
        return Err(Failure::LinearKernel);
    }
    // Every solver reads a file, so that whole processes compare.
    let source = Source::of(&cell.data)?;
    let begun = Instant::now();
    let bytes = std::fs::read(source.path()).map_err(|error| source.failure(error))?;
    let data = libsvm::parse(&bytes, &ReadOptions::default(), par)
        .map_err(|error| Failure::Parse { path: source.path().into(), source: error })?;
    drop(bytes);
    let read_seconds = begun.elapsed().as_secs_f64();

    let labels = BinaryLabels::new(&data.labels)?;
    let problem = Problem { cell, source: &source, data: &data, labels: &labels, par };
    let found = match method(cell.solver) {
        Some(method) => problem.ours(method, begun)?,
        None => liblinear::train(&problem)?,
    };
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;
    let primal = found.w.as_ref().map(|w| problem.primal(w));
    let bound = cell.bound_gap.map(|gap| bound::of(&problem, gap)).transpose()?;
    let trained = Trained {
        train_seconds: found.train_seconds,
        process_seconds: found.process_seconds,
        limit_seconds: cell.time_limit_seconds,
        sweeps: found.sweeps,
        work: found.work,
        primal,
        bound: bound.as_ref().map(|bound| bound.dual),
        bound_gap: bound.as_ref().map(|bound| bound.relative_gap),
        excess: primal.zip(bound).map(|(primal, Bound { dual, .. })| if primal > 0.0 { (primal - dual) / primal } else { 0.0 }),
    };
    let (objective, kkt, relative_gap) = found.own.unwrap_or((f64::NAN, f64::NAN, f64::NAN));
    Ok(Measured {
        iterations: found.work.map(|work| work.steps),
        objective,
        kkt,
        relative_gap,
        support_vectors: found.support_vectors,
        status: found.status,
        read_seconds,
        solve_seconds: found.train_seconds.unwrap_or(found.process_seconds),
        total_seconds,
        linear: Some(trained),
        ..Measured::default()
    })
}

/// Our solver of this name.
fn method(solver: Solver) -> Option<Method> {
    match solver {
        Solver::Linear => Some(Method::Hybrid),
        Solver::LinearDescent => Some(Method::Descent),
        Solver::Avsf => Some(Method::Avsf),
        Solver::LinearNewton => Some(Method::Newton),
        _ => None,
    }
}

impl Problem<'_> {
    fn dual(&self) -> Result<Dual, Failure> {
        let n = self.labels.signs.len();
        let (lin, upper) = (vec![-1.0; n], vec![self.cell.c; n]);
        Ok(Dual::new((0..n).collect(), self.labels.signs.clone(), lin, upper, 0.0, Balance::Free)?)
    }

    fn ours(&self, method: Method, begun: Instant) -> Result<Found, Failure> {
        let training = Instant::now();
        let dual = self.dual()?;
        let matrix = Matrix::new(&self.data.samples, None, self.par);
        let config = Config { method, seed: self.cell.seed, par: self.par, gap: None };
        let max_time = self.cell.time_limit_seconds.map(Duration::from_secs_f64);
        let stop = Stop { max_time, ..Stop::at(self.cell.tol) };
        let solved = solve(&matrix, &dual, Start::zero(&dual)?, &config, &stop, &mut Silent)?;
        let (train_seconds, process_seconds) = (training.elapsed().as_secs_f64(), begun.elapsed().as_secs_f64());
        let mut w = vec![0.0; self.data.samples.features()];
        for (feature, weight) in &solved.w {
            w[*feature as usize] = *weight;
        }
        let certificate = solved.certificate;
        Ok(Found {
            w: Some(w),
            train_seconds: Some(train_seconds),
            process_seconds,
            sweeps: Some(solved.work.sweeps),
            work: Some(solved.work),
            status: format!("{:?}", solved.solution.status),
            own: Some((certificate.dual, certificate.kkt, certificate.relative_gap())),
            support_vectors: solved.solution.alpha.iter().filter(|a| **a > 0.0).count(),
        })
    }

    /// `½‖w‖² + C Σ max(0, 1 − y w · x)`. What `w` lacks of the features is 0.
    fn primal(&self, w: &[f64]) -> f64 {
        let samples = &self.data.samples;
        let loss = |i: usize| {
            let mut product = 0.0;
            samples.row(i).for_each(|j, value| product += value * w.get(j).copied().unwrap_or(0.0));
            (1.0 - self.labels.signs[i] * product).max(0.0)
        };
        0.5 * w.iter().map(|v| v * v).sum::<f64>() + self.cell.c * (0..samples.len()).map(loss).sum::<f64>()
    }
}
