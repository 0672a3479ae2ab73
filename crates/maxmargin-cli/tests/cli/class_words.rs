//! Classes that are words have their words in refusals and verdicts.

use crate::common::Bench;
use std::fmt::Write;

/// Rows of these classes, a word after the other.
fn table(bench: &Bench, name: &str, classes: &[&str]) {
    let mut text = "a,b,kind\n".to_owned();
    for (c, class) in classes.iter().enumerate() {
        for i in 0..12_usize {
            writeln!(text, "{},{},{class}", i * 7 % 5 + c, (i * 5 % 11) as f64 / 4.0 - c as f64).expect("memory");
        }
    }
    bench.file(name, text);
}

/// They were the numbers that the words are mapped to.
#[test]
fn classes_are_called_by_their_words() {
    let bench = Bench::new();
    table(&bench, "t.csv", &["blue", "green", "red"]);
    table(&bench, "two.csv", &["green", "red"]);
    let conformal = bench.run("train t.csv --conformal 0.1 --folds contiguous -k 3 -o x -q");
    assert!(conformal.code == 1 && conformal.err.contains("trains on no row of class blue,"), "{conformal:?}");
    let conformal = bench.run("cv t.csv --conformal 0.1 --folds contiguous -k 3 -q");
    assert!(conformal.code == 1 && conformal.err.contains("trains on no row of class blue,"), "{conformal:?}");
    assert_eq!(bench.run("train t.csv --updatable -o m -q").code, 0);
    let emptied = bench.run("update m --remove 13-24 -q");
    assert!(emptied.code == 1 && emptied.err.contains("no sample of class green would be left"), "{emptied:?}");
    let other = bench.run("verify m two.csv -q");
    assert!(other.code == 1 && other.out.contains("model blue, green, red; data green, red"), "{other:?}");
    let same = bench.run("verify m t.csv -q");
    assert!(same.code == 0 && same.out.contains("nearest to a mismatch is that of "), "{same:?}");
    let named = same.out.lines().filter(|line| line.contains("nearest to a mismatch"));
    assert!(named.clone().count() > 0 && named.clone().all(|line| !line.contains("that of 0")), "{same:?}");
    assert!(same.out.contains("that of blue and ") || same.out.contains("that of green and red"), "{same:?}");
}
