//! Decimal numbers: fast reading of short ones, writing the shortest exact ones, and C's `%g`.

use std::io::{self, Write};

/// 10⁰ … 10²²: the powers of ten that are exact in `f64`.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];

/// 10⁰ … 10¹⁹.
const INTEGER_POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < 20 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Reads `[+-]digits[.digits]` at `at`. Returns the number and the position after it, or `None`
/// when the number has another form or is too long.
///
/// The digits form an integer below 2⁵³, and the divisor is a power of ten up to 10²². Both are
/// exact, so the one division rounds correctly, and the result is that of every correct reader.
#[inline]
pub(crate) fn short_decimal(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let mut at = at;
    let negative = match text.get(at) {
        Some(b'-') => {
            at += 1;
            true
        }
        Some(b'+') => {
            at += 1;
            false
        }
        _ => false,
    };
    let (whole, mut count) = digits(text, at);
    at += count;
    let mut value = whole;
    let mut divisor = 1.0;
    if text.get(at) == Some(&b'.') {
        let (fraction, fraction_count) = digits(text, at + 1);
        at += 1 + fraction_count;
        count += fraction_count;
        // 19 digits cannot wrap a u64.
        if count > 19 {
            return None;
        }
        value = whole * INTEGER_POWERS[fraction_count] + fraction;
        divisor = POWERS[fraction_count];
    }
    if count == 0 || count > 19 || value >= 1 << 53 {
        return None;
    }
    let magnitude = value as f64 / divisor;
    Some((if negative { -magnitude } else { magnitude }, at))
}

/// Reads the decimal digits at `at`. Returns their number (modulo 2⁶⁴ beyond 19 digits) and their
/// count.
///
/// A plain loop is as fast here as finding and converting digits in 8-byte words (measured): most
/// runs have one to three digits, which branch prediction learns.
#[inline]
pub(crate) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    let run = text.get(at..).unwrap_or_default();
    let mut number: u64 = 0;
    for (count, byte) in run.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (number, count);
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    (number, run.len())
}

/// Writes the shortest decimal that reads back as exactly `value`: `3`, `-0.25`, `1e-300`.
///
/// # Errors
///
/// The errors of `out`.
pub fn write_shortest(out: &mut impl Write, value: f64) -> io::Result<()> {
    let magnitude = value.abs();
    // Most values of real data are small whole numbers, which need no search for the shortest
    // digits.
    let whole = magnitude as u64;
    if whole as f64 == magnitude && magnitude < 1e15 && (whole > 0 || value.is_sign_positive()) {
        if value < 0.0 {
            out.write_all(b"-")?;
        }
        return write_integer(out, whole);
    }
    let plain = magnitude == 0.0 || (1e-5..1e16).contains(&magnitude);
    if plain { write!(out, "{value}") } else { write!(out, "{value:e}") }
}

/// The text that [`write_shortest`] writes.
pub fn shortest(value: f64) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_shortest(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes `number` in decimal, without the cost of the formatting machinery.
pub(crate) fn write_integer(out: &mut impl Write, number: u64) -> io::Result<()> {
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return out.write_all(&digits[first..]);
        }
    }
}

/// Formats `value` like C's `%.{precision}g` in the "C" locale. A precision of 17 is exact for
/// every `f64`.
pub fn format_g(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        return if value.is_sign_negative() { format!("-{name}") } else { name.to_owned() };
    }
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    // `e` notation always has one digit before the point, so the trimmed digits are empty only for
    // zero.
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return format!("{sign}0");
    }
    if exponent < -4 || i64::from(exponent) >= precision as i64 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.unsigned_abs());
    }
    let Ok(whole) = usize::try_from(exponent + 1) else {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    };
    if whole == 0 {
        format!("{sign}0.{digits}")
    } else if digits.len() <= whole {
        format!("{sign}{digits}{}", "0".repeat(whole - digits.len()))
    } else {
        let (integer, fraction) = digits.split_at(whole);
        format!("{sign}{integer}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn g_prints_as_c_does() {
        // Expected texts are those of C's printf.
        for (value, precision, expected) in [
            (0.0, 17, "0"),
            (-0.0, 17, "-0"),
            (1.0, 17, "1"),
            (6.2, 17, "6.2000000000000002"),
            (0.1, 17, "0.10000000000000001"),
            (100.0, 17, "100"),
            (1e16, 17, "10000000000000000"),
            (1e17, 17, "1e+17"),
            (1e-4, 6, "0.0001"),
            (1e-5, 6, "1e-05"),
            (-0.000_123_456_789, 6, "-0.000123457"),
            (123_456.7, 6, "123457"),
            (1_234_567.0, 6, "1.23457e+06"),
            (999_999.5, 6, "1e+06"),
            (0.708_333_333, 6, "0.708333"),
            (1e300, 8, "1e+300"),
            (0.25, 8, "0.25"),
            (f64::INFINITY, 6, "inf"),
            (f64::NEG_INFINITY, 6, "-inf"),
        ] {
            assert_eq!(format_g(value, precision), expected, "{value:e} with {precision} digits");
        }
    }

    fn read(text: &str) -> Option<f64> {
        short_decimal(text.as_bytes(), 0).filter(|(_, end)| *end == text.len()).map(|(v, _)| v)
    }

    #[test]
    fn short_numbers_are_read_and_long_ones_left() {
        assert_eq!(read("12"), Some(12.0));
        assert_eq!(read("+1.0"), Some(1.0));
        assert_eq!(read("-.5"), Some(-0.5));
        assert_eq!(read("5."), Some(5.0));
        assert_eq!(read("-0").map(f64::to_bits), Some((-0.0_f64).to_bits()));
        assert_eq!(read("9007199254740991"), Some(9_007_199_254_740_991.0));
        for text in ["", "+", ".", "-.", "1e3", "9007199254740993", "00000000000000000001", "1.00000000000000000000", "x"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_equals_the_standard_reader(text in "[+-]?[0-9]{0,9}(\\.[0-9]{0,12})?") {
            if let Some(value) = read(&text) {
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().expect("a decimal").to_bits());
            } else {
                prop_assert!(!text.bytes().any(|b| b.is_ascii_digit()) || text.len() > 16, "{} was left", text);
            }
        }

        #[test]
        fn shortest_text_reads_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut text = Vec::new();
            write_shortest(&mut text, value).expect("memory does not fail");
            let text = String::from_utf8(text).expect("digits");
            prop_assert_eq!(text.parse::<f64>().expect("a number").to_bits(), bits);
            prop_assert!(text.len() <= 25, "{}", text);
            let whole = bits as i64 >> (bits % 64);
            let mut text = Vec::new();
            write_shortest(&mut text, whole as f64).expect("memory does not fail");
            prop_assert_eq!(String::from_utf8(text).expect("digits").parse::<f64>(), Ok(whole as f64));
            prop_assert_eq!(format_g(value, 17).parse::<f64>().expect("a number").to_bits(), bits);
        }
    }
}
