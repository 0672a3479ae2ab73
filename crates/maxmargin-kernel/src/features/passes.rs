//! Passes over rows, in chunks whose size does not depend on the number of threads.

use super::FeatureRows;
use maxmargin_data::Par;

/// Rows per task of a pass that writes one number per row.
pub const CHUNK: usize = 4096;

/// Largest number of partial sums of w.
const PARTS: usize = 16;

/// Computes `out_k = x_{ids[k]} · w`.
pub fn products<R: FeatureRows>(rows: &R, ids: &[usize], w: &[f64], out: &mut [f64], par: Par) {
    par.for_chunks(out, CHUNK, |chunk, out| {
        for (out, &id) in out.iter_mut().zip(&ids[chunk * CHUNK..]) {
            *out = rows.dot(id, w);
        }
    });
}

/// Computes `Σ_k coef_k x_{ids[k]}` in partial sums that are added in order. Their number does not
/// depend on the threads.
pub fn combine<R: FeatureRows>(rows: &R, ids: &[usize], coef: &[f64], par: Par) -> Vec<f64> {
    let sums = partial_sums(rows, ids, coef, par, |w: &mut Vec<f64>, id, c| rows.add(id, c, w));
    sums.into_iter().reduce(added).unwrap_or_else(|| vec![0.0; rows.width()])
}

/// Adds the second vector to the first one.
fn added(mut w: Vec<f64>, part: Vec<f64>) -> Vec<f64> {
    w.iter_mut().zip(part).for_each(|(w, p)| *w += p);
    w
}

/// A weight vector in twice the working precision: the sum of both.
#[derive(Clone, Debug)]
pub(crate) struct TwofoldWeights {
    pub(crate) main: Vec<f64>,
    pub(crate) rest: Vec<f64>,
}

impl TwofoldWeights {
    /// Adds to one weight, and the error of the addition to the rest (Knuth's two-sum).
    fn add(&mut self, at: usize, term: f64, error: f64) {
        let before = self.main[at];
        let sum = before + term;
        let virtual_term = sum - before;
        self.main[at] = sum;
        self.rest[at] += (before - (sum - virtual_term)) + (term - virtual_term) + error;
    }

    fn with(mut self, part: &Self) -> Self {
        part.main.iter().zip(&part.rest).enumerate().for_each(|(at, (main, rest))| self.add(at, *main, *rest));
        self
    }
}

/// [`combine`] in twice the working precision: coefficients that cancel leave no rounding of their
/// own size. It costs a few times as much.
pub(crate) fn combine_twofold<R: FeatureRows>(rows: &R, ids: &[usize], coef: &[f64], par: Par) -> TwofoldWeights {
    let sums = partial_sums(rows, ids, coef, par, |w: &mut TwofoldWeights, id, c| {
        rows.each(id, |at, value| {
            let term = c * value;
            w.add(at, term, c.mul_add(value, -term));
        });
    });
    sums.into_iter().reduce(|w, part| w.with(&part)).unwrap_or_else(|| TwofoldWeights::zero(rows.width()))
}

/// [`combine`], rounded once: computed in twice the working precision.
pub fn combine_precisely<R: FeatureRows>(rows: &R, ids: &[usize], coef: &[f64], par: Par) -> Vec<f64> {
    let TwofoldWeights { main, rest } = combine_twofold(rows, ids, coef, par);
    main.into_iter().zip(rest).map(|(main, rest)| main + rest).collect()
}

/// Vectors of zeros that rows are added to.
trait Zero: Send {
    fn zero(width: usize) -> Self;
}

impl Zero for Vec<f64> {
    fn zero(width: usize) -> Self {
        vec![0.0; width]
    }
}

impl Zero for TwofoldWeights {
    fn zero(width: usize) -> Self {
        Self { main: vec![0.0; width], rest: vec![0.0; width] }
    }
}

/// Adds the rows with nonzero coefficients in parts, by `add`.
fn partial_sums<R: FeatureRows, W: Zero>(
    rows: &R,
    ids: &[usize],
    coef: &[f64],
    par: Par,
    add: impl Fn(&mut W, usize, f64) + Sync,
) -> Vec<W> {
    let used = coef.iter().filter(|c| **c != 0.0).count();
    // Clearing and adding a partial sum must not cost more than its rows.
    let work = used * (rows.entries() / rows.len().max(1) + 1);
    let parts = (work / (4 * rows.width() + 1)).clamp(1, PARTS);
    let size = ids.len().div_ceil(parts).max(1);
    par.map(ids.len().div_ceil(size), |part| {
        let mut w = W::zero(rows.width());
        let range = part * size..((part + 1) * size).min(ids.len());
        for (&id, &c) in ids[range.clone()].iter().zip(&coef[range]) {
            if c != 0.0 {
                add(&mut w, id, c);
            }
        }
        w
    })
}
