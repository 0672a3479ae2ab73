//! The Rust code in README, the map of the crates and the guide, compiled and run as documentation
//! tests only.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/api.md")]
struct Api;

#[doc = include_str!("../../../docs/guide/src/choose.md")]
struct Choose;

#[doc = include_str!("../../../docs/guide/src/explain.md")]
struct Explain;

#[doc = include_str!("../../../docs/guide/src/first-steps.md")]
struct FirstSteps;

#[doc = include_str!("../../../docs/guide/src/forget.md")]
struct Forget;

#[doc = include_str!("../../../docs/guide/src/probabilities.md")]
struct Probabilities;

#[doc = include_str!("../../../docs/guide/src/regression.md")]
struct Regression;

#[doc = include_str!("../../../docs/guide/src/quantiles.md")]
struct Quantiles;

#[doc = include_str!("../../../docs/guide/src/unbalanced.md")]
struct Unbalanced;
