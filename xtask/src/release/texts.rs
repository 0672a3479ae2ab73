//! Further texts with versions: the CHANGELOG, the citation, the workflow of the oldest compiler,
//! README, the Dockerfile.

use super::Findings;
use super::files::FEATURES;
use maxmargin_repro::workspace::failure::{Context, Outcome};
use std::fs;
use std::path::Path;

/// The texts that name versions.
#[derive(Debug)]
pub(super) struct Texts {
    changelog: String,
    citation: String,
    workflow: String,
    readme: String,
    dockerfile: String,
}

impl Texts {
    pub(super) fn read(root: &Path) -> Outcome<Self> {
        let read = |file: &str| fs::read_to_string(root.join(file)).context(file);
        Ok(Self {
            changelog: read("CHANGELOG.md")?,
            citation: read("CITATION.cff")?,
            workflow: read(".github/workflows/ci.yml")?,
            readme: read("README.md")?,
            dockerfile: read("Dockerfile")?,
        })
    }

    /// Adds the texts that do not name this version and this oldest compiler.
    pub(super) fn compare(&self, version: &str, rust: Option<&str>, findings: &mut Findings) {
        match newest(&self.changelog) {
            Some(heading) if heading == version => {}
            Some("Unreleased") => {
                findings.to_do.push(format!(
                    "CHANGELOG.md: its newest heading is [Unreleased]; make it [{version}] - YYYY-MM-DD, or raise the version"
                ));
            }
            other => {
                let other = other.unwrap_or("nothing");
                findings.wrong.push(format!("CHANGELOG.md: its newest heading is {other}, and the version is {version}"));
            }
        }
        let cited = self.citation.lines().find_map(|line| line.strip_prefix("version: "));
        if cited != Some(version) {
            findings.wrong.push(format!("CITATION.cff: it cites version {}, and this is {version}", cited.unwrap_or("none")));
        }
        findings.wrong.extend(container(&self.dockerfile).map(|fault| format!("Dockerfile: {fault}")));
        if !self.readme.contains(&format!("R CMD INSTALL maxmargin_{version}.tar.gz")) {
            findings.wrong.push(format!("README.md: it does not say `R CMD INSTALL maxmargin_{version}.tar.gz`"));
        }
        let Some(rust) = rust else { return };
        if !self.dockerfile.contains(&format!("FROM rust:{rust}-")) {
            findings.wrong.push(format!("Dockerfile: it does not build with rust:{rust}"));
        }
        let tried = self.workflow.lines().find_map(|line| {
            let words = line.split_once("rustup toolchain install ")?.1;
            words.split_whitespace().next().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        });
        if tried != Some(rust) {
            findings.wrong.push(format!("ci.yml: it tries Rust {}, and rust-version is {rust}", tried.unwrap_or("of no number")));
        }
        if !self.readme.contains(&format!("Rust {rust} or later")) {
            findings.wrong.push(format!("README.md: it does not say `Rust {rust} or later`"));
        }
    }
}

/// Returns what is wrong with the container: its last stage runs as a user without root, and its
/// program has the features of the released ones.
fn container(dockerfile: &str) -> Option<String> {
    let last = dockerfile.rsplit("\nFROM ").next().unwrap_or_default();
    let user = last.lines().filter_map(|line| line.strip_prefix("USER ")).next_back();
    match user.map(|user| user.split(':').next().unwrap_or_default().trim()) {
        None => return Some("its program runs as root: give the last stage a USER".to_owned()),
        Some("root" | "0" | "") => return Some("its USER is root".to_owned()),
        Some(_) => {}
    }
    let features = FEATURES.replace("maxmargin-cli/", "");
    (!dockerfile.contains(&format!("-p maxmargin-cli --features {features}")))
        .then(|| format!("its program does not have the features {features}"))
}

/// Returns the version of the first heading. A heading without lines below it does not count.
fn newest(changelog: &str) -> Option<&str> {
    let mut sections = changelog.split("\n## [").skip(1).filter_map(|section| section.split_once(']'));
    sections.find(|(version, below)| *version != "Unreleased" || below.contains("\n- ")).map(|(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Texts {
        Texts {
            changelog: "# Changelog\n\n## [0.2.0] - 2026-01-01\n\n## [0.1.0] - 2025-01-01\n".to_owned(),
            citation: "title: x\nversion: 0.2.0\n".to_owned(),
            workflow: "run: rustup toolchain install stable\nrun: rustup toolchain install 1.95 --profile minimal\n".to_owned(),
            readme: "Rust 1.95 or later is needed\nR CMD INSTALL maxmargin_0.2.0.tar.gz".to_owned(),
            dockerfile: "FROM rust:1.95-slim AS build\nRUN cargo build -p maxmargin-cli --features png,arrow,parquet\n\
                         FROM debian\nUSER 10001:10001\n"
                .to_owned(),
        }
    }

    fn compare(texts: &Texts, version: &str, rust: &str) -> [usize; 2] {
        let mut findings = Findings::default();
        texts.compare(version, Some(rust), &mut findings);
        [findings.wrong.len(), findings.to_do.len()]
    }

    #[test]
    fn every_place_names_the_version_and_the_compiler() {
        assert_eq!(compare(&texts(), "0.2.0", "1.95"), [0, 0]);
        assert_eq!(compare(&texts(), "0.3.0", "1.95"), [3, 0], "the CHANGELOG, the citation and README");
        assert_eq!(compare(&texts(), "0.2.0", "1.96"), [3, 0], "the workflow, README and the Dockerfile");
        let open = Texts { changelog: "# C\n\n## [Unreleased]\n\n- More\n\n## [0.2.0] - 2026-01-01\n".to_owned(), ..texts() };
        assert_eq!(compare(&open, "0.2.0", "1.95"), [0, 1]);
        let cut = Texts { changelog: "# C\n\n## [Unreleased]\n\n## [0.2.0] - 2026-01-01\n\n- More\n".to_owned(), ..texts() };
        assert_eq!(compare(&cut, "0.2.0", "1.95"), [0, 0], "what is cut has an empty heading above it");
        let none = Texts { changelog: String::new(), ..texts() };
        assert_eq!(compare(&none, "0.2.0", "1.95"), [1, 0]);
    }

    #[test]
    fn a_container_runs_the_released_program_without_root() {
        let good = texts().dockerfile;
        assert_eq!(container(&good), None);
        let fault = |from: &str, to: &str| container(&good.replace(from, to)).unwrap_or_default();
        assert!(fault("USER 10001:10001\n", "").contains("runs as root"));
        assert!(fault("10001:10001", "0:0").contains("USER is root") && fault("10001:10001", "root").contains("USER is root"));
        assert!(fault("FROM debian\nUSER 10001:10001\n", "USER 10001\nFROM debian\n").contains("runs as root"));
        assert!(fault(",parquet", "").contains("png,arrow,parquet"));
    }
}
