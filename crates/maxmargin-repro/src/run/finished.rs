//! Cells that need no measurement: lines of the same settings and data exist, and their crates have
//! not changed since.

use super::history::History;
use crate::cells::cell::Cell;
use crate::cells::record::{OURS, Record};
use crate::specs::table::Peer;
use crate::workspace::failure::Outcome;
use std::collections::BTreeMap;

/// The lines of earlier runs.
pub(crate) struct Finished {
    records: Vec<Record>,
    history: History,
}

impl Finished {
    pub(crate) fn of(records: Vec<Record>) -> Outcome<Self> {
        Ok(Self { records, history: History::of_workspace()? })
    }

    /// Returns whether our own program has measured the cell so many times in one run.
    pub(crate) fn ours(&self, cell: &Cell, sha256: Option<&str>, repeats: u32) -> bool {
        let is = |record: &&Record| {
            record.program == OURS
                && record.is_of(cell)
                && record.settings == cell.settings
                && record.data_sha256.as_deref() == sha256
                && record.error.is_none()
                && self.stands(record)
        };
        Self::enough(self.records.iter().filter(is), repeats)
    }

    /// Returns the same for another program, on which our crates have no effect.
    pub(crate) fn theirs(&self, peer: &Peer, cell: &Cell, sha256: Option<&str>, repeats: u32) -> bool {
        let Ok(arguments) = peer.arguments_for(&cell.settings) else { return false };
        let is = |record: &&Record| {
            record.program == peer.name
                && record.problem == cell.problem
                && record.data_sha256.as_deref() == sha256
                && record.error.is_none()
                && peer.arguments_for(&record.settings).is_ok_and(|other| other == arguments)
        };
        Self::enough(self.records.iter().filter(is), repeats)
    }

    fn enough<'a>(records: impl Iterator<Item = &'a Record>, repeats: u32) -> bool {
        let mut runs: BTreeMap<u64, u32> = BTreeMap::new();
        records.for_each(|record| *runs.entry(record.run).or_default() += 1);
        runs.values().any(|lines| *lines >= repeats)
    }

    /// Returns whether the crates that a line's cell runs are unchanged since.
    fn stands(&self, record: &Record) -> bool {
        let changes = self.history.since(&record.machine.revision, &record.settings);
        changes.is_some_and(|changes| changes.crates.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::Finished;
    use crate::cells::cell::Cell;
    use crate::cells::record::Record;
    use crate::run::history::{Changes, History};
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use serde_json::json;

    fn line(cell: &Cell, revision: &str) -> Record {
        Record { data_sha256: Some("a".into()), ..Record::made(cell, revision, &json!({})) }
    }

    #[test]
    fn a_line_stands_for_its_cell_until_something_in_it_changes() {
        let variant = r#"variant = [{ name = "sir", set = { seeding = "sir" } }]"#;
        let spec = Spec::made(r#"data = "heart""#, &format!("vary = [{{ k = 3 }}]\n{variant}"));
        let cell = cells(&spec, &spec.tables[0], Extent::default()).remove(0);
        // Crates of linear solvers have changed since, and nothing else.
        let history = || {
            let changed = |_: &str| Some(Changes { committed: 7, crates: ["maxmargin-linear".to_owned()].into() });
            History::made(&["maxmargin-linear", "maxmargin-smo"], changed)
        };
        let finished = |revision: &str| Finished { records: vec![line(&cell, revision)], history: history() };
        assert!(finished("92be59ef413b").ours(&cell, Some("a"), 1));
        assert!(!finished("92be59ef413b").ours(&cell, Some("a"), 2), "once is not twice");
        assert!(!finished("92be59ef413b").ours(&cell, Some("b"), 1), "other data");
        assert!(!finished("92be59ef413b+changes").ours(&cell, Some("a"), 1), "nobody knows what was measured");
        let mut other = cell.clone();
        other.settings.insert("tol".into(), json!(0.1));
        assert!(!finished("92be59ef413b").ours(&other, Some("a"), 1), "other settings");
        let mut linear = cell.clone();
        linear.settings.insert("solver".into(), json!("avsf"));
        let measured = Finished { records: vec![line(&linear, "92be59ef413b")], history: history() };
        assert!(!measured.ours(&linear, Some("a"), 1), "its own solver has changed");
    }
}
