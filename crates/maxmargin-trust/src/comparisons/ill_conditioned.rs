//! Ill-conditioned problems on unscaled data: fifty trainings that make solvers run without end,
//! compared with `svm-train`. Our certificate is computed for both models.
//!
//! Every problem must end with a relative duality gap of at most [`GAP`], or the report must name
//! what makes that impossible. The bound is simple: decision values are sums of `α K` in double
//! precision, and a gap is a sum of `C` times such values ([`maxmargin::core::Rounding`]).

mod compare;
mod page;
mod problems;

pub use compare::{Outcome, Theirs, compare};
pub use page::page;
pub use problems::{Problem, all};

/// The relative duality gap that both sides are measured by, and that ours must reach.
pub const GAP: f64 = 1e-3;

/// The seconds within which every problem should end.
pub const EXPECTED_TIME: f64 = 5.0;

/// The seconds after which `svm-train` is ended.
pub const TIME_LIMIT: f64 = 10.0;

/// The reason why a problem could not be tried.
pub type Error = Box<dyn std::error::Error>;
