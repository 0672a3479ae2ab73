//! crates/maxmargin-repro/specs/PAPER.toml: what a paper measured, on which data, with which
//! settings.

use super::presentation::{BRIEF, Statistics};
use super::problem::Problem;
use super::table::Table;
use crate::cells::cell::Cell;
use crate::cells::settings::{Settings, label};
use crate::columns::entry::Entry;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// Its name on the command line, that of its file.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) title: String,
    /// Remarks for readers of the report.
    #[serde(default)]
    pub(crate) remarks: Vec<String>,
    /// Settings of every cell.
    pub(crate) set: Settings,
    /// Settings that replace others with `--full`.
    #[serde(default)]
    pub(crate) full: Settings,
    /// The columns of tables without columns of their own.
    #[serde(default)]
    columns: Vec<Entry>,
    /// Tests of differences over all problems of a table.
    pub(crate) statistics: Option<Statistics>,
    #[serde(rename = "problem")]
    pub(crate) problems: Vec<Problem>,
    #[serde(rename = "table")]
    pub(crate) tables: Vec<Table>,
}

impl Spec {
    pub(crate) fn load(paper: &str) -> Outcome<Self> {
        let folder = root().join("crates/maxmargin-repro/specs");
        let path = folder.join(format!("{paper}.toml"));
        if !path.is_file() {
            let mut known: Vec<String> = fs::read_dir(&folder)
                .context(folder.display())?
                .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
                .collect();
            known.sort();
            return fail(format!("no spec is called `{paper}`; there is {}", known.join(", ")));
        }
        let spec = Self::parse(&fs::read_to_string(&path).context(path.display())?).context(path.display())?;
        Ok(Self { name: paper.to_owned(), ..spec })
    }

    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let spec: Self = toml::from_str(text).context("spec")?;
        for table in &spec.tables {
            for name in table.problems.iter().chain(table.limits.iter().map(|limit| &limit.problem)) {
                spec.problem(name)?;
            }
            // A table that shows other tables has their variants.
            let all = spec.tables.iter().filter(|other| std::ptr::eq(*other, table) || table.from.contains(&other.number));
            let variants: Vec<&str> = all.flat_map(|other| &other.variants).map(|variant| variant.name.as_str()).collect();
            let plotted = table.plot.iter().flat_map(|plot| plot.y.variant().into_iter().chain(plot.theory.as_deref()));
            let brief = table.brief.iter().flat_map(|brief| &brief.columns);
            let shown = spec.columns_of(table).iter().filter(|_| !table.is_figure()).chain(brief).filter_map(Entry::variant);
            if let Some(name) = shown.chain(plotted).find(|name| !variants.contains(name)) {
                return fail(format!("table {} has no variant `{name}`; there is {}", table.number, variants.join(", ")));
            }
            if let Some(brief) = table.brief.as_ref().filter(|brief| brief.columns.len() > BRIEF) {
                return fail(format!(
                    "table {}: brief has {} columns, a page has room for {BRIEF}",
                    table.number,
                    brief.columns.len()
                ));
            }
            if let Some(vary) = table.quick_vary.iter().flatten().find(|quick| !table.vary.contains(quick)) {
                return fail(format!("table {}: `{}` of quick_vary is not in vary", table.number, label(vary)));
            }
        }
        let drawn = spec.tables.iter().flat_map(|table| &table.from);
        if let Some(number) = drawn.copied().find(|number| !spec.tables.iter().any(|table| table.number == *number)) {
            return fail(format!("a figure draws table {number}, which the spec does not have"));
        }
        Ok(spec)
    }

    /// Returns the tables and figures of these numbers. A number that is that of a table and of a
    /// figure selects one of them by its kind.
    pub(crate) fn named(&self, tables: &[u32], figures: &[u32], statistics: bool) -> Outcome<Vec<&Table>> {
        let all = tables.is_empty() && figures.is_empty() && !statistics;
        let only =
            |number: u32, figure: bool| self.tables.iter().all(|other| other.number != number || other.is_figure() == figure);
        let named = |table: &Table| {
            let (n, figure) = (table.number, table.is_figure());
            let among = |numbers: &[u32], kind: bool| numbers.contains(&n) && (figure == kind || only(n, figure));
            let tested = statistics && self.statistics.as_ref().is_some_and(|tests| !figure && tests.table == n);
            all || tested || among(tables, false) || among(figures, true)
        };
        for &number in tables.iter().chain(figures) {
            if !self.tables.iter().any(|table| table.number == number) {
                return fail(format!("the spec has no table or figure {number}"));
            }
        }
        if statistics && self.statistics.is_none() {
            return fail("the spec has no statistics");
        }
        Ok(self.tables.iter().filter(|table| named(table)).collect())
    }

    /// Returns the columns of a table in the report.
    pub(crate) fn columns_of<'a>(&'a self, table: &'a Table) -> &'a [Entry] {
        table.columns.as_ref().unwrap_or(&self.columns)
    }

    /// Returns the other program that trains a cell, if one does.
    pub(crate) fn program_of(&self, cell: &Cell) -> Option<&str> {
        let variants = self.tables.iter().filter(|table| table.number == cell.table).flat_map(|table| &table.variants);
        variants.filter(|variant| variant.name == cell.variant).find_map(|variant| variant.program.as_deref())
    }

    pub(crate) fn problem(&self, name: &str) -> Outcome<&Problem> {
        match self.problems.iter().find(|problem| problem.name == name) {
            Some(problem) => Ok(problem),
            None => fail(format!("the spec has no problem `{name}`")),
        }
    }
}

#[cfg(test)]
impl Spec {
    /// Returns a made-up spec of one problem, `A`, and one table, from the other lines of both.
    pub(crate) fn made(problem: &str, table: &str) -> Self {
        let text = format!(
            "title = \"Test\"\nset = {{ job = \"cv\", tol = 0.001 }}\n[[problem]]\nname = \"A\"\n{problem}\n\
             [[table]]\nnumber = 1\ntitle = \"T\"\nproblems = [\"A\"]\n{table}\n"
        );
        Self { name: "made".into(), ..Self::parse(&text).expect("spec") }
    }
}

#[cfg(test)]
mod tests {
    use super::Spec;
    use crate::workspace::tools::root;
    use std::fs;

    #[test]
    fn tables_and_figures_of_one_number() {
        let spec = Spec::load("frank-wolfe").expect("spec");
        let named = |tables: &[u32], figures: &[u32], statistics| {
            let found = spec.named(tables, figures, statistics).expect("named");
            found.iter().map(|table| (table.number, table.is_figure())).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(Vec::from_iter(named(&[3], &[], false)), [(3, false)]);
        assert_eq!(Vec::from_iter(named(&[], &[3], false)), [(3, true)]);
        assert_eq!(Vec::from_iter(named(&[7, 9], &[], true)), [(2, false), (7, true), (9, false)]);
        assert!(spec.named(&[99], &[], false).is_err());
        // A figure that was measured as a table of its own.
        let other = Spec::load("incremental").expect("spec");
        assert_eq!(other.named(&[], &[5], false).expect("named").len(), 1);
        assert!(other.named(&[], &[], true).is_err());
    }

    #[test]
    fn every_spec_of_the_project_parses() {
        let folder = root().join("crates/maxmargin-repro/specs");
        let mut specs = 0;
        for entry in fs::read_dir(folder).expect("specs") {
            let path = entry.expect("entry").path();
            let paper = path.file_stem().expect("name").to_string_lossy().into_owned();
            let spec = Spec::load(&paper).unwrap_or_else(|failure| panic!("{failure}"));
            for table in &spec.tables {
                super::super::papers::Paper::of(table).unwrap_or_else(|failure| panic!("{failure}"));
            }
            specs += 1;
        }
        assert!(specs > 0);
    }
}
