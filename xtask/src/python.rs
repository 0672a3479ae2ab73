//! `cargo xtask python`: builds, lints and tests the Python package, where there is Python with
//! pip.

use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{build, cargo, root, target_directory};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// The check of the oldest Python: scikit-learn has no wheels below it.
const OLDEST: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";

/// Packages of its tests.
const TESTING: [&str; 12] = [
    "maturin>=1.9,<2",
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "polars",
    "tqdm",
    "pytest",
    "pytest-xdist",
    "mypy",
    "ruff",
    "scipy-stubs",
];

/// Programs that take estimators, and LIBSVM's package, which some tests need. They take some GB.
const CLIENTS: [&str; 8] =
    ["eli5", "hummingbird-ml", "imbalanced-learn", "libsvm-official", "mlflow-skinny", "onnxruntime", "skl2onnx", "skops"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Install programs that take estimators of scikit-learn as well (skops, eli5, skl2onnx and
    /// others), and test with them
    #[arg(long)]
    clients: bool,
    /// Build it together with the rest of the workspace and its tests, whose dependencies are then
    /// its own; lints are left to the workspace's
    #[arg(long)]
    in_workspace: bool,
    /// Options of pytest
    #[arg(last = true)]
    pytest: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let (folder, more) = if arguments.clients { ("python-clients", &CLIENTS[..]) } else { ("python", &[][..]) };
    let Some(python) = environment(folder, &[&TESTING[..], more].concat())? else { return Ok(()) };
    let tool = |name: &str| tool(&python, name);
    if arguments.in_workspace {
        install_from_workspace(&python)?;
    } else {
        let mut lints = cargo();
        lints
            .args(["clippy", "-p", "maxmargin-python", "--all-targets", "--locked", "--", "-D", "warnings"])
            .env("PYO3_PYTHON", &python);
        succeed(&mut lints)?;
        develop(&python)?;
    }
    succeed(tool("ruff").args(["format", "--check", "python", "tests", "examples", "benchmarks"]))?;
    succeed(tool("ruff").args(["check", "python", "tests", "examples", "benchmarks"]))?;
    succeed(&mut tool("mypy"))?;
    // Files of tests run beside each other, a process for each core.
    succeed(tool("pytest").args(["-q", "-n", "auto", "--dist", "loadfile"]).args(&arguments.pytest))
}

/// Builds the package and installs it beside this interpreter.
fn develop(python: &Path) -> Outcome<()> {
    let home = python.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    succeed(tool(python, "maturin").args(["develop", "--locked"]).env("VIRTUAL_ENV", home))
}

/// Builds the package with the workspace and installs it as [`develop`] does: its library among its
/// sources, its metadata and the path to them beside this interpreter's packages.
pub(crate) fn install_from_workspace(python: &Path) -> Outcome<()> {
    build(true)?;
    let sources = root().join("crates/maxmargin-python/python");
    let library =
        target_directory()?.join("debug").join(format!("{}_native{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX));
    let place = sources.join("maxmargin").join(if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" });
    // A process that has the old file open keeps it.
    let new = place.with_extension("new");
    fs::copy(&library, &new).context(library.display())?;
    fs::rename(&new, &place).context(place.display())?;
    let packages = Command::new(python).args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).output();
    let packages = PathBuf::from(String::from_utf8_lossy(&packages.context("cannot start Python")?.stdout).trim());
    let path = packages.join("maxmargin.pth");
    fs::write(&path, format!("{}\n", sources.display())).context(path.display())?;
    let mut metadata = tool(python, "maturin");
    metadata.args(["pep517", "write-dist-info", "--metadata-directory"]).arg(&packages).arg("--interpreter").arg(python);
    succeed(&mut metadata)
}

/// Returns the command that compares random cases of all entry points with scikit-learn, none
/// without Python.
pub(crate) fn differential(cases: usize, seed: u64) -> Outcome<Option<Command>> {
    let Some(python) = environment("python", &TESTING)? else { return Ok(None) };
    develop(&python)?;
    let mut command = tool(&python, "python");
    command.args(["tests/differential.py", "--cases", &cases.to_string(), "--seed", &seed.to_string()]);
    Ok(Some(command))
}

/// Returns a program that pip installed beside this interpreter, to run in the package's folder.
pub(crate) fn tool(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX)));
    command.current_dir(root().join("crates/maxmargin-python"));
    command
}

/// Returns the interpreter of a virtual environment with these packages, in this folder of the
/// target directory. Reports a missing one and returns none.
pub(crate) fn environment(folder: &str, packages: &[&str]) -> Outcome<Option<PathBuf>> {
    let asked = env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !quietly(Command::new(&asked).args(["-c", OLDEST])) {
        return left_out("Python 3.11 with pip");
    }
    let home = target_directory()?.join(folder);
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        succeed(Command::new(&asked).args(["-m", "venv"]).arg(&home))?;
    }
    let mut install = Command::new(&python);
    // Most modules are never imported, so that none is compiled ahead.
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]).args(packages);
    if !install.status().context("cannot start pip")?.success() {
        return left_out("packages of Python (pip found no network)");
    }
    Ok(Some(python))
}

/// Reports what is missing, on the terminal and to `cargo xtask ci`.
fn left_out(missing: &str) -> Outcome<Option<PathBuf>> {
    let line = format!("{missing}: the Python package and the site");
    println!("skipped, no {line}");
    if let Some(record) = env::var_os("MAXMARGIN_SKIPS") {
        let file = OpenOptions::new().append(true).create(true).open(&record);
        let mut file = file.context(Path::new(&record).display())?;
        writeln!(file, "{line}").context(Path::new(&record).display())?;
    }
    Ok(None)
}

fn quietly(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

pub(crate) fn succeed(command: &mut Command) -> Outcome<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().context(format_args!("cannot start {name}"))?;
    if status.success() { Ok(()) } else { fail(format!("{name} ended with {status}")) }
}
