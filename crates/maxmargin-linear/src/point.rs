//! A point of the dual with all values that follow from its α: w, gradient, bias, certificate.
//!
//! Where features are so large that α in double precision does not hold w, a solver's own w takes
//! the place of the sum over α.

use maxmargin_core::{
    Certificate, Dual, bias_of, dual_objective, figures, figures_of_weights, rounding_of_sums, weights_are_nearer,
};
use maxmargin_data::Par;
use maxmargin_kernel::features::{FeatureRows, products};
use maxmargin_simd::sums::dot;

/// The values that follow from α, computed anew.
#[derive(Clone, Debug)]
pub(crate) struct PointValues {
    /// `Σ s_k α_k x_k`, or a solver's own.
    pub(crate) w: Vec<f64>,
    /// True for a solver's own w.
    pub(crate) has_own_w: bool,
    /// `Qα + lin`, with `s_k (w · x_k)` for its first part if w is a solver's own.
    pub(crate) gradient: Vec<f64>,
    /// The unregularised bias; 0 if there is none.
    pub(crate) bias: f64,
    pub(crate) certificate: Certificate,
}

/// A sum of rows ([`combine`]).
///
/// [`combine`]: maxmargin_kernel::features::combine
type Sum<R> = fn(&R, &[usize], &[f64], Par) -> Vec<f64>;

/// Computes all values from `alpha`: two passes over the data.
pub(crate) fn point_values<R: FeatureRows>(rows: &R, dual: &Dual, alpha: &[f64], sum: Sum<R>, par: Par) -> PointValues {
    let coef: Vec<f64> = alpha.iter().zip(dual.sign()).map(|(a, s)| a * s).collect();
    let w = sum(rows, dual.ids(), &coef, par);
    let gradient = gradient_of(rows, dual, alpha, &w, par);
    let bias = bias_of(dual, alpha, &gradient);
    let certificate = figures(dual, alpha, bias, &gradient);
    PointValues { w, has_own_w: false, gradient, bias, certificate }
}

fn gradient_of<R: FeatureRows>(rows: &R, dual: &Dual, alpha: &[f64], w: &[f64], par: Par) -> Vec<f64> {
    let mut gradient = vec![0.0; dual.len()];
    products(rows, dual.ids(), w, &mut gradient, par);
    for (k, g) in gradient.iter_mut().enumerate() {
        *g = dual.sign()[k] * *g + dual.ridge_of(k) * alpha[k] + dual.linear_term()[k];
    }
    gradient
}

impl PointValues {
    /// Returns the point with the solver's own w and bias in place of the sum over α, if the own w
    /// has a smaller gap.
    pub(crate) fn or_own<R: FeatureRows>(self, rows: &R, dual: &Dual, alpha: &[f64], (w, bias): (&[f64], f64), par: Par) -> Self {
        let gradient = gradient_of(rows, dual, alpha, w, par);
        let objective = dual_objective(dual, alpha, dot(&self.w, &self.w));
        let certificate = figures_of_weights(dual, alpha, (w, bias), &gradient, objective);
        if weights_are_nearer(&certificate, &self.certificate) {
            Self { w: w.to_vec(), has_own_w: true, gradient, bias, certificate }
        } else {
            self
        }
    }
}

/// Returns true if margins by the sum over α have no rounding of the size of `tol`.
///
/// Each α has the rounding of its own size, and with a ridge that of the slack that it follows
/// from: where classes can be separated, α and slacks are nearly 0, and the rounding is all of
/// them.
pub(crate) fn is_exact(dual: &Dual, squares: &[f64], alpha: &[f64], tol: f64) -> bool {
    let (mut mass, mut longest) = (0.0, 0.0_f64);
    for (k, (&id, &alpha)) in dual.ids().iter().zip(alpha).enumerate() {
        let (length, ridge) = (squares[id].sqrt(), dual.ridge_of(k));
        let of_slack = if ridge > 0.0 { dual.linear_term()[k].abs() / ridge } else { 0.0 };
        mass += (alpha + of_slack) * length;
        longest = longest.max(length);
    }
    // A violation is the difference of two margins.
    2.0 * rounding_of_sums(mass, longest) <= tol
}
