//! What LIBLINEAR's programs do, in terms of ours: parameters and checks, several classes by one
//! against the rest, folds of its shuffle.
//!
//! Trainings go to a certified relative gap of 10⁻⁶ at LIBLINEAR's default tolerance, and in
//! proportion below it: at least as exact as LIBLINEAR's own.

mod parameters;
mod train;
mod validate;

pub use maxmargin_model::liblinear::LinearModel;
pub use parameters::Parameters;
pub use train::{Machine, Training, train};
pub use validate::{cross_validate, end_of_search, search, start_of_search, widths_of_search};
