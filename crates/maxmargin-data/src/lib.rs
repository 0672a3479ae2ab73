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

mod binary;
pub mod dataset;
pub mod generate;
pub mod libsvm;
pub mod prepare;
mod run;
pub mod samples;
pub mod table;
mod text;

pub use binary::{cache, codec, compress, sealed};
pub use dataset::{BinaryLabels, ClassLabels, Columns, DataError, Dataset, LabelError, classes};
pub use generate::Generator;
pub use libsvm::{IndexBase, ReadError, ReadOptions};
pub use prepare::ranges::{Ranges, feature_ranges, inspect};
pub use prepare::scale::Scaler;
pub use prepare::{Encoder, EncoderBefore9, Impute, Preparation, Preparing, ranges, scale};
pub use run::par::{MOST_THREADS, Par};
pub use run::{Asking, Halted, par};
pub use samples::{Row, Samples, SamplesError, Storage};
pub use table::Table;
pub use text::{number, quote};
