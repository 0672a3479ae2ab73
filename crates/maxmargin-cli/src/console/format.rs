//! Numbers in messages and reports.

use indicatif::HumanCount;
use maxmargin::data::number::format_g;

/// Three significant digits at most: `285 KiB`, `3.95 GiB`
pub(crate) fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (count as f64, "B");
    for larger in units {
        // 1023.5 KiB would round to 1024 KiB.
        if value < 1023.5 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    if value >= 100.0 { format!("{value:.0} {unit}") } else { format!("{} {unit}", format_g(value, 3)) }
}

/// `1,234,567`
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of things: `1 row`, `1,234 rows`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
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

/// An estimated time in at most two digits: `3 s`, `50 s`, `3 m`, `1 h 20 m`
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
    format_g(value, 4)
}

/// A share as a percentage with two decimals: `85.19 %`
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A share as a percentage with one decimal, for pages: `85.2 %`
pub(crate) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// An upper bound in two significant digits, rounded up: `9.7e-4`, `1e-3`, `0.25`, `0`. A figure
/// above a tolerance is therefore never shown as equal to it.
pub(crate) fn bound(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return short(value);
    }
    // Rounding may make a duality gap slightly negative.
    if value < 0.0 {
        return format!("-{}", bound(-value));
    }
    let rounded = format!("{value:.1e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let tenths = mantissa.replace('.', "").parse::<i32>().unwrap_or(0);
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let nearest = f64::from(tenths) * 10_f64.powi(exponent - 1);
    // The slack covers the rounding of decimal constants such as 0.001.
    let up = nearest < value * (1.0 - 1e-9);
    let (tenths, exponent) = match tenths + i32::from(up) {
        100 => (10, exponent + 1),
        tenths => (tenths, exponent),
    };
    if (-1..2).contains(&exponent) {
        return format_g(f64::from(tenths) * 10_f64.powi(exponent - 1), 2);
    }
    let mantissa = if tenths % 10 == 0 { format!("{}", tenths / 10) } else { format!("{}.{}", tenths / 10, tenths % 10) };
    format!("{mantissa}e{exponent}")
}

/// [`bound`], or `none` for an infinite figure: no duality gap is known for a kernel that is not
/// known to be positive semidefinite.
pub(crate) fn known_bound(value: f64) -> String {
    known_by(bound, value)
}

/// `text(value)`, or `none` for an infinite figure.
pub(crate) fn known_by(text: fn(f64) -> String, value: f64) -> String {
    if value.is_infinite() { "none".to_owned() } else { text(value) }
}

/// Six significant digits, for objectives and biases.
pub(crate) fn long(value: f64) -> String {
    format_g(value, 6)
}

/// A value that a rule computed, in three significant digits: `0.0769`
pub(crate) fn computed(value: f64) -> String {
    format_g(value, 3)
}

/// A parameter such as C or gamma: as it was given where six significant digits are exact, and in
/// four otherwise, which only computed values need.
pub(crate) fn parameter(value: f64) -> String {
    let text = exact(value);
    let mantissa = text.split('e').next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if digits.trim_start_matches('0').trim_end_matches('0').len() <= 6 { text } else { short(value) }
}

/// A parameter as a power of two such as `2^-5` if it is one, and as [`parameter`] otherwise.
pub(crate) fn power(value: f64) -> String {
    let exponent = value.log2().round();
    if value == 2_f64.powf(exponent) && value != 1.0 && value != 2.0 { format!("2^{exponent}") } else { parameter(value) }
}

/// The command line of this run, to be entered again.
pub(crate) fn own_command() -> String {
    let arguments = std::env::args().skip(1).map(|argument| shell(&argument));
    std::iter::once("maxmargin".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, if it needs that.
pub(crate) fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ',' | '/' | ':' | '+' | '=' | '%');
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A number in the fewest digits that are exact.
pub(crate) fn exact(value: f64) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and digits are ASCII.
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
        assert_eq!(bytes(1 << 20), "1 MiB");
        assert_eq!(bytes(291_604), "285 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1 MiB");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(seconds(0.0123), "0.012 s");
        assert_eq!(seconds(65.2), "1 m 05 s");
        assert_eq!(seconds(7384.0), "2 h 03 m");
        let coarse: Vec<String> = [0.2, 7.4, 12.6, 57.0, 58.0, 95.0, 3569.0, 3570.0, 7384.0].map(coarse).to_vec();
        assert_eq!(coarse, ["1 s", "7 s", "15 s", "55 s", "1 m", "2 m", "59 m", "1 h 00 m", "2 h 00 m"]);
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
        assert_eq!(percent(0.851_852), "85.19 %");
    }

    #[test]
    fn bounds_are_rounded_up() {
        let cases = [(9.61e-4, "9.7e-4"), (0.001, "1e-3"), (0.001_000_1, "1.1e-3"), (9.95e-5, "1e-4"), (0.25, "0.25")];
        for (value, text) in cases {
            assert_eq!(bound(value), text);
        }
        assert_eq!([0.0, 2.0, 12.0, 120.0, 7.438e-15, -3.42e-16].map(bound), ["0", "2", "12", "1.2e2", "7.5e-15", "-3.5e-16"]);
        assert_eq!(known_bound(f64::INFINITY), "none");
    }

    #[test]
    fn powers_of_two_are_shown_as_such() {
        let values = [0.03125, 128.0, 0.5, 1.0, 2.0, 100.0, 0.088_388_347_648_318_45];
        assert_eq!(values.map(power), ["2^-5", "2^7", "2^-1", "1", "2", "100", "0.08839"]);
        assert_eq!(["a b", "it's", "p/x.csv", "", "<=50K=3"].map(shell), ["'a b'", "'it'\\''s'", "p/x.csv", "''", "'<=50K=3'"]);
    }

    #[test]
    fn parameters_stay_as_they_were_given() {
        let values = [0.5, 32.0, 0.000_125, 0.123_456, 10_000_000_000.0, 0.03125];
        assert_eq!(values.map(parameter), values.map(exact));
        assert_eq!([0.088_388_347_648_318_45, 1.0 / 13.0].map(parameter), ["0.08839", "0.07692"]);
    }
}
