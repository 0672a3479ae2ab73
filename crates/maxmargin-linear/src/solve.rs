//! One entry for all methods.

use crate::avsf::Frequencies;
use crate::descent::{Descent, Shrinking, Swept};
use crate::finish::finish;
use crate::point::{Fresh, fresh};
use maxmargin_core::{Balance, Certificate, Dual, Progress, Solution, Start, Status, Stop, Watch, Work};
use maxmargin_data::Par;
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::{FeatureRows, Job, combine};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How a linear problem is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Coordinate descent while it pays, then Newton steps: the time hardly depends on C.
    #[default]
    Hybrid,
    /// Coordinate descent with random permutations and shrinking (LIBLINEAR's, without its limit of sweeps).
    Descent,
    /// Coordinate descent with adaptive variable selection frequencies.
    Avsf,
    /// Newton steps from the start.
    Newton,
}

/// Parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The method.
    pub method: Method,
    /// Of the random orders.
    pub seed: u64,
    /// Also go on until the relative duality gap is at most this; for [`Method::Hybrid`] and [`Method::Newton`].
    pub gap: Option<f64>,
    /// Threads for passes over all rows. Coordinate descent itself is sequential.
    pub par: Par,
}

impl Default for Config {
    fn default() -> Self {
        Self { method: Method::default(), seed: 1, gap: None, par: Par::Seq }
    }
}

/// What a run cost, in numbers that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinearWork {
    /// Sweeps of coordinate descent.
    pub sweeps: u64,
    /// Coordinates looked at.
    pub steps: u64,
    /// Stored entries multiplied or added by coordinate descent.
    pub entries: u64,
    /// Newton steps.
    pub newton_steps: u64,
    /// Proximal steps that they served.
    pub rounds: u64,
    /// Iterations of conjugate gradients inside Newton steps.
    pub gradients: u64,
}

impl std::ops::AddAssign for LinearWork {
    fn add_assign(&mut self, more: Self) {
        self.sweeps += more.sweeps;
        self.steps += more.steps;
        self.entries += more.entries;
        self.newton_steps += more.newton_steps;
        self.rounds += more.rounds;
        self.gradients += more.gradients;
    }
}

/// A linear decision function and the dual solution that proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSolution {
    /// (feature, weight), features ascending, zeros left out.
    pub w: Vec<(u32, f64)>,
    /// α, gradient, status; `bias` is what is added to `w · x`, whichever kind of bias the problem has.
    pub solution: Solution,
    /// From values computed afresh in `f64` from α alone.
    pub certificate: Certificate,
    /// What it cost.
    pub work: LinearWork,
}

/// Why a problem is not for these solvers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// Linear solvers know no balance or one of sums, and coordinate descent none.
    #[error("{method} solves problems {can}, not with {balance:?}")]
    Balance {
        /// What was asked.
        method: &'static str,
        /// What it can.
        can: &'static str,
        /// The balance found.
        balance: Balance,
    },
    /// A variable without upper bound and without ridge: the dual may be unbounded (data that cannot be separated).
    #[error("variable {0} has neither an upper bound nor a ridge: a hard margin exists for separable data only")]
    Unbounded(usize),
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// Values of the start.
        found: usize,
        /// Variables of the problem.
        expected: usize,
    },
    /// The problem names rows that the matrix does not have.
    #[error("the problem names row {row}, the matrix has {rows} rows")]
    Row {
        /// The row.
        row: usize,
        /// Rows of the matrix.
        rows: usize,
    },
}

/// Minimises `dual` over the linear kernel of `matrix` (with its additional feature): Gram index `i` of the dual is row `i`.
///
/// Without balance there is no bias but the additional feature; with [`Balance::Sum`] the bias is not regularised, as in the kernel solvers. [`Dual::c_svc`]
/// and [`Dual::squared_hinge`] make the two losses. The same seed gives the same bits for any number of threads. `stop.tol` is the certified KKT violation
/// for [`Method::Hybrid`] and [`Method::Newton`]; the other two stop by their own rule, which looks at gradients that were computed one after another.
///
/// # Errors
///
/// When the balance does not suit the method, a variable has neither bound nor ridge, or lengths differ.
pub fn solve(
    matrix: &Matrix,
    dual: &Dual,
    start: Start,
    config: &Config,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<LinearSolution, LinearError> {
    check(matrix, dual, &start, config.method)?;
    let (alpha, _) = start.into_parts();
    let squares = matrix.squares();
    let run = Run { squares, dual, config, clock: Clock::new(stop, watch), work: LinearWork::default() };
    let ended = matrix.visit(Begin { run, alpha });
    let (w, feature_bias) = matrix.unpack(&ended.fresh.w);
    let Fresh { gradient, bias, certificate, .. } = ended.fresh;
    let iterations = ended.work.steps + ended.work.newton_steps;
    let solution = Solution {
        alpha: ended.alpha,
        bias: bias + feature_bias,
        gradient,
        status: ended.status,
        work: Work { iterations, ..Work::default() },
    };
    Ok(LinearSolution { w, solution, certificate, work: ended.work })
}

fn check(matrix: &Matrix, dual: &Dual, start: &Start, method: Method) -> Result<(), LinearError> {
    let balance = dual.balance();
    let refused = |method, can| Err(LinearError::Balance { method, can, balance });
    match (balance, method) {
        (Balance::Free, _) | (Balance::Sum(_), Method::Hybrid | Method::Newton) => {}
        (_, Method::Descent) => return refused("coordinate descent", "without balance"),
        (_, Method::Avsf) => return refused("AVSF", "without balance"),
        _ => return refused("the linear solver", "without balance or with one of sums"),
    }
    if let Some(k) = (0..dual.len()).find(|&k| dual.upper()[k].is_infinite() && dual.ridge_of(k) == 0.0) {
        return Err(LinearError::Unbounded(k));
    }
    if start.alpha().len() != dual.len() {
        return Err(LinearError::Start { found: start.alpha().len(), expected: dual.len() });
    }
    match dual.ids().iter().find(|&&id| id >= matrix.len()) {
        Some(&row) => Err(LinearError::Row { row, rows: matrix.len() }),
        None => Ok(()),
    }
}

/// Limits and the watch.
pub(crate) struct Clock<'a> {
    pub(crate) stop: &'a Stop,
    watch: &'a mut dyn Watch,
    begun: Instant,
    /// The limit that ended the run.
    pub(crate) ended: Option<Status>,
}

impl<'a> Clock<'a> {
    fn new(stop: &'a Stop, watch: &'a mut dyn Watch) -> Self {
        Self { stop, watch, begun: Instant::now(), ended: None }
    }

    /// Whether so many iterations are more than allowed: a sweep that would pass the limit is not begun.
    pub(crate) fn spent(&mut self, iterations: u64) -> bool {
        if self.stop.max_iter.is_some_and(|most| iterations > most) {
            self.ended = self.ended.or(Some(Status::IterationLimit));
        }
        self.ended.is_some()
    }

    /// Tells the watch; whether the run has to end now.
    pub(crate) fn tick(&mut self, iterations: u64, violation: f64) -> bool {
        if self.ended.is_some() {
            return true;
        }
        let progress = Progress { iterations, violation, tol: self.stop.tol, rows_computed: 0 };
        if self.watch.tick(&progress).is_break() {
            self.ended = Some(Status::Interrupted);
        } else if self.stop.max_iter.is_some_and(|most| iterations >= most) {
            self.ended = Some(Status::IterationLimit);
        } else if self.stop.max_time.is_some_and(|most| self.begun.elapsed() >= most) {
            self.ended = Some(Status::TimeLimit);
        }
        self.ended.is_some()
    }
}

/// A run of any method.
pub(crate) struct Run<'a> {
    pub(crate) squares: &'a [f64],
    pub(crate) dual: &'a Dual,
    pub(crate) config: &'a Config,
    pub(crate) clock: Clock<'a>,
    pub(crate) work: LinearWork,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) alpha: Vec<f64>,
    pub(crate) fresh: Fresh,
    pub(crate) status: Status,
    pub(crate) work: LinearWork,
}

struct Begin<'a> {
    run: Run<'a>,
    alpha: Vec<f64>,
}

impl Job for Begin<'_> {
    type Out = Ended;

    fn run<R: FeatureRows>(self, rows: &R) -> Ended {
        let Self { mut run, alpha } = self;
        match run.config.method {
            Method::Descent => run.descent(rows, alpha),
            Method::Avsf => run.avsf(rows, alpha),
            Method::Hybrid | Method::Newton => finish(&mut run, rows, alpha),
        }
    }
}

impl<'a> Run<'a> {
    pub(crate) fn random(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.config.seed)
    }

    /// `w` of a starting point.
    pub(crate) fn begin<'r, R: FeatureRows>(&self, rows: &'r R, alpha: Vec<f64>) -> Descent<'r, R>
    where
        'a: 'r,
    {
        let coef: Vec<f64> = alpha.iter().zip(self.dual.sign()).map(|(a, s)| a * s).collect();
        let w = combine(rows, self.dual.ids(), &coef, self.config.par);
        Descent::new(rows, self.squares, self.dual, alpha, w)
    }

    fn descent<R: FeatureRows>(&mut self, rows: &R, alpha: Vec<f64>) -> Ended {
        let mut descent = self.begin(rows, alpha);
        let mut random = self.random();
        let mut shrinking = Shrinking::new(&descent);
        while !self.clock.spent(descent.steps + shrinking.count() as u64) {
            let swept = shrinking.sweep(&mut descent, self.clock.stop.tol, &mut random);
            self.work.sweeps += 1;
            let (Swept::On(range) | Swept::Unshrunk(range) | Swept::Done(range)) = swept;
            if matches!(swept, Swept::Done(_)) || self.clock.tick(descent.steps, range) {
                break;
            }
        }
        self.end(descent)
    }

    fn avsf<R: FeatureRows>(&mut self, rows: &R, alpha: Vec<f64>) -> Ended {
        let mut descent = self.begin(rows, alpha);
        let mut random = self.random();
        let mut frequencies = Frequencies::new(self.dual.len());
        while !self.clock.spent(descent.steps + self.dual.len() as u64) {
            let (largest, done) = frequencies.sweep(&mut descent, self.clock.stop.tol, &mut random);
            self.work.sweeps += 1;
            if done || self.clock.tick(descent.steps, largest) {
                break;
            }
        }
        self.end(descent)
    }

    fn end<R: FeatureRows>(&mut self, descent: Descent<R>) -> Ended {
        self.work.steps = descent.steps;
        self.work.entries = descent.entries;
        let fresh = fresh(descent.rows, self.dual, &descent.alpha, self.config.par);
        let status = self.clock.ended.unwrap_or(Status::Converged);
        Ended { alpha: descent.alpha, fresh, status, work: self.work }
    }
}
