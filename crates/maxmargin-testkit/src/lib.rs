//! What every solver of maxmargin is tested with: seeded problems, an exact oracle for small ones, problems solved by hand, and
//! the conformance suite.
//!
//! A development dependency only. Everything here is plain `f64` code that shares nothing with the code under test but the
//! types of the problem: a failed expectation panics with the name of the problem.

pub mod analytic;
pub mod conformance;
pub mod generate;
pub mod oracle;
pub mod points;
pub mod problem;
pub mod root;

pub use oracle::Optimum;
pub use points::PointsGram;
pub use problem::Problem;
pub use root::root;
