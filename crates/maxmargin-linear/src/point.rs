//! A point of the dual with all values that follow from its α: w, gradient, bias, certificate.

use maxmargin_core::{Certificate, Dual, bias_of, figures};
use maxmargin_data::Par;
use maxmargin_kernel::features::{FeatureRows, combine, products};

/// The values that follow from α, computed anew.
#[derive(Clone, Debug)]
pub(crate) struct PointValues {
    /// `Σ s_k α_k x_k`.
    pub(crate) w: Vec<f64>,
    /// `Qα + lin`.
    pub(crate) gradient: Vec<f64>,
    /// The unregularised bias; 0 if there is none.
    pub(crate) bias: f64,
    pub(crate) certificate: Certificate,
}

/// Computes all values from `alpha`: two passes over the data.
pub(crate) fn point_values<R: FeatureRows>(rows: &R, dual: &Dual, alpha: &[f64], par: Par) -> PointValues {
    let coef: Vec<f64> = alpha.iter().zip(dual.sign()).map(|(a, s)| a * s).collect();
    let w = combine(rows, dual.ids(), &coef, par);
    let mut gradient = vec![0.0; dual.len()];
    products(rows, dual.ids(), &w, &mut gradient, par);
    for (k, g) in gradient.iter_mut().enumerate() {
        *g = dual.sign()[k] * *g + dual.ridge_of(k) * alpha[k] + dual.linear_term()[k];
    }
    let bias = bias_of(dual, alpha, &gradient);
    let certificate = figures(dual, alpha, bias, &gradient);
    PointValues { w, gradient, bias, certificate }
}
