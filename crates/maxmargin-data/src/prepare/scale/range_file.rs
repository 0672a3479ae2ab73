//! Range files of LIBSVM's `svm-scale`.

use super::{Column, ScaleMethod, Scaler, TargetRange};
use crate::libsvm::MAX_INDEX;
use crate::text::number::format_g;
use crate::text::quote::quoted;

/// The reasons for which a range file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// A line does not follow the format.
    #[error("range file, line {line}: `{text}` should be {expected}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The line.
        text: String,
        /// The expected content.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("range file: ends where {expected} should stand; it is truncated")]
    Truncated {
        /// The expected content.
        expected: &'static str,
    },
    /// The format cannot represent means and standard deviations.
    #[error("range files hold min-max scalings only, not mean and standard deviation")]
    NotMinMax,
}

/// The numbered lines of a range file.
struct Lines<'a>(std::iter::Enumerate<std::str::Lines<'a>>);

impl<'a> Lines<'a> {
    fn next(&mut self, expected: &'static str) -> Result<(usize, &'a str), RangeError> {
        self.0.next().map(|(at, text)| (at + 1, text.trim())).ok_or(RangeError::Truncated { expected })
    }

    fn pair(&mut self, expected: &'static str) -> Result<(f64, f64), RangeError> {
        let (line, text) = self.next(expected)?;
        let numbers: Option<Vec<f64>> = text.split_whitespace().map(finite).collect();
        match numbers.as_deref() {
            Some(&[a, b]) => Ok((a, b)),
            _ => Err(bad(line, text, expected)),
        }
    }
}

fn finite(word: &str) -> Option<f64> {
    word.parse().ok().filter(|value: &f64| value.is_finite())
}

fn bad(line: usize, text: &str, expected: &'static str) -> RangeError {
    RangeError::Line { line, text: quoted(text, 60), expected }
}

impl Scaler {
    /// Reads the text of a range file with features numbered from `index_base` (0 or 1).
    ///
    /// The number of features is the greatest number in the file, because `svm-scale` leaves out
    /// constant features.
    ///
    /// # Errors
    ///
    /// The first line that does not follow the format.
    pub fn from_range_text(text: &str, index_base: u32) -> Result<Self, RangeError> {
        const FEATURE: &str = "a feature number above the one before, its minimum and its maximum";
        let mut lines = Lines(text.lines().enumerate());
        let (mut line, mut head) = lines.next("`x` or `y`")?;
        let mut target = None;
        if head == "y" {
            let (lower, upper) = lines.pair("the lower and upper limit of scaled labels")?;
            let (min, max) = lines.pair("the smallest and the greatest label")?;
            target = Some(TargetRange { lower, upper, min, max });
            (line, head) = lines.next("`x`")?;
        }
        if head != "x" {
            return Err(bad(line, head, "`x`"));
        }
        let (lower, upper) = lines.pair("the lower and upper limit of scaled features")?;
        let mut columns: Vec<Column> = Vec::new();
        let mut features = 0;
        while let Ok((line, text)) = lines.next(FEATURE) {
            if text.is_empty() {
                continue;
            }
            let words: Vec<&str> = text.split_whitespace().collect();
            let column = match words[..] {
                [index, low, high] => index.parse().ok().zip(finite(low)).zip(finite(high)),
                _ => None,
            };
            let ((index, low), high): ((u32, f64), f64) = column.ok_or_else(|| bad(line, text, FEATURE))?;
            let feature = index.checked_sub(index_base).ok_or_else(|| bad(line, text, "a feature numbered from 1"))?;
            // Scaled data are written with these indices, which readers must accept.
            if index > MAX_INDEX {
                return Err(bad(
                    line,
                    text,
                    "a feature number of at most 4294967294, the greatest that LIBSVM-format files have here",
                ));
            }
            if (feature as usize) < features {
                return Err(bad(line, text, FEATURE));
            }
            features = feature as usize + 1;
            if low != high {
                columns.push(Column { feature, low, high });
            }
        }
        Ok(Self { method: ScaleMethod::MinMax { lower, upper }, features, columns, target })
    }

    /// The text of a range file as `svm-scale` writes it: numbers with 17 digits, features numbered
    /// from `index_base`, without constant features.
    ///
    /// # Errors
    ///
    /// When this is not a min-max scaling.
    pub fn to_range_text(&self, index_base: u32) -> Result<String, RangeError> {
        let ScaleMethod::MinMax { lower, upper } = self.method else {
            return Err(RangeError::NotMinMax);
        };
        let pair = |a, b| [&format_g(a, 17), " ", &format_g(b, 17), "\n"].concat();
        let mut text = String::new();
        if let Some(TargetRange { lower, upper, min, max }) = self.target {
            text += "y\n";
            text += &pair(lower, upper);
            text += &pair(min, max);
        }
        text += "x\n";
        text += &pair(lower, upper);
        for column in &self.columns {
            let index = u64::from(column.feature) + u64::from(index_base);
            text += &index.to_string();
            text += " ";
            text += &pair(column.low, column.high);
        }
        Ok(text)
    }
}
