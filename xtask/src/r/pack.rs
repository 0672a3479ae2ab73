//! The source package: the R package with the crates of the workspace that it needs.

use super::{FOLDER, PACKAGE, build_archive};
use crate::python::succeed;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{cargo, read, root};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

/// The crate of the package, which belongs into the source package where cargo finds it.
const CRATE: &str = "maxmargin-r";

/// Folders of a crate that its library does not need.
const LEFT_OUT: [&str; 4] = ["tests", "benches", "examples", "benchmarks"];

/// Copies the R package as it is under version control, and returns the copy.
pub(super) fn sources(home: &Path) -> Outcome<PathBuf> {
    let place = home.join(PACKAGE);
    if place.exists() {
        fs::remove_dir_all(&place).context(place.display())?;
    }
    let listed = read(
        Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard", "--", FOLDER]).current_dir(root()),
    )?;
    for file in listed.lines() {
        let (from, to) = (root().join(file), place.join(file.strip_prefix(FOLDER).unwrap_or(file).trim_start_matches('/')));
        // A file that git lists but that is gone was deleted and not committed yet.
        if from.is_file() {
            copy(&from, &to)?;
        }
    }
    Ok(place)
}

/// Makes `maxmargin_VERSION.tar.gz`, which R installs where there is Rust, and returns its path.
/// Its vignette is run with a release build of the workspace.
pub(super) fn source_package(home: &Path, headers: &Path) -> Outcome<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--package", CRATE, "--target-dir"]).arg(home.join("cargo"));
    succeed(build.env("R_INCLUDE_DIR", headers))?;
    let place = sources(home)?;
    let rust = place.join("src/rust");
    let crates = rust.join("crates");
    let own = crates.join(CRATE);
    fs::create_dir_all(&own).context(own.display())?;
    for name in ["Cargo.toml", "src"] {
        fs::rename(rust.join(name), own.join(name)).context(name)?;
    }
    for name in needed()? {
        library_of(&root().join("crates").join(&name), &crates.join(&name))?;
    }
    workspace(&rust)?;
    build_archive(home, &place, &home.join("cargo/release/libmaxmargin_r.a"))?;
    let version = version()?;
    Ok(home.join(format!("{PACKAGE}_{version}.tar.gz")))
}

/// Returns the crates of the workspace that the package's crate needs, each once.
fn needed() -> Outcome<BTreeSet<String>> {
    let (mut found, mut open) = (BTreeSet::new(), vec![root().join(FOLDER).join("src/rust")]);
    while let Some(folder) = open.pop() {
        let manifest = manifest(&folder)?;
        let used = manifest.get("dependencies").and_then(Value::as_table).into_iter().flat_map(Table::keys);
        for name in used.filter(|name| name.starts_with(PACKAGE)) {
            if found.insert(name.clone()) {
                open.push(root().join("crates").join(name));
            }
        }
    }
    Ok(found)
}

/// Copies a crate without its tests.
fn library_of(from: &Path, to: &Path) -> Outcome<()> {
    copy_folder(from, to)?;
    let mut manifest = manifest(from)?;
    for section in ["dev-dependencies", "test", "bench", "example"] {
        manifest.remove(section);
    }
    let place = to.join("Cargo.toml");
    fs::write(&place, manifest.to_string()).context(place.display())
}

/// Writes the manifest and the lock of the workspace of these crates.
fn workspace(rust: &Path) -> Outcome<()> {
    let mut manifest = manifest(&root())?;
    let Some(workspace) = manifest.get_mut("workspace").and_then(Value::as_table_mut) else {
        return fail("Cargo.toml has no workspace");
    };
    workspace.insert("members".into(), Value::Array(vec!["crates/*".into()]));
    workspace.remove("default-members");
    workspace.remove("exclude");
    let place = rust.join("Cargo.toml");
    fs::write(&place, manifest.to_string()).context(place.display())?;
    copy(&root().join("Cargo.lock"), &rust.join("Cargo.lock"))?;
    // The lock loses packages that these crates do not use; versions stay.
    let mut shorten = cargo();
    shorten.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&place);
    read(&mut shorten).map(drop)
}

fn manifest(folder: &Path) -> Outcome<Table> {
    let place = folder.join("Cargo.toml");
    fs::read_to_string(&place).context(place.display())?.parse().context(place.display())
}

fn version() -> Outcome<String> {
    let place = root().join(FOLDER).join("DESCRIPTION");
    let text = fs::read_to_string(&place).context(place.display())?;
    match text.lines().find_map(|line| line.strip_prefix("Version: ")) {
        Some(version) => Ok(version.trim().to_owned()),
        None => fail("DESCRIPTION has no version"),
    }
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).context(folder.display())?;
    }
    fs::copy(from, to).context(from.display()).map(drop)
}

fn copy_folder(from: &Path, to: &Path) -> Outcome<()> {
    for entry in fs::read_dir(from).context(from.display())? {
        let entry = entry.context(from.display())?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to.join(&name))?;
        } else {
            copy(&entry.path(), &to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{manifest, needed, version};
    use maxmargin_repro::workspace::tools::root;

    #[test]
    fn the_package_has_the_version_of_the_workspace() {
        let workspace = manifest(&root()).expect("a manifest");
        assert_eq!(workspace["workspace"]["package"]["version"].as_str(), Some(version().expect("a version").as_str()));
    }

    /// `savvy-cli update` adds a line that leaves it out of the source package, which then installs
    /// without its library.
    #[test]
    fn makevars_is_packed() {
        let ignored = std::fs::read_to_string(root().join(super::FOLDER).join(".Rbuildignore")).expect("a list");
        assert!(!ignored.contains("Makevars"), "{ignored}");
    }

    #[test]
    fn the_facade_and_what_it_needs_are_packed_and_no_program() {
        let needed = needed().expect("manifests");
        assert!(["maxmargin", "maxmargin-cv", "maxmargin-simd"].iter().all(|name| needed.contains(*name)), "{needed:?}");
        assert!(!needed.contains("maxmargin-cli") && !needed.contains("maxmargin-testkit"), "{needed:?}");
    }
}
