//! Solver crates are usable without `maxmargin-core`: each exports again what its public signatures
//! name, and the example in its README imports nothing else.

use super::Finding;
use super::code::only_code;
use super::imports::{paths, without_tests};
use super::sources::{has_extension, is_test};
use std::collections::{BTreeMap, BTreeSet};

/// The solver families.
const SOLVERS: [&str; 5] = ["frankwolfe", "irwls", "linear", "path", "smo"];

/// The crates that an example may import besides its own.
const BELOW: [&str; 2] = ["maxmargin_data", "maxmargin_kernel"];

const CORE: &str = "maxmargin_core";

/// The findings and facts of the files so far.
#[derive(Default)]
pub(super) struct Alone {
    /// Names of lower crates that `maxmargin-core` exports again.
    lower: BTreeSet<String>,
    /// By solver crate: the names of `maxmargin-core` that it exports again.
    exported: BTreeMap<&'static str, BTreeSet<String>>,
    /// Names of `maxmargin-core` in public signatures.
    named: Vec<Named>,
    findings: Vec<Finding>,
}

/// A name of `maxmargin-core` in a public signature.
struct Named {
    solver: &'static str,
    file: String,
    line: usize,
    name: String,
}

impl Alone {
    /// Reads a file, given its path from the root of the workspace.
    pub(super) fn add(&mut self, file: &str, text: &str) {
        if file == "crates/maxmargin-core/src/lib.rs" {
            let used = paths(&only_code(text)).into_iter();
            self.lower.extend(used.filter(|u| u.exported && BELOW.contains(&u.path[0].as_str())).map(|u| u.name));
            return;
        }
        let Some(rest) = file.strip_prefix("crates/maxmargin-") else { return };
        let Some((solver, rest)) = SOLVERS.into_iter().find_map(|s| Some((s, rest.strip_prefix(s)?.strip_prefix('/')?))) else {
            return;
        };
        if rest == "README.md" {
            self.example(solver, file, text);
        } else if rest.starts_with("src/") && has_extension(file, "rs") && !is_test(file) {
            self.code(solver, file, &without_tests(&only_code(text)));
        }
    }

    /// Checks the crates that the README's code imports.
    fn example(&mut self, solver: &str, file: &str, text: &str) {
        let own = format!("maxmargin_{solver}");
        for (at, line) in text.lines().enumerate() {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            for word in words.filter(|w| w.starts_with("maxmargin_") && *w != own && !BELOW.contains(w)) {
                let what = format!("the example names `{word}`");
                let mend = "import from the crate itself, data and kernel alone";
                self.findings.push(Finding { file: file.into(), line: at + 1, what, mend });
            }
        }
    }

    fn code(&mut self, solver: &'static str, file: &str, code: &str) {
        let core: Vec<_> = paths(code).into_iter().filter(|used| used.path.len() == 2 && used.path[0] == CORE).collect();
        if file.ends_with("/src/lib.rs") {
            let names = core.iter().filter(|used| used.exported).map(|used| used.name.clone());
            self.exported.entry(solver).or_default().extend(names);
        }
        for (line, text) in signatures(code) {
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let imported = core.iter().map(|used| used.name.as_str()).filter(|name| words.contains(name));
            let inline = words.windows(3).filter(|three| three[0] == CORE && three[1].is_empty()).map(|three| three[2]);
            let names: BTreeSet<&str> = imported.chain(inline).collect();
            let named = |name: &str| Named { solver, file: file.into(), line, name: name.into() };
            self.named.extend(names.into_iter().map(named));
        }
    }

    /// Adds what is wrong to `findings`.
    pub(super) fn finish(self, findings: &mut Vec<Finding>) {
        let Self { lower, exported, named, findings: own } = self;
        findings.extend(own);
        let missing = |n: &Named| !lower.contains(&n.name) && exported.get(n.solver).is_none_or(|names| !names.contains(&n.name));
        findings.extend(named.into_iter().filter(missing).map(|Named { file, line, name, .. }| Finding {
            file,
            line,
            what: format!("a public signature names `{name}` of {CORE}"),
            mend: "export it again in the crate's lib.rs",
        }));
    }
}

/// The public signatures of a file without comments, each with its line: functions, public fields,
/// variants, and the traits that are implemented, with the signatures of their functions.
fn signatures(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut take = |at: usize, end: usize| found.push((code[..at].matches('\n').count() + 1, &code[at..end]));
    for (at, _) in code.match_indices("pub ") {
        let item = &code[at + 4..];
        if item.starts_with("use ") || item.starts_with("mod ") {
            continue;
        }
        let end = at + head(&code[at..]);
        take(at, if item.starts_with("enum ") { end + block(&code[end..]) } else { end });
    }
    for (at, _) in code.match_indices("impl") {
        let end = at + head(&code[at..]);
        if code[..at].ends_with('\n') && code[at..end].contains(" for ") {
            take(at, end);
            let body = end + block(&code[end..]);
            let functions = code[end..body].match_indices("fn ").map(|(offset, _)| end + offset);
            functions.for_each(|at| take(at, at + head(&code[at..])));
        }
    }
    found
}

/// The length of what stands before the body, the value or the end of an item.
fn head(code: &str) -> usize {
    let (mut depth, mut before) = (0_i32, ' ');
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            // An arrow closes nothing.
            '>' if before == '-' => {}
            '{' | '}' | ';' | ',' | '=' | ')' | ']' | '>' if depth == 0 => return at,
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        before = c;
    }
    code.len()
}

/// The length of the block in braces at the beginning.
fn block(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::Alone;

    fn said(files: &[[&str; 2]]) -> Vec<String> {
        let (mut alone, mut findings) = (Alone::default(), Vec::new());
        files.iter().for_each(|[file, text]| alone.add(file, text));
        alone.finish(&mut findings);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_in_public_signatures_must_be_exported() {
        let core = ["crates/maxmargin-core/src/lib.rs", "pub use maxmargin_data::{Cancelled, RunControl};\npub use a::Dual;"];
        let lib = ["crates/maxmargin-smo/src/lib.rs", "pub use maxmargin_core::{Dual, Solve};"];
        let code = "use maxmargin_core::{Cancelled, Dual, Goal, Run, Solve, Status, Work};\n\
            pub fn f(a: [f64; 2], d: &Dual) -> Result<Status, Cancelled> { g(Goal::A) }\n\
            pub struct S {\n    own: Goal,\n    pub work: Work,\n}\n\
            impl Solve for S {\n    fn solve(&self, run: &mut Run) {}\n}\n\
            pub(crate) fn h(g: Goal) {}\n// pub fn k(g: Goal) {}\n\
            pub enum E {\n    A(maxmargin_core::Loss),\n}";
        let found = said(&[core, lib, ["crates/maxmargin-smo/src/a.rs", code]]);
        let line = |n: usize, name: &str| {
            format!(
                "crates/maxmargin-smo/src/a.rs:{n}: a public signature names `{name}` of maxmargin_core; \
                export it again in the crate's lib.rs"
            )
        };
        assert_eq!(found, [line(2, "Status"), line(5, "Work"), line(12, "Loss"), line(8, "Run")]);
        assert!(said(&[core, lib, ["crates/maxmargin-cv/src/a.rs", code]]).is_empty());
    }

    #[test]
    fn an_example_imports_data_and_kernel_alone() {
        let text = "words\nuse maxmargin_core::Dual;\nuse maxmargin_path::Path;\nuse maxmargin_kernel::Rows;\n";
        let found = said(&[["crates/maxmargin-path/README.md", text]]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/maxmargin-path/README.md:2: the example names `maxmargin_core`"), "{found:?}");
        assert!(said(&[["crates/maxmargin-cv/README.md", text]]).is_empty());
    }
}
