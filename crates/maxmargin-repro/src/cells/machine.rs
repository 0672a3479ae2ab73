//! The circumstances of a measurement.

use crate::workspace::failure::Outcome;
use crate::workspace::tools::{read, root};
use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;

/// The machine, compiler and commit of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostMachine {
    /// The processor's name.
    pub cpu: String,
    /// Threads that run at a time.
    pub cores: usize,
    /// Main memory, GiB.
    pub memory_gib: u64,
    /// Operating system and its version.
    pub os: String,
    /// The compiler's version.
    pub rustc: String,
    /// The commit, with `+changes` when the tree differs from it.
    pub revision: String,
}

/// The end of the revision of a tree with changes.
const CHANGES: &str = "+changes";

impl HostMachine {
    /// Returns true if both measurements were made on one machine, at any commit.
    pub(crate) fn is_same_host(&self, other: &Self) -> bool {
        (&self.cpu, self.cores, self.memory_gib, &self.os) == (&other.cpu, other.cores, other.memory_gib, &other.os)
    }

    /// Returns this machine and the commit of the workspace.
    pub fn here() -> Self {
        let unknown = |found: Outcome<String>| found.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
        let mut git = Command::new("git");
        let mut revision = unknown(read(git.current_dir(root()).args(["rev-parse", "--short=12", "HEAD"])));
        let mut status = Command::new("git");
        let changes = read(status.current_dir(root()).args(["status", "--porcelain", "--", "crates", "xtask", "Cargo.lock"]));
        if changes.is_ok_and(|text| !text.trim().is_empty()) {
            revision += CHANGES;
        }
        Self {
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0)
                >> 20,
            os: format!("{} {}", std::env::consts::OS, unknown(read(Command::new("uname").arg("-r")))),
            rustc: unknown(read(Command::new("rustc").arg("--version"))),
            revision,
        }
    }

    /// Returns whether the measured tree is that of a commit.
    pub fn committed(&self) -> bool {
        !self.revision.ends_with(CHANGES)
    }
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
