//! Runs a plan of folds: training sets, starts, audits, and the assembly of the report.

pub(crate) mod assemble;
mod bounded;
pub(crate) mod carried;
mod certify;
pub(crate) mod collector;
pub(crate) mod decide;
mod engine;
pub(crate) mod fold_classes;
pub(crate) mod fold_factors;
pub(crate) mod machine_run;
pub(crate) mod outcome;
mod shared_machines;
pub(crate) mod task;
pub(crate) mod trainer;
mod unshared;
pub(crate) mod validate;
