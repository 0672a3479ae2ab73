//! The shared parts of solver tests: seeded problems, an exact oracle for small ones, problems
//! solved by hand, and the conformance suite.
//!
//! A development dependency only. Everything here is plain `f64` code that shares nothing with the
//! code under test but the types of the problem. A failed expectation panics with the name of the
//! problem. In reading order:
//!
//! - [`Problem`] is a named dual over a [`PointsGram`]; [`generate`] draws problems from seeds, and
//!   [`analytic`] has problems solved by hand.
//! - [`mod@oracle`] solves small problems exactly; [`Optimum`] is its result.
//! - [`strategies`] draws problems for property tests.
//! - [`conformance`] is the suite that every solver must pass.
//! - [`outside`] finds real data and other programs; [`root()`] returns samples with a given linear
//!   kernel.

pub mod analytic;
pub mod conformance;
pub mod generate;
pub mod oracle;
pub mod outside;
pub mod points;
pub mod problem;
pub mod root;
pub mod strategies;

pub use oracle::Optimum;
pub use points::PointsGram;
pub use problem::Problem;
pub use root::root;

/// Returns the configuration of a property test with `usual` cases, or with the number in
/// `PROPTEST_CASES`: `cargo xtask ci --deep` sets 10⁴.
pub fn cases(usual: u32) -> proptest::test_runner::Config {
    let plain = proptest::test_runner::Config::default();
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    proptest::test_runner::Config { cases: if told { plain.cases } else { usual }, ..plain }
}
