//! The SVM dual problem, feasible starts, stopping rules, progress, solutions and the certificate that judges them.
//!
//! Layer 2 of maxmargin. Solvers minimise a [`Dual`] from a [`Start`] until a [`Stop`] and return a [`Solution`]; nobody but
//! [`certify`] says how good it is.

pub mod certificate;
mod clock;
pub mod dense;
pub mod dual;
mod factor;
mod gradient;
pub mod loss;
mod simplex;
pub mod solution;
pub mod start;
pub mod watch;

pub use certificate::{Audit, Certificate, audit, certify, certify_gradient};
pub use clock::Clock;
pub use dual::{Balance, Dual, DualError, Segment};
pub use factor::{Factor, SINGULAR};
pub use gradient::{exact_gradient, exact_sums};
pub use loss::{Loss, Offset};
pub use solution::{Solution, Status, Work, bias_of};
pub use start::{Start, StartError};
pub use watch::{Progress, Silent, Stop, Watch};
