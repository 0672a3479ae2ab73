//! The line search on a convex function by its derivative alone.

use crate::second_order::search::{Slope, falls_between};

/// The derivative at the end of a search, relative to that at its beginning.
const ENOUGH: f64 = 0.25;

/// The most evaluations of a search.
const MOST: usize = 30;

/// Returns a step `t > 0` at which a convex function is lower than at 0 and its derivative has
/// risen to within a quarter of its value at 0, `slope` < 0; about 1 if that is such a step.
/// `derivative(t)` returns the derivative; its last call is at the returned step. Returns `None`
/// if there is no such step.
pub(crate) fn line_search(slope: f64, mut derivative: impl FnMut(f64) -> f64) -> Option<f64> {
    if slope >= 0.0 || slope.is_nan() {
        return None;
    }
    let enough = ENOUGH * -slope;
    let (mut low, mut high) = (Slope { t: 0.0, slope }, None::<Slope>);
    let (mut t, mut refused) = (1.0, 0);
    for _ in 0..MOST {
        let at = Slope { t, slope: derivative(t) };
        if !at.slope.is_finite() {
            high = Some(Slope { t, slope: f64::INFINITY });
            t = 0.5 * (low.t + t);
            continue;
        }
        if (at.slope < 0.0 && t >= 4.0) || (at.slope.abs() <= enough && falls_between(low, at)) {
            return Some(t);
        }
        if at.slope < 0.0 {
            low = at;
        } else {
            high = Some(at);
        }
        t = match high {
            None => 2.0 * t,
            // The derivative rises steeply somewhere before and little after: the secant would stay
            // behind the minimum.
            Some(end) if at.slope > 0.0 && at.slope <= enough => {
                refused += 1;
                low.t + 0.5_f64.powi(refused) * (end.t - low.t)
            }
            Some(end) => {
                // The secant, kept away from both ends.
                let share = if end.slope.is_finite() { -low.slope / (end.slope - low.slope) } else { 0.5 };
                low.t + share.clamp(0.05, 0.95) * (end.t - low.t)
            }
        };
    }
    // A derivative that jumps has no zero: the lower end is a decrease.
    (low.t > 0.0).then(|| {
        derivative(low.t);
        low.t
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_near_the_minimum() {
        // Derivatives with their zeros at 1, 1/10, 3 and a jump at ½.
        assert_eq!(line_search(-1.0, |t| t - 1.0), Some(1.0));
        for zero in [0.1, 3.0, 0.003] {
            let t = line_search(-1.0, |t| t / zero - 1.0).expect("a step");
            assert!((t / zero - 1.0).abs() <= ENOUGH, "{zero}: {t}");
        }
        let t = line_search(-1.0, |t| if t < 0.5 { -1.0 } else { 1.0 }).expect("a step");
        assert!(t < 0.5 && t > 0.4, "{t}");
        // A steep rise and a plateau, on which the function is higher than at 0.
        for (knee, plateau) in [(1e-3, 0.2), (1e-7, 0.2), (1e-3, 1e-3), (0.3, 0.2)] {
            let t = line_search(-1.0, |t| (t / knee - 1.0).min(plateau)).expect("a step");
            let rise = (1.0 + plateau) * knee;
            let before = t.min(rise);
            let value = 0.5 * before * before / knee - before + plateau * (t - before);
            assert!(value < -0.1 * knee, "{knee} {plateau}: {t}");
        }
        assert_eq!((line_search(0.0, |t| t), line_search(f64::NAN, |t| t)), (None, None));
    }
}
