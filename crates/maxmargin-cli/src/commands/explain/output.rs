//! Contributions as a table: a line for each row and machine.

use crate::console::format;
use crate::report::{each_once, free_names, write_fields};
use maxmargin::data::classes::pairs;
use maxmargin::data::table::KeptColumn;
use maxmargin::explain::Explanation;
use std::io::{self, Write};

/// The contributions of all rows.
pub(super) struct ContributionTable<'a> {
    pub(super) found: &'a Explanation,
    /// The rows of the data, from 0.
    pub(super) rows: &'a [usize],
    /// The names of the columns.
    pub(super) names: &'a [String],
    /// The names of the machines.
    pub(super) machines: &'a [String],
    /// Columns of the data to copy.
    pub(super) kept: &'a [KeptColumn],
}

impl ContributionTable<'_> {
    /// Writes a header, then a line for each row and machine.
    pub(super) fn write(&self, delimiter: char, out: &mut dyn Write) -> io::Result<()> {
        let several = self.machines.len() > 1;
        let kept = each_once(self.kept);
        let mut computed: Vec<String> = vec!["row".to_owned()];
        computed.extend(several.then(|| "machine".to_owned()));
        computed.extend(["base", "decision"].map(str::to_owned));
        computed.extend_from_slice(self.names);
        let has_pairs = self.found.interactions(0, 0).is_some();
        let pairs: Vec<(usize, usize)> = pairs(self.names.len()).filter(|_| has_pairs).collect();
        computed.extend(pairs.iter().map(|(p, q)| format!("{}:{}", self.names[*p], self.names[*q])));
        let mut header = free_names(computed, "computed_", &kept);
        // The number of the row is the first column.
        header.splice(1..1, kept.iter().map(|column| column.name.clone()));
        write_line(&header, delimiter, out)?;
        for (i, row) in self.rows.iter().enumerate() {
            for (m, machine) in self.machines.iter().enumerate() {
                let mut line = vec![(row + 1).to_string()];
                line.extend(kept.iter().map(|column| column.fields[*row].clone()));
                line.extend(several.then(|| machine.clone()));
                line.extend([self.found.base(m), self.found.decision(i, m)].map(format::exact));
                line.extend(self.found.values(i, m).iter().map(|value| format::exact(*value)));
                let values = self.found.interactions(i, m).unwrap_or_default();
                line.extend(pairs.iter().map(|(p, q)| format::exact(values[p * self.names.len() + q])));
                write_line(&line, delimiter, out)?;
            }
        }
        Ok(())
    }
}

fn write_line(fields: &[String], delimiter: char, out: &mut dyn Write) -> io::Result<()> {
    write_fields(&fields.iter().map(|field| &field[..]).collect::<Vec<_>>(), delimiter, out)
}
