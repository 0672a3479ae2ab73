//! Whole runs of the program beside those of another, problem by problem: raw lines and the page
//! that is made of them.

use crate::cells::machine::HostMachine;
use crate::datasets::locate::folders;
use crate::run::inputs::Inputs;
use crate::specs::problem::Problem;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::{cargo, on_path, root, target_directory};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Options of measurements of whole searches and trainings beside LIBSVM.
#[derive(clap::Args)]
pub struct SearchArguments {
    /// Only this problem; repeat it for another
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Compute nothing: write the page from its raw lines
    #[arg(long)]
    render: bool,
    /// Measure a tree with uncommitted changes, which cannot be measured again
    #[arg(long)]
    uncommitted: bool,
}

/// The measurements of one problem.
pub(crate) trait Record: Serialize + DeserializeOwned {
    fn problem(&self) -> &str;
    /// Returns its line of the table.
    fn line(&self) -> String;
    /// Returns its note below the table.
    fn note(&self) -> String;
    /// Returns the text above the lines: title, introduction, heads of the columns.
    fn head() -> String;
    /// The last sentence of the page: the command that measures, and the file of raw lines.
    const SOURCE: &'static str;

    /// Returns the page of all problems.
    fn rendered(records: &[Self]) -> String {
        let lines: Vec<String> = records.iter().map(Self::line).collect();
        let notes: Vec<String> = records.iter().map(Self::note).collect();
        format!("{}{}\n\n{}\n{}\n", Self::head(), lines.join("\n"), notes.concat(), Self::SOURCE)
    }
}

/// The program, the data and the machine of measurements.
pub(crate) struct Bench<'a> {
    /// The path of our program.
    pub(crate) ours: PathBuf,
    pub(crate) inputs: Inputs<'a>,
    pub(crate) machine: HostMachine,
}

#[derive(Deserialize)]
struct Problems {
    problem: Vec<Problem>,
}

/// The page `docs/reproduction/NAME.md`, its raw lines beside it, and its problems in
/// `crates/maxmargin-repro/searches/NAME.toml`.
pub(crate) struct Page(pub(crate) &'static str);

impl Page {
    fn of(&self, ending: &str) -> PathBuf {
        root().join(format!("docs/reproduction/{}.{ending}", self.0))
    }

    /// Measures the requested problems beside `program`, and writes the page. Problems without data
    /// are reported and left out.
    pub(crate) fn update<R: Record>(
        &self,
        arguments: &SearchArguments,
        program: &str,
        mut measure: impl FnMut(&Bench, &Problem) -> Outcome<Option<R>>,
    ) -> Outcome<()> {
        let mut records = self.records::<R>()?;
        if !arguments.render {
            let machine = HostMachine::here();
            if !(arguments.uncommitted || machine.committed()) {
                return fail(format!("{}: the tree has changes: commit them, or say --uncommitted", machine.revision));
            }
            if !on_path(program) {
                return fail(format!("no {program} on the search path: install libsvm-tools"));
            }
            let problems = self.problems()?;
            if let Some(name) = arguments.only.iter().find(|name| problems.iter().all(|problem| problem.name != **name)) {
                let known: Vec<&str> = problems.iter().map(|problem| problem.name.as_str()).collect();
                return fail(format!("no problem is called `{name}`; there is {}", known.join(", ")));
            }
            if !cargo()
                .args(["build", "--release", "--locked", "--package", "maxmargin-cli"])
                .status()
                .context("cargo")?
                .success()
            {
                return fail("maxmargin-cli does not build");
            }
            let target = target_directory()?;
            let inputs = Inputs::new(folders(None), target.join(self.0), None)?;
            let bench = Bench { ours: target.join("release/maxmargin"), inputs, machine };
            let wanted = |problem: &&Problem| arguments.only.is_empty() || arguments.only.contains(&problem.name);
            for problem in problems.iter().filter(wanted) {
                let Some(record) = measure(&bench, problem)? else {
                    println!("{}: no folder has {}", problem.name, problem.data);
                    continue;
                };
                println!("{}", record.line());
                records.retain(|known: &R| known.problem() != record.problem());
                records.push(record);
                records.sort_by_key(|record| problems.iter().position(|problem| problem.name == record.problem()));
                self.write(&records)?;
            }
        }
        let page = self.of("md");
        fs::write(&page, R::rendered(&records)).context(page.display())
    }

    fn problems(&self) -> Outcome<Vec<Problem>> {
        let path = root().join(format!("crates/maxmargin-repro/searches/{}.toml", self.0));
        let text = fs::read_to_string(&path).context(path.display())?;
        Ok(toml::from_str::<Problems>(&text).context(path.display())?.problem)
    }

    pub(crate) fn records<R: Record>(&self) -> Outcome<Vec<R>> {
        let raw = self.of("jsonl");
        if !raw.is_file() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&raw).context(raw.display())?;
        text.lines().map(|line| serde_json::from_str(line).context(raw.display())).collect()
    }

    fn write<R: Record>(&self, records: &[R]) -> Outcome<()> {
        let raw = self.of("jsonl");
        let lines: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
        fs::write(&raw, lines.context(raw.display())?.join("\n") + "\n").context(raw.display())
    }
}

/// Returns the note on a problem: rows, machine, revision, and further remarks.
pub(crate) fn footnote(problem: &str, what: &str, machine: &HostMachine, more: &[String]) -> String {
    let HostMachine { cpu, cores, revision, .. } = machine;
    let more = [&[String::new()], more].concat().join("; ");
    format!("- {problem}: {what}, {cpu}, {cores} cores, revision {revision}{more}.\n")
}

/// Returns the text of a file.
pub(crate) fn text_of(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).context(path.display())
}

#[cfg(test)]
impl Page {
    /// Returns whether the committed page is that of the raw lines, and problems can be read.
    pub(crate) fn is_true<R: Record>(&self) -> bool {
        let page = fs::read_to_string(self.of("md")).unwrap_or_default();
        !self.problems().expect("problems").is_empty() && page == R::rendered(&self.records().expect("records"))
    }
}
