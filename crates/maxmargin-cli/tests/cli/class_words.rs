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

/// The table of precision and recall had two equal rows, and a row was confused with itself.
#[test]
fn classes_that_begin_alike_are_told_apart() {
    let bench = Bench::new();
    let long = "Customer has cancelled the contract within the first year: ";
    let (yes, no) = (format!("{long}yes"), format!("{long}no"));
    table(&bench, "t.csv", &[&yes, &no]);
    let trained = bench.run("train t.csv -o m");
    assert!(trained.code == 0 && trained.out.contains(&yes) && trained.out.contains(&no), "{trained:?}");
}

/// A line break in a word became another character, so that words could become equal.
#[test]
fn words_in_files_of_folds_are_those_of_the_data() {
    let bench = Bench::new();
    table(&bench, "t.csv", &["\"l1\nl2\"", "z"]);
    assert_eq!(bench.run("cv t.csv -k 3 -o folds -q").code, 0);
    assert_eq!(bench.run("train t.csv -o m -q").code, 0);
    assert_eq!(bench.run("predict t.csv m -o predicted -q").code, 0);
    for name in ["folds", "predicted"] {
        assert!(bench.read(name).contains("\"l1\nl2\""), "{name}: {}", bench.read(name));
    }
}

/// From 2^53 on different whole numbers are one number: two classes were one.
#[test]
fn labels_that_may_have_been_different_are_refused() {
    let bench = Bench::new();
    table(&bench, "t.csv", &["90071992547409920", "90071992547409921", "7"]);
    let refused = bench.run("train t.csv -o m -q");
    assert!(refused.code == 1 && refused.err.contains("row 1: label 9.007199254740992e16: from 2^53 on"), "{refused:?}");
    assert_eq!(bench.run("train t.csv --category kind -o m -q").code, 0);
    assert!(bench.run("predict t.csv m -o predicted -q").code == 0 && bench.read("predicted").contains("90071992547409921"));
    bench.file("t", "9007199254740993 1:1\n9007199254740992 1:2\n".repeat(20));
    let refused = bench.run("cv t -k 2 -q");
    assert!(refused.code == 1 && refused.err.contains("from 2^53 on"), "{refused:?}");
    let values = bench.run("train t --formulation epsilon-svr -o m -q --force");
    assert!(!values.err.contains("from 2^53 on"), "{values:?}");
}
