//! Rules about single files.

use super::Finding;
use super::code::only_code;
use super::layers::{Layers, PRINTING, UNSAFE};
use std::path::Path;

const LONGEST: usize = 400;
const LARGEST: usize = 1 << 20;

/// Raw lines of benchmarks: results and no data, one line for each of a thousand trainings.
const RAW: &str = "docs/reproduction/raw/";
const PRINTS: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
/// Folders at the top of a path that exist on one machine only.
const MACHINE: [&str; 7] = ["home", "work", "tmp", "root", "Users", "mnt", "scratch"];

/// Returns every rule that `file` (its path from the workspace root) breaks.
pub(crate) fn check(layers: &Layers, file: &str, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |line: usize, what: String, mend| findings.push(Finding { file: file.to_owned(), line, what, mend });
    if bytes.len() > if file.starts_with(RAW) { 3 * LARGEST } else { LARGEST } {
        found(1, format!("{} bytes", bytes.len()), "data belongs into datasets/manifest.toml, not under version control");
    }
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) else { return findings };
    for (n, line) in text.lines().enumerate() {
        if line != line.trim_end() && !keeps_blanks(file) {
            found(n + 1, "blanks at the end of the line".into(), "remove them");
        }
        if let Some(path) = machine_path(line) {
            found(n + 1, format!("`{path}` is a path of one machine"), "use a relative path, an option or a temporary folder");
        }
    }
    if has_extension(file, "rs") {
        rust(layers, file, text, &mut found);
    }
    findings
}

fn rust(layers: &Layers, file: &str, text: &str, found: &mut impl FnMut(usize, String, &'static str)) {
    let lines = text.lines().count();
    if lines > LONGEST && !is_test(file) {
        found(LONGEST + 1, format!("{lines} lines, the limit is {LONGEST}"), "split it by noun");
    }
    if !text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!")) {
        found(1, "the module does not say what it is".into(), "begin it with a `//!` line");
    }
    for (n, _) in text.lines().enumerate().filter(|(_, line)| looks_for_data_alone(file, line)) {
        found(
            n + 1,
            "a test that looks for data by itself".into(),
            "ask maxmargin_testkit::outside, which puts a skip on record",
        );
    }
    // Programs print; so do examples, build scripts and tests that skip.
    let talks = layers.allow(file, PRINTING) || is_test(file) || file.contains("examples/") || file.ends_with("build.rs");
    for (n, line) in only_code(text).lines().enumerate() {
        for word in PRINTS {
            if !talks && has_word(line, word) {
                found(n + 1, format!("`{word}` in a library"), "return the value, or report through RunControl");
            }
        }
        if !layers.allow(file, UNSAFE) && has_word(line, "unsafe") {
            found(n + 1, "`unsafe` outside the crate that may have it".into(), "put the pass there, behind a safe function");
        }
    }
}

/// Returns whether a test reads `MAXMARGIN_DATA` itself: it would not find `datasets/files`, and
/// its skips would not be reported.
fn looks_for_data_alone(file: &str, line: &str) -> bool {
    file.starts_with("crates/") && is_test(file) && !file.contains("-testkit/") && line.contains("(\"MAXMARGIN_DATA\")")
}

/// Returns whether a path ends in this extension.
pub(super) fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|known| known == extension)
}

pub(super) fn is_test(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    file.contains("tests/") || file.contains("benches/") || name == "tests.rs" || name.ends_with("_tests.rs")
}

/// Snapshots and test data are compared byte for byte.
fn keeps_blanks(file: &str) -> bool {
    file.contains("tests/data/") || file.contains("corpus/") || [".snap", ".libsvm"].iter().any(|ending| file.ends_with(ending))
}

/// Returns whether `word` stands in `line` with no letter, digit or `_` at either side.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].chars().next_back().is_some_and(joins) && !line[at + word.len()..].starts_with(joins))
}

/// Returns the first path in `line` that begins at a machine's own top folder.
fn machine_path(line: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || "\"'`)>,;".contains(c);
    line.match_indices('/').find_map(|(at, _)| {
        let rest = &line[at + 1..];
        let top = MACHINE.iter().find(|top| rest.strip_prefix(**top).is_some_and(|tail| tail.starts_with('/')))?;
        let starts_here = line[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'`(<=:,".contains(c));
        let deeper = rest[top.len() + 1..].starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c));
        (starts_here && deeper).then(|| line[at..].split(ends).next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::{Finding, Layers, machine_path};

    fn check(file: &str, text: &[u8]) -> Vec<Finding> {
        let head = "| layer | crate | what it is | may use |\n|---|---|---|---|\n";
        let rows = "| 0 | `maxmargin-simd` | a | unsafe code |\n| 6 | `maxmargin-cli` | b | printing |\n";
        super::check(&Layers::parse(&format!("{head}{rows}")).0, file, text)
    }

    fn lines(file: &str, text: &str) -> Vec<usize> {
        check(file, text.as_bytes()).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn libraries_are_silent() {
        let talk = "//! Doc.\nfn f() { println!(\"x\"); }\n";
        assert_eq!(lines("crates/maxmargin-smo/src/a.rs", talk), [2]);
        assert!(lines("crates/maxmargin-cli/src/a.rs", talk).is_empty());
        assert!(
            lines("crates/maxmargin-smo/src/a.rs", "//! Doc.\n// println!(1)\nconst A: &str = \"dbg!\"; my_println!();\n")
                .is_empty()
        );
        let found = check("crates/maxmargin-smo/src/a.rs", talk.as_bytes());
        assert!(found[0].to_string().starts_with("crates/maxmargin-smo/src/a.rs:2: `println!`"), "{}", found[0]);
    }

    #[test]
    fn unsafe_code_has_one_home() {
        let code = "//! Doc.\nfn f() { unsafe { g() } }\n";
        assert_eq!(lines("crates/maxmargin-kernel/src/a.rs", code), [2]);
        assert!(lines("crates/maxmargin-simd/src/a.rs", code).is_empty());
        assert!(lines("crates/maxmargin-kernel/src/a.rs", "//! Doc.\n#![deny(unsafe_code)] // unsafe\n").is_empty());
    }

    #[test]
    fn modules_are_described_and_short() {
        assert_eq!(lines("xtask/src/a.rs", "fn f() {}\n"), [1]);
        let long = format!("//! Doc.\n{}", "\n".repeat(400));
        assert_eq!(lines("xtask/src/a.rs", &long), [401]);
        assert!(lines("xtask/src/a_tests.rs", &long).is_empty());
        assert!(lines("xtask/tests/a.rs", &long).is_empty());
    }

    #[test]
    fn tests_that_skip_in_silence_are_found() {
        let alone = "//! Doc.\nfn f() { std::env::var_os(\"MAXMARGIN_DATA\"); }\n";
        assert_eq!(lines("crates/maxmargin-cli/tests/a.rs", alone), [2]);
        for (file, text) in [
            ("crates/maxmargin-testkit/src/tests.rs", alone),
            ("crates/maxmargin-cli/src/a.rs", alone),
            ("crates/maxmargin-cli/tests/a.rs", "//! Files of MAXMARGIN_DATA.\nfn f() { outside::data_file(\"a9a\"); }\n"),
        ] {
            assert!(lines(file, text).is_empty(), "{file}");
        }
    }

    #[test]
    fn paths_of_one_machine() {
        for top in ["home", "Users", "tmp"] {
            let path = format!("/{top}/someone/data");
            assert_eq!(machine_path(&format!("see \"{path}\", or")), Some(path.as_str()));
            assert_eq!(machine_path(&format!("https://host/{top}/a")), None);
            assert_eq!(machine_path(&format!("../{top}/a")), None);
        }
        assert_eq!(lines("README.md", "a \nb\n"), [1]);
        assert!(lines("crates/x/tests/data/a", "1 1:2 \n").is_empty());
    }
}
