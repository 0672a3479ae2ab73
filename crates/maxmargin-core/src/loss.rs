//! Which SVM: the loss, and what becomes of the bias.

use crate::dual::{Balance, Dual, DualError};
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
pub enum Offset {
    /// `b` costs nothing, as in kernel SVMs: the dual has a balance of sums.
    #[default]
    Free,
    /// `b = value · w_b`, where `w_b` is regularised like every weight: one more feature of this value (LIBLINEAR's `-B`).
    Feature(f64),
    /// `b = 0`.
    None,
}

impl Offset {
    /// The balance of the dual.
    pub fn balance(self) -> Balance {
        match self {
            Offset::Free => Balance::Sum(0.0),
            Offset::Feature(_) | Offset::None => Balance::Free,
        }
    }

    /// The value of the additional feature, if that is what the bias is.
    pub fn feature(self) -> Option<f64> {
        match self {
            Offset::Feature(value) => Some(value),
            Offset::Free | Offset::None => None,
        }
    }
}

impl Dual {
    /// The dual of a two-class SVM with this loss and bias: `labels[k]` is ±1 and `c[k]` the `C` of the sample `ids[k]`.
    ///
    /// # Errors
    ///
    /// As [`Dual::c_svc`]. One class alone is a problem only without a free bias.
    pub fn svc(loss: Loss, offset: Offset, ids: Vec<usize>, labels: Vec<f64>, c: Vec<f64>) -> Result<Self, DualError> {
        match (loss, offset) {
            (Loss::Hinge, Offset::Free) => Self::c_svc(ids, labels, c),
            (Loss::Hinge, _) => {
                if let Some((variable, &value)) = c.iter().enumerate().find(|(_, c)| !c.is_finite()) {
                    return Err(DualError::Upper { variable, value });
                }
                let lin = vec![-1.0; ids.len()];
                Self::new(ids, labels, lin, c, 0.0, Balance::Free)
            }
            (Loss::SquaredHinge, offset) => Self::squared_hinge(ids, labels, &c, offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_a_dual() {
        let make = |loss, offset| Dual::svc(loss, offset, vec![0, 1], vec![1.0, -1.0], vec![2.0, 4.0]).expect("a problem");
        let hinge = make(Loss::Hinge, Offset::None);
        assert_eq!((hinge.balance(), hinge.upper(), hinge.ridge()), (Balance::Free, &[2.0, 4.0][..], 0.0));
        assert_eq!(make(Loss::Hinge, Offset::Free).balance(), Balance::Sum(0.0));
        let squared = make(Loss::SquaredHinge, Offset::Feature(1.0));
        assert_eq!((squared.balance(), squared.ridge_of(0), squared.ridge_of(1)), (Balance::Free, 0.25, 0.125));
        assert!(squared.upper().iter().all(|u| u.is_infinite()) && !squared.has_one_ridge());
        let one = |offset| Dual::svc(Loss::SquaredHinge, offset, vec![0, 1], vec![1.0; 2], vec![1.0; 2]);
        assert_eq!(one(Offset::Free), Err(DualError::OneClass));
        assert!(one(Offset::None).is_ok());
        let wrong = Dual::svc(Loss::SquaredHinge, Offset::None, vec![0], vec![1.0], vec![0.0]);
        assert_eq!(wrong, Err(DualError::Upper { variable: 0, value: 0.0 }));
    }
}
