//! The nearest point of a box with a given sum.

/// Moves `point` to the nearest point of `low ≤ x ≤ high` with `Σ x = sum`, as near to that sum as the box allows.
///
/// That point is `clip(point + t)` for one shift t, whose sum is piecewise linear and monotone in t: the pieces are walked in order. What
/// rounding leaves is taken by the entry with the most room to either side.
pub(crate) fn project(point: &mut [f64], low: &[f64], high: &[f64], sum: f64) {
    let shift = shift(point, low, high, sum);
    for k in 0..point.len() {
        point[k] = (point[k] + shift).clamp(low[k], high[k]);
    }
    let rest = sum - point.iter().sum::<f64>();
    if rest != 0.0 {
        // Nothing leaves a bound for rounding's sake, as long as something is between its bounds.
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

fn shift(point: &[f64], low: &[f64], high: &[f64], sum: f64) -> f64 {
    // Shifts at which an entry begins (+1) or ceases (−1) to move.
    let mut turns: Vec<(f64, f64)> = Vec::with_capacity(2 * point.len());
    let mut slope = 0.0;
    for k in (0..point.len()).filter(|&k| low[k] < high[k]) {
        match low[k] - point[k] {
            begins if begins.is_finite() => turns.push((begins, 1.0)),
            _ => slope += 1.0,
        }
        match high[k] - point[k] {
            ends if ends.is_finite() => turns.push((ends, -1.0)),
            _ => {}
        }
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let first = turns.first().map_or(0.0, |turn| turn.0);
    let mut lack = sum - (0..point.len()).map(|k| (point[k] + first).clamp(low[k], high[k])).sum::<f64>();
    let mut at = first;
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
    if slope > 0.0 { at + lack / slope } else { at }
}

#[cfg(test)]
mod tests {
    use super::project;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let mut x = [2.0, -1.0, 0.5];
        project(&mut x, &[0.0; 3], &[1.0; 3], 1.0);
        // Shifted by −½, which takes the third to 0 exactly where the first meets its bound.
        assert_eq!(x, [1.0, 0.0, 0.0]);
        let mut x = [0.25, 0.25];
        project(&mut x, &[f64::NEG_INFINITY, 0.0], &[0.0, f64::INFINITY], -1.0);
        assert_eq!(x, [-1.0, 0.0]);
        let mut x = [3.0, 3.0];
        project(&mut x, &[0.0; 2], &[1.0; 2], 9.0);
        assert_eq!(x, [1.0, 1.0]);
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
            // The conditions of the nearest point: one multiplier for all, apart from what is at bounds.
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
