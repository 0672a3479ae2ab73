//! The behaviour of LIBLINEAR's programs with the solvers of this workspace: parameters and checks,
//! one-vs-rest, and the folds of its shuffle.
//!
//! At LIBLINEAR's default tolerance, trainings reach a certified relative duality gap of 10⁻⁶;
//! other tolerances scale it in proportion, up to 10⁻². At the default, solutions are at least as
//! exact as LIBLINEAR's.

mod classifier;
mod machine;
mod parameters;
mod train;
mod validate;

pub use machine::{LiblinearMachine, NonzeroWeights, Training};
pub use maxmargin_model::liblinear::LinearModel;
pub use parameters::Parameters;
pub use train::train;
pub use validate::{cross_validate, end_of_search, search, start_of_search, widths_of_search};
