//! The line search of the inner problem: its derivative is monotone and piecewise linear, so the
//! search is almost exact.

use crate::second_order::variables::Variables;
use maxmargin_data::Par;
use maxmargin_simd::clipped::Split;

/// The share of the first derivative at which the search ends.
const FALL: f64 = 0.05;

/// The smooth part of the derivative, `start + t · square`; `−Σ fall · p` is added to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// The value `w · d + wanted · d_b`.
    pub(crate) linear: f64,
    /// The value `d · d`.
    pub(crate) square: f64,
    /// The derivative at 0.
    pub(crate) slope: f64,
}

/// The derivative of a function along a line, at the share `t` of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    pub(crate) t: f64,
    pub(crate) slope: f64,
}

/// Returns true if a convex function, which falls until `low`, is certainly lower at `at` than at
/// 0. The derivative alone does not say so: it may rise steeply before and little after.
pub(crate) fn falls_between(low: Slope, at: Slope) -> bool {
    at.slope <= 0.0 || at.slope * (at.t - low.t) <= -0.5 * low.slope * low.t
}

/// Returns the share of the step that (almost) minimises the inner problem; 0 if it is no descent
/// direction.
pub(crate) fn search(variables: &Variables, line: &Line, par: Par) -> f64 {
    if line.slope >= 0.0 || !line.slope.is_finite() {
        return 0.0;
    }
    let goal = FALL * line.slope.abs();
    let whole = |t: f64| line.linear + t * line.square - variables.sum_at(t, par);
    let mut low = Slope { t: 0.0, slope: line.slope };
    let mut high = Slope { t: 1.0, slope: whole(1.0) };
    // Steps beyond 1 are needed only if the model was too steep, as for a bias that no variable
    // holds.
    while high.slope < -goal && high.t < 1e18 {
        low = high;
        high = Slope { t: 2.0 * high.t, slope: whole(2.0 * high.t) };
    }
    if high.slope.abs() <= goal && falls_between(low, high) {
        return high.t;
    }
    // Variables that are clipped at the same bound at both ends, or at none, are so in between.
    let Split { constant, rate, crossing } = variables.split(high.t, par);
    let slope = |t: f64| {
        let sum: f64 = crossing.iter().map(|v| v.fall * (v.wish - t * v.rate).clamp(0.0, v.upper)).sum();
        line.linear + t * (line.square + rate) - constant - sum
    };
    for round in 0..60 {
        // Regula falsi, with bisection in between so that both ends move.
        let t = if round % 3 == 2 {
            f64::midpoint(low.t, high.t)
        } else {
            (low.t * high.slope - high.t * low.slope) / (high.slope - low.slope)
        };
        let found = Slope { t, slope: slope(t) };
        if (found.slope.abs() <= goal && falls_between(low, found)) || !(low.t < t && t < high.t) {
            return t;
        }
        if found.slope < 0.0 {
            low = found;
        } else {
            high = found;
        }
    }
    low.t
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_simd::clipped::Variable;

    /// The derivative rises from −1 to 0.04 along the first thousandth of the step, and stays.
    #[test]
    fn a_plateau_above_the_beginning_is_no_end() {
        let mut variables = Variables::new(1);
        let variable = Variable { slack: 1e-3, fall: 1.0, weight: 1040.0, upper: 1.04, p: 1.04, ..Variable::default() };
        variables.update(|_, v| *v = variable);
        let t = search(&variables, &Line { linear: 0.04, square: 0.0, slope: -1.0 }, Par::Seq);
        let before = t.min(1e-3);
        let value = 0.04 * t - 1.04 * before * (1.0 - before / 2e-3);
        assert!(value < -4e-4, "{t} {value}");
    }
}
