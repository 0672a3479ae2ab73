//! The layer table of docs/architecture.md: which crate may use which, print, or contain unsafe
//! code.

use super::Finding;
use cargo_metadata::{DependencyKind, Metadata};
use std::path::Path;

/// Where the table stands.
const PLACE: &str = "docs/architecture.md";
const HEAD: &str = "| layer | crate | what it is | may use |";
const FACADE: &str = "maxmargin";
const MEND: &str = "move the code to the layer that may have it, or change the table in docs/architecture.md";

/// What a crate may do beside using others, in the words of the table.
pub(crate) const PRINTING: &str = "printing";
pub(crate) const UNSAFE: &str = "unsafe code";

/// A crate, and what it may use: crates by name, or the words above.
#[derive(Debug)]
struct Row {
    line: usize,
    /// Its layer; none for what stands beside them.
    layer: Option<u32>,
    /// For tests only.
    dev: bool,
    name: String,
    may: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Layers {
    rows: Vec<Row>,
}

impl Layers {
    /// The table of the text, and what is wrong with it.
    pub(crate) fn parse(text: &str) -> (Self, Vec<Finding>) {
        let mut layers = Self { rows: Vec::new() };
        let mut findings = Vec::new();
        let lines = text.lines().enumerate().skip_while(|(_, line)| *line != HEAD).skip(2);
        for (n, line) in lines.take_while(|(_, line)| line.starts_with('|')) {
            let mut found = |what| findings.push(Finding { file: PLACE.into(), line: n + 1, what, mend: "mend the row" });
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [layer, name, _, uses] = cells[..] else {
                found(format!("{} cells, the layer table has 4", cells.len()));
                continue;
            };
            let row = Row {
                line: n + 1,
                layer: layer.parse().ok(),
                dev: layer == "dev",
                name: name.trim_matches('`').to_owned(),
                may: layers.listed(uses),
            };
            let known = |used: &String| {
                // Numbered rows use lower numbers, so that solvers cannot see each other; the
                // others use what stands above them.
                let lower = |above: &&Row| row.layer.is_none() || above.layer.is_some_and(|layer| Some(layer) < row.layer);
                [PRINTING, UNSAFE].contains(&used.as_str()) || layers.rows.iter().filter(lower).any(|above| above.name == *used)
            };
            row.may
                .iter()
                .filter(|used| !known(used))
                .for_each(|used| found(format!("`{used}` is on no layer below {}", row.name)));
            layers.rows.push(row);
        }
        if layers.rows.is_empty() {
            let what = format!("there is no table `{HEAD}`");
            findings.push(Finding { file: PLACE.into(), line: 1, what, mend: "give it back: tidy reads it" });
        }
        (layers, findings)
    }

    /// The entries of a cell: names without their prefix, `all above`, `all above but NAME`, `the
    /// facade`; nothing for `–`.
    fn listed(&self, cell: &str) -> Vec<String> {
        let long = |name: &str| match name {
            "the facade" => FACADE.to_owned(),
            PRINTING | UNSAFE => name.to_owned(),
            short => format!("{FACADE}-{short}"),
        };
        let mut may = Vec::new();
        for entry in cell.split(", ").filter(|entry| *entry != "–") {
            match entry.strip_prefix("all above").map(|rest| rest.strip_prefix(" but ")) {
                Some(except) => {
                    may.extend(
                        self.rows.iter().map(|row| row.name.clone()).filter(|name| except.map(long).as_ref() != Some(name)),
                    );
                }
                None => may.push(long(entry)),
            }
        }
        may
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Whether the crate to which a file belongs may do what the words say.
    pub(crate) fn allow(&self, file: &str, what: &str) -> bool {
        let mut folders = file.split('/');
        let name = folders.find(|folder| *folder != "crates").unwrap_or_default();
        self.row(name).is_some_and(|row| row.may.iter().any(|may| may == what))
    }

    /// Why `from` may not use `to`, if it may not.
    fn forbidden(&self, from: &str, to: &str, kind: DependencyKind) -> Option<String> {
        if self.row(to).is_some_and(|row| row.dev) && !self.row(from)?.dev {
            return (kind != DependencyKind::Development).then(|| format!("{from} uses {to} outside its tests"));
        }
        (!self.row(from)?.may.iter().any(|may| may == to)).then(|| format!("{from} may not use {to}"))
    }

    /// Every arrow between members of the workspace that the table does not have, and members and
    /// rows that lack each other.
    pub(crate) fn check(&self, metadata: &Metadata, root: &Path) -> Vec<Finding> {
        let members = metadata.workspace_packages();
        let gone = self.rows.iter().filter(|row| !members.iter().any(|member| *member.name == row.name));
        let gone = gone.map(|row| (PLACE.to_owned(), row.line, format!("no crate is called {}", row.name)));
        let mut found: Vec<(String, usize, String)> = gone.collect();
        for package in &members {
            let manifest = package.manifest_path.as_std_path();
            let text = std::fs::read_to_string(manifest).unwrap_or_default();
            let file = manifest.strip_prefix(root).unwrap_or(manifest).to_string_lossy().into_owned();
            if self.row(&package.name).is_none() {
                found.push((file.clone(), 1, format!("crate {} has no row in the layer table", package.name)));
            }
            for dependency in package.dependencies.iter().filter(|used| members.iter().any(|member| *member.name == used.name)) {
                if let Some(what) = self.forbidden(&package.name, &dependency.name, dependency.kind) {
                    let line = text.lines().position(|line| names(line, &dependency.name)).map_or(1, |n| n + 1);
                    found.push((file.clone(), line, what));
                }
            }
        }
        found.into_iter().map(|(file, line, what)| Finding { file, line, what, mend: MEND }).collect()
    }
}

fn names(line: &str, dependency: &str) -> bool {
    line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
}

#[cfg(test)]
mod tests {
    use super::{HEAD, Layers, PRINTING, UNSAFE};
    use cargo_metadata::DependencyKind::{Development, Normal};

    fn table(rows: &str) -> (Layers, Vec<usize>) {
        let (layers, findings) = Layers::parse(&format!("# A\n\n{HEAD}\n|---|---|---|---|\n{rows}\n\nText | x |\n"));
        (layers, findings.iter().map(|finding| finding.line).collect())
    }

    /// The project's own table.
    #[test]
    fn arrows() {
        let text = std::fs::read_to_string(maxmargin_repro::workspace::tools::root().join(super::PLACE)).expect("table");
        let (layers, findings) = Layers::parse(&text);
        assert_eq!(findings, []);
        let forbidden = |from: &str, to: &str, kind| layers.forbidden(&format!("maxmargin-{from}"), to, kind).is_some();
        assert!(!forbidden("core", "maxmargin-kernel", Normal));
        assert!(!forbidden("smo", "maxmargin-testkit", Development));
        assert!(forbidden("smo", "maxmargin-testkit", Normal));
        assert!(forbidden("smo", "maxmargin-path", Normal) && forbidden("smo", "maxmargin-path", Development));
        assert!(forbidden("data", "maxmargin-core", Normal) && forbidden("cli", "maxmargin-smo", Normal));
        assert!(!forbidden("cv", "maxmargin-simd", Normal) && !forbidden("cli", "maxmargin", Normal));
        assert!(layers.forbidden("maxmargin", "maxmargin-simd", Normal).is_some());
        assert!(layers.allow("crates/maxmargin-simd/src/a.rs", UNSAFE) && layers.allow("xtask/src/main.rs", PRINTING));
        assert!(!layers.allow("crates/maxmargin-smo/src/a.rs", PRINTING) && !layers.allow("README.md", PRINTING));
    }

    #[test]
    fn rows_that_are_wrong() {
        let good = "| 0 | `maxmargin-data` | a, b | – |\n| 1 | `maxmargin-core` | c | data |\n| dev | `maxmargin-testkit` | d | all above |";
        assert!(table(good).1.is_empty());
        // The row's own layer, one that stands below, a cell too few, no table at all.
        assert_eq!(table(&good.replace("| 1 |", "| 0 |")).1, [6]);
        assert_eq!(table(&good.replace("| – |", "| core |")).1, [5]);
        assert_eq!(table(&good.replace("| a, b | – |", "| – |")).1, [5, 6]);
        assert_eq!(table("").1, [1]);
    }
}
