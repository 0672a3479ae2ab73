//! Samples, labels and everything that turns numbers and bytes into them.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 0 of maxmargin. Nothing here knows what a kernel or a solver is, and nothing here opens a
//! file: readers take bytes or [`std::io::Read`], writers take [`std::io::Write`].
//!
//! - [`samples`]: the matrix, from numbers, other crates' matrices ([`Samples::from_rows`] and its
//!   siblings) or text
//! - [`dataset`], [`classes`]: samples with labels; labels as signs or classes
//! - [`libsvm`], [`compress`], [`number`]: text in and out
//! - [`table`]: comma- and tab-separated values in, with names, words and gaps
//! - [`prepare`], [`scale`], [`ranges`]: gaps filled and features scaled as training rows show it;
//!   whether scaling is called for
//! - [`generate`], [`cache`], [`codec`], [`quote`]: seeded data, parsed data in binary form, bytes
//!   of any value, text in messages
//! - [`par`], [`Asking`]: threads, work that can be called off

mod asking;
pub mod cache;
pub mod classes;
pub mod codec;
pub mod compress;
pub mod dataset;
pub mod generate;
pub mod libsvm;
pub mod number;
pub mod par;
pub mod prepare;
pub mod quote;
pub mod ranges;
pub mod samples;
pub mod scale;
pub mod sealed;
pub mod table;

pub use asking::{Asking, Halted};
pub use classes::ClassLabels;
pub use dataset::{BinaryLabels, DataError, Dataset, LabelError};
pub use generate::Generator;
pub use libsvm::{IndexBase, ReadError, ReadOptions};
pub use par::{MOST_THREADS, Par};
pub use prepare::{Encoder, EncoderBefore9, Impute, Preparation, Preparing};
pub use ranges::{Ranges, feature_ranges, inspect};
pub use samples::{Row, Samples, SamplesError, Storage};
pub use scale::Scaler;
pub use table::{Columns, Table};
