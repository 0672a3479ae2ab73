//! The minimum over the variables of one sample.

/// A part takes rounding if it is this many times as large.
const LARGE: f64 = 100.0;

/// Computes the minimum of `½ A ‖a‖² + B·a` over `Σ a = −fixed` with `a_m ≤ 0`, and `a_y ≤ C` for
/// the sample's own class, where `fixed` is C if that class is not among them and 0 otherwise.
/// `own` is its place, if it is. `scratch` is overwritten.
pub(super) fn minimise(curvature: f64, linear: &[f64], own: Option<usize>, cost: f64, scratch: &mut Vec<f64>, out: &mut [f64]) {
    scratch.clear();
    scratch.extend_from_slice(linear);
    if let Some(own) = own {
        scratch[own] += curvature * cost;
    }
    // The level is not below that of the largest alone, which leaves few others to sort.
    let least = scratch.iter().copied().fold(f64::NEG_INFINITY, f64::max) - curvature * cost;
    scratch.retain(|value| *value >= least);
    scratch.sort_unstable_by(|a, b| b.total_cmp(a));
    // β is the level at which the variables above their bounds sum up.
    let mut beta = scratch[0] - curvature * cost;
    let mut count = 1;
    while count < scratch.len() && beta < count as f64 * scratch[count] {
        beta += scratch[count];
        count += 1;
    }
    beta /= count as f64;
    for (m, (out, linear)) in out.iter_mut().zip(linear).enumerate() {
        let upper = if own == Some(m) { cost } else { 0.0 };
        *out = ((beta - linear) / curvature).min(upper);
    }
    // Rounding of a division by a small curvature must not leave the sum: a large part takes it. A
    // variable at its bound stays there.
    let wanted = if own.is_some() { 0.0 } else { -cost };
    let rest = wanted - out.iter().sum::<f64>();
    if let Some(lowest) = out.iter_mut().min_by(|a, b| a.total_cmp(b))
        && *lowest < -LARGE * rest.abs()
    {
        *lowest += rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The minimum is feasible, and no transfer between two variables lowers it.
        #[test]
        fn no_transfer_lowers_the_minimum(
            linear in proptest::collection::vec(-3.0..3.0_f64, 2..7),
            curvature in 0.01..10.0_f64,
            cost in 0.01..10.0_f64,
            own in 0_usize..8,
        ) {
            let own = Some(own).filter(|own| *own < linear.len());
            let mut found = vec![0.0; linear.len()];
            minimise(curvature, &linear, own, cost, &mut Vec::new(), &mut found);
            let wanted = if own.is_some() { 0.0 } else { -cost };
            prop_assert!((found.iter().sum::<f64>() - wanted).abs() <= 1e-9 * (1.0 + cost));
            let upper = |m: usize| if own == Some(m) { cost } else { 0.0 };
            let gradient: Vec<f64> = found.iter().zip(&linear).map(|(a, b)| curvature * a + b).collect();
            for (m, a) in found.iter().enumerate() {
                prop_assert!(*a <= upper(m));
                for (other, b) in gradient.iter().enumerate() {
                    // One that may rise has no smaller gradient than one that falls.
                    prop_assert!(*a >= upper(m) - 1e-9 || *b <= gradient[m] + 1e-9, "{m} {other}: {found:?} {gradient:?}");
                }
            }
        }
    }
}
