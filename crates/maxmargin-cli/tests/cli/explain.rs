//! `explain`: contributions that add up, for the columns that a user has.

use crate::common::{Bench, SMALL};
use serde_json::Value;
use std::fmt::Write;

/// Rows of two numbers and a word; some numbers are missing.
fn houses() -> String {
    let mut text = String::from("id,area,town,age,sold\n");
    for i in 0..40_u32 {
        let town = ["north", "south", "west"][(i % 3) as usize];
        let age = if i % 11 == 5 { String::new() } else { (i % 7).to_string() };
        let sold = if (i % 3 == 0) ^ (i % 5 < 2) { "yes" } else { "no" };
        writeln!(text, "h{i},{},{town},{age},{sold}", 50 + 3 * (i % 13)).expect("memory");
    }
    text
}

fn trained() -> Bench {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -c 2 -g 0.5 -o m -q").code, 0);
    bench
}

fn numbers(of: &Value) -> Vec<f64> {
    of.as_array().expect("an array").iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// Contributions and the base add up to the decision value that `predict` prints.
fn check_sums(document: &Value, decisions: &str) {
    let mut printed = decisions.split_whitespace().map(|text| text.parse::<f64>().expect("a number"));
    for row in document["contributions"].as_array().expect("an array") {
        let base = &document["machines"][row["machine"].as_u64().expect("a place") as usize]["base"];
        let sum: f64 = numbers(&row["values"]).iter().sum::<f64>() + base.as_f64().expect("a number");
        let decision = row["decision"].as_f64().expect("a number");
        assert_eq!(printed.next(), Some(decision), "{row}");
        assert!((sum - decision).abs() < 1e-12, "{row}");
    }
    assert_eq!(printed.next(), None);
}

#[test]
fn contributions_add_up_to_decision_values() {
    let bench = trained();
    let decisions = bench.run("predict small m --decision -q").out;
    for more in ["", "--background small", "--interactions"] {
        let document = bench.json(&format!("explain m small {more}"));
        check_sums(&document, &decisions);
        assert_eq!(document["columns"], serde_json::json!(["feature 1", "feature 2"]));
        assert!(document["efficiency_error"].as_f64().expect("a number") < 1e-12);
        let of_background = if more.starts_with("--b") { serde_json::json!({"name": "small", "rows": 12}) } else { Value::Null };
        assert_eq!(document["background"], of_background);
        let pairs = &document["contributions"][0]["interactions"];
        assert_eq!(pairs.is_null(), more != "--interactions");
        if !pairs.is_null() {
            assert!(pairs[0][1] == pairs[1][0] && pairs[0][1] != 0.0 && pairs[0][0] == 0.0, "{pairs}");
        }
    }
    let mean: f64 = {
        let values: Vec<f64> = decisions.split_whitespace().map(|text| text.parse().expect("a number")).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let base = bench.json("explain m small --background small")["machines"][0]["base"].as_f64().expect("a number");
    assert!((base - mean).abs() < 1e-12);
}

/// A column of words is one column, and its gaps are filled as in `predict`.
#[test]
fn columns_of_a_table_are_explained_as_the_user_has_them() {
    let bench = Bench::new();
    bench.file("houses.csv", houses());
    let trained = bench.run("train houses.csv --drop id --scale minmax --impute median -c 5 -g 0.7 -o m -q");
    assert_eq!(trained.code, 0, "{trained:?}");
    let decisions = bench.run("predict houses.csv m --decision -q").out;
    let only: String =
        decisions.lines().skip(1).filter_map(|line| line.split(',').nth(1)).fold(String::new(), |all, one| all + one + "\n");
    for more in ["", "--background houses.csv"] {
        let document = bench.json(&format!("explain m houses.csv {more}"));
        check_sums(&document, &only);
        assert_eq!(document["columns"], serde_json::json!(["area", "town", "age"]));
    }
    let said = bench.run("explain m houses.csv --id id -o why.csv");
    assert!(said.code == 0 && said.out.contains(" town ") && said.out.contains("speak for class yes"), "{said:?}");
    let table = bench.read("why.csv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("row,id,base,decision,area,town,age"));
    assert!(lines.next().is_some_and(|line| line.starts_with("1,h0,")) && table.lines().count() == 41, "{table}");
    let one = bench.run("explain m houses.csv --row 2");
    assert!(one.out.contains(" contribution ") && one.out.contains("decision value  "), "{one:?}");
    let tabs = bench.run("explain m houses.csv --interactions --row 7 -o why.tsv -q");
    assert_eq!(tabs.code, 0, "{tabs:?}");
    let table = bench.read("why.tsv");
    assert!(table.starts_with("row\tbase\tdecision\tarea\ttown\tage\tarea:town\tarea:age\ttown:age\n7\t"), "{table}");
    assert_eq!(table.lines().count(), 2);
}

#[test]
fn every_machine_has_its_lines() {
    let bench = Bench::new();
    let rows = (0..45).fold(String::new(), |text, i| format!("{text}{} 1:{} 2:{}\n", i % 3, i % 3 * 2 + i % 4, i % 7));
    bench.file("three", rows);
    for (scheme, names) in [("one-vs-one", ["0_1", "0_2", "1_2"]), ("one-vs-rest", ["0", "1", "2"])] {
        assert_eq!(bench.run(&format!("train three --classes {scheme} -g 0.2 -c 3 -o m -q")).code, 0);
        check_sums(&bench.json("explain m three"), &bench.run("predict three m --decision -q").out);
        assert_eq!(bench.run("explain m three -o why.csv --row 2 -q").code, 0);
        let table = bench.read("why.csv");
        let machines: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(machines, names, "{table}");
    }
}

#[test]
fn pictures_show_all_rows_or_one() {
    let bench = trained();
    assert_eq!(bench.run("explain m small --plot all.svg -q").code, 0);
    let all = bench.read("all.svg");
    assert!(all.contains("12 rows") && all.contains(">feature 2<") && !all.contains("class=\"f1\""), "{all}");
    assert_eq!(bench.run("explain m small --row 3 --plot one.svg -q").code, 0);
    let one = bench.read("one.svg");
    for text in ["Row 3: ", ">feature 1 = -1<", ">for class 1<", ">for class -1<", ">from base "] {
        assert!(one.contains(text), "{text}: {one}");
    }
    bench.file("houses.csv", houses());
    assert_eq!(bench.run("train houses.csv --drop id --impute mean -o h -q").code, 0);
    assert_eq!(bench.run("explain h houses.csv --row 6 --plot house.svg -q").code, 0);
    let house = bench.read("house.svg");
    for text in [">area = 65<", ">town = west<", ">age = missing<"] {
        assert!(house.contains(text), "{text}: {house}");
    }
}

#[test]
fn what_cannot_be_explained_is_refused_by_name() {
    let bench = trained();
    assert_eq!(bench.run("train small --kernel sigmoid -g 0.1 -o s -q").code, 0);
    assert_eq!(bench.run("train small --kernel poly -d 60 -g 0.1 -r 1 -o p -q").code, 0);
    bench.file("wide", "1 1:1 2:1 3:4\n");
    bench.file("empty", "");
    bench.file("kernel", "1 0:1 1:2 2:1\n-1 0:2 1:1 2:2\n");
    assert_eq!(bench.run("train kernel --kernel precomputed -o k -q").code, 0);
    for (line, code, words) in [
        (
            "s small",
            1,
            "error: s: exact Shapley values exist here for linear, rbf and polynomial kernels; this model has a sigmoid kernel\n",
        ),
        ("p small", 1, "error: p: a polynomial kernel of degree 60: exact Shapley values are computed up to degree "),
        ("k kernel", 1, "this model has a precomputed kernel"),
        ("m small --background wide", 1, "error: wide: the background set has 3 features, the model has 2"),
        ("m small --background empty", 1, "error: empty: "),
        ("m empty", 1, "error: empty: "),
        ("m small --row 13", 2, "error: --row 13: small has the rows 1 to 12\n"),
        ("m small --row 0", 2, "it must be a whole number of at least 1"),
        ("small m", 1, "error: small"),
        ("m m", 1, "verify and explain MODEL DATA"),
        ("m small --json -o -", 2, "both write to standard output"),
        ("m small -o m", 1, "this command reads the file that it would overwrite"),
    ] {
        let said = bench.run(&format!("explain {line}"));
        assert!(said.code == code && said.out.is_empty() && said.err.contains(words), "{line}: {said:?}");
    }
    bench.file("houses.csv", houses());
    bench.file("whole.csv", houses().replace(",,", ",3,"));
    assert_eq!(bench.run("train whole.csv --drop id -o h -q").code, 0);
    let gaps = bench.run("explain h houses.csv");
    assert!(gaps.code == 1 && gaps.err.contains("age") && gaps.err.contains("missing"), "{gaps:?}");
    let gaps = bench.run("explain h whole.csv --background houses.csv");
    assert!(gaps.code == 1 && gaps.err.contains("error: houses.csv:7: column age"), "{gaps:?}");
}

/// The same bits with any number of threads.
#[test]
fn contributions_do_not_depend_on_threads() {
    let bench = trained();
    for threads in [1, 3] {
        let line = format!("explain m small --background small --interactions --threads {threads} -o why{threads}.csv -q");
        assert_eq!(bench.run(&line).code, 0);
    }
    assert_eq!(bench.read("why1.csv"), bench.read("why3.csv"));
}
