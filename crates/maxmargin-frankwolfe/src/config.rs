//! What a caller chooses, and what comes back.

use maxmargin_core::{EqualityConstraint, Refine, Solution, Status, Work};
use maxmargin_data::Par;

/// Who makes the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Bădoiu–Clarkson core sets: the furthest point joins, the problem of the core set is solved
    /// again (algorithm 1).
    Cvm,
    /// Steps towards the furthest point (algorithm 2).
    Fw,
    /// Steps towards the furthest or away from the nearest point of the support (algorithm 3).
    Mfw,
    /// Steps towards the furthest point, or of mass from the nearest to it: whichever gains more
    /// (Ñanculef et al. 2014).
    Swap,
    /// Pairwise steps with second-order selection on a working set that blocks of the furthest
    /// points join.
    Pairwise,
}

/// What the number of the goal ([`maxmargin_core::Goal::tol`]) bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// The duality gap relative to the objective: with `G = αᵀg − min g`, `G / max(|½ αᵀg − min g|,
    /// |½ αᵀg|)`. An upper bound on the certificate's relative gap.
    #[default]
    RelativeGap,
    /// The paper's ε: no point is further than `1 + ε` radii from the centre.
    Radius,
    /// The KKT violation `max over the support of g − min g`, as other solvers of this workspace
    /// have it. Plain Frank-Wolfe never gets rid of a point and may not get there.
    Violation,
}

/// What follows when samples show no point outside the ball.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// After some such samples, or when a sample costs more than keeping the gradient of all
    /// points, that gradient is computed and kept from then on: the run ends by a full scan.
    #[default]
    Scan,
    /// The run ends with such samples, as the papers' do. They have shown nothing:
    /// [`Outcome::evidence`] says so, and only a certificate tells the gap.
    Sample,
}

/// The furthest point is sought among a few random ones (Schölkopf and Smola 2001; Tsang et al.
/// 2005).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Points of a sample. The best of 59 is one of the 5 % furthest with probability 0.95.
    pub candidates: usize,
    /// Half of every sample from each class, as far as it has so many points: LIBCVM, on which the
    /// paper's programs are built, draws so.
    pub balanced: bool,
    /// Samples in a row that show no point outside the ball before [`Sampling::finish`] follows; 0
    /// counts as 1.
    pub tries: usize,
    /// Seed of the samples.
    pub seed: u64,
    /// How it ends.
    pub finish: Finish,
}

impl Sampling {
    /// Points drawn alike from all, one sample without points outside before a run ends by it,
    /// three before a scan.
    pub fn of(candidates: usize, seed: u64, finish: Finish) -> Self {
        let tries = match finish {
            Finish::Scan => 3,
            Finish::Sample => 1,
        };
        Self { candidates, balanced: false, tries, seed, finish }
    }
}

/// Choices of the solver.
#[derive(Clone, Copy, Debug)]
pub struct FrankWolfeConfig {
    /// See [`Method`].
    pub method: Method,
    /// See [`Rule`].
    pub rule: Rule,
    /// Samples instead of scans; [`Method::Pairwise`], which scans once for many steps, takes no
    /// notice.
    pub sampling: Option<Sampling>,
    /// See [`Refine`]; the goal is that of the rule.
    pub refine: Refine,
    /// Threads for sums over many rows. The result has the same bits for any.
    pub par: Par,
}

impl FrankWolfeConfig {
    /// A method with full scans, stopped by the relative gap, on the calling thread.
    pub fn of(method: Method) -> Self {
        Self { method, rule: Rule::default(), sampling: None, refine: Refine::default(), par: Par::Seq }
    }
}

/// What convergence was established from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The gradient of every point.
    FullScan,
    /// A random sample: no statement about the other points.
    Sample,
    /// The run did not converge.
    None,
}

/// Steps by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Towards a vertex.
    pub toward: u64,
    /// Away from a vertex.
    pub away: u64,
    /// Of mass from one vertex to another (SWAP, and the problems of core sets).
    pub swap: u64,
    /// Those of all kinds that emptied a vertex.
    pub drop: u64,
    /// Core-set problems solved.
    pub rounds: u64,
    /// Samples drawn.
    pub samples: u64,
}

/// A solution with what is known about the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// α on the simplex; bias 0, since it is inside the kernel; `work.iterations` counts steps of
    /// all kinds.
    pub solution: Solution,
    /// What the status rests on.
    pub evidence: Evidence,
    /// What was done.
    pub steps: Steps,
    /// Vertices that were in use at any time: the core set of CVM, the working set of pairwise
    /// steps, the support of the others at the end.
    pub core_set: usize,
    /// The Frank-Wolfe gap `αᵀg − min g` by [`Solution::gradient`].
    pub gap: f64,
}

impl Outcome {
    /// A point on the simplex whose gradient a run that was ended did not come to compute
    /// ([`Solution::without_gradient`]); the gap is not a number either.
    pub(crate) fn without_gradient(alpha: Vec<f64>, steps: Steps, work: Work, status: Status) -> Self {
        let core_set = alpha.iter().filter(|a| **a > 0.0).count();
        let solution = Solution { work, ..Solution::without_gradient(alpha, status) };
        Self { solution, evidence: Evidence::None, steps, core_set, gap: f64::NAN }
    }
}

/// Why the solver cannot take a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrankWolfeError {
    /// Another constraint than `Σ α = 1`.
    #[error("Frank-Wolfe methods solve problems on the simplex, not {0:?}")]
    EqualityConstraint(EqualityConstraint),
    /// A linear term.
    #[error("the linear term of variable {variable} is {value}: Frank-Wolfe methods here minimise a quadratic form alone")]
    Linear {
        /// Position of the variable.
        variable: usize,
        /// The value.
        value: f64,
    },
    /// An upper bound that cuts the simplex.
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
        /// Values of the start.
        found: usize,
        /// Variables of the problem.
        expected: usize,
    },
    /// Kernel values that are infinite or not a number.
    #[error("kernel values are infinite or not a number")]
    Kernel,
    /// A sample without points, or a start from none.
    #[error("{what} needs at least one point")]
    NoPoints {
        /// Which choice.
        what: &'static str,
    },
}
