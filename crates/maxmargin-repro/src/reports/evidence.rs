//! What stands under docs/reproduction beside the reports of single papers: the page of all
//! verdicts, the picture of the README, and its block.

use super::report;
use crate::cells::record::Record;
use crate::claims::claim::Evidence;
use crate::claims::page::{counts, page, summary};
use crate::pictures::overview;
use crate::specs::spec::Spec;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use std::fs;
use std::path::PathBuf;

/// Where the README's block begins and ends.
const OPEN: &str = "<!-- alpha-seeding table 1 -->\n";
const CLOSE: &str = "<!-- end -->";

/// Where reports stand.
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
    fs::write(&readme, spliced(&text, &papers)?).context(readme.display())?;
    println!("{}\nverdicts: {}", counts(&papers)?, place.display());
    Ok(())
}

/// Writes every report again, and what stands beside them.
pub(crate) fn render() -> Outcome<()> {
    for (spec, records) in all()? {
        let target = folder().join(format!("{}.md", spec.name));
        report::render(&spec, &records, &target)?;
        println!("report: {}", target.display());
    }
    write()
}

/// Every spec that has raw lines.
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

/// The README's picture.
fn overview() -> Outcome<String> {
    let mut groups = Vec::new();
    for (spec, records) in all()? {
        groups.extend(overview::group(&spec, &records)?);
    }
    // Between folds and single trainings.
    groups.splice(1.min(groups.len())..1.min(groups.len()), overview::searches(&folder().join("python.jsonl"))?);
    Ok(overview::picture(&groups).document())
}

/// The README with its block as the raw lines have it: nobody types a figure of it.
fn spliced(readme: &str, papers: &[Evidence]) -> Outcome<String> {
    let parts = readme.split_once(OPEN).and_then(|(before, rest)| Some((before, rest.split_once(CLOSE)?.1)));
    let Some((before, after)) = parts else { return fail(format!("README.md lacks the lines `{}` and `{CLOSE}`", OPEN.trim())) };
    let block = format!(
        "## Measured\n\n![Seconds of LIBSVM, scikit-learn-intelex and maxmargin on the same files](docs/reproduction/overview.svg)\n\n\
         `cargo xtask bench alpha-seeding --table 1 --peers`, `cargo xtask grids`, `cargo xtask peers` and `cargo xtask bench training --table 1 --peers` measure this again. {}:\n\
         [each with its figure and its reason](docs/reproduction/README.md).\n",
        summary(papers)?
    );
    Ok(format!("{before}{OPEN}{block}{CLOSE}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{Evidence, folder, overview, root, spliced};
    use std::fs;

    /// The README's block and picture are what the raw lines say today.
    #[test]
    fn the_readme_says_what_the_raw_lines_say() {
        let readme = fs::read_to_string(root().join("README.md")).expect("README");
        let papers = Evidence::committed().expect("evidence");
        assert!(spliced(&readme, &papers).expect("markers") == readme, "run: cargo xtask bench --verdicts");
        let picture = fs::read_to_string(folder().join("overview.svg")).expect("picture");
        assert!(overview().expect("picture") == picture, "run: cargo xtask bench --verdicts");
    }

    #[test]
    fn a_readme_without_the_lines_is_not_written_over() {
        assert!(spliced("# A page\n", &[]).expect_err("refused").to_string().contains("README.md lacks the lines"));
    }
}
