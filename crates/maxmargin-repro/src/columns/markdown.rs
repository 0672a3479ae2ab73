//! Rows as a table in Markdown.

use super::entry::Entry;
use super::value::NOTHING;
use crate::cells::row::Row;

/// The rows as a table. Columns in which no row has anything are left out.
pub(crate) fn markdown(peers: [&str; 2], columns: &[Entry], rows: &[Row]) -> String {
    among(peers, columns, rows, rows)
}

/// Some of the rows as a table, beside all of them.
pub(crate) fn among(peers: [&str; 2], columns: &[Entry], shown: &[Row], rows: &[Row]) -> String {
    let filled = columns.iter().filter_map(|column| {
        let cells: Vec<String> = shown.iter().map(|row| column.text(rows, row)).collect();
        let used = cells.iter().any(|cell| cell != NOTHING && !cell.is_empty());
        used.then(|| (column.heading(peers), column.is_words(), cells))
    });
    grid(&filled.collect::<Vec<_>>())
}

/// Columns, each with its heading, whether it is words, and its cells, as Markdown.
pub(crate) fn grid(columns: &[(String, bool, Vec<String>)]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|(heading, ..)| heading.as_str()).collect());
    text += &line(columns.iter().map(|(_, words, _)| if *words { "---" } else { "--:" }).collect());
    for n in 0..columns.first().map_or(0, |(.., cells)| cells.len()) {
        text += &line(columns.iter().map(|(.., cells)| cells[n].as_str()).collect());
    }
    text
}
