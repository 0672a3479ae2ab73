//! The passes of a matrix over its rows.

use super::{CHUNK, FeatureRows, Job, combine, combine_precisely, products};
use maxmargin_data::Par;

pub(super) struct Products<'a> {
    pub(super) w: &'a [f64],
    pub(super) ids: &'a [usize],
    pub(super) par: Par,
}

impl Job for Products<'_> {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        assert_eq!(self.w.len(), rows.width(), "one weight per column");
        let mut out = vec![0.0; self.ids.len()];
        products(rows, self.ids, self.w, &mut out, self.par);
        out
    }
}

pub(super) struct SquareOfSum<'a> {
    pub(super) ids: &'a [usize],
    pub(super) coef: &'a [f64],
    pub(super) par: Par,
}

impl Job for SquareOfSum<'_> {
    type Out = f64;

    fn run<R: FeatureRows>(self, rows: &R) -> f64 {
        combine_precisely(rows, self.ids, self.coef, self.par).iter().map(|sum| sum.powi(2)).sum()
    }
}

pub(super) struct ProductSizes<'a> {
    pub(super) w: &'a [f64],
    pub(super) ids: &'a [usize],
    pub(super) par: Par,
}

impl Job for ProductSizes<'_> {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        assert_eq!(self.w.len(), rows.width(), "one weight per column");
        let mut out = vec![0.0; self.ids.len()];
        self.par.for_chunks(&mut out, CHUNK, |chunk, out| {
            for (size, &id) in out.iter_mut().zip(&self.ids[chunk * CHUNK..]) {
                rows.each(id, |at, value| *size += (self.w[at] * value).abs());
            }
        });
        out
    }
}

pub(super) struct Weights<'a> {
    pub(super) ids: &'a [usize],
    pub(super) coef: &'a [f64],
    /// True if the sum is computed in twice the working precision.
    pub(super) is_precise: bool,
    pub(super) par: Par,
}

impl Job for Weights<'_> {
    type Out = Vec<f64>;

    fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
        let sum = if self.is_precise { combine_precisely } else { combine };
        sum(rows, self.ids, self.coef, self.par)
    }
}
