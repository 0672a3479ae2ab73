//! The conversion of C's problem and parameters into Rust values.

use crate::c;
use maxmargin::data::{Dataset, Samples};
use maxmargin::libsvm::Parameters;

/// Returns the parameters.
///
/// # Safety
///
/// `weight_label` and `weight` are null or have `nr_weight` values each.
pub(crate) unsafe fn parameters(given: &c::Parameter) -> Parameters {
    // SAFETY: the caller's promise.
    let (labels, weights) = unsafe { (c::slice(given.weight_label, given.nr_weight), c::slice(given.weight, given.nr_weight)) };
    Parameters {
        svm_type: given.svm_type,
        kernel_type: given.kernel_type,
        degree: given.degree,
        gamma: given.gamma,
        coef0: given.coef0,
        cache_size: given.cache_size,
        eps: given.eps,
        c: given.C,
        weights: labels.iter().copied().zip(weights.iter().copied()).collect(),
        nu: given.nu,
        p: given.p,
        shrinking: given.shrinking,
        probability: given.probability,
    }
}

/// Returns the labels of a problem.
///
/// # Safety
///
/// `y` is null or has `l` values.
pub(crate) unsafe fn labels(given: &c::SvmProblem) -> Vec<f64> {
    // SAFETY: the caller's promise.
    unsafe { c::slice(given.y, given.l) }.to_vec()
}

/// Returns a copy of the rows and labels.
///
/// # Errors
///
/// When indices do not ascend or are negative, or a number is not finite.
///
/// # Safety
///
/// `y` is null or has `l` values, `x` is null or has `l` rows, each null or ended by index −1.
pub(crate) unsafe fn data(given: &c::SvmProblem) -> Result<Dataset, String> {
    // SAFETY: the caller's promise.
    let rows = unsafe { c::slice(given.x.cast_const(), given.l) };
    // SAFETY: likewise.
    let rows: Vec<&[c::Node]> = rows.iter().map(|row| unsafe { c::nodes(*row) }).collect();
    let base = u32::from(!rows.iter().any(|row| row.first().is_some_and(|node| node.index == 0)));
    let (mut offsets, mut indices, mut values, mut width) = (vec![0], Vec::new(), Vec::new(), 0);
    for (at, row) in rows.iter().enumerate() {
        for node in *row {
            let column = u32::try_from(node.index).ok().and_then(|index| index.checked_sub(base));
            let column = column.ok_or_else(|| format!("row {at}: index {}", node.index))?;
            width = width.max(column as usize + 1);
            indices.push(column);
            values.push(node.value);
        }
        offsets.push(indices.len());
    }
    let samples = Samples::from_sparse(width, offsets, indices, values).map_err(|error| error.to_string())?;
    // SAFETY: the caller's promise.
    let labels = unsafe { labels(given) };
    let data = Dataset::from_samples(samples.compact(), &labels).map_err(|error| error.to_string())?;
    Ok(Dataset { index_base: base, ..data })
}
