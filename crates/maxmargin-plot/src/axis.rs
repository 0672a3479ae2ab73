//! Axes: from numbers to shares of a length, with ticks at round numbers, at least three of them.

use crate::text::count;

/// The fewest ticks that show a scale.
const FEWEST: usize = 3;
/// The most powers of ten that all get a tick; of more, every second or third does.
const MOST: usize = 7;

/// An axis over a range of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// Returns an axis over all finite values, with a little room at both ends. A logarithmic axis
    /// ignores values that are not positive.
    pub fn over(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        let good = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
        let put = |x: f64| if logarithmic { x.log10() } else { x };
        let (low, high) = good.map(put).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let least = if logarithmic { 0.5 } else { 1e-3 * low.abs().max(1e-9) };
        let pad = if high - low > least { 0.04 * (high - low) } else { 0.5 * least };
        // An axis whose least value is near 0 starts at 0.
        let bottom = if !logarithmic && low >= 0.0 && low < 0.3 * high { 0.0 } else { low - pad };
        Self { low: bottom, high: high + pad, logarithmic }
    }

    /// Returns the axis with more room at both ends, as a share of its length.
    #[must_use]
    pub fn wider(&self, share: f64) -> Self {
        let more = share * (self.high - self.low);
        Self { low: self.low - more, high: self.high + more, ..*self }
    }

    /// Returns an axis from 0 to a little more than the largest value, and to a little less than
    /// the least one where that is negative.
    pub fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let good = values.filter(|value| value.is_finite());
        let (low, high) = good.fold((0.0, 0.0), |(low, high), value| (value.min(low), value.max(high)));
        let high = if low == high { 1.0 } else { 1.05 * high };
        Self { low: 1.05 * low, high, logarithmic: false }
    }

    /// Returns the place of a value on the axis: 0 at the low end, 1 at the high end.
    pub fn place(&self, value: f64) -> f64 {
        let x = if self.logarithmic { value.log10() } else { value };
        (x - self.low) / (self.high - self.low)
    }

    /// Returns round numbers on the axis, ascending, each with its text.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let ticks = if self.logarithmic { self.powers() } else { even(self.low, self.high) };
        ticks.into_iter().map(|tick| (tick, words(tick))).collect()
    }

    /// Returns powers of ten, with round numbers between them where there are few.
    fn powers(&self) -> Vec<f64> {
        let (low, high) = (self.low.floor() as i32, self.high.ceil() as i32);
        let on = |tick: &f64| (self.low - 1e-9..=self.high + 1e-9).contains(&tick.log10());
        let whole: Vec<f64> = (low..=high).map(|n| 10_f64.powi(n)).filter(on).collect();
        if whole.len() >= FEWEST {
            let every = whole.len().div_ceil(MOST);
            return whole.into_iter().step_by(every).collect();
        }
        for digits in [&[1.0, 3.0][..], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]] {
            let ticks: Vec<f64> =
                (low - 1..=high).flat_map(|n| digits.iter().map(move |d| d * 10_f64.powi(n))).filter(on).collect();
            if ticks.len() >= FEWEST {
                return ticks;
            }
        }
        even(10_f64.powf(self.low), 10_f64.powf(self.high))
    }
}

/// Returns the multiples of 1, 2, 2.5 or 5 times a power of ten between two numbers, three to
/// seven of them.
fn even(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let size = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * size);
    let step = steps.into_iter().find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(size);
    let ticks = |step: f64| -> Vec<f64> {
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    };
    let found = ticks(step);
    if found.len() >= FEWEST { found } else { ticks(step / 2.0) }
}

/// Returns a round number as people write it.
fn words(tick: f64) -> String {
    let size = tick.abs();
    if tick == 0.0 {
        "0".into()
    } else if !(1e-4..1e7).contains(&size) {
        format!("{tick:.0e}")
    } else if size >= 1000.0 && (tick - tick.round()).abs() < 1e-6 * size {
        format!("{}{}", if tick < 0.0 { "−" } else { "" }, count(size))
    } else {
        let text = format!("{:.*}", if size < 0.01 { 5 } else { 3 }, tick);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Axis;

    fn shown(values: &[f64], logarithmic: bool) -> Vec<String> {
        Axis::over(values.iter().copied(), logarithmic).ticks().into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn round_numbers() {
        assert_eq!(shown(&[1.0, 50.0], false), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(shown(&[0.1, 1e5], true), ["0.1", "1", "10", "100", "1,000", "10,000", "100,000"]);
        // The samples of w1a to w8a: less than two decades, and one power of ten alone.
        assert_eq!(shown(&[2477.0, 49749.0], true), ["3,000", "10,000", "30,000"]);
        assert_eq!(shown(&[97.8, 98.9], false).len(), 6);
    }

    #[test]
    fn bars_begin_at_zero() {
        let ends = |values: &[f64]| {
            let axis = Axis::from_zero(values.iter().copied());
            (axis.low, axis.high)
        };
        assert_eq!([ends(&[2.0, 4.0]), ends(&[-2.0]), ends(&[0.0])], [(0.0, 4.2), (-2.1, 0.0), (0.0, 1.0)]);
    }

    /// A single tick shows no scale.
    #[test]
    fn three_ticks_at_the_least() {
        for n in 0..2000 {
            let low = 10_f64.powf(f64::from(n % 41) * 0.3 - 6.0);
            let times = 10_f64.powf(f64::from(n / 41) * 0.17);
            for logarithmic in [false, true] {
                let axis = Axis::over([low, low * times].into_iter(), logarithmic);
                let ticks = axis.ticks();
                assert!((3..=14).contains(&ticks.len()), "{low} {times} {logarithmic}: {ticks:?}");
                for (tick, _) in &ticks {
                    assert!((-1e-6..=1.0 + 1e-6).contains(&axis.place(*tick)), "{tick} of {axis:?}");
                }
            }
        }
    }
}
