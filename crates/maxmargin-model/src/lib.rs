//! Trained support vector machines: prediction, the native model file and LIBSVM's text form.
//!
//! Layer 3 of maxmargin. A [`Model`] is a decision function with the [`Record`] of how it was trained; nothing here trains, and
//! nothing here opens a file: readers take bytes, writers take [`std::io::Write`].

mod error;
pub mod file;
pub mod libsvm;
mod model;
mod predict;
mod record;

pub use error::ModelError;
pub use file::{decode, encode, read};
pub use model::{Model, Parts, Section};
pub use record::{Asked, Folded, Record, data_sha256, numbers_sha256};
