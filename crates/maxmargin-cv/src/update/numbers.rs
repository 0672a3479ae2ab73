//! Numbers of samples in lists and files: `3,7,20-40`.

use maxmargin_data::quote::quoted;
use std::ops::RangeInclusive;

/// The longest piece of text that an error quotes, in characters.
const QUOTED: usize = 40;

/// The reason why a text is no list of sample numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumbersError {
    /// A piece is neither a number nor two numbers with a `-` between them.
    #[error("{at}write numbers of samples such as 3,7,20-40 (the first is 1), or the name of a file of them")]
    Form {
        /// The place of the piece.
        at: Place,
    },
    /// A range ends before it begins.
    #[error("{at}the range {first}-{last} ends before it begins")]
    Turned {
        /// The place of the piece.
        at: Place,
        /// The first number of the range.
        first: u64,
        /// The last number of the range.
        last: u64,
    },
}

impl NumbersError {
    /// The place of the error.
    pub fn place(&self) -> &Place {
        match self {
            Self::Form { at } | Self::Turned { at, .. } => at,
        }
    }

    /// The message without the place.
    #[must_use]
    pub fn without_place(mut self) -> Self {
        match &mut self {
            Self::Form { at } | Self::Turned { at, .. } => *at = Place::default(),
        }
        self
    }
}

/// A place in a file of numbers, or a number by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1; 0 for a number by itself.
    pub line: usize,
    /// The text at this place, shortened.
    pub text: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 { Ok(()) } else { write!(f, "line {}: `{}`: ", self.line, self.text) }
    }
}

/// Parses a number or a range of numbers, from 1: `7` or `20-40`.
///
/// # Errors
///
/// When the text is neither, or a range ends before it begins.
pub fn number_or_range(text: &str) -> Result<RangeInclusive<u64>, NumbersError> {
    at(text, &Place::default())
}

/// Parses the numbers and ranges of a file, separated by commas, blanks and line ends.
///
/// # Errors
///
/// The first piece that is neither a number nor a range, with its line.
pub fn numbers_of(text: &str) -> Result<Vec<RangeInclusive<u64>>, NumbersError> {
    let mut ranges = Vec::new();
    for (line, text) in text.lines().enumerate() {
        for cell in text.split([',', ' ', '\t']).filter(|cell| !cell.is_empty()) {
            let place = || Place { line: line + 1, text: quoted(cell, QUOTED) };
            ranges.push(number_or_range(cell).or_else(|_| at(cell, &place()))?);
        }
    }
    Ok(ranges)
}

fn at(text: &str, place: &Place) -> Result<RangeInclusive<u64>, NumbersError> {
    let wanted = || NumbersError::Form { at: place.clone() };
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(wanted);
    match text.split_once('-') {
        None => number(text).map(|n| n..=n),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            if first <= last { Ok(first..=last) } else { Err(NumbersError::Turned { at: place.clone(), first, last }) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_numbers_and_ranges() {
        assert_eq!(numbers_of("3,7\t8\n\n20-40, 9-9\r\n"), Ok(vec![3..=3, 7..=7, 8..=8, 20..=40, 9..=9]));
        let error = numbers_of("1\n2 5-4\n").expect_err("a range that is turned").to_string();
        assert_eq!(error, "line 2: `5-4`: the range 5-4 ends before it begins");
        let error = numbers_of("1\n\n0\n").expect_err("there is no sample 0").to_string();
        assert!(error.starts_with("line 3: `0`: write numbers"), "{error}");
        assert!(number_or_range("-3").expect_err("not a number").to_string().starts_with("write numbers"));
    }
}
