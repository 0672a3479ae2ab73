//! Plain tables without frames, numbers aligned to the right.

use crate::console::wrap::TERMINAL;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::io::{self, IsTerminal};

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Returns a table with a header line.
pub(crate) fn columns(header: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let mut table = plain();
    table.set_header(header.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row.clone());
    }
    for (at, (_, align)) in header.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
    }
    text(&table)
}

/// Returns whether no line is longer than those of a terminal.
pub(crate) fn fits(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= TERMINAL)
}

/// Returns a table with a header line that fits a terminal, if it does without some of these
/// columns. The first of them is left out first.
pub(crate) fn columns_without(header: &[(&str, Align)], rows: &[Vec<String>], spare: &[&str]) -> String {
    let (mut header, mut rows) = (header.to_vec(), rows.to_vec());
    let mut spare = spare.iter();
    loop {
        let text = columns(&header, &rows);
        let Some(name) = spare.next().filter(|_| !fits(&text)) else { return text };
        if let Some(at) = header.iter().position(|column| column.0 == *name) {
            header.remove(at);
            rows.iter_mut().for_each(|row| {
                row.remove(at);
            });
        }
    }
}

/// Returns lines of `name value`. On a terminal long values are wrapped.
pub(crate) fn fields(rows: &[(&str, String)]) -> String {
    let mut table = plain();
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(TERMINAL as u16);
    }
    for (name, value) in rows {
        table.add_row(vec![(*name).to_owned(), value.clone()]);
    }
    text(&table)
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn text(table: &Table) -> String {
    table.lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right() {
        let header = [("name", Align::Left), ("count", Align::Right)];
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "12345678".to_owned()]];
        let text = columns(&header, &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].ends_with("       1") && lines[2].ends_with("12345678"), "{text}");
        assert_eq!(lines[1].len(), lines[2].len());
    }

    #[test]
    fn spare_columns_are_left_out_until_the_table_fits() {
        let header = [("status", Align::Left), ("gap", Align::Right), ("seconds", Align::Right)];
        let text = |status: usize| {
            let rows = [vec!["x".repeat(status), "1e-3".to_owned(), "0.25".to_owned()]];
            columns_without(&header, &rows, &["seconds", "gap"])
        };
        assert!(text(60).contains("seconds"));
        assert!(!text(70).contains("seconds") && text(70).contains("gap"));
        assert!(!text(90).contains("gap") && text(90).contains("status"));
    }
}
