//! The crates that determine the counts of a cell, and those of them that changed since a revision.

use crate::cells::settings::Settings;
use crate::workspace::failure::{Context, Outcome};
use crate::workspace::tools::{read, root};
use cargo_metadata::{DependencyKind, MetadataCommand};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The program that measures cells.
const PROGRAM: &str = "maxmargin-bench";

/// The families of solvers. A cell runs some of them, and every crate that is none.
const FAMILIES: [&str; 5] = ["smo", "linear", "irwls", "frankwolfe", "path"];

/// The difference between a revision and the tree of today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changes {
    /// When the revision was committed, seconds since 1970.
    pub(crate) committed: u64,
    /// Crates whose sources or dependencies are other ones today.
    pub(crate) crates: BTreeSet<String>,
}

/// The history of the crates that the measured program links.
pub(crate) struct History {
    linked: BTreeSet<String>,
    /// By revision; none for a revision that git does not know.
    known: RefCell<BTreeMap<String, Option<Changes>>>,
    /// Returns the changes since a revision; git, except in tests.
    compare: fn(&str) -> Option<Changes>,
}

impl History {
    /// Returns the history of the workspace.
    pub(crate) fn of_workspace() -> Outcome<Self> {
        Ok(Self { linked: linked(PROGRAM)?, known: RefCell::default(), compare: changes })
    }

    /// Returns a made-up history of some crates.
    #[cfg(test)]
    pub(crate) fn made(crates: &[&str], compare: fn(&str) -> Option<Changes>) -> Self {
        Self { linked: crates.iter().map(|name| (*name).to_owned()).collect(), known: RefCell::default(), compare }
    }

    /// Returns the changes since a revision in the crates that a cell with these settings runs.
    ///
    /// None for a revision that git does not know, and for a tree with changes, which is none.
    pub(crate) fn since(&self, revision: &str, settings: &Settings) -> Option<Changes> {
        if !revision.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        let known = self.known.borrow().get(revision).cloned();
        let mut changes = known.unwrap_or_else(|| {
            let found = (self.compare)(revision);
            self.known.borrow_mut().insert(revision.to_owned(), found.clone());
            found
        })?;
        let families = families(settings);
        let is_run = |name: &str| {
            let family = FAMILIES.iter().find(|family| name.strip_prefix("maxmargin-") == Some(**family));
            family.is_none_or(|family| families.contains(family))
        };
        changes.crates.retain(|name| self.linked.contains(name) && is_run(name));
        Some(changes)
    }
}

/// Returns the families of solvers that a cell with these settings runs.
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

/// Returns the crates of the workspace that a program links, with its own.
fn linked(program: &str) -> Outcome<BTreeSet<String>> {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().context("cargo metadata")?;
    let mut found = BTreeSet::new();
    let mut open = vec![program.to_owned()];
    while let Some(name) = open.pop() {
        let package = metadata.packages.iter().find(|package| package.name.as_str() == name);
        let uses = package.into_iter().flat_map(|package| &package.dependencies);
        let uses = uses.filter(|other| other.kind == DependencyKind::Normal && other.path.is_some());
        if found.insert(name) {
            open.extend(uses.map(|other| other.name.clone()));
        }
    }
    Ok(found)
}

/// The trailer of a commit that changes no count of any cell: a repair where cells never come, or a
/// comment. `--recheck` measures whether that is so.
const SAME_COUNTS: &str = "Counts: same";

/// Returns the changes from a revision to the tree, uncommitted ones included, without those of
/// commits that say [`SAME_COUNTS`].
fn changes(revision: &str) -> Option<Changes> {
    let git = |arguments: &[&str]| read(Command::new("git").current_dir(root()).args(arguments)).ok();
    let committed = git(&["show", "--no-patch", "--format=%ct", revision])?.trim().parse().ok()?;
    let since = format!("{revision}..HEAD");
    let commits = git(&["log", "--no-renames", "--name-only", "--format=%x01%B%x02", &since, "--", "crates"])?;
    let uncommitted = git(&["diff", "--name-only", "--no-renames", "HEAD", "--", "crates"])?;
    let files = changed_files(&commits).chain(uncommitted.lines());
    Some(Changes { committed, crates: files.filter_map(program_crate).collect() })
}

/// Returns the files of a log whose commits are a message between two marks and then names of
/// files, without those of commits that say [`SAME_COUNTS`].
fn changed_files(log: &str) -> impl Iterator<Item = &str> {
    let commits = log.split('\u{1}').filter_map(|commit| commit.split_once('\u{2}'));
    commits.filter(|(message, _)| !message.lines().any(|line| line.trim() == SAME_COUNTS)).flat_map(|(_, files)| files.lines())
}

/// Returns the crate whose program a file is part of, if it is: tests and pages change no counts.
fn program_crate(file: &str) -> Option<String> {
    let (name, inside) = file.strip_prefix("crates/")?.split_once('/')?;
    (inside.starts_with("src/") || inside == "Cargo.toml").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Changes, FAMILIES, History, PROGRAM, changed_files, families, linked, program_crate};
    use serde_json::json;

    #[test]
    fn commits_that_change_no_count_are_left_out() {
        let log = "\u{1}A faster sum\n\nbody\n\u{2}\ncrates/maxmargin-smo/src/a.rs\n\
                   \u{1}A repair of verify\n\nCounts: same\n\u{2}\ncrates/maxmargin-cv/src/verify/b.rs\n\
                   \u{1}Counts: same or not\n\u{2}\ncrates/maxmargin-path/src/c.rs\n";
        let files: Vec<&str> = changed_files(log).filter(|file| !file.is_empty()).collect();
        assert_eq!(files, ["crates/maxmargin-smo/src/a.rs", "crates/maxmargin-path/src/c.rs"]);
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

    #[test]
    fn crates_of_the_measured_program() {
        let crates = linked(PROGRAM).expect("cargo metadata");
        for name in FAMILIES.iter().chain(&["bench", "cv", "core", "kernel", "simd", "data"]) {
            assert!(crates.contains(&format!("maxmargin-{name}")), "{name}");
        }
        for name in ["cli", "testkit", "python", "repro", "plot"] {
            assert!(!crates.contains(&format!("maxmargin-{name}")), "{name}");
        }
        assert_eq!(program_crate("crates/maxmargin-smo/src/rounds/step.rs").as_deref(), Some("maxmargin-smo"));
        assert_eq!(program_crate("crates/maxmargin-smo/tests/solver.rs"), None);
        assert_eq!(program_crate("crates/maxmargin-smo/README.md"), None);
    }

    #[test]
    fn changes_of_the_crates_that_a_cell_runs() {
        let all = |_: &str| {
            let crates = ["maxmargin-smo", "maxmargin-linear", "maxmargin-cv", "maxmargin-cli"].map(str::to_owned);
            Some(Changes { committed: 7, crates: crates.into() })
        };
        let history = History::made(&["maxmargin-smo", "maxmargin-linear", "maxmargin-cv"], all);
        let of = |settings: serde_json::Value| {
            let changes = history.since("92be59ef413b", settings.as_object().expect("object")).expect("known");
            Vec::from_iter(changes.crates)
        };
        assert_eq!(of(json!({"solver": "smo"})), ["maxmargin-cv", "maxmargin-smo"]);
        assert_eq!(of(json!({"solver": "avsf"})), ["maxmargin-cv", "maxmargin-linear"]);
        assert_eq!(history.since("92be59ef413b+changes", &serde_json::Map::new()), None);
        assert_eq!(History::made(&[], |_| None).since("92be59ef413b", &serde_json::Map::new()), None);
    }

    #[test]
    fn git_knows_its_own_revisions() {
        let history = History::of_workspace().expect("history");
        let none = serde_json::Map::new();
        assert_eq!(history.since("0000000000000000", &none), None);
        // A copy of the sources without their history has nothing to ask.
        let head = super::read(std::process::Command::new("git").current_dir(super::root()).args(["rev-parse", "HEAD"]));
        if let Ok(head) = head {
            assert!(history.since(head.trim(), &none).expect("HEAD").committed > 0);
        }
    }
}
