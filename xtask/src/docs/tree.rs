//! The sources of the site: which file of the repository is which page, and pages that are made.

use super::links;
use cargo_metadata::MetadataCommand;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};

/// The file with the order of the guide's pages.
pub(super) const SUMMARY: &str = "SUMMARY.md";

/// Pages of the site by their place, each without its links put right.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The page of each file of the repository: `docs/search.md` is `project/search.md`.
    pub(super) places: BTreeMap<String, String>,
    /// Text that pages have below that of their file: navigation.
    below: BTreeMap<String, String>,
    /// Pages that no file of the repository has.
    made: BTreeMap<String, String>,
    /// The address of the sources, if the workspace has one.
    pub(super) repository: Option<String>,
}

/// Folders whose Markdown files are pages, from the repository's root, with their place.
const FOLDERS: [Folder; 6] = [
    Folder { from: "docs/guide/src", to: "guide" },
    Folder { from: "docs/reproduction", to: "reproduction" },
    Folder { from: "docs/math", to: "project/math" },
    Folder { from: "docs/decisions", to: "project/decisions" },
    Folder { from: "docs", to: "project" },
    Folder { from: "crates/maxmargin-python/examples", to: "python/examples" },
];

/// Single files that are pages. Those that are not there are left out.
const FILES: [Folder; 7] = [
    Folder { from: "README.md", to: "index.md" },
    Folder { from: "CHANGELOG.md", to: "project/changelog.md" },
    Folder { from: "CONTRIBUTING.md", to: "project/contributing.md" },
    Folder { from: "SECURITY.md", to: "project/security.md" },
    Folder { from: "crates/maxmargin-python/README.md", to: "python/index.md" },
    Folder { from: "crates/maxmargin-r/README.md", to: "r/index.md" },
    Folder { from: "crates/maxmargin-cli/README.md", to: "cli/index.md" },
];

/// A folder or file of the repository and its place in the site.
struct Folder {
    from: &'static str,
    to: &'static str,
}

impl Tree {
    /// Finds the files of the repository that are pages.
    pub(super) fn read(root: &Path) -> Outcome<Self> {
        let metadata = MetadataCommand::new().current_dir(root).no_deps().exec().context("cargo metadata")?;
        let mut tree = Self {
            repository: metadata.workspace_packages().iter().find_map(|package| package.repository.clone()),
            ..Self::default()
        };
        for folder in FOLDERS {
            for name in files_in(&root.join(folder.from), "md")? {
                let page = if name == "README.md" { "index.md" } else { name.as_str() };
                if name != SUMMARY {
                    tree.places.insert(format!("{}/{name}", folder.from), format!("{}/{page}", folder.to));
                }
            }
        }
        let there = FILES.iter().filter(|file| root.join(file.from).is_file());
        tree.places.extend(there.map(|file| (file.from.to_owned(), file.to.to_owned())));
        Ok(tree)
    }

    /// Adds a page that no file has.
    pub(super) fn add(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.made.insert(place.into(), text.into());
    }

    /// Adds text below that of the page at this place.
    pub(super) fn add_below(&mut self, place: &str, text: &str) {
        self.below.entry(place.to_owned()).or_default().push_str(text);
    }

    /// Returns whether there is a page at this place.
    pub(super) fn has(&self, place: &str) -> bool {
        self.made.contains_key(place) || self.places.values().any(|known| known == place)
    }

    /// Returns the pages directly in this folder without its index, by name without ending.
    pub(super) fn pages_in(&self, folder: &str) -> Vec<String> {
        let places: BTreeSet<&String> = self.made.keys().chain(self.places.values()).collect();
        let inside = places.into_iter().filter_map(|place| place.strip_prefix(folder)?.strip_prefix('/'));
        let names = inside.filter(|name| !name.contains('/')).filter_map(|name| name.rsplit_once('.'));
        names.map(|(name, _)| name.to_owned()).filter(|name| name != "index").collect()
    }

    /// Writes all pages, with the pictures that they show.
    pub(super) fn write(&self, root: &Path, out: &Path) -> Outcome<()> {
        for (place, text) in &self.made {
            write(&out.join(place), &(text.clone() + self.below.get(place).map_or("", String::as_str)))?;
        }
        for (file, place) in &self.places {
            let text = fs::read_to_string(root.join(file)).context(file)?;
            let mut pictures = BTreeMap::new();
            let text = links::rewrite(&text, |link| {
                let found = self.resolve(root, file, link)?;
                if let links::Target::Picture { file, place } = &found {
                    pictures.insert(place.clone(), file.clone());
                }
                Ok(found)
            })
            .context(file)?;
            let below = self.below.get(place).map_or("", String::as_str);
            write(&out.join(place), &format!("{text}\n{below}"))?;
            for (name, from) in pictures {
                let to = out.join(folder_of(place)).join(name);
                fs::create_dir_all(to.parent().unwrap_or(out)).context(to.display())?;
                fs::copy(root.join(&from), &to).context(from)?;
            }
        }
        Ok(())
    }

    /// Finds where a link of this file leads.
    fn resolve(&self, root: &Path, file: &str, link: &str) -> Outcome<links::Target> {
        let (path, anchor) = link.split_once('#').map_or((link, ""), |(path, anchor)| (path, anchor));
        if link.contains("://") || link.starts_with("mailto:") || path.is_empty() {
            return Ok(links::Target::Unchanged);
        }
        let Some(target) = normal(&format!("{}/{path}", folder_of(file))) else {
            return fail(format!("the link `{link}` leads out of the repository"));
        };
        let place = self.places.get(&target);
        let place = place.or_else(|| self.places.get(format!("{target}/README.md").trim_start_matches('/')));
        let place = place.or_else(|| self.places.get(&format!("{target}/src/index.md")));
        let from = self.places.get(file).map_or("", String::as_str);
        if let Some(place) = place {
            let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
            return Ok(links::Target::Page(relative(from, place) + &anchor));
        }
        if !root.join(&target).exists() {
            return fail(format!("the link `{link}` leads to {target}, which is not there"));
        }
        if [".svg", ".png"].iter().any(|end| target.ends_with(end)) {
            let name = Path::new(&target).file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(links::Target::Picture { file: target, place: name });
        }
        Ok(match &self.repository {
            Some(repository) => links::Target::Page(format!("{}/blob/HEAD/{target}", repository.trim_end_matches('/'))),
            None => links::Target::Nowhere,
        })
    }
}

/// Returns the names of the files with this ending in a folder, in order.
pub(super) fn files_in(folder: &Path, ending: &str) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).context(folder.display())? {
        let path = entry.context(folder.display())?.path();
        if path.is_file() && path.extension().is_some_and(|end| end == ending) {
            names.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Writes a file and the folders above it.
pub(super) fn write(place: &Path, text: &str) -> Outcome<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context(folder.display())?;
    fs::write(place, text).context(place.display())
}

/// Returns the folder of a path, empty at the root.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the path without `.` and `..`; none if it leads out of the root.
pub(super) fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()?),
            _ => {}
        }
    }
    Some(parts.join("/"))
}

/// Returns the link from one page to another.
fn relative(from: &str, to: &str) -> String {
    let above = |path: &str| folder_of(path).split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (from, folders) = (above(from), above(to));
    let shared = from.iter().zip(&folders).take_while(|(a, b)| a == b).count();
    let mut parts = vec!["..".to_owned(); from.len() - shared];
    parts.extend_from_slice(&folders[shared..]);
    parts.push(to.rsplit('/').next().unwrap_or(to).to_owned());
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_repro::workspace::tools::root;

    #[test]
    fn paths_lead_from_page_to_page() {
        assert_eq!(normal("docs/guide/src/../../math/smo.md").as_deref(), Some("docs/math/smo.md"));
        assert_eq!(normal("docs/../../x"), None);
        assert_eq!(relative("guide/a.md", "project/math/b.md"), "../project/math/b.md");
        assert_eq!(relative("index.md", "guide/index.md"), "guide/index.md");
        assert_eq!(relative("guide/a.md", "guide/b.md"), "b.md");
    }

    #[test]
    fn every_link_of_the_repository_s_pages_leads_somewhere() {
        let tree = Tree::read(&root()).expect("pages");
        let out = tempfile::tempdir().expect("folder");
        tree.write(&root(), out.path()).expect("every link leads to a file");
        assert!(tree.has("guide/first-steps.md") && tree.has("reproduction/index.md") && tree.has("index.md"));
        assert!(out.path().join("reproduction/training-overview.svg").is_file() && out.path().join("overview.svg").is_file());
        let bad = tree.resolve(&root(), "docs/search.md", "none.md");
        assert_eq!(bad.expect_err("no such file").to_string(), "the link `none.md` leads to docs/none.md, which is not there");
    }
}
