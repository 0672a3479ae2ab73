//! Test samples that no file holds, and samples scaled by the ranges of the training part.

use crate::failure::{Outcome, fail};
use std::fmt::Write as _;

/// The rows of `all` that are not in `part`, which has to be rows of `all` in their order.
pub(crate) fn rest(part: &str, all: &str) -> Outcome<String> {
    let mut rest = String::with_capacity(all.len());
    let mut wanted = part.lines().map(str::trim_end).peekable();
    for line in all.lines() {
        if wanted.peek() == Some(&line.trim_end()) {
            wanted.next();
        } else {
            rest += line;
            rest.push('\n');
        }
    }
    match wanted.next() {
        None => Ok(rest),
        Some(line) => fail(format!("`{}` is no row of the other file behind those before it", line.chars().take(60).collect::<String>())),
    }
}

/// The least and the greatest value of every feature of a file in LIBSVM format; a feature that a row does not name is 0 there.
pub(crate) struct Ranges(Vec<(f64, f64)>);

impl Ranges {
    pub(crate) fn of(text: &str) -> Outcome<Self> {
        let mut ranges: Vec<(f64, f64)> = Vec::new();
        let mut named: Vec<usize> = Vec::new();
        let mut rows = 0;
        for (n, line) in text.lines().enumerate() {
            rows += 1;
            for entry in entries(n, line) {
                let (index, value) = entry?;
                if index > ranges.len() {
                    ranges.resize(index, (f64::INFINITY, f64::NEG_INFINITY));
                    named.resize(index, 0);
                }
                let range = &mut ranges[index - 1];
                *range = (range.0.min(value), range.1.max(value));
                named[index - 1] += 1;
            }
        }
        for (range, named) in ranges.iter_mut().zip(named) {
            if named < rows {
                *range = (range.0.min(0.0), range.1.max(0.0));
            }
        }
        Ok(Self(ranges))
    }

    /// The same samples with every range moved to [−1, 1]. Features that are constant in the training part are left out, as `svm-scale` does.
    pub(crate) fn apply(&self, text: &str) -> Outcome<String> {
        let mut out = String::with_capacity(text.len() * 2);
        let mut values = vec![0.0; self.0.len()];
        for (n, line) in text.lines().enumerate() {
            values.fill(0.0);
            for entry in entries(n, line) {
                let (index, value) = entry?;
                if let Some(known) = values.get_mut(index - 1) {
                    *known = value;
                }
            }
            out += line.split(' ').next().unwrap_or_default();
            for (at, (value, (low, high))) in values.iter().zip(&self.0).enumerate().filter(|(_, (_, (low, high)))| high > low) {
                let scaled = 2.0 * (value - low) / (high - low) - 1.0;
                if scaled != 0.0 {
                    let _ = write!(out, " {}:{scaled}", at + 1);
                }
            }
            out.push('\n');
        }
        Ok(out)
    }
}

/// Indices (from 1) and values of a row.
fn entries(n: usize, line: &str) -> impl Iterator<Item = Outcome<(usize, f64)>> {
    line.split_whitespace().skip(1).map(move |entry| {
        let parts = entry.split_once(':').and_then(|(at, value)| Some((at.parse().ok().filter(|at| *at > 0)?, value.parse().ok()?)));
        parts.map_or_else(|| fail(format!("line {}: `{entry}` is no INDEX:VALUE; mend the file", n + 1)), Ok)
    })
}

#[cfg(test)]
mod tests {
    use super::{Ranges, rest};

    #[test]
    fn rows_that_are_left() {
        assert_eq!(rest("1 1:1 \n-1 2:1\n", "-1 3:1\n1 1:1\n1 1:1\n-1 2:1\n").expect("rest"), "-1 3:1\n1 1:1\n");
        assert!(rest("1 1:1\n1 4:1\n", "1 4:1\n1 1:1\n").unwrap_err().to_string().contains("1 4:1"));
    }

    #[test]
    fn scaled_by_the_ranges_of_the_training_part() {
        let train = "1 1:2 2:5\n2 1:6 2:5\n1 1:4 2:5 3:8\n";
        let ranges = Ranges::of(train).expect("ranges");
        // Feature 1 from 2 to 6; feature 2 is constant; feature 3 from 0, where it is not named, to 8.
        assert_eq!(ranges.apply(train).expect("scaled"), "1 1:-1 3:-1\n2 1:1 3:-1\n1 3:1\n");
        assert_eq!(ranges.apply("3 1:8 4:7\n").expect("scaled"), "3 1:2 3:-1\n");
        assert!(Ranges::of("1 0:2\n").err().expect("refused").to_string().contains("line 1: `0:2`"));
    }
}
