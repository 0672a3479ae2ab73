//! A point of the dual and what is computed from it alone: w, margins, gradient, certificate.

use maxmargin_core::{Certificate, Dual, bias_of, figures};
use maxmargin_data::Par;
use maxmargin_kernel::features::{FeatureRows, combine, products};

/// What α alone implies, computed afresh.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    /// `Σ s_k α_k x_k`
    pub(crate) w: Vec<f64>,
    /// `Qα + lin`
    pub(crate) gradient: Vec<f64>,
    /// The unregularised bias; 0 where there is none.
    pub(crate) bias: f64,
    pub(crate) certificate: Certificate,
}

/// Recomputes everything from `alpha`: two passes over the data.
pub(crate) fn fresh<R: FeatureRows>(rows: &R, dual: &Dual, alpha: &[f64], par: Par) -> Fresh {
    let coef: Vec<f64> = alpha.iter().zip(dual.sign()).map(|(a, s)| a * s).collect();
    let w = combine(rows, dual.ids(), &coef, par);
    let mut gradient = vec![0.0; dual.len()];
    products(rows, dual.ids(), &w, &mut gradient, par);
    for (k, g) in gradient.iter_mut().enumerate() {
        *g = dual.sign()[k] * *g + dual.ridge_of(k) * alpha[k] + dual.linear_term()[k];
    }
    let bias = bias_of(dual, alpha, &gradient);
    let certificate = figures(dual, alpha, bias, &gradient);
    Fresh { w, gradient, bias, certificate }
}
