//! The Rust reference: rustdoc's pages of the published crates, and a page that leads to them.

use super::tree::Tree;
use crate::python::succeed;
use crate::release::{packages, workspace};
use cargo_metadata::Target;
use maxmargin_repro::workspace::failure::Outcome;
use maxmargin_repro::workspace::tools::{cargo, target_directory};
use std::path::Path;

const HEAD: &str = "# Rust\n\nBegin with the facade `maxmargin`; [the map of the crates](../project/api.md) says which \
                    crate does what.\n\n";

/// Adds the page of all published libraries.
pub(super) fn page(tree: &mut Tree, with_rustdoc: bool) -> Outcome<()> {
    let metadata = workspace()?;
    let mut text = HEAD.to_owned();
    if !with_rustdoc {
        text += "This build of the site leaves out rustdoc's pages. `cargo doc --open` makes them.\n\n";
    }
    text += "| crate | what it is |\n|---|---|\n";
    let published = packages(&metadata).0;
    for package in published.iter().rev().filter(|package| package.targets.iter().any(Target::is_lib)) {
        let (name, what) = (package.name.as_str(), package.description.as_deref().unwrap_or_default());
        let name = if with_rustdoc {
            format!("<a href=\"{}/index.html\"><code>{name}</code></a>", name.replace('-', "_"))
        } else {
            format!("`{name}`")
        };
        text.extend(["| ", &name, " | ", what, " |\n"]);
    }
    tree.add("rust/index.md", text);
    Ok(())
}

/// Builds rustdoc's pages and puts them into this folder.
pub(super) fn build(out: &Path) -> Outcome<()> {
    let target = target_directory()?.join("docs/rustdoc");
    // Cargo leaves pages of crates that are gone.
    super::clear(&target.join("doc"))?;
    let metadata = workspace()?;
    let mut doc = cargo();
    doc.args(["doc", "--no-deps", "--all-features", "--locked", "--lib", "--target-dir"]).arg(&target);
    for package in packages(&metadata).0.iter().filter(|package| package.targets.iter().any(Target::is_lib)) {
        doc.args(["-p", package.name.as_str()]);
    }
    succeed(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    super::copy_folder(&target.join("doc"), out)
}
