//! The columns of tables and the quantities of plots: one kind of value, which specs ask for by
//! name.

mod known;
mod traces;

pub(crate) use known::{quotient, theoretical};

use super::spec::Table;
use super::table::Row;
use serde::Deserialize;

/// What stands where there is no figure.
pub(crate) const NOTHING: &str = "–";

/// Parts of the names of columns whose figures are times or made of times.
const CLOCKS: [&str; 9] = ["seconds", "process", "training", "optimiser", "solve", "-ms", "update-ratio", "speedup", "clock"];

/// A column: what specs call it, its heading, and what it shows of a row.
pub(crate) struct Column {
    name: &'static str,
    /// `{peer}` is the table's first peer, `{second}` its second, `{of}` the variant that the spec
    /// names.
    heading: &'static str,
    /// Whether the spec names a variant.
    wants: bool,
    /// Words stand left, numbers right.
    words: bool,
    of: fn(&Place) -> Shown,
    format: fn(f64) -> String,
}

/// What a column looks at: a row, the rows beside it, and the variant that the spec names.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) row: &'a Row,
    pub(crate) of: &'a str,
}

/// A figure, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    Nothing,
    Words(String),
    Is(f64),
    /// More than this.
    Over(f64),
    /// Less than this.
    Under(f64),
}

impl Shown {
    fn known(&self) -> Option<f64> {
        if let Self::Is(x) = self { Some(*x) } else { None }
    }

    fn text(self, format: fn(f64) -> String) -> String {
        match self {
            Self::Nothing => NOTHING.to_owned(),
            // A bar would end the cell.
            Self::Words(words) => words.replace('|', "/"),
            Self::Is(x) => format(x),
            Self::Over(x) => format!("> {}", format(x)),
            Self::Under(x) => format!("< {}", format(x)),
        }
    }
}

impl From<Option<f64>> for Shown {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, Self::Is)
    }
}

/// A column as a spec asks for it: `NAME`, or `NAME: VARIANT`, and ` as HEADING` where the column's
/// own does not fit.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Entry {
    column: &'static Column,
    of: String,
    heading: String,
}

impl TryFrom<String> for Entry {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (asked, heading) = text.split_once(" as ").map_or((text.as_str(), None), |(asked, heading)| (asked, Some(heading)));
        let (name, of) = asked.split_once(": ").unwrap_or((asked, ""));
        let Some(column) = known::COLUMNS.iter().find(|column| column.name == name) else {
            let names: Vec<&str> = known::COLUMNS.iter().map(|column| column.name).collect();
            return Err(format!("no column is called `{name}`; there is {}", names.join(", ")));
        };
        match (column.wants, of) {
            (true, "") => Err(format!("column `{name}` needs a variant: `{name}: VARIANT`")),
            (false, of) if !of.is_empty() => Err(format!("column `{name}` takes no variant; `{of}` is left over")),
            _ => Ok(Self { column, of: of.to_owned(), heading: heading.unwrap_or(column.heading).to_owned() }),
        }
    }
}

impl Entry {
    /// The variant that the spec names, if the column wants one.
    pub(crate) fn variant(&self) -> Option<&str> {
        self.column.wants.then_some(&self.of)
    }

    pub(crate) fn heading(&self, peers: [&str; 2]) -> String {
        let heading = self.heading.replace("{peer}", peers[0]).replace("{second}", peers[1]);
        heading.replace("{of}", &self.of)
    }

    /// What is known of a row's figure.
    pub(crate) fn shown(&self, rows: &[Row], row: &Row) -> Shown {
        (self.column.of)(&Place { rows, row, of: &self.of })
    }

    /// Whether the figure is a clock's, not a count.
    pub(crate) fn is_clock(&self) -> bool {
        let name = self.column.name;
        CLOCKS.iter().any(|clock| name.contains(clock)) && !name.starts_with("paper")
    }

    /// What a table shows of a row.
    pub(crate) fn text(&self, rows: &[Row], row: &Row) -> String {
        self.shown(rows, row).text(self.column.format)
    }

    /// What a plot draws of a row: nothing that is a bound only.
    pub(crate) fn value(&self, rows: &[Row], row: &Row) -> Option<f64> {
        self.shown(rows, row).known()
    }
}

/// The rows as a table. Columns in which no row has anything are left out.
pub(crate) fn markdown(table: &Table, columns: &[Entry], rows: &[Row]) -> String {
    among(table, columns, rows, rows)
}

/// Some of the rows as a table, beside all of them.
pub(crate) fn among(table: &Table, columns: &[Entry], shown: &[Row], rows: &[Row]) -> String {
    let filled = columns.iter().filter_map(|column| {
        let cells: Vec<String> = shown.iter().map(|row| column.text(rows, row)).collect();
        let used = cells.iter().any(|cell| cell != NOTHING && !cell.is_empty());
        used.then(|| (column.heading([table.peer(0), table.peer(1)]), column.column.words, cells))
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

#[cfg(test)]
#[path = "columns/columns_tests.rs"]
mod tests;
