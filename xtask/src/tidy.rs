//! `cargo xtask tidy`: the rules of the project that the compiler does not know. Also a test, so
//! that nobody forgets it.

mod code;
mod layers;
mod sources;

use layers::Layers;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{read, root};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One broken rule: where, what, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    file: String,
    line: usize,
    what: String,
    mend: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.file, self.line, self.what, self.mend)
    }
}

pub(crate) fn run() -> Outcome<()> {
    let findings = findings()?;
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: nothing found");
        Ok(())
    } else {
        fail(format!("tidy: {} findings", findings.len()))
    }
}

fn findings() -> Outcome<Vec<Finding>> {
    let root = root();
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(&root).no_deps().exec().context("cargo metadata")?;
    let table = root.join("docs/architecture.md");
    let (layers, mut findings) = Layers::parse(&fs::read_to_string(&table).context(table.display())?);
    findings.extend(layers.check(&metadata, &root));
    for file in files(&root)? {
        // A file that git lists but that is gone was deleted and not committed yet.
        let Ok(bytes) = fs::read(root.join(&file)) else { continue };
        findings.extend(sources::check(&layers, &file, &bytes));
    }
    findings.sort();
    Ok(findings)
}

/// Files under version control and new ones that are not ignored; the whole tree where git cannot
/// say.
fn files(root: &Path) -> Outcome<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    if let Ok(listed) = read(&mut git) {
        return Ok(listed.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect());
    }
    let mut found = Vec::new();
    walk(root, root, &mut found)?;
    Ok(found)
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) -> Outcome<()> {
    for entry in fs::read_dir(folder).context(folder.display())? {
        let path: PathBuf = entry.context(folder.display())?.path();
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", ".git", "datasets/files", "fuzz/target"].contains(&name.as_str()) {
                walk(root, &path, found)?;
            }
        } else {
            found.push(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_workspace_is_tidy() {
        let findings = super::findings().expect("tidy runs");
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "\n{}\n", list.join("\n"));
    }
}
