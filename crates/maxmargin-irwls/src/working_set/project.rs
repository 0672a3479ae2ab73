//! The nearest point of a box with a given sum.

/// Moves `point` to the nearest point of `low ≤ x ≤ high` with `Σ x = sum`, or as near to that sum
/// as the box allows.
///
/// The result is `clip(point + t)` for one shift t. The entry with the most room to either side
/// takes the rounding error.
pub(crate) fn project(point: &mut [f64], low: &[f64], high: &[f64], sum: f64) {
    let shift = shift(point, |_| 1.0, low, high, sum);
    for k in 0..point.len() {
        point[k] = (point[k] + shift).clamp(low[k], high[k]);
    }
    let rest = sum - point.iter().sum::<f64>();
    if rest != 0.0 {
        // Rounding must not move an entry off its bound while others are between their bounds.
        let ahead = |k: usize| if rest > 0.0 { high[k] - point[k] } else { point[k] - low[k] };
        let room = |k: usize| (ahead(k).min(high[k] - point[k]).min(point[k] - low[k]), ahead(k));
        let widest = (0..point.len()).fold(None, |best: Option<usize>, k| match best {
            Some(b) if room(b) >= room(k) => Some(b),
            _ => Some(k),
        });
        if let Some(k) = widest {
            point[k] = (point[k] + rest).clamp(low[k], high[k]);
        }
    }
}

/// Moves `point` into the box and to the sum by as little as [`project`] does. Entries on a bound
/// stay there if the others can make up the sum. A sample that a solver put on its bound must not
/// leave it because of another's rounding.
pub(crate) fn rebalance(point: &mut [f64], low: &[f64], high: &[f64], sum: f64) {
    for k in 0..point.len() {
        point[k] = point[k].clamp(low[k], high[k]);
    }
    let inside: Vec<usize> = (0..point.len()).filter(|&k| point[k] > low[k] && point[k] < high[k]).collect();
    let (mut rest, mut least, mut most) = (sum, 0.0, 0.0);
    for k in 0..point.len() {
        if point[k] <= low[k] || point[k] >= high[k] {
            rest -= point[k];
        }
    }
    for &k in &inside {
        least += low[k];
        most += high[k];
    }
    if inside.is_empty() || rest < least || rest > most {
        project(point, low, high, sum);
        return;
    }
    let part = |all: &[f64]| inside.iter().map(|&k| all[k]).collect::<Vec<f64>>();
    let mut moved = part(point);
    project(&mut moved, &part(low), &part(high), rest);
    inside.iter().zip(&moved).for_each(|(&k, x)| point[k] = *x);
}

/// Returns the `t` with `Σ_k clip(c_k t + p_k) = sum`, or the nearest that the box allows, with
/// `c_k > 0` the rate of entry k.
///
/// The sum is piecewise linear and monotone in t: the pieces are visited in order.
pub(crate) fn shift(point: &[f64], rate: impl Fn(usize) -> f64, low: &[f64], high: &[f64], sum: f64) -> f64 {
    // The places where an entry begins (+) or ceases (−) to move, with its rate.
    let mut turns: Vec<(f64, f64)> = Vec::with_capacity(2 * point.len());
    let mut slope = 0.0;
    for k in (0..point.len()).filter(|&k| low[k] < high[k]) {
        let rate = rate(k);
        match (low[k] - point[k]) / rate {
            begins if begins.is_finite() => turns.push((begins, rate)),
            _ => slope += rate,
        }
        match (high[k] - point[k]) / rate {
            ends if ends.is_finite() => turns.push((ends, -rate)),
            _ => {}
        }
    }
    turns.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut at = turns.first().map_or(0.0, |turn| turn.0);
    let mut lack = sum - (0..point.len()).map(|k| (point[k] + rate(k) * at).clamp(low[k], high[k])).sum::<f64>();
    if lack <= 0.0 {
        return if slope > 0.0 { at + lack / slope } else { at };
    }
    for (turn, change) in turns {
        let gain = slope * (turn - at);
        if gain >= lack {
            return at + lack / slope;
        }
        lack -= gain;
        at = turn;
        slope += change;
    }
    // Rates that were added and subtracted leave rounding; recompute the rate of entries without an
    // upper bound.
    let endless = (0..point.len()).filter(|&k| high[k] == f64::INFINITY).map(&rate).sum::<f64>();
    if endless > 0.0 { at + lack / endless } else { at }
}

#[cfg(test)]
mod tests {
    use super::{project, rebalance};
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let mut x = [2.0, -1.0, 0.5];
        project(&mut x, &[0.0; 3], &[1.0; 3], 1.0);
        // The shift is −½, which takes the third to 0 exactly where the first meets its bound.
        assert_eq!(x, [1.0, 0.0, 0.0]);
        let mut x = [0.25, 0.25];
        project(&mut x, &[f64::NEG_INFINITY, 0.0], &[0.0, f64::INFINITY], -1.0);
        assert_eq!(x, [-1.0, 0.0]);
        let mut x = [3.0, 3.0];
        project(&mut x, &[0.0; 2], &[1.0; 2], 9.0);
        assert_eq!(x, [1.0, 1.0]);
    }

    #[test]
    fn bounds_are_kept_where_others_can_move() {
        let mut x = [0.0, 1.5, 0.25, 0.5];
        rebalance(&mut x, &[0.0; 4], &[1.0; 4], 2.0);
        assert_eq!(x, [0.0, 1.0, 0.375, 0.625]);
        rebalance(&mut x, &[0.0; 4], &[1.0; 4], 3.5);
        assert_eq!(x.iter().sum::<f64>(), 3.5);
        assert!(x[0] > 0.0);
    }

    proptest! {
        #[test]
        fn feasible_and_nearest(entries in prop::collection::vec((-3.0..3.0_f64, -2.0..0.0_f64, 0.0..2.0_f64), 1..20), share in 0.0..1.0_f64) {
            let low: Vec<f64> = entries.iter().map(|e| e.1).collect();
            let high: Vec<f64> = entries.iter().map(|e| e.2).collect();
            let sum = low.iter().zip(&high).map(|(l, h)| l + share * (h - l)).sum::<f64>();
            let mut x: Vec<f64> = entries.iter().map(|e| e.0).collect();
            project(&mut x, &low, &high, sum);
            prop_assert!((x.iter().sum::<f64>() - sum).abs() <= 1e-13);
            prop_assert!(x.iter().zip(low.iter().zip(&high)).all(|(x, (l, h))| x >= l && x <= h));
            // The conditions of the nearest point: one multiplier for all entries that are not at
            // bounds.
            let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
            for (k, e) in entries.iter().enumerate() {
                let moved = x[k] - e.0;
                if x[k] > low[k] { least = least.max(moved) }
                if x[k] < high[k] { most = most.min(moved) }
            }
            prop_assert!(least <= most + 1e-12, "{} {}", least, most);
        }
    }
}
