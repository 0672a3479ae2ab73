//! The contents of a model before any check, and their checks.

pub(crate) mod check;
mod class_weights;
mod machine;
mod record;

pub use class_weights::ClassWeights;
pub use machine::Machine;
pub use record::{MachineRecord, Record, data_sha256, is_hash_of, numbers_sha256};

use crate::calibration::Calibration;
use crate::decision::{DecisionRule, Multiclass};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Encoder, Samples};
use maxmargin_kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Bytes that another crate stores in a model file under a tag, such as the state of an incremental
/// solver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The tag of the owner, padded with zeros.
    pub tag: [u8; 8],
    /// The content, which this crate does not interpret.
    pub bytes: Vec<u8>,
}

/// The contents of a model before any check. Model files store these fields in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// The kernel.
    pub kernel: Kernel,
    /// The vectors of all machines, scaled if there is a scaler. A precomputed kernel has the
    /// single column 0 with serial numbers.
    pub support: Samples,
    /// The decision functions, in the number and order that `multiclass` needs for the classes.
    pub machines: Vec<Machine>,
    /// The rule that turns decision values into labels.
    pub decision_rule: DecisionRule,
    /// The labels, in any order.
    pub classes: Vec<f64>,
    /// The number of the first feature in files: 0 or 1.
    pub index_base: u32,
    /// The scaler of samples, applied before the kernel.
    pub scaler: Option<Scaler>,
    /// The record of the training; `None` for models of other programs.
    pub record: Option<Record>,
    /// Bytes of other crates.
    pub sections: Vec<Section>,
    /// The classes that each machine separates.
    pub multiclass: Multiclass,
    /// The calibration of each machine, or empty if the model has no probabilities.
    pub calibration: Vec<Calibration>,
    /// The columns of the training table and the values that replace missing ones; applied before
    /// the scaler.
    pub encoder: Option<Encoder>,
    /// The least decision value that predicts the second of two classes, for
    /// [`DecisionRule::Threshold`].
    pub threshold: Option<f64>,
    /// The classes (indices into `classes`) in the order of the labels of LIBSVM's or LIBLINEAR's
    /// model, for ties as in those programs. Empty: ties as in [`DecisionRule`].
    ///
    /// In this order, a decision value of exactly 0 selects the later class of a pair. The earliest
    /// of classes with equal votes, decision values or probabilities wins.
    pub tie_order: Vec<u32>,
    /// The level τ of each machine, ascending, of a model of several quantiles or expectiles;
    /// otherwise empty.
    pub levels: Vec<f64>,
}
