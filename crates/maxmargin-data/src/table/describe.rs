//! Summaries of the columns of a table, with remarks on unusual ones.

use crate::dataset::Dataset;
use crate::dataset::{ColumnKind, Columns};
use serde::Serialize;

/// A summary of a feature column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// The name of the column.
    pub name: String,
    /// `number`, `boolean` or `category`.
    pub kind: &'static str,
    /// Number of features.
    pub features: usize,
    /// Number of rows with a missing value.
    pub missing: usize,
    /// The smallest number; none for a category, or if all values are missing.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// The mean of the numbers; for truth values the share of true ones.
    pub mean: Option<f64>,
    /// The most frequent word of a category (the first of equally frequent ones).
    pub most_frequent: Option<String>,
    /// Number of rows with this word.
    pub most_frequent_rows: usize,
    /// A remark on an unusual column.
    pub odd: Option<String>,
}

/// Smallest number of rows for which values that increase by one count as an index.
const COUNTED: usize = 10;

/// The statistics of a column from one pass.
#[derive(Clone)]
struct ColumnStats {
    missing: usize,
    minimum: f64,
    maximum: f64,
    sum: f64,
    /// The number of rows of each word of a category.
    words: Vec<usize>,
    last: Option<f64>,
    counts_up: bool,
}

impl ColumnStats {
    fn value(&mut self, value: f64) {
        (self.minimum, self.maximum) = (self.minimum.min(value), self.maximum.max(value));
        self.sum += value;
        self.counts_up &= self.last.is_none_or(|last| value == last + 1.0);
        self.last = Some(value);
    }
}

/// Summarises the columns of a table's data; empty for other data.
pub fn describe(data: &Dataset) -> Vec<ColumnSummary> {
    let Some(columns) = data.columns.as_deref() else { return Vec::new() };
    let nothing = |kind: &ColumnKind| ColumnStats {
        missing: 0,
        minimum: f64::INFINITY,
        maximum: f64::NEG_INFINITY,
        sum: 0.0,
        words: if let ColumnKind::Category(words) = kind { vec![0; words.len()] } else { Vec::new() },
        last: None,
        counts_up: true,
    };
    let mut seen: Vec<ColumnStats> = columns.features().iter().map(|column| nothing(&column.kind)).collect();
    let width = columns.width();
    let mut row = vec![0.0; width + seen.len()];
    for i in 0..data.samples.len() {
        row.fill(0.0);
        data.samples.row(i).for_each(|j, value| {
            if let Some(place) = row.get_mut(j) {
                *place = value;
            }
        });
        for (c, seen) in seen.iter_mut().enumerate() {
            let of = columns.features_of(c);
            if row[width + c] != 0.0 {
                (seen.missing, seen.counts_up) = (seen.missing + 1, false);
            } else if seen.words.is_empty() && of.len() == 1 {
                seen.value(row[of.start]);
            } else {
                let word = row[of].iter().position(|value| *value != 0.0);
                word.into_iter().for_each(|word| seen.words[word] += 1);
            }
        }
    }
    seen.iter().enumerate().map(|(c, seen)| summary(columns, c, seen, data.samples.len())).collect()
}

fn summary(columns: &Columns, c: usize, seen: &ColumnStats, rows: usize) -> ColumnSummary {
    let column = &columns.features()[c];
    let known = rows - seen.missing;
    let of_number = |value: f64| Some(value).filter(|value| value.is_finite());
    // `max_by_key` returns the last maximum, so the order is reversed.
    let most = (0..seen.words.len()).rev().max_by_key(|&word| seen.words[word]);
    let most_rows = most.map_or(0, |word| seen.words[word]);
    let word = match &column.kind {
        ColumnKind::Category(words) => most.map(|word| words[word].clone()),
        _ => None,
    };
    let is_constant = if word.is_some() { most_rows == known } else { seen.minimum == seen.maximum };
    let odd = if known == 0 {
        Some("every value is missing".to_owned())
    } else if is_constant {
        Some("the same in every row: it tells nothing".to_owned())
    } else if seen.counts_up && seen.last.is_some() && rows >= COUNTED {
        Some("counts the rows: an index, not a feature".to_owned())
    } else if 2 * seen.missing > rows {
        Some(format!("missing in {} of {rows} rows", seen.missing))
    } else {
        None
    };
    ColumnSummary {
        name: column.name.clone(),
        kind: column.kind.name(),
        features: columns.features_of(c).len(),
        missing: seen.missing,
        minimum: of_number(seen.minimum),
        maximum: of_number(seen.maximum),
        mean: (known > 0 && word.is_none()).then(|| seen.sum / known as f64).and_then(of_number),
        most_frequent: word,
        most_frequent_rows: most_rows,
        odd,
    }
}
