//! Distances that norms and products cannot tell: `‖x‖² + ‖z‖² − 2 xᵀz` cancels where samples are
//! near each other and far from the origin.

use crate::entry::Entry;
use std::ops::Range;

/// Largest error of an exponent that distances from norms and products may make in `f64`.
pub(crate) const EXPONENT_ERROR: f64 = 1e-9;

/// Units in the last place of both norms together by which such a distance may be off.
const UNITS: f64 = 8.0;

/// Whether squared norms up to `norm` make an RBF kernel of this `gamma` lose more than
/// certificates can take.
pub(crate) fn needs_differences(gamma: f64, norm: f64) -> bool {
    let error = UNITS * f64::EPSILON * gamma * norm;
    error.is_nan() || error > EXPONENT_ERROR
}

/// The error of an RBF kernel value where values were rounded to at most 255 multiples of a unit,
/// `exponent` being `γ max ‖x‖²`. A distance between different multiples is off by a share of
/// itself, and γ times it is as good as infinite where it is large; one between equal multiples is
/// off by the square of what the values were rounded by.
pub(crate) fn multiples_error(exponent: f64) -> f64 {
    let rounded = UNITS * f64::EPSILON;
    256.0 * rounded + rounded * rounded * exponent
}

/// Norms of samples and dot products for which [`Entry`] finds these distances: the norms are 0.
fn as_products(distances: &[f64], norms: &mut Vec<f64>, dots: &mut Vec<f64>) {
    norms.clear();
    norms.resize(distances.len(), 0.0);
    dots.clear();
    dots.extend(distances.iter().map(|distance| -0.5 * distance));
}

/// Takes distances of a row and writes kernel values in `f64`, row-major over `columns`.
pub(crate) fn with_distances64<'o>(
    entry: &'o Entry,
    columns: &Range<usize>,
    out: &'o mut [f64],
) -> impl FnMut(usize, Range<usize>, &[f64]) + 'o {
    let (first, count) = (columns.start, columns.len());
    let (mut norms, mut dots) = (Vec::new(), Vec::new());
    move |r, part, distances| {
        as_products(distances, &mut norms, &mut dots);
        entry.fill64(0.0, &norms, &dots, &mut out[r * count..][part.start - first..part.end - first]);
    }
}

/// Takes distances of a row and writes kernel values in `f32`, a slice for each row.
pub(crate) fn with_distances32<'o, 's>(
    entry: &'o Entry,
    columns: &Range<usize>,
    out: &'o mut [&'s mut [f32]],
) -> impl FnMut(usize, Range<usize>, &[f64]) + use<'o, 's> {
    let first = columns.start;
    let (mut norms, mut dots) = (Vec::new(), Vec::new());
    move |r, part, distances| {
        as_products(distances, &mut norms, &mut dots);
        entry.fill32_from64(0.0, &norms, &dots, &mut out[r][part.start - first..part.end - first]);
    }
}
