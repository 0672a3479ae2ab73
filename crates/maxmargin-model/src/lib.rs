//! Trained support vector machines: prediction, the native model file and LIBSVM's text form.
//!
//! Layer 3 of maxmargin. A [`Model`] (or, of more than two classes, a [`MulticlassModel`]) is a decision function with the [`Record`] of how it was trained; nothing here trains, and
//! nothing here opens a file: readers take bytes, writers take [`std::io::Write`].

mod error;
pub mod file;
pub mod libsvm;
mod model;
mod multiclass;
mod predict;
mod record;

pub use error::ModelError;
pub use file::{Stored, decode, decode_any, encode, encode_multiclass, read, read_any};
pub use model::{Model, Parts, Section};
pub use multiclass::{Machine, MulticlassModel, MulticlassParts, MulticlassRecord, PairRecord};
pub use record::{Asked, Record, data_sha256, numbers_sha256};
