//! Words in fields: numbers, truth values, and words for missing values.

use crate::dataset::{ColumnKind, MissingWords};

/// Words for missing values in every column, in upper or lower case: those of pandas, and those
/// that databases and statistical programs write.
const MISSING: [&str; 18] = [
    "?", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "1.#ind", "-1.#ind", "1.#qnan",
    "-1.#qnan", "null", "\\n", "(null)",
];

/// Marks for missing values among numbers and truth values. Among words they are words, such as `+`
/// and `-`, `none` and `some`.
const MARKS: [&str; 7] = ["-", "--", ".", "..", "\u{2013}", "\u{2014}", "none"];

/// Largest number of characters of a unit.
const LONGEST_UNIT: usize = 8;

/// Separators of thousands: blanks, apostrophes, commas and points.
const SEPARATORS: [char; 8] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}', ',', '.'];

/// Signs before or after a number that say what it counts.
const SIGNS: [char; 7] = ['$', '€', '£', '¥', '%', '‰', '°'];

/// The rule for missing fields of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing<'a> {
    own: &'a [String],
    level: Level,
}

/// The known words that count as missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Only the given words.
    Given,
    Words,
    Marks,
}

impl MissingWords {
    /// The rule for a feature column with this name and kind.
    pub(super) fn of(&self, name: &str, kind: &ColumnKind) -> Missing<'_> {
        match kind {
            ColumnKind::Number | ColumnKind::Boolean => self.of_numbers(),
            ColumnKind::Category(_) => self.of_words(name),
        }
    }

    /// The rule for a column of words with this name.
    pub(super) fn of_words(&self, name: &str) -> Missing<'_> {
        let level = if self.is_verbatim(name) { Level::Given } else { Level::Words };
        Missing { own: &self.words, level }
    }

    /// Returns whether a field of a column of words with this name is missing.
    pub fn is_gap(&self, name: &str, field: &str) -> bool {
        self.of_words(name).has(field.trim())
    }

    /// The rule for a column of numbers or truth values.
    pub(super) fn of_numbers(&self) -> Missing<'_> {
        Missing { own: &self.words, level: Level::Marks }
    }

    /// Returns whether the words of this column are verbatim.
    pub(super) fn is_verbatim(&self, name: &str) -> bool {
        self.verbatim.iter().any(|known| known == name)
    }
}

impl Missing<'_> {
    pub(super) fn has(self, field: &str) -> bool {
        self.is_given(field)
            || (self.level >= Level::Words && is_missing(field))
            || (self.level == Level::Marks && is_mark(field))
    }

    /// Returns whether the field is empty or one of the given words.
    pub(super) fn is_given(self, field: &str) -> bool {
        let same = |word: &String| word == field || number(word).is_some_and(|value| number(field) == Some(value));
        field.is_empty() || self.own.iter().any(same)
    }
}

/// Returns whether the field is empty or a word for missing values in any column.
pub(super) fn is_missing(field: &str) -> bool {
    // Like pandas, this accepts only `None` with this capitalisation: `none` is an ordinary word.
    field.is_empty() || field == "None" || MISSING.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// Returns whether this is a mark for a missing value among numbers.
pub(super) fn is_mark(field: &str) -> bool {
    MARKS.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// Parses a number, which may be infinite: `inf`, and values that are too large.
pub(super) fn number(field: &str) -> Option<f64> {
    // The first letter distinguishes most words from numbers.
    let first = *field.as_bytes().first()?;
    // The minus sign of typeset text.
    if let Some(rest) = field.strip_prefix('\u{2212}').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')) {
        return number(rest).map(|value| -value);
    }
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b'i' | b'I')) {
        return None;
    }
    field.parse().ok().filter(|value: &f64| !value.is_nan())
}

/// Returns whether this is a number with a comma: a decimal comma or a thousands separator.
pub(super) fn has_comma(field: &str) -> bool {
    field.contains(',') && number(&field.replace(',', "")).is_some() && !field.starts_with(',')
}

/// Returns whether this is a number with a currency sign, a percent sign or a degree sign.
pub(super) fn has_unit(field: &str) -> bool {
    let (signed, sign) = (field.trim_start_matches(['+', '-', '\u{2212}']), |c: char| SIGNS.contains(&c));
    let plain = signed.trim_matches(|c: char| sign(c) || c.is_whitespace());
    plain.len() < signed.len()
        && (number(plain).is_some_and(f64::is_finite) || has_comma(plain) || without_format(plain).is_some())
}

/// Returns a number without the marks of its format: separators of thousands (`1'234.5`, `1 234,5`,
/// `1.234,5`, `1,234,567`), brackets for a minus sign (`(120)`), and single quotes. `1,234` and
/// `1.234` can be other numbers.
pub(super) fn without_format(field: &str) -> Option<String> {
    let inside = |begin: char, end: char| field.strip_prefix(begin)?.strip_suffix(end);
    let plain = |inner: &str| without_thousands(inner).or_else(|| number(inner).map(|_| inner.to_owned()));
    if let Some(inner) = inside('(', ')') {
        return plain(inner).filter(|number| !number.starts_with(['-', '+'])).map(|number| format!("-{number}"));
    }
    inside('\'', '\'').map_or_else(|| without_thousands(field), plain)
}

/// Returns a number without separators of thousands, and with a point.
fn without_thousands(field: &str) -> Option<String> {
    let digits = field.trim_start_matches(['+', '-', '\u{2212}']);
    let separator = digits.chars().find(|c| !c.is_ascii_digit()).filter(|c| SEPARATORS.contains(c))?;
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != separator).unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(end);
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = whole.split(separator).collect();
    let has_groups = (1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|group| group.len() == 3);
    let is_fraction = fraction.strip_prefix(['.', ',']).is_some_and(are_digits);
    let is_certain = !matches!(separator, '.' | ',') || groups.len() > 2 || is_fraction;
    let is_number =
        has_groups && groups.iter().all(|group| are_digits(group)) && (fraction.is_empty() || is_fraction) && is_certain;
    let sign = if digits.len() < field.len() && !field.starts_with('+') { "-" } else { "" };
    is_number.then(|| format!("{sign}{}{}", groups.concat(), fraction.replace(',', ".")))
}

/// Splits a number from a short word behind it: `0.5 mg`, `70kg`.
pub(super) fn with_word(field: &str) -> Option<(f64, &str)> {
    let end = field.find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | ',' | '\u{2212}')))?;
    let (value, word) = (number(field[..end].trim())?, field[end..].trim_start());
    let is_word = (1..=LONGEST_UNIT).contains(&word.chars().count())
        && word.starts_with(char::is_alphabetic)
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '%' | '.' | '²' | '³' | '^'));
    is_word.then_some((value, word))
}

/// Names of months, by their first letters.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Returns whether this is a date that begins with a number, with or without a time behind it, a
/// month or a time: `2020-05-17`, `17.5.2020`, `5/17/20 10:30`, `17-Mar-2020`, `2020-05`, `10:30`.
pub(super) fn is_date(field: &str) -> bool {
    // Most words are told by their first letter.
    if !field.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let (date, time) = field.split_once([' ', 'T']).map_or((field, None), |(date, time)| (date, Some(time)));
    let is_time = |time: &str| time.starts_with(|c: char| c.is_ascii_digit()) && time.contains(':');
    if is_clock(field) || has_name_of_month(field) {
        return true;
    }
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = date.split(separator).collect();
        let digits = |part: &&str, lengths: std::ops::RangeInclusive<usize>| {
            lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        if let [year, month] = parts[..] {
            return separator == '-' && digits(&year, 4..=4) && digits(&month, 2..=2);
        }
        let [first, second, third] = parts[..] else { return false };
        let year_first = digits(&first, 4..=4) && digits(&second, 1..=2) && digits(&third, 1..=2);
        let year_last = digits(&first, 1..=2) && digits(&second, 1..=2) && (digits(&third, 2..=2) || digits(&third, 4..=4));
        year_first || year_last
    }) && time.is_none_or(is_time)
}

/// Returns whether this is a time of day: `9:30`, `09:30:15`.
pub(super) fn is_clock(field: &str) -> bool {
    let parts: Vec<&str> = field.split(':').collect();
    let is_part = |part: &&str| matches!(part.len(), 1 | 2) && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.len(), 2 | 3) && parts.iter().all(is_part) && parts[1..].iter().all(|part| part.len() == 2)
}

/// Returns whether this is a day, a month by its name and a year: `17-Mar-2020`, `1 January 2020`.
fn has_name_of_month(field: &str) -> bool {
    let mut parts = field.split([' ', '-', '/', '.', ',']).filter(|part| !part.is_empty());
    let (Some(day), Some(month), Some(year), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_number = |part: &str, most: usize| part.len() <= most && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_month = || month.get(..3).is_some_and(|begin| MONTHS.iter().any(|known| begin.eq_ignore_ascii_case(known)));
    is_number(day, 2) && is_number(year, 4) && is_month()
}

/// Returns whether this date could be the number of a version, such as `1.2.10`: two digits of a
/// year, and nothing that only a date has.
pub(super) fn could_be_version(date: &str) -> bool {
    let parts: Vec<&str> = date.split('.').collect();
    let [first, second, year] = parts[..] else { return false };
    let is_plain = |part: &str| !part.starts_with('0') || part.len() == 1;
    year.len() == 2 && is_plain(first) && is_plain(second) && first.parse().is_ok_and(|first: u8| first <= 12)
}

/// Returns whether this is a number with one comma in the place of a point.
pub(super) fn has_decimal_comma(field: &str) -> bool {
    has_comma(field) && !field.contains('.') && field.bytes().filter(|byte| *byte == b',').count() == 1
}

/// Returns whether a comma in a number can separate thousands: three digits follow it, and one to
/// three precede it, not only zeros.
pub(super) fn could_be_thousands(field: &str) -> bool {
    let Some((before, after)) = field.trim_start_matches(['+', '-']).split_once(',') else { return false };
    after.len() == 3 && before.len() <= 3 && !before.starts_with('0') && after.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether this is a number in any notation.
pub(super) fn looks_numeric(field: &str) -> bool {
    number(field).is_some() || has_comma(field) || without_format(field).is_some()
}

/// Parses `true`, `yes`, `t`, `y` and their opposites, in upper or lower case.
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
        for missing in ["", "?", "NA", "n/a", "NaN", "-NaN", "NULL", "None", "#N/A", "n.a.", "\\N", "<NA>", "-1.#IND"] {
            assert!(is_missing(missing) && number(missing).is_none() && truth(missing).is_none(), "{missing}");
        }
        for mark in ["-", ".", "--", "none"] {
            assert!(is_mark(mark) && !is_missing(mark) && number(mark).is_none() && truth(mark).is_none(), "{mark}");
        }
        assert_eq!(["1", "+1.5", "-.5", "1e3", "inf", "1e999"].map(|field| number(field).is_some()), [true; 6]);
        assert_eq!(["", "one", "1 2", "0x10", "1_000", "i", "--1"].map(number), [None; 7]);
        assert_eq!(number("\u{2212}2.5"), Some(-2.5));
        assert_eq!(["\u{2212}", "\u{2212}-1", "\u{2212}inf", "\u{2212}\u{2212}1"].map(number), [None; 4]);
        assert_eq!(["$1,200.50", "12%", "12 %", "-€3", "3,5 €", "20°"].map(has_unit), [true; 6]);
        assert_eq!(["12", "%", "$", "a%", "12kg", "1 2"].map(has_unit), [false; 6]);
        assert_eq!(with_word("0.5 mg"), Some((0.5, "mg")));
        assert_eq!(with_word("70kg/m²"), Some((70.0, "kg/m²")));
        assert_eq!(["12", "mg", "1 2", "2020-01-02 10h", "1st of many", "5 %"].map(with_word), [None; 6]);
        let versions = ["1.2.10", "12.0.99"].map(could_be_version);
        assert_eq!((versions, ["17.5.20", "01.2.10", "1.2.2010", "1/2/10"].map(could_be_version)), ([true; 2], [false; 4]));
        let plain = |field: &str| without_format(field).unwrap_or_default();
        let grouped = ["1 234,5", "1\u{a0}234", "-1'234.50", "52.100,50", "1,234.5", "1,234,567", "\u{2212}1\u{202f}234.5"];
        assert_eq!(grouped.map(plain), ["1234.5", "1234", "-1234.50", "52100.50", "1234.5", "1234567", "-1234.5"]);
        assert_eq!(["(120)", "(1,234.5)", "'0.5'", "'1 234'"].map(plain), ["-120", "-1234.5", "0.5", "1234"]);
        assert_eq!(["1,234", "1.234", "1 23", "12 345 6", "1.2.10", "1234,5", "1 234 kg", "1,234,56", ""].map(plain), [""; 9]);
        assert_eq!(["(a)", "(-1)", "()", "''", "'a'", "(1", "it's"].map(plain), [""; 7]);
        assert_eq!(["2020-05-17", "17.5.2020", "5/17/20 10:30", "2020-05-17T01:02:03Z"].map(is_date), [true; 4]);
        assert_eq!(["17-Mar-2020", "1 January 20", "2020-05", "9:30", "09:30:15"].map(is_date), [true; 5]);
        assert_eq!(["17-Mar", "1 of 20", "2020.05", "5-6", "1:2:3", "3:4:5:6"].map(is_date), [false; 6]);
        assert_eq!(["2020", "1.2.3.4", "555-12-34 x", "1.2", "a-b-c", "192.168.1"].map(is_date), [false; 6]);
        assert_eq!(["1,5", "1,234.5", "-0,25"].map(has_comma), [true; 3]);
        assert_eq!(["1.5", "a,b", ",5", "1,a"].map(has_comma), [false; 4]);
        assert_eq!(["Yes", "F", "TRUE", "n", "maybe"].map(truth), [Some(true), Some(false), Some(true), Some(false), None]);
    }

    #[test]
    fn words_are_missing_by_the_kind_of_their_column() {
        let words = MissingWords { words: vec!["-999".to_owned(), "gone".to_owned()], verbatim: vec!["own".to_owned()] };
        let (numbers, plain, own) = (words.of_numbers(), words.of_words("plain"), words.of_words("own"));
        let has = |field: &str| [numbers.has(field), plain.has(field), own.has(field)];
        for given in ["", "-999", "-999.0", "gone"] {
            assert_eq!(has(given), [true; 3], "{given}");
        }
        assert_eq!((has("None"), has("-"), has("Gone")), ([true, true, false], [true, false, false], [false; 3]));
    }
}
