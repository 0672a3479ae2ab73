//! The printed figures of the papers: crates/maxmargin-repro/papers/*.csv.

use super::table::{Columns, Table};
use crate::cells::row::Printed;
use crate::cells::settings::{Settings, fill};
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use serde_json::Value;
use std::fs;

/// A table as printed.
pub(crate) struct Paper {
    file: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Paper {
    /// The printed figures of a table, if there are some.
    pub(crate) fn of(table: &Table) -> Outcome<Option<Self>> {
        table.paper.as_deref().map(Self::load).transpose()
    }

    pub(crate) fn load(file: &str) -> Outcome<Self> {
        let path = root().join("crates/maxmargin-repro/papers").join(file);
        Self::parse(file, &fs::read_to_string(&path).context(path.display())?)
    }

    fn parse(file: &str, text: &str) -> Outcome<Self> {
        let mut lines = text.lines().map(|line| line.split(',').map(|field| field.trim().to_owned()).collect::<Vec<_>>());
        let Some(header) = lines.next() else { return fail(format!("{file} is empty")) };
        let rows: Vec<Vec<String>> = lines.collect();
        match rows.iter().position(|row| row.len() != header.len()) {
            Some(n) => fail(format!("{file}:{}: {} fields, the header has {}", n + 2, rows[n].len(), header.len())),
            None => Ok(Self { file: file.to_owned(), header, rows }),
        }
    }

    /// What stands in a column of the row whose other columns have these texts.
    pub(crate) fn entry(&self, row: &[(&str, &str)], column: &str) -> Option<String> {
        let wanted: Vec<(usize, &str)> =
            row.iter().map(|(name, text)| Some((self.column(name).ok()?, *text))).collect::<Option<_>>()?;
        let row = self.rows.iter().find(|row| wanted.iter().all(|(at, text)| row[*at] == *text))?;
        Some(row[self.column(column).ok()?].clone())
    }

    fn column(&self, name: &str) -> Outcome<usize> {
        match self.header.iter().position(|column| column == name) {
            Some(column) => Ok(column),
            None => fail(format!("{} has no column `{name}`", self.file)),
        }
    }

    /// The figures that the paper prints for a cell; nothing when it has no such row.
    pub(crate) fn printed(&self, table: &Table, columns: &Columns, problem: &str, settings: &Settings) -> Outcome<Printed> {
        let mut settings = settings.clone();
        settings.insert("problem".into(), Value::String(problem.to_owned()));
        let mut wanted = Vec::new();
        for (column, template) in table.row.iter().chain(&columns.row) {
            wanted.push((self.column(column)?, fill(template, &settings)?));
        }
        if wanted.is_empty() {
            wanted.push((0, problem.to_owned()));
        }
        let Some(row) = self.rows.iter().find(|row| wanted.iter().all(|(column, text)| row[*column] == *text)) else {
            return Ok(Printed::default());
        };
        let number = |template: &String| -> Outcome<Option<f64>> {
            // A template may name a column that only some settings have (a table by k has no column
            // for k = 5).
            let name = fill(template, &settings)?;
            Ok(self.header.iter().position(|column| *column == name).and_then(|column| row[column].parse().ok()))
        };
        let seconds: Vec<Option<f64>> = columns.seconds.iter().map(number).collect::<Outcome<_>>()?;
        let total = seconds.iter().copied().sum::<Option<f64>>().filter(|_| !seconds.is_empty());
        Ok(Printed {
            seconds: total,
            iterations: columns.iterations.as_ref().map(number).transpose()?.flatten(),
            accuracy: columns.accuracy.as_ref().map(number).transpose()?.flatten(),
            support_vectors: columns.support_vectors.as_ref().map(number).transpose()?.flatten(),
            optimiser: columns.optimiser.as_ref().map(number).transpose()?.flatten(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Paper, Printed};
    use crate::cells::settings::Settings;
    use crate::specs::spec::Spec;

    #[test]
    fn figures_of_the_first_paper() {
        let spec = Spec::load("alpha-seeding").expect("spec");
        let table = spec.tables.iter().find(|table| table.number == 1).expect("table 1");
        let paper = Paper::of(table).expect("figures").expect("a paper");
        let sir = table.variants.iter().find(|variant| variant.name == "sir").expect("sir");
        let printed = paper.printed(table, &sir.paper, "Adult", &Settings::new()).expect("row");
        assert_eq!(
            printed,
            Printed { seconds: Some(57.0 + 3705.0), iterations: Some(317_110.0), accuracy: Some(82.36), ..Printed::default() }
        );
        assert_eq!(paper.printed(table, &sir.paper, "Other", &Settings::new()).expect("none"), Printed::default());
        let none = Columns::default();
        assert_eq!(paper.printed(table, &none, "Adult", &Settings::new()).expect("none"), Printed::default());
    }

    #[test]
    fn ragged_rows_are_refused() {
        assert!(Paper::parse("x.csv", "a,b\n1\n").err().expect("refused").to_string().contains("x.csv:2"));
    }
}
