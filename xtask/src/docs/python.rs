//! Pages of the Python reference: one for each public name and module. Sphinx fills them from
//! docstrings.

use super::pages::toctree;
use super::tree::{Tree, files_in};
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use std::fs;
use std::path::Path;

/// The sources of the package, from the workspace's root.
const SOURCES: &str = "crates/maxmargin-python/python/maxmargin";

/// Adds the pages. Returns the public names, each with its module: `maxmargin.SVC`.
pub(super) fn pages(root: &Path, tree: &mut Tree) -> Outcome<Vec<String>> {
    let folder = root.join(SOURCES);
    let read = |file: &str| fs::read_to_string(folder.join(file)).context(file);
    let Some(names) = public(&read("__init__.py")?) else { return fail(format!("{SOURCES}/__init__.py has no __all__")) };
    let (classes, functions): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    let mut known: Vec<String> = Vec::new();
    let mut index = String::from("\n## Reference\n");
    for (title, names) in [("Classes", classes), ("Functions", functions)] {
        let names: Vec<String> = names.iter().map(|name| format!("maxmargin.{name}")).collect();
        index.extend(["\n### ", title, "\n", &summary(&names)]);
        for name in &names {
            tree.add(format!("python/reference/{name}.rst"), page(name));
        }
        index += &toctree(title, names.iter().map(|name| format!("reference/{name}")));
        known.extend(names);
    }
    let mut modules = Vec::new();
    for file in files_in(&folder, "py")?.iter().filter(|file| !file.starts_with('_')) {
        let name = format!("maxmargin.{}", file.trim_end_matches(".py"));
        tree.add(format!("python/reference/{name}.rst"), module(&name));
        let names = public(&read(file)?).unwrap_or_default();
        known.extend(names.iter().map(|of| format!("{name}.{of}")));
        modules.push(name);
    }
    index.extend(["\n### Modules\n", &summary(&modules)]);
    index += &toctree("Modules", modules.iter().map(|name| format!("reference/{name}")));
    tree.add_below("python/index.md", &index);
    let examples = tree.has("python/examples/index.md").then(|| "examples/index".to_owned());
    tree.add_below("python/index.md", &toctree("Scripts", examples));
    Ok(known)
}

/// Returns the names of a module's `__all__`; none if it has none.
fn public(source: &str) -> Option<Vec<String>> {
    let list = source.split_once("\n__all__ = [")?.1.split_once(']')?.0;
    Some(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Returns a table of names with the first sentence of each.
fn summary(names: &[String]) -> String {
    let names: String = names.iter().map(|name| name.clone() + "\n").collect();
    format!("\n```{{eval-rst}}\n.. autosummary::\n\n{}```\n", indented(&names))
}

fn indented(lines: &str) -> String {
    lines.lines().flat_map(|line| ["   ", line, "\n"]).collect()
}

/// Returns the page of one name of the package.
fn page(name: &str) -> String {
    let short = name.trim_start_matches("maxmargin.");
    let directive = match short.chars().next() {
        Some('_') => "autodata",
        Some(first) if first.is_ascii_uppercase() => "autoclass",
        _ => "autofunction",
    };
    let members = if directive == "autoclass" { "   :members:\n   :inherited-members:\n" } else { "" };
    // Two underscores at the end would be a link.
    let title = short.replace('_', "\\_");
    format!("{title}\n{}\n\n.. {directive}:: {name}\n{members}", "=".repeat(title.len()))
}

/// Returns the page of a module with all of its names.
fn module(name: &str) -> String {
    format!("{name}\n{}\n\n.. automodule:: {name}\n   :members:\n", "=".repeat(name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_repro::workspace::tools::root;

    #[test]
    fn every_public_name_has_a_page() {
        let mut tree = Tree::default();
        let names = pages(&root(), &mut tree).expect("the package");
        for name in ["maxmargin.SVC", "maxmargin.train", "maxmargin.distributed.grid", "maxmargin.svmutil.svm_train"] {
            assert!(names.iter().any(|known| known == name), "{name} is not among {names:?}");
        }
        let own = names.iter().filter(|name| name.matches('.').count() == 1);
        own.for_each(|name| assert!(tree.has(&format!("python/reference/{name}.rst")), "{name}"));
        assert!(tree.has("python/reference/maxmargin.patch.rst"));
    }

    #[test]
    fn names_are_those_of_the_list() {
        let found = public("x = 1\n__all__ = [\"a\", \"B\"]\n").expect("a list");
        assert_eq!(found, ["a", "B"]);
        assert_eq!(public("x = 1\n"), None);
        assert!(page("maxmargin.SVC").contains(".. autoclass:: maxmargin.SVC\n   :members:"));
        assert!(page("maxmargin.__version__").starts_with("\\_\\_version\\_\\_\n"));
    }
}
