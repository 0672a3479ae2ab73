//! Whole runs of the program beside those of another, problem by problem: raw lines and the page
//! that is made of them.

use crate::cells::machine::HostMachine;
use crate::datasets::locate::folders;
use crate::run::inputs::Inputs;
use crate::run::peer::{binary, given};
use crate::specs::problem::{Problem, Recipe};
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::{cargo, root, target_directory};
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
    /// Use this binary for a program, such as svm-train=./libsvm/svm-train; ours is maxmargin
    #[arg(long, value_name = "PROGRAM=PATH")]
    program: Vec<String>,
    /// Write the page and its raw lines into this folder [default: docs/reproduction]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
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

/// The other program of a measurement, and Debian's package of it.
pub(crate) struct PeerProgram {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

/// LIBSVM's `svm-train`.
pub(crate) const SVM_TRAIN: PeerProgram = PeerProgram { name: "svm-train", package: "libsvm-tools" };

/// The programs, the data and the machine of measurements.
pub(crate) struct Bench<'a> {
    /// The path of our program.
    pub(crate) ours: PathBuf,
    /// Paths of programs that the command line names.
    named: Vec<String>,
    pub(crate) inputs: Inputs<'a>,
    pub(crate) machine: HostMachine,
}

impl Bench<'_> {
    /// Returns the path of another program, or its name for the search path.
    pub(crate) fn theirs(&self, name: &str) -> String {
        given(name, &self.named).unwrap_or_else(|| name.to_owned())
    }
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
        self.within(None, ending)
    }

    fn within(&self, folder: Option<&Path>, ending: &str) -> PathBuf {
        let name = format!("{}.{ending}", self.0);
        folder.map_or_else(|| root().join("docs/reproduction"), Path::to_path_buf).join(name)
    }

    /// Measures the requested problems beside `peer`, and writes the page. Problems without data
    /// are reported and left out.
    pub(crate) fn update<R: Record>(
        &self,
        arguments: &SearchArguments,
        peer: &PeerProgram,
        mut measure: impl FnMut(&Bench, &Problem) -> Outcome<Option<R>>,
    ) -> Outcome<()> {
        let out = arguments.out.as_deref();
        let raw = self.within(out, "jsonl");
        let mut records = read::<R>(&raw)?;
        if !arguments.render {
            let machine = HostMachine::here();
            if !(arguments.uncommitted || machine.committed()) {
                return fail(format!("{}: the tree has changes: commit them, or say --uncommitted", machine.revision));
            }
            if binary(peer.name, &arguments.program).is_none() {
                return fail(format!("no {} on the search path: install {}", peer.name, peer.package));
            }
            if let Some(folder) = raw.parent() {
                fs::create_dir_all(folder).context(folder.display())?;
            }
            let problems = self.problems()?;
            if let Some(name) = arguments.only.iter().find(|name| problems.iter().all(|problem| problem.name != **name)) {
                let known: Vec<&str> = problems.iter().map(|problem| problem.name.as_str()).collect();
                return fail(format!("no problem is called `{name}`; there is {}", known.join(", ")));
            }
            let wanted =
                |problem: &&Problem| arguments.only.contains(&problem.name) || (arguments.only.is_empty() && !problem.slow);
            let generates = problems.iter().filter(wanted).any(|problem| problem.recipe == Some(Recipe::Generate));
            let generator = if generates { Some(ours("maxmargin-bench", "maxmargin-bench", arguments)?) } else { None };
            let inputs = Inputs::new(folders(None), target_directory()?.join(self.0), generator.as_deref())?;
            let ours = ours("maxmargin", "maxmargin-cli", arguments)?;
            let bench = Bench { ours, named: arguments.program.clone(), inputs, machine };
            for problem in problems.iter().filter(wanted) {
                let Some(record) = measure(&bench, problem)? else {
                    println!("{}: no folder has {}", problem.name, problem.data);
                    continue;
                };
                println!("{}", record.line());
                records.retain(|known: &R| known.problem() != record.problem());
                records.push(record);
                records.sort_by_key(|record| problems.iter().position(|problem| problem.name == record.problem()));
                write(&raw, &records)?;
            }
        }
        let page = self.within(out, "md");
        fs::write(&page, R::rendered(&records)).context(page.display())
    }

    fn problems(&self) -> Outcome<Vec<Problem>> {
        let path = root().join(format!("crates/maxmargin-repro/searches/{}.toml", self.0));
        let text = fs::read_to_string(&path).context(path.display())?;
        Ok(toml::from_str::<Problems>(&text).context(path.display())?.problem)
    }

    pub(crate) fn records<R: Record>(&self) -> Outcome<Vec<R>> {
        read(&self.of("jsonl"))
    }
}

/// Returns the path of a program of ours, named on the command line or built as it is released.
fn ours(program: &str, package: &str, arguments: &SearchArguments) -> Outcome<PathBuf> {
    if let Some(path) = given(program, &arguments.program) {
        return Ok(path.into());
    }
    let build = cargo().args(["build", "--release", "--locked", "--package", package]).status();
    if !build.context("cannot start cargo")?.success() {
        return fail(format!("{package} does not build"));
    }
    Ok(target_directory()?.join("release").join(program))
}

fn read<R: Record>(raw: &Path) -> Outcome<Vec<R>> {
    if !raw.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(raw).context(raw.display())?;
    text.lines().map(|line| serde_json::from_str(line).context(raw.display())).collect()
}

fn write<R: Record>(raw: &Path, records: &[R]) -> Outcome<()> {
    let lines: Result<Vec<String>, _> = records.iter().map(serde_json::to_string).collect();
    fs::write(raw, lines.context(raw.display())?.join("\n") + "\n").context(raw.display())
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
