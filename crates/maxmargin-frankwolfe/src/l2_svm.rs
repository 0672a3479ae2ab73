//! The L2-SVM as a problem on the simplex, its solution in the ordinary scaling, and the decision
//! function.

use maxmargin_core::{Dual, DualError, EqualityConstraint, Solution};

/// Returns the L2-SVM dual on the simplex: `min ½ αᵀQα`, `Q_kl = y_k y_l K_kl + δ_kl / C`, `Σ α =
/// 1`, `α ≥ 0` (Frandi et al. 2013, equation 12).
///
/// Solve it over a Gram matrix that contains the bias: `K = k + 1`, which is
/// [`maxmargin_kernel::OffsetGram`]. Its primal is `½ (‖w‖² + b² + C Σ ξ²) − ρ` with `y_k f(x_k) ≥
/// ρ − ξ_k`.
///
/// # Errors
///
/// As [`Dual::new`]; when `c` is not positive and finite, a [`DualError::NotFinite`] of the ridge
/// `1 / c`.
pub fn l2_svm(ids: Vec<usize>, labels: Vec<f64>, c: f64) -> Result<Dual, DualError> {
    let n = ids.len();
    // For an impossible C (0, negative, infinite or NaN) the ridge is NaN, which `Dual::new`
    // refuses.
    let ridge = if c > 0.0 && c.is_finite() { 1.0 / c } else { f64::NAN };
    Dual::new(ids, labels, vec![0.0; n], vec![f64::INFINITY; n], ridge, EqualityConstraint::Simplex)
}

/// The solution of the L2-SVM with margins at 1: `min ½ (‖w‖² + b²) + C/2 Σ ξ²`, `y_k f(x_k) ≥ 1 −
/// ξ_k`.
#[derive(Clone, Debug, PartialEq)]
pub struct L2Svm {
    /// The values `α / αᵀQα`, one per variable: they minimise `½ aᵀQa − Σ a` over `a ≥ 0`.
    pub alpha: Vec<f64>,
    /// The minimum, `−1 / 2 αᵀQα`.
    pub objective: f64,
}

/// Returns the solution in the ordinary scaling. For a fixed direction α of the cone `a ≥ 0`, `½ t²
/// αᵀQα − t` is least at `t = 1 / αᵀQα` with value `−1 / 2 αᵀQα`. So the best direction is the
/// minimiser on the simplex. The relative gap of the value is that of `αᵀQα`.
///
/// Returns `None` if `αᵀQα` is not positive: the problem in the ordinary scaling then has no finite
/// optimum. With a ridge it is always positive.
pub fn ordinary(dual: &Dual, solution: &Solution) -> Option<L2Svm> {
    let terms = solution.alpha.iter().zip(&solution.gradient).zip(dual.linear_term());
    let square: f64 = terms.map(|((a, g), p)| a * (g - p)).sum();
    let alpha = solution.alpha.iter().map(|a| a / square).collect();
    (square > 0.0 && square.is_finite()).then(|| L2Svm { alpha, objective: -0.5 / square })
}

/// The decision function `h(x) = Σ coef_k k(x_k, x) + bias` over the kernel without the bias.
#[derive(Clone, Debug, PartialEq)]
pub struct L2SvmDecision {
    /// One coefficient per variable.
    pub coef: Vec<f64>,
    /// The sum of the constant inside the kernel.
    pub bias: f64,
}

/// Returns the decision function of an α of either scaling; `bias_term` is the constant inside the
/// kernel (1 for the L2-SVM).
pub fn decision(dual: &Dual, alpha: &[f64], bias_term: f64) -> L2SvmDecision {
    let coef: Vec<f64> = alpha.iter().zip(dual.sign()).map(|(a, s)| s * a).collect();
    let bias = bias_term * coef.iter().sum::<f64>();
    L2SvmDecision { coef, bias }
}
