//! What every solver of maxmargin is tested with: seeded problems, an exact oracle for small ones,
//! problems solved by hand, and the conformance suite.
//!
//! A development dependency only. Everything here is plain `f64` code that shares nothing with the
//! code under test but the types of the problem: a failed expectation panics with the name of the
//! problem. `outside` finds real data and the programs that are compared with.

pub mod analytic;
pub mod conformance;
pub mod generate;
pub mod oracle;
pub mod outside;
pub mod points;
pub mod problem;
pub mod root;

pub use oracle::Optimum;
pub use points::PointsGram;
pub use problem::Problem;
pub use root::root;

/// The configuration of a property test that runs `usual` cases, or as many as `PROPTEST_CASES`
/// says: `cargo xtask ci --deep` says 10⁴.
pub fn cases(usual: u32) -> proptest::test_runner::Config {
    let plain = proptest::test_runner::Config::default();
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    proptest::test_runner::Config { cases: if told { plain.cases } else { usual }, ..plain }
}
