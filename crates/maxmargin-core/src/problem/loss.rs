//! The loss of an SVM and the kind of its bias.

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
    /// An unregularised `b`, as in kernel SVMs: the dual has an equality constraint.
    #[default]
    Free,
    /// `b = value · w_b`, where `w_b` is regularised like every weight: one more feature of this
    /// value (LIBLINEAR's `-B`).
    Feature(f64),
    /// `b = 0`.
    None,
}

impl BiasTerm {
    /// Returns the value of the additional feature, if the bias is one.
    pub fn feature(self) -> Option<f64> {
        match self {
            BiasTerm::Feature(value) => Some(value),
            BiasTerm::Free | BiasTerm::None => None,
        }
    }
}
