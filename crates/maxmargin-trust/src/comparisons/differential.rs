//! Pinned trainings compared with LIBSVM's `svm-train` and LIBLINEAR's `liblinear-train`.
//!
//! Both sides read the same text. The requirements follow from our certificate, which bounds the
//! optimum from both sides:
//!
//! - the optimum lies between our dual and our primal objective, so theirs may pass neither;
//! - objectives agree to [`OBJECTIVE`], relatively; if they do not, the certificate shows which
//!   is worse;
//! - a solution whose objective is `δ` from the optimum has weights within `√(2 δ)` of the best,
//!   so decision values without their bias differ by at most `(√(2 δ₁) + √(2 δ₂)) √max K(x, x)`;
//! - samples on the margin, if there are any, fix the bias: to twice that and to both KKT
//!   violations. Otherwise an interval is optimal, and biases are not compared;
//! - labels are equal, except if a decision value is so near 0 that the bounds above allow either
//!   sign.

mod beyond;
mod cases;
mod compare;
mod page;
mod peers;

pub(crate) use cases::rounded;
pub use cases::{Case, Peer, all};
pub use compare::{Outcome, Verdict};
pub use page::{Row, page};
pub use peers::{Version, versions};

use maxmargin::data::Dataset;

/// The largest relative difference of two objectives that agree.
pub const OBJECTIVE: f64 = 1e-6;

/// The tolerance of both sides.
pub const EPS: f64 = 1e-6;

/// The reason why a case could not be tried.
pub type Error = Box<dyn std::error::Error>;

/// Trains `case` on its data by both programs and compares.
///
/// # Errors
///
/// When a program refuses it.
pub fn compare(case: &Case, data: &Dataset) -> Result<Outcome, Error> {
    match case.beyond {
        Some(solver) => beyond::compare(case, solver, data),
        None => compare::compare(case, data),
    }
}
