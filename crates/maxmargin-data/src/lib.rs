//! Samples, labels, and conversions of numbers, text and bytes to them.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 0 of maxmargin. This crate uses neither kernels nor solvers, and opens no files: readers
//! take bytes or [`std::io::Read`], writers take [`std::io::Write`]. The main types, in reading
//! order:
//!
//! - [`Samples`] is the sample matrix, created from numbers, matrices of other crates
//!   ([`Samples::from_rows`] and similar functions) or text. [`Row`] is one of its rows.
//! - [`Dataset`] has samples and labels. [`ClassLabels`] and [`BinaryLabels`] are labels as classes
//!   and as signs; [`Columns`] are the columns of a table.
//! - [`libsvm`] reads and writes LIBSVM's text format. [`table`] reads comma- and tab-separated
//!   values with names, words and missing values; with the features `parquet` and `arrow` also such
//!   files.
//! - [`prepare`] fits imputation ([`Encoder`]) and scaling ([`Scaler`]) to training rows.
//!   [`FeatureRanges`] detects unscaled features.
//! - [`Generator`] makes seeded data.
//! - [`cache`], [`codec`], [`sealed`] and [`compress`] are binary forms; [`number`] and [`quote`]
//!   are text utilities.
//! - [`Par`] is the parallelism of a call, [`RunControl`] its cancellation, limits and progress.

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
pub use prepare::ranges::{FeatureRanges, feature_ranges, inspect};
pub use prepare::scale::Scaler;
pub use prepare::{Encoder, Impute, Preparation, Preparing, ranges, scale};
pub use run::par::{MOST_THREADS, Par};
pub use run::{Cancelled, EndReason, Progress, RunControl, Stage, par};
pub use samples::{Row, Samples, SamplesError, Storage};
pub use table::Table;
pub use text::{number, quote};
