//! Plain tables without frames, numbers aligned to the right.

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

/// Columns of a terminal that everybody has.
const TERMINAL: u16 = 80;

/// Returns lines of `name value`. On a terminal long values are wrapped.
pub(crate) fn fields(rows: &[(&str, String)]) -> String {
    let mut table = plain();
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(TERMINAL);
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
}
