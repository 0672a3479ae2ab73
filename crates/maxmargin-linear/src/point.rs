//! A point of the dual and what is computed from it alone: w, margins, gradient, certificate.

use maxmargin_core::{Certificate, Dual, bias_of, certify_gradient};
use maxmargin_data::Par;
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::{FeatureRows, Job};
use maxmargin_kernel::features::{combine, products};

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
        *g = dual.sign()[k] * *g + dual.ridge_of(k) * alpha[k] + dual.lin()[k];
    }
    let bias = bias_of(dual, alpha, &gradient);
    let certificate = certify_gradient(dual, alpha, bias, &gradient);
    Fresh { w, gradient, bias, certificate }
}

/// What an α is worth, computed from nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// (feature, weight), features ascending, zeros left out.
    pub w: Vec<(u32, f64)>,
    /// What is added to `w · x`, whichever kind of bias the problem has.
    pub bias: f64,
    /// Primal, dual, KKT violation and feasibility.
    pub certificate: Certificate,
}

/// Recomputes weights, bias and certificate from `alpha`, in `f64`.
///
/// # Panics
///
/// When `alpha` does not have one entry per variable, or the problem names rows that the matrix does not have.
pub fn judge(matrix: &Matrix, dual: &Dual, alpha: &[f64], par: Par) -> Judged {
    assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
    let fresh = matrix.visit(Again { dual, alpha, par });
    let (w, feature_bias) = matrix.unpack(&fresh.w);
    Judged { w, bias: fresh.bias + feature_bias, certificate: fresh.certificate }
}

struct Again<'a> {
    dual: &'a Dual,
    alpha: &'a [f64],
    par: Par,
}

impl Job for Again<'_> {
    type Out = Fresh;

    fn run<R: FeatureRows>(self, rows: &R) -> Fresh {
        fresh(rows, self.dual, self.alpha, self.par)
    }
}
