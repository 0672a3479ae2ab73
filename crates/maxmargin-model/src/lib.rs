//! Models of the maxmargin workspace (layer 3): a [`Model`] is one decision function or several,
//! with the [`Record`] of how they were trained.
//!
#![doc = include_str!("../README.md")]

mod calibration;
mod check;
mod coupling;
mod error;
pub mod file;
pub mod liblinear;
pub mod libsvm;
mod machine;
mod model;
mod parts;
mod predict;
mod probability;
mod record;
mod weights;

pub use calibration::Calibration;
pub use error::ModelError;
pub use file::{decode, encode, read};
pub use machine::{DecisionRule, Machine, Multiclass, Rule};
pub use model::Model;
pub use parts::{Parts, Section};
pub use probability::likeliest_in_order;
pub use record::{MachineRecord, Record, data_sha256, numbers_sha256};
pub use weights::check_width;
