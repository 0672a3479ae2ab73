//! The gradient from exact kernel values.

use crate::dual::Dual;
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, apply_exact};

/// `Qα + lin` in `f64` from kernel values in `f64`, one entry per variable: what solvers confirm convergence with.
///
/// # Panics
///
/// When there is not one α per variable, or the problem names samples that the Gram matrix does not have.
pub fn exact_gradient(dual: &Dual, gram: &dyn Gram, alpha: &[f64], par: Par) -> Vec<f64> {
    assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
    let (mut ids, mut coef) = (Vec::new(), Vec::new());
    for k in (0..dual.len()).filter(|&k| alpha[k] != 0.0) {
        ids.push(dual.ids()[k]);
        coef.push(dual.sign()[k] * alpha[k]);
    }
    if ids.is_empty() {
        return dual.lin().to_vec();
    }
    let sums = apply_exact(gram, &ids, &coef, 1, 0..gram.len(), par);
    (0..dual.len()).map(|k| dual.sign()[k] * sums[dual.ids()[k]] + dual.ridge_of(k) * alpha[k] + dual.lin()[k]).collect()
}
