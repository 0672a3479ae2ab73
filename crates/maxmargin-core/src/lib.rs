//! The SVM dual problem, feasible starts, stopping rules, progress, solutions and the certificate
//! that judges them.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 2 of maxmargin. Solvers minimise a [`Dual`] from a [`Start`] until a [`Stop`] and return a
//! [`Solution`]; nobody but [`certify`] says how good it is.

pub mod audit;
pub mod certain;
pub mod certificate;
mod cholesky;
mod clock;
pub mod dense;
pub mod dual;
mod factor;
pub mod formulation;
pub mod goal;
mod gradient;
pub mod loss;
mod pace;
pub mod problem;
mod rounding;
pub mod solution;
pub mod solve;
pub mod start;
pub mod warm;
pub mod watch;

pub use audit::{Audit, Point, audit, audit_asking};
pub use certain::{GapScreening, certain};
pub use certificate::{Certificate, certify, certify_gradient, figures};
pub use cholesky::cholesky;
pub use clock::Clock;
pub use dual::{Dual, DualError, EqualityConstraint, Segment};
pub use factor::{Factor, SINGULAR};
pub use formulation::{Formulation, TargetKind};
pub use goal::{Goal, Looking};
pub use gradient::{NearGradients, exact_gradient, exact_gradient_asking, exact_sums};
pub use loss::{BiasTerm, Loss};
pub use maxmargin_data::{Asking, Halted};
pub use pace::{Forecast, Pace};
pub use problem::{Decision, Problem, TrainingSet, settle_twins};
pub use rounding::{Rounding, rounding_of_sums};
pub use solution::{Solution, Status, Work, bias_is_middle, bias_of, thresholds_of};
pub use solve::{Refine, Refused, Run, Solve, Solved, solve_certified};
pub use start::{Start, StartError};
pub use watch::{Progress, Silent, Stop, Watch};
