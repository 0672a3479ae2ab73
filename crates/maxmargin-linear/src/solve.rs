//! The entry point of all methods.

use crate::config::{Config, LinearWork, Method};
use crate::finish::finish;
use crate::point::PointValues;
use crate::run::{Run, RunEnd, SweepControl};
use maxmargin_core::{Certificate, Dual, EqualityConstraint, RunControl, Solution, Start, Stop, Work};
use maxmargin_kernel::features::{FeatureRows, Job};
use maxmargin_kernel::{KernelError, Matrix};

/// A linear decision function and the dual solution that proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSolution {
    /// The weights as (feature, weight), features ascending, zeros left out. The solution has them
    /// as its own where they are not the sum over α ([`Solution::weights`]).
    pub w: Vec<(u32, f64)>,
    /// α, gradient and status; `bias` is the constant added to `w · x`, for every kind of bias.
    pub solution: Solution,
    /// The certificate, from values recomputed in `f64` from α alone, or from α and weights of its
    /// own.
    pub certificate: Certificate,
    /// The cost of the run.
    pub work: LinearWork,
}

/// The reason why these solvers refuse a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// The method does not support the constraint: linear solvers take none or one sum, coordinate
    /// descent none.
    #[error("{method} solves problems {can}, not with {balance:?}")]
    EqualityConstraint {
        /// The method.
        method: &'static str,
        /// The supported problems.
        can: &'static str,
        /// The constraint of the problem.
        balance: EqualityConstraint,
    },
    /// A variable without upper bound and without ridge: the dual may be unbounded (for data that
    /// cannot be separated).
    #[error("variable {0} has neither an upper bound nor a ridge: a hard margin exists for separable data only")]
    Unbounded(usize),
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// The number of values.
        found: usize,
        /// The number of variables.
        expected: usize,
    },
    /// The problem has another number of rows than the matrix.
    #[error("the problem has {found} rows, the matrix {expected}")]
    Rows {
        /// The number of rows of the problem.
        found: usize,
        /// The number of rows of the matrix.
        expected: usize,
    },
    /// Coordinate descent on the primal of the squared hinge loss.
    #[error("coordinate descent solves the squared hinge loss with the L2 norm by its dual; use solve() or Newton steps")]
    SquaredHinge,
    /// Coordinate descent with a free bias.
    #[error("coordinate descent solves logistic regression without a free bias; use Newton steps")]
    FreeBias,
    /// The sum of a row's squares is too large.
    #[error(transparent)]
    Features(#[from] KernelError),
    /// The problem names rows that the matrix does not have.
    #[error("the problem names row {row}, the matrix has {rows} rows")]
    Row {
        /// The row.
        row: usize,
        /// The number of rows of the matrix.
        rows: usize,
    },
}

/// Minimises `dual` over the linear kernel of `matrix` (with its additional feature): Gram index
/// `i` of the dual is row `i`.
///
/// Without equality constraint the additional feature is the only bias. With
/// [`EqualityConstraint::Sum`] the bias is not regularised, as in the kernel solvers.
/// [`Dual::c_svc`] and [`Dual::squared_hinge`] make the two losses. The same seed gives the same
/// bits for any number of threads.
///
/// [`Method::Hybrid`] and [`Method::Newton`] continue until the certificate meets `stop.goal`. The
/// other two stop by their own rule, which uses gradients computed one after another and knows no
/// gap.
///
/// # Errors
///
/// When the method does not support the constraint, a variable has neither bound nor ridge, or
/// lengths differ.
pub fn solve(
    matrix: &Matrix,
    dual: &Dual,
    start: Start,
    config: &Config,
    stop: &Stop,
    control: &RunControl,
) -> Result<LinearSolution, LinearError> {
    check(matrix, dual, &start, config.method)?;
    let config = &config.for_passes(matrix.entries(), dual.len());
    let (alpha, _) = start.into_parts();
    let squares = matrix.squares();
    let run = Run {
        squares,
        memory: matrix.memory_budget(),
        dual,
        config,
        control: SweepControl::new(stop, control),
        work: LinearWork::default(),
    };
    let ended = matrix.visit(Begin { run, alpha });
    let (w, feature_bias) = matrix.unpack(&ended.values.w);
    let PointValues { w: weights, has_own_w, gradient, bias, certificate } = ended.values;
    let iterations = ended.work.steps + ended.work.newton_steps;
    let solution = Solution {
        alpha: ended.alpha,
        bias: bias + feature_bias,
        gradient,
        weights: has_own_w.then_some(weights),
        status: ended.status,
        work: Work { iterations, ..Work::default() },
    };
    Ok(LinearSolution { w, solution, certificate, work: ended.work })
}

fn check(matrix: &Matrix, dual: &Dual, start: &Start, method: Method) -> Result<(), LinearError> {
    matrix.check()?;
    let balance = dual.balance();
    let refused = |method, can| Err(LinearError::EqualityConstraint { method, can, balance });
    match (balance, method) {
        (EqualityConstraint::Free, _) | (EqualityConstraint::Sum(_), Method::Hybrid | Method::Newton) => {}
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
    match dual.missing_row(matrix.len()) {
        Some(row) => Err(LinearError::Row { row, rows: matrix.len() }),
        None => Ok(()),
    }
}

struct Begin<'a> {
    run: Run<'a>,
    alpha: Vec<f64>,
}

impl Job for Begin<'_> {
    type Out = RunEnd;

    fn run<R: FeatureRows>(self, rows: &R) -> RunEnd {
        let Self { mut run, alpha } = self;
        match run.config.method {
            Method::Descent => run.descent(rows, &alpha),
            Method::Avsf => run.avsf(rows, &alpha),
            Method::Hybrid | Method::Newton => finish(&mut run, rows, alpha),
        }
    }
}
