//! `cargo xtask r`: builds, installs and tests the R package, where there is R with its packages.

mod pack;

use crate::python::succeed;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{WITHOUT_PYTHON, cargo, read, root, target_directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// The R package, from the workspace's root.
const FOLDER: &str = "crates/maxmargin-r";

/// The package's name.
const PACKAGE: &str = "maxmargin";

/// Packages without which there are no tests. Others (e1071, kernlab, `SparseM`, caret) are skipped
/// by the tests that need them.
const NEEDED: [&str; 2] = ["Matrix", "testthat"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Build the library with the rest of the workspace for its tests, install the package beside
    /// it and run its tests: what `cargo xtask ci` does
    #[arg(long)]
    in_workspace: bool,
    /// Write the manual's pages and NAMESPACE from the comments of the sources (roxygen2)
    #[arg(long, conflicts_with = "in_workspace")]
    document: bool,
    /// Only make the source package, which holds all crates that it needs
    #[arg(long, conflicts_with_all = ["in_workspace", "document"])]
    package: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let Some(headers) = headers() else {
        return fail(format!("cannot run R: install {INSTALL}"));
    };
    let home = target_directory()?.join("r");
    fs::create_dir_all(&home).context(home.display())?;
    if arguments.document {
        return document(&home, &headers);
    }
    if arguments.in_workspace {
        let library = install(&home, &headers)?;
        return test(&library);
    }
    let archive = pack::source_package(&home, &headers)?;
    println!("{}", archive.display());
    if arguments.package { Ok(()) } else { check(&home, &archive) }
}

/// The advice where something is missing.
pub(crate) const INSTALL: &str =
    "R and its packages (Debian: r-base-core r-cran-e1071 r-cran-kernlab r-cran-matrix r-cran-testthat)";

/// Returns whether there is R, with the packages that tests need.
pub(crate) fn installed() -> bool {
    headers().is_some()
}

/// Returns the folder of R's headers, if there is R with the packages that tests need.
fn headers() -> Option<PathBuf> {
    let script = format!(
        "cat(R.home('include')); for (name in c('{}')) if (!requireNamespace(name, quietly = TRUE)) quit(status = 3)",
        NEEDED.join("', '")
    );
    let output = Command::new("Rscript").args(["--vanilla", "-e", &script]).stdin(Stdio::null()).output().ok()?;
    let headers = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    (output.status.success() && headers.join("Rinternals.h").is_file()).then_some(headers)
}

/// Builds the library as the workspace's tests build it, and installs the package with it. Returns
/// the folder of installed packages.
fn install(home: &Path, headers: &Path) -> Outcome<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--locked", "--workspace", "--all-features", "--lib", "--bins", "--tests"]);
    succeed(build.envs(WITHOUT_PYTHON).env("R_INCLUDE_DIR", headers))?;
    let library = home.join("library");
    fs::create_dir_all(&library).context(library.display())?;
    let sources = pack::sources(home)?;
    let mut install = Command::new("R");
    install.args(["CMD", "INSTALL", "--no-test-load", "--no-staged-install", "-l"]).arg(&library).arg(&sources);
    succeed(install.env("MAXMARGIN_R_STATICLIB", target_directory()?.join("debug/libmaxmargin_r.a")))?;
    Ok(library)
}

/// Runs the package's tests.
fn test(library: &Path) -> Outcome<()> {
    let mut test = Command::new("Rscript");
    let call = "testthat::test_local('.', load_package = 'installed', stop_on_failure = TRUE, \
                reporter = testthat::SummaryReporter$new())";
    test.args(["-e", call]).current_dir(root().join(FOLDER));
    succeed(with_library(test.env("TESTTHAT_CPUS", cores()), library))
}

/// Writes the manual's pages into the package.
fn document(home: &Path, headers: &Path) -> Outcome<()> {
    let library = install(home, headers)?;
    let mut document = Command::new("Rscript");
    document.args(["-e", "roxygen2::roxygenise('.', load_code = roxygen2::load_installed)"]);
    succeed(with_library(document.current_dir(root().join(FOLDER)), &library))
}

/// Checks the source package as CRAN does, with a release build of its own crates.
fn check(home: &Path, archive: &Path) -> Outcome<()> {
    let mut check = Command::new("R");
    check.args(["CMD", "check", "--no-manual"]).arg(archive).current_dir(home);
    // Packages that R may lack are skipped, and no clock of the network is asked.
    let settings = [("_R_CHECK_FORCE_SUGGESTS_", "false"), ("_R_CHECK_SYSTEM_CLOCK_", "false")];
    succeed(check.envs(settings).env("CARGO_TARGET_DIR", home.join("cargo")))?;
    let log = home.join(format!("{PACKAGE}.Rcheck/00check.log"));
    let text = fs::read_to_string(&log).context(log.display())?;
    let status = text.lines().rev().find(|line| line.starts_with("Status:")).unwrap_or("Status: unknown");
    if status.contains("WARNING") || status.contains("ERROR") { fail(status.to_owned()) } else { Ok(()) }
}

/// Puts a folder of installed packages before R's own.
fn with_library<'a>(command: &'a mut Command, library: &Path) -> &'a mut Command {
    command.env("R_LIBS", library)
}

fn cores() -> String {
    thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string()
}

/// Runs R's own builder of source packages. It installs the package, with a library that was built
/// before, to run its vignette.
fn build_archive(home: &Path, sources: &Path, library: &Path) -> Outcome<()> {
    let mut build = Command::new("R");
    build.args(["CMD", "build", "--no-manual"]).arg(sources).current_dir(home).env("MAXMARGIN_R_STATICLIB", library);
    read(&mut build).map(drop)
}
