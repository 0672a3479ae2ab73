//! The gradient from exact kernel values.

use crate::dual::{Dual, Segment};
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_kernel::Exact;
use std::collections::HashMap;
use std::ops::Range;

/// Shortest runs of samples, on average, that are worth a block of kernel values each.
const RUN: usize = 64;

/// `Qα + lin` in `f64` from kernel values in `f64` or from features, one entry per variable: what solvers confirm convergence with
/// ([`exact_sums`]).
///
/// # Panics
///
/// When there is not one α per variable, or the problem names samples that the Gram matrix does not have.
pub fn exact_gradient<'e>(dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64], par: Par) -> Vec<f64> {
    exact_gradient_asking(dual, source, alpha, par, &Asking::nobody()).unwrap_or_default()
}

/// [`exact_gradient`], asking now and then whether to go on.
///
/// # Errors
///
/// When it was called off.
///
/// # Panics
///
/// As [`exact_gradient`].
pub fn exact_gradient_asking<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    alpha: &[f64],
    par: Par,
    asking: &Asking,
) -> Result<Vec<f64>, Halted> {
    assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
    let (mut ids, mut coef) = (Vec::new(), Vec::new());
    for k in (0..dual.len()).filter(|&k| alpha[k] != 0.0) {
        ids.push(dual.ids()[k]);
        coef.push(dual.sign()[k] * alpha[k]);
    }
    if ids.is_empty() {
        return Ok(dual.lin().to_vec());
    }
    let sums = exact_sums(dual, source, &ids, &coef, par, asking)?;
    Ok((0..dual.len()).map(|k| dual.sign()[k] * sums[k] + dual.ridge_of(k) * alpha[k] + dual.lin()[k]).collect())
}

/// `Σ_l coef_l K(ids_l, id_k)` from exact kernel values, one entry per variable `k` of the problem. Only its samples cost kernel values where they lie
/// in few runs.
///
/// # Errors
///
/// When it was called off.
///
/// # Panics
///
/// When there is not one coefficient per id, or the Gram matrix does not have the samples.
pub fn exact_sums<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    ids: &[usize],
    coef: &[f64],
    par: Par,
    asking: &Asking,
) -> Result<Vec<f64>, Halted> {
    let source = source.into();
    let sums = |columns: Range<usize>| source.sums_asking(ids, coef, 1, columns, par, asking);
    if dual.segments().len() * RUN > dual.len() {
        let all = sums(0..source.len())?;
        return Ok(dual.ids().iter().map(|&id| all[id]).collect());
    }
    let mut found = Vec::with_capacity(dual.len());
    // The two variables of each sample of regression have one sum.
    let mut known: HashMap<&Range<usize>, usize> = HashMap::new();
    for Segment { ids, .. } in dual.segments() {
        if let Some(&at) = known.get(ids) {
            found.extend_from_within(at..at + ids.len());
        } else {
            known.insert(ids, found.len());
            found.extend(sums(ids.clone())?);
        }
    }
    Ok(found)
}
