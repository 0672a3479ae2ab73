//! Units on workers: each takes the next one as soon as it is free.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which unit comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they stand.
    AsGiven,
    /// By their cost, which is taken to be known.
    LongestFirst,
}

/// What comes on top of the units, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Overhead {
    /// For each worker, before its first unit: reading the data.
    pub(super) load: f64,
    /// For each unit: handing it out and taking its cells.
    pub(super) unit: f64,
}

/// A microsecond: whole numbers of them are ordered, and their sums exact.
const TICKS: f64 = 1e6;

/// When the last unit is done, in seconds.
pub(super) fn makespan(units: &[f64], workers: usize, overhead: Overhead, order: Order) -> f64 {
    let ticks = |seconds: f64| (seconds * TICKS).round() as u64;
    let mut left: Vec<u64> = units.iter().map(|unit| ticks(unit + overhead.unit)).collect();
    if order == Order::LongestFirst {
        left.sort_unstable_by_key(|unit| Reverse(*unit));
    }
    // When each worker is free; those that have no unit read nothing.
    let mut free: BinaryHeap<Reverse<u64>> = (0..workers).map(|_| Reverse(ticks(overhead.load))).collect();
    let mut last = 0;
    for unit in left {
        let Some(Reverse(begun)) = free.pop() else { return f64::INFINITY };
        last = last.max(begun + unit);
        free.push(Reverse(begun + unit));
    }
    last as f64 / TICKS
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Overhead = Overhead { load: 0.0, unit: 0.0 };

    #[test]
    fn makespans_by_hand() {
        let units = [3.0, 3.0, 2.0, 2.0, 2.0];
        // 3 + 2 + 2 and 3 + 2.
        assert_eq!(makespan(&units, 2, NONE, Order::LongestFirst), 7.0);
        assert_eq!(makespan(&units, 1, NONE, Order::LongestFirst), 12.0);
        assert_eq!(makespan(&units, 5, NONE, Order::LongestFirst), 3.0);
        assert_eq!(makespan(&units, 500, NONE, Order::LongestFirst), 3.0);
        // A long one that is begun last: 1 + 9 where 9 would do.
        assert_eq!(makespan(&[1.0, 1.0, 9.0], 2, NONE, Order::AsGiven), 10.0);
        assert_eq!(makespan(&[1.0, 1.0, 9.0], 2, NONE, Order::LongestFirst), 9.0);
        assert_eq!(makespan(&[], 2, NONE, Order::AsGiven), 0.0);
    }

    #[test]
    fn data_are_read_by_each_worker_and_units_are_handed_out_one_by_one() {
        let overhead = Overhead { load: 10.0, unit: 0.5 };
        assert_eq!(makespan(&[1.0; 4], 2, overhead, Order::AsGiven), 13.0);
        assert_eq!(makespan(&[1.0; 4], 4, overhead, Order::AsGiven), 11.5);
    }

    #[test]
    fn no_schedule_is_below_the_longest_unit_or_the_mean_nor_far_above() {
        let units: Vec<f64> = (1..=50).map(|k| f64::from(k * k % 47 + 1)).collect();
        let (sum, longest) = (units.iter().sum::<f64>(), units.iter().copied().fold(0.0, f64::max));
        for workers in [1, 2, 7, 50, 1000] {
            let bound = longest.max(sum / workers as f64);
            for order in [Order::AsGiven, Order::LongestFirst] {
                let took = makespan(&units, workers, NONE, order);
                // Graham: a list schedule is at most the mean and one unit.
                assert!(took >= bound - 1e-9 && took <= sum / workers as f64 + longest, "{workers} {took}");
            }
        }
    }
}
