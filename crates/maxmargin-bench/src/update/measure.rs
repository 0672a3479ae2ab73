//! Updates: samples are removed from a trained model and others are added, until it is optimal
//! again.

use super::plan::{Change, Course, Extent, courses, members};
use super::pool::{Pool, UpdateResult};
use super::program;
use super::seed::WarmStart;
use super::smo::Smo;
use crate::cell::choice::Method;
use crate::cell::job::Update as Cell;
use crate::data::input;
use crate::failure::Failure;
use crate::measured::{Measured, UpdateFigures, worst};
use maxmargin::core::{Certificate, Goal, Solution, Start, Status, Stop, Work, certify, exact_gradient};
use maxmargin::data::{BinaryLabels, Par, RunControl};
use maxmargin::kernel::{KernelGram, Rows};
use maxmargin::path::{Added, Mode, Path, Saved, Update};
use maxmargin::smo::{SmoConfig, solve};
use std::time::Instant;

/// The violation at which the first model goes from SMO to the active set.
const DRAFT: f64 = 1e-3;

/// No further round starts after so many seconds of updates: long updates need few repeats.
const TIME_LIMIT: f64 = 10.0;

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    let (setting, method) = (&cell.setting, cell.method);
    let kernel = setting.kernel()?;
    let begun = Instant::now();
    let data = input::load(&setting.data, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let mut signs = BinaryLabels::new(&data.labels)?.signs;
    let extent = Extent::of(cell, signs.len())?;
    signs.truncate(extent.pool);
    let samples = data.samples.select(&(0..extent.pool).collect::<Vec<_>>());
    let gram = KernelGram::new(&samples, kernel, &RunControl::unlimited())?;
    let pool = Pool { cell, samples: &samples, signs: &signs, gram: &gram, budget: setting.budget(), par };
    let first = first(pool, extent.window)?;
    let picked = first.ids.iter().zip(&first.alpha).filter(|(_, alpha)| cell.pick.takes(**alpha, setting.c));
    let picked: Vec<usize> = picked.map(|(id, _)| *id).collect();

    let mut all: Vec<(usize, UpdateResult, Certificate)> = Vec::new();
    for round in 0..cell.rounds {
        if all.iter().map(|(_, done, _)| done.seconds).sum::<f64>() > TIME_LIMIT {
            break;
        }
        for course in courses(cell, extent, &picked)? {
            let mut model = Model::new(pool, method, &first, &course)?;
            for change in &course.changes {
                let (done, certificate) = model.update(change)?;
                all.push((round, done, certificate));
            }
        }
    }
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;
    Ok(Measured { read_seconds, total_seconds, ..summary(&all, method) })
}

/// Returns the exact model of the first `window` samples.
fn first(pool: Pool, window: usize) -> Result<Saved, Failure> {
    let dual = pool.dual((0..window).collect())?;
    let rows = Rows::new(pool.gram, pool.budget, pool.par);
    let stop = Stop { goal: Goal::Kkt(DRAFT), ..pool.cell.setting.stop() };
    let config = SmoConfig { par: pool.par, ..SmoConfig::default() };
    let draft = solve(&dual, &rows, Start::zero(&dual)?, &config, &stop, &RunControl::unlimited())?;
    let (path, _) = Path::from_solution(pool.gram, pool.signs, dual.ids(), dual.upper(), &draft.alpha, pool.config())?;
    Ok(path.save())
}

/// A model that a method updates.
enum Model<'g> {
    Path(Box<Path<'g>>, Pool<'g>),
    Smo(Box<Smo<'g>>),
    /// The rows of the model: the program trains anew each time.
    Program(Vec<usize>, Pool<'g>),
}

impl<'g> Model<'g> {
    /// Returns the first model without the samples that are held back; this is not timed. Paths are
    /// built anew: a clone shares its columns, and its first update would copy them.
    fn new(pool: Pool<'g>, method: Method, first: &Saved, course: &Course) -> Result<Self, Failure> {
        let (mut path, _) = Path::restore(pool.gram, pool.signs, first, pool.config())?;
        path.change(&[], &course.held_back)?;
        let stop = pool.cell.setting.stop();
        let known = |path: &Path| -> Result<WarmStart, Failure> {
            let (dual, solution) = (pool.dual(path.ids())?, path.solution());
            let gradient =
                exact_gradient(&dual, pool.gram, &solution.alpha, pool.par, &RunControl::unlimited()).expect("unlimited");
            let beta = dual.sign().iter().zip(&solution.alpha).map(|(y, a)| y * a).collect();
            Ok(WarmStart { ids: dual.ids().to_vec(), beta, gradient })
        };
        Ok(match method {
            Method::Mid => Self::Path(Box::new(path), pool),
            Method::Sid => {
                path.configure(pool.config().with_mode(Mode::Single));
                Self::Path(Box::new(path), pool)
            }
            Method::Smo => Self::Smo(Box::new(Smo::new(pool, known(&path)?, true, stop))),
            Method::SmoCold => Self::Smo(Box::new(Smo::new(pool, known(&path)?, false, stop))),
            Method::SvmTrain => Self::Program(path.ids(), pool),
        })
    }

    /// Makes an update, which is timed, and certifies its result, which is not.
    fn update(&mut self, change: &Change) -> Result<(UpdateResult, Certificate), Failure> {
        match self {
            Self::Path(path, pool) => follow(path, *pool, change),
            Self::Smo(smo) => smo.update(change),
            Self::Program(ids, pool) => {
                *ids = members(ids, change);
                train(*pool, ids)
            }
        }
    }
}

fn follow(path: &mut Path, pool: Pool, change: &Change) -> Result<(UpdateResult, Certificate), Failure> {
    let add: Vec<Added> = change.add.iter().map(|&id| Added { id, upper: pool.cell.setting.c }).collect();
    let begun = Instant::now();
    let update = path.change(&add, &change.remove)?;
    let seconds = begun.elapsed().as_secs_f64();
    let (dual, solution) = (pool.dual(path.ids())?, path.solution());
    let done = UpdateResult {
        path: Some(update),
        columns: update.columns,
        status: (update.status != Status::Converged).then(|| format!("{:?}", update.status)),
        ..UpdateResult::new(seconds, &solution.alpha, pool.cell.setting.c)
    };
    Ok((done, certify(&dual, pool.gram, &solution, pool.par)))
}

fn train(pool: Pool, ids: &[usize]) -> Result<(UpdateResult, Certificate), Failure> {
    let dual = pool.dual(ids.to_vec())?;
    let trained = program::train(&pool.cell.setting, pool.samples.select(ids), dual.sign())?;
    let done = UpdateResult {
        iterations: Some(trained.iterations),
        status: (!trained.converged).then(|| "IterationLimit".to_owned()),
        ..UpdateResult::new(trained.seconds, &trained.alpha, pool.cell.setting.c)
    };
    let status = if trained.converged { Status::Converged } else { Status::IterationLimit };
    let (alpha, bias) = (trained.alpha, trained.bias);
    let solution = Solution { alpha, bias, gradient: Vec::new(), status, work: Work::default(), weights: None };
    Ok((done, certify(&dual, pool.gram, &solution, pool.par)))
}

/// Returns the seconds of all rounds, the counts of the first, and the worst certificate.
fn summary(all: &[(usize, UpdateResult, Certificate)], method: Method) -> Measured {
    let rounds = all.last().map_or(1, |(round, ..)| round + 1);
    let counted: Vec<&UpdateResult> = all.iter().filter(|(round, ..)| *round == 0).map(|(_, done, _)| done).collect();
    let certificates = || all.iter().map(|(.., certificate)| certificate);
    let paths = |count: fn(&Update) -> usize| {
        let counts: Option<Vec<usize>> = counted.iter().map(|done| done.path.as_ref().map(count)).collect();
        counts.map(|counts| counts.iter().sum::<usize>() as u64)
    };
    let mut seconds: Vec<f64> = all.iter().map(|(_, done, _)| done.seconds).collect();
    let total: f64 = seconds.iter().sum();
    let turnover = UpdateFigures {
        updates: counted.len(),
        update_seconds: median(&mut seconds),
        update_seconds_total: total / rounds as f64,
        breakpoints: paths(|path| path.breakpoints),
        zero_steps: paths(|path| path.zero_steps),
        repairs: paths(|path| path.repairs),
        tolerance: all.iter().filter_map(|(_, done, _)| done.path.as_ref().map(|path| path.tolerance)).reduce(f64::max),
        margin: counted.iter().map(|done| done.free as f64).sum::<f64>() / counted.len() as f64,
    };
    Measured {
        iterations: counted.iter().map(|done| done.iterations).sum(),
        rows_computed: counted.iter().map(|done| done.columns).sum(),
        objective: all.last().map_or(f64::NAN, |(.., certificate)| certificate.dual),
        kkt: worst(certificates().map(|certificate| violation(certificate, method))),
        relative_gap: worst(certificates().map(Certificate::relative_gap)),
        support_vectors: counted.last().map_or(0, |done| done.support),
        status: all.iter().find_map(|(_, done, _)| done.status.clone()).unwrap_or_else(|| "Converged".into()),
        solve_seconds: total,
        update: Some(turnover),
        ..Measured::default()
    }
}

/// Returns the KKT violation, infinity for a point that is not feasible. `svm-train` writes eight
/// digits, so that its points are feasible to fewer.
fn violation(certificate: &Certificate, method: Method) -> f64 {
    let rounding = if method == Method::SvmTrain { 1e-6 } else { 1e-9 };
    if certificate.infeasible <= rounding { certificate.kkt } else { f64::INFINITY }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => f64::midpoint(values[(n - 1) / 2], values[n / 2]),
    }
}
