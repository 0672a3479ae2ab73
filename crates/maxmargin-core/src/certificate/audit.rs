//! Certificates of many solutions at once: every exact kernel value is computed once for all of
//! them.

use crate::certificate::certify::certify_gradient;
use crate::certificate::figures::Certificate;
use crate::certificate::gradient::{coefficients, gradient_from_sums, is_dear};
use crate::certificate::known::{KeptSums, KnownSums};
use crate::certificate::twofold::twofold_for;
use crate::certificate::weights::{CertifiedWeights, certify_weights};
use crate::problem::dual::Dual;
use maxmargin_data::{Cancelled, Par, Progress, RunControl, Stage};
use maxmargin_kernel::Exact;

/// Columns between two reports of progress, for each thread.
const STRIPE: usize = 4096;

/// A solution to be certified.
#[derive(Clone, Copy, Debug)]
pub struct AuditPoint<'a> {
    /// The problem.
    pub dual: &'a Dual,
    /// One α per variable.
    pub alpha: &'a [f64],
    /// The bias. It is ignored without an equality constraint, because it is then inside the
    /// kernel.
    pub bias: f64,
    /// The weights over the features ([`Solution::weights`](crate::Solution::weights)), if the
    /// point has its own.
    pub weights: Option<&'a [f64]>,
    /// A part of its kernel sums, if it is known.
    pub known: Option<KnownSums<'a>>,
}

/// A certificate with the exact numbers behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The certificate.
    pub certificate: Certificate,
    /// The exact gradient `Qα + lin`, one entry per variable.
    pub gradient: Vec<f64>,
    /// The exact `Σ s_l α_l K(id_l, i)` of every sample `i` of the source, inside the problem or
    /// not: decision values without bias.
    pub sums: Vec<f64>,
    /// True if the sums have twice the working precision ([`Exact::twofold`]).
    pub twofold: bool,
    /// True if the sums are products with the point's own weights, and the gradient is theirs. A
    /// point that has weights, and whose α have a smaller gap, is judged without them.
    pub of_weights: bool,
}

/// Certifies many points at once: every kernel value is computed once for all of them. `control`
/// reports the number of samples that are done ([`Stage::Certify`]).
///
/// # Errors
///
/// When `control` ends the run: there are no partial results.
///
/// # Panics
///
/// When an α has another length than its problem, or known sums are not those of all different
/// samples.
pub fn audit<'e>(
    source: impl Into<Exact<'e>>,
    points: &[AuditPoint],
    par: Par,
    control: &RunControl,
) -> Result<Vec<Audit>, Cancelled> {
    let source = source.into();
    let whole = source;
    for AuditPoint { dual, alpha, .. } in points {
        assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
    }
    let (samples, h) = (source.len(), points.len());
    // Equal samples have equal sums: one is computed for all of them.
    let different = source.different();
    let source = different.as_ref().map_or(source, |(different, _)| *different);
    let of = |i: usize| different.as_ref().map_or(i, |(_, of)| of[i] as usize);
    let n = source.len();
    // Sums over features cost the same for any coefficients.
    let uses_known = matches!(source, Exact::Gram(..));
    let known: Vec<Option<KnownSums>> = points.iter().map(|point| point.known.filter(|_| uses_known)).collect();
    let rest = |(point, known): (&AuditPoint, &Option<KnownSums>)| {
        let terms = coefficients(point.dual, whole, point.alpha);
        if let Some(known) = known { known.rest_of(&terms) } else { terms }
    };
    let terms: Vec<Vec<(usize, f64)>> = points.iter().zip(&known).map(rest).collect();
    let terms: Vec<&[(usize, f64)]> = terms.iter().map(Vec::as_slice).collect();
    control.check_now()?;
    let mut sums = vec![0.0; n * h];
    // Features cost two passes for any number of columns.
    let stripe = if matches!(source, Exact::Gram(..)) { STRIPE * par.threads() } else { n.max(1) };
    let empty = terms.iter().all(|terms| terms.is_empty());
    for start in (0..n).step_by(stripe).take_while(|_| !empty) {
        let stage = Stage::Certify { certified: start * samples / n, samples };
        control.set_progress(&Progress { stage, ..Progress::default() });
        let columns = start..n.min(start + stripe);
        let found = source.sums_of(&terms, std::slice::from_ref(&columns), par, control)?;
        for (found, sums) in found.chunks_exact(columns.len()).zip(sums.chunks_exact_mut(n)) {
            sums[columns.clone()].copy_from_slice(found);
        }
    }
    known.iter().zip(sums.chunks_exact_mut(n.max(1))).for_each(|(known, sums)| {
        known.iter().for_each(|known| known.add_to(sums));
    });
    let certify_point = |p: usize| {
        let sums: Vec<f64> = (0..samples).map(|i| sums[p * n + of(i)]).collect();
        let audit = Audit::from_sums(points[p], whole, sums);
        // Several points leave no free thread.
        let (all, par) = (0..samples, if h == 1 { par } else { Par::Seq });
        let audit = match twofold_for(&audit.certificate, whole) {
            Some(twofold) => {
                let sums = twofold.sums_of(&terms[p..=p], std::slice::from_ref(&all), par, control)?;
                Audit::from_sums(points[p], twofold, sums)
            }
            None => audit,
        };
        Ok(Audit::of_weights(points[p], whole, &audit.certificate, par).unwrap_or(audit))
    };
    par.map(h, certify_point).into_iter().collect()
}

impl Audit {
    /// The source of the sums: the one that was audited, or the same in twice the precision.
    pub fn source<'e>(&self, audited: impl Into<Exact<'e>>) -> Exact<'e> {
        let plain = audited.into();
        plain.twofold().filter(|_| self.twofold).unwrap_or(plain)
    }

    /// Returns the kernel sums of the point, for audits of points near it ([`KeptSums::near`]).
    /// `None` where a new sum takes no noticeable time, or kernel values are not what sums cost.
    ///
    /// # Panics
    ///
    /// When there is not one α per variable.
    pub fn kept_sums<'e>(&self, dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64]) -> Option<KeptSums> {
        assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
        let source = source.into();
        if !matches!(source, Exact::Gram(..)) || self.of_weights {
            return None;
        }
        let terms = coefficients(dual, source, alpha);
        let different = source.different();
        let rows = different.as_ref().map_or(source.len(), |(different, _)| different.len());
        if !is_dear(terms.len(), rows) {
            return None;
        }
        let (mut coef, mut sums) = (vec![0.0; rows], vec![0.0; rows]);
        terms.into_iter().for_each(|(i, c)| coef[i] = c);
        for (i, sum) in self.sums.iter().enumerate() {
            sums[different.as_ref().map_or(i, |(_, of)| of[i] as usize)] = *sum;
        }
        Some(KeptSums { coef, sums })
    }

    /// Certifies a point by its own weights, if it has some that are nearer to the optimum than the
    /// sum over its support vectors.
    fn of_weights(point: AuditPoint, source: Exact, of_sum: &Certificate, par: Par) -> Option<Self> {
        let own = (point.weights?, point.bias);
        let CertifiedWeights { certificate, gradient, sums } =
            certify_weights(point.dual, source, point.alpha, own, of_sum, par)?;
        Some(Self { certificate, gradient, sums, twofold: true, of_weights: true })
    }

    /// Certifies a point by its sums, which are those of `source`.
    fn from_sums(point: AuditPoint, source: Exact, sums: Vec<f64>) -> Self {
        let AuditPoint { dual, alpha, bias, .. } = point;
        let gradient = gradient_from_sums(dual, alpha, |i| sums[i]);
        let certificate = certify_gradient(dual, source, alpha, bias, &gradient);
        Self { certificate, gradient, sums, twofold: source.is_twofold(), of_weights: false }
    }
}
