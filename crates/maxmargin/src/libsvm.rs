//! The behaviour of LIBSVM's programs and C library with the solvers of this workspace: parameters
//! and checks, the order of classes, the folds of its shuffle, and the figures in its output.
//!
//! A drop-in program has the same optimum (to the tolerance), the same files and the same messages
//! as LIBSVM 3.37. The number of iterations differs.
//!
//! ```
//! use maxmargin::libsvm::{Parameters, LibsvmProblem, LibsvmRun, train};
//! use maxmargin::prelude::*;
//!
//! let data = Dataset::from_rows(&[[0.0], [0.2], [0.8], [1.0]], &[7.0, 7.0, 3.0, 3.0])?;
//! let parameters = Parameters { gamma: 1.0, ..Parameters::default() };
//! let trained = train(&LibsvmProblem::new(data, &parameters)?, &parameters, &LibsvmRun::default())?;
//! assert_eq!(trained.labels, [7, 3]); // in order of appearance
//! assert_eq!(trained.machines[0].objective, trained.machines[0].objective.min(0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod classes;
mod folds;
mod parameters;
mod rand;
mod train;
mod trained_model;
mod validate;

pub use classes::{Classes, check_labels};
pub use folds::Folds;
pub use parameters::{ParameterError, Parameters, Shape};
pub use rand::Rand;
pub use train::{
    Figure, LibsvmMachine, LibsvmProblem, LibsvmRun, Training, error_distribution_text, train, with_support_vectors,
};
pub use trained_model::TrainedModel;
pub use validate::{FoldPredictions, cross_validate, squares};
