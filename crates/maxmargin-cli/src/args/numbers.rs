//! Numbers of samples, given on the command line or in a file.

use maxmargin::cv::update::{NumbersError, number_or_range};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Numbers on the command line, or the name of a file with numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    List(Vec<RangeInclusive<u64>>),
    File(PathBuf),
}

impl Numbers {
    /// Returns the name of the file.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::List(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

/// Parses `3,7,20-40`, or the name of a file.
pub(crate) fn numbers(text: &str) -> Result<Numbers, NumbersError> {
    if !text.is_empty() && !text.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '-' || c == ' ') {
        return Ok(Numbers::File(text.into()));
    }
    text.split(',').map(number_or_range).collect::<Result<_, _>>().map(Numbers::List)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_files() {
        assert_eq!(numbers("3,7, 20-40"), Ok(Numbers::List(vec![3..=3, 7..=7, 20..=40])));
        assert_eq!(numbers("gone.txt"), Ok(Numbers::File("gone.txt".into())));
        assert_eq!(numbers("./12"), Ok(Numbers::File("./12".into())));
        for bad in ["", "0", "3,,4", "9-3", "-3", "1-", "99999999999999999999"] {
            assert!(numbers(bad).is_err(), "{bad}");
        }
    }
}
