//! The built program in a folder of its own, and pseudo-random numbers.

use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The built program and its working folder.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) path: &'a Path,
    pub(crate) folder: &'a Path,
}

impl Program<'_> {
    /// Returns the command of the program with the words of `line`.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(self.path);
        command.current_dir(self.folder).args(line.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Outcome<Output> {
        self.command(line).output().context(line)
    }

    /// Runs a command that must succeed.
    pub(crate) fn succeed(&self, line: &str) -> Outcome<Output> {
        let output = self.run(line)?;
        if output.status.success() { Ok(output) } else { fail(format!("{line}: {}", said(&output))) }
    }

    /// Returns the JSON document of a command that must succeed.
    pub(crate) fn json(&self, line: &str) -> Outcome<Value> {
        serde_json::from_slice(&self.succeed(&format!("{line} --json"))?.stdout).context(line)
    }

    /// Returns the names of the files in `folder` below this one's, sorted.
    pub(crate) fn names(&self, folder: &str) -> Outcome<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.folder.join(folder)).context(folder)? {
            names.push(entry.context(folder)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }
}

/// Returns the exit status of a run and its last lines.
pub(crate) fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    format!("{}, {}", output.status, text.trim().lines().last().unwrap_or("and it said nothing"))
}

/// Returns whether a file is a temporary one.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.strip_prefix(".maxmargin-").and_then(|rest| rest.strip_suffix(".tmp")).is_some()
}

/// A sequence of pseudo-random numbers below 1, the same for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }
}
