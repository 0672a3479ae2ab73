//! The gradient from exact kernel values.

use crate::dense::exact_sum;
use crate::dual::{Dual, Segment};
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_kernel::Exact;
use std::collections::HashMap;
use std::ops::Range;

/// Shortest runs of samples, on average, that are worth a block of kernel values each.
const RUN: usize = 64;

/// One in so many of the support may have changed where what has changed is all that is added up.
const CHANGED: usize = 4;

/// So many kernel values take no time: a sum of all has a little less rounding than one and a
/// difference.
const CHEAP: usize = 1 << 24;

/// `Qα + lin` in `f64` from kernel values in `f64` or from features, one entry per variable: what
/// solvers confirm convergence with ([`exact_sums`]).
///
/// # Panics
///
/// When there is not one α per variable, or the problem names samples that the Gram matrix does not
/// have.
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
    moved_by(dual, source, dual.linear_term(), alpha, par, asking)
}

/// `gradient + Q change`: the gradient of a point that `change` leads to.
fn moved_by<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    gradient: &[f64],
    change: &[f64],
    par: Par,
    asking: &Asking,
) -> Result<Vec<f64>, Halted> {
    let source = source.into();
    let (ids, coef): (Vec<usize>, Vec<f64>) = coefficients(dual, source, change).into_iter().unzip();
    if ids.is_empty() {
        return Ok((0..dual.len()).map(|k| dual.ridge_of(k) * change[k] + gradient[k]).collect());
    }
    let sums = match source.different() {
        Some((different, of)) => {
            let sums = different.sums_asking(&ids, &coef, 1, 0..different.len(), par, asking)?;
            dual.ids().iter().map(|&id| sums[of[id] as usize]).collect()
        }
        None => exact_sums(dual, source, &ids, &coef, par, asking)?,
    };
    Ok((0..dual.len()).map(|k| dual.sign()[k] * sums[k] + dual.ridge_of(k) * change[k] + gradient[k]).collect())
}

/// The coefficients `Σ s_k α_k` of samples, by ascending sample, where they are not 0: of those
/// that differ, where equal ones are joined. What the variables of a sample have in common cancels
/// exactly, however large its kernel values are.
pub(crate) fn coefficients(dual: &Dual, source: Exact, alpha: &[f64]) -> Vec<(usize, f64)> {
    let different = source.different();
    let place = |id: usize| different.as_ref().map_or(id, |(_, of)| of[id] as usize);
    let moved = (0..dual.len()).filter(|&k| alpha[k] != 0.0);
    let mut terms: Vec<(usize, f64)> = moved.map(|k| (place(dual.ids()[k]), dual.sign()[k] * alpha[k])).collect();
    // A stable sort: terms of one sample are added in the order of the variables. What is left of
    // large ones that cancel must be right.
    terms.sort_by_key(|term| term.0);
    let of_sample = |group: &[(usize, f64)]| (group[0].0, exact_sum(group.iter().map(|term| term.1)));
    terms.chunk_by(|a, b| a.0 == b.0).map(of_sample).filter(|term| term.1 != 0.0).collect()
}

/// Exact gradients of points that lie near each other, of one problem.
///
/// The first is computed afresh ([`exact_gradient`]) and is the base of those that follow, where a
/// problem is large: what has changed since costs kernel values, if that is at most a fourth of the
/// support and moves less than all of it weighs. Every gradient is then one sum, or one and the sum
/// of a difference, so that rounding does not grow with their number; a point further away is the
/// next base.
#[derive(Clone, Debug)]
pub struct NearGradients {
    /// Kernel values below which a gradient is computed afresh in any case.
    cheap: usize,
    /// α and gradient of the last point that was computed afresh.
    base: Option<(Vec<f64>, Vec<f64>)>,
}

impl Default for NearGradients {
    fn default() -> Self {
        Self::beyond(CHEAP)
    }
}

impl NearGradients {
    /// No gradient yet; all of fewer kernel values than these are computed afresh.
    pub fn beyond(cheap: usize) -> Self {
        Self { cheap, base: None }
    }

    /// `Qα + lin` at `alpha`, asking now and then whether to go on.
    ///
    /// # Errors
    ///
    /// When it was called off.
    ///
    /// # Panics
    ///
    /// As [`exact_gradient`].
    pub fn at<'e>(
        &mut self,
        dual: &Dual,
        source: impl Into<Exact<'e>>,
        alpha: &[f64],
        par: Par,
        asking: &Asking,
    ) -> Result<Vec<f64>, Halted> {
        assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
        let support = alpha.iter().filter(|a| **a != 0.0).count();
        let dear = support.saturating_mul(dual.len()) > self.cheap;
        if let Some((from, gradient)) = self.base.as_ref().filter(|_| dear) {
            let change: Vec<f64> = alpha.iter().zip(from).map(|(a, from)| a - from).collect();
            let changed = change.iter().filter(|by| **by != 0.0).count();
            let moved: f64 = change.iter().map(|by| by.abs()).sum();
            if CHANGED * changed <= support && moved <= alpha.iter().sum() {
                return moved_by(dual, source, gradient, &change, par, asking);
            }
        }
        let gradient = exact_gradient_asking(dual, source, alpha, par, asking)?;
        self.base = Some((alpha.to_vec(), gradient.clone()));
        Ok(gradient)
    }
}

/// `Σ_l coef_l K(ids_l, id_k)` from exact kernel values, one entry per variable `k` of the problem.
/// Only its samples cost kernel values where they lie in few runs.
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
