//! Sums in twice the working precision, for certificates that plain sums would leave open.

use crate::certificate::figures::Certificate;
use maxmargin_kernel::Exact;

/// The rounding error of plain sums that is large: of the relative gap, and of the KKT violation.
/// Stopping rules ask for more than that only near the limit of double precision.
const LARGE_GAP: f64 = 1e-9;
const LARGE_KKT: f64 = 1e-6;

/// Returns the source in twice the precision, if it has such sums and the rounding error of a
/// certificate from plain sums is large.
pub(crate) fn twofold_for<'e>(certificate: &Certificate, source: Exact<'e>) -> Option<Exact<'e>> {
    let is_large = certificate.relative_rounding() > LARGE_GAP || certificate.rounding.kkt > LARGE_KKT;
    source.twofold().filter(|_| is_large)
}
