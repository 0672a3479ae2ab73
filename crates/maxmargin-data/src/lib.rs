//! Samples, labels and everything that turns bytes into them: LIBSVM-format text, scaling, generators and a binary cache.
//!
//! Layer 0 of maxmargin. Nothing here knows what a kernel or a solver is, and nothing here opens a file: readers take bytes
//! or [`std::io::Read`], writers take [`std::io::Write`].

pub mod cache;
pub mod codec;
pub mod compress;
pub mod dataset;
pub mod generate;
pub mod libsvm;
pub mod number;
pub mod par;
pub mod ranges;
pub mod samples;
pub mod scale;

pub use dataset::{BinaryLabels, Dataset, LabelError};
pub use generate::Generator;
pub use libsvm::{IndexBase, ReadError, ReadOptions};
pub use par::Par;
pub use ranges::{Ranges, feature_ranges, inspect};
pub use samples::{Row, Samples, SamplesError, Storage};
pub use scale::Scaler;
