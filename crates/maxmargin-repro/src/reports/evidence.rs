//! The pages that combine all papers: the page of verdicts, the README's picture, and its block.

use super::report;
use crate::cells::record::Record;
use crate::claims::claim::Evidence;
use crate::claims::page::{counts, page};
use crate::pictures::overview;
use crate::specs::spec::Spec;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use std::fs;
use std::path::PathBuf;

/// The lines before and after the README's block.
const OPEN: &str = "<!-- alpha-seeding table 1 -->\n";
const CLOSE: &str = "<!-- end -->";

/// Returns the folder of reports.
pub(crate) fn folder() -> PathBuf {
    root().join("docs/reproduction")
}

/// Writes the page of verdicts, the README's picture and its block from the raw lines that are
/// there.
pub(crate) fn write() -> Outcome<()> {
    let papers = Evidence::committed()?;
    let place = folder().join("README.md");
    fs::write(&place, page(&papers)?).context(place.display())?;
    let picture = folder().join("overview.svg");
    fs::write(&picture, overview()?).context(picture.display())?;
    let readme = root().join("README.md");
    let text = fs::read_to_string(&readme).context(readme.display())?;
    fs::write(&readme, spliced(&text)?).context(readme.display())?;
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
fn all() -> Outcome<Vec<(Spec, Vec<Record>)>> {
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

/// Returns the README with its block rewritten.
fn spliced(readme: &str) -> Outcome<String> {
    let parts = readme.split_once(OPEN).and_then(|(before, rest)| Some((before, rest.split_once(CLOSE)?.1)));
    let Some((before, after)) = parts else { return fail(format!("README.md lacks the lines `{}` and `{CLOSE}`", OPEN.trim())) };
    let block = "## Measured\n\n\
                 ![Seconds of LIBSVM, scikit-learn-intelex and maxmargin on the same files](docs/reproduction/overview.svg)\n";
    Ok(format!("{before}{OPEN}{block}{CLOSE}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{folder, overview, root, spliced};
    use std::fs;

    /// The README's block and picture are what the raw lines say today.
    #[test]
    fn the_readme_says_what_the_raw_lines_say() {
        let readme = fs::read_to_string(root().join("README.md")).expect("README");
        assert!(spliced(&readme).expect("markers") == readme, "run: cargo xtask bench --verdicts");
        let picture = fs::read_to_string(folder().join("overview.svg")).expect("picture");
        assert!(overview().expect("picture") == picture, "run: cargo xtask bench --verdicts");
    }

    #[test]
    fn a_readme_without_the_lines_is_not_written_over() {
        assert!(spliced("# A page\n").expect_err("refused").to_string().contains("README.md lacks the lines"));
    }
}
