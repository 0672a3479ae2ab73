//! `grid`: combinations of C, γ and kernels, the best of them, and what is written.

use crate::common::Bench;
use serde_json::Value;

fn numbers(cells: &Value, key: &str) -> Vec<f64> {
    cells.as_array().expect("cells").iter().map(|cell| cell[key].as_f64().unwrap_or(f64::NAN)).collect()
}

fn lines(rows: usize, line: impl Fn(usize) -> String) -> String {
    (0..rows).map(|row| line(row) + "\n").collect()
}

/// Every cell is what `cv` says of its parameters: labels of a fold may differ where a decision
/// value is within the tolerance of 0.
#[test]
fn every_cell_is_a_cross_validation() {
    let bench = Bench::new();
    let grid = bench.json("grid banana --rows 200 -k 4 -c 2^-1:2^3:4 -g 0.5,2 -q");
    let cells = &grid["cells"];
    assert_eq!(numbers(cells, "gamma"), [0.5, 0.5, 0.5, 2.0, 2.0, 2.0]);
    assert_eq!(numbers(cells, "c"), [0.5, 2.0, 8.0, 0.5, 2.0, 8.0]);
    for cell in cells.as_array().expect("cells") {
        assert_eq!(cell["certificate"]["holds"], true);
        let alone = bench.json(&format!("cv banana --rows 200 -k 4 -c {} -g {} -q", cell["c"], cell["gamma"]));
        let [ours, theirs] = [cell, &alone].map(|document| document["correct"].as_i64().expect("a count"));
        assert!((ours - theirs).abs() <= 4, "{}: {ours} {theirs}", cell["c"]);
        let objective = |document: &Value| document["folds"][0]["objective"].as_f64().expect("an objective");
        assert!((objective(cell) - objective(&alone)).abs() <= 1e-3 * objective(&alone).abs());
    }
    let most = numbers(cells, "score").into_iter().fold(0.0, f64::max);
    assert_eq!(grid["best"]["score"].as_f64(), Some(most));
    assert_eq!((grid["metric"].as_str(), &grid["best"]["c"]), (Some("accuracy"), &grid["best_c"]));
}

/// The same bits on one thread and on three, where columns run side by side.
#[test]
fn results_do_not_depend_on_threads() {
    let bench = Bench::new();
    for data in ["banana --rows 150 -c 1,10 -g 0.1,1,10", "blobs --rows 120 -c 1,10 -g 0.1,1 --kernel rbf,linear --metric f1"] {
        let of = |threads: usize| {
            let grid = bench.json(&format!("grid {data} -k 3 --threads {threads} -q"));
            let tell =
                |cell: &Value| (cell["total_iterations"].clone(), cell["folds"][1]["objective"].clone(), cell["score"].clone());
            grid["cells"].as_array().expect("cells").iter().map(tell).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(3), "{data}");
    }
}

#[test]
fn kernels_without_a_width_are_tried_once() {
    let bench = Bench::new();
    let grid = bench.json("grid banana --rows 120 -k 3 -c 1,10 -g 0.5,1 --kernel linear,rbf,poly -d 2,3 -r 1 -q");
    let of = |kernel: &str| grid["cells"].as_array().expect("cells").iter().filter(|cell| cell["kernel"] == kernel).count();
    assert_eq!((of("linear"), of("rbf"), of("poly")), (2, 4, 8));
    assert_eq!(grid["cells"][0]["gamma"], Value::Null);
    assert_eq!(grid["best"]["kernel"], "rbf");
}

#[test]
fn the_metric_chooses() {
    let bench = Bench::new();
    let rare = lines(120, |i| format!("{} 1:{} 2:{}", i32::from(i % 10 == 0), (i * 37) % 11, i % 10));
    bench.file("rare", rare);
    for metric in ["f1", "roc_auc", "average_precision", "matthews", "balanced_accuracy"] {
        let grid = bench.json(&format!("grid rare -k 3 -c 0.01,100 -g 0.001,0.1 --metric {metric} -q"));
        let scores = numbers(&grid["cells"], "score");
        assert_eq!(grid["metric"], metric);
        let best = scores.iter().copied().filter(|score| !score.is_nan()).fold(f64::MIN, f64::max);
        assert_eq!(grid["best"]["score"].as_f64(), Some(best), "{metric} {scores:?}");
        for (cell, score) in grid["cells"].as_array().expect("cells").iter().zip(scores) {
            assert_eq!(cell["scores"][metric].as_f64(), Some(score).filter(|score| !score.is_nan()));
        }
    }
    bench.file("three", lines(60, |i| format!("{} 1:{i}", i % 3)));
    let refused = bench.run("grid rare -k 3 --metric mean_squared_error");
    assert!(refused.code == 2 && refused.err.contains("there are accuracy, balanced_accuracy"), "{refused:?}");
    let refused = bench.run("grid three -k 3 --metric roc_auc");
    assert!(refused.code == 2 && refused.err.contains("it is for two classes, and the data has 3"), "{refused:?}");
}

#[test]
fn the_best_is_trained_and_written() {
    let bench = Bench::new();
    let grid = bench.json("grid banana --rows 200 -k 3 -c 1,10 -g 0.5,1 -o best.model --csv cells.csv --plot cells.svg -q");
    assert_eq!(
        (&grid["refit"]["model"], &grid["refit"]["certificate"]["holds"]),
        (&Value::from("best.model"), &Value::Bool(true))
    );
    let info = bench.json("info best.model");
    assert_eq!(
        info["training"]["formulation"]["c"].as_f64().or(info["formulation"]["c"].as_f64()),
        grid["best_c"].as_f64(),
        "{info}"
    );
    let csv = std::fs::read_to_string(bench.path("cells.csv")).expect("a file");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (5, "kernel,degree,c,gamma,accuracy,status,kkt,relative_gap,iterations,seconds,mean,deviation")
    );
    assert!(lines[1].starts_with("rbf,,1,0.5,0."), "{}", lines[1]);
    let svg = std::fs::read_to_string(bench.path("cells.svg")).expect("a file");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.matches("<title>").count() == 4, "{svg}");
    assert_eq!(svg.matches("stroke=\"#e4002b\"").count(), 1, "the best is marked");
    // Nothing that is there is lost, and nothing is begun before that is known.
    bench.file("text", "not a model");
    let refused = bench.run("grid banana --rows 200 -k 3 -c 1 -g 1 -o text");
    assert!(refused.code != 0 && refused.err.contains("--force"), "{refused:?}");
}

/// A search that a limit ends once went on to train its best for as long again.
#[test]
fn a_search_that_is_ended_writes_no_model() {
    let bench = Bench::new();
    let line = "grid gauss-m --rows 1500 -k 5 -c 1,1e7 -g 1 --eps 1e-9 --time-limit 300ms --threads 1";
    let answer = bench.run(&format!("{line} -o best.model --csv cells.csv --json"));
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("best.model: no model was written: the search ended early"), "{answer:?}");
    assert_eq!(answer.json()["refit"], Value::Null);
    assert_eq!(bench.names(), ["cells.csv"], "what is known is written");
}

/// A polynomial that single precision does not hold is one column's failure.
#[test]
fn what_is_no_problem_does_not_stop_the_rest() {
    let bench = Bench::new();
    let wide = lines(60, |i| format!("{} 1:{} 2:1", i % 2, i as f64 * 1e9));
    bench.file("wide", wide);
    let grid = bench.run("grid wide -k 3 -c 1 -g 1e-20,1e10 --kernel poly -d 4 --time-limit 5s --json");
    assert!(grid.err.contains("not tried: poly, degree = 4, gamma = 10000000000"), "{grid:?}");
    assert_eq!(grid.json()["cells"].as_array().map(Vec::len), Some(1));
}

/// The best at an end of a range may not be the best there is.
#[test]
fn a_best_on_the_border_is_told() {
    let bench = Bench::new();
    let grid = bench.run("grid banana --rows 200 -k 3 -c 0.001,0.01 -g 1,2,4");
    assert!(grid.err.contains("the best combination has the smallest C that was tried (0.001)"), "{grid:?}");
}
