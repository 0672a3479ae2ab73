//! What stands under docs/reproduction beside the reports of single papers: the page of all verdicts, the picture of the README, and its block.

use super::claims::{Evidence, counts, page};
use super::record::Record;
use super::report;
use super::spec::Spec;
use crate::failure::{Context, Outcome};
use crate::tools::root;
use std::fs;
use std::path::PathBuf;

/// Where reports stand.
pub(crate) fn folder() -> PathBuf {
    root().join("docs/reproduction")
}

/// Writes the page of verdicts and the README's block from the raw lines that are there.
pub(crate) fn write() -> Outcome<()> {
    let papers = Evidence::committed()?;
    let place = folder().join("README.md");
    fs::write(&place, page(&papers)?).context(place.display())?;
    println!("{}\nverdicts: {}", counts(&papers)?, place.display());
    Ok(())
}

/// Writes every report again, and what stands beside them.
pub(crate) fn render() -> Outcome<()> {
    let raw = folder().join("raw");
    for entry in fs::read_dir(&raw).context(raw.display())? {
        let raw = entry.context("raw lines")?.path();
        let paper = raw.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let target = folder().join(format!("{paper}.md"));
        report::render(&Spec::load(&paper)?, &Record::read(&raw)?, &target)?;
        println!("report: {}", target.display());
    }
    write()
}
