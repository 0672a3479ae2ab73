//! Files in LIBSVM format, cut, relabelled or divided.

use crate::workspace::failure::{Context, Outcome, fail};
use std::fmt::Write as _;

/// Changes to a file in LIBSVM format.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Edit<'a> {
    /// The number of rows, from the first.
    pub(crate) first: Option<usize>,
    /// Only the rows of these labels among them.
    pub(crate) only: Option<&'a [i64]>,
    /// These labels become +1, all others −1.
    pub(crate) positive: Option<&'a [i64]>,
    /// All values are divided by this.
    pub(crate) divide: Option<f64>,
}

impl Edit<'_> {
    pub(crate) fn apply(&self, text: &str) -> Outcome<String> {
        let mut out = String::with_capacity(text.len());
        for (n, line) in text.lines().take(self.first.unwrap_or(usize::MAX)).enumerate() {
            let (label, features) = line.split_once(' ').unwrap_or((line, ""));
            let is_one_of = |labels: &[i64]| -> Outcome<bool> {
                let value: f64 = label.parse().context(format_args!("line {}: label `{label}`", n + 1))?;
                Ok(labels.iter().any(|&l| l as f64 == value))
            };
            if let Some(labels) = self.only
                && !is_one_of(labels)?
            {
                continue;
            }
            match self.positive {
                None => out += label,
                Some(labels) => out += if is_one_of(labels)? { "+1" } else { "-1" },
            }
            match self.divide {
                None if line.len() > label.len() => {
                    let _ = write!(out, " {features}");
                }
                None => {}
                Some(divisor) => {
                    for entry in features.split_whitespace() {
                        let (at, value) = pair(n, entry)?;
                        let _ = write!(out, " {at}:{}", value / divisor);
                    }
                }
            }
            out.push('\n');
        }
        Ok(out)
    }
}

/// Returns index and value of an entry in line `n`.
pub(crate) fn pair(n: usize, entry: &str) -> Outcome<(usize, f64)> {
    let parts = entry.split_once(':').and_then(|(at, value)| Some((at.parse().ok()?, value.parse().ok()?)));
    match parts.filter(|(at, _)| *at > 0) {
        Some(parts) => Ok(parts),
        None => fail(format!("line {}: `{entry}` is no INDEX:VALUE; mend the file", n + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::Edit;

    #[test]
    fn cut_relabel_and_divide() {
        let text = "5 1:2 3:4\n0 2:1\n1\n";
        let edit = |first, positive, divide| Edit { first, positive, divide, ..Edit::default() }.apply(text).expect("edited");
        assert_eq!(edit(Some(2), None, None), "5 1:2 3:4\n0 2:1\n");
        assert_eq!(edit(None, Some(&[1, 5]), None), "+1 1:2 3:4\n-1 2:1\n+1\n");
        assert_eq!(edit(Some(1), None, Some(8.0)), "5 1:0.25 3:0.5\n");
        assert_eq!(Edit { only: Some(&[0, 1]), ..Edit::default() }.apply(text).expect("edited"), "0 2:1\n1\n");
        let wrong = |text: &str, edit: Edit| edit.apply(text).unwrap_err().to_string();
        assert!(wrong("x 1:2\n", Edit { positive: Some(&[1]), ..Edit::default() }).contains("line 1"));
        assert!(wrong("1 1:2\n1 2\n", Edit { divide: Some(2.0), ..Edit::default() }).contains("line 2: `2`"));
    }
}
