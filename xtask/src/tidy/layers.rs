//! The layer table: which crate may use which. Change it together with docs/architecture.md.

use super::Finding;
use cargo_metadata::{DependencyKind, Metadata};
use std::path::Path;

/// A crate without the `maxmargin-` prefix and the crates that it may use; the facade itself is `maxmargin`.
type Row = (&'static str, &'static [&'static str]);

const SOLVER: &[&str] = &["data", "simd", "kernel", "core"];
const BELOW_CV: &[&str] = &["data", "simd", "kernel", "core", "smo", "linear", "irwls", "frankwolfe", "path", "model"];
const BELOW_FACADE: &[&str] = &["data", "kernel", "core", "smo", "linear", "irwls", "frankwolfe", "path", "model", "cv"];
const FACADE: &[&str] = &["maxmargin"];

const TABLE: &[Row] = &[
    ("data", &[]),
    ("simd", &[]),
    ("kernel", &["data", "simd"]),
    ("core", &["data", "kernel"]),
    ("smo", SOLVER),
    ("linear", SOLVER),
    ("irwls", SOLVER),
    ("frankwolfe", SOLVER),
    ("path", SOLVER),
    ("model", &["data", "kernel", "core"]),
    ("cv", BELOW_CV),
    ("maxmargin", BELOW_FACADE),
    ("cli", FACADE),
    ("bench", FACADE),
    ("testkit", &["data", "kernel", "core"]),
    ("xtask", &[]),
];

/// Crates for tests only.
const TESTKIT: &str = "testkit";

const MEND: &str = "move the code to the layer that may have it (docs/architecture.md, xtask/src/tidy/layers.rs)";

fn short(name: &str) -> &str {
    name.strip_prefix("maxmargin-").unwrap_or(name)
}

/// Why `from` may not use `to`, if it may not.
fn forbidden(from: &str, to: &str, kind: DependencyKind) -> Option<String> {
    let (from, to) = (short(from), short(to));
    if to == TESTKIT {
        return (kind != DependencyKind::Development).then(|| format!("{from} uses {TESTKIT} outside its tests"));
    }
    match TABLE.iter().find(|row| row.0 == from) {
        None => Some(format!("crate {from} has no row in the layer table")),
        Some(row) if row.1.contains(&to) => None,
        Some(_) => Some(format!("{from} may not use {to}")),
    }
}

/// Every arrow between members of the workspace that the table does not have.
pub(crate) fn check(metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let members = metadata.workspace_packages();
    let mut findings = Vec::new();
    for package in &members {
        let manifest = package.manifest_path.as_std_path();
        let text = std::fs::read_to_string(manifest).unwrap_or_default();
        let file = manifest.strip_prefix(root).unwrap_or(manifest).to_string_lossy().into_owned();
        let mut found = |line, what| findings.push(Finding { file: file.clone(), line, what, mend: MEND });
        if !TABLE.iter().any(|row| row.0 == short(&package.name)) {
            found(1, format!("crate {} has no row in the layer table", package.name));
            continue;
        }
        for dependency in &package.dependencies {
            if !members.iter().any(|member| *member.name == dependency.name) {
                continue;
            }
            if let Some(what) = forbidden(&package.name, &dependency.name, dependency.kind) {
                let start = text.lines().position(|line| names(line, &dependency.name));
                found(start.map_or(1, |n| n + 1), what);
            }
        }
    }
    findings
}

fn names(line: &str, dependency: &str) -> bool {
    line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
}

#[cfg(test)]
mod tests {
    use super::{TABLE, forbidden};
    use cargo_metadata::DependencyKind::{Development, Normal};

    #[test]
    fn arrows() {
        assert_eq!(forbidden("maxmargin-core", "maxmargin-kernel", Normal), None);
        assert_eq!(forbidden("maxmargin-smo", "maxmargin-testkit", Development), None);
        assert!(forbidden("maxmargin-smo", "maxmargin-testkit", Normal).is_some());
        assert!(forbidden("maxmargin-smo", "maxmargin-path", Normal).is_some());
        assert!(forbidden("maxmargin-smo", "maxmargin-path", Development).is_some());
        assert!(forbidden("maxmargin-data", "maxmargin-core", Normal).is_some());
        assert!(forbidden("maxmargin-cli", "maxmargin-smo", Normal).is_some());
        assert!(forbidden("maxmargin-new", "maxmargin-data", Normal).is_some());
    }

    #[test]
    fn no_cycles() {
        // Each row uses only rows that stand above it.
        for (place, (name, may)) in TABLE.iter().enumerate() {
            for used in *may {
                let at = TABLE.iter().position(|row| row.0 == *used).expect("known crate");
                assert!(at < place, "{name} uses {used}, which stands below it");
            }
        }
    }
}
