//! What the columns of data are like, and what is odd about them.

use crate::dataset::Dataset;
use crate::dataset::{Columns, Kind};
use serde::Serialize;

/// A column of features, looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// `number`, `boolean` or `category`.
    pub kind: &'static str,
    /// Features that it becomes.
    pub features: usize,
    /// Rows in which its value is missing.
    pub missing: usize,
    /// The smallest number; none of a category, or where every value is missing.
    pub minimum: Option<f64>,
    /// The greatest.
    pub maximum: Option<f64>,
    /// Their mean; of truths the share that is true.
    pub mean: Option<f64>,
    /// The word of most rows (the first of equals), of a category.
    pub most_frequent: Option<String>,
    /// Rows that have it.
    pub most_frequent_rows: usize,
    /// What is odd, in words, where something is.
    pub odd: Option<String>,
}

/// Rows that count up by one are an index where there are at least so many.
const COUNTED: usize = 10;

/// What is seen of a column in one pass.
#[derive(Clone)]
struct Seen {
    missing: usize,
    minimum: f64,
    maximum: f64,
    sum: f64,
    /// Of a category: rows of each word.
    words: Vec<usize>,
    last: Option<f64>,
    counts_up: bool,
}

impl Seen {
    fn value(&mut self, value: f64) {
        (self.minimum, self.maximum) = (self.minimum.min(value), self.maximum.max(value));
        self.sum += value;
        self.counts_up &= self.last.is_none_or(|last| value == last + 1.0);
        self.last = Some(value);
    }
}

/// The columns of a table's data; none where the data is of no table.
pub fn describe(data: &Dataset) -> Vec<ColumnSummary> {
    let Some(columns) = data.columns.as_deref() else { return Vec::new() };
    let nothing = |kind: &Kind| Seen {
        missing: 0,
        minimum: f64::INFINITY,
        maximum: f64::NEG_INFINITY,
        sum: 0.0,
        words: if let Kind::Category(words) = kind { vec![0; words.len()] } else { Vec::new() },
        last: None,
        counts_up: true,
    };
    let mut seen: Vec<Seen> = columns.features().iter().map(|column| nothing(&column.kind)).collect();
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

fn summary(columns: &Columns, c: usize, seen: &Seen, rows: usize) -> ColumnSummary {
    let column = &columns.features()[c];
    let known = rows - seen.missing;
    let of_number = |value: f64| Some(value).filter(|value| value.is_finite());
    // The last of equal maxima would win otherwise.
    let most = (0..seen.words.len()).rev().max_by_key(|&word| seen.words[word]);
    let most_rows = most.map_or(0, |word| seen.words[word]);
    let word = match &column.kind {
        Kind::Category(words) => most.map(|word| words[word].clone()),
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
