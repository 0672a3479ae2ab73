//! Folds that keep groups of rows together.

use crate::common::Bench;
use std::collections::BTreeSet;

/// Patients with several visits: a column of a table or a file keeps their rows together as a qid
/// does, and is no feature.
#[test]
fn groups_are_a_column_or_a_file() {
    let bench = Bench::new();
    let rows = || (0..60_usize).map(|i| (i % 2, i / 2 * 7 % 10, i * 37 % 11, i * 53 % 13));
    let of =
        |line: &dyn Fn((usize, usize, usize, usize)) -> String| rows().map(|row| line(row) + "\n").collect::<Vec<_>>().concat();
    bench.file("t.csv", "sick,patient,a,b\n".to_owned() + &of(&|(y, p, a, b)| format!("{y},p{p},{a},{b}")));
    bench.file("plain", of(&|(y, _, a, b)| format!("{y} 1:{a} 2:{b}")));
    bench.file("grouped", of(&|(y, p, a, b)| format!("{y} qid:{p} 1:{a} 2:{b}")));
    bench.file("patients", of(&|(_, p, ..)| format!("p{p}")));
    let (table, dropped) = ("t.csv --target sick", "t.csv --target sick --drop patient");
    for (how, k) in [("groups", "-k 3"), ("stratified-groups", "-k 3"), ("leave-one-group-out", "")] {
        let folds = |data: &str, source: &str| {
            let found = bench.json(&format!("cv {data} --folds {how}{source} {k} -g 0.1 --write-folds f --force"));
            (bench.read("f"), found["accuracy"].clone(), found["fold_plan"].clone())
        };
        let (plan, accuracy, name) = folds("grouped", "");
        let by_patient = |plan: &str| -> Vec<(String, String)> {
            let folds = plan.lines().map(str::to_owned);
            bench.read("patients").lines().map(str::to_owned).zip(folds).collect::<BTreeSet<_>>().into_iter().collect()
        };
        assert_eq!(by_patient(&plan).len(), 10, "{plan}");
        // A file is read beside a table, too, whose column of groups is then a feature.
        for (data, source) in [(table, ":patient"), (table, ":2"), ("plain", ":patients"), (dropped, ":patients")] {
            let found = folds(data, source);
            assert_eq!(by_patient(&found.0).len(), 10, "{data} {source}");
            assert_eq!(found.2, name);
            if how == "leave-one-group-out" {
                // The order of folds is that of the groups.
                assert_eq!(found.1, accuracy, "{data} {source}");
            }
        }
    }
    let grid = bench.json(&format!("grid {table} --folds groups:patient -k 3 -c 1 -g 0.1"));
    assert_eq!(grid["data"]["features"], 2);
    let found = bench.json(&format!("search {table} --folds groups:patient -k 3 -o s"));
    assert_eq!((found["data"]["features"].as_u64(), found["fold_plan"].as_str()), (Some(2), Some("groups")));
    let again = found["train_command"].as_str().expect("a command").replacen("maxmargin ", "", 1);
    assert!(again.contains("--drop patient "), "{again}");
    let of_file = bench.json(&format!("grid {dropped} --folds groups:patients -k 3 -c 1 -g 0.1"));
    assert_eq!(of_file["results"], grid["results"]);
    let of_file = of_file["train_command"].as_str().expect("a command").to_owned();
    assert!(!of_file.contains("patients"), "{of_file}");
    bench.run(&format!("{again} --force"));
    assert_eq!(bench.json("info s")["features"], 2);
    let train = format!("train {table} --folds groups:patient -k 3 --conformal 0.2 --conformal-groups patient -g 0.1 -o m");
    assert!(bench.run(&train).code != 1, "the same column twice");
    for (line, code, what) in [
        (format!("cv {table} --folds groups -k 3"), 1, "groups:COLUMN"),
        (format!("cv {table} --folds groups: -k 3"), 2, "groups: lacks the column"),
        (
            format!("cv {table} --folds groups:doctor -k 3"),
            1,
            "no column `doctor`; there are sick, patient, a, b; no file has this name either",
        ),
        ("cv plain --folds groups:nowhere -k 3".to_owned(), 1, "cannot read the groups"),
        ("cv plain --folds groups:f -k 3 --write-folds f".to_owned(), 1, "reads the file that it would overwrite"),
    ] {
        let answer = bench.run(&line);
        assert!(answer.code == code && answer.err.contains(what), "{line}: {answer:?}");
    }
}

/// A gap is no group, as in every other column, and the mark of UTF-8 is no part of one.
#[test]
fn gaps_are_no_groups_and_marks_of_encodings_neither() {
    let bench = Bench::new();
    let rows = |word: &dyn Fn(usize) -> String| -> String {
        (0..24).map(|i| format!("{},{},{}\n", i % 7, word(i), ["a", "b"][i % 2])).collect::<Vec<_>>().concat()
    };
    for gap in ["NA", "?", "nobody"] {
        bench.file("t.csv", format!("x,who,y\n{}", rows(&|i| if i == 5 { gap.into() } else { format!("p{}", i / 4) })));
        let options = if gap == "nobody" { "--missing nobody" } else { "" };
        for how in ["--folds groups:who -k 3", "-k 3 --conformal 0.2 --conformal-groups who"] {
            let answer = bench.run(&format!("cv t.csv --target y {options} {how}"));
            assert!(answer.code == 1 && answer.err.contains("t.csv:7: column who: this row has no group"), "{how}: {answer:?}");
        }
    }
    bench.file("two.svm", (0..24).map(|i| format!("{} 1:{}\n", i % 2, i % 7)).collect::<Vec<_>>().concat());
    bench.file("groups", format!("\u{feff}{}", (0..24).map(|i| format!("g{}\n", i / 4)).collect::<Vec<_>>().concat()));
    assert_eq!(bench.json("cv two.svm --folds leave-one-group-out:groups")["folds"].as_array().map(Vec::len), Some(6));
    bench.file("weights", format!("\u{feff}{}", "0.5\n".repeat(24)));
    bench.file("folds", format!("\u{feff}{}", "0\n1\n".repeat(12)));
    assert_eq!(bench.run("cv two.svm --weights weights --folds folds -q").code, 0);
}
