//! The native half of the R package `maxmargin`.
//!
//! Formulas, factors, scaling and messages are R code in `R`. This crate copies matrices, trains
//! on threads of its own while R listens to its user, and keeps models.
//!
//! - `Data`: samples and targets, copied from matrices.
//! - `Job`: work that runs; R waits for it and may cancel it.
//! - `Model`: a trained model.
//!
//! `savvy-cli update crates/maxmargin-r` writes the wrappers `src/init.c` and `R/000-wrappers.R`.
//! They repeat doc comments; `@noRd` there means no page of R's manual.
//!
//! Classes come and go in the order of LIBSVM: R numbers them so (`R/labels.R`).

// savvy passes arguments from R by value, and its functions return its `Result`.
#![allow(clippy::needless_pass_by_value, clippy::missing_errors_doc, clippy::unnecessary_wraps)]

mod data;
mod job;

mod model;
mod options;
mod report;
mod train;
mod value;
