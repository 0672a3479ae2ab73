//! A plan of folds, run: training sets, starts, audits, and the report.

pub(crate) mod assemble;
pub(crate) mod collector;
mod engine;
pub(crate) mod fold_classes;
pub(crate) mod fold_factors;
pub(crate) mod outcome;
pub(crate) mod trainer;
mod unshared;
pub(crate) mod validate;
