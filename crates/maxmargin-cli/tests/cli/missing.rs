//! Folds whose training sets lack a class: they go on without it, its rows count as errors, and a
//! warning says so once.

use crate::common::Bench;
use serde_json::Value;

/// Twenty rows of `a` near 0, twenty of `b` near 10, and one of `c` at 2, which comes last.
fn table() -> String {
    let row = |i: usize| {
        let (class, x) = if i.is_multiple_of(2) { ("a", 0.0) } else { ("b", 10.0) };
        format!("{},{},{class}\n", x + i as f64 / 40.0, i % 3)
    };
    format!("x,h,kind\n{}2.25,1,c\n", (0..40).map(row).collect::<String>())
}

fn at<'v>(document: &'v Value, path: &str) -> &'v Value {
    document.pointer(path).unwrap_or_else(|| panic!("no {path} in {document}"))
}

fn warnings(document: &Value) -> Vec<&str> {
    at(document, "/warnings").as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Scores of 41 rows of which the last is said to be `a`.
fn is_right_but_for_one(found: &Value, k: u64) {
    assert_eq!((at(found, "/correct"), at(found, "/samples_counted")), (&40.into(), &41.into()), "{found}");
    assert_eq!(at(found, "/folds_counted").as_u64(), Some(k));
    let near = |path: &str, expected: f64| {
        let value = at(found, path).as_f64().unwrap();
        assert!((value - expected).abs() < 1e-12, "{path}: {value}, not {expected}");
    };
    near("/scores/accuracy", 40.0 / 41.0);
    near("/scores/balanced_accuracy", 2.0 / 3.0);
    // By class: 2·20/(21 + 20), 1 and 0.
    near("/scores/f1_macro", (40.0 / 41.0 + 1.0) / 3.0);
    assert_eq!(at(found, "/confusion"), &serde_json::json!([[20, 0, 0], [0, 20, 0], [1, 0, 0]]));
    let lacking: Vec<&Value> =
        at(found, "/folds").as_array().unwrap().iter().filter(|fold| fold["missing_classes"] != serde_json::json!([])).collect();
    assert_eq!((lacking.len(), &lacking[0]["missing_classes"]), (1, &serde_json::json!([2.0])));
    let fold = at(lacking[0], "/fold");
    let said = format!(
        "class c has no row in the training set of fold {fold}: this fold cannot predict it, and its rows there count as errors; "
    );
    assert_eq!(warnings(found).iter().filter(|text| text.starts_with(&said)).count(), 1, "{found}");
}

#[test]
fn a_class_of_one_row_is_an_error_of_one_row() {
    let bench = Bench::new();
    bench.file("rows.csv", table());
    let cases = [
        ("cv rows.csv --target kind -k 5", 5),
        ("cv rows.csv --target kind -k 5 --folds shuffled", 5),
        ("cv rows.csv --target kind -k 5 --folds contiguous --seeding cold", 5),
        ("cv rows.csv --target kind -k 5 --classes one-vs-rest", 5),
        ("cv rows.csv --target kind -k 5 --kernel linear -c 0.1", 5),
        ("cv rows.csv --target kind -k 5 --weight balanced", 5),
        ("cv rows.csv --target kind -k 5 --weight c=2", 5),
        ("cv rows.csv --target kind -k 5 --scale standard", 5),
        ("cv rows.csv --target kind -k 5 --classes one-vs-rest --scale standard", 5),
        ("loo rows.csv --target kind", 41),
    ];
    for (command, k) in cases {
        is_right_but_for_one(&bench.json(&format!("{command} -g 0.05")), k);
    }
    let few = bench.json("cv rows.csv --target kind -k 5 -g 0.05");
    assert!(
        warnings(&few).contains(&"class c has 1 row, fewer than the 5 stratified folds: 4 of them have none of it to test"),
        "{few}"
    );
}

#[test]
fn searches_say_once_what_their_folds_lack() {
    let bench = Bench::new();
    bench.file("rows.csv", table());
    for command in [
        "grid rows.csv --target kind -c 1,2,4 -g 0.05 -k 5",
        "grid rows.csv --target kind -c 1 -g 0.05,0.1 -k 5 --fast",
        "search rows.csv --target kind -k 5",
    ] {
        let found = bench.json(command);
        let best = at(&found, "/best/score").as_f64().unwrap();
        assert!((best - 40.0 / 41.0).abs() < 1e-12, "{command}: {best}");
        assert_eq!(
            warnings(&found).iter().filter(|text| text.contains("has no row in the training set")).count(),
            1,
            "{command}"
        );
    }
    let found = bench.json("grid rows.csv --target kind -c 1 -g 0.05 -k 3 --outer 4");
    let outer = at(&found, "/outer");
    assert!((at(outer, "/score").as_f64().unwrap() - 40.0 / 41.0).abs() < 1e-12, "{outer}");
    assert_eq!(warnings(&found).iter().filter(|text| text.contains("training set of outer fold")).count(), 1, "{found}");
}

#[test]
fn where_one_class_is_left_it_is_said() {
    let bench = Bench::new();
    bench.file("rows", "1 1:0\n1 1:0.5\n1 1:1\n1 1:1.5\n2 1:9\n");
    for options in ["", "--scale standard", "--seeding cold", "--kernel linear"] {
        let found = bench.json(&format!("loo rows -g 0.1 {options}"));
        assert_eq!((at(&found, "/correct"), at(&found, "/confusion")), (&4.into(), &serde_json::json!([[4, 0], [1, 0]])));
        assert_eq!((at(&found, "/scores/roc_auc"), at(&found, "/scores/f1")), (&Value::Null, &0.0.into()), "{found}");
        let alone = "fold 4: the training set has one class only, which is predicted for every row";
        assert!(warnings(&found).contains(&alone), "{found}");
    }
    let found = bench.run("cv rows -k 5 --folds stratified");
    assert!(found.code == 1 && found.err.contains("5 stratified folds, and no class has more than 4 samples"), "{found:?}");
}

#[test]
fn probabilities_of_a_class_of_one_row_are_there() {
    let bench = Bench::new();
    bench.file("rows.csv", table());
    let found = bench.json("train rows.csv --target kind -g 0.05 --probability platt -o model");
    assert_eq!((at(&found, "/calibration/missing"), at(&found, "/calibration/folds")), (&Value::Null, &2.into()), "{found}");
    assert_eq!(at(&found, "/calibration/reliability/samples").as_u64(), Some(41));
    assert!(at(&found, "/calibration/reliability/log_loss").as_f64().unwrap() < 0.6, "{found}");
    assert_eq!(warnings(&found).iter().filter(|text| text.contains("of the calibration: its probabilities come")).count(), 1);
    bench.file("two", "1 1:0\n1 1:0.5\n1 1:1\n1 1:1.5\n2 1:9\n");
    let refused = bench.run("train two -g 0.1 --threshold f1 -o other");
    assert!(refused.code == 1 && refused.err.contains("class 2 has one row: a threshold is chosen by rows"), "{refused:?}");
}
