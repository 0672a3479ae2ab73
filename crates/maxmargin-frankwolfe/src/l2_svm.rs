//! The L2-SVM as a problem on the simplex, its solution in the ordinary scaling, and the decision
//! function.

use maxmargin_core::{Dual, DualError, EqualityConstraint, Solution};

/// The L2-SVM dual on the simplex: `min ½ αᵀQα`, `Q_kl = y_k y_l K_kl + δ_kl / C`, `Σ α = 1`, `α ≥
/// 0` (Frandi et al. 2013, equation 12).
///
/// The problem is to be solved over a Gram matrix that has the bias inside: `K = k + 1`, which is
/// [`maxmargin_kernel::OffsetGram`]. Its primal is `½ (‖w‖² + b² + C Σ ξ²) − ρ` with `y_k f(x_k) ≥
/// ρ − ξ_k`.
///
/// # Errors
///
/// As [`Dual::new`]; when `c` is not positive and finite, a [`DualError::NotFinite`] of the ridge
/// `1 / c`.
pub fn l2_svm(ids: Vec<usize>, labels: Vec<f64>, c: f64) -> Result<Dual, DualError> {
    let n = ids.len();
    // 1/C of a C that is not positive and finite is no ridge: 0, negative, infinite or not a
    // number.
    let ridge = if c > 0.0 && c.is_finite() { 1.0 / c } else { f64::NAN };
    Dual::new(ids, labels, vec![0.0; n], vec![f64::INFINITY; n], ridge, EqualityConstraint::Simplex)
}

/// The solution of the L2-SVM with margins at 1: `min ½ (‖w‖² + b²) + C/2 Σ ξ²`, `y_k f(x_k) ≥ 1 −
/// ξ_k`.
#[derive(Clone, Debug, PartialEq)]
pub struct L2Svm {
    /// `α / αᵀQα`, one per variable: they minimise `½ aᵀQa − Σ a` over `a ≥ 0`.
    pub alpha: Vec<f64>,
    /// That minimum, `−1 / 2 αᵀQα`.
    pub objective: f64,
}

/// The solution in the ordinary scaling. For a fixed direction α of the cone `a ≥ 0`, `½ t² αᵀQα −
/// t` is least at `t = 1 / αᵀQα` with value `−1 / 2 αᵀQα`: the best direction is the minimiser on
/// the simplex. The relative gap of the value is that of `αᵀQα`.
///
/// None when `αᵀQα` is not positive: the problem in the ordinary scaling has no finite optimum
/// then. With a ridge it always is.
pub fn ordinary(dual: &Dual, solution: &Solution) -> Option<L2Svm> {
    let terms = solution.alpha.iter().zip(&solution.gradient).zip(dual.linear_term());
    let square: f64 = terms.map(|((a, g), p)| a * (g - p)).sum();
    let alpha = solution.alpha.iter().map(|a| a / square).collect();
    (square > 0.0 && square.is_finite()).then(|| L2Svm { alpha, objective: -0.5 / square })
}

/// `h(x) = Σ coef_k k(x_k, x) + bias` over the kernel without the bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// One per variable.
    pub coef: Vec<f64>,
    /// What the constant inside the kernel adds up to.
    pub bias: f64,
}

/// The decision function of an α of either scaling; `offset` is the constant inside the kernel (1
/// for the L2-SVM).
pub fn decision(dual: &Dual, alpha: &[f64], bias_term: f64) -> Decision {
    let coef: Vec<f64> = alpha.iter().zip(dual.sign()).map(|(a, s)| s * a).collect();
    let bias = bias_term * coef.iter().sum::<f64>();
    Decision { coef, bias }
}
