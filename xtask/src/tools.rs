//! Places in the workspace and child processes.

use crate::failure::{Context, Outcome, fail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let xtask = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Standard output of a program that must succeed.
pub(crate) fn read(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().context(format_args!("cannot start {name}"))?;
    if !output.status.success() {
        return fail(format!("{name} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program of this name can be started from the search path.
pub(crate) fn on_path(program: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// A program of the workspace as the tests have built it, with the features of all: after them
/// nothing is compiled again.
pub(crate) fn built(program: &str) -> Outcome<PathBuf> {
    let words = ["build", "--locked", "--all-features", "--bins", "--tests"];
    if !cargo().args(words).status().context("cannot start cargo")?.success() {
        return fail(format!("{program} does not build"));
    }
    Ok(target_directory()?.join("debug").join(format!("{program}{}", env::consts::EXE_SUFFIX)))
}

/// Where cargo builds.
pub(crate) fn target_directory() -> Outcome<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec().context("cargo metadata")?;
    Ok(metadata.target_directory.into_std_path_buf())
}
