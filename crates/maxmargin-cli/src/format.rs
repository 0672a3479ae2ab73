//! Numbers for people.

use indicatif::{HumanBytes, HumanCount};

/// `4.00 GiB`
pub(crate) fn bytes(count: u64) -> String {
    HumanBytes(count).to_string()
}

/// `1,234,567`
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `0.012 s`, `3.42 s`, `1 m 05 s`, `2 h 03 m`
pub(crate) fn seconds(value: f64) -> String {
    if value < 0.1 {
        return format!("{value:.3} s");
    }
    if value < 60.0 {
        return format!("{value:.2} s");
    }
    let whole = value.round() as u64;
    if whole < 3600 {
        format!("{} m {:02} s", whole / 60, whole % 60)
    } else {
        format!("{} h {:02} m", whole / 3600, whole % 3600 / 60)
    }
}

/// A time of which no more than two digits are known: `3 s`, `50 s`, `3 m`, `1 h 20 m`
pub(crate) fn coarse(value: f64) -> String {
    let rounded = |value: f64, step: f64| ((value / step).round() * step) as u64;
    match value {
        _ if value < 10.0 => format!("{} s", rounded(value, 1.0).max(1)),
        _ if value < 57.5 => format!("{} s", rounded(value, 5.0)),
        _ if value < 3570.0 => format!("{} m", rounded(value / 60.0, 1.0)),
        _ => {
            let minutes = rounded(value / 60.0, 10.0);
            format!("{} h {:02} m", minutes / 60, minutes % 60)
        }
    }
}

/// Four significant digits: `0.0009871`, `1.234e-8`.
pub(crate) fn short(value: f64) -> String {
    maxmargin::data::number::format_g(value, 4)
}

/// [`short`], or `none` of an infinite figure: no gap is known of a kernel that is not known to be
/// positive semidefinite.
pub(crate) fn known(value: f64) -> String {
    known_by(short, value)
}

/// [`known`] of a figure that has another form.
pub(crate) fn known_by(text: fn(f64) -> String, value: f64) -> String {
    if value.is_infinite() { "none".to_owned() } else { text(value) }
}

/// Nine significant digits, for objectives.
pub(crate) fn long(value: f64) -> String {
    maxmargin::data::number::format_g(value, 9)
}

/// A label or parameter in the fewest digits that are exact.
pub(crate) fn exact(value: f64) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and numbers are ASCII.
    let _ = maxmargin::data::number::write_shortest(&mut text, value);
    String::from_utf8(text).unwrap_or_default()
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(4_240_000_000), "3.95 GiB");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(seconds(0.0123), "0.012 s");
        assert_eq!(seconds(65.2), "1 m 05 s");
        assert_eq!(seconds(7384.0), "2 h 03 m");
        let coarse: Vec<String> = [0.2, 7.4, 12.6, 57.0, 58.0, 95.0, 3569.0, 3570.0, 7384.0].map(coarse).to_vec();
        assert_eq!(coarse, ["1 s", "7 s", "15 s", "55 s", "1 m", "2 m", "59 m", "1 h 00 m", "2 h 00 m"]);
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }
}
