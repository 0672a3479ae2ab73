//! The gradient from exact kernel values.

use crate::linalg::dense::exact_sum;
use crate::problem::dual::{Dual, Segment};
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::Exact;
use std::collections::HashMap;
use std::ops::Range;

/// The shortest runs of samples, on average, that are worth a block of kernel values each.
const RUN: usize = 64;

/// The update of a gradient is used if at most one in this many support vectors has changed.
const CHANGED: usize = 4;

/// The number of kernel values that take no noticeable time. A complete sum has slightly less
/// rounding than a sum and a difference.
const CHEAP: usize = 1 << 24;

/// Returns `Qα + lin` in `f64` from kernel values in `f64` or from features, one entry per
/// variable. Solvers confirm convergence with it ([`exact_sums`]).
///
/// # Errors
///
/// When `control` ends the run.
///
/// # Panics
///
/// When there is not one α per variable, or the problem names samples that the Gram matrix does not
/// have.
pub fn exact_gradient<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    alpha: &[f64],
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
    let source = source.into();
    check_rows(dual, source);
    moved_by(dual, source, dual.linear_term(), alpha, par, control)
}

/// Returns `Qα + lin` from `Σ_l s_l α_l K(id_l, i)`, which `sum` returns for a sample `i`.
pub fn gradient_from_sums(dual: &Dual, alpha: &[f64], sum: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..dual.len()).map(|k| dual.sign()[k] * sum(dual.ids()[k]) + dual.ridge_of(k) * alpha[k] + dual.linear_term()[k]).collect()
}

/// Asserts that the source has every row of the problem.
pub(crate) fn check_rows(dual: &Dual, source: Exact) {
    if let Some(row) = dual.missing_row(source.len()) {
        panic!("the problem names row {row}, the matrix has {} rows", source.len());
    }
}

/// Returns `gradient + Q change`: the gradient of the point after `change`.
fn moved_by<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    gradient: &[f64],
    change: &[f64],
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let source = source.into();
    let (ids, coef): (Vec<usize>, Vec<f64>) = coefficients(dual, source, change).into_iter().unzip();
    if ids.is_empty() {
        return Ok((0..dual.len()).map(|k| dual.ridge_of(k) * change[k] + gradient[k]).collect());
    }
    let sums = match source.different() {
        Some((different, of)) => {
            let sums = different.sums(&ids, &coef, 1, 0..different.len(), par, control)?;
            dual.ids().iter().map(|&id| sums[of[id] as usize]).collect()
        }
        None => exact_sums(dual, source, &ids, &coef, par, control)?,
    };
    Ok((0..dual.len()).map(|k| dual.sign()[k] * sums[k] + dual.ridge_of(k) * change[k] + gradient[k]).collect())
}

/// Returns the nonzero coefficients `Σ s_k α_k` of samples, by ascending sample; of the different
/// samples, if equal ones are joined. The common part of a sample's variables cancels exactly, for
/// kernel values of any size.
pub(crate) fn coefficients(dual: &Dual, source: Exact, alpha: &[f64]) -> Vec<(usize, f64)> {
    let different = source.different();
    let place = |id: usize| different.as_ref().map_or(id, |(_, of)| of[id] as usize);
    let moved = (0..dual.len()).filter(|&k| alpha[k] != 0.0);
    let mut terms: Vec<(usize, f64)> = moved.map(|k| (place(dual.ids()[k]), dual.sign()[k] * alpha[k])).collect();
    // Usually every sample has one variable, in the order of the samples.
    if terms.is_sorted_by(|a, b| a.0 < b.0) {
        return terms;
    }
    // A stable sort: the terms of one sample are added in the order of the variables. Where large
    // terms cancel, the rest must be exact.
    terms.sort_by_key(|term| term.0);
    let of_sample = |group: &[(usize, f64)]| (group[0].0, exact_sum(group.iter().map(|term| term.1)));
    terms.chunk_by(|a, b| a.0 == b.0).map(of_sample).filter(|term| term.1 != 0.0).collect()
}

/// Returns true if a sum over so many support vectors, for so many samples, takes noticeable time.
pub(crate) fn is_dear(support: usize, samples: usize) -> bool {
    support.saturating_mul(samples) > CHEAP
}

/// The number of some coefficients, and the sum of their absolute values.
pub(crate) struct Size {
    pub(crate) count: usize,
    pub(crate) weight: f64,
}

/// Returns true if a point is so near to another one that its sums are worth a difference.
pub(crate) fn is_near(changed: &Size, all: &Size) -> bool {
    CHANGED * changed.count <= all.count && changed.weight <= all.weight
}

/// Exact gradients of points near each other, of one problem.
///
/// The first gradient is computed completely ([`exact_gradient`]). On a large problem it is the
/// base of later ones: only the changes since then cost kernel values. That requires that at most a
/// fourth of the support changed, by less than the total weight. Every gradient is then one sum, or
/// one sum and the sum of a difference, so rounding does not grow with their number. A point
/// further away becomes the next base.
#[derive(Clone, Debug)]
pub struct NearGradients {
    /// The number of kernel values below which every gradient is computed completely.
    cheap: usize,
    /// α and gradient of the base.
    base: Option<(Vec<f64>, Vec<f64>)>,
}

impl Default for NearGradients {
    fn default() -> Self {
        Self::beyond(CHEAP)
    }
}

impl NearGradients {
    /// Starts without a base. Gradients of fewer kernel values than `cheap` are always computed
    /// completely.
    pub fn beyond(cheap: usize) -> Self {
        Self { cheap, base: None }
    }

    /// Returns `Qα + lin` at `alpha`, checking for cancellation.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
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
        control: &RunControl,
    ) -> Result<Vec<f64>, Cancelled> {
        assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
        let support = alpha.iter().filter(|a| **a != 0.0).count();
        let dear = support.saturating_mul(dual.len()) > self.cheap;
        if let Some((from, gradient)) = self.base.as_ref().filter(|_| dear) {
            let change: Vec<f64> = alpha.iter().zip(from).map(|(a, from)| a - from).collect();
            let count = change.iter().filter(|by| **by != 0.0).count();
            let changed = Size { count, weight: change.iter().map(|by| by.abs()).sum() };
            if is_near(&changed, &Size { count: support, weight: alpha.iter().sum() }) {
                return moved_by(dual, source, gradient, &change, par, control);
            }
        }
        let gradient = exact_gradient(dual, source, alpha, par, control)?;
        self.base = Some((alpha.to_vec(), gradient.clone()));
        Ok(gradient)
    }
}

/// Returns `Σ_l coef_l K(ids_l, id_k)` from exact kernel values, one entry per variable `k` of the
/// problem. If its samples lie in few runs, only they cost kernel values.
///
/// # Errors
///
/// When the run is cancelled.
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
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let source = source.into();
    let sums = |columns: Range<usize>| source.sums(ids, coef, 1, columns, par, control);
    if dual.segments().len() * RUN > dual.len() {
        let all = sums(0..source.len())?;
        return Ok(dual.ids().iter().map(|&id| all[id]).collect());
    }
    let mut found = Vec::with_capacity(dual.len());
    // The two variables of each regression sample share one sum.
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
