//! Readers of specs and of the manifest, tried on copies with changed words, lines and bytes. A
//! copy is read or refused, and no reader panics.

use super::spec::Spec;
use crate::datasets::manifest::Manifest;
use crate::workspace::failure::{Context, Outcome};
use crate::workspace::tools::root;
use std::{fs, thread};

/// The number of changed copies of each file in a test.
#[cfg(test)]
const COPIES: u64 = 300;

/// Pieces of the format that changes insert.
const WORDS: [&str; 10] = ["[[table]]\n", "\"", "=", "{", "}", "[", "-1", "99999999999999999999", "\n", "from = [1]\n"];

/// Returns a copy with a few changes, which `number` determines.
fn changed(text: &str, number: u64) -> String {
    let mut state = number;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    };
    let mut copy = text.as_bytes().to_vec();
    for _ in 0..=below(3) {
        let at = below(copy.len());
        let end = (at + below(12)).min(copy.len());
        match below(5) {
            0 => copy[at] = below(256) as u8,
            1 => drop(copy.drain(at..end)),
            2 => drop(copy.splice(at..end, WORDS[below(WORDS.len())].bytes())),
            3 => {
                // Removes a line.
                let end = copy[at..].iter().position(|b| *b == b'\n').map_or(copy.len(), |length| at + length + 1);
                drop(copy.drain(at..end));
            }
            _ => {
                let piece = copy[at..end].to_vec();
                let to = below(copy.len());
                drop(copy.splice(to..to, piece));
            }
        }
    }
    String::from_utf8_lossy(&copy).into_owned()
}

/// Returns how many of so many changed copies are read, on all processors. Panics reach the caller.
fn read(text: &str, copies: u64, reader: impl Fn(&str) -> bool + Sync) -> u64 {
    assert!(reader(text), "the file itself is read");
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let count =
        |own: usize| (own as u64..copies).step_by(threads).filter(|&number| reader(&changed(text, number))).count() as u64;
    thread::scope(|scope| {
        let counts: Vec<_> = (0..threads)
            .map(|own| {
                scope.spawn({
                    let count = &count;
                    move || count(own)
                })
            })
            .collect();
        counts.into_iter().map(|one| one.join().expect("no reader panics")).sum()
    })
}

fn spec(text: &str) -> bool {
    match Spec::parse(text) {
        Ok(spec) => spec.named(&[], &[], false).is_ok_and(|tables| {
            tables.iter().all(|table| {
                let _ = spec.columns_of(table);
                table.problems.iter().all(|name| spec.problem(name).is_ok())
            })
        }),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn manifest(text: &str) -> bool {
    Manifest::parse(text).is_ok()
}

/// Tries both readers on so many changed copies each, of all specs together and of the manifest.
/// Returns lines for people.
///
/// # Errors
///
/// If a file cannot be read.
///
/// # Panics
///
/// If a reader panics, or when all copies are read, or none.
pub fn try_corrupted_inputs(copies: u64) -> Outcome<Vec<String>> {
    let folder = root().join("crates/maxmargin-repro/specs");
    let entries = fs::read_dir(&folder).context(folder.display())?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.context(folder.display())?.path());
    }
    files.sort();
    let each = copies.div_ceil(files.len().max(1) as u64);
    let mut accepted = 0;
    for file in &files {
        let found = read(&fs::read_to_string(file).context(file.display())?, each, spec);
        assert!(
            found > 0 && found < each,
            "{}: {found} of {each} changed copies are read: one side only is tried",
            file.display()
        );
        accepted += found;
    }
    let place = root().join("datasets/manifest.toml");
    let found = read(&fs::read_to_string(&place).context(place.display())?, copies, manifest);
    assert!(found > 0 && found < copies, "{found} of {copies} changed manifests are read: one side only is tried");
    let inputs = each * files.len() as u64;
    Ok(vec![
        format!("{:<14} {inputs:>8} inputs, {accepted} accepted", "bench specs"),
        format!("{:<14} {copies:>8} inputs, {found} accepted", "data manifest"),
    ])
}

/// `MAXMARGIN_DEEP=560` makes a million copies of it: `cargo test -p maxmargin-repro corrupted --
/// --nocapture` tells what came of them.
#[test]
fn corrupted_specs_and_manifests_are_read_or_refused() {
    let files = fs::read_dir(root().join("crates/maxmargin-repro/specs")).expect("specs").count() as u64;
    let deep = std::env::var("MAXMARGIN_DEEP").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let begun = std::time::Instant::now();
    let lines = try_corrupted_inputs(COPIES * files * deep).expect("files of the workspace");
    println!("{}\n{:.1} s", lines.join("\n"), begun.elapsed().as_secs_f64());
}
