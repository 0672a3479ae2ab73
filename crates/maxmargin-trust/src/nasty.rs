//! Problems that nobody scaled: fifty trainings that make solvers run without end, beside
//! `svm-train`, whose model is judged by our certificate.
//!
//! What must hold: every problem ends with a relative duality gap of at most [`GAP`], or the report
//! says what makes that impossible, by a bound that anybody can compute: decision values are sums
//! of `α K` in double precision, and a gap is a sum of `C` times such values
//! ([`maxmargin::core::Rounding`]).

mod judge;
mod page;
mod problems;

pub use judge::{Outcome, Theirs, judge};
pub use page::page;
pub use problems::{Problem, all};

/// The relative duality gap that everybody is judged by, and that we are asked for.
pub const GAP: f64 = 1e-3;

/// Seconds within which every problem is to end.
pub const SOON: f64 = 5.0;

/// Seconds after which `svm-train` is ended.
pub const PATIENCE: f64 = 10.0;

/// Why a problem could not be tried.
pub type Error = Box<dyn std::error::Error>;
