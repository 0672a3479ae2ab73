//! Equal samples of one sign as one variable: the same problem in fewer.

use maxmargin_core::{Balance, Dual, Solution, Start};
use maxmargin_kernel::{Distinct, Merged, Rows};

/// A problem whose copies are joined, and the way back.
pub(crate) struct Joined<'r> {
    pub(crate) dual: Dual,
    merged: &'r Merged,
    /// The joined variable of each variable.
    of: Vec<usize>,
}

impl<'r> Joined<'r> {
    /// `dual` with one variable for all copies of a sample that have one sign, its box as large as theirs together. Nothing where there are few copies, where copies
    /// differ in more than their boxes, or where the problem is not one of sums and boxes alone.
    pub(crate) fn new(dual: &Dual, rows: &'r Rows<'_>) -> Option<Self> {
        if !matches!(dual.balance(), Balance::Sum(_)) || !dual.has_one_ridge() || dual.ridge() != 0.0 {
            return None;
        }
        if dual.upper().iter().any(|u| u.is_infinite()) || dual.lin().iter().any(|p| *p != dual.lin()[0]) {
            return None;
        }
        // Samples are compared only for problems that can be joined.
        let merged = rows.merged()?;
        let Distinct { first, of: kind, mixed } = merged.distinct();
        let (kinds, ids, sign) = (first.len(), dual.ids(), dual.sign());
        // Every kind with the sign of its first variable; then those whose copies may have both with the other.
        let mut signs = vec![0.0; kinds];
        for (k, &id) in ids.iter().enumerate() {
            let sign_of = &mut signs[kind[id] as usize];
            if *sign_of == 0.0 {
                *sign_of = sign[k];
            }
        }
        let place = |k: usize| {
            let at = kind[ids[k]] as usize;
            // Nothing: signs that are not those of the marks.
            if sign[k] == signs[at] { Some(at) } else { (at >= *mixed).then(|| kinds + at - mixed) }
        };
        let of = (0..dual.len()).map(place).collect::<Option<Vec<usize>>>()?;
        let mut upper = vec![0.0; 2 * kinds - mixed];
        for (k, &at) in of.iter().enumerate() {
            upper[at] += dual.upper()[k];
        }
        let other = upper[kinds..].iter().any(|u| *u > 0.0);
        upper.truncate(if other { upper.len() } else { kinds });
        // Passes go over those with an empty box, too: what takes no part in a fold.
        let used = upper.iter().filter(|u| **u > 0.0).count();
        if 10 * used > 9 * dual.len() || 8 * upper.len() > 9 * dual.len() {
            return None;
        }
        // A kind that is not there has a box of nothing, and any sign.
        signs.iter_mut().filter(|s| **s == 0.0).for_each(|s| *s = 1.0);
        let ids = (0..kinds).chain(*mixed..kinds).take(upper.len()).collect();
        let signs = (0..upper.len()).map(|at| if at < kinds { signs[at] } else { -signs[at - kinds + mixed] }).collect();
        let lin = vec![dual.lin()[0]; upper.len()];
        let dual = Dual::new(ids, signs, lin, upper, 0.0, dual.balance()).ok()?;
        Some(Self { dual, merged, of })
    }

    /// One row for each kind of sample.
    pub(crate) fn rows(&self) -> &'r Rows<'static> {
        self.merged.rows()
    }

    /// A start of the whole problem in these variables.
    pub(crate) fn start(&self, whole: &Start) -> Option<Start> {
        let start = Start::checked(&self.dual, self.together(whole.alpha())).ok()?;
        Some(match whole.gradient() {
            Some(gradient) => start.with_gradient(self.gradient(gradient)),
            None => start,
        })
    }

    /// α of the joined variables.
    pub(crate) fn together(&self, whole: &[f64]) -> Vec<f64> {
        let mut alpha = vec![0.0; self.dual.len()];
        whole.iter().zip(&self.of).for_each(|(a, &at)| alpha[at] += a);
        // Sums round past the sum of the boxes.
        alpha.iter_mut().zip(self.dual.upper()).for_each(|(a, u)| *a = a.min(*u));
        alpha
    }

    /// Their gradient: that of any copy.
    pub(crate) fn gradient(&self, whole: &[f64]) -> Vec<f64> {
        // Who does not take part has no gradient that anybody reads.
        let mut gradient = self.dual.lin().to_vec();
        whole.iter().zip(&self.of).for_each(|(g, &at)| gradient[at] = *g);
        gradient
    }

    /// The solution with every copy's share of α, in proportion to its box.
    pub(crate) fn apart(&self, whole: &Dual, solution: &Solution) -> Solution {
        let (alpha, gradient) = self.taken_apart(whole, &solution.alpha, &solution.gradient);
        Solution { alpha, gradient, ..*solution }
    }

    /// α and gradient of every copy.
    pub(crate) fn taken_apart(&self, whole: &Dual, alpha: &[f64], gradient: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let share = |k: usize| {
            let (at, upper) = (self.of[k], whole.upper()[k]);
            let (alpha, all) = (alpha[at], self.dual.upper()[at]);
            if alpha == all { upper } else { (alpha * (upper / all)).min(upper) }
        };
        ((0..whole.len()).map(share).collect(), self.of.iter().map(|&at| gradient[at]).collect())
    }
}
