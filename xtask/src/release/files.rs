//! `cargo xtask release --out DIR`: the files of a release. It tags nothing and uploads nothing.

use super::{Arguments, Part, sbom, workspace};
use crate::python::succeed;
use crate::wheel;
use maxmargin_repro::datasets::unpack::digest;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{cargo, on_path, read, root, target_directory};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// The file with the checksums of all others.
const SUMS: &str = "SHA256SUMS";

/// Features of the program in a release: pictures and tables of all formats.
pub(super) const FEATURES: &str = "maxmargin-cli/png,maxmargin-cli/arrow,maxmargin-cli/parquet";

/// Texts that go with the program.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Shells with completions.
const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

/// The R package, from the workspace's root.
const R_PACKAGE: &str = "crates/maxmargin-r";

/// Makes the requested parts in this folder.
pub(super) fn make(arguments: &Arguments, out: &Path) -> Outcome<()> {
    let out = env::current_dir().context("the current folder")?.join(out);
    fs::create_dir_all(&out).context(out.display())?;
    let makes = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    if makes(Part::Programs) {
        programs(arguments, &out)?;
    }
    if makes(Part::Python) {
        // A wheel is a release build of its own.
        wheel::run(&wheel::Arguments { out: Some(out.clone()), native: false, sdist: arguments.quick })?;
    }
    if makes(Part::R) {
        r_package(&out)?;
    }
    if makes(Part::Sbom) {
        let place = out.join(format!("maxmargin-v{}.cdx.json", version()?));
        fs::write(&place, sbom::document(&root())?).context(place.display())?;
        println!("{}", place.display());
    }
    if makes(Part::Checksums) { checksums(&out) } else { Ok(()) }
}

/// Builds and packs the program for each target.
fn programs(arguments: &Arguments, out: &Path) -> Outcome<()> {
    let targets = match &arguments.target {
        Some(target) => vec![target.clone()],
        None => targets()?,
    };
    for target in targets {
        let folder = target_directory()?.join("release-files");
        let name = format!("maxmargin-{target}-v{}", version()?);
        let place = folder.join(&name);
        if place.exists() {
            fs::remove_dir_all(&place).context(place.display())?;
        }
        fs::create_dir_all(&place).context(place.display())?;
        let built = build(&target, arguments.quick)?;
        collect(&built, &place)?;
        let archive = out.join(format!("{name}.tar.gz"));
        succeed(Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(&folder).arg(&name))?;
        let bytes = fs::metadata(&archive).context(archive.display())?.len();
        println!("{} ({:.1} MB)", archive.display(), bytes as f64 / 1e6);
    }
    Ok(())
}

/// Returns this machine's target, and the one with a static C library where Rust has it.
fn targets() -> Outcome<Vec<String>> {
    let about = read(Command::new("rustc").arg("-vV"))?;
    let Some(host) = about.lines().find_map(|line| line.strip_prefix("host: ")) else {
        return fail("rustc -vV does not name this machine's target");
    };
    let mut targets = vec![host.to_owned()];
    if let Some(machine) = host.strip_suffix("-gnu") {
        let target = format!("{machine}-musl");
        let library = read(Command::new("rustc").args(["--print", "target-libdir", "--target", &target]))?;
        if Path::new(library.trim()).is_dir() {
            targets.push(target);
        } else {
            println!("left out: rustup target add {target}");
        }
    }
    Ok(targets)
}

/// Builds the program without symbols, and LIBSVM's library where the target has shared ones.
/// Returns the folder of the build.
fn build(target: &str, quick: bool) -> Outcome<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--locked", "-p", "maxmargin-cli", "--features", FEATURES, "--target", target]);
    if !target.ends_with("musl") {
        build.args(["-p", "maxmargin-libsvm"]);
    }
    if !quick {
        build.arg("--release");
    }
    succeed(build.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").env("CARGO_PROFILE_DEV_STRIP", "symbols"))?;
    Ok(target_directory()?.join(target).join(if quick { "debug" } else { "release" }))
}

/// Copies the built files and the texts into a folder, where the program adds what it writes
/// itself. A self-test comes first.
fn collect(built: &Path, place: &Path) -> Outcome<()> {
    let copy = |from: PathBuf| {
        let to = place.join(from.file_name().unwrap_or_default());
        fs::copy(&from, &to).context(from.display()).map(drop)
    };
    for text in TEXTS {
        copy(root().join(text))?;
    }
    for file in ["maxmargin", "maxmargin.exe", "libsvm.so", "libsvm.dylib", "svm.dll"] {
        if built.join(file).is_file() {
            copy(built.join(file))?;
        }
    }
    let program = place.join(format!("maxmargin{}", env::consts::EXE_SUFFIX));
    succeed(Command::new(&program).arg("doctor").stdout(Stdio::null()))?;
    succeed(Command::new(&program).arg("man").arg(place.join("man")))?;
    let completions = place.join("completions");
    fs::create_dir_all(&completions).context(completions.display())?;
    for shell in SHELLS {
        let script = read(Command::new(&program).args(["completions", shell]))?;
        let file = completions.join(format!("maxmargin.{shell}"));
        fs::write(&file, script).context(file.display())?;
    }
    Ok(())
}

/// Makes the source package of the R package by the command that checks it, where there is R.
fn r_package(out: &Path) -> Outcome<()> {
    if !root().join(R_PACKAGE).is_dir() || !on_path(&format!("R{}", env::consts::EXE_SUFFIX)) {
        println!("left out, no {R_PACKAGE} or no R: the R package");
        return Ok(());
    }
    let this = env::current_exe().context("the path of this program")?;
    let printed = read(Command::new(this).args(["r", "--package"]))?;
    let Some(archive) = printed.lines().last().map(Path::new).filter(|path| path.is_file()) else {
        return fail(format!("cargo xtask r --package named no file: {printed}"));
    };
    let place = out.join(archive.file_name().unwrap_or_default());
    fs::copy(archive, &place).context(archive.display())?;
    println!("{}", place.display());
    Ok(())
}

/// Writes the checksums of all files of a folder, as `sha256sum --check` reads them.
fn checksums(out: &Path) -> Outcome<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(out).context(out.display())? {
        let path = entry.context(out.display())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && name != SUMS {
            lines.push(format!("{}  {name}\n", digest(&path)?));
        }
    }
    // By name, which begins behind the checksum.
    lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
    let text = lines.concat();
    print!("{text}");
    fs::write(out.join(SUMS), text).context(SUMS)
}

/// Returns the version of the workspace.
fn version() -> Outcome<String> {
    let metadata = workspace()?;
    let package = metadata.packages.iter().find(|package| package.name.as_str() == "maxmargin-cli");
    package.map_or_else(|| fail("no package maxmargin-cli"), |package| Ok(package.version.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_all_other_files_in_order() {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join("b"), "").expect("write");
        fs::write(folder.path().join("a"), "abc").expect("write");
        fs::write(folder.path().join(SUMS), "old").expect("write");
        checksums(folder.path()).expect("checksums");
        let text = fs::read_to_string(folder.path().join(SUMS)).expect("the file");
        // The published values for "abc" and for nothing (FIPS 180-4).
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n\
                        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn archives_have_the_names_that_the_manifest_tells_installers() {
        let metadata = workspace().expect("cargo metadata");
        let package = metadata.packages.iter().find(|package| package.name.as_str() == "maxmargin-cli").expect("the program");
        let told = &package.metadata["binstall"];
        let url = told["pkg-url"].as_str().expect("an address");
        assert!(url.ends_with("/maxmargin-{ target }-v{ version }.tar.gz"), "{url}");
        assert_eq!(told["bin-dir"], "maxmargin-{ target }-v{ version }/{ bin }{ binary-ext }");
        assert_eq!(told["pkg-fmt"], "tgz");
    }
}
