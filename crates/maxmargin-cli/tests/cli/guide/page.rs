//! A page of Markdown whose commands are run.

use super::alike;
use maxmargin_testkit::outside::data_text;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The lines of a page, its commands, and the data that they need.
#[derive(Debug)]
pub(crate) struct Page {
    lines: Vec<String>,
    data: Vec<String>,
    /// Below each command stand its time and its exit code.
    has_times: bool,
    steps: Vec<Step>,
}

/// A command, and the lines below it.
#[derive(Debug)]
struct Step {
    /// Which line of the page it stands in, from 0.
    line: usize,
    command: String,
    /// The first line below it, and the first that is not what it prints.
    said: std::ops::Range<usize>,
    fails: bool,
}

/// The output of a command, and its success.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    text: String,
    failed: bool,
}

impl Page {
    pub(crate) fn parse(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let has_times = lines.iter().any(|line| line == "<!-- times -->");
        let mut page = Self { data: Vec::new(), has_times, steps: Vec::new(), lines };
        let (mut fence, mut fails) = ("", false);
        for (at, line) in page.lines.iter().enumerate() {
            if let Some(names) = line.strip_prefix("<!-- data: ").and_then(|rest| rest.strip_suffix(" -->")) {
                page.data.extend(names.split_whitespace().map(str::to_owned));
            }
            if let Some(info) = line.strip_prefix("```") {
                let mut words = info.split_whitespace();
                fence = if fence.is_empty() { words.next().unwrap_or("text") } else { "" };
                fails = words.any(|word| word == "fails");
            } else if fence == "console" {
                if let Some(command) = line.strip_prefix("$ ") {
                    page.steps.push(Step {
                        line: at,
                        command: command.to_owned(),
                        said: at + 1..at + 1,
                        fails: fails && command.contains("maxmargin"),
                    });
                } else if let Some(step) = page.steps.last_mut() {
                    step.said.end = at + 1;
                }
            }
        }
        page
    }

    /// Returns the output of every command, run in a new folder; `None` where data is missing,
    /// which is then on record.
    pub(crate) fn run(&self) -> Option<Vec<CommandOutput>> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in &self.data {
            std::fs::write(folder.path().join(name), data_text(name)?).expect("data in the temporary folder");
        }
        Some(self.steps.iter().map(|step| self.run_step(step, folder.path())).collect())
    }

    fn run_step(&self, step: &Step, folder: &Path) -> CommandOutput {
        let begun = Instant::now();
        let (output, code) = run(&step.command, folder);
        let seconds = begun.elapsed().as_secs_f64();
        let times = if self.has_times { format!("[{seconds:.2} s, exit {code}]\n") } else { String::new() };
        // The code stands in the text, so that a failure is no surprise.
        CommandOutput { text: output + &times, failed: code != 0 && !self.has_times }
    }

    /// Returns the differences from the page.
    pub(crate) fn compare(&self, found: &[CommandOutput]) -> Vec<String> {
        let each = self.steps.iter().zip(found);
        each.filter_map(|(step, found)| self.differs(step, found).map(|what| format!("{}: {what}", step.line + 1))).collect()
    }

    fn differs(&self, step: &Step, found: &CommandOutput) -> Option<String> {
        let said = self.lines[step.said.clone()].join("\n");
        if step.fails != found.failed {
            let how = if found.failed { "failed" } else { "did not fail" };
            return Some(format!("`{}` {how}\n{}", step.command, found.text));
        }
        let differs = !alike::alike(&said, &found.text);
        differs.then(|| format!("`{}` prints\n{}\nand not\n{said}", step.command, found.text.trim_end()))
    }

    /// The page with what commands print today, below those that print something else. What was
    /// shortened stays so where only numbers moved.
    pub(crate) fn with(&self, found: &[CommandOutput]) -> String {
        let mut text = String::new();
        let mut write = |lines: &mut dyn Iterator<Item = &str>| {
            for line in lines {
                let _ = writeln!(text, "{}", line.trim_end());
            }
        };
        let mut at = 0;
        for (step, found) in self.steps.iter().zip(found) {
            if self.differs(step, found).is_some() {
                write(&mut self.lines[at..step.said.start].iter().map(String::as_str));
                write(&mut alike::shortened(&self.lines[step.said.clone()].join("\n"), &found.text).lines());
                at = step.said.end;
            }
        }
        write(&mut self.lines[at..].iter().map(String::as_str));
        text
    }
}

/// Runs a line of a shell that finds the built program, or that of `MAXMARGIN_PROGRAM`, both
/// streams in the order in which they are written. Returns its output and its exit code.
fn run(command: &str, folder: &Path) -> (String, i32) {
    let program = std::env::var_os("MAXMARGIN_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_maxmargin").into(), PathBuf::from);
    let beside = program.parent().expect("the folder of the program").to_path_buf();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::join_paths(std::iter::once(beside).chain(std::env::split_paths(&paths))).expect("the search path");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", paths)
        // Help is as wide as the terminal where there is one.
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}
