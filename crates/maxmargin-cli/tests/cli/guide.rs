//! Every command in the guide and in README is run, and prints what stands below it.
//!
//! A block ```` ```console ```` holds commands after `$ ` and what they print on both streams. The
//! blocks of a page run one after another in one folder, in which the real data of its line `<!--
//! data: NAME … -->` lies. A line `...` stands for any number of lines; times, sizes and numbers of
//! threads match any others (`guide/alike.rs`). Commands of the program fail where their block says
//! so (```` ```console fails ````), and nowhere else. `MAXMARGIN_RECORD=1 cargo test -p
//! maxmargin-cli --test cli guide` writes what commands print today below those that print
//! something else: shortened as before where only numbers moved, whole where lines are new.
#![cfg(unix)]

mod alike;
mod page;

use page::Page;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the page in this file of the workspace.
fn run(file: &str) {
    let path = root().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{file}: {why}"));
    let page = Page::parse(&text);
    let Some(found) = page.run() else { return };
    if std::env::var_os("MAXMARGIN_RECORD").is_some() {
        std::fs::write(&path, page.with(&found)).unwrap_or_else(|why| panic!("{file}: {why}"));
        return;
    }
    let wrong: Vec<String> = page.compare(&found).iter().map(|what| format!("{file}:{what}")).collect();
    assert!(wrong.is_empty(), "{}\n(MAXMARGIN_RECORD=1 writes what is printed today)", wrong.join("\n\n"));
}

macro_rules! pages {
    ($($name:ident: $file:literal,)*) => {
        $(#[test] fn $name() { run($file); })*

        const PAGES: &[&str] = &[$($file),*];
    };
}

pages! {
    readme: "README.md",
    first_hour: "docs/first-hour.md",
    index: "docs/guide/src/index.md",
    first_steps: "docs/guide/src/first-steps.md",
    commands: "docs/guide/src/commands.md",
    tables: "docs/guide/src/tables.md",
    questions: "docs/guide/src/questions.md",
    classes: "docs/guide/src/classes.md",
    curves: "docs/guide/src/curves.md",
    choose: "docs/guide/src/choose.md",
    certificate: "docs/guide/src/certificate.md",
    big_data: "docs/guide/src/big-data.md",
    unbalanced: "docs/guide/src/unbalanced.md",
    probabilities: "docs/guide/src/probabilities.md",
    how_sure: "docs/guide/src/how-sure.md",
    regression: "docs/guide/src/regression.md",
    quantiles: "docs/guide/src/quantiles.md",
    forget: "docs/guide/src/forget.md",
    explain: "docs/guide/src/explain.md",
    export: "docs/guide/src/export.md",
    suspects: "docs/guide/src/suspects.md",
    importance: "docs/guide/src/importance.md",
    boundary: "docs/guide/src/boundary.md",
    notebooks: "docs/guide/src/notebooks.md",
    from_libsvm: "docs/guide/src/from-libsvm.md",
    from_scikit_learn: "docs/guide/src/from-scikit-learn.md",
    from_liblinear: "docs/guide/src/from-liblinear.md",
    from_e1071: "docs/guide/src/from-e1071.md",
    solvers: "docs/guide/src/solvers.md",
    limits: "docs/guide/src/limits.md",
    troubleshooting: "docs/guide/src/troubleshooting.md",
}

#[test]
fn every_page_is_run_and_listed() {
    let folder = root().join("docs/guide/src");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).expect("the summary of the guide");
    let doctests = include_str!("../../../maxmargin/src/pages.rs");
    for entry in std::fs::read_dir(&folder).expect("the pages of the guide") {
        let name = entry.expect("a page").file_name().to_string_lossy().into_owned();
        if name != "SUMMARY.md" {
            assert!(PAGES.contains(&format!("docs/guide/src/{name}").as_str()), "{name} is run by no test");
            assert!(summary.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
            let text = std::fs::read_to_string(folder.join(&name)).expect("a page");
            let compiled = doctests.contains(&format!("guide/src/{name}"));
            assert_eq!(compiled, text.contains("```rust"), "{name} has Rust: crates/maxmargin/src/pages.rs says otherwise");
        }
    }
}

#[test]
fn a_page_that_says_something_else_fails() {
    let page = |said: &str| Page::parse(&format!("# A page\n\n```console\n$ printf 'rows 12\\ntime 0.5 s\\n'\n{said}```\n"));
    let wrong = |said: &str| {
        let page = page(said);
        page.compare(&page.run().expect("no data is needed"))
    };
    assert_eq!(wrong("rows 12\ntime 7.25 s\n"), Vec::<String>::new());
    assert_eq!(wrong("...\ntime 1 m 05 s\n"), Vec::<String>::new());
    assert_eq!(wrong("rows 13\ntime 0.5 s\n").len(), 1);
    assert_eq!(wrong("rows 12\n").len(), 1, "a line is missing");
    assert_eq!(wrong("").len(), 1);
    let fails = Page::parse("```console fails\n$ maxmargin -V > version\n```\n");
    assert_eq!(fails.compare(&fails.run().expect("no data is needed")).len(), 1);
    // What is printed today takes the place of what is wrong, and of nothing else.
    let (right, other) = (page("...\ntime 7 s\n"), page("rows 13\n"));
    assert!(right.with(&right.run().expect("no data")).contains("\n...\ntime 7 s\n```"));
    assert!(other.with(&other.run().expect("no data")).contains("\nrows 12\ntime 0.5 s\n```"));
    let short = page("rows 13\n...\n");
    assert!(short.with(&short.run().expect("no data")).contains("\nrows 12\n...\n```"));
}
