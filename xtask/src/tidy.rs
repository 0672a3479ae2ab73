//! `cargo xtask tidy`: the rules of the project that the compiler does not check. They are a test
//! as well.

mod allowances;
mod alone;
mod circles;
mod code;
mod comments;
mod counted;
mod functions;
mod imports;
mod layers;
mod names;
mod sources;

use allowances::Allowances;
use alone::Alone;
use counted::Counts;
use layers::Layers;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{read, root};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The list of findings that are allowed for now, and that of retired names.
const ALLOWED: &str = "xtask/tidy/allowances.txt";
const RETIRED: &str = "xtask/tidy/retired.txt";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Lower every allowance to what the tree needs
    #[arg(long)]
    lower: bool,
}

/// A broken rule: its place, the fault, and the remedy.
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

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let (findings, notes) = findings(arguments.lower)?;
    findings.iter().for_each(|finding| println!("{finding}"));
    notes.iter().for_each(|note| println!("note: {note}"));
    if findings.is_empty() {
        println!("tidy: nothing found");
        Ok(())
    } else {
        fail(format!("tidy: {} findings", findings.len()))
    }
}

/// Returns every broken rule, and notes on what could be stricter. Lowers the allowances first
/// where that is asked.
fn findings(lower: bool) -> Outcome<(Vec<Finding>, Vec<String>)> {
    let root = root();
    let text = |file: &str| fs::read_to_string(root.join(file)).context(file);
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(&root).no_deps().exec().context("cargo metadata")?;
    let (layers, mut findings) = Layers::parse(&text("docs/architecture.md")?);
    findings.extend(layers.check(&metadata, &root));
    let (retired, allowed) = (text(RETIRED)?, text(ALLOWED)?);
    let mut counts = Counts::new(names::parse(&retired));
    let mut alone = Alone::default();
    for file in files(&root)? {
        // A file that git lists but that is gone was deleted and not committed yet.
        let Ok(bytes) = fs::read(root.join(&file)) else { continue };
        findings.extend(sources::check(&layers, &file, &bytes));
        if let Ok(text) = std::str::from_utf8(&bytes) {
            counts.add(&file, text);
            alone.add(&file, text);
        }
    }
    alone.finish(&mut findings);
    let (counted, retired_notes) = counts.finish(&mut findings);
    let (mut list, broken) = Allowances::parse(&allowed);
    let entry = |line| Finding { file: ALLOWED.into(), line, what: "no RULE PLACE COUNT".into(), mend: "mend the line" };
    findings.extend(broken.into_iter().map(entry));
    if lower {
        let lowered = list.lowered(&allowed, &counted);
        fs::write(root.join(ALLOWED), &lowered).context(ALLOWED)?;
        list = Allowances::parse(&lowered).0;
    }
    let (exceeding, mut notes) = list.apply(&counted);
    findings.extend(exceeding);
    findings.sort();
    notes.extend(retired_notes);
    Ok((findings, notes))
}

/// Returns the files under version control and new ones that are not ignored; without git the whole
/// tree.
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
        let findings = super::findings(false).expect("tidy runs").0;
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "\n{}\n", list.join("\n"));
    }
}
