//! Standardised data: every feature with mean 0 and variance 1, as Rätsch's benchmark collection
//! has them.

use crate::datasets::edit::pair;
use crate::workspace::failure::Outcome;
use std::fmt::Write as _;

/// Returns the rows with every feature shifted and scaled. Features that do not vary become 0. The
/// variance is the mean square over all rows.
pub(crate) fn rows(text: &str) -> Outcome<String> {
    let mut table: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut width = 0;
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut entries = line.split_whitespace();
        let label = entries.next().unwrap_or_default();
        let mut row = Vec::new();
        for entry in entries {
            let (at, value) = pair(n, entry)?;
            row.resize(row.len().max(at), 0.0);
            row[at - 1] = value;
        }
        width = width.max(row.len());
        table.push((label, row));
    }
    for (_, row) in &mut table {
        row.resize(width, 0.0);
    }
    let count = table.len().max(1) as f64;
    for k in 0..width {
        let mean = table.iter().map(|(_, row)| row[k]).sum::<f64>() / count;
        let variance = table.iter().map(|(_, row)| (row[k] - mean).powi(2)).sum::<f64>() / count;
        let scale = if variance > 0.0 { variance.sqrt().recip() } else { 0.0 };
        table.iter_mut().for_each(|(_, row)| row[k] = (row[k] - mean) * scale);
    }
    let mut out = String::new();
    for (label, row) in &table {
        out += label;
        for (k, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            let _ = write!(out, " {}:{value}", k + 1);
        }
        out.push('\n');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn mean_and_variance() {
        // Feature 1: 1, 3 has mean 2, deviation 1. Feature 2 is constant. Feature 3: 0, 4.
        let text = rows("+1 1:1 2:5\n-1 1:3 2:5 3:4\n").expect("rows");
        assert_eq!(text, "+1 1:-1 3:-1\n-1 1:1 3:1\n");
        assert_eq!(rows("").expect("rows"), "");
        assert!(rows("1 1:2\n1 0:3\n").unwrap_err().to_string().contains("line 2: `0:3`"));
    }
}
