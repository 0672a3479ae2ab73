//! `cargo xtask release`: makes the files of a release, or with `--dry-run` checks whether one can
//! be made and lists the tasks that remain. It tags nothing, uploads nothing and changes no file of
//! the repository.

mod files;
mod sbom;
mod texts;

use crate::python::succeed;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, Target};
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{cargo, read, root, target_directory};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use texts::Texts;

/// Limits of crates.io.
const MOST_KEYWORDS: usize = 5;
const LONGEST_KEYWORD: usize = 20;

/// The parts of a release.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The program and LIBSVM's library, packed for each target
    Programs,
    /// A wheel and a source distribution
    Python,
    /// The source package for R
    R,
    /// The list of all packages that these are built from
    Sbom,
    /// The checksums of all files of the folder
    Checksums,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Report faults and make nothing: a person makes every step that cannot be undone
    /// (docs/releasing.md)
    #[arg(long)]
    dry_run: bool,
    /// Make the packages and do not build them
    #[arg(long, requires = "dry_run")]
    no_build: bool,
    /// Folder of the files
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// Make these parts only
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with = "dry_run")]
    only: Vec<Part>,
    /// Build the programs for this target [default: this machine's, and musl where Rust has it]
    #[arg(long, value_name = "TRIPLE", conflicts_with = "dry_run")]
    target: Option<String>,
    /// Programs of the development profile and no wheel: tries the command, not for publication
    #[arg(long, conflicts_with = "dry_run")]
    quick: bool,
}

/// The results of all checks.
#[derive(Debug, Default)]
struct Findings {
    /// Faults that forbid a release.
    wrong: Vec<String>,
    /// Tasks for the person who releases.
    to_do: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    if let Some(out) = arguments.out.as_deref().filter(|_| !arguments.dry_run) {
        return files::make(arguments, out);
    }
    let metadata = workspace()?;
    let (published, kept) = packages(&metadata);
    let version = published.first().map_or_else(String::new, |package| package.version.to_string());
    println!("version {version}, {} packages in this order:", published.len());
    println!("  {}", names(&published).join(" "));
    println!("kept back: {}", names(&kept).join(" "));
    let findings = look(&published, &metadata, &Texts::read(&root())?);
    archives(&published, arguments.no_build)?;
    semver(&published)?;
    findings.to_do.iter().for_each(|what| println!("to do: {what}"));
    findings.wrong.iter().for_each(|what| println!("WRONG: {what}"));
    if findings.wrong.is_empty() {
        println!("nothing stands in the way; docs/releasing.md says how to go on");
        Ok(())
    } else {
        fail(format!("release: {} things are wrong", findings.wrong.len()))
    }
}

pub(crate) fn workspace() -> Outcome<Metadata> {
    MetadataCommand::new().current_dir(root()).no_deps().exec().context("cargo metadata")
}

fn names(packages: &[&Package]) -> Vec<String> {
    packages.iter().map(|package| package.name.to_string()).collect()
}

/// Returns whether the package is published.
fn goes_out(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
}

/// Returns the packages of a release, each after its dependencies, and the other packages.
pub(crate) fn packages(metadata: &Metadata) -> (Vec<&Package>, Vec<&Package>) {
    let (mut left, kept): (Vec<&Package>, Vec<&Package>) =
        metadata.workspace_packages().into_iter().partition(|package| goes_out(package));
    left.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered: Vec<&Package> = Vec::new();
    while !left.is_empty() {
        let waits = |package: &&Package| {
            needed(package).any(|name| left.iter().any(|other| other.name != package.name && *other.name == *name))
        };
        let (later, now): (Vec<&Package>, Vec<&Package>) = left.iter().partition(|package| waits(package));
        if now.is_empty() {
            // Only a circle gets here, and cargo refuses circles.
            ordered.extend(later);
            break;
        }
        ordered.extend(now);
        left = later;
    }
    (ordered, kept)
}

/// Returns the names of the packages that a package is built with.
fn needed(package: &Package) -> impl Iterator<Item = &str> {
    let built_with = package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    built_with.map(|dependency| dependency.name.as_str())
}

/// Makes all checks that need no build.
fn look(published: &[&Package], metadata: &Metadata, texts: &Texts) -> Findings {
    let mut findings = Findings::default();
    for package in published {
        findings.wrong.extend(said(package).into_iter().map(|what| format!("{}: {what}", package.name)));
        findings.wrong.extend(dependencies(package, metadata).into_iter().map(|what| format!("{}: {what}", package.name)));
    }
    let versions: BTreeSet<String> = published.iter().map(|package| package.version.to_string()).collect();
    if versions.len() > 1 {
        findings.wrong.push(format!("one version for all, and not {}", versions.into_iter().collect::<Vec<_>>().join(", ")));
    }
    if let Some(first) = published.first() {
        // Texts have 1.95 where cargo has 1.95.0.
        let rust = first.rust_version.as_ref().map(|rust| format!("{}.{}", rust.major, rust.minor));
        texts.compare(&first.version.to_string(), rust.as_deref(), &mut findings);
        if first.repository.is_none() {
            findings.to_do.push("[workspace.package] has no repository: set it to where the sources are".to_owned());
        }
    }
    findings
}

/// Returns the metadata that a package lacks.
fn said(package: &Package) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut need = |there: bool, what: &str| {
        if !there {
            wrong.push(what.to_owned());
        }
    };
    need(package.description.as_ref().is_some_and(|text| !text.trim().is_empty()), "it has no description");
    need(package.license.is_some(), "it has no license");
    need(!package.categories.is_empty(), "it has no categories");
    need(package.rust_version.is_some(), "it does not say the oldest compiler (rust-version)");
    let readme = package.readme.as_ref().map(|file| package.manifest_path.with_file_name(file.as_str()));
    need(readme.is_some_and(|file| file.is_file()), "it has no README that is there (readme)");
    need((1..=MOST_KEYWORDS).contains(&package.keywords.len()), "it needs one to five keywords");
    let fits = |word: &String| word.len() <= LONGEST_KEYWORD && word.starts_with(|c: char| c.is_ascii_alphabetic());
    need(package.keywords.iter().all(fits), "keywords are words of at most 20 letters");
    wrong
}

/// Returns dependencies on the workspace that a registry cannot resolve.
fn dependencies(package: &Package, metadata: &Metadata) -> Vec<String> {
    let members = metadata.workspace_packages();
    let mut wrong = Vec::new();
    for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
        let Some(other) = members.iter().find(|member| member.name.as_str() == dependency.name) else { continue };
        let unnamed = dependency.req.comparators.is_empty();
        if dependency.kind == DependencyKind::Development && unnamed {
            // Packages leave out dependencies without a version.
            continue;
        }
        if !goes_out(other) {
            wrong.push(format!("it depends on {}, which is not published", other.name));
        } else if unnamed || !dependency.req.matches(&other.version) {
            wrong.push(format!("it asks for {} {}, which is {}", other.name, dependency.req, other.version));
        }
    }
    wrong
}

/// Makes all packages as a registry has them. Cargo builds each from its archive, against the
/// archives of the others.
fn archives(published: &[&Package], no_build: bool) -> Outcome<()> {
    let mut package = cargo();
    package.args(["package", "--locked", "--quiet", "--allow-dirty"]);
    for one in published {
        package.args(["-p", one.name.as_str()]);
    }
    package.args(no_build.then_some("--no-verify"));
    succeed(&mut package)?;
    let folder = target_directory()?.join("package");
    for one in published {
        let file = folder.join(format!("{}-{}.crate", one.name, one.version));
        let bytes = fs::metadata(&file).context(file.display())?.len();
        let listed = read(cargo().args(["package", "--list", "--allow-dirty", "-p", one.name.as_str()]))?;
        println!("  {:<24} {:>4} files {:>6} KiB packed", one.name, listed.lines().count(), bytes.div_ceil(1024));
    }
    Ok(())
}

/// Reports changes that would break users of the last release, where the tool is installed.
fn semver(published: &[&Package]) -> Outcome<()> {
    if !cargo().args(["semver-checks", "--version"]).output().is_ok_and(|output| output.status.success()) {
        println!("left out: cargo install --locked cargo-semver-checks");
        return Ok(());
    }
    let mut check = cargo();
    check.arg("semver-checks");
    // Programs have no interface.
    for one in published.iter().filter(|one| one.targets.iter().any(Target::is_lib)) {
        check.args(["-p", one.name.as_str()]);
    }
    succeed(&mut check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_workspace_could_be_released() {
        let metadata = workspace().expect("cargo metadata");
        let (published, kept) = packages(&metadata);
        let findings = look(&published, &metadata, &Texts::read(&root()).expect("the texts of the workspace"));
        assert!(findings.wrong.is_empty(), "{:#?}", findings.wrong);
        assert!(names(&kept).contains(&"xtask".to_owned()) && published.len() > 10);
        // The facade comes after its crates, the program after the facade.
        let at = |name: &str| names(&published).iter().position(|known| known == name).expect(name);
        assert!(at("maxmargin-data") < at("maxmargin-kernel") && at("maxmargin-cv") < at("maxmargin"));
        assert_eq!(at("maxmargin-cli"), published.len() - 1);
    }

    #[test]
    fn a_package_that_says_too_little_is_found() {
        let metadata = workspace().expect("cargo metadata");
        let mut package = packages(&metadata).0[0].clone();
        assert_eq!(said(&package), Vec::<String>::new());
        package.description = None;
        package.keywords = vec!["a-keyword-of-far-too-many-letters".to_owned()];
        package.readme = Some("NONE.md".into());
        assert_eq!(said(&package).len(), 3, "{:?}", said(&package));
    }

    #[test]
    fn a_dependency_on_another_version_or_on_what_is_kept_back_is_found() {
        let mut metadata = workspace().expect("cargo metadata");
        let of = |metadata: &Metadata| {
            let package = metadata.packages.iter().find(|package| package.name.as_str() == "maxmargin-kernel");
            dependencies(package.expect("maxmargin-kernel"), metadata)
        };
        assert_eq!(of(&metadata), Vec::<String>::new());
        let data =
            metadata.packages.iter_mut().find(|package| package.name.as_str() == "maxmargin-data").expect("maxmargin-data");
        data.version.minor += 1;
        assert!(of(&metadata)[0].contains("it asks for maxmargin-data"));
        let data =
            metadata.packages.iter_mut().find(|package| package.name.as_str() == "maxmargin-data").expect("maxmargin-data");
        data.publish = Some(Vec::new());
        assert!(of(&metadata)[0].ends_with("which is not published"));
    }
}
