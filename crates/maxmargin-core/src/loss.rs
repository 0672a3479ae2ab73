//! Which SVM: the loss, and what becomes of the bias.

use serde::{Deserialize, Serialize};

/// The price of a margin missed by `ξ`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// `C ξ` (L1 loss; LIBSVM's C-SVC, LIBLINEAR's `-s 3`).
    #[default]
    Hinge,
    /// `C ξ²` (L2 loss; LIBLINEAR's `-s 1` and `-s 2`).
    SquaredHinge,
}

/// The bias of a decision function `w · x + b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BiasTerm {
    /// `b` costs nothing, as in kernel SVMs: the dual has a balance of sums.
    #[default]
    Free,
    /// `b = value · w_b`, where `w_b` is regularised like every weight: one more feature of this
    /// value (LIBLINEAR's `-B`).
    Feature(f64),
    /// `b = 0`.
    None,
}

impl BiasTerm {
    /// The value of the additional feature, if that is what the bias is.
    pub fn feature(self) -> Option<f64> {
        match self {
            BiasTerm::Feature(value) => Some(value),
            BiasTerm::Free | BiasTerm::None => None,
        }
    }
}
