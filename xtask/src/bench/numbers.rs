//! Numbers as reports and terminals show them.

/// `1234567` as `1,234,567`.
pub(crate) fn count(x: f64) -> String {
    let digits = (x.round() as u64).to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

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

/// Words as the beginning of a sentence.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{count, gap, seconds, short};

    #[test]
    fn numbers() {
        assert_eq!([0.0, 999.0, 1000.0, 1_234_567.0].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.004, 9.994, 57.01, 6783.4].map(seconds), ["0.00", "9.99", "57.0", "6,783"]);
        assert_eq!([0.0123, 0.123].map(short::<3>), ["0.012", "0.12"]);
        assert_eq!([-1e-20, 2e-3].map(gap), ["0.0e0", "2.0e-3"]);
    }
}
