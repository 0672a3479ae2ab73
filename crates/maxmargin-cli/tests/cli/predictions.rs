//! Where predictions go, and the form that they have: labels by line, or a table for a table.

use crate::common::{Bench, SMALL, answer};
use std::fmt::Write;
use std::process::Stdio;

/// Rows of three classes with an identifier that has a comma.
fn plants() -> String {
    let mut text = String::from("id,length,width,kind\n");
    for i in 0..30 {
        let kind = ["oak", "big, old fir", "elm"][i % 3];
        writeln!(text, "\"no. {i}, a\",{},{},{kind:?}", 3 * (i % 3) + i % 2, i % 5).expect("memory");
    }
    text
}

fn trained() -> Bench {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -c 2 -g 0.5 -o m -q").code, 0);
    bench
}

#[test]
fn predictions_go_to_standard_output() {
    let bench = trained();
    let answer = bench.run("predict small m");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.lines().count() == 12 && answer.out.lines().all(|line| line == "1" || line == "-1"), "{answer:?}");
    assert!(answer.err.contains("accuracy ") && answer.err.contains("12 rows, 2 classes"), "{answer:?}");
    let to_file = bench.run("predict small m -o labels");
    assert_eq!(bench.read("labels"), answer.out);
    assert!(to_file.out.starts_with("accuracy "), "{to_file:?}");
    let quiet = bench.run("predict small m -q");
    assert_eq!((quiet.out, quiet.err), (answer.out, String::new()));
    let values = bench.run("predict small m --decision -o - -q");
    assert!(values.out.lines().count() == 12 && values.out.lines().all(|line| line.parse::<f64>().is_ok()), "{values:?}");
}

#[test]
fn a_document_has_standard_output_to_itself() {
    let bench = trained();
    assert_eq!(bench.json("predict small m")["command"], "predict");
    assert_eq!(bench.json("predict small m -o labels")["accuracy"], bench.json("predict small m")["accuracy"]);
    assert_eq!(bench.read("labels").lines().count(), 12);
    let both = bench.run("predict small m --json -o -");
    assert!(both.code == 2 && both.out.is_empty() && both.err.contains("both write to standard output"), "{both:?}");
}

/// `maxmargin predict … | head` is no fault, and nothing is printed before the last check.
#[test]
fn a_closed_pipe_is_no_error_and_nothing_is_half_written() {
    let bench = trained();
    let mut child = bench
        .command("predict two-gaussians m --rows 20000 --features 2 -q")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("an end");
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let refused = bench.run("predict small m --probability");
    assert!(refused.code == 1 && refused.out.is_empty() && refused.err.contains("no probabilities"), "{refused:?}");
}

#[test]
fn a_table_gives_a_table() {
    let bench = Bench::new();
    bench.file("plants.csv", plants());
    let trained = bench.run("train plants.csv --drop id --probability platt -c 10 -g 0.5 -o m -q");
    assert_eq!(trained.code, 0, "{trained:?}");
    let plain = bench.run("predict plants.csv m -q");
    assert!(plain.out.starts_with("label\noak\n\"big, old fir\"\nelm\noak\n"), "{plain:?}");
    let named = bench.run("predict plants.csv m --id id,kind");
    assert!(named.out.starts_with("id,kind,label\n\"no. 0, a\",oak,oak\n\"no. 1, a\",\"big, old fir\","), "{named:?}");
    assert!(!named.err.contains("left out") && named.err.contains("accuracy"), "{named:?}");
    assert_eq!(bench.run("predict plants.csv m --id 1 --id kind").out, named.out);
    let probable = bench.run("predict plants.csv m --id id --probability -q").out;
    let mut lines = probable.lines();
    assert_eq!(lines.next(), Some("id,label,\"probability_big, old fir\",probability_elm,probability_oak"));
    for line in lines {
        let sum: f64 = line.rsplit(',').take(3).map(|value| value.parse::<f64>().expect("a number")).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{line}");
    }
    let decided = bench.run("predict plants.csv m --decision -q").out;
    let header = "label,\"decision_big, old fir_elm\",\"decision_big, old fir_oak\",decision_elm_oak";
    assert_eq!(decided.lines().next(), Some(header));
    assert_eq!(decided.lines().count(), 31);
    // The separator is that of the data.
    bench.file("plants.tsv", "length\twidth\tlabel\n1\t2\ta\n");
    let tabs = bench.run("predict plants.tsv m --id label -q");
    assert!(tabs.out.starts_with("label\tpredicted_label\na\t"), "{tabs:?}");
    let unknown = bench.run("predict plants.csv m --id name");
    assert!(unknown.code == 1 && unknown.out.is_empty() && unknown.err.contains("name"), "{unknown:?}");
}

/// A model of numbers without names takes the columns in order: an identifier is not one of them.
#[test]
fn identifiers_are_no_features() {
    let bench = trained();
    let rows = SMALL.lines().map(|line| line.split([' ', ':']).collect::<Vec<_>>());
    let table = rows
        .enumerate()
        .fold("a,b,label,id\n".to_owned(), |text, (i, row)| format!("{text}{},{},{},{}\n", row[2], row[4], row[0], 100 + i));
    bench.file("small.csv", table.replace("label", "truth"));
    let found = bench.run("predict small.csv m --id id");
    let labels: Vec<&str> = found.out.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(labels, bench.run("predict small m -q").out.lines().collect::<Vec<_>>(), "{found:?}");
    assert!(found.out.starts_with("id,label\n100,"), "{found:?}");
    let refused = answer(&mut bench.command("predict small m --id id"));
    assert!(refused.code == 2 && refused.err.contains("--id: it is for tables"), "{refused:?}");
}

/// Tables had two columns of one name.
#[test]
fn columns_of_outputs_have_names_of_their_own() {
    let bench = Bench::new();
    let row = |i: usize| format!("{},{},{},{}\n", i % 7, i * 5 % 11, i % 3, ["no", "yes"][usize::from(i % 7 > 3)]);
    bench.file("t.csv", (0..40).fold("decision,row,probability_yes,label\n".to_owned(), |text, i| text + &row(i)));
    assert_eq!(bench.run("train t.csv --probability platt -o m -q").code, 0);
    for (line, header) in [
        (
            "predict t.csv m --probability --id label,probability_yes,label",
            "label,probability_yes,predicted_label,probability_no,predicted_probability_yes",
        ),
        ("predict t.csv m --decision --id decision,1", "decision,label,predicted_decision"),
        ("explain m t.csv --id row", "computed_row,row,base,decision,computed_decision,computed_computed_row,probability_yes"),
        (
            "cv t.csv -k 3 --id label,row --suspects o",
            "rank,computed_row,label,row,computed_label,predicted,margin,contradicting",
        ),
    ] {
        let output = if line.contains("suspects") { "" } else { "-o o" };
        assert!(bench.run(&format!("{line} {output} --force -q")).code == 0, "{line}");
        assert_eq!(bench.read("o").lines().next(), Some(header), "{line}");
    }
}
