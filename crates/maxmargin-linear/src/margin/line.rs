//! The line search on a convex function by its derivative alone.

/// The derivative at the end of a search, relative to that at its beginning.
const ENOUGH: f64 = 0.25;

/// The most evaluations of a search.
const MOST: usize = 20;

/// Returns a step `t > 0` at which the derivative of a convex function has risen to within a
/// quarter of its value at 0, `slope` < 0; about 1 if that is such a step. `derivative(t)` returns
/// the derivative; its last call is at the returned step. Returns `None` if there is no such step.
pub(crate) fn line_search(slope: f64, mut derivative: impl FnMut(f64) -> f64) -> Option<f64> {
    if slope >= 0.0 || slope.is_nan() {
        return None;
    }
    let enough = ENOUGH * -slope;
    let (mut low, mut high) = ((0.0, slope), None::<(f64, f64)>);
    let mut t = 1.0;
    for _ in 0..MOST {
        let at = derivative(t);
        if !at.is_finite() {
            high = Some((t, f64::INFINITY));
            t = 0.5 * (low.0 + t);
            continue;
        }
        if at.abs() <= enough || (at < 0.0 && t >= 4.0) {
            return Some(t);
        }
        if at < 0.0 {
            low = (t, at);
        } else {
            high = Some((t, at));
        }
        t = match high {
            None => 2.0 * t,
            Some((end, rise)) => {
                // The secant, kept away from both ends.
                let share = if rise.is_finite() { -low.1 / (rise - low.1) } else { 0.5 };
                low.0 + share.clamp(0.05, 0.95) * (end - low.0)
            }
        };
    }
    // A derivative that jumps has no zero: the lower end is a decrease.
    (low.0 > 0.0).then(|| {
        derivative(low.0);
        low.0
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
        assert_eq!((line_search(0.0, |t| t), line_search(f64::NAN, |t| t)), (None, None));
    }
}
