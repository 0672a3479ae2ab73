//! Distances as sums of squared differences. `‖x‖² + ‖z‖² − 2 xᵀz` cancels for samples that are
//! close to each other and far from the origin.

use crate::store::slice_kernel::SliceKernel;
use std::ops::Range;

/// Largest error of an exponent for which distances are computed from norms and dot products in
/// `f64`.
pub(crate) const EXPONENT_ERROR: f64 = 1e-9;

/// The error of such a distance in units in the last place of the sum of both norms.
const UNITS: f64 = 8.0;

/// Returns whether an RBF kernel with this `gamma` needs sums of squared differences for squared
/// norms up to `norm`: certificates would not tolerate the error of distances from norms.
pub(crate) fn needs_differences(gamma: f64, norm: f64) -> bool {
    let error = UNITS * f64::EPSILON * gamma * norm;
    error.is_nan() || error > EXPONENT_ERROR
}

/// The error of an RBF kernel value after rounding the data to at most 255 multiples of a unit,
/// where `exponent` is `γ max ‖x‖²`.
///
/// A distance between different multiples has a relative error, and if γ times the distance is
/// large, the kernel value is practically 0. A distance between equal multiples has the error of
/// the squared rounding of the data.
pub(crate) fn multiples_error(exponent: f64) -> f64 {
    let rounded = UNITS * f64::EPSILON;
    256.0 * rounded + rounded * rounded * exponent
}

/// Writes norms (all 0) and dot products from which [`SliceKernel`] computes these distances.
fn as_products(distances: &[f64], norms: &mut Vec<f64>, dots: &mut Vec<f64>) {
    norms.clear();
    norms.resize(distances.len(), 0.0);
    dots.clear();
    dots.extend(distances.iter().map(|distance| -0.5 * distance));
}

/// A callback for distances of a row that writes kernel values in `f64`, row-major over `columns`.
pub(crate) fn with_distances64<'o>(
    function: &'o SliceKernel,
    columns: &Range<usize>,
    out: &'o mut [f64],
) -> impl FnMut(usize, Range<usize>, &[f64]) + 'o {
    let (first, count) = (columns.start, columns.len());
    let (mut norms, mut dots) = (Vec::new(), Vec::new());
    move |r, part, distances| {
        as_products(distances, &mut norms, &mut dots);
        function.fill64(0.0, &norms, &dots, &mut out[r * count..][part.start - first..part.end - first]);
    }
}

/// A callback for distances of a row that writes kernel values in `f32`, one slice per row.
pub(crate) fn with_distances32<'o, 's>(
    function: &'o SliceKernel,
    columns: &Range<usize>,
    out: &'o mut [&'s mut [f32]],
) -> impl FnMut(usize, Range<usize>, &[f64]) + use<'o, 's> {
    let first = columns.start;
    let (mut norms, mut dots) = (Vec::new(), Vec::new());
    move |r, part, distances| {
        as_products(distances, &mut norms, &mut dots);
        function.fill32_from64(0.0, &norms, &dots, &mut out[r][part.start - first..part.end - first]);
    }
}
