//! Kernel functions of two samples: built-in kernels, user kernels, the rules for gamma.

mod error;
mod gamma;
mod kernel;
mod kind;
mod user;

pub use error::{Fault, KernelError, LARGEST_SQUARE};
pub use gamma::{Gamma, gamma_auto, gamma_mean, gamma_scale};
pub use kernel::Kernel;
pub use kind::KernelKind;
pub use user::UserKernel;
