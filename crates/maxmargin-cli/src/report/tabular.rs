//! Tables (CSV and others) in documents.

use super::table::{Align, columns_without};
use crate::console::format;
use maxmargin::data::Columns;
use maxmargin::data::quote::quoted;
use maxmargin::data::table::{ColumnKind, ColumnSummary};
use maxmargin::model::Model;
use serde::Serialize;

/// Limits on the characters of a name, and on the rows of a table.
const SHOWN: usize = 30;
const ROWS: usize = 60;

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TableDocument {
    /// Names of the columns that are features.
    columns: Vec<String>,
    /// Name of the column that is predicted.
    target: Option<String>,
    /// The words that the labels 0, 1, 2, … stand for; empty where labels are numbers.
    labels: Vec<String>,
}

impl TableDocument {
    pub(crate) fn of(known: &Columns) -> Self {
        Self {
            columns: known.features().iter().map(|column| column.name.clone()).collect(),
            target: known.target().map(|target| target.name.clone()),
            labels: known.labels().to_vec(),
        }
    }
}

/// A column of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ModelColumn {
    name: String,
    kind: &'static str,
    /// The number of its features.
    features: usize,
    /// The value that missing cells are filled with.
    fill: Option<String>,
}

/// Returns the columns of a model in their order.
pub(crate) fn model_columns(model: &Model) -> Vec<ModelColumn> {
    let Some(encoder) = &model.parts().encoder else { return Vec::new() };
    let known = encoder.columns();
    let column = |(c, column): (usize, &maxmargin::data::table::Column)| ModelColumn {
        name: column.name.clone(),
        kind: column.kind.name(),
        features: if matches!(column.kind, ColumnKind::Category(_)) { known.features_of(c).len() } else { 1 },
        fill: encoder.fill(c),
    };
    known.features().iter().enumerate().map(column).collect()
}

/// Returns a table with one line per column of a model.
pub(crate) fn model_columns_table(of: &[ModelColumn]) -> String {
    if of.is_empty() {
        return String::new();
    }
    let header = [("column", Align::Left), ("kind", Align::Left), ("features", Align::Right), ("gaps are", Align::Left)];
    let row = |column: &ModelColumn| {
        let fill = column.fill.as_deref().map_or_else(|| "refused".to_owned(), |fill| quoted(fill, SHOWN));
        vec![quoted(&column.name, SHOWN), column.kind.to_owned(), column.features.to_string(), fill]
    };
    table_text(&header, of.iter().map(row).collect())
}

/// Returns a table with one line per column: its statistics, and what is odd about it.
pub(crate) fn columns_table(of: &[ColumnSummary]) -> String {
    if of.is_empty() {
        return String::new();
    }
    let header = [
        ("column", Align::Left),
        ("kind", Align::Left),
        ("missing", Align::Right),
        ("smallest", Align::Right),
        ("greatest", Align::Right),
        ("mean", Align::Right),
        ("most frequent", Align::Left),
        ("odd", Align::Left),
    ];
    let number = |value: Option<f64>| value.map_or_else(String::new, format::short);
    let row = |column: &ColumnSummary| {
        let most = column.most_frequent.as_ref().map_or_else(String::new, |word| {
            format!("{} ({})", quoted(word, SHOWN), format::count(column.most_frequent_rows as u64))
        });
        vec![
            quoted(&column.name, SHOWN),
            if column.most_frequent.is_some() { format::counted(column.features as u64, "word") } else { column.kind.to_owned() },
            if column.missing > 0 { format::count(column.missing as u64) } else { String::new() },
            number(column.minimum),
            number(column.maximum),
            number(column.mean),
            most,
            column.odd.clone().unwrap_or_default(),
        ]
    };
    let (mut header, mut rows) = (header.to_vec(), of.iter().map(row).collect::<Vec<_>>());
    // Most tables have no odd columns, and many no missing values.
    for at in (0..header.len()).rev().filter(|at| ["odd", "missing"].contains(&header[*at].0)).collect::<Vec<_>>() {
        if rows.iter().all(|row| row[at].is_empty()) {
            header.remove(at);
            rows.iter_mut().for_each(|row| {
                row.remove(at);
            });
        }
    }
    table_text(&header, rows)
}

fn table_text(header: &[(&str, Align)], mut rows: Vec<Vec<String>>) -> String {
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let rest = if more > 0 { format!("and {more} more columns (--json shows all)\n") } else { String::new() };
    format!("\n{}{rest}", columns_without(header, &rows, &["mean", "smallest", "greatest"]))
}
