//! Derivatives of a validation loss by C, γ and the weights of features.

mod sensitivity;
mod smooth;

pub use sensitivity::{GradientParameters, Moved, Sensitivity};
pub use smooth::{Smooth, SmoothLoss};
