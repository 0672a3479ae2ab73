//! `cv --suspects` and `loo --suspects`: labels that are probably wrong come first.

use crate::common::Bench;
use std::collections::HashSet;
use std::fmt::Write as _;

/// The rows of a list, from 1, in its order.
fn ranked(table: &str) -> Vec<usize> {
    table.lines().skip(1).map(|line| line.split(',').nth(1).and_then(|row| row.parse().ok()).expect("a row")).collect()
}

/// Flips the labels of this share of the rows, by a seed; returns the text and the rows, from 1.
fn flipped(text: &str, share: f64, seed: u64) -> (String, HashSet<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let count = (share * lines.len() as f64).round() as usize;
    let mut state = seed;
    let mut rows = HashSet::new();
    while rows.len() < count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rows.insert((state >> 33) as usize % lines.len() + 1);
    }
    let flip = |(at, line): (usize, &&str)| {
        let (label, rest) = line.split_once(' ').expect("a label and features");
        let label = label.parse::<f64>().expect("a label");
        let label = if rows.contains(&(at + 1)) { -label } else { label };
        format!("{label} {rest}\n")
    };
    (lines.iter().enumerate().map(flip).collect(), rows)
}

/// Of 14 labels of `heart_scale` that were turned around, 5 are among the first 14 rows of the
/// list, where 0.7 would be by chance.
#[test]
fn flipped_labels_come_first() {
    let Some(bytes) = maxmargin_testkit::outside::data_text("heart_scale") else { return };
    let text = String::from_utf8(bytes).expect("a text");
    let (changed, rows) = flipped(&text, 0.05, 7);
    let bench = Bench::new();
    bench.file("changed", changed);
    for (command, first, more) in [("loo changed", 5, 8), ("cv changed -k 10", 5, 8)] {
        let said = bench.run(&format!("{command} -c 1 -g 0.05 --suspects list.csv -q"));
        assert_eq!(said.code, 0, "{said:?}");
        let header = "rank,row,label,predicted,margin,contradicting";
        let last = if command.starts_with("loo") { ",leverage" } else { "" };
        assert_eq!(bench.read("list.csv").lines().next(), Some(&format!("{header}{last}")[..]));
        let list = ranked(&bench.read("list.csv"));
        assert_eq!((list.len(), rows.len()), (270, 14));
        let among = |first: usize| list[..first].iter().filter(|row| rows.contains(row)).count();
        assert_eq!((among(14), among(40)), (first, more), "{command}");
    }
}

#[test]
fn a_list_has_identifiers_and_equal_rows_of_another_label() {
    let bench = Bench::new();
    let mut table = String::from("id,a,b,kind\n");
    for i in 0..30 {
        let kind = if i % 2 == 0 { "oak" } else { "elm" };
        writeln!(table, "n{i},{},{},{kind}", 4 * (i % 2) + i % 3, i % 5).expect("a string");
    }
    table += "twin,0,0,elm\n";
    bench.file("plants.csv", table);
    let said = bench.run("cv plants.csv --drop id -k 5 -g 0.2 --suspects list.tsv --id id");
    assert!(said.code == 0 && said.out.contains("equal to a row with another label: list.tsv"), "{said:?}");
    let list = bench.read("list.tsv");
    let mut lines = list.lines();
    assert_eq!(lines.next(), Some("rank\trow\tid\tlabel\tpredicted\tmargin\tcontradicting"));
    let first: Vec<&str> = lines.next().expect("a row").split('\t').collect();
    assert_eq!([first[0], first[1], first[2], first[3], first[4], first[6]], ["1", "31", "twin", "elm", "oak", "1"]);
    assert!(first[5].parse::<f64>().is_ok_and(|margin| margin < 0.0), "{first:?}");
    let oak = list.lines().find(|line| line.contains("\tn0\t")).expect("the other twin");
    assert!(oak.ends_with("\t31"), "{oak}");
    let document = bench.json("cv plants.csv --drop id -k 5 -g 0.2 --suspects list.csv");
    assert_eq!((&document["suspects"]["file"], &document["suspects"]["contradicting"]), (&"list.csv".into(), &2.into()));
    assert!(bench.json("cv plants.csv --drop id -k 5 -g 0.2")["suspects"].is_null());
}

#[test]
fn only_classes_have_suspects() {
    let bench = Bench::new();
    bench.file("small", crate::common::SMALL);
    for formulation in ["epsilon-svr", "one-class"] {
        let said = bench.run(&format!("loo small --formulation {formulation} --suspects list.csv"));
        assert!(said.code == 2 && said.err.contains("--suspects: it ranks the labels of classes"), "{said:?}");
        assert!(!bench.path("list.csv").exists());
    }
    let said = bench.run("loo small --id id");
    assert!(said.code == 2 && said.err.contains("--suspects"), "{said:?}");
    let said = bench.run("cv small --json --suspects -");
    assert!(said.code == 2 && said.err.contains("both write to standard output"), "{said:?}");
}
