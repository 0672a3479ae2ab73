//! Rules that the tree does not meet everywhere yet: their findings are counted by crate, or by
//! file of Markdown, and compared with the allowances.

use super::Finding;
use super::allowances::Counted;
use super::circles::circles;
use super::code::only_code;
use super::comments::{openings, wide_comments, wide_prose};
use super::functions::{LEVELS, LINES, functions};
use super::imports::without_tests;
use super::names::{self, Retired};
use super::sources::{has_extension, is_test};
use std::collections::{BTreeMap, BTreeSet};

/// A comment in a function that gives the reason why its blocks are nested deeply.
const REASON: &str = "// Nested deeply: ";

/// The findings so far.
pub(super) struct Counts<'a> {
    retired: Vec<Retired<'a>>,
    counted: Vec<Counted>,
    /// Retired names that are not allowed where they stand.
    names: Vec<Finding>,
    /// Names and crates where they stand.
    standing: BTreeSet<(String, String)>,
    /// By crate: its files below `src`, with comments and literals blanked.
    sources: BTreeMap<String, Vec<(String, String)>>,
}

/// Returns the crate of a file: `xtask`, `fuzz`, or a folder of `crates`.
fn crate_of(file: &str) -> Option<&str> {
    let mut folders = file.split('/');
    match folders.next()? {
        "crates" => folders.next(),
        first @ ("xtask" | "fuzz") => Some(first),
        _ => None,
    }
}

impl<'a> Counts<'a> {
    pub(super) fn new(retired: Vec<Retired<'a>>) -> Self {
        Self { retired, counted: Vec::new(), names: Vec::new(), standing: BTreeSet::new(), sources: BTreeMap::new() }
    }

    /// Checks a file, given its path from the root of the workspace.
    pub(super) fn add(&mut self, file: &str, text: &str) {
        if has_extension(file, "md") {
            let wide = wide_prose(text).into_iter();
            self.push("wide-markdown", file, wide.map(|n| finding(file, n, "a line of more than 120 columns".into(), "wrap it")));
        } else if let Some(place) = crate_of(file).filter(|_| has_extension(file, "rs")) {
            self.rust(place, file, text);
        }
    }

    fn rust(&mut self, place: &str, file: &str, text: &str) {
        let wide = wide_comments(text).into_iter();
        self.push("wide-comment", place, wide.map(|n| finding(file, n, "a comment of more than 100 columns".into(), "wrap it")));
        let opening = |(n, word)| {
            finding(file, n, format!("a doc comment begins with `{word}`"), "say what the item is or does: \"Returns …\"")
        };
        self.push("doc-opening", place, openings(text).into_iter().map(opening));
        let code = only_code(text);
        self.names(place, file, &code);
        if is_test(file) {
            return;
        }
        let lines: Vec<&str> = text.lines().collect();
        for of in functions(&without_tests(&code)) {
            let reason =
                lines.iter().skip(of.line.saturating_sub(3)).take(of.lines + 3).any(|line| line.trim().starts_with(REASON));
            if of.lines > LINES {
                let what = format!("`{}` has {} lines of code, more than {LINES}", of.name, of.lines);
                self.push("long-function", place, [finding(file, of.line, what, "split it")].into_iter());
            }
            if of.levels > LEVELS && !reason {
                let what = format!("`{}` nests {} blocks, more than {LEVELS}", of.name, of.levels);
                let mend = "move the inner blocks into a function, or give the reason in `// Nested deeply: …`";
                self.push("deep-function", place, [finding(file, of.line, what, mend)].into_iter());
            }
        }
        if let Some((_, below)) = file.split_once("/src/").filter(|(before, _)| before.ends_with(place)) {
            self.sources.entry(place.to_owned()).or_default().push((below.to_owned(), code));
        }
    }

    fn names(&mut self, place: &str, file: &str, code: &str) {
        let all = names::check(&self.retired, "", file, code);
        self.standing.extend(all.into_iter().map(|(_, name)| (name.to_owned(), place.to_owned())));
        let mend = "use the name of the field, or allow the crate in xtask/tidy/retired.txt";
        let found = names::check(&self.retired, place, file, code).into_iter();
        self.names.extend(found.map(|(n, name)| finding(file, n, format!("`{name}` is a retired name"), mend)));
    }

    fn push(&mut self, rule: &'static str, place: &str, findings: impl Iterator<Item = Finding>) {
        self.counted.extend(findings.map(|finding| Counted { rule, place: place.to_owned(), finding }));
    }

    /// Returns all counted findings, and notes on retired names that stand no longer where they
    /// may. Adds retired names that stand where they may not.
    pub(super) fn finish(mut self, findings: &mut Vec<Finding>) -> (Vec<Counted>, Vec<String>) {
        for (place, sources) in std::mem::take(&mut self.sources) {
            let folder = if place == "xtask" { place.clone() } else { format!("crates/{place}") };
            for circle in circles(&sources) {
                let parent = if circle.parent.is_empty() { "the crate" } else { &circle.parent };
                let what = format!("modules of {parent} import each other in a circle: {}", circle.modules.join(", "));
                // One finding for each module, so that a circle that grows is found.
                let each = circle
                    .modules
                    .iter()
                    .map(|_| finding(&format!("{folder}/src"), 1, what.clone(), "move what they share into a module below them"));
                self.push("circle", &place, each);
            }
        }
        findings.extend(self.names);
        let unused = names::unused(&self.retired, |name, place| self.standing.contains(&(name.to_owned(), place.to_owned())));
        let notes = unused
            .into_iter()
            .map(|(name, place)| format!("`{name}` stands no longer in {place}: remove it from xtask/tidy/retired.txt"));
        (self.counted, notes.collect())
    }
}

fn finding(file: &str, line: usize, what: String, mend: &'static str) -> Finding {
    Finding { file: file.to_owned(), line, what, mend }
}

#[cfg(test)]
mod tests {
    use super::{Counts, names};

    fn rules(file: &str, text: &str) -> Vec<(&'static str, String)> {
        let mut counts = Counts::new(names::parse("Found\n"));
        counts.add(file, text);
        counts.finish(&mut Vec::new()).0.into_iter().map(|one| (one.rule, one.place)).collect()
    }

    #[test]
    fn findings_are_counted_by_crate_and_by_page() {
        let place = "maxmargin-smo".to_owned();
        assert_eq!(rules("docs/a.md", &"x".repeat(121)), [("wide-markdown", "docs/a.md".to_owned())]);
        assert_eq!(rules("crates/maxmargin-smo/src/a.rs", "/// What it is.\n"), [("doc-opening", place.clone())]);
        let long = format!("fn f() {{\n{}}}\n", "g();\n".repeat(60));
        assert_eq!(rules("crates/maxmargin-smo/src/a.rs", &long), [("long-function", place.clone())]);
        assert!(rules("crates/maxmargin-smo/src/tests.rs", &long).is_empty());
    }

    #[test]
    fn deep_blocks_need_a_reason() {
        let deep = |reason: &str| format!("fn f() {{\n{reason}if a {{ if b {{ if c {{ if d {{ if e {{ }} }} }} }} }} }}\n");
        assert_eq!(rules("xtask/src/a.rs", &deep("")), [("deep-function", "xtask".to_owned())]);
        assert!(rules("xtask/src/a.rs", &deep("// Nested deeply: five conditions.\n")).is_empty());
    }

    #[test]
    fn retired_names_are_findings_and_old_permissions_notes() {
        let mut counts = Counts::new(names::parse("Found xtask\n"));
        counts.add("crates/maxmargin-smo/src/a.rs", "struct Found;\n");
        let mut findings = Vec::new();
        let (_, notes) = counts.finish(&mut findings);
        assert_eq!((findings.len(), notes.len()), (1, 1));
        assert!(notes[0].starts_with("`Found` stands no longer in xtask"), "{notes:?}");
    }
}
