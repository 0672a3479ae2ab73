//! Pinned trainings beside LIBSVM's `svm-train` and LIBLINEAR's `liblinear-train`.
//!
//! Both programs read the same text. What must hold is derived from our certificate, which bounds
//! the optimum from both sides:
//!
//! - the optimum lies between our dual and our primal objective, so theirs may pass neither;
//! - objectives agree to [`OBJECTIVE`], relatively; of two that do not, the certificate says which
//!   is the worse;
//! - a solution whose objective is `δ` from the optimum has weights within `√(2 δ)` of the best, so
//!   that decision values without their bias differ by no more than `(√(2 δ₁) + √(2 δ₂)) √max K(x,
//!   x)`;
//! - the bias is fixed by samples on the margin, if there is one: to twice that and to both KKT
//!   violations. Without, an interval is optimal, and the biases are compared by nobody;
//! - labels are equal but where a decision value is so near 0 that the bounds above let it have
//!   either sign.

mod cases;
mod judge;
mod page;
mod peers;

pub(crate) use cases::rounded;
pub use cases::{Case, Peer, all};
pub use judge::{Outcome, Verdict, judge};
pub use page::{Row, page};
pub use peers::{Version, versions};

/// The largest relative difference of two objectives that agree.
pub const OBJECTIVE: f64 = 1e-6;

/// The tolerance that everybody is asked for.
pub const EPS: f64 = 1e-6;

/// Why a case could not be tried.
pub type Error = Box<dyn std::error::Error>;
