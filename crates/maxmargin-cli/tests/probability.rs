//! Probabilities from the command line: training with them, later calibration, and what prediction writes.

mod common;

use common::{Bench, SMALL};

fn bench() -> Bench {
    let bench = Bench::new();
    // Eight copies of the rows, a little apart.
    let apart = |shift: usize| SMALL.lines().map(move |line| format!("{line} 3:{}\n", 0.1 * shift as f64));
    let rows: String = (1..9).flat_map(apart).collect();
    bench.file("data", rows);
    bench
}

#[test]
fn a_calibrated_model_is_the_one_that_was_trained_so() {
    let bench = bench();
    let trained = bench.json("train data -g 0.5 --probability isotonic -o one");
    assert_eq!(
        (trained["calibration"]["method"].as_str(), trained["calibration"]["folds"].as_u64()),
        (Some("isotonic"), Some(5))
    );
    let bins = trained["calibration"]["reliability"]["bins"].as_array().expect("bins");
    assert_eq!(bins.iter().map(|bin| bin["count"].as_u64().unwrap_or(0)).sum::<u64>(), 96);
    assert!(bench.json("train data -g 0.5 -o two")["calibration"].is_null());
    let later = bench.json("calibrate two data --probability isotonic");
    assert_eq!(later["calibration"]["reliability"], trained["calibration"]["reliability"]);
    assert_eq!(std::fs::read(bench.path("one")).unwrap(), std::fs::read(bench.path("two")).unwrap());
    // It is verified as any other model.
    assert_eq!(bench.run("verify two data").code, 0);
    assert!(bench.run("info two").out.contains("isotonic"));
}

#[test]
fn prediction_writes_labels_and_probabilities_as_libsvm_does() {
    let bench = bench();
    assert_eq!(bench.run("train data -g 0.5 --probability platt -o m -q").code, 0);
    let predicted = bench.json("predict data m --probability -o p");
    assert_eq!((predicted["decide"].as_str(), predicted["calibration"].as_str()), (Some("coupled"), Some("platt")));
    let text = bench.read("p");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("labels -1 1"));
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 96);
    assert!(rows.iter().all(|row| row.len() == 3 && (row[0] > 0.0) == (row[2] >= 0.5) && (row[1] + row[2] - 1.0).abs() < 1e-12));
    let plain = bench.json("predict data m --decide vote -o v");
    assert_eq!(plain["decide"], "vote");
    bench.json("train data -g 0.5 -o plain");
    bench.json("predict data plain -o w");
    assert_eq!(bench.read("v"), bench.read("w"));
    let refused = bench.run("predict data plain --probability -o x");
    assert!(refused.code == 1 && refused.err.contains("calibrate MODEL DATA"), "{}", refused.err);
    bench.json("train data -g 0.5 --probability platt --decide vote -o voting");
    assert_eq!(bench.json("predict data voting")["decide"], "vote");
}

#[test]
fn regression_and_one_class_have_what_they_can() {
    let bench = bench();
    let trained = bench.json("train data -g 0.5 --formulation epsilon-svr --probability platt -o r");
    assert_eq!(trained["calibration"]["method"], "laplace");
    let predicted = bench.json("predict data r --probability -o p");
    assert_eq!(
        (predicted["error_scale"].as_f64(), bench.read("p").lines().count()),
        (trained["calibration"]["scale"].as_f64(), 96)
    );
    bench.json("train data -g 0.5 --formulation one-class --nu 0.3 --probability platt -o c");
    bench.json("predict data c --probability -o p --force");
    assert!(bench.read("p").starts_with("label normal outlier\n"));
}

#[test]
fn calibration_refuses_other_data_and_keeps_the_model_where_there_is_nothing_to_give() {
    let bench = bench();
    bench.json("train data -g 0.5 -o m");
    bench.file("other", bench.read("data").replacen("1:1 ", "1:1.5 ", 1));
    let refused = bench.run("calibrate m other");
    assert!(refused.code == 1 && refused.err.contains("trained on other data"), "{}", refused.err);
    bench.file("three", "1 1:1\n1 1:2\n2 1:-1\n");
    let refused = bench.run("train three --probability platt -o t");
    assert!(refused.code == 1 && refused.err.contains("class 2 has one sample"), "{}", refused.err);
    assert!(!bench.names().contains(&"t".to_owned()));
    bench.file("line", "0 1:1\n0 1:2\n0 1:3\n");
    bench.json("train line --formulation epsilon-svr -o r");
    let before = std::fs::read(bench.path("r")).unwrap();
    let kept = bench.run("calibrate r line");
    assert!(kept.code == 1 && kept.err.contains("all errors are 0"), "{}", kept.err);
    assert_eq!(std::fs::read(bench.path("r")).unwrap(), before);
    let refused = bench.run("train data -g 0.5 --decide vote -o x");
    assert_eq!(refused.code, 2);
    // A model that was updated is another, and has no probabilities.
    bench.json("train data -g 0.5 --updatable --probability platt -o u");
    bench.json("update u --remove 1");
    assert!(bench.run("predict data u --probability -o y").err.contains("no probabilities"));
    // What it keeps is enough to calibrate it again.
    assert_eq!(bench.json("calibrate u")["calibration"]["folds"], 5);
}
