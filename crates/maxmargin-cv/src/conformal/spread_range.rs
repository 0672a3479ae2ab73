//! The sizes of errors between which predicted sizes are cut.

use serde::{Deserialize, Serialize};

/// Errors below this share of the median error count as this share: the logarithm of an error near
/// 0 says nothing about the spread.
const FLOOR: f64 = 0.05;

/// The logarithms between which predicted spreads are cut, so that no spread is smaller or greater
/// than that of the rows it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpreadRange {
    least: f64,
    greatest: f64,
}

impl SpreadRange {
    /// The unit of scores at a value of the second machine.
    pub(super) fn unit(self, log: f64) -> f64 {
        log.clamp(self.least, self.greatest).exp()
    }

    /// Returns true if every unit is a number above 0.
    pub(super) fn is_sound(self) -> bool {
        let is_unit = |log: f64| (f64::MIN_POSITIVE..f64::MAX).contains(&log.exp());
        self.least <= self.greatest && is_unit(self.least) && is_unit(self.greatest)
    }

    /// The logarithms of absolute errors, and their range.
    pub(super) fn of(errors: impl Iterator<Item = f64>) -> (Vec<f64>, Self) {
        let mut logs: Vec<f64> = errors.map(f64::abs).collect();
        let half = logs.len() / 2;
        let median = *logs.clone().select_nth_unstable_by(half, f64::total_cmp).1;
        let mean = logs.iter().map(|error| error / logs.len() as f64).sum::<f64>();
        // Where most errors are 0 their mean sets the floor, and where all are, any unit does.
        let typical = [median, mean, 1.0].into_iter().find(|size| *size > 0.0).unwrap_or(1.0);
        let floor = (FLOOR * typical).max(f64::MIN_POSITIVE);
        logs.iter_mut().for_each(|error| *error = error.max(floor).ln());
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (logs, Self { least, greatest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_between_a_floor_and_the_largest_error() {
        let (logs, range) = SpreadRange::of([0.0, -2.0, 1.0, 4.0, 1e-9].into_iter());
        let sizes: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        for (size, expected) in sizes.iter().zip([0.05, 2.0, 1.0, 4.0, 0.05]) {
            assert!((size - expected).abs() < 1e-14, "{size} {expected}");
        }
        assert!((range.unit(-40.0) - 0.05).abs() < 1e-14 && (range.unit(900.0) - 4.0).abs() < 1e-14);
        assert!(range.is_sound());
        let (logs, range) = SpreadRange::of([0.0; 3].into_iter());
        assert!(logs.iter().all(|log| *log == FLOOR.ln()) && range.is_sound());
        assert!(!SpreadRange { least: 0.0, greatest: 800.0 }.is_sound());
        assert!(!SpreadRange { least: f64::NAN, greatest: 0.0 }.is_sound());
    }
}
