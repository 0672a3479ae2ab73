//! The boxes of a machine's coefficients, one for each kernel row.

use maxmargin_core::Dual;

/// The box `low_i…high_i` of `β_i = Σ s_k α_k` over the variables of row `i`. With two classes a
/// row has one variable, and the box one side of 0. Regression has two variables a row, and both
/// sides.
#[derive(Clone, Debug)]
pub(crate) struct RowBoxes<'a> {
    dual: &'a Dual,
    low: Vec<f64>,
    high: Vec<f64>,
    target: Vec<f64>,
}

impl<'a> RowBoxes<'a> {
    /// The rows `0…rows` of a problem of all samples.
    pub(crate) fn new(dual: &'a Dual, rows: usize) -> Self {
        let (mut low, mut high, mut target) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows]);
        for (k, &i) in dual.ids().iter().enumerate() {
            let (s, u) = (dual.sign()[k], dual.upper()[k]);
            if s > 0.0 {
                high[i] = u;
            } else {
                low[i] = -u;
            }
            target[i] = -s * dual.linear_term()[k];
        }
        Self { dual, low, high, target }
    }

    /// The problem of all samples.
    pub(crate) fn dual(&self) -> &'a Dual {
        self.dual
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.low.len()
    }

    /// `−s` times the linear term of the row; with two classes, its label.
    pub(crate) fn target(&self, i: usize) -> f64 {
        self.target[i]
    }

    /// The lower end of each box.
    pub(crate) fn low(&self) -> &[f64] {
        &self.low
    }

    /// The upper end of each box.
    pub(crate) fn high(&self) -> &[f64] {
        &self.high
    }

    /// The distance that `β_i` may move in the direction of `amount`.
    pub(crate) fn room(&self, i: usize, beta: f64, amount: f64) -> f64 {
        if amount > 0.0 { self.high[i] - beta } else { beta - self.low[i] }
    }

    /// The nearest value that `β_i` may have.
    pub(crate) fn clamp(&self, i: usize, beta: f64) -> f64 {
        beta.clamp(self.low[i], self.high[i])
    }

    /// Returns true if `β_i` is neither 0 nor at a bound.
    pub(crate) fn is_free(&self, i: usize, beta: f64) -> bool {
        beta != 0.0 && beta > self.low[i] && beta < self.high[i]
    }

    /// Returns true if the boxes of two rows have the same sides of 0.
    pub(crate) fn same_side(&self, i: usize, j: usize) -> bool {
        (self.low[i] < 0.0, self.high[i] > 0.0) == (self.low[j] < 0.0, self.high[j] > 0.0)
    }

    /// The largest part of `amount` in the box of row `i`. A box with one side takes it on that
    /// side.
    pub(crate) fn carried(&self, i: usize, amount: f64) -> f64 {
        let side = if amount > 0.0 { self.high[i] > 0.0 } else { self.low[i] < 0.0 };
        self.clamp(i, if side { amount } else { -amount })
    }

    /// The largest bound.
    pub(crate) fn scale(&self) -> f64 {
        self.high.iter().zip(&self.low).fold(0.0, |most: f64, (high, low)| most.max(*high).max(-low))
    }
}

/// α of the variables of `dual` for the `β` of every row.
pub(crate) fn alpha_of(dual: &Dual, beta: &[f64]) -> Vec<f64> {
    dual.ids().iter().zip(dual.sign()).map(|(&i, s)| (s * beta[i]).max(0.0)).collect()
}

/// `β = Σ s_k α_k` of every row, over its variables.
pub(crate) fn beta_of(dual: &Dual, alpha: &[f64], rows: usize) -> Vec<f64> {
    let mut beta = vec![0.0; rows];
    dual.ids().iter().enumerate().for_each(|(k, &i)| beta[i] += dual.sign()[k] * alpha[k]);
    beta
}

/// The kernel sum of the row of variable `k`, from its gradient.
pub(crate) fn sum_of(dual: &Dual, k: usize, alpha: f64, gradient: f64) -> f64 {
    dual.sign()[k] * (gradient - dual.ridge_of(k) * alpha - dual.linear_term()[k])
}
