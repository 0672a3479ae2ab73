//! Samples, labels and everything that turns bytes into them: LIBSVM-format text, scaling, generators and a binary cache.
//!
//! Layer 0 of maxmargin. Nothing here knows what a kernel or a solver is, and nothing here opens a file: readers take bytes
//! or [`std::io::Read`], writers take [`std::io::Write`].

pub mod dataset;
pub mod par;
pub mod samples;

pub use dataset::{BinaryLabels, Dataset, LabelError};
pub use par::Par;
pub use samples::{Row, Samples, SamplesError, Storage};
