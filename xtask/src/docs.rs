//! `cargo xtask docs`: builds the site: the guide, the references of all interfaces and the
//! evidence. Sphinx makes the pages; a link that leads nowhere is an error.

mod check;
mod links;
mod manual;
mod pages;
mod python;
mod r;
mod rust;
mod tree;

use crate::python::{environment, install_from_workspace};
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{root, target_directory};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use tree::{Tree, write};

/// Packages that build the site. The rest is what the Python package imports.
const PACKAGES: [&str; 9] = [
    "maturin>=1.9,<2",
    "sphinx>=9,<10",
    "myst-parser>=5,<6",
    "numpydoc>=1.9,<2",
    "pydata-sphinx-theme>=0.17,<1",
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
];

/// The folder of Sphinx's configuration, from the workspace's root.
const SITE: &str = "docs/site";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the site [default: site in the target directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave out rustdoc's pages, which take as long as a build
    #[arg(long)]
    no_rustdoc: bool,
    /// Use the program and the Python package as an earlier run built them: for work on texts
    #[arg(long)]
    no_build: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let home = target_directory()?.join("docs");
    fs::create_dir_all(&home).context(home.display())?;
    let Some(python) = environment("docs/python", &PACKAGES)? else { return Ok(()) };
    // Sphinx imports the package, and the manual pages are the program's own.
    if !arguments.no_build {
        install_from_workspace(&python)?;
    }
    let sources = home.join("source");
    let names = stage(&sources, &home, !arguments.no_rustdoc)?;
    // Pages of an earlier run that have no source any more would stay.
    let fresh = home.join("html");
    clear(&fresh)?;
    sphinx(&python, &sources, &home, &fresh)?;
    if !arguments.no_rustdoc {
        rust::build(&fresh.join("rust"))?;
    }
    check::site(&fresh, &names)?;
    let out = match &arguments.out {
        Some(out) => env::current_dir().context("the current folder")?.join(out),
        None => target_directory()?.join("site"),
    };
    replace(&fresh, &out)?;
    println!("{}", out.join("index.html").display());
    Ok(())
}

/// Writes the sources of all pages. Returns the public names of the Python package.
fn stage(sources: &Path, home: &Path, with_rustdoc: bool) -> Outcome<Vec<String>> {
    clear(sources)?;
    let root = root();
    let mut tree = Tree::read(&root)?;
    let names = python::pages(&root, &mut tree)?;
    let program = target_directory()?.join("debug").join(format!("maxmargin{}", env::consts::EXE_SUFFIX));
    let manual = home.join("man");
    clear(&manual)?;
    // The program makes the folder itself.
    fs::remove_dir(&manual).context(manual.display())?;
    crate::python::succeed(Command::new(&program).arg("man").arg(&manual))?;
    manual::pages(&manual, &mut tree)?;
    r::pages(&root, home, &mut tree)?;
    rust::page(&mut tree, with_rustdoc)?;
    pages::navigation(&root, &mut tree)?;
    tree.write(&root, sources)?;
    Ok(names)
}

/// Runs Sphinx. Every warning is an error.
fn sphinx(python: &Path, sources: &Path, home: &Path, out: &Path) -> Outcome<()> {
    let mut build = Command::new(python);
    build.args(["-m", "sphinx", "-b", "html", "--fail-on-warning", "--quiet", "--fresh-env"]);
    build.arg("--conf-dir").arg(root().join(SITE)).arg("--doctree-dir").arg(home.join("doctrees"));
    crate::python::succeed(build.arg(sources).arg(out))
}

/// Makes an empty folder.
fn clear(folder: &Path) -> Outcome<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).context(folder.display())?;
    }
    fs::create_dir_all(folder).context(folder.display())
}

/// Puts a finished site in the place of an earlier one. Another folder with files is refused.
fn replace(fresh: &Path, out: &Path) -> Outcome<()> {
    let has_files = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if has_files && !out.join("objects.inv").is_file() {
        return fail(format!("{} has files and is no site: name an empty folder", out.display()));
    }
    clear(out)?;
    copy_folder(fresh, out)?;
    // Services that publish pages take folders that begin with an underscore for their own.
    write(&out.join(".nojekyll"), "")
}

/// Copies a folder with all below it.
fn copy_folder(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to).context(to.display())?;
    for entry in fs::read_dir(from).context(from.display())? {
        let entry = entry.context(from.display())?;
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), &place).context(place.display())?;
        }
    }
    Ok(())
}
