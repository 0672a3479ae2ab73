//! Samples, labels and everything that turns bytes into them: LIBSVM-format text, scaling, generators and a binary cache.
//!
//! Layer 0 of maxmargin. Nothing here knows what a kernel or a solver is, and nothing here opens a file: readers take bytes
//! or [`std::io::Read`], writers take [`std::io::Write`].
//!
//! ```
//! use maxmargin_data::scale::Method;
//! use maxmargin_data::{Par, ReadOptions, Scaler, libsvm};
//!
//! let text = b"+1 1:120 2:0.5\n-1 1:80 2:0.25 # a comment\n";
//! let mut data = libsvm::parse(text, &ReadOptions::default(), Par::Seq)?;
//! let scaler = Scaler::fit(&data.samples, Method::MinMax { lower: 0.0, upper: 1.0 });
//! data.samples = scaler.apply(&data.samples)?;
//! let mut scaled = Vec::new();
//! libsvm::write(&data, &mut scaled)?;
//! assert_eq!(scaled, b"1 1:1 2:1\n-1\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cache;
pub mod classes;
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

pub use classes::ClassLabels;
pub use dataset::{BinaryLabels, Dataset, LabelError};
pub use generate::Generator;
pub use libsvm::{IndexBase, ReadError, ReadOptions};
pub use par::Par;
pub use ranges::{Ranges, feature_ranges, inspect};
pub use samples::{Row, Samples, SamplesError, Storage};
pub use scale::Scaler;
