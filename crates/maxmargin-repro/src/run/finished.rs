//! Which cells need no measurement: there are lines of the same settings, the same data, and crates
//! that have not changed since.

use crate::cells::cell::Cell;
use crate::cells::record::{OURS, Record};
use crate::cells::settings::Settings;
use crate::specs::table::Peer;
use crate::workspace::tools::root;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// The families of solvers. A cell runs some of them, and every crate that is none.
const FAMILIES: [&str; 5] = ["smo", "linear", "irwls", "frankwolfe", "path"];

/// The lines of earlier runs, by what they are of.
pub(crate) struct Finished {
    records: Vec<Record>,
    /// Of a revision and families: whether their crates are now what they were then.
    same: RefCell<BTreeMap<(String, Vec<&'static str>), bool>>,
    /// Whether two revisions have the same crates; git, but for tests.
    compare: fn(&str, &[String]) -> bool,
}

impl Finished {
    pub(crate) fn of(records: Vec<Record>) -> Self {
        Self { records, same: RefCell::default(), compare: unchanged }
    }

    /// Whether our own program has measured the cell so many times in one run.
    pub(crate) fn ours(&self, cell: &Cell, sha256: Option<&str>, repeats: u32) -> bool {
        let families = families(&cell.settings);
        let is = |record: &&Record| {
            record.program == OURS
                && record.is_of(cell)
                && record.settings == cell.settings
                && record.data_sha256.as_deref() == sha256
                && record.error.is_none()
                && self.stands(&record.machine.revision, &families)
        };
        Self::enough(self.records.iter().filter(is), repeats)
    }

    /// The same of another program, which no crate of ours changes.
    pub(crate) fn theirs(&self, peer: &Peer, cell: &Cell, sha256: Option<&str>, repeats: u32) -> bool {
        let Ok(told) = peer.told(&cell.settings) else { return false };
        let is = |record: &&Record| {
            record.program == peer.name
                && record.problem == cell.problem
                && record.data_sha256.as_deref() == sha256
                && record.error.is_none()
                && peer.told(&record.settings).is_ok_and(|other| other == told)
        };
        Self::enough(self.records.iter().filter(is), repeats)
    }

    fn enough<'a>(records: impl Iterator<Item = &'a Record>, repeats: u32) -> bool {
        let mut runs: BTreeMap<u64, u32> = BTreeMap::new();
        records.for_each(|record| *runs.entry(record.run).or_default() += 1);
        runs.values().any(|lines| *lines >= repeats)
    }

    /// Whether the crates of these families, and those of none, are what they were at a revision. A
    /// tree with changes is no revision.
    fn stands(&self, revision: &str, families: &[&'static str]) -> bool {
        if !revision.chars().all(|c| c.is_ascii_hexdigit()) {
            return false;
        }
        let key = (revision.to_owned(), families.to_vec());
        let known = self.same.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let others = FAMILIES.iter().filter(|family| !families.contains(family));
            let left_out = others.chain(&["cli", "libsvm", "plot", "python", "repro", "testkit", "trust"]);
            let mut paths = vec!["crates".to_owned()];
            paths.extend(left_out.map(|name| format!(":(exclude)crates/maxmargin-{name}")));
            let same = (self.compare)(revision, &paths);
            self.same.borrow_mut().insert(key, same);
            same
        })
    }
}

/// The families of solvers that a cell with these settings runs.
fn families(settings: &Settings) -> Vec<&'static str> {
    let word = |key: &str| settings.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut found = match word("solver") {
        "linear" | "linear-descent" | "linear-newton" | "avsf" | "liblinear" => vec!["linear"],
        "cvm" | "fw" | "mfw" | "swap" | "pairwise" => vec!["frankwolfe"],
        "irwls" | "auto" => vec!["irwls", "smo"],
        "svmlight" => Vec::new(),
        _ => vec!["smo"],
    };
    // SMO on the problem of the others.
    if settings.contains_key("simplex") {
        found.push("frankwolfe");
    }
    if settings.contains_key("finish_from") && !found.contains(&"irwls") {
        found.push("irwls");
    }
    // Seeds along exact paths, and updates.
    if word("job") == "update" || matches!(word("seeding"), "ato" | "dec") {
        found.push("path");
    }
    found
}

fn unchanged(revision: &str, paths: &[String]) -> bool {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["diff", "--quiet", revision, "--"]).args(paths).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{Finished, families};
    use crate::cells::cell::Cell;
    use crate::cells::record::Record;
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use serde_json::json;

    const SPEC: &str = r#"
        title = "Test"
        set = { job = "cv", tol = 0.001 }
        [[problem]]
        name = "A"
        data = "heart"
        [[table]]
        number = 1
        title = "T"
        problems = ["A"]
        vary = [{ k = 3 }]
        variant = [{ name = "sir", set = { seeding = "sir" } }]
    "#;

    fn line(cell: &Cell, revision: &str) -> Record {
        let machine = json!({"cpu": "", "cores": 1, "memory_gib": 1, "os": "", "rustc": "", "revision": revision});
        let record = json!({
            "table": 1, "problem": "A", "vary": "k=3", "variant": "sir", "program": "maxmargin", "settings": cell.settings, "data": "heart",
            "data_sha256": "a", "run": 1, "repeat": 0, "wall_seconds": 1.0, "measured": {}, "machine": machine,
        });
        serde_json::from_value(record).expect("record")
    }

    #[test]
    fn a_line_stands_for_its_cell_until_something_in_it_changes() {
        let cell =
            cells(&Spec::parse(SPEC).expect("spec"), &Spec::parse(SPEC).expect("spec").tables[0], Extent::default()).remove(0);
        // Crates of linear solvers have changed since, and nothing else.
        let finished = |revision: &str| Finished {
            compare: |_, paths| paths.iter().any(|path| path.ends_with("maxmargin-linear")),
            ..Finished::of(vec![line(&cell, revision)])
        };
        assert!(finished("92be59ef413b").ours(&cell, Some("a"), 1));
        assert!(!finished("92be59ef413b").ours(&cell, Some("a"), 2), "once is not twice");
        assert!(!finished("92be59ef413b").ours(&cell, Some("b"), 1), "other data");
        assert!(!finished("92be59ef413b+changes").ours(&cell, Some("a"), 1), "nobody knows what was measured");
        let mut other = cell.clone();
        other.settings.insert("tol".into(), json!(0.1));
        assert!(!finished("92be59ef413b").ours(&other, Some("a"), 1), "other settings");
        let mut linear = cell.clone();
        linear.settings.insert("solver".into(), json!("avsf"));
        let measured = Finished {
            compare: |_, paths| paths.iter().any(|path| path.ends_with("maxmargin-linear")),
            ..Finished::of(vec![line(&linear, "92be59ef413b")])
        };
        assert!(!measured.ours(&linear, Some("a"), 1), "its own solver has changed");
    }

    #[test]
    fn families_by_what_a_cell_is_told() {
        let of = |settings: serde_json::Value| families(settings.as_object().expect("object"));
        assert_eq!(of(json!({"job": "cv", "solver": "smo", "seeding": "sir"})), ["smo"]);
        assert_eq!(of(json!({"job": "cv", "seeding": "dec"})), ["smo", "path"]);
        assert_eq!(of(json!({"job": "update", "method": "mid"})), ["smo", "path"]);
        assert_eq!(of(json!({"job": "train", "solver": "smo", "finish_from": 0.001})), ["smo", "irwls"]);
        assert_eq!(of(json!({"job": "train", "solver": "mfw"})), ["frankwolfe"]);
        assert_eq!(of(json!({"job": "train", "solver": "smo", "simplex": true})), ["smo", "frankwolfe"]);
    }
}
