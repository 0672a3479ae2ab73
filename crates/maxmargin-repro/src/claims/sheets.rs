//! The measured tables of a paper, each read from the raw lines once for all rules that look at it.

use crate::cells::cell::Cell;
use crate::cells::record::Record;
use crate::cells::row::Row;
use crate::specs::extent::{Extent, cells};
use crate::specs::spec::Spec;
use crate::specs::table::Table;
use crate::tables::rows::measured;
use crate::workspace::failure::Outcome;
use std::sync::OnceLock;

/// A table's measured rows and all of its cells.
pub(super) struct Sheet {
    pub(super) table: u32,
    pub(super) rows: Vec<Row>,
    pub(super) cells: Vec<Cell>,
}

/// A paper's spec and raw lines.
pub(crate) struct Sheets {
    pub(crate) spec: Spec,
    records: Vec<Record>,
    /// In the order of the spec's tables; filled when a rule looks at one.
    read: Vec<OnceLock<Sheet>>,
}

impl Sheets {
    pub(crate) fn new(spec: Spec, records: Vec<Record>) -> Self {
        let read = spec.tables.iter().map(|_| OnceLock::new()).collect();
        Self { spec, records, read }
    }

    /// Returns a table with a file of results of its own; none where the spec has none.
    pub(crate) fn table(&self, number: u32) -> Option<&Table> {
        self.place(number).map(|place| &self.spec.tables[place])
    }

    /// Returns the measured rows of a table; none where the spec has no such table.
    pub(super) fn sheet(&self, number: u32) -> Outcome<Option<&Sheet>> {
        let Some(place) = self.place(number) else { return Ok(None) };
        let read = &self.read[place];
        if let Some(sheet) = read.get() {
            return Ok(Some(sheet));
        }
        let table = &self.spec.tables[place];
        let cells = cells(&self.spec, table, Extent { full: true, ..Extent::default() });
        let sheet = Sheet { table: number, rows: measured(&self.spec, table, &self.records)?, cells };
        Ok(Some(read.get_or_init(|| sheet)))
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.spec.tables.iter().position(|table| table.number == number && table.from.is_empty())
    }
}
