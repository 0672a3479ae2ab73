//! Platt's sigmoid by Newton's method with backtracking, after H.-T. Lin, C.-J. Lin and R. C. Weng,
//! "A note on Platt's probabilistic outputs for support vector machines", Machine Learning 68
//! (2007).

/// The share of the decrease predicted by the slope that a step must reach (Armijo's condition).
const ARMIJO: f64 = 1e-4;

/// The shortest step length of the backtracking.
const SHORTEST: f64 = 1e-10;

/// Returns `1 / (1 + exp(z))`, without overflow.
pub(super) fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 { (-z).exp() / (1.0 + (-z).exp()) } else { 1.0 / (1.0 + z.exp()) }
}

/// Returns Platt's targets for the later and the earlier class: the class frequencies under a
/// uniform prior.
pub(super) fn targets(later: &[bool]) -> (f64, f64) {
    let positive = later.iter().filter(|later| **later).count() as f64;
    let negative = later.len() as f64 - positive;
    ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
}

/// Returns the `(a, b)` with `a ≤ 0` that have the greatest likelihood.
pub(super) fn fit(decisions: &[f64], later: &[bool]) -> (f64, f64) {
    let n = decisions.len() as f64;
    let (high, low) = targets(later);
    let target: Vec<f64> = later.iter().map(|later| if *later { high } else { low }).collect();
    let mean_target = target.iter().sum::<f64>() / n;
    let flat = (0.0, ((1.0 - mean_target) / mean_target).ln());
    // Centred and scaled decision values make the two unknowns almost independent. The halves
    // prevent overflow: the range may exceed the greatest number.
    let middle = decisions.iter().map(|f| f / n).sum::<f64>();
    let spread = decisions.iter().map(|f| (0.5 * f - 0.5 * middle).abs()).fold(0.0, f64::max);
    if spread <= 1e-14 * middle.abs() || spread < f64::MIN_POSITIVE {
        return flat;
    }
    let x: Vec<f64> = decisions.iter().map(|f| (0.5 * f - 0.5 * middle) / spread).collect();
    let likelihood = Likelihood { x: &x, target: &target };
    let (a, b) = likelihood.least((0.0, flat.1));
    // The problem is convex: if its minimum is a decreasing sigmoid, the best non-decreasing one is
    // flat.
    let (a, b) = (0.5 * a / spread, b - 0.5 * a / spread * middle);
    if a < 0.0 && a.is_finite() && b.is_finite() { (a, b) } else { flat }
}

/// Returns the mean negative log-likelihood of the targets at a sigmoid, and its derivative with
/// respect to each decision value. At the sigmoid of [`fit`], the change of `a` and `b` contributes
/// nothing to the derivative.
pub(super) fn loss(decisions: &[f64], later: &[bool], (a, b): (f64, f64)) -> (f64, Vec<f64>) {
    let (n, (high, low)) = (decisions.len() as f64, targets(later));
    let target: Vec<f64> = later.iter().map(|later| if *later { high } else { low }).collect();
    let slopes = decisions.iter().zip(&target).map(|(f, t)| a * (t - sigmoid(a * f + b)) / n).collect();
    (Likelihood { x: decisions, target: &target }.at::<true>((a, b)).0 / n, slopes)
}

/// The negative log-likelihood of targets as a function of the sigmoid.
struct Likelihood<'a> {
    x: &'a [f64],
    target: &'a [f64],
}

/// Gradient and second derivatives: `aa`, `ab`, `bb`.
struct Slope {
    a: f64,
    b: f64,
    aa: f64,
    ab: f64,
    bb: f64,
}

impl Slope {
    fn size(&self) -> f64 {
        self.a.abs().max(self.b.abs())
    }

    /// Returns Newton's step. A small number on the diagonal keeps the Hessian invertible.
    fn step(&self) -> (f64, f64) {
        let ridge = 1e-12 * (self.aa + self.bb).max(f64::MIN_POSITIVE);
        let (aa, bb) = (self.aa + ridge, self.bb + ridge);
        let det = aa * bb - self.ab * self.ab;
        (-(bb * self.a - self.ab * self.b) / det, -(aa * self.b - self.ab * self.a) / det)
    }
}

impl Likelihood<'_> {
    /// Returns the value at a sigmoid (0 unless `VALUE`) and its derivatives. Both come from one
    /// exponential for each sample.
    fn at<const VALUE: bool>(&self, (a, b): (f64, f64)) -> (f64, Slope) {
        let (mut value, mut slope) = (0.0, Slope { a: 0.0, b: 0.0, aa: 0.0, ab: 0.0, bb: 0.0 });
        for (x, t) in self.x.iter().zip(self.target) {
            let z = a * x + b;
            let small = (-(z.abs())).exp();
            // ln(1 + exp(−z)) + t z, in the form that does not overflow for the sign of z.
            if VALUE {
                value += (if z >= 0.0 { t * z } else { (t - 1.0) * z }) + small.ln_1p();
            }
            let p = if z >= 0.0 { small } else { 1.0 } / (1.0 + small);
            let (first, second) = (t - p, p * (1.0 - p));
            slope.a += first * x;
            slope.b += first;
            slope.aa += second * x * x;
            slope.ab += second * x;
            slope.bb += second;
        }
        (value, slope)
    }

    /// Returns the minimum. The first loop takes steps that decrease the value. When rounding hides
    /// further decreases, the second loop takes steps that halve the gradient, which is still exact
    /// enough.
    fn least(&self, mut at: (f64, f64)) -> (f64, f64) {
        let (mut value, mut slope) = self.at::<true>(at);
        loop {
            let step = slope.step();
            let promised = slope.a * step.0 + slope.b * step.1;
            let mut length = 1.0;
            let lower = loop {
                // A predicted decrease below the rounding error of the value cannot be measured.
                if -length * promised <= f64::EPSILON * value {
                    break None;
                }
                let next = (at.0 + length * step.0, at.1 + length * step.1);
                let found = self.at::<true>(next);
                if found.0 < value && found.0 <= value + ARMIJO * length * promised {
                    break Some((next, found));
                }
                length *= 0.5;
                if length < SHORTEST {
                    break None;
                }
            };
            // The loop ends: every step lowers a floating-point number that is bounded below.
            let Some((next, found)) = lower else { break };
            (at, (value, slope)) = (next, found);
        }
        loop {
            let step = slope.step();
            let next = (at.0 + step.0, at.1 + step.1);
            let found = self.at::<false>(next).1;
            // This comparison also ends the loop when the gradient is NaN.
            if found.size().partial_cmp(&(0.5 * slope.size())) != Some(std::cmp::Ordering::Less) {
                return at;
            }
            (at, slope) = (next, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivatives of the likelihood at the fit in the original decision values, not in the
    /// centred and scaled ones that the fit uses.
    fn slopes(decisions: &[f64], later: &[bool]) -> (f64, f64) {
        let ((a, b), (high, low)) = (fit(decisions, later), targets(later));
        decisions.iter().zip(later).fold((0.0, 0.0), |sum, (f, later)| {
            let first = if *later { high } else { low } - sigmoid(a * f + b);
            (sum.0 + first * f, sum.1 + first)
        })
    }

    #[test]
    fn two_values_have_the_sigmoid_through_the_targets() {
        // Three at −1 and three at 1: targets 1/5 and 4/5, a = −ln 4, b = 0.
        let (a, b) = fit(&[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], &[false, true, false, true, false, true]);
        assert!((a + 4.0_f64.ln()).abs() < 1e-13 && b.abs() < 1e-13, "{a} {b}");
        // Two and one, at 2 and 0: p(2) = 3/4, p(0) = 1/3, so that b = ln 2 and 2 a + b = −ln 3.
        let (a, b) = fit(&[2.0, 0.0, 2.0], &[true, false, true]);
        assert!((b - 2.0_f64.ln()).abs() < 1e-13 && (2.0 * a + b + 3.0_f64.ln()).abs() < 1e-13, "{a} {b}");
    }

    #[test]
    fn the_gradient_vanishes() {
        let mut state = 7_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for (shift, factor) in [(0.0, 1.0), (1e4, 1.0), (-3.0, 1e-9), (0.5, 1e12)] {
            let decisions: Vec<f64> = (0..500).map(|_| factor * (shift + 2.0 * noise())).collect();
            let later: Vec<bool> = decisions.iter().map(|f| f / factor - shift + noise() > 0.3).collect();
            let (of_a, of_b) = slopes(&decisions, &later);
            let size = factor * (shift.abs() + 2.0);
            assert!(of_b.abs() < 1e-7 && of_a.abs() < 1e-7 * size, "{shift} {factor}: {of_a} {of_b}");
            assert!(fit(&decisions, &later).0 < 0.0);
        }
    }

    #[test]
    fn separable_sides_have_a_finite_sigmoid() {
        let decisions: Vec<f64> = (0..40).map(|i| f64::from(i) - 19.5).collect();
        let later: Vec<bool> = decisions.iter().map(|f| *f > 0.0).collect();
        let (a, b) = fit(&decisions, &later);
        assert!(a < -0.1 && a > -10.0 && b.abs() < 1e-12, "{a} {b}");
        assert!(slopes(&decisions, &later).0.abs() < 1e-11);
    }

    #[test]
    fn one_side_alone_has_the_probability_of_its_target() {
        let (a, b) = fit(&[0.5, 1.0, 3.0], &[true; 3]);
        // The target (3 + 1) / (3 + 2) at every decision value.
        assert!((sigmoid(a * 0.5 + b) - 0.8).abs() < 1e-9 && (sigmoid(a * 3.0 + b) - 0.8).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn constant_and_reversed_decisions_are_flat() {
        // Targets 3/4, 3/4 and 1/3: their mean is 11/18.
        let (a, b) = fit(&[2.0; 3], &[true, true, false]);
        assert_eq!(a, 0.0);
        assert!((sigmoid(b) - 11.0 / 18.0).abs() < 1e-15);
        assert_eq!(fit(&[-1.0, 1.0], &[true, false]).0, 0.0);
        assert_eq!(fit(&[f64::MAX, -f64::MAX, f64::MAX], &[true, false, true]).0.signum(), -1.0);
    }
}
