//! Places in the workspace and child processes.

use super::failure::{Context, Outcome, fail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the workspace's root folder: the nearest folder above the manifest that has `crates`.
pub fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.ancestors().find(|folder| folder.join("crates").is_dir()).unwrap_or(Path::new(".")).to_path_buf()
}

/// Returns a command of the cargo that runs this program.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Returns the standard output of a program that must succeed.
///
/// # Errors
///
/// When it cannot be started or fails.
pub fn read(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().context(format_args!("cannot start {name}"))?;
    if !output.status.success() {
        return fail(format!("{name} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether a program of this name can be started from the search path.
pub fn on_path(program: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Returns the path of a program of the workspace, built as the tests build it: with all features,
/// so that nothing is compiled again after them.
///
/// # Errors
///
/// When it does not build.
pub fn built(program: &str) -> Outcome<PathBuf> {
    let words = ["build", "--locked", "--all-features", "--bins", "--tests"];
    if !cargo().args(words).status().context("cannot start cargo")?.success() {
        return fail(format!("{program} does not build"));
    }
    Ok(target_directory()?.join("debug").join(format!("{program}{}", env::consts::EXE_SUFFIX)))
}

/// Returns the folder where cargo builds.
///
/// # Errors
///
/// When cargo does not tell.
pub fn target_directory() -> Outcome<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec().context("cargo metadata")?;
    Ok(metadata.target_directory.into_std_path_buf())
}
