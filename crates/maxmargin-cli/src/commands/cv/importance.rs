//! The permutation importance of columns.

use crate::console::format;
use crate::files::input::Input;
use crate::report::{Align, columns, feature_names};
use maxmargin::cv::Importance;
use serde::Serialize;

/// Most columns that are shown.
const SHOWN: usize = 20;

/// A column and its importance.
#[derive(Debug, Serialize)]
struct ColumnDocument {
    name: String,
    /// The mean by which the score gets worse, and its standard deviation.
    mean: f64,
    deviation: f64,
}

/// The importance of all columns, the most important first.
#[derive(Debug, Serialize)]
pub(super) struct ImportanceDocument {
    metric: &'static str,
    repeats: usize,
    columns: Vec<ColumnDocument>,
}

impl ImportanceDocument {
    /// Names the columns of the data.
    pub(super) fn new(input: &Input, found: Importance) -> Self {
        let names = feature_names(input.data.columns.as_deref(), input.data.index_base as usize, found.columns.len());
        let column = |(name, of): (String, maxmargin::cv::ColumnImportance)| ColumnDocument {
            name,
            mean: of.mean,
            deviation: of.deviation,
        };
        let mut columns: Vec<ColumnDocument> = names.into_iter().zip(found.columns).map(column).collect();
        // Equal columns keep the order of the data.
        columns.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Self { metric: found.metric, repeats: found.repeats, columns }
    }

    /// `accuracy, 5 permutations of each of 13 columns`
    pub(super) fn text(&self) -> String {
        let (metric, count) = (self.metric.replace('_', " "), format::count(self.columns.len() as u64));
        format!("{metric}, {} permutations of each of {count} columns", self.repeats)
    }

    /// Returns the table of the most important columns.
    pub(super) fn table(&self) -> String {
        let header = [("column", Align::Left), ("importance", Align::Right), ("deviation", Align::Right)];
        let row = |of: &ColumnDocument| vec![of.name.clone(), format::short(of.mean), format::short(of.deviation)];
        let rows: Vec<Vec<String>> = self.columns.iter().take(SHOWN).map(row).collect();
        let more = self.columns.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("and {more} columns of less importance\n") } else { String::new() };
        columns(&header, &rows) + &more
    }
}
