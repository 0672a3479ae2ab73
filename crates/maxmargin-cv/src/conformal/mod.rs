//! Conformal prediction: intervals, sets and p-values from scores of samples by the machines of
//! folds that did not see them (docs/math/conformal.md).

mod class_scores;
mod coverage;
mod export;
mod fit;
mod held_out;
mod kept_folds;
mod predict;
mod spread_machine;
mod spread_range;
mod state;
mod taxonomy;

pub use coverage::{ClassCoverage, ConformalCoverage, GroupCoverage};
pub use export::{left_out_of, prediction_program};
pub use fit::{ConformalReport, Conformalised};
pub use state::Conformal;
