//! `cargo xtask wheel`: makes the Python package's files for pip, checks them as an index does, and
//! tries them in a fresh environment.

use crate::python::{environment, succeed, tool};
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::target_directory;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Packages that build and check wheels. Zig links against the symbols of an old glibc on every
/// machine.
const BUILDING: [&str; 4] = ["maturin>=1.9,<2", "twine", "abi3audit", "ziglang"];

/// The oldest glibc of the tag: manylinux2014.
const OLD_LINUX: [&str; 3] = ["--zig", "--compatibility", "manylinux_2_17"];

/// A first script, which runs in a folder without the package's sources.
const TRIED: &str = "
import numpy as np
from maxmargin import SVC, GridSearchCV
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
fitted = SVC(C=10, gamma=0.5).fit(X, y)
assert fitted.certificate_.holds and fitted.verify(X, y), fitted.certificate_
search = GridSearchCV(SVC(), {'C': [1, 10, 100], 'gamma': [0.01, 0.1, 1]}).fit(X, y)
assert search.shared_ and search.best_score_ > 0.95, search.best_score_
print(f'tried: accuracy {fitted.score(X, y):.3f}, best of nine {search.best_params_}')
";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the files [default: wheels in the target directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Link against this machine's own glibc: quicker, and for machines like this one alone
    #[arg(long)]
    pub(crate) native: bool,
    /// The source distribution alone
    #[arg(long, conflicts_with = "native")]
    pub(crate) sdist: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let Some(python) = environment("wheel", &BUILDING)? else { return fail("a wheel needs Python 3.11 and what pip fetches") };
    let out = match &arguments.out {
        Some(out) => env::current_dir().context("the current folder")?.join(out),
        None => target_directory()?.join("wheels"),
    };
    fs::create_dir_all(&out).context(out.display())?;
    // A folder of its own: the output folder can have other files.
    let fresh = target_directory()?.join("wheel-built");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).context(fresh.display())?;
    }
    fs::create_dir_all(&fresh).context(fresh.display())?;
    let begun = Instant::now();
    let mut made = vec![];
    if !arguments.sdist {
        let old = cfg!(target_os = "linux") && !arguments.native;
        let mut build = tool(&python, "maturin");
        build.args(["build", "--release", "--locked", "--strip", "--out"]).arg(&fresh).args(if old {
            &OLD_LINUX[..]
        } else {
            &[]
        });
        // Maturin looks for zig on the search path; it is a package of this environment.
        build.env("PATH", in_front(python.parent().unwrap_or(Path::new(".")))?);
        made.push(built(&fresh, "whl", &mut build)?);
    }
    made.push(built(&fresh, "tar.gz", tool(&python, "maturin").arg("sdist").arg("--out").arg(&fresh))?);
    succeed(tool(&python, "twine").args(["check", "--strict"]).args(&made))?;
    for file in &mut made {
        let kept = out.join(file.file_name().unwrap_or_default());
        fs::copy(&*file, &kept).context(kept.display())?;
        *file = kept;
        let bytes = fs::metadata(&*file).context(file.display())?.len();
        println!("{} ({:.1} MB)", file.display(), bytes as f64 / 1e6);
    }
    println!("built in {:.0} s", begun.elapsed().as_secs_f64());
    if let Some(wheel) = made.iter().find(|file| file.extension().is_some_and(|end| end == "whl")) {
        succeed(tool(&python, "abi3audit").arg("--strict").arg(wheel))?;
        tried(&python, wheel)?;
    }
    Ok(())
}

/// Returns the search path with this folder in front.
fn in_front(folder: &Path) -> Outcome<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(folder.to_owned()).chain(env::split_paths(&path))).context("the search path")
}

/// Runs a build and returns the file with this ending in its folder.
fn built(folder: &Path, end: &str, build: &mut Command) -> Outcome<PathBuf> {
    succeed(build)?;
    let entries = fs::read_dir(folder).context(folder.display())?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    match paths.find(|path| path.to_string_lossy().ends_with(&format!(".{end}"))) {
        Some(made) => Ok(made),
        None => fail(format!("maturin left no .{end} in {}", folder.display())),
    }
}

/// Installs a wheel in a fresh environment and uses it.
fn tried(python: &Path, wheel: &Path) -> Outcome<()> {
    let fresh = target_directory()?.join("wheel-tried");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).context(fresh.display())?;
    }
    succeed(Command::new(python).args(["-m", "venv"]).arg(&fresh))?;
    let python = fresh.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let begun = Instant::now();
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(wheel))?;
    println!("installed in {:.0} s, with what it needs", begun.elapsed().as_secs_f64());
    succeed(Command::new(&python).args(["-c", TRIED]).current_dir(&fresh))
}
