//! The SVM dual problem, feasible starts, stopping rules, progress, solutions and the certificate that judges them.
//!
//! Layer 2 of maxmargin. Solvers minimise a [`Dual`] from a [`Start`] until a [`Stop`] and return a [`Solution`]; nobody but
//! [`certify`] says how good it is.

pub mod certificate;
pub mod dual;
pub mod loss;
mod simplex;
pub mod solution;
pub mod start;
pub mod watch;

pub use certificate::{Audit, Certificate, audit, certify, certify_gradient, exact_gradient};
pub use dual::{Balance, Dual, DualError, Segment};
pub use loss::{Loss, Offset};
pub use solution::{Solution, Status, Work, bias_of};
pub use start::{Start, StartError};
pub use watch::{Progress, Silent, Stop, Watch};
