//! `cargo xtask bench --stale`: which lines of the reports are older than the crates that they
//! measure.

use crate::cells::record::{OURS, Record};
use crate::run::history::History;
use crate::specs::extent::{Extent, cells};
use crate::specs::spec::Spec;
use crate::tables::rows::newest;
use std::collections::{BTreeMap, BTreeSet};

/// The headings of the columns.
const HEADINGS: [&str; 8] =
    ["report", "table", "lines", "replaced", "unknown", "older", "oldest revision", "older than the last change of"];

/// Returns the state of each table of each report as plain text.
///
/// Counts lines of our own program. A line is replaced where a newer run measured its cell, or
/// where the spec has no such cell any more; the others are what the report shows.
pub(crate) fn table(papers: &[(Spec, Vec<Record>)], history: &History) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for (spec, records) in papers {
        let mut tables: BTreeMap<u32, Vec<&Record>> = BTreeMap::new();
        records.iter().filter(|record| record.program == OURS).for_each(|line| tables.entry(line.table).or_default().push(line));
        let shown = shown(spec, records);
        for (number, lines) in tables {
            let state = TableState::of(&lines, &shown, history);
            let counts = [lines.len(), state.replaced, state.unknown, state.older].map(|count| count.to_string());
            let [lines, replaced, unknown, older] = counts;
            let oldest = state.oldest.clone().unwrap_or_default();
            rows.push([spec.name.clone(), number.to_string(), lines, replaced, unknown, older, oldest, state.crates()]);
        }
    }
    aligned(&rows)
}

/// Returns the lines that a report shows: those of the newest run of each of its cells.
fn shown(spec: &Spec, records: &[Record]) -> BTreeSet<*const Record> {
    let tables = spec.tables.iter().filter(|table| table.from.is_empty());
    let all = tables.flat_map(|table| cells(spec, table, Extent { full: true, ..Extent::default() }));
    let lines = all.flat_map(|cell| newest(records, |record| record.program == OURS && record.is_of(&cell)));
    lines.map(std::ptr::from_ref).collect()
}

/// The state of the lines of one table.
#[derive(Default)]
struct TableState {
    replaced: usize,
    /// Lines of a revision that git does not know, or of a tree with changes.
    unknown: usize,
    /// Lines of a revision after which a crate changed that the cell runs.
    older: usize,
    oldest: Option<String>,
    /// By crate: the lines that are older than its last change.
    older_than: BTreeMap<String, usize>,
}

impl TableState {
    fn of(lines: &[&Record], shown: &BTreeSet<*const Record>, history: &History) -> Self {
        let mut state = Self::default();
        let mut first = u64::MAX;
        for line in lines {
            if !shown.contains(&std::ptr::from_ref(*line)) {
                state.replaced += 1;
                continue;
            }
            let Some(changes) = history.since(&line.machine.revision, &line.settings) else {
                state.unknown += 1;
                continue;
            };
            state.older += usize::from(!changes.crates.is_empty());
            changes.crates.into_iter().for_each(|name| *state.older_than.entry(name).or_default() += 1);
            if changes.committed < first {
                first = changes.committed;
                state.oldest = Some(line.machine.revision.clone());
            }
        }
        state
    }

    /// Returns the crates that changed, with their lines where these are not all older ones.
    fn crates(&self) -> String {
        let short = |name: &str| name.strip_prefix("maxmargin-").unwrap_or(name).to_owned();
        let mut words = Vec::new();
        for (name, lines) in &self.older_than {
            words.push(if *lines == self.older { short(name) } else { format!("{} ({lines})", short(name)) });
        }
        words.join(" ")
    }
}

/// Returns rows of text in columns of equal width: names on the left, numbers on the right.
fn aligned(rows: &[[String; 8]]) -> String {
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            if (1..6).contains(&column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text += line.trim_end();
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::cells::record::Record;
    use crate::run::history::{Changes, History};
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use serde_json::json;

    /// After a1 the crate of linear solvers changed, after b2 that of SMO.
    fn changes(revision: &str) -> Option<Changes> {
        let of = |committed: u64, crates: &[&str]| {
            Some(Changes { committed, crates: crates.iter().map(|name| (*name).to_owned()).collect() })
        };
        match revision {
            "a1" => of(1, &["maxmargin-smo", "maxmargin-linear"]),
            "b2" => of(2, &["maxmargin-smo"]),
            "c3" => of(3, &[]),
            _ => None,
        }
    }

    #[test]
    fn lines_by_what_changed_since() {
        let variants = r#"variant = [{ name = "cold", set = { solver = "smo" } }, { name = "AVSF", set = { solver = "avsf" } }]"#;
        let spec = || Spec::made(r#"data = "heart""#, &format!("vary = [{{ k = 3 }}, {{ k = 5 }}]\n{variants}"));
        let cells = cells(&spec(), &spec().tables[0], Extent::default());
        let line = |cell: usize, revision: &str| Record::made(&cells[cell], revision, &json!({}));
        let of = |records: Vec<Record>| {
            let history = History::made(&["maxmargin-smo", "maxmargin-linear"], changes);
            let text = table(&[(spec(), records)], &history);
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().skip(1).map(words).collect::<Vec<_>>()
        };
        let newer = |record: Record| Record { run: 2, ..record };
        // A newer run replaced a line; the newest lines of SMO are older than its last change.
        assert_eq!(of(vec![line(0, "a1"), newer(line(0, "b2")), line(2, "a1")]), ["made 1 3 1 0 2 a1 smo"]);
        assert_eq!(of(vec![newer(line(0, "c3")), line(0, "a1")]), ["made 1 2 1 0 0 c3"]);
        // Cells of linear solvers do not run SMO.
        assert_eq!(of(vec![line(0, "b2"), line(1, "a1"), line(3, "b2")]), ["made 1 3 0 0 2 a1 linear (1) smo (1)"]);
        // Revisions that nobody knows, variants that are gone, and lines of another program.
        let gone = Record { variant: "gone".into(), ..line(0, "a1") };
        let theirs = Record { program: "LIBSVM".into(), ..line(0, "a1") };
        assert_eq!(of(vec![line(0, "ff"), line(2, "c3+changes"), gone, theirs]), ["made 1 3 1 2 0"]);
    }
}
