//! The certificate of one solution, recomputed in `f64` from exact kernel values.

use crate::certificate::certify::certify_gradient;
use crate::certificate::figures::Certificate;
use crate::certificate::gradient::exact_gradient;
use crate::certificate::twofold::twofold_for;
use crate::certificate::weights::certify_weights;
use crate::problem::dual::Dual;
use crate::problem::solution::Solution;
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::Exact;

/// Certifies one solution from kernel values computed anew, or from features (in twice the working
/// precision, where plain sums round too much).
///
/// # Panics
///
/// When `solution` does not have one α per variable of `dual`, or the problem names rows that
/// `source` does not have.
pub fn certify<'e>(dual: &Dual, source: impl Into<Exact<'e>>, solution: &Solution, par: Par) -> Certificate {
    let source = source.into();
    let at = |source: Exact<'e>| {
        let gradient = exact_gradient(dual, source, &solution.alpha, par, &RunControl::unlimited()).expect("unlimited");
        certify_gradient(dual, source, &solution.alpha, solution.bias, &gradient)
    };
    let plain = at(source);
    let of_sum = twofold_for(&plain, source).map_or(plain, at);
    let Some(weights) = &solution.weights else { return of_sum };
    let own = certify_weights(dual, source, &solution.alpha, (weights, solution.bias), &of_sum, par);
    own.map_or(of_sum, |own| own.certificate)
}
