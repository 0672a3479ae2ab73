//! `grid --fast`, `--prune` and the other kinds of searches, their reports, and `search`.

use crate::common::Bench;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn cells(document: &Value) -> &Vec<Value> {
    document["cells"].as_array().expect("cells")
}

fn place(cell: &Value) -> String {
    format!("{} {} {}", cell["kernel"], cell["c"], cell["gamma"])
}

const GRID: &str = "grid banana --rows 200 -k 4 -c 2^-4:2^8:4 -g 2^-6:2^4:4 --threads 2";

/// A search once advised `widen -c`, which it does not have, where other values were as good.
#[test]
fn a_search_gives_no_advice_for_options_that_it_lacks() {
    let bench = Bench::new();
    let row = |i: usize| format!("{} 1:{} 2:{}\n", i % 2, (i % 2) * 3 + i % 3, i % 5);
    bench.file("apart", (0..60).map(row).collect::<String>());
    let found = bench.run("search apart -o m");
    assert!(found.code == 0 && !found.err.contains("widen"), "{found:?}");
    // A grid has the option.
    let grid = bench.run("grid apart -k 3 -c 0.0001,0.001 -g 0.1,1");
    assert!(grid.err.contains("-c"), "{grid:?}");
}

#[test]
fn what_cannot_win_is_shown_so() {
    let bench = Bench::new();
    let full = bench.json(&format!("{GRID} -q"));
    let pruned = bench.json(&format!("{GRID} -q --prune --csv cells.csv --plot cells.svg"));
    assert_eq!(pruned["best"], full["best"]);
    assert!(pruned["total_iterations"].as_u64() < full["total_iterations"].as_u64());
    let most = full["best"]["score"].as_f64().map(|score| 200.0 * (1.0 - score)).expect("a score");
    let pruned_cells: Vec<&Value> = cells(&pruned).iter().filter(|cell| !cell["at_least_errors"].is_null()).collect();
    assert!(!pruned_cells.is_empty() && pruned_cells.len() < 42);
    for cell in &pruned_cells {
        assert!(cell["at_least_errors"].as_f64().is_some_and(|errors| errors > most + 0.5), "{cell}");
        assert_eq!((&cell["score"], &cell["accuracy"], &cell["exact"]), (&Value::Null, &Value::Null, &Value::Bool(true)));
        assert!(cell["folds"].as_array().is_some_and(|folds| folds.len() < 4));
    }
    assert_eq!(bench.read("cells.svg").matches("url(#pruned)").count(), pruned_cells.len());
    let lines = bench.read("cells.csv").lines().filter(|line| line.contains(",pruned,")).count();
    assert_eq!(lines, pruned_cells.len());
    // Most lines of a small table are of such cells.
    let text = bench.run("grid banana --rows 200 -k 4 -c 0.01,8 -g 0.001,1 --prune -q");
    assert!(text.out.contains("pruned at ") && text.out.contains(" pruned "), "{}", text.out);
    let refused = bench.run("grid banana --rows 60 -k 3 -c 1 -g 1 --prune --metric f1");
    assert!(refused.code == 2 && refused.err.contains("--prune: f1 does not count errors"), "{refused:?}");
}

#[test]
fn a_fast_search_marks_what_it_left_loose() {
    let bench = Bench::new();
    let full = bench.json(&format!("{GRID} -q --eps 1e-5"));
    let fast = bench.json(&format!("{GRID} -q --eps 1e-5 --fast"));
    assert_eq!(fast["best"], full["best"]);
    let exact = |cell: &&Value| cell["exact"] == true;
    let took = |of: &Value| -> u64 {
        let loose = cells(of).iter().zip(cells(&fast)).filter(|(_, cell)| !exact(cell));
        loose.filter_map(|(cell, _)| cell["total_iterations"].as_u64()).sum()
    };
    assert!(took(&fast) < took(&full));
    assert!(cells(&fast).iter().filter(exact).all(|cell| cell["eps"] == 1e-5 && cell["gap"].is_null()));
    assert!(cells(&fast).iter().filter(|cell| !exact(cell)).all(|cell| cell["gap"] == 1e-3 && cell["eps"].is_null()));
    assert!(cells(&fast).iter().any(|cell| !exact(&cell)) && cells(&fast).iter().any(|cell| exact(&cell)));
    let nearest = bench.json(&format!("{GRID} -q --eps 1e-5 --fast=0"));
    assert_eq!(nearest["best"], fast["best"]);
    assert!(cells(&nearest).iter().filter(exact).count() <= cells(&fast).iter().filter(exact).count());
    let text = bench.run("grid banana --rows 200 -k 4 -c 0.01,8 -g 0.001,1 --eps 1e-5 --fast -q");
    assert!(text.out.contains("converged to a duality gap of 0.001") && text.out.contains(" ~"), "{}", text.out);
}

/// A search of many stages goes on from its log like one of one stage.
#[test]
fn every_kind_of_search_goes_on_with_the_same_bits() {
    let bench = Bench::new();
    for (at, how) in ["--fast --prune", "--random 8", "--halving", "--fast --extend --refine"].into_iter().enumerate() {
        let line = format!("grid banana --rows 400 -k 4 -c 2^-2:2^6:4 -g 2^-4:2^2:4 --threads 2 -q {how}");
        let told = |document: &Value| {
            let tell =
                |cell: &Value| (place(cell), cell["score"].clone(), cell["folds"][0]["objective"].clone(), cell["exact"].clone());
            (cells(document).iter().map(tell).collect::<Vec<_>>(), document["best"].clone(), document["total_iterations"].clone())
        };
        let whole = told(&bench.json(&line));
        let logged = format!("{line} --log kept{at}");
        assert_eq!(told(&bench.json(&logged)), whole, "{how}");
        let names: Vec<String> = fs::read_dir(bench.path(&format!("kept{at}")))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "cell"))
            .collect();
        for name in names.iter().step_by(5) {
            fs::remove_file(bench.path(&format!("kept{at}/{name}"))).expect("a cell");
        }
        assert_eq!(told(&bench.json(&logged)), whole, "{how} from a part of its log");
    }
}

#[test]
fn the_simplest_of_the_best_is_taken_where_that_is_asked() {
    let bench = Bench::new();
    let line = format!("{GRID} -q");
    let found = bench.json(&format!("{line} -o simple.model --take one-se"));
    assert_ne!(found["one_se"], found["best"]);
    assert!(found["one_se"]["c"].as_f64() <= found["best"]["c"].as_f64());
    let info = bench.json("info simple.model");
    let c = info["training"]["formulation"]["c"].as_f64().or(info["formulation"]["c"].as_f64());
    assert_eq!(c, found["one_se"]["c"].as_f64(), "{info}");
    assert!(found["flattest"]["score"] == found["best"]["score"]);
    let text = bench.run(&line);
    assert!(text.out.contains("simplest within a standard error: rbf, C = "), "{}", text.out);
}

#[test]
fn the_report_is_one_page_that_fetches_nothing() {
    let bench = Bench::new();
    bench.file("a<b", (0..40).map(|i| format!("{} 1:{} 2:{}\n", i % 2, (i * 7) % 11, i % 5)).collect::<Vec<_>>().concat());
    let answer = bench.run("grid a<b -k 4 -c 0.5,2,8 -g 0.125,1 --scale minmax --report page.html --json");
    assert_eq!(answer.code, 0, "{answer:?}");
    let page = bench.read("page.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("a&lt;b") && !page.contains("a<b") && page.matches("<svg").count() == 3);
    assert_eq!(page.matches("<tr").count(), 7, "a head and six cells");
    let links: Vec<&str> = page.split("http").skip(1).collect();
    assert!(links.iter().all(|rest| rest.starts_with("://www.w3.org/2000/svg")), "{links:?}");
    assert!(!page.contains("src=") && !page.contains("@import"));
    for title in [">Support vectors of all folds<", ">Seconds of a combination<"] {
        let drawn: Vec<&str> = page.split("<svg").filter(|svg| svg.contains(title)).collect();
        assert!(drawn.len() == 1 && drawn[0].contains("<circle") && drawn[0].contains("(best)<"), "{title}: {page}");
    }
    for fact in
        ["<dt>data, SHA-256</dt>", "<dt>command</dt><dd>maxmargin grid ", "<dt>date</dt>", "<dd>minmax</dd>", "maxmargin 0."]
    {
        assert!(page.contains(fact), "{fact}: {page}");
    }
    assert!(!page.contains("<th>degree</th>") && page.contains("<th>gamma</th>"), "a column is there for what a kernel has");
}

#[test]
fn a_picture_of_a_kernel_without_a_width_is_a_row_over_c() {
    let bench = Bench::new();
    bench.run("grid two-gaussians --rows 60 -k 3 --kernel linear -c 2^-5:2^5:2^5 -q --plot row.svg --report row.html");
    let picture = bench.read("row.svg");
    assert_eq!((picture.matches("<title>").count(), picture.matches(">gamma<").count()), (3, 0), "{picture}");
    assert!(picture.contains(">2^-5<") && picture.contains(">1<") && picture.contains("linear kernel"), "{picture}");
    let width: usize = picture.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok()).expect("a width");
    assert!(width > 300, "the words above three cells are not cut off");
    let page = bench.read("row.html");
    assert!(!page.contains("<th>gamma</th>"));
    assert_eq!(page.matches("<polyline").count(), 2, "one line for each of both costs over three values of C");
    bench.run("grid two-gaussians --rows 60 -k 3 --kernel linear -c 1,4 -q --report two.html");
    assert_eq!(bench.read("two.html").matches("<svg").count(), 1, "two values of C are no path");
}

#[test]
fn a_search_is_judged_by_samples_that_it_did_not_see() {
    let bench = Bench::new();
    let line = "grid banana --rows 120 -k 3 -c 0.1,1,10 -g 0.1,1 --outer 4";
    let found = bench.json(&format!("{line} -q --log kept"));
    let folds = found["outer"]["folds"].as_array().expect("folds");
    assert_eq!((folds.len(), found["outer"]["k"].as_u64()), (4, Some(4)));
    let right: f64 =
        folds.iter().map(|fold| fold["score"].as_f64().expect("a score") * fold["test"].as_f64().expect("a count")).sum();
    assert!(found["outer"]["score"].as_f64().is_some_and(|score| (120.0 * score - right).abs() < 1e-9));
    assert!(folds.iter().all(|fold| fold["chosen"]["kernel"] == "rbf" && fold["train"] == 90));
    assert_eq!(bench.json(&format!("{line} -q --log kept"))["outer"], found["outer"]);
    let text = bench.run(&format!("{line} -q"));
    assert!(text.out.contains("nested cross-validation: accuracy ") && text.out.contains("4 outer folds"), "{}", text.out);
    let refused = bench.run(&format!("{line} --folds contiguous"));
    assert!(refused.code == 2 && refused.err.contains("leave --folds out"), "{refused:?}");
}

/// `search` finds scaling, C and gamma for data that needs them.
#[test]
fn search_finds_scaling_too() {
    let bench = Bench::new();
    // The label is in the first feature; the second is noise, ten thousand times as large.
    let noise = |i: usize| (i * 7919 % 10_007) as f64;
    let line = |i: usize| {
        let x = (i * 37 % 101) as f64 / 101.0;
        format!("{} 1:{x} 2:{}\n", if (0.3..0.7).contains(&x) { 1 } else { -1 }, noise(i))
    };
    bench.file("wide", (0..160).map(line).collect::<Vec<_>>().concat());
    let found = bench.json("search wide -q --report wide.html --probability platt");
    assert_eq!((found["command"].as_str(), found["scales"].as_array().map(Vec::len)), (Some("search"), Some(3)));
    assert!(found["scale"] == "minmax" || found["scale"] == "standard", "{}", found["scales"]);
    assert!(found["best"]["score"].as_f64().is_some_and(|score| score > 0.95), "{}", found["best"]);
    assert_eq!(found["refit"]["model"], "wide.model");
    assert_eq!(bench.names(), ["wide", "wide.html", "wide.model"]);
    let predicted = bench.json("predict wide wide.model -q");
    assert!(predicted["accuracy"].as_f64().is_some_and(|accuracy| accuracy > 0.95), "{predicted}");
    let probable = bench.run("predict wide wide.model --probability -o p -q");
    assert_eq!(probable.code, 0, "{probable:?}");
    // Where features are alike, they are left alone.
    let plain = bench.json("search banana --rows 120 -q -o plain.model");
    assert_eq!((&plain["scale"], plain["scales"][0]["scale"].is_null()), (&Value::Null, true));
}

#[test]
fn a_descent_tells_both_ends_and_its_model_is_the_lower() {
    let bench = Bench::new();
    let command = "grid banana --rows 200 -k 4 -c 0.25,4,64 -g 0.03125,0.5,8 --gradient --threads 2";
    let found = bench.json(&format!("{command} -q -o low.model --report low.html --plot low.svg --log kept"));
    let gradient = &found["gradient"];
    let [from, low] = ["from", "found"].map(|end| gradient[end]["loss"].as_f64().expect("a loss"));
    let points = gradient["points"].as_array().expect("points");
    assert!(low < from && gradient["evaluations"] == points.len() && points.len() <= 20, "{gradient}");
    assert_eq!((cells(&found).len(), &gradient["from"]["c"]), (10, &points[0]["c"]));
    let added = cells(&found).iter().find(|cell| cell["gamma"] == gradient["found"]["gamma"]).expect("its cell");
    assert_eq!((&added["status"], &added["score"]), (&Value::from("converged"), &gradient["found"]["score"]));
    // The picture is that of the ranges: a place for each of three widths.
    bench.run("grid banana --rows 200 -k 4 -c 0.25,4,64 -g 0.03125,0.5,8 -q --plot plain.svg");
    let rects = |name: &str| bench.read(name).matches("<rect").count();
    assert!(rects("low.svg").abs_diff(rects("plain.svg")) <= 1);
    assert!(bench.read("low.html").contains("descent to: rbf, C = "));
    assert_eq!(bench.run("verify low.model banana --rows 200 -q").code, 0);
    // What is kept is not computed again, and the way is the same.
    let again = bench.json(&format!("{command} -q --log kept"));
    assert_eq!((&again["gradient"], &again["cells"][0]["score"]), (gradient, &found["cells"][0]["score"]));
    let text = bench.run(&format!("{command} -q"));
    assert!(text.out.contains("descent from: rbf, C = ") && text.out.contains(" evaluations, "), "{}", text.out);
    for (wrong, why) in [
        (
            "grid banana --rows 60 -k 3 -c 1 -g 1 --gradient --kernel linear",
            "--gradient: derivatives are those of the Gaussian kernel",
        ),
        ("grid banana --rows 60 -k 3 -c 1 -g scale --gradient", "--gradient: the start needs gamma as a number"),
        ("grid banana --rows 60 -k 60 --folds shuffled -c 1 -g 1 --gradient", "--gradient: with one sample a fold"),
        ("grid banana --rows 60 -k 3 -c 1 -g 1 --gradient --take one-se", "--take"),
    ] {
        let refused = bench.run(wrong);
        assert!(refused.code == 2 && refused.err.contains(why), "{wrong}: {refused:?}");
    }
}

#[test]
fn a_descent_with_a_width_for_each_feature_ends_in_a_model() {
    let bench = Bench::new();
    let mut table = String::from("first,second,noise,kind\n");
    for i in 0..120 {
        let (a, b) = ((f64::from(i) * 0.37).sin(), (f64::from(i) * 0.73).cos());
        let kind = if a * b + 0.2 * (f64::from(i) * 2.1).sin() > 0.0 { "in" } else { "out" };
        writeln!(table, "{a:.4},{b:.4},{:.4},{kind}", (f64::from(i) * 1.91).sin()).expect("text");
    }
    bench.file("t.csv", table);
    let command = "grid t.csv -k 4 -c 1,16 -g 0.1,1 --scale standard --gradient";
    let common = bench.json(&format!("{command} -q"));
    let found = bench.json(&format!("{command} --per-feature -q -o own.model --log kept"));
    let loss = |found: &Value| found["gradient"]["found"]["loss"].as_f64().expect("a loss");
    assert!(loss(&found) < loss(&common), "{} {}", loss(&found), loss(&common));
    assert!(common["gradient"]["features"].is_null());
    let features = found["gradient"]["features"].as_array().expect("features").clone();
    let names: Vec<&str> = features.iter().filter_map(|feature| feature["feature"].as_str()).collect();
    assert_eq!(names, ["first", "second", "noise"]);
    let logs: Vec<f64> = features.iter().filter_map(|feature| feature["gamma"].as_f64()).map(f64::ln).collect();
    let gamma = found["gradient"]["found"]["gamma"].as_f64().expect("gamma");
    assert!(logs[0] != logs[1] && (logs.iter().sum::<f64>() / 3.0 - gamma.ln()).abs() < 1e-9, "{features:?}");
    assert_eq!(bench.json("verify own.model t.csv -q")["scale"], "given");
    assert!(bench.run("info own.model").out.contains("given, with a factor for each feature"));
    assert_eq!(bench.run("predict t.csv own.model -o said").code, 0);
    let again = bench.json(&format!("{command} --per-feature -q --log kept"));
    assert_eq!(again["gradient"], found["gradient"]);
    let text = bench.run(&format!("{command} --per-feature -q"));
    assert!(text.out.contains("largest gamma of features: ") && text.out.contains("noise "), "{}", text.out);
    // The model goes on: it takes rows in and lets them go, and has probabilities fitted.
    assert_eq!(bench.run("update own.model --data t.csv --remove 3 -o less.model -q").code, 0);
    assert_eq!(bench.run("calibrate own.model t.csv -q").code, 0);
    let refused = bench.run("grid t.csv -k 4 -c 1 -g 1 --per-feature");
    assert!(refused.code == 2 && refused.err.contains("--gradient"), "{refused:?}");
}

/// Every cell as `loo` says, whichever way it is asked for.
#[test]
fn leave_one_out_of_every_cell() {
    let bench = Bench::new();
    let rows = "banana --rows 60 --seed 3";
    let found = bench.json(&format!("grid {rows} --loo -c 0.5,4 -g 0.5 -q"));
    assert_eq!((found["fold_plan"].as_str(), found["k"].as_u64()), (Some("leave-one-out"), Some(60)));
    for cell in cells(&found) {
        let alone = bench.json(&format!("loo {rows} -c {} -g 0.5 -q", cell["c"]));
        assert_eq!((&cell["confusion"], cell["samples_counted"].as_u64()), (&alone["confusion"], Some(60)));
        if cell["c"] == 0.5 {
            assert_eq!((&cell["scores"], &cell["total_iterations"]), (&alone["scores"], &alone["total_iterations"]));
        }
    }
    for other in ["-k 60", "--folds leave-one-out"] {
        let again = bench.json(&format!("grid {rows} {other} -c 0.5,4 -g 0.5 -q"));
        assert_eq!((&again["fold_plan"], &again["best"]), (&found["fold_plan"], &found["best"]), "{other}");
        assert_eq!(cells(&again)[1]["scores"], cells(&found)[1]["scores"]);
    }
    let [by_cv, by_loo] = ["cv", "loo"].map(|command| {
        let how = if command == "cv" { "--loo" } else { "" };
        bench.json(&format!("{command} {rows} {how} -c 0.5 -g 0.5 -q -o {command}.txt"))
    });
    assert_eq!(by_cv["scores"], by_loo["scores"]);
    assert_eq!(bench.read("cv.txt"), bench.read("loo.txt"));
    let nested = bench.json(&format!("grid {rows} --loo --outer 3 -c 0.5 -g 0.5 -q"));
    assert!(nested["outer"]["score"].is_number());
    let refused = bench.run(&format!("grid {rows} --loo --folds shuffled -c 1 -g 1"));
    assert!(refused.code == 2 && refused.err.contains("--loo"), "{refused:?}");
    let refused = bench.run(&format!("grid {rows} --loo --repeat 2 -c 1 -g 1"));
    assert!(refused.code == 2 && refused.err.contains("--repeat"), "{refused:?}");
}

/// The warning was once missing for metrics other than the accuracy.
#[test]
fn a_search_that_finds_the_majority_alone_says_so() {
    let bench = Bench::new();
    let line = |i: u32| {
        format!(
            "{} 1:{} 2:{}\n",
            if i.is_multiple_of(12) { 1 } else { -1 },
            f64::from(i * 7 % 13) / 13.0,
            f64::from(i * 5 % 11) / 11.0
        )
    };
    bench.file("rare", (0..144).map(line).collect::<String>());
    let found = bench.run("grid rare -k 3 -c 0.001 -g 0.01 --metric balanced_accuracy --json");
    let says = |words: &str| found.warnings().iter().any(|line| line.contains(words));
    assert!(says("the best combination by balanced_accuracy predicts -1 for every row"), "{}", found.err);
    assert_eq!(cells(&found.json())[0]["scores"]["balanced_accuracy"], 0.5);
    let found = bench.run("grid rare -k 3 -c 0.001 -g 0.01");
    assert!(found.err.contains("nothing beats the majority class"), "{}", found.err);
}

/// The result of a search can be used without it: the printed command trains the same model.
#[test]
fn a_search_prints_the_command_that_trains_its_model() {
    let bench = Bench::new();
    bench.file("four", {
        let (points, mut text) = ([(0.0, 0.0), (40.0, 1.0), (0.0, 2.0), (40.0, 3.0)], String::new());
        for i in 0..80_u32 {
            let (x, y) = points[i as usize % 4];
            let (dx, dy) = (f64::from(i * 37 % 23), f64::from(i * 17 % 13) / 8.0);
            writeln!(text, "{} 1:{} 2:{}", i % 4, x + dx, y + dy).expect("memory");
        }
        text
    });
    for line in [
        "search four -k 3 -o found --eps 1e-4 --weight 1=2.5",
        "search two-gaussians --rows 150 --seed 3 -k 3 -o found --gradient",
        "grid four -c 1,8 -g 0.001,0.1 -k 3 -o found --loss squared --bias 1",
        "grid four --kernel poly -d 2,3 -r 0.5 -c 1,10 -g 0.01 --scale standard -k 3 -o found --take one-se",
    ] {
        let found = bench.json(&format!("{line} -q"));
        let command = found["train_command"].as_str().expect("a command");
        let words = command.strip_prefix("maxmargin ").and_then(|words| words.strip_suffix(" -o found")).expect(command);
        let trained = bench.json(&format!("{words} -o again -q"));
        assert_eq!(trained["certificate"]["primal"], found["refit"]["certificate"]["primal"], "{command}");
        assert_eq!(trained["scale"], found["scale"], "{command}");
        let data = if line.contains(" four") { "four" } else { "two-gaussians --rows 150 --seed 3" };
        for model in ["found", "again"] {
            assert_eq!(bench.run(&format!("predict {data} {model} --decision -o {model}.values -q")).code, 0);
        }
        assert_eq!(bench.read("found.values"), bench.read("again.values"), "{command}");
        assert_eq!(found["python"].is_null(), line.contains("squared"), "{}", found["python"]);
    }
    let told = bench.run("search four -k 3 -o found --report page.html -q");
    let document = bench.json("search four -k 3 -o found -q");
    let [command, python] = ["train_command", "python"].map(|key| document[key].as_str().expect("text"));
    let best = told.out.lines().find(|line| line.starts_with("best: ")).expect("a line");
    let scaling = document["scale"].as_str().unwrap_or("no");
    assert!(best.starts_with(&format!("best: {scaling} scaling, rbf, C = ")) && best.contains("gamma = 2^-"), "{best}");
    assert!(told.out.contains(&format!("command line: {command}\n")), "{}", told.out);
    assert!(python.lines().all(|line| told.out.contains(&format!("\n  {line}\n"))), "{}", told.out);
    assert!(bench.read("page.html").contains(command), "the page has the command");
    let per_feature = bench.json("search two-gaussians --rows 150 -k 3 -o found --gradient --per-feature -q");
    assert!(per_feature["train_command"].is_null() || per_feature["gradient"]["features"].is_null(), "{per_feature}");
}
