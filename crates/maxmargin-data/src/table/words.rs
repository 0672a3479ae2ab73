//! Words of a field: numbers, truths, and those for a value that is missing.

use crate::dataset::{Kind, MissingWords};

/// Words for a missing value in every column, in any case: those of pandas, and what databases and
/// statistical programs write.
const MISSING: [&str; 18] = [
    "?", "na", "n/a", "n.a.", "n.a", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "1.#ind", "-1.#ind", "1.#qnan",
    "-1.#qnan", "null", "\\n", "(null)",
];

/// Marks for a missing value among numbers and truths. Among words they are words: `+` and `-`,
/// `none` and `some`.
const MARKS: [&str; 7] = ["-", "--", ".", "..", "\u{2013}", "\u{2014}", "none"];

/// Which fields of one column are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing<'a> {
    own: &'a [String],
    level: Level,
}

/// How many of the known words count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// None of them.
    Given,
    Words,
    Marks,
}

impl MissingWords {
    /// Of a column of features with this name and kind.
    pub(super) fn of(&self, name: &str, kind: &Kind) -> Missing<'_> {
        match kind {
            Kind::Number | Kind::Boolean => self.of_numbers(),
            Kind::Category(_) => self.of_words(name),
        }
    }

    /// Of a column of words with this name.
    pub(super) fn of_words(&self, name: &str) -> Missing<'_> {
        let level = if self.is_verbatim(name) { Level::Given } else { Level::Words };
        Missing { own: &self.words, level }
    }

    /// Of a column of numbers or truths.
    pub(super) fn of_numbers(&self) -> Missing<'_> {
        Missing { own: &self.words, level: Level::Marks }
    }

    /// Whether the words of this column are taken as they are.
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

    /// Whether the field is empty, or one of the words that were named.
    pub(super) fn is_given(self, field: &str) -> bool {
        let same = |word: &String| word == field || number(word).is_some_and(|value| number(field) == Some(value));
        field.is_empty() || self.own.iter().any(same)
    }
}

/// Whether nothing is there: empty, or one of the words for it in any column.
pub(super) fn is_missing(field: &str) -> bool {
    // pandas takes `None` in this case alone: `none` is a word that people have.
    field.is_empty() || field == "None" || MISSING.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// Whether this stands for a missing value among numbers.
pub(super) fn is_mark(field: &str) -> bool {
    MARKS.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// A number, which need not be finite: `inf`, and what is too great.
pub(super) fn number(field: &str) -> Option<f64> {
    // Most words are told from numbers by their first letter.
    let first = *field.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b'i' | b'I')) {
        return None;
    }
    field.parse().ok().filter(|value: &f64| !value.is_nan())
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
        for missing in ["", "?", "NA", "n/a", "NaN", "-NaN", "NULL", "None", "#N/A", "n.a.", "\\N", "<NA>", "-1.#IND"] {
            assert!(is_missing(missing) && number(missing).is_none() && truth(missing).is_none(), "{missing}");
        }
        for mark in ["-", ".", "--", "none"] {
            assert!(is_mark(mark) && !is_missing(mark) && number(mark).is_none() && truth(mark).is_none(), "{mark}");
        }
        assert_eq!(["1", "+1.5", "-.5", "1e3", "inf", "1e999"].map(|field| number(field).is_some()), [true; 6]);
        assert_eq!(["", "one", "1 2", "0x10", "1_000", "i", "--1"].map(number), [None; 7]);
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
