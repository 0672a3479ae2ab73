//! What a field says.

/// Whether nothing is there: empty, or one of the words for it (`NA`, `N/A`, `NaN`, `null`, `?`, in any case).
pub(super) fn is_missing(field: &str) -> bool {
    field.is_empty() || ["?", "na", "n/a", "nan", "null"].iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// A number, which need not be finite: `inf`, and what is too great.
pub(super) fn number(field: &str) -> Option<f64> {
    // Most words are told from numbers by their first letter.
    let first = *field.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b'i' | b'I')) {
        return None;
    }
    field.parse().ok()
}

/// Whether this is a number with a comma in it: a decimal comma, or one between thousands.
pub(super) fn has_comma(field: &str) -> bool {
    field.contains(',') && number(&field.replace(',', "")).is_some() && !field.starts_with(',')
}

/// A number in whatever notation.
pub(super) fn looks_numeric(field: &str) -> bool {
    number(field).is_some() || has_comma(field)
}

/// `true`, `yes`, `t`, `y` and their opposites, in any case.
pub(super) fn truth(field: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| field.eq_ignore_ascii_case(word));
    if is(["true", "yes", "t", "y"]) {
        Some(true)
    } else if is(["false", "no", "f", "n"]) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbers_truths_or_nothing() {
        for missing in ["", "?", "NA", "n/a", "NaN", "NULL"] {
            assert!(is_missing(missing) && number(missing).is_none_or(f64::is_nan) && truth(missing).is_none(), "{missing}");
        }
        assert_eq!(["1", "+1.5", "-.5", "1e3", "inf", "1e999"].map(|field| number(field).is_some()), [true; 6]);
        assert_eq!(["", "one", "1 2", "0x10", "1_000", "i", "--1"].map(number), [None; 7]);
        assert_eq!(["1,5", "1,234.5", "-0,25"].map(has_comma), [true; 3]);
        assert_eq!(["1.5", "a,b", ",5", "1,a"].map(has_comma), [false; 4]);
        assert_eq!(["Yes", "F", "TRUE", "n", "maybe"].map(truth), [Some(true), Some(false), Some(true), Some(false), None]);
    }
}
