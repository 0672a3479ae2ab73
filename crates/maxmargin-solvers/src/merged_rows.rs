//! Equal samples of one sign as one variable: the same problem in fewer variables.

use maxmargin_core::dense::exact_sum;
use maxmargin_core::{Dual, EqualityConstraint, Solution, Start};
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_kernel::{Distinct, DistinctRows, Rows};
use std::ops::Range;

/// The length of an unused stretch that ends a run; shorter stretches stay inside it.
const GAP: usize = 256;

/// The used places, as runs without a long unused stretch.
fn stretches(there: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..there.len()).filter(|&at| there[at]) {
        match runs.last_mut() {
            Some(run) if at < run.end + GAP => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// A problem in merged variables, and the way back to the variables of the rows.
pub struct MergedRows<'r> {
    dual: Dual,
    merged: &'r DistinctRows,
    /// The merged variable of each variable.
    of: Vec<usize>,
}

impl<'r> MergedRows<'r> {
    /// Merges the variables of equal samples that have one sign; the box of a merged variable is as
    /// large as theirs together. None where there are few copies, where copies differ in more than
    /// their boxes, or where the problem has more than one sum and boxes.
    ///
    /// # Errors
    ///
    /// When the comparison of samples is cancelled.
    pub fn new(dual: &Dual, rows: &'r Rows<'_>, control: &RunControl) -> Result<Option<Self>, Cancelled> {
        if !matches!(dual.balance(), EqualityConstraint::Sum(_)) || !dual.has_one_ridge() || dual.ridge() != 0.0 {
            return Ok(None);
        }
        if dual.upper().iter().any(|u| u.is_infinite()) || dual.linear_term().iter().any(|p| *p != dual.linear_term()[0]) {
            return Ok(None);
        }
        // Only problems whose rows can be merged pay for the comparison of samples.
        Ok(rows.merged(control)?.and_then(|merged| Self::over(merged, dual)))
    }

    fn over(merged: &'r DistinctRows, dual: &Dual) -> Option<Self> {
        let Distinct { first, of: kind, mixed, .. } = merged.distinct();
        let (kinds, ids, sign) = (first.len(), dual.ids(), dual.sign());
        // Each kind of sample has a place for the sign of its first variable; kinds whose copies
        // may have both signs have a second place for the other.
        let mut signs = vec![0.0; kinds];
        for (k, &id) in ids.iter().enumerate() {
            let sign_of = &mut signs[kind[id] as usize];
            if *sign_of == 0.0 {
                *sign_of = sign[k];
            }
        }
        let place = |k: usize| {
            let at = kind[ids[k]] as usize;
            // Without a result the signs differ from those of the marks, and nothing can be merged.
            if sign[k] == signs[at] { Some(at) } else { (at >= *mixed).then(|| kinds + at - mixed) }
        };
        let mut of = (0..dual.len()).map(place).collect::<Option<Vec<usize>>>()?;
        let mut there = vec![false; 2 * kinds - mixed];
        of.iter().for_each(|&at| there[at] = true);
        let places = stretches(&there);
        let count = places.iter().map(Range::len).sum::<usize>();
        // Passes also visit the few unused places inside runs.
        let used = there.iter().filter(|there| **there).count();
        if 10 * used > 9 * dual.len() || 8 * count > 9 * dual.len() {
            return None;
        }
        let mut moved = vec![usize::MAX; there.len()];
        places.iter().flat_map(Range::clone).enumerate().for_each(|(to, at)| moved[at] = to);
        of.iter_mut().for_each(|at| *at = moved[*at]);
        let mut upper = vec![0.0; count];
        of.iter().zip(dual.upper()).for_each(|(&at, u)| upper[at] += u);
        // An unused place has an empty box, and any sign.
        signs.iter_mut().filter(|s| **s == 0.0).for_each(|s| *s = 1.0);
        let of_place = |at: usize| if at < kinds { (at, signs[at]) } else { (at - kinds + mixed, -signs[at - kinds + mixed]) };
        let (ids, signs) = places.into_iter().flatten().map(of_place).unzip();
        let linear_term = vec![dual.linear_term()[0]; count];
        let dual = Dual::new(ids, signs, linear_term, upper, 0.0, dual.balance()).ok()?;
        Some(Self { dual, merged, of })
    }

    /// The problem in merged variables.
    pub fn dual(&self) -> &Dual {
        &self.dual
    }

    /// The kernel rows, one for each kind of sample.
    pub fn rows(&self) -> &'r Rows<'static> {
        self.merged.rows()
    }

    /// A start of the whole problem in merged variables.
    pub fn start(&self, whole: &Start) -> Option<Start> {
        let start = Start::checked(&self.dual, self.merge(whole.alpha())).ok()?;
        Some(match whole.gradient() {
            Some(gradient) => start.with_gradient(self.gradient(gradient)),
            None => start,
        })
    }

    /// α of the merged variables.
    pub fn merge(&self, whole: &[f64]) -> Vec<f64> {
        let mut alpha = vec![0.0; self.dual.len()];
        whole.iter().zip(&self.of).for_each(|(a, &at)| alpha[at] += a);
        // Rounding may take a sum past the sum of the boxes.
        alpha.iter_mut().zip(self.dual.upper()).for_each(|(a, u)| *a = a.min(*u));
        alpha
    }

    /// The gradient of the merged variables, which is that of any copy.
    pub fn gradient(&self, whole: &[f64]) -> Vec<f64> {
        // Nothing reads the gradient of an unused place.
        let mut gradient = self.dual.linear_term().to_vec();
        whole.iter().zip(&self.of).for_each(|(g, &at)| gradient[at] = *g);
        gradient
    }

    /// The solution in the variables of the rows: each has a share of α in proportion to its box.
    pub fn split(&self, whole: &Dual, solution: &Solution) -> Solution {
        let (alpha, gradient) = self.split_point(whole, &solution.alpha, &solution.gradient);
        Solution { alpha, gradient, weights: None, ..*solution }
    }

    /// A bound on the difference between a gradient of the rows and that of the merged variables:
    /// shares are rounded, so that they do not add up exactly.
    pub fn gradient_error(&self, shares: &[f64], merged: &[f64]) -> f64 {
        let shared = merged.iter().enumerate().map(|(at, alpha)| (at, -alpha));
        let mut terms: Vec<(usize, f64)> = self.of.iter().copied().zip(shares.iter().copied()).chain(shared).collect();
        terms.sort_by_key(|term| term.0);
        let size = |at: usize| self.rows().gram().size(self.dual.ids()[at]);
        let lost = |group: &[(usize, f64)]| exact_sum(group.iter().map(|term| term.1)).abs() * size(group[0].0);
        let mass: f64 = terms.chunk_by(|a, b| a.0 == b.0).map(lost).sum();
        mass * (0..self.dual.len()).map(size).fold(0.0, f64::max)
    }

    /// α and gradient of every row.
    pub fn split_point(&self, whole: &Dual, alpha: &[f64], gradient: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let share = |k: usize| {
            let (at, upper) = (self.of[k], whole.upper()[k]);
            let (alpha, all) = (alpha[at], self.dual.upper()[at]);
            if alpha == all { upper } else { (alpha * (upper / all)).min(upper) }
        };
        ((0..whole.len()).map(share).collect(), self.of.iter().map(|&at| gradient[at]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{GAP, stretches};

    #[test]
    fn long_stretches_of_nothing_are_left_out() {
        let mut there = vec![true; 3 * GAP];
        there[5..7].fill(false);
        there[GAP..2 * GAP].fill(false);
        assert_eq!(stretches(&there), [0..GAP, 2 * GAP..3 * GAP]);
        there[..GAP].fill(false);
        let [run] = &stretches(&there)[..] else { panic!("one run") };
        assert_eq!(*run, 2 * GAP..3 * GAP);
        assert_eq!(stretches(&[false; 9]), []);
        assert_eq!(stretches(&[false, true, false]), std::slice::from_ref(&(1..2)), "one alone");
    }
}
