//! Probabilities and thresholds from the command line: training with them, later calibration, and
//! what prediction writes.

use crate::common::{Bench, SMALL};

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
    assert_eq!((predicted["decision_rule"].as_str(), predicted["calibration"].as_str()), (Some("coupled"), Some("platt")));
    let text = bench.read("p");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("labels -1 1"));
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 96);
    assert!(rows.iter().all(|row| row.len() == 3 && (row[0] > 0.0) == (row[2] >= 0.5) && (row[1] + row[2] - 1.0).abs() < 1e-12));
    let plain = bench.json("predict data m --decide vote -o v");
    assert_eq!(plain["decision_rule"], "vote");
    bench.json("train data -g 0.5 -o plain");
    bench.json("predict data plain -o w");
    assert_eq!(bench.read("v"), bench.read("w"));
    let refused = bench.run("predict data plain --probability -o x");
    assert!(refused.code == 1 && refused.err.contains("calibrate MODEL DATA"), "{}", refused.err);
    bench.json("train data -g 0.5 --probability platt --decide vote -o voting");
    assert_eq!(bench.json("predict data voting")["decision_rule"], "vote");
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
    let refused = bench.run("train three --threshold f1 -o t");
    assert!(refused.code == 1 && refused.err.contains("class 2 has one row"), "{}", refused.err);
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

/// Rows of which one in nine is of the rare class.
fn unbalanced(bench: &Bench) {
    let data = bench.read("data");
    let kept = data.split_inclusive('\n').enumerate().filter(|(i, line)| !line.starts_with('1') || i.is_multiple_of(4));
    bench.file("rare", kept.map(|(_, line)| line).collect::<String>());
}

#[test]
fn a_threshold_is_kept_by_the_model_and_told() {
    let bench = bench();
    unbalanced(&bench);
    let plain = bench.json("train rare -g 0.5 -c 0.1 -o plain");
    assert!(plain["threshold"].is_null());
    let moved = bench.json("train rare -g 0.5 -c 0.1 --threshold balanced_accuracy -o moved");
    let report = &moved["threshold"];
    let score = |key: &str| report[key].as_f64().expect("a score");
    assert_eq!((report["metric"].as_str(), report["folds"].as_u64()), (Some("balanced_accuracy"), Some(5)));
    assert!(score("after") >= score("before") && score("after") >= score("cross_fitted"), "{report}");
    let described = include_str!("../../../../docs/json.md");
    for key in report.as_object().expect("an object").keys() {
        assert!(described.contains(&format!("`{key}`")), "{key} is not in docs/json.md");
    }
    let value = score("value");
    let predicted = bench.json("predict rare moved -o labels");
    assert_eq!((predicted["decision_rule"].as_str(), predicted["threshold"].as_f64()), (Some("threshold"), Some(value)));
    // What is written are the machine's values, with nothing subtracted.
    bench.json("predict rare moved --decision -o values");
    bench.json("predict rare plain --decision -o of-plain");
    assert_eq!(bench.read("values"), bench.read("of-plain"));
    let decisions: Vec<f64> = bench.read("values").lines().map(|line| line.parse().unwrap()).collect();
    let expected: String = decisions.iter().map(|f| if *f >= value { "1\n" } else { "-1\n" }).collect();
    assert_eq!(bench.read("labels"), expected);
    // It can be left aside, and given later.
    let voting = bench.json("predict rare moved --decide vote -o votes");
    bench.json("predict rare plain -o plainly");
    assert_eq!((voting["decision_rule"].as_str(), voting["threshold"].is_null()), (Some("vote"), true));
    assert_eq!(bench.read("votes"), bench.read("plainly"));
    let later = bench.json("calibrate plain rare --threshold balanced-accuracy");
    assert_eq!((later["threshold"]["value"].as_f64(), later["calibration"].is_null()), (Some(value), true));
    assert_eq!(std::fs::read(bench.path("plain")).unwrap(), std::fs::read(bench.path("moved")).unwrap());
    assert_eq!(bench.run("verify moved rare").code, 0);
    assert_eq!(bench.json("info moved")["threshold"].as_f64(), Some(value));
    let told = bench.run("train rare -g 0.5 -c 0.1 --threshold f1 -o told -q");
    assert!(told.out.contains(" threshold ") && told.out.contains("on held-out samples"), "{}", told.out);
    assert!(bench.run("info told").out.contains(" threshold "));
    assert!(bench.run("predict rare told").err.contains("labels by the model's threshold: class 1 from decision value"));
}

#[test]
fn labels_are_those_of_the_threshold_beside_probabilities() {
    let bench = bench();
    unbalanced(&bench);
    let both = bench.json("train rare -g 0.5 -c 0.1 --threshold f1 --probability platt -o both");
    assert_eq!(both["threshold"]["iterations"], both["calibration"]["iterations"]);
    assert_eq!(bench.json("predict rare both --probability -o p")["decision_rule"], "threshold");
    assert_eq!(bench.json("predict rare both --decide coupled")["decision_rule"], "coupled");
    bench.json("train rare -g 0.5 -c 0.1 --threshold f1 -o moved");
    bench.json("predict rare moved -o labels");
    let (of_p, labels) = (bench.read("p"), bench.read("labels"));
    let of_p = of_p.lines().skip(1).map(|line| line.split(' ').next().unwrap());
    assert!(of_p.eq(labels.lines()));
    // Probabilities that are given later leave the threshold what it is.
    bench.json("calibrate moved rare");
    assert_eq!(std::fs::read(bench.path("moved")).unwrap(), std::fs::read(bench.path("both")).unwrap());
}

#[test]
fn a_threshold_is_refused_where_there_is_no_place_for_it() {
    let bench = bench();
    unbalanced(&bench);
    bench.json("train rare -g 0.5 -c 0.1 --threshold f1 -o moved --updatable");
    let refused = bench.run("convert moved text --format libsvm");
    assert!(refused.code == 1 && refused.err.contains("decides by a threshold of its own"), "{}", refused.err);
    bench.json("train rare --kernel linear --threshold f1 -o line");
    let refused = bench.run("convert line text --format liblinear");
    assert!(refused.code == 1 && refused.err.contains("decides by a threshold of its own"), "{}", refused.err);
    let updated = bench.run("update moved --remove 1 -o after");
    assert!(updated.code == 0 && updated.warnings().iter().any(|line| line.contains("keeps the threshold 0")), "{}", updated.err);
    assert_eq!(bench.json("predict rare after")["decision_rule"], "vote");
    for (options, code, what) in [
        ("--threshold recall", 2, "balanced_accuracy"),
        ("--threshold roc_auc", 2, "balanced_accuracy"),
        ("--formulation epsilon-svr --threshold f1", 1, "two classes"),
        ("--decide threshold", 2, "--probability"),
        ("--probability platt --decide threshold", 1, "has none"),
    ] {
        let refused = bench.run(&format!("train rare -g 0.5 {options} -o x"));
        assert!(refused.code == code && refused.err.contains(what), "{options}: {refused:?}");
    }
    bench.file("three", "1 1:1\n1 1:2\n2 1:-1\n2 1:-2\n3 1:5\n3 1:6\n");
    let refused = bench.run("grid three -k 2 -c 1 -g 1 --threshold f1 -o x");
    assert!(refused.code == 1 && refused.err.contains("two classes, and the data has 3"), "{refused:?}");
    assert!(!bench.names().contains(&"x".to_owned()));
    let refused = bench.run("grid rare -k 2 -c 1 -g 1 --threshold f1");
    assert!(refused.code == 2 && refused.err.contains("with -o"), "{refused:?}");
}

#[test]
fn searches_give_their_model_a_threshold() {
    let bench = bench();
    unbalanced(&bench);
    let found = bench.json("grid rare -k 3 -c 0.1 -g 0.5 --threshold balanced_accuracy -o best");
    bench.json("train rare -g 0.5 -c 0.1 --threshold balanced_accuracy -o alone");
    assert_eq!(found["refit"]["threshold"]["value"], bench.json("info alone")["threshold"]);
    assert_eq!(bench.json("info best")["threshold"], bench.json("info alone")["threshold"]);
    assert!(bench.json("search rare -k 3 --threshold f1 -o wide")["refit"]["threshold"]["after"].is_number());
}

/// `verify` has no machines of folds, and says so.
#[test]
fn verify_names_what_it_cannot_check() {
    let bench = Bench::new();
    for (option, what) in [("--probability platt", "probabilities"), ("--threshold f1", "threshold")] {
        assert_eq!(bench.run(&format!("train banana --rows 80 -g 1 {option} -o m --force -q")).code, 0);
        let answer = bench.run("verify m banana --rows 80");
        assert!(answer.code == 0 && answer.out.contains(&format!("; not checked: {what}")), "{answer:?}");
    }
    assert_eq!(bench.run("train banana --rows 80 -g 1 -o m --force -q").code, 0);
    assert!(!bench.run("verify m banana --rows 80").out.contains("not checked"));
}
