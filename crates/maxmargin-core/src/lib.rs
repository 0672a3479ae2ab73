//! The SVM dual problem, feasible starts, stopping rules, progress, solutions and their
//! certificate.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 2 of maxmargin. The main types, in reading order:
//!
//! - [`Formulation`] is a kind of support vector machine with its parameters. With the samples of a
//!   [`TrainingSet`] it makes a [`Problem`].
//! - [`Dual`] is the optimisation problem that every solver minimises: a box, a quadratic form over
//!   kernel rows, and an [`EqualityConstraint`]. `Problem` keeps it with the sample of each
//!   variable.
//! - [`MarginProblem`] and [`CrammerSinger`] are the linear machines whose dual is no such form:
//!   logistic regression, L1 norms of the weights, and all classes at once. [`certify_margin`] and
//!   [`certify_crammer_singer`] certify them.
//! - [`Start`] is a feasible point of a dual, from which a solver begins.
//! - [`Solve`] is the trait of all solver families. A solver gets a [`Run`] with a [`Stop`] (a
//!   [`Goal`] and limits) and a [`RunControl`] for progress and cancellation, and returns a
//!   [`Solution`] with a [`Status`] and the [`Work`] that it took, or a [`Refused`] with its
//!   [`Reason`] and each [`Alternative`].
//! - [`Certificate`] is the quality of a solution. [`certify()`] computes it from exact kernel
//!   values, independent of the solver; [`audit`](audit()) certifies many solutions at once, and
//!   [`gap_screening`](gap_screening()) returns the labels that the gap fixes at every optimum.
//! - [`SolverControl`], [`ConvergenceCheck`] and [`Pace`] are for solvers: limits, checks of the
//!   goal, and the end of runs that will not converge. [`Factor`] is a Cholesky factor with
//!   insertion and deletion.

mod certificate;
mod linalg;
mod problem;
mod solver;
mod stopping;

pub use certificate::audit::{Audit, AuditPoint, audit};
pub use certificate::certify::{certify_gradient, figures};
pub use certificate::crammer_singer::{CertifiedClasses, certify_crammer_singer};
pub use certificate::figures::Certificate;
pub use certificate::gap_screening::{GapScreening, gap_screening};
pub use certificate::gradient::{NearGradients, exact_gradient, exact_sums, gradient_from_sums};
pub use certificate::known::{KeptSums, KnownSums};
pub use certificate::margin::{balance_classes, certify_margin, certify_margin_rows};
pub use certificate::rounding::{Rounding, rounding_of_sums};
pub use certificate::solution::certify;
pub use certificate::weights::{dual_objective, figures_of_weights, weights_are_nearer};
pub use linalg::cholesky::{cholesky, eliminate};
pub use linalg::dense;
pub use linalg::factor::{Factor, SINGULAR};
pub use maxmargin_data::{Cancelled, EndReason, Progress, RunControl, Stage};
pub use problem::crammer_singer::{CrammerSinger, CrammerSingerError};
pub use problem::dual::{Dual, DualError, EqualityConstraint, Segment, SideCosts};
pub use problem::formulation::{Formulation, Level, TargetKind};
pub use problem::formulation_kind::{FormulationKind, FormulationParameters};
pub use problem::levels;
pub use problem::loss::{BiasTerm, Loss};
pub use problem::machine::{Decision, Problem, TrainingSet};
pub use problem::margin::{LossValues, MarginLoss, MarginProblem, MarginProblemError, Penalty};
pub use problem::solution::{Solution, Status, Work, bias_is_middle, bias_of, thresholds_of};
pub use problem::start::{self, Start, StartError};
pub use problem::twins::{settle_twins, twins};
pub use solver::refusal::{Alternative, Reason, Refused};
pub use solver::solve::{Refine, Run, Solve, Solved};
pub use solver::warm;
pub use stopping::goal::{ConvergenceCheck, Goal, GoalError};
pub use stopping::pace::{Forecast, Pace};
pub use stopping::solver_control::SolverControl;
pub use stopping::stop::Stop;
