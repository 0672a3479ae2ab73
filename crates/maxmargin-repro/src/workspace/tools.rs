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
/// If it cannot be started or fails.
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
/// If it does not build.
pub fn built(program: &str) -> Outcome<PathBuf> {
    build(is_whole_workspace())?;
    Ok(target_directory()?.join("debug").join(format!("{program}{}", env::consts::EXE_SUFFIX)))
}

/// The environment in which the Python package is built without an interpreter: for the stable
/// interface, and with symbols that the interpreter has.
pub const WITHOUT_PYTHON: [(&str, &str); 2] = [("PYO3_NO_PYTHON", "1"), ("PYO3_BUILD_EXTENSION_MODULE", "1")];

/// Returns true if this process builds the Python package with the rest of the workspace.
fn is_whole_workspace() -> bool {
    WITHOUT_PYTHON.iter().all(|(name, value)| env::var(name).is_ok_and(|set| set == *value))
}

/// Builds libraries, programs and tests of the default members, with `whole` those of the Python
/// package as well: all in one command, because features of dependencies are those that the built
/// packages and their tests need together.
///
/// # Errors
///
/// If something does not build.
pub fn build(whole: bool) -> Outcome<()> {
    let mut command = cargo();
    command.args(["build", "--locked", "--all-features", "--lib", "--bins", "--tests"]);
    if whole {
        command.arg("--workspace").envs(WITHOUT_PYTHON);
    }
    if command.status().context("cannot start cargo")?.success() { Ok(()) } else { fail("the workspace does not build") }
}

/// Returns the folder where cargo builds.
///
/// # Errors
///
/// If cargo does not tell.
pub fn target_directory() -> Outcome<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec().context("cargo metadata")?;
    Ok(metadata.target_directory.into_std_path_buf())
}
