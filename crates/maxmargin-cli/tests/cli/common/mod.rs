//! Runs the built program in a folder of its own.
#![allow(dead_code, reason = "each test file uses some of it")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    /// The JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in {self:?}"))
    }

    /// The lines of standard error that begin with `warning:`.
    pub(crate) fn warnings(&self) -> Vec<&str> {
        self.err.lines().filter(|l| l.starts_with("warning: ")).collect()
    }
}

/// A folder for the files of one test; removed at its end.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file in the temporary folder");
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).expect("the temporary folder");
        let mut names: Vec<String> = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_maxmargin"));
        command.current_dir(self.folder()).args(line.split_whitespace()).stdin(Stdio::null());
        command
    }

    /// Runs `maxmargin` with the words of `line`.
    pub(crate) fn run(&self, line: &str) -> Answer {
        answer(&mut self.command(line))
    }

    /// Runs `maxmargin` and takes its JSON; it must succeed.
    pub(crate) fn json(&self, line: &str) -> Value {
        let answer = self.run(&format!("{line} --json"));
        assert_eq!(answer.code, 0, "{line}: {answer:?}");
        answer.json()
    }
}

pub(crate) fn answer(command: &mut Command) -> Answer {
    let output = command.output().expect("the program runs");
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Twelve rows of two classes that a line does not separate.
/// The same line by a genuine program; none where it is not installed.
pub(crate) fn theirs(bench: &Bench, line: &str) -> Option<Answer> {
    let mut words = line.split_whitespace();
    let program = maxmargin_testkit::outside::program(words.next()?)?;
    Some(answer(Command::new(program).current_dir(bench.folder()).args(words).stdin(Stdio::null())))
}

pub(crate) const SMALL: &str = "\
1 1:1 2:0.5
1 1:0.75 2:0.25
-1 1:-1 2:-0.5
1 1:0.5 2:1
-1 1:-0.75 2:-1
-1 1:0.25 2:-0.25
1 1:-0.25 2:0.75
-1 1:-0.5 2:-0.125
1 1:1 2:-0.25
-1 1:0.125 2:-1
1 1:-0.5 2:0.5
-1 1:0.5 2:0.25
";
