//! Trained models of the maxmargin workspace (layer 3): prediction and model files.
//!
#![doc = include_str!("../README.md")]
//!
//! # Main types, in reading order
//!
//! - [`Machine`]: one decision function, `Σ coef_k K(x_k, x) + bias`. [`Record`] tells how the
//!   machines were trained, and holds what a certificate is checked against.
//! - [`DecisionRule`], [`Multiclass`] and [`Rule`]: the classes that each machine separates, and
//!   the step from the decision values of all machines to a label.
//! - [`Calibration`]: the step from a decision value to a probability.
//! - [`Ensemble`]: machines beside those of a model, over vectors that begin with its own.
//! - [`Parts`]: all of this as plain public fields, not checked. This is what files store.
//! - [`Model`]: parts that passed all checks. It predicts decision values, labels and
//!   probabilities.
//! - [`mod@file`], [`libsvm`] and [`liblinear`]: models as bytes and back. [`read`] accepts native
//!   files and LIBSVM's text.

mod calibration;
mod decision;
mod ensemble;
mod error;
mod formats;
mod model;
mod parts;

pub use calibration::Calibration;
pub use decision::{DecisionRule, Multiclass, Rule};
pub use ensemble::Ensemble;
pub use error::{ModelError, Unsupported};
pub use formats::file::{decode, encode, read};
pub use formats::{ModelFormat, file, liblinear, libsvm};
pub use maxmargin_kernel::{Kernel, Labels, Predictor};
pub use model::{EQUAL_PROBABILITIES, Model, check_width, likeliest_in_order};
pub use parts::{ClassWeights, Machine, MachineRecord, Parts, Record, Section, data_sha256, is_hash_of, numbers_sha256};
