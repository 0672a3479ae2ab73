//! Conformal predictions from the command line: intervals, sets and outliers, what they cover, and
//! what is refused.

use crate::common::{Bench, SMALL};
use std::fmt::Write;

/// Rows of two classes, a hundred of them.
fn classes(bench: &Bench) {
    let apart = |shift: usize| SMALL.lines().map(move |line| format!("{line} 3:{}\n", 0.1 * shift as f64));
    bench.file("data", (1..9).flat_map(apart).collect::<String>());
}

/// Values of a line and noise.
fn values(bench: &Bench, rows: usize) {
    let mut text = String::new();
    for i in 0..rows {
        let (x, noise) = ((i * 37 % 101) as f64 / 25.0, (i * 7919 % 101) as f64 / 101.0);
        writeln!(text, "{} 1:{x}", 2.0 * x + noise).expect("memory");
    }
    bench.file("values", text);
}

/// The numbers behind the line of names.
fn numbers(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect()
}

#[test]
fn intervals_stand_beside_values() {
    let bench = Bench::new();
    values(&bench, 120);
    let train = "train values --formulation epsilon-svr --kernel linear -c 10";
    let trained = bench.json(&format!("{train} --conformal 0.1 -k 6 -o m"));
    let found = &trained["conformal"];
    assert_eq!((found["method"].as_str(), found["folds"].as_u64(), found["rows"].as_u64()), (Some("cv+"), Some(6), Some(120)));
    let predicted = bench.json("predict values m --intervals -o p");
    let text = bench.read("p");
    assert_eq!(text.lines().next(), Some("label lower upper"));
    let rows = numbers(&text);
    assert_eq!(rows.len(), 120);
    let inside = |row: &Vec<f64>| row.len() == 3 && row[1] <= row[0] && row[0] <= row[2];
    assert!(rows.iter().all(inside));
    let coverage = predicted["conformal"]["coverage"].as_f64().expect("a share");
    assert!((0.85..1.0).contains(&coverage), "{coverage}");
    // A smaller level is wider.
    let wider = bench.json("predict values m --intervals --alpha 0.01 -o w");
    assert!(wider["conformal"]["width"].as_f64() > predicted["conformal"]["width"].as_f64());
    assert_eq!(bench.json(&format!("{train} --conformal 0.1 --loo -o n"))["conformal"]["method"], "jackknife+");
    assert_eq!(bench.run("verify m values").code, 0);
    assert!(bench.run("verify m values").out.contains("conformal scores"));
    // Predictions are those of the model without scores.
    bench.json(&format!("{train} -o plain"));
    bench.json("predict values plain -o q");
    let plain: Vec<f64> = bench.read("q").lines().map(|line| line.parse().expect("a number")).collect();
    assert!(rows.iter().zip(plain).all(|(row, plain)| row[0] == plain));
    let report = bench.run("predict values m --intervals").err;
    assert!(report.contains("intervals by cv+ at 0.1: "), "{report}");
}

#[test]
fn sets_have_a_column_for_each_class() {
    let bench = Bench::new();
    classes(&bench);
    let trained = bench.json("train data -g 0.5 --conformal 0.2 --per-class -k 4 -o m");
    let found = trained["conformal"]["classes"].as_array().expect("classes");
    assert_eq!(found.iter().map(|class| class["rows"].as_u64().unwrap_or(0)).sum::<u64>(), 96);
    let predicted = bench.json("predict data m --sets -o p");
    let text = bench.read("p");
    assert_eq!(text.lines().next(), Some("label set_-1 set_1"));
    let rows = numbers(&text);
    let size: f64 = rows.iter().map(|row| row[1] + row[2]).sum::<f64>() / 96.0;
    assert_eq!(predicted["conformal"]["size"].as_f64(), Some(size));
    // A table has a table of the same columns.
    let mut table = "kind,x,y\n".to_owned();
    (0..60).for_each(|i| writeln!(table, "{},{},{}", ["no", "yes"][i % 2], i % 7, (i * i) % 11).expect("memory"));
    bench.file("t.csv", table);
    bench.json("train t.csv --target kind -g 0.1 --conformal 0.2 -k 4 -o t");
    bench.json("predict t.csv t --sets --id x -o s");
    assert_eq!(bench.read("s").lines().next(), Some("x,label,set_no,set_yes"));
}

#[test]
fn outliers_are_found_at_a_rate() {
    let bench = Bench::new();
    values(&bench, 200);
    bench.json("train values --formulation one-class --nu 0.1 -g 0.5 --conformal 0.1 -o m");
    let far = "1 1:2\n-1 1:40\n-1 1:50\n1 1:1\n";
    bench.file("new", far);
    let predicted = bench.json("predict new m --fdr 0.1 -o p");
    let rows = numbers(&bench.read("p"));
    assert_eq!(bench.read("p").lines().next(), Some("label p_value outlier"));
    assert_eq!(rows.iter().map(|row| row[2]).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 0.0]);
    assert!(rows.iter().all(|row| (1.0 / 201.0..=1.0).contains(&row[1])));
    let found = &predicted["conformal"];
    assert_eq!((found["outliers"].as_u64(), found["false_outliers"].as_f64()), (Some(2), Some(0.0)));
}

#[test]
fn cross_validation_reports_coverage() {
    let bench = Bench::new();
    values(&bench, 120);
    classes(&bench);
    let plain = bench.json("cv values --formulation epsilon-svr --kernel linear -k 6");
    let with = bench.json("cv values --formulation epsilon-svr --kernel linear -k 6 --conformal 0.1");
    assert!(plain["conformal"].is_null());
    // The folds are not trained again.
    assert_eq!(plain["total_iterations"], with["total_iterations"]);
    assert!((with["conformal"]["coverage"].as_f64().expect("a share") - 0.9).abs() < 0.1);
    let text = bench.run("cv data -g 0.5 -k 4 --conformal 0.2").out;
    assert!(text.contains("cross-conformal at 0.2: held-out coverage"), "{text}");
    assert!(bench.json("loo data -g 0.5 --conformal 0.2")["conformal"]["rows"].as_u64() == Some(96));
}

#[test]
fn what_cannot_be_is_refused() {
    let bench = Bench::new();
    values(&bench, 60);
    classes(&bench);
    for (line, code, what) in [
        ("train data --conformal 0 -o x", 2, "above 0 and below 1"),
        ("train data --conformal 1.5 -o x", 2, "above 0 and below 1"),
        ("train data --conformal -0.1 -o x", 2, "above 0 and below 1"),
        ("train data -k 5 -o x", 2, "--conformal"),
        ("train data --per-class -o x", 2, "--conformal"),
        ("train data --conformal-score aps -o x", 2, "--conformal"),
        ("train data --conformal 0.1 --conformal-score lac -o x", 2, "plain, scaled, aps, raps"),
        ("train data --conformal 0.1 --conformal-score raps:-1:2 -o x", 2, "plain, scaled, aps, raps"),
        ("train values --formulation epsilon-svr --conformal 0.1 --conformal-score aps -o x", 1, "no classes"),
        ("train data --conformal 0.1 --conformal-score scaled -o x", 1, "no errors to be scaled"),
        ("train values --formulation quantile --conformal 0.1 --conformal-score scaled -o x", 1, "no errors to be scaled"),
        (
            "train values --formulation epsilon-svr --conformal 0.1 --conformal-score scaled --folds expanding -o x",
            1,
            "every row",
        ),
        ("cv values --formulation epsilon-svr --conformal 0.1 --conformal-score scaled", 1, "train the model with them"),
        ("train data --conformal 0.1 --repeat 2 -o x", 1, "in 2 rounds"),
        ("cv data --conformal 0.1 --repeat 2", 1, "in 2 rounds"),
        ("train values --formulation expectile --conformal 0.1 -o x", 1, "has no intervals"),
        ("cv values --formulation quantile --conformal 0.1", 1, "train the model with them"),
        ("train values --formulation epsilon-svr --conformal 0.1 --per-class -o x", 1, "no classes"),
    ] {
        let answer = bench.run(line);
        assert!(answer.code == code && answer.err.contains(what), "{line}: {answer:?}");
        assert!(!bench.names().contains(&"x".to_owned()), "{line}");
    }
    bench.json("train data -g 0.5 -o plain");
    bench.json("train data -g 0.5 --conformal 0.2 -k 4 -o m");
    for (line, code, what) in [
        ("predict data plain --sets", 1, "train it with --conformal 0.1"),
        ("predict data m --intervals", 1, "sets and no intervals"),
        ("predict data m --fdr 0.1", 1, "sets and no intervals"),
        ("predict data m --alpha 0.1", 2, "--intervals or --sets"),
        ("predict data m --sets --probability", 2, "cannot be used with"),
    ] {
        let answer = bench.run(line);
        assert!(answer.code == code && answer.err.contains(what), "{line}: {answer:?}");
    }
}

#[test]
fn folds_that_promise_nothing_get_a_warning() {
    let bench = Bench::new();
    values(&bench, 120);
    let grouped: String =
        bench.read("values").lines().enumerate().map(|(i, l)| l.replacen(' ', &format!(" qid:{} ", i / 10), 1) + "\n").collect();
    bench.file("grouped", grouped);
    let train = |data: &str, folds: &str| {
        bench.run(&format!("train {data} --formulation epsilon-svr --kernel linear --conformal 0.2 --folds {folds} -k 4 -o m"))
    };
    assert!(train("values", "expanding").warnings().iter().any(|line| line.contains("not a promise")));
    assert!(bench.run("predict values m --intervals").warnings().iter().any(|line| line.contains("not a promise")));
    assert!(train("grouped", "groups").warnings().iter().any(|line| line.contains("new groups")));
    let few = bench.run("train values --formulation epsilon-svr --kernel linear --conformal 0.001 -k 4 -o m");
    assert!(few.warnings().iter().any(|line| line.contains("too few for the level 0.001")), "{few:?}");
    // Infinite bounds are written as such.
    bench.json("predict values m --intervals -o p");
    assert!(bench.read("p").lines().nth(1).is_some_and(|line| line.ends_with(" -inf inf")));
}

#[test]
fn sets_of_probabilities_name_their_score() {
    let bench = Bench::new();
    classes(&bench);
    let margins = bench.json("train data -g 0.5 --conformal 0.2 -k 4 -o m");
    let train = "train data -g 0.5 --conformal 0.2 -k 4 --conformal-score";
    let adaptive = bench.json(&format!("{train} aps -o a"));
    assert_eq!((margins["conformal"]["score"].as_str(), adaptive["conformal"]["score"].as_str()), (Some("plain"), Some("aps")));
    assert!(bench.run(&format!("{train} aps -o a")).out.contains("cross-conformal by aps at 0.2: held-out"));
    assert_eq!(bench.json(&format!("{train} raps -o r"))["conformal"]["score"], "raps:0.1:1");
    // A cross-validation of the same folds reports the same.
    let cv = bench.json("cv data -g 0.5 -k 4 --conformal 0.2 --conformal-score raps:0.1:1");
    assert!((cv["conformal"]["coverage"].as_f64().expect("a share") - 0.8).abs() < 0.15);
    // Another level and another order of the rows have the sets of the same scores.
    let predicted = bench.json("predict data a --sets -o p");
    assert_eq!(predicted["conformal"]["score"], "aps");
    let forward = numbers(&bench.read("p"));
    let text = bench.read("data");
    let lines: Vec<&str> = text.lines().rev().collect();
    bench.file("backward", lines.join("\n") + "\n");
    bench.json("predict backward a --sets -o q");
    let mut backward = numbers(&bench.read("q"));
    backward.reverse();
    assert_eq!(forward, backward);
    assert!(bench.run("verify a data").out.contains("conformal scores"));
    assert_eq!(bench.run("verify a data").code, 0);
    assert!(bench.run("export a --c a.c").warnings().iter().any(|line| line.contains("sets and p-values")));
}

#[test]
fn intervals_of_scaled_errors_follow_the_noise() {
    let bench = Bench::new();
    let mut text = String::new();
    for i in 0..300 {
        let (x, noise) = (f64::from(i * 37 % 101) / 25.0, f64::from(i * 7919 % 101) / 101.0 - 0.5);
        writeln!(text, "{} 1:{x}", 2.0 * x + (0.1 + x) * noise).expect("memory");
    }
    bench.file("values", text);
    let train = "train values --formulation epsilon-svr -g 0.2 --epsilon 0.01 -c 10 --conformal 0.1 -k 5";
    let plain = bench.json(&format!("{train} -o p"));
    let scaled = bench.json(&format!("{train} --conformal-score scaled -o s"));
    assert_eq!(scaled["conformal"]["score"], "scaled");
    let number = |of: &serde_json::Value, key: &str| of["conformal"][key].as_f64().expect("a number");
    assert!(number(&scaled, "iterations") > number(&plain, "iterations"));
    assert!(number(&scaled, "width") < number(&plain, "width"));
    let report = bench.run("predict values s --intervals -o b").out;
    assert!(report.contains("intervals by cv+ by scaled at 0.1: "), "{report}");
    let width = |row: &Vec<f64>| row[2] - row[1];
    let (rows, x) = (numbers(&bench.read("b")), |i: usize| (i * 37 % 101) as f64 / 25.0);
    let mean = |is_in: fn(f64) -> bool| {
        let own: Vec<f64> = (0..300).filter(|&i| is_in(x(i))).map(|i| width(&rows[i])).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    assert!(mean(|x| x > 3.0) > 3.0 * mean(|x| x < 0.5), "{} {}", mean(|x| x > 3.0), mean(|x| x < 0.5));
    assert!(bench.run("verify s values").out.contains("conformal scores"));
    assert_eq!(bench.run("verify s values").code, 0);
    assert!(bench.run("export s --c s.c").warnings().iter().any(|line| line.contains("intervals of scaled errors")));
}

/// A model of few rows cannot promise one miss in a thousand: every interval is infinite then.
#[test]
fn predictions_that_say_nothing_get_a_warning() {
    let bench = Bench::new();
    values(&bench, 60);
    assert_eq!(bench.run("train values --formulation epsilon-svr --conformal 0.2 -o m -q").code, 0);
    let answer = bench.run("predict values m --intervals --alpha 0.001 -o out");
    assert!(answer.err.contains("every interval is infinite at the level 0.001"), "{answer:?}");
    let answer = bench.run("predict values m --intervals -o out --force");
    assert!(!answer.err.contains("infinite"), "{answer:?}");
}
