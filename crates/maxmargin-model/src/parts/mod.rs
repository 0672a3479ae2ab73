//! All numbers of a model, before anything is checked.

pub(crate) mod check;
mod machine;
mod record;

pub use machine::Machine;
pub use record::{MachineRecord, Record, data_sha256, numbers_sha256};

use crate::calibration::Calibration;
use crate::decision::{DecisionRule, Multiclass};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Encoder, Samples};
use maxmargin_kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Bytes that another crate keeps in a model file (such as the state of an incremental solver),
/// found by tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Whose bytes these are, padded with zeros.
    pub tag: [u8; 8],
    /// Opaque here.
    pub bytes: Vec<u8>,
}

/// All numbers of a model, before anything is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// The kernel.
    pub kernel: Kernel,
    /// Vectors of all machines (scaled, if there is a scaler). For a precomputed kernel: column 0
    /// with the serial numbers, nothing else.
    pub support: Samples,
    /// The decision functions: as many as `decision_rule` needs for the classes, and in its order.
    pub machines: Vec<Machine>,
    /// How decision values become labels.
    pub decision_rule: DecisionRule,
    /// The labels, in any order.
    pub classes: Vec<f64>,
    /// The number that files give to the first feature: 0 or 1.
    pub index_base: u32,
    /// Applied to samples before the kernel.
    pub scaler: Option<Scaler>,
    /// How the model was trained; none for models from elsewhere.
    pub record: Option<Record>,
    /// Bytes of other crates.
    pub sections: Vec<Section>,
    /// Which classes the machines tell apart.
    pub multiclass: Multiclass,
    /// How decision values become probabilities: one for each machine, or none at all.
    pub calibration: Vec<Calibration>,
    /// The columns of the table that the model was trained on, and what fills their gaps: applied
    /// before the scaler.
    pub encoder: Option<Encoder>,
    /// Of two classes: the decision value from which on it is the second, for
    /// [`DecisionRule::Threshold`].
    pub threshold: Option<f64>,
    /// The classes (places in `classes`) in the order of the labels of LIBSVM's or LIBLINEAR's
    /// model, where ties are decided as theirs: a decision value of exactly 0 is for the later of a
    /// pair, and of equal votes, decision values or probabilities the earliest wins. Empty: as
    /// [`DecisionRule`] says.
    pub tie_order: Vec<u32>,
}
