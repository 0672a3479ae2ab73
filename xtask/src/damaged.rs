//! Specs and the manifest of data sets with words, lines and bytes changed: read or refused, never a panic.

use crate::bench::Spec;
use crate::datasets::Manifest;
use crate::tools::root;
use std::fs;

/// Changed copies of each file.
const COPIES: u64 = 1500;

/// Pieces of the format, where changes put them.
const WORDS: [&str; 10] = ["[[table]]\n", "\"", "=", "{", "}", "[", "-1", "99999999999999999999", "\n", "from = [1]\n"];

/// A copy with a few changes, which `number` determines.
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
                // A line goes.
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

fn try_all(text: &str, read: impl Fn(&str) -> bool) {
    assert!(read(text), "the file itself is read");
    let accepted = (0..COPIES).filter(|&number| read(&changed(text, number))).count() as u64;
    assert!(accepted > 0 && accepted < COPIES, "{accepted} of {COPIES} changed copies are read: the changes try one side only");
}

#[test]
fn damaged_specs_are_read_or_refused() {
    for entry in fs::read_dir(root().join("xtask/specs")).expect("specs") {
        let text = fs::read_to_string(entry.expect("entry").path()).expect("text");
        try_all(&text, |text| match Spec::parse(text) {
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
        });
    }
}

#[test]
fn damaged_manifests_are_read_or_refused() {
    let text = fs::read_to_string(root().join("datasets/manifest.toml")).expect("text");
    try_all(&text, |text| Manifest::parse(text).is_ok());
}
