//! cv and loo: documents, folds, seeds, scaling, limits, Ctrl-C.

use crate::common::{Answer, Bench, SMALL};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Lines `0 … count − 1` of a file.
fn lines_of(count: usize, line: impl Fn(usize) -> String) -> String {
    let lines: Vec<String> = (0..count).map(line).collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_document_has_its_fields() {
    let bench = Bench::new();
    let d = bench.json("cv two-gaussians --rows 200 -k 5 -c 3 -g 0.25");
    let data = &d["data"];
    assert_eq!((&data["rows"], &data["features"]), (&200.into(), &2.into()));
    assert_eq!(data["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(data["classes"][0]["label"], -1.0);
    assert_eq!((&d["kernel"]["type"], &d["kernel"]["gamma"], &d["formulation"]["c"]), (&"rbf".into(), &0.25.into(), &3.0.into()));
    let folds = d["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 5);
    for (at, fold) in folds.iter().enumerate() {
        assert_eq!((&fold["fold"], &fold["train"], &fold["test"]), (&at.into(), &160.into(), &40.into()));
        assert_eq!(fold["status"], "converged");
        for field in ["iterations", "rows_computed", "seed_seconds", "solve_seconds", "correct", "objective"] {
            assert!(fold[field].is_number(), "{field} in {fold}");
        }
        for field in ["primal", "dual", "relative_gap", "kkt"] {
            assert!(fold["certificate"][field].is_number(), "{field} in {fold}");
        }
        assert!(fold["certificate"]["kkt"].as_f64().unwrap() <= 1e-3);
    }
    for field in ["accuracy", "iterations", "kernel_seconds", "total_seconds", "peak_rss_bytes", "threads"] {
        assert!(d[field].is_number(), "{field}");
    }
    assert!(d["version"].is_string());
    assert_eq!(d["warnings"], Value::Array(vec![]));
}

#[test]
fn every_seed_gives_the_same_answer_and_threads_the_same_bits() {
    let bench = Bench::new();
    let line = "cv gauss-m --rows 300 -k 6 -c 10 -g 0.5 --eps 1e-6";
    let reference = bench.json(&format!("{line} --seeding cold --threads 1 -o cold"));
    for seeding in ["avg", "top", "sir", "mir", "full"] {
        let other = bench.json(&format!("{line} --seeding {seeding} --threads 2 -o two"));
        let again = bench.json(&format!("{line} --seeding {seeding} --threads 1 -o one"));
        assert_eq!(bench.read("one"), bench.read("two"), "{seeding}");
        for (a, b) in other["folds"].as_array().unwrap().iter().zip(again["folds"].as_array().unwrap()) {
            assert_eq!((&a["iterations"], &a["objective"]), (&b["iterations"], &b["objective"]), "{seeding}");
        }
        for (a, b) in reference["folds"].as_array().unwrap().iter().zip(other["folds"].as_array().unwrap()) {
            let [a, b] = [a, b].map(|f| f["objective"].as_f64().unwrap());
            assert!((a - b).abs() <= 1e-6 * a.abs(), "{seeding}: {a} {b}");
        }
        assert_eq!(reference["correct"], other["correct"], "{seeding}");
    }
}

#[test]
fn folds_are_written_and_read() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let first = bench.json("cv small -k 3 --seed 5 --write-folds folds -o a");
    let folds = bench.read("folds");
    assert_eq!(folds.lines().count(), 12);
    let second = bench.json("cv small --folds folds -o b");
    assert_eq!(first["folds"].as_array().unwrap().len(), second["folds"].as_array().unwrap().len());
    assert_eq!(bench.read("a"), bench.read("b"));
    let rows = bench.read("a");
    let correct = rows.lines().filter(|l| l.split(' ').next() == l.split(' ').nth(1)).count();
    assert_eq!(first["correct"], correct);
    bench.file("grouped", SMALL.replace("1 1:", "1 qid:1 1:").replacen("qid:1", "qid:2", 5));
    let grouped = bench.json("cv grouped --folds groups -k 2");
    assert_eq!(grouped["fold_plan"], "groups");
    let groups = [1, 1, 2, 1, 3, 2, 2, 3, 3, 4, 4, 4];
    let line = |(line, group): (&str, &u32)| line.replacen(' ', &format!(" qid:{group} "), 1) + "\n";
    bench.file("four", SMALL.lines().zip(&groups).map(line).collect::<String>());
    let left = bench.json("cv four --folds leave-one-group-out --write-folds left");
    assert_eq!((left["fold_plan"].as_str(), left["k"].as_u64()), (Some("leave-one-group-out"), Some(4)));
    let expected = lines_of(12, |i| (groups[i] - 1).to_string());
    assert_eq!(bench.read("left"), expected);
    assert_eq!(bench.json("cv four --folds stratified-groups -k 2")["fold_plan"], "stratified-groups");
    let refused = bench.run("cv four --folds stratified-groups -k 2 --formulation epsilon-svr");
    assert!(refused.code == 2 && refused.err.contains("stratified-groups: there are no classes"), "{}", refused.err);
    assert!(bench.run("cv small --folds leave-one-group-out").err.contains("no row has a group"));
}

#[test]
fn time_series_train_on_what_came_before() {
    let bench = Bench::new();
    assert_eq!(bench.run("scale two-gaussians --rows 120 --seed 3 -o data -q").code, 0);
    let d = bench.json("cv data --folds expanding -k 4 --fold-gap 2 -o all --write-folds folds --eps 1e-6");
    let sizes = |d: &Value| -> Vec<(u64, u64)> {
        let of = |fold: &Value| (fold["train"].as_u64().unwrap(), fold["test"].as_u64().unwrap());
        d["folds"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(sizes(&d), [(22, 24), (46, 24), (70, 24), (94, 24)]);
    assert_eq!(
        (&d["samples_tested"], &d["samples_counted"], &d["rounds"], &d["fold_plan"]),
        (&96.into(), &96.into(), &1.into(), &"expanding".into())
    );
    assert_eq!(bench.read("all").lines().filter(|line| line.ends_with("NaN") || line.ends_with("nan")).count(), 24);
    // A training of the rows of the last fold says the same.
    let (text, all) = (bench.read("data"), bench.read("all"));
    let lines: Vec<&str> = text.lines().collect();
    bench.file("train", lines[..94].join("\n") + "\n");
    bench.file("test", lines[96..].join("\n") + "\n");
    assert_eq!(bench.run("train train -o m -q --eps 1e-6 -g 0.5").code, 0);
    assert_eq!(bench.run("predict test m --decision -o values -q").code, 0);
    let wide = bench.json("cv data --folds folds -g 0.5 -o again --eps 1e-6 --seeding cold");
    assert_eq!(sizes(&wide), sizes(&d));
    for (value, line) in bench.read("values").lines().zip(bench.read("again").lines().skip(96)) {
        let [a, b] = [value, line.split(' ').nth(2).unwrap()].map(|text| text.parse::<f64>().unwrap());
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    assert_eq!(all.lines().count(), 120);
    let text = bench.run("cv data --folds sliding -k 4");
    assert!(text.out.contains("4 sliding folds") && text.out.contains("24 rows are in no test set"), "{}", text.out);
    assert_eq!(sizes(&bench.json("cv data --folds sliding -k 4 --window 30")), [(24, 24), (30, 24), (30, 24), (30, 24)]);
    for (line, what) in [
        ("cv data --fold-gap 3", "--fold-gap: it is for time series"),
        ("cv data --folds expanding --window 9", "--window: it is for --folds sliding"),
        ("cv data --folds groups --repeat 2", "--repeat: it is for stratified and shuffled folds"),
    ] {
        let refused = bench.run(line);
        assert!(refused.code == 2 && refused.err.contains(what), "{}", refused.err);
    }
    assert!(bench.run("cv data --folds expanding -k 4 --fold-gap 24").err.contains("a gap of 24 samples"));
}

#[test]
fn repeats_are_cross_validations_by_other_seeds() {
    let bench = Bench::new();
    let line = "cv two-gaussians --rows 90 -k 3 --eps 1e-6";
    let d = bench.json(&format!("{line} --seed 5 --repeat 3 -o all --write-folds folds"));
    assert_eq!(
        (&d["rounds"], &d["k"], &d["samples_counted"], &d["samples_tested"]),
        (&3.into(), &9.into(), &270.into(), &90.into())
    );
    let rounds: Vec<u64> = d["folds"].as_array().unwrap().iter().map(|fold| fold["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    let spread = &d["spread"]["accuracy"];
    let scores: Vec<f64> =
        d["folds"].as_array().unwrap().iter().map(|fold| fold["scores"]["accuracy"].as_f64().unwrap()).collect();
    let mean = scores.iter().sum::<f64>() / 9.0;
    assert!((spread["mean"].as_f64().unwrap() - mean).abs() < 1e-12 && spread["folds"] == 9, "{spread}");
    let [low, high] = ["low", "high"].map(|end| spread[end].as_f64().unwrap());
    assert!(low < mean && mean < high && high <= 1.0, "{spread}");
    let again = bench.json(&format!("{line} --seed 5 --folds folds -o again"));
    assert_eq!((&again["rounds"], &again["correct"]), (&d["rounds"], &d["correct"]));
    assert_eq!(bench.read("all"), bench.read("again"));
    let rows = bench.read("all");
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows.len(), 270);
    let correct = rows.iter().filter(|l| l.split(' ').next() == l.split(' ').nth(1)).count();
    assert_eq!(d["correct"], correct);
    assert!(bench.run(&format!("{line} --repeat 0")).code == 2);
    let text = bench.run(&format!("{line} --repeat 2"));
    assert!(text.out.contains("6 stratified folds in 2 rounds") && text.out.contains("95 % interval"), "{}", text.out);
}

#[test]
fn a_scaling_is_fitted_to_training_rows() {
    let bench = Bench::new();
    // Row 1 alone stretches feature 1: with it in the test fold the training rows scale
    // differently.
    let mut text = SMALL.replacen("1 1:1 ", "1 1:64 ", 1);
    text += &SMALL.replace("0.5", "0.375");
    bench.file("data", &text);
    let folds = lines_of(24, |i| (i % 2).to_string());
    bench.file("folds", folds);
    let d = bench.json("cv data --folds folds --scale minmax --kernel linear -o out");
    assert_eq!(d["folds"].as_array().unwrap().len(), 2);
    // Fold 0 by hand: scale and train on the odd rows, predict the even ones.
    let lines: Vec<&str> = text.lines().collect();
    let part = |odd: usize| lines_of(12, |i| lines[2 * i + odd].to_owned());
    bench.file("train", part(1));
    bench.file("test", part(0));
    assert_eq!(bench.run("train train --scale minmax --kernel linear -o m -q").code, 0);
    assert_eq!(bench.run("predict test m --decision -o values -q").code, 0);
    let by_hand: Vec<f64> = bench.read("values").lines().map(|l| l.parse().unwrap()).collect();
    let by_cv: Vec<f64> = bench.read("out").lines().step_by(2).map(|l| l.split(' ').nth(2).unwrap().parse().unwrap()).collect();
    for (a, b) in by_hand.iter().zip(&by_cv) {
        assert!((a - b).abs() < 0.01 * a.abs().max(1.0), "{by_hand:?} {by_cv:?}");
    }
    // Where all training sets scale alike the engine shares one kernel, and says nothing of folds
    // that start cold.
    let shared = bench.run("cv gauss-m --rows 400 -k 4 --scale minmax --json -q");
    assert_eq!(shared.code, 0);
}

#[test]
fn leave_one_out_is_the_cross_validation_with_one_fold_a_row() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let singles = lines_of(12, |i| i.to_string());
    bench.file("folds", singles);
    let loo = bench.json("loo small -c 4 --eps 1e-6 -o a");
    let cv = bench.json("cv small -c 4 --eps 1e-6 --folds folds --seeding cold -o b");
    assert_eq!((&loo["k"], &loo["correct"]), (&12.into(), &cv["correct"]));
    for (a, b) in bench.read("a").lines().zip(bench.read("b").lines()) {
        let [a, b] = [a, b].map(|l| l.split(' ').nth(2).unwrap().parse::<f64>().unwrap());
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn bad_scales_are_warned_of_with_numbers() {
    let bench = Bench::new();
    let far = lines_of(40, |i| format!("{} 1:{} 2:{} 3:{} 4:1", i % 2, i * 50, (i * 7) % 40, i % 3));
    bench.file("far", far);
    let answer = bench.run("cv far -k 4 -g 1 --json");
    assert_eq!(answer.code, 0, "{answer:?}");
    let said = answer.warnings().join("\n");
    assert!(said.contains("feature 1 spans 0 to 1950"), "{said}");
    assert!(said.contains("numerically the identity"), "{said}");
    assert_eq!(answer.json()["warnings"].as_array().unwrap().len(), answer.warnings().len());
    let rare = lines_of(500, |i| format!("{} 1:{}", i32::from(i % 250 == 0), i as f64 / 500.0));
    bench.file("rare", rare);
    let answer = bench.run("train rare -o m");
    assert!(answer.warnings()[0].contains("class 1 has only 2 of 500 rows (0.40 %)"), "{answer:?}");
}

#[test]
fn limits_stop_with_exit_code_3_and_a_report() {
    let bench = Bench::new();
    let answer = bench.run("cv gauss-m --rows 300 -k 3 -c 100 --max-iter 5 --json");
    assert_eq!(answer.code, 3, "{answer:?}");
    let d = answer.json();
    assert_eq!(d["status"], "iteration_limit");
    let said = d["warnings"].to_string();
    assert!(said.contains("3 of 3 folds did not converge") && said.contains("--max-iter 50"), "{said}");
}

#[test]
fn reports_are_readable() {
    let bench = Bench::new();
    let answer = bench.run("cv banana --rows 120 -k 3 -c 2 --threads 1");
    assert_eq!(answer.code, 0, "{answer:?}");
    for says in [
        "banana: 120 rows, 2 features; class -1: 60, class 1: 60",
        "3 stratified folds",
        "all 3 folds optimal within KKT",
        "peak memory",
    ] {
        assert!(answer.out.contains(says), "{says} in\n{}", answer.out);
    }
    assert!(answer.err.contains("banana: 120 rows"), "{}", answer.err);
    assert!(!answer.err.contains('\u{1b}'), "no control sequences off a terminal: {:?}", answer.err);
}

#[test]
fn help_lists_commands_and_exit_codes() {
    let bench = Bench::new();
    let help = bench.run("--help");
    assert_eq!(help.code, 0);
    for word in ["train", "predict", "cv", "loo", "verify", "info", "scale", "Exit codes: 0 success, 1 bad input, 2 bad usage"] {
        assert!(help.out.contains(word), "{word} in\n{}", help.out);
    }
    for command in ["train", "predict", "cv", "loo", "verify", "info", "scale"] {
        let help = bench.run(&format!("{command} --help"));
        assert_eq!(help.code, 0, "{command}");
        assert!(help.out.contains("DATA"), "{command}: {}", help.out);
    }
    assert_eq!(bench.run("").code, 2);
}

/// Starts a long run, waits until it works, sends SIGINT `times` times and takes the answer.
fn interrupted(bench: &Bench, line: &str, times: usize) -> Answer {
    let mut child = bench.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    for _ in 0..times {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "the program ended too early");
        std::thread::sleep(Duration::from_millis(50));
    }
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_mins(1) {
            child.kill().unwrap();
            panic!("Ctrl-C was not heard");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Hard enough for minutes: overlapping classes, enormous C, a tolerance at the edge of the
/// possible.
const LONG: &str = "gauss-m --rows 3000 -c 1e7 -g 1 --eps 1e-9";

#[test]
fn ctrl_c_once_writes_what_is_known() {
    let bench = Bench::new();
    let answer = interrupted(&bench, &format!("train {LONG} -o m --json"), 1);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.json()["status"], "interrupted");
    assert!(answer.err.contains("press Ctrl-C again"), "{answer:?}");
    assert_eq!(bench.json("info m")["training"]["status"], "interrupted");
    let answer = interrupted(&bench, &format!("cv {LONG} -k 3 --json"), 1);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.json()["status"], "interrupted");
}

#[test]
fn ctrl_c_twice_stops_at_once() {
    let bench = Bench::new();
    // Two signals in a row: the second ends the program wherever it is, also just after the model
    // was put in its place. Then the file is whole; what must not stay is a part of one, under
    // whatever name.
    let answer = interrupted(&bench, &format!("train {LONG} -o m --json -q"), 2);
    assert!(answer.code == 130 || answer.code == 3, "{answer:?}");
    match bench.names().as_slice() {
        [] => assert_eq!(answer.code, 130, "{answer:?}"),
        [name] if name == "m" => assert_eq!(bench.json("info m")["training"]["status"], "interrupted"),
        names => panic!("left behind: {names:?}"),
    }
}

/// A grid in which nothing is learnt once called its smallest C the best.
#[test]
fn a_grid_in_which_nothing_beats_the_majority_says_so() {
    let bench = Bench::new();
    // The label has nothing to do with the sample.
    bench.file("noise", lines_of(90, |i| format!("{} 1:{} 2:{}", i32::from(i % 9 != 0) * 2 - 1, (i * 37) % 90, (i * 53) % 90)));
    let answer = bench.run("grid noise -k 3 -c 0.001,0.01 -g 0.001");
    let says = "nothing beats the majority class: always predicting 1 has an accuracy of 88.89 %, the best combination 88.89 %";
    assert!(answer.warnings().iter().any(|warning| warning.contains(says) && warning.contains("--scale minmax")), "{answer:?}");
    assert!(answer.out.contains("best: none beats the majority class (88.89 %)"), "{answer:?}");
    // What is advised can be done, and is not advised again.
    let scaled = bench.run("grid noise -k 3 -c 0.001,0.01 -g 0.001 --scale minmax --json");
    assert_eq!(scaled.code, 0, "{scaled:?}");
    assert!(!scaled.err.contains("--scale") && scaled.err.contains(says), "{scaled:?}");
    let d = scaled.json();
    assert_eq!((d["majority"].as_f64(), d["scale"].as_str()), (Some(80.0 / 90.0), Some("minmax")));
    let learnt = bench.run("grid banana --rows 120 -k 3 -c 1,10 -g 1");
    assert!(learnt.code == 0 && !learnt.err.contains("majority") && learnt.out.contains("best: rbf, C = 1"), "{learnt:?}");
}

/// Folds that were stopped before they had a solution say nothing about accuracy, in text and in
/// JSON.
#[test]
fn stopped_folds_are_not_counted() {
    let bench = Bench::new();
    let line = "cv gauss-m --rows 600 -k 3 -c 1e7 -g 1 --eps 1e-9 --time-limit 1ms -o out";
    let answer = bench.run(line);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.out.contains("none: the run was stopped before any of 3 folds had a solution"), "{answer:?}");
    let d = bench.run(&format!("{line} --json")).json();
    assert_eq!((&d["accuracy"], &d["folds_counted"], &d["samples_counted"]), (&Value::Null, &0.into(), &0.into()));
    assert_eq!(
        (&d["scores"]["accuracy"], &d["folds"][0]["correct"], &d["confusion"][0][0]),
        (&Value::Null, &Value::Null, &0.into())
    );
    assert!(bench.read("out").lines().all(|line| line.ends_with(" NaN NaN")), "{}", bench.read("out"));
    let whole = bench.json("cv gauss-m --rows 60 -k 3");
    assert_eq!((&whole["folds_counted"], &whole["samples_counted"]), (&3.into(), &60.into()));
}
