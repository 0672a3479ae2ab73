//! The options of a run and its result.

use maxmargin_core::{EqualityConstraint, Refine, Solution, Status, Work};
use maxmargin_data::Par;

/// The kind of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMethod {
    /// Bădoiu–Clarkson core sets: the furthest point joins, and the problem of the core set is
    /// solved again (algorithm 1).
    Cvm,
    /// Steps towards the furthest point (algorithm 2).
    Fw,
    /// Steps towards the furthest or away from the nearest point of the support (algorithm 3).
    Mfw,
    /// Steps towards the furthest point, or of mass from the nearest to it, by the larger gain
    /// (Ñanculef et al. 2014).
    Swap,
    /// Pairwise steps with second-order selection on a working set, which blocks of the furthest
    /// points join.
    Pairwise,
}

/// The quantity that the goal's tolerance ([`maxmargin_core::Goal::tol`]) bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopRule {
    /// The duality gap relative to the objective: with `G = αᵀg − min g`, `G / max(|½ αᵀg − min g|,
    /// |½ αᵀg|)`. An upper bound on the certificate's relative gap.
    #[default]
    RelativeGap,
    /// The paper's ε: no point is further than `1 + ε` radii from the centre.
    Radius,
    /// The KKT violation `max over the support of g − min g`, as in other solvers of this
    /// workspace. Plain Frank-Wolfe never empties a vertex and may not reach it.
    Violation,
}

/// The end of a run in which samples show no point outside the ball.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// After some such samples, or if a sample costs more than keeping the gradient of all points,
    /// that gradient is computed and kept: the run ends by a full scan.
    #[default]
    Scan,
    /// The run ends with such samples, as in the papers. They prove nothing:
    /// [`FrankWolfeOutcome::evidence`] reports it, and only a certificate shows the gap.
    Sample,
}

/// The options of the search for the furthest point among a few random ones (Schölkopf and Smola
/// 2001; Tsang et al. 2005).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The points of a sample. The best of 59 is one of the 5 % furthest with probability 0.95.
    pub candidates: usize,
    /// True to draw half of every sample from each class, as far as it has so many points. LIBCVM,
    /// the base of the paper's programs, does so.
    pub balanced: bool,
    /// The consecutive samples without a point outside the ball before [`Sampling::finish`]
    /// applies; 0 counts as 1.
    pub tries: usize,
    /// The seed of the samples.
    pub seed: u64,
    /// The end of the run.
    pub finish: Finish,
}

impl Sampling {
    /// Returns the options for points drawn uniformly from all. One sample without points outside
    /// the ball ends a run, or three lead to a scan.
    pub fn of(candidates: usize, seed: u64, finish: Finish) -> Self {
        let tries = match finish {
            Finish::Scan => 3,
            Finish::Sample => 1,
        };
        Self { candidates, balanced: false, tries, seed, finish }
    }
}

/// The options of the solver.
#[derive(Clone, Copy, Debug)]
pub struct FrankWolfeConfig {
    /// The kind of steps.
    pub method: StepMethod,
    /// The stopping rule.
    pub rule: StopRule,
    /// Random samples instead of full scans. [`StepMethod::Pairwise`] scans once for many steps and
    /// ignores it.
    pub sampling: Option<Sampling>,
    /// The refinement; the goal is that of the rule.
    pub refine: Refine,
    /// Threads for sums over many rows. The result has the same bits for any number of threads.
    pub par: Par,
}

impl FrankWolfeConfig {
    /// Returns the options of a method with full scans, stopped by the relative gap, on the calling
    /// thread.
    pub fn of(method: StepMethod) -> Self {
        Self { method, rule: StopRule::default(), sampling: None, refine: Refine::default(), par: Par::Seq }
    }
}

/// The evidence for convergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The gradient of every point.
    FullScan,
    /// A random sample: no statement about the other points.
    Sample,
    /// The run did not converge.
    None,
}

/// The number of steps by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Steps towards a vertex.
    pub toward: u64,
    /// Steps away from a vertex.
    pub away: u64,
    /// Steps of mass from one vertex to another (SWAP, and the problems of core sets).
    pub swap: u64,
    /// Steps of all kinds that emptied a vertex.
    pub drop: u64,
    /// Core-set problems solved.
    pub rounds: u64,
    /// Random samples drawn.
    pub samples: u64,
}

/// A solution with the evidence and the counts of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct FrankWolfeOutcome {
    /// The solution: α on the simplex; the bias is 0, since it is inside the kernel.
    /// `work.iterations` counts steps of all kinds.
    pub solution: Solution,
    /// The evidence for the status.
    pub evidence: Evidence,
    /// The counts of steps.
    pub steps: Steps,
    /// The number of vertices in use: the core set of CVM, the working set of pairwise steps, for
    /// other methods the support at the end.
    pub core_set: usize,
    /// The Frank-Wolfe gap `αᵀg − min g` by [`Solution::gradient`].
    pub gap: f64,
}

impl FrankWolfeOutcome {
    /// Returns a point on the simplex without a gradient: the run ended before it was computed
    /// ([`Solution::without_gradient`]). The gap is NaN as well.
    pub(crate) fn without_gradient(alpha: Vec<f64>, steps: Steps, work: Work, status: Status) -> Self {
        let core_set = alpha.iter().filter(|a| **a > 0.0).count();
        let solution = Solution { work, ..Solution::without_gradient(alpha, status) };
        Self { solution, evidence: Evidence::None, steps, core_set, gap: f64::NAN }
    }
}

/// The reason why the solver refuses a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrankWolfeError {
    /// The constraint is another one than `Σ α = 1`.
    #[error("Frank-Wolfe methods solve problems on the simplex, not {0:?}")]
    EqualityConstraint(EqualityConstraint),
    /// The problem has a linear term.
    #[error("the linear term of variable {variable} is {value}: Frank-Wolfe methods here minimise a quadratic form alone")]
    Linear {
        /// Position of the variable.
        variable: usize,
        /// The value.
        value: f64,
    },
    /// An upper bound cuts the simplex.
    #[error("the upper bound of variable {variable} is {value}: below 1 it cuts off a vertex")]
    Upper {
        /// Position of the variable.
        variable: usize,
        /// The value.
        value: f64,
    },
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// The number of values.
        found: usize,
        /// The number of variables.
        expected: usize,
    },
    /// The problem names rows that the Gram matrix does not have.
    #[error("the problem names row {row}, the matrix has {rows} rows")]
    Row {
        /// The row.
        row: usize,
        /// The number of rows of the matrix.
        rows: usize,
    },
    /// Kernel values are infinite or NaN.
    #[error("kernel values are infinite or not a number")]
    Kernel,
    /// A sample has no points, or a start comes from none.
    #[error("{what} needs at least one point")]
    NoPoints {
        /// The option.
        what: &'static str,
    },
}
