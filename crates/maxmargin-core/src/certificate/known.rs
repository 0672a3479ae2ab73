//! Kernel sums of a part of the coefficients of a point.

use crate::certificate::gradient::{Size, coefficients, gradient_from_sums, is_near};
use crate::problem::dual::Dual;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::Exact;

/// Exact kernel sums of some coefficients, from which those of a nearby point follow: only the
/// difference of the coefficients costs kernel values.
///
/// Where a source merges equal samples ([`Exact::different`]), they are over the different ones.
#[derive(Clone, Copy, Debug)]
pub struct KnownSums<'a> {
    /// The coefficient of each sample.
    pub coef: &'a [f64],
    /// `Σ_l coef_l K_il` at each sample.
    pub sums: &'a [f64],
}

/// Exact kernel sums of some coefficients that are kept for later points.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptSums {
    /// The coefficient of each sample; of each different one where a source merges equal samples.
    pub coef: Vec<f64>,
    /// `Σ_l coef_l K_il` at each of them.
    pub sums: Vec<f64>,
}

impl KeptSums {
    /// The sums, for any point.
    pub fn get(&self) -> KnownSums<'_> {
        KnownSums { coef: &self.coef, sums: &self.sums }
    }

    /// The sums, if they are of a point so near to `alpha` that a sum and a difference have the
    /// precision of one sum ([`NearGradients`](crate::NearGradients)).
    ///
    /// # Panics
    ///
    /// When there is not one α per variable, or the sums are those of other samples.
    pub fn near<'e>(&self, dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64]) -> Option<KnownSums<'_>> {
        assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
        let (known, terms) = (self.get(), coefficients(dual, source.into(), alpha));
        let size = |terms: &[(usize, f64)]| Size { count: terms.len(), weight: terms.iter().map(|(_, c)| c.abs()).sum() };
        is_near(&size(&known.rest_of(&terms)), &size(&terms)).then_some(known)
    }
}

impl KnownSums<'_> {
    /// The coefficients that the known ones lack of `terms`. A difference in the last digit is
    /// none: it comes from the order in which the coefficients of equal samples were added.
    pub(crate) fn rest_of(&self, terms: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let mut rest: Vec<f64> = self.coef.iter().map(|c| -c).collect();
        terms.iter().for_each(|(i, c)| rest[*i] += c);
        let is_there = |(i, c): &(usize, f64)| c.abs() > f64::EPSILON * self.coef[*i].abs();
        rest.into_iter().enumerate().filter(is_there).collect()
    }

    /// Adds the known sums to those of the rest.
    ///
    /// # Panics
    ///
    /// When there is not one for each.
    pub(crate) fn add_to(&self, sums: &mut [f64]) {
        assert_eq!(sums.len(), self.sums.len(), "one known sum per sample");
        sums.iter_mut().zip(self.sums).for_each(|(sum, known)| *sum += known);
    }

    /// Returns `Qα + lin` in `f64` as [`exact_gradient`](crate::exact_gradient), from kernel values
    /// of the coefficients that are not known.
    ///
    /// # Errors
    ///
    /// When `control` ends the run.
    ///
    /// # Panics
    ///
    /// When there is not one α per variable, or the sums are not those of all (different) samples.
    pub fn gradient<'e>(
        &self,
        dual: &Dual,
        source: impl Into<Exact<'e>>,
        alpha: &[f64],
        par: Par,
        control: &RunControl,
    ) -> Result<Vec<f64>, Cancelled> {
        assert_eq!(alpha.len(), dual.len(), "one alpha per variable");
        let source = source.into();
        let different = source.different();
        let own = different.as_ref().map_or(source, |(different, _)| *different);
        let (ids, coef): (Vec<usize>, Vec<f64>) = self.rest_of(&coefficients(dual, source, alpha)).into_iter().unzip();
        let mut sums = own.sums(&ids, &coef, 1, 0..own.len(), par, control)?;
        self.add_to(&mut sums);
        Ok(gradient_from_sums(dual, alpha, |id| sums[different.as_ref().map_or(id, |(_, of)| of[id] as usize)]))
    }
}

#[cfg(test)]
mod tests {
    //! Audits of a point near another one, from the sums of that one.

    use super::*;
    use crate::certificate::audit::{AuditPoint, audit};
    use maxmargin_data::Samples;
    use maxmargin_kernel::{Kernel, KernelGram, Matrix, Rows};

    #[test]
    fn sums_of_a_point_are_kept_for_points_near_it() {
        // Every sample is there twice, so that sources may merge them.
        let n = 10_000;
        let value = |i: usize| ((i / 2 * 37) % 5003) as f64 / 5003.0;
        let samples = Samples::from_dense(n, 1, (0..n).map(value).collect()).expect("a column");
        let control = RunControl::unlimited();
        let gram = KernelGram::new(&samples, Kernel::rbf(20.0), &control).expect("a kernel");
        let labels = (0..n).map(|i| if value(i) > 0.5 { 1.0 } else { -1.0 }).collect();
        let dual = Dual::c_svc((0..n).collect(), labels, vec![1.0; n]).expect("two classes");
        let rows = Rows::new(&gram, 1 << 20, Par::Seq);
        let merged = Exact::Gram(&gram, rows.merged(&control).expect("unlimited"));
        let at = |source: Exact, alpha: &[f64], known: Option<KnownSums>| {
            let point = AuditPoint { dual: &dual, alpha, bias: 0.1, weights: None, known };
            audit(source, &[point], Par::Seq, &control).expect("unlimited").remove(0)
        };
        let first: Vec<f64> = (0..n).map(|i| (i % 7) as f64 / 7.0).collect();
        let mut second = first.clone();
        second.iter_mut().step_by(50).for_each(|alpha| *alpha = 0.25);
        let mut far = first.clone();
        far.iter_mut().step_by(2).for_each(|alpha| *alpha = 0.25);
        for source in [Exact::from(&gram), merged] {
            let kept = at(source, &first, None).kept_sums(&dual, source, &first);
            let kept = kept.expect("more values than take no time");
            assert!(kept.near(&dual, source, &far).is_none());
            let known = kept.near(&dual, source, &second).expect("a fiftieth has changed");
            let (fresh, near) = (at(source, &second, None), at(source, &second, Some(known)));
            assert!(fresh.sums.iter().zip(&near.sums).all(|(a, b)| (a - b).abs() <= 1e-10), "the same sums");
            assert!((fresh.certificate.kkt - near.certificate.kkt).abs() <= 1e-10);
        }
        // Few values, and sums over features, are computed again.
        let mut few = vec![0.0; n];
        few[3] = 1.0;
        let matrix = Matrix::new(&samples, None, Par::Seq);
        for (source, alpha) in [(Exact::from(&gram), &few), (Exact::from(&matrix), &first)] {
            assert_eq!(at(source, alpha, None).kept_sums(&dual, source, alpha), None);
        }
    }
}
