//! `export`: files for programs without maxmargin, what is said of them, and what is refused.

use crate::common::{Bench, SMALL};
use maxmargin_testkit::outside::program;
use std::fmt::Write;
use std::process::Command;

fn trained(options: &str) -> Bench {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run(&format!("train small -c 2 -g 0.5 -o m -q {options}")).code, 0);
    bench
}

#[test]
fn three_files_are_written_and_described() {
    let bench = trained("--probability platt");
    let answer = bench.run("export m --onnx m.onnx --c m.c --json m.json --check small");
    assert_eq!(answer.code, 0, "{answer:?}");
    for line in [
        "m: rbf kernel, 2 classes, ",
        "m.onnx ",
        "f64, ",
        "core operators",
        "X double [N, 2]",
        "label int64 [N]",
        "m.c ",
        "C99, f64",
        "m.json ",
    ] {
        assert!(answer.out.contains(line), "{line} in {}", answer.out);
    }
    let checked = answer.out.lines().find(|line| line.contains("checked")).expect("a line");
    assert!(checked.contains("12 rows of small: all labels equal, decision values within"), "{checked}");
    // The graph keeps this line.
    let onnx = std::fs::read(bench.path("m.onnx")).expect("a file");
    let holds = |text: &str| onnx.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds("maxmargin.checked") && holds("12 rows of small: all labels equal") && holds("MatMul"));
    let json: serde_json::Value = serde_json::from_str(&bench.read("m.json")).expect("JSON");
    assert_eq!((json["outcome"].as_str(), json["rule"].as_str()), (Some("classes"), Some("coupled")));
    assert!(bench.read("m.c").contains("int svm_predict(const double *x)"));
    assert_eq!(bench.run("export m --c - -q").out, bench.read("m.c"));
}

/// A graph in single precision is given up if it could turn the label of a row.
#[test]
fn single_precision_is_written_where_no_label_can_turn() {
    let bench = trained("");
    let answer = bench.run("export m --onnx m.onnx --float32 --check small");
    assert!(
        answer.out.contains("f32, ") && answer.out.contains("12 rows of small: no label can turn, decision values within"),
        "{answer:?}"
    );
    let onnx = std::fs::read(bench.path("m.onnx")).expect("a file");
    assert!(onnx.windows(12).any(|part| part == b"SVMRegressor"));
    // A linear machine through 0 has the bias 0, and an empty row has the decision value 0.
    bench.file("line", "1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n");
    assert_eq!(bench.run("train line --kernel linear -c 1 -o line.model -q").code, 0);
    bench.file("border", "1 1:0\n1 1:3\n");
    let answer = bench.run("export line.model --onnx line.onnx --float32 --check border");
    assert!(answer.out.contains("f64 because f32 could turn 1 of 2 labels; 2 rows of border: all labels equal"), "{answer:?}");
}

/// The intervals of the graph, by its interpreter, and of C are those of `predict --intervals`.
#[test]
fn intervals_are_those_of_the_model() {
    let bench = Bench::new();
    let mut text = String::new();
    for i in 0..120_u32 {
        let (x, noise) = (f64::from(i * 37 % 101) / 25.0, f64::from(i * 7919 % 101) / 101.0);
        writeln!(text, "{} 1:{x} 2:{noise}", 2.0 * x + noise * x).expect("memory");
    }
    bench.file("values", text);
    for (name, options) in [
        ("cv", "--formulation epsilon-svr -c 10 -g 0.5 -k 6 --scale standard"),
        ("quantiles", "--formulation quantile --tau 0.5 --kernel linear -c 1 -k 4"),
        ("one", "--formulation epsilon-svr --kernel linear -c 10 --loo"),
    ] {
        assert_eq!(bench.run(&format!("train values {options} --conformal 0.1 -o m -q")).code, 0, "{name}");
        let answer = bench.run("export m --onnx m.onnx --c m.c --check values --force");
        assert_eq!(answer.code, 0, "{name}: {answer:?}");
        let checked = answer.out.lines().find(|line| line.contains("checked")).expect("a line");
        let within = checked.split("intervals within ").nth(1).map_or("0", str::trim);
        assert!(within.parse::<f64>().expect("a number") < 1e-12, "{name}: {checked}");
        assert_eq!(bench.run("predict values m --intervals -o p -q --force").code, 0);
        check_c(&bench, name);
    }
    let answer = bench.run("export m --json m.json --alpha 0.001");
    assert_eq!(answer.code, 0, "{answer:?}");
    let json: serde_json::Value = serde_json::from_str(&bench.read("m.json")).expect("JSON");
    assert_eq!(json["intervals"]["rank"], 0);
}

fn check_c(bench: &Bench, name: &str) {
    let Some(gcc) = program("gcc") else { return };
    let main = "#include <stdio.h>\n#include \"m.c\"\nint main(void) { double y, x[2], b[2]; \
                while (scanf(\"%lf 1:%lf 2:%lf\", &y, x, x + 1) == 3) { svm_interval(x, b); \
                printf(\"%.17g %.17g %.17g\\n\", svm_predict(x), b[0], b[1]); } return 0; }\n";
    bench.file("main.c", main);
    let built = Command::new(gcc).current_dir(bench.folder()).args(["-std=c99", "-O1", "main.c", "-o", "main", "-lm"]).output();
    assert!(built.as_ref().is_ok_and(|built| built.status.success()), "{built:?}");
    let rows = std::fs::File::open(bench.path("values")).expect("a file");
    let output = Command::new(bench.path("main")).stdin(rows).output().expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("text");
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().expect("a number")).collect::<Vec<f64>>();
    let predicted = bench.read("p");
    let expected: Vec<Vec<f64>> = predicted.lines().skip(1).map(numbers).collect();
    let found: Vec<Vec<f64>> = printed.lines().map(numbers).collect();
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{name}: {found} {expected}");
    }
}

#[test]
fn a_table_keeps_its_columns() {
    let bench = Bench::new();
    let mut text = String::from("id,area,town,age,sold\n");
    for i in 0..40_u32 {
        let town = ["north", "south", "west"][(i % 3) as usize];
        let age = if i % 11 == 5 { String::new() } else { (i % 7).to_string() };
        let sold = if (i % 3 == 0) ^ (i % 5 < 2) { "yes" } else { "no" };
        writeln!(text, "h{i},{},{town},{age},{sold}", 50 + 3 * (i % 13)).expect("memory");
    }
    bench.file("houses.csv", text);
    let train = "train houses.csv --drop id --impute median --scale standard -g 0.2 -o m -q";
    assert_eq!(bench.run(train).code, 0);
    let answer = bench.run("export m --onnx m.onnx --c m.c --check houses.csv");
    assert!(answer.out.contains("area double [N, 1], town string [N, 1], age double [N, 1]"), "{answer:?}");
    assert!(
        answer.out.contains("label string [N]") && answer.out.contains("40 rows of houses.csv: all labels equal"),
        "{answer:?}"
    );
    assert!(bench.read("m.c").contains("x[1]: \"town\": 0 \"north\", 1 \"south\", 2 \"west\""));
}

#[test]
fn what_cannot_be_exported_is_said() {
    let bench = trained("--conformal 0.2 -k 3");
    let answer = bench.run("export m --json m.json -q");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.warnings()[0].contains("left out: sets and p-values"), "{answer:?}");
    let refused = |line: &str, code: i32, what: &str| {
        let answer = bench.run(line);
        assert!(answer.code == code && answer.err.contains(what), "{line}: {answer:?}");
    };
    refused("export m", 2, "required");
    refused("export m --c m.c --check small", 2, "--onnx");
    refused("export m --c m.c --prefix 1x", 2, "cannot begin names in C");
    refused("export m --json m.json --alpha 0.1", 2, "the model has no intervals");
    refused("export m --c - --json -", 2, "two outputs go to standard output");
    refused("export m --onnx m", 1, "this command reads the file that it would overwrite");
    refused("export m --onnx small --check small", 1, "reads the file that it would overwrite");
    bench.file("matrix", "1 0:1 1:2 2:0\n-1 0:2 1:0 2:2\n");
    assert_eq!(bench.run("train matrix --kernel precomputed -o p -q").code, 0);
    refused("export p --onnx p.onnx", 1, "a precomputed kernel, whose values are not computed from features");
    assert!(!bench.names().contains(&"p.onnx".to_owned()) && !bench.names().contains(&"m.c".to_owned()));
}
