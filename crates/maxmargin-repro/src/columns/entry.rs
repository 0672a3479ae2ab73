//! The columns of tables and the quantities of plots: one kind of value, which specs ask for by
//! name.

use super::catalogue;
use super::value::{Column, Place, Shown};
use crate::cells::row::Row;
use serde::Deserialize;

/// Parts of the names of columns whose figures are times or made of times.
const CLOCKS: [&str; 9] = ["seconds", "process", "training", "optimiser", "solve", "-ms", "update-ratio", "speedup", "clock"];

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
        let Some(column) = catalogue::COLUMNS.iter().find(|column| column.name == name) else {
            let names: Vec<&str> = catalogue::COLUMNS.iter().map(|column| column.name).collect();
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

    /// Whether cells of the column are words, not numbers.
    pub(super) fn is_words(&self) -> bool {
        self.column.words
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
