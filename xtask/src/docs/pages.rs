//! The navigation: sections of the site, parts of the guide, pages of folders.

use super::tree::{SUMMARY, Tree};
use maxmargin_repro::workspace::failure::{Context, Outcome};
use std::fs;
use std::path::Path;

/// The sections, in the order of the bar at the top. Those without an index are left out.
const SECTIONS: [Section; 7] = [
    Section { title: "Guide", folder: "guide" },
    Section { title: "Python", folder: "python" },
    Section { title: "R", folder: "r" },
    Section { title: "Command line", folder: "cli" },
    Section { title: "Rust", folder: "rust" },
    Section { title: "Evidence", folder: "reproduction" },
    Section { title: "Project", folder: "project" },
];

/// A section of the site, with a title that is short enough for the bar.
struct Section {
    title: &'static str,
    folder: &'static str,
}

/// Pages of the section `project`, whose folders are made here.
const PROJECT: &str = "# The project\n\nHow it works, how it is built and how it is kept true.\n";
const MATH: &str = "# Algorithms\n\nThe mathematics of each solver and of what is computed from solutions.\n";
const DECISIONS: &str = "# Decisions\n\nChoices of the architecture, with their reasons.\n";

/// A part of the guide.
#[derive(Debug, PartialEq)]
struct Part {
    /// Empty for pages before the first heading.
    title: String,
    pages: Vec<String>,
}

/// Adds the navigation to all pages that have some below them.
pub(super) fn navigation(root: &Path, tree: &mut Tree) -> Outcome<()> {
    let file = root.join("docs/guide/src").join(SUMMARY);
    for part in parts(&fs::read_to_string(&file).context(file.display())?) {
        tree.add_below("guide/index.md", &toctree(&part.title, part.pages));
    }
    for (place, text) in
        [("project/index.md", PROJECT), ("project/math/index.md", MATH), ("project/decisions/index.md", DECISIONS)]
    {
        tree.add(place, text);
        tree.add_below(place, &list(tree.pages_in(place.trim_end_matches("/index.md"))));
    }
    tree.add_below("project/index.md", &list(["math/index".to_owned(), "decisions/index".to_owned()]));
    tree.add_below("reproduction/index.md", &toctree("", tree.pages_in("reproduction")));
    let there = SECTIONS.iter().filter(|section| tree.has(&format!("{}/index.md", section.folder)));
    let sections: Vec<String> = there.map(|section| format!("{} <{}/index>", section.title, section.folder)).collect();
    tree.add_below("index.md", &toctree("", sections));
    Ok(())
}

/// Returns the directive that puts pages below a page in the navigation.
pub(super) fn toctree(caption: &str, pages: impl IntoIterator<Item = String>) -> String {
    let caption = if caption.is_empty() { String::new() } else { format!(":caption: {caption}\n") };
    let pages: String = pages.into_iter().map(|page| page + "\n").collect();
    format!("\n```{{toctree}}\n:hidden:\n{caption}\n{pages}```\n")
}

/// Returns the directive that also lists the pages.
fn list(pages: impl IntoIterator<Item = String>) -> String {
    let pages: String = pages.into_iter().map(|page| page + "\n").collect();
    format!("\n```{{toctree}}\n:maxdepth: 1\n\n{pages}```\n")
}

/// Returns the parts of a summary without the first page, which is the section's own.
fn parts(summary: &str) -> Vec<Part> {
    let mut parts = vec![Part { title: String::new(), pages: Vec::new() }];
    for line in summary.lines() {
        if let Some(title) = line.strip_prefix("# ").filter(|title| *title != "Summary") {
            parts.push(Part { title: title.to_owned(), pages: Vec::new() });
        } else if let (Some((_, page)), Some(part)) = (line.trim_start().rsplit_once("]("), parts.last_mut()) {
            let page = page.trim_end_matches(')').trim_end_matches(".md");
            part.pages.extend((page != "index").then(|| page.to_owned()));
        }
    }
    parts.retain(|part| !part.pages.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::tree::files_in;
    use maxmargin_repro::workspace::tools::root;
    use std::collections::BTreeSet;

    #[test]
    fn every_page_of_the_guide_is_in_its_navigation_once() {
        let folder = root().join("docs/guide/src");
        let listed: Vec<String> = parts(&fs::read_to_string(folder.join(SUMMARY)).expect("the summary"))
            .into_iter()
            .flat_map(|part| part.pages)
            .map(|page| page + ".md")
            .collect();
        let pages: BTreeSet<String> = files_in(&folder, "md").expect("the guide").into_iter().collect();
        let others: BTreeSet<String> = ["index.md", SUMMARY].map(str::to_owned).into();
        assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), &pages - &others);
        assert_eq!(listed.len() + 2, pages.len());
    }

    #[test]
    fn parts_have_titles_and_pages() {
        let found = parts("# Summary\n\n[The guide](index.md)\n\n# One\n\n- [A](a.md)\n- [B, and c](b.md)\n\n# Two\n");
        assert_eq!(found, [Part { title: "One".to_owned(), pages: vec!["a".to_owned(), "b".to_owned()] }]);
        assert_eq!(toctree("One", ["a".to_owned()]), "\n```{toctree}\n:hidden:\n:caption: One\n\na\n```\n");
    }
}
