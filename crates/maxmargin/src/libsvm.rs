//! What LIBSVM's programs and its C library do, in terms of ours: their parameters and checks, their order of classes, the folds of their shuffle,
//! and the figures that they print.
//!
//! A drop-in promises the same optimum (to the tolerance), the same files and the same words as LIBSVM 3.37; iterations are ours.
//!
//! ```
//! use maxmargin::libsvm::{Parameters, Problem, Run, train};
//! use maxmargin::prelude::*;
//!
//! let data = Dataset::from_rows(&[[0.0], [0.2], [0.8], [1.0]], &[7.0, 7.0, 3.0, 3.0])?;
//! let parameters = Parameters { gamma: 1.0, ..Parameters::default() };
//! let trained = train(&Problem::new(data, &parameters), &parameters, &Run::default())?;
//! assert_eq!(trained.labels, [7, 3]); // in order of appearance
//! assert_eq!(trained.machines[0].objective, trained.machines[0].objective.min(0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod classes;
mod folds;
mod learned;
mod parameters;
mod rand;
mod train;
mod validate;

pub use classes::Classes;
pub use folds::Folds;
pub use learned::Learned;
pub use parameters::{Faulty, Parameters, Shape};
pub use rand::Rand;
pub use train::{Machine, Problem, Run, Shown, Trained, train};
pub use validate::{Judged, cross_validate, squares};

/// What is asked for and not there yet, with what to use instead: the one place to change when it comes.
///
/// # Errors
///
/// While there are no probabilities.
pub fn probability(wanted: bool) -> Result<(), &'static str> {
    if wanted { Err("probability estimates (-b 1) are not there yet; train and predict with -b 0") } else { Ok(()) }
}
