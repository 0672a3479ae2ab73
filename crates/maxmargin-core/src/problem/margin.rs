//! Linear machines with a differentiable loss of the margin: logistic regression and the squared
//! hinge loss, with either norm of the weights.

use serde::{Deserialize, Serialize};

/// A convex, differentiable loss `ℓ(z)` of the margin `z = y w·x`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarginLoss {
    /// `log(1 + exp(−z))`: logistic regression.
    #[default]
    Logistic,
    /// `max(0, 1 − z)²`.
    SquaredHinge,
}

/// A loss and its derivatives at one margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossValues {
    /// `ℓ(z)`.
    pub value: f64,
    /// `−ℓ'(z)`, at least 0: the dual variable of the sample as a share of its cost.
    pub share: f64,
    /// `ℓ''(z)`, where the squared hinge has 2 below the margin 1 and 0 from it on.
    pub curvature: f64,
}

impl MarginLoss {
    /// Returns the loss and its derivatives at the margin `z`.
    #[inline]
    pub fn at(self, z: f64) -> LossValues {
        match self {
            Self::Logistic => {
                // exp(−|z|) never overflows.
                let e = (-z.abs()).exp();
                let share = if z >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
                LossValues { value: e.ln_1p() + (-z).max(0.0), share, curvature: e / ((1.0 + e) * (1.0 + e)) }
            }
            Self::SquaredHinge => {
                let slack = (1.0 - z).max(0.0);
                LossValues { value: slack * slack, share: 2.0 * slack, curvature: if z < 1.0 { 2.0 } else { 0.0 } }
            }
        }
    }

    /// Returns `min over z of ℓ(z) + share z`: the part of the dual objective of a sample with cost
    /// 1. It is `−∞` outside the domain of the conjugate.
    #[inline]
    pub fn conjugate(self, share: f64) -> f64 {
        match self {
            Self::Logistic if (0.0..=1.0).contains(&share) => entropy(share),
            Self::SquaredHinge if share >= 0.0 => share - 0.25 * share * share,
            _ => f64::NEG_INFINITY,
        }
    }

    /// The largest curvature.
    pub fn largest_curvature(self) -> f64 {
        match self {
            Self::Logistic => 0.25,
            Self::SquaredHinge => 2.0,
        }
    }
}

/// Returns `−p log p − (1 − p) log(1 − p)`, accurate for the smallest p.
fn entropy(p: f64) -> f64 {
    let of_share = if p > 0.0 { -p * p.ln() } else { 0.0 };
    let of_rest = if p < 1.0 { -(1.0 - p) * (-p).ln_1p() } else { 0.0 };
    of_share + of_rest
}

/// The norm of the weights in the objective of a linear machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalty {
    /// `½ Σ w_j²`.
    #[default]
    L2,
    /// `Σ |w_j|`: most weights of features that do not help are 0.
    L1,
}

/// The reason why costs and signs are no [`MarginProblem`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MarginProblemError {
    /// The lists have different lengths.
    #[error("{costs} costs for {signs} classes; give one cost for each sample")]
    Length {
        /// The number of costs.
        costs: usize,
        /// The number of signs.
        signs: usize,
    },
    /// A class that is neither 1 nor −1.
    #[error("sample {row}: the class is {sign} instead of 1 or -1")]
    Sign {
        /// The sample.
        row: usize,
        /// Its sign.
        sign: f64,
    },
    /// A cost that is negative or not finite.
    #[error("sample {row}: the cost is {cost}; give a finite number of at least 0")]
    Cost {
        /// The sample.
        row: usize,
        /// Its cost.
        cost: f64,
    },
}

/// A linear machine `min penalty(w) + Σ C_i ℓ(y_i w·x_i)` over the rows of a feature matrix.
///
/// Its dual is `max Σ C_i g(α_i / C_i) − ½‖u‖²` for the L2 norm, and `max Σ C_i g(α_i / C_i)` with
/// `|u_j| ≤ 1` for the L1 norm, where `u = Σ α_i y_i x_i` and g is [`MarginLoss::conjugate`]. See
/// `docs/math/margin-losses.md`.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginProblem {
    loss: MarginLoss,
    penalty: Penalty,
    sign: Vec<f64>,
    cost: Vec<f64>,
    free_bias: bool,
}

impl MarginProblem {
    /// Returns the problem of row `i` of a matrix with class `sign[i]` (1 or −1) and cost
    /// `cost[i]`. Rows of cost 0 take no part.
    ///
    /// # Errors
    ///
    /// When the lengths differ, a sign is neither 1 nor −1, or a cost is negative or not finite.
    pub fn new(loss: MarginLoss, penalty: Penalty, sign: Vec<f64>, cost: Vec<f64>) -> Result<Self, MarginProblemError> {
        if sign.len() != cost.len() {
            return Err(MarginProblemError::Length { costs: cost.len(), signs: sign.len() });
        }
        if let Some(row) = sign.iter().position(|sign| sign.abs() != 1.0) {
            return Err(MarginProblemError::Sign { row, sign: sign[row] });
        }
        if let Some(row) = cost.iter().position(|cost| !(cost.is_finite() && *cost >= 0.0)) {
            return Err(MarginProblemError::Cost { row, cost: cost[row] });
        }
        Ok(Self { loss, penalty, sign, cost, free_bias: false })
    }

    /// Leaves the weight of the additional feature of the matrix, its last column, out of the
    /// penalty.
    #[must_use]
    pub fn with_free_bias(self) -> Self {
        Self { free_bias: true, ..self }
    }

    /// The loss.
    pub fn loss(&self) -> MarginLoss {
        self.loss
    }

    /// The norm of the weights.
    pub fn penalty(&self) -> Penalty {
        self.penalty
    }

    /// The class of each row, 1 or −1.
    pub fn sign(&self) -> &[f64] {
        &self.sign
    }

    /// The cost of each row.
    pub fn cost(&self) -> &[f64] {
        &self.cost
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.sign.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.sign.is_empty()
    }

    /// Returns the column that the penalty leaves out, for a matrix of `width` columns.
    pub fn free_column(&self, width: usize) -> Option<usize> {
        if self.free_bias { width.checked_sub(1) } else { None }
    }

    /// Returns the penalty of `w`.
    pub fn penalty_of(&self, w: &[f64]) -> f64 {
        let w = &w[..self.free_column(w.len()).unwrap_or(w.len())];
        match self.penalty {
            Penalty::L2 => 0.5 * w.iter().map(|w| w * w).sum::<f64>(),
            Penalty::L1 => w.iter().map(|w| w.abs()).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn problems_that_are_none_say_where() {
        let of = |sign: &[f64], cost: &[f64]| {
            MarginProblem::new(MarginLoss::Logistic, Penalty::L2, sign.to_vec(), cost.to_vec()).map_err(|error| error.to_string())
        };
        assert!(of(&[1.0, -1.0], &[0.0, 2.0]).is_ok());
        assert!(of(&[1.0], &[]).expect_err("lengths").contains("0 costs for 1 classes"));
        assert!(of(&[1.0, 0.0], &[1.0, 1.0]).expect_err("sign").contains("sample 1: the class is 0"));
        assert!(of(&[1.0, 1.0], &[1.0, f64::NAN]).expect_err("cost").contains("sample 1: the cost is NaN"));
    }

    proptest! {
        /// Derivatives are those of the values, and the conjugate is the least of `ℓ(z) + share z`.
        #[test]
        fn derivatives_and_conjugates_belong_to_the_loss(z in -40.0..40.0_f64, other in -40.0..40.0_f64) {
            for loss in [MarginLoss::Logistic, MarginLoss::SquaredHinge] {
                let at = loss.at(z);
                let step = 1e-5;
                let (up, down) = (loss.at(z + step), loss.at(z - step));
                prop_assert!(((down.value - up.value) / (2.0 * step) - at.share).abs() <= 1e-5 * (1.0 + at.share));
                if (z - 1.0).abs() > step {
                    prop_assert!(((down.share - up.share) / (2.0 * step) - at.curvature).abs() <= 1e-5);
                }
                let least = loss.conjugate(at.share);
                prop_assert!((at.value + at.share * z - least).abs() <= 1e-9 * (1.0 + at.value + z.abs()));
                if loss == MarginLoss::Logistic && z > 1.0 {
                    // A large cost multiplies the smallest share.
                    prop_assert!((at.value + at.share * z - least).abs() <= 1e-14 * at.share * z);
                }
                prop_assert!(loss.at(other).value + at.share * other >= least - 1e-9 * (1.0 + least.abs()));
                prop_assert_eq!(loss.conjugate(-1e-9), f64::NEG_INFINITY);
            }
            prop_assert_eq!(MarginLoss::Logistic.conjugate(1.5), f64::NEG_INFINITY);
        }
    }
}
