//! The monotone function of least squares, by pooling adjacent violators (Ayer et al. 1955;
//! Zadrozny and Elkan 2002 for probabilities).

use super::platt::targets;

/// A run of neighbouring decision values that share one probability.
struct Pool {
    first: f64,
    last: f64,
    sum: f64,
    count: f64,
}

impl Pool {
    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn merge(&mut self, next: &Self) {
        self.last = next.last;
        self.sum += next.sum;
        self.count += next.count;
    }
}

/// Returns the knots: their decision values and their probabilities.
pub(super) fn fit(decisions: &[f64], later: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let (high, low) = targets(later);
    let mut order: Vec<usize> = (0..decisions.len()).collect();
    order.sort_by(|&i, &j| decisions[i].total_cmp(&decisions[j]));
    let mut pools: Vec<Pool> = Vec::new();
    for i in order {
        let f = decisions[i] + 0.0; // −0 is 0
        let one = Pool { first: f, last: f, sum: if later[i] { high } else { low }, count: 1.0 };
        match pools.last_mut() {
            Some(before) if before.first == f => before.merge(&one),
            _ => {
                pool_violators(&mut pools);
                pools.push(one);
            }
        }
    }
    pool_violators(&mut pools);
    let (mut at, mut probability) = (Vec::new(), Vec::new());
    for pool in &pools {
        let knots = if pool.first < pool.last { &[pool.first, pool.last][..] } else { &[pool.first] };
        // Rounding must not make a mean smaller than the equal mean before it.
        let mean = pool.mean().max(probability.last().copied().unwrap_or(0.0));
        at.extend_from_slice(knots);
        probability.extend(knots.iter().map(|_| mean));
    }
    (at, probability)
}

/// Merges the last pool into the one before it while their means do not ascend.
fn pool_violators(pools: &mut Vec<Pool>) {
    while let [.., before, last] = &pools[..]
        && before.mean() >= last.mean()
    {
        let last = pools.pop().expect("the condition found two pools");
        pools.last_mut().expect("the condition found two pools").merge(&last);
    }
}

/// Returns the value at `f`: linear between knots, constant beyond the outermost knots.
pub(super) fn between(at: &[f64], probability: &[f64], f: f64) -> f64 {
    let next = at.partition_point(|knot| *knot <= f);
    let (Some(before), Some(upper)) = (next.checked_sub(1), at.get(next)) else {
        return probability[next.min(at.len() - 1)];
    };
    // The halves prevent overflow: the distance of two knots may exceed the greatest number.
    let share = (0.5 * f - 0.5 * at[before]) / (0.5 * upper - 0.5 * at[before]);
    (probability[before] + share * (probability[next] - probability[before])).clamp(probability[before], probability[next])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violators_are_pooled() {
        // Two samples of the later class and three of the earlier: targets 3/4 and 1/5. The targets
        // at 1 and 2 descend.
        let (at, probability) = fit(&[3.0, 2.0, 0.0, 1.0, -1.0], &[true, false, false, true, false]);
        assert_eq!(at, [-1.0, 0.0, 1.0, 2.0, 3.0]);
        let middle = f64::midpoint(0.75, 0.2);
        let expected = [0.2, 0.2, middle, middle, 0.75];
        assert!(probability.iter().zip(expected).all(|(p, e)| (p - e).abs() < 1e-15), "{probability:?}");
        assert!((between(&at, &probability, 0.5) - f64::midpoint(0.2, middle)).abs() < 1e-15);
        assert_eq!([-9.0, 9.0, f64::MAX].map(|f| between(&at, &probability, f)), [probability[0], 0.75, 0.75]);
        assert_eq!(between(&at, &probability, 1.0), probability[2]);
    }

    #[test]
    fn equal_decisions_are_one_and_reversed_ones_are_flat() {
        let (at, probability) = fit(&[0.0, -0.0, 0.0], &[true, false, true]);
        assert_eq!(at, [0.0]);
        assert!((probability[0] - 11.0 / 18.0).abs() < 1e-15);
        let (at, probability) = fit(&[0.0, 1.0, 2.0, 3.0], &[true, true, false, false]);
        assert_eq!(at, [0.0, 3.0]);
        assert!((probability[0] - 0.5).abs() < 1e-15 && probability[0] == probability[1]);
    }

    #[test]
    fn separable_and_single_sides_stay_inside_0_and_1() {
        let (at, probability) = fit(&[-2.0, -1.0, 1.0, 2.0], &[false, false, true, true]);
        assert_eq!((at, probability), (vec![-2.0, -1.0, 1.0, 2.0], vec![0.25, 0.25, 0.75, 0.75]));
        let (_, probability) = fit(&[1.0, 2.0], &[false, false]);
        assert_eq!(probability, [0.25, 0.25]);
    }

    /// No monotone sequence on a coarse grid is nearer to the targets.
    #[test]
    fn nothing_monotone_is_nearer() {
        let later = [false, true, false, false, true, true, false, true];
        let decisions: Vec<f64> = (0..8).map(f64::from).collect();
        let (high, low) = targets(&later);
        let (at, probability) = fit(&decisions, &later);
        let distance = |of: &dyn Fn(usize) -> f64| -> f64 {
            later.iter().enumerate().map(|(i, later)| (of(i) - if *later { high } else { low }).powi(2)).sum()
        };
        let best = distance(&|i| between(&at, &probability, decisions[i]));
        let mut values = [0_usize; 8];
        let mut tried = 0;
        loop {
            if values.is_sorted() {
                tried += 1;
                assert!(distance(&|i| 0.2 * values[i] as f64) >= best - 1e-12, "{values:?}");
            }
            let Some(place) = values.iter().position(|v| *v < 5) else { break };
            values[..place].fill(0);
            values[place] += 1;
        }
        assert_eq!(tried, 1287);
    }
}
