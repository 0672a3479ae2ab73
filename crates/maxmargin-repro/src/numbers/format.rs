//! Numbers as reports and terminals show them.

pub(crate) use maxmargin_plot::{capital, count};

/// With so many digits behind the point.
pub(crate) fn digits<const N: usize>(x: f64) -> String {
    format!("{x:.N$}")
}

pub(crate) fn seconds(x: f64) -> String {
    match x {
        x if x < 10.0 => digits::<2>(x),
        x if x < 100.0 => digits::<1>(x),
        x => count(x),
    }
}

/// Seconds, with so many digits where they are few.
pub(crate) fn short<const N: usize>(x: f64) -> String {
    if x < 0.1 { digits::<N>(x) } else { seconds(x) }
}

/// Three digits.
pub(crate) fn milliseconds(x: f64) -> String {
    if x < 1.0 { digits::<3>(x) } else { seconds(x) }
}

/// How many times as much.
pub(crate) fn times(x: f64) -> String {
    if x < 10.0 { digits::<2>(x) } else { count(x) }
}

/// A violation or a difference.
pub(crate) fn small(x: f64) -> String {
    format!("{x:.1e}")
}

/// A gap, which rounding can leave below 0.
pub(crate) fn gap(x: f64) -> String {
    small(if x <= 0.0 { 0.0 } else { x })
}

#[cfg(test)]
mod tests {
    use super::{gap, seconds, short};

    #[test]
    fn numbers() {
        assert_eq!([0.004, 9.994, 57.01, 6783.4].map(seconds), ["0.00", "9.99", "57.0", "6,783"]);
        assert_eq!([0.0123, 0.123].map(short::<3>), ["0.012", "0.12"]);
        assert_eq!([-1e-20, 2e-3].map(gap), ["0.0e0", "2.0e-3"]);
    }
}
