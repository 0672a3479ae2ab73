//! The page of verdicts, which combines all papers, and the README's picture.

use super::report;
use crate::cells::record::Record;
use crate::claims::claim::Evidence;
use crate::claims::page::{counts, page};
use crate::pictures::overview;
use crate::specs::spec::Spec;
use crate::workspace::failure::{Context, Outcome};
use crate::workspace::tools::root;
use std::fs;
use std::path::PathBuf;

/// Returns the folder of reports.
pub(crate) fn folder() -> PathBuf {
    root().join("docs/reproduction")
}

/// Writes the page of verdicts and the README's picture from the raw lines that are there.
pub(crate) fn write() -> Outcome<()> {
    let papers = Evidence::committed()?;
    let place = folder().join("README.md");
    fs::write(&place, page(&papers)?).context(place.display())?;
    let picture = folder().join("overview.svg");
    fs::write(&picture, overview()?).context(picture.display())?;
    println!("{}\nverdicts: {}", counts(&papers)?, place.display());
    Ok(())
}

/// Writes every report again, then the pages that combine them.
pub(crate) fn render() -> Outcome<()> {
    for (spec, records) in all()? {
        let target = folder().join(format!("{}.md", spec.name));
        report::render(&spec, &records, &target)?;
        println!("report: {}", target.display());
    }
    write()
}

/// Returns every spec with raw lines, and these.
pub(crate) fn all() -> Outcome<Vec<(Spec, Vec<Record>)>> {
    let raw = folder().join("raw");
    let entries = fs::read_dir(&raw).context(raw.display())?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry.context("raw lines")?.path())).collect::<Outcome<_>>()?;
    files.sort();
    let read = |file: &PathBuf| {
        let paper = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok((Spec::load(&paper)?, Record::read(file)?))
    };
    files.iter().map(read).collect()
}

/// Returns the README's picture.
fn overview() -> Outcome<String> {
    let mut groups = Vec::new();
    for (spec, records) in all()? {
        groups.extend(overview::group(&spec, &records)?);
    }
    // Between folds and single trainings.
    groups.splice(1.min(groups.len())..1.min(groups.len()), overview::searches(&folder().join("python.jsonl"))?);
    Ok(overview::picture(&groups).document())
}

#[cfg(test)]
mod tests {
    use super::{folder, overview};
    use std::fs;

    /// The README's picture is what the raw lines say today.
    #[test]
    fn the_picture_says_what_the_raw_lines_say() {
        let picture = fs::read_to_string(folder().join("overview.svg")).expect("picture");
        assert!(overview().expect("picture") == picture, "run: cargo xtask bench --verdicts");
    }
}
