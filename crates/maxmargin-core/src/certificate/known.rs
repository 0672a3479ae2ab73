//! Kernel sums of a part of the coefficients of a point.

use crate::certificate::gradient::{coefficients, gradient_from_sums};
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
