//! Every formulation on the command line: the documents of C-SVC, models that are judged and read
//! back, and what is refused in one line.

use crate::common::{Bench, SMALL};
use serde_json::Value;
use std::collections::BTreeSet;

/// Values of a function of two features.
fn values() -> String {
    let x = |i: usize| (i % 10) as f64 / 5.0 - 0.9;
    let z = |i: usize| (i * 7 % 13) as f64 / 6.0 - 1.0;
    let line = |i: usize| format!("{} 1:{} 2:{}\n", (2.0 * x(i)).sin() + 0.5 * z(i), x(i), z(i));
    (0..60).map(line).collect()
}

/// Formulation options and the data that they are for.
const ALL: [(&str, &str); 7] = [
    ("--formulation epsilon-svr --epsilon 0.05 -c 5", "values"),
    ("--formulation nu-svr --nu 0.4 -c 5", "values"),
    ("--formulation quantile --tau 0.9 -c 5", "values"),
    ("--formulation expectile --tau 0.2 -c 5", "values"),
    ("--formulation one-class --nu 0.3", "classes"),
    ("--formulation one-class --nu 0.3", "values"),
    ("--formulation nu-svc --nu 0.4", "classes"),
];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("values", values());
    bench.file("classes", SMALL);
    bench
}

/// The paths of all keys, but for those that are lists of what there is.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let own = [
        ".data.classes",
        ".data.target",
        ".scores",
        ".spread",
        ".confusion",
        ".weights",
        ".warnings",
        ".work",
        ".full",
        ".machines",
    ];
    if own.contains(&path) || path.ends_with("[].scores") || path.ends_with("[].spread") {
        return;
    }
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            found.insert(format!("{path}.{key}"));
            keys(value, &format!("{path}.{key}"), found);
        }),
        Value::Array(values) => values.iter().for_each(|value| keys(value, &format!("{path}[]"), found)),
        _ => {}
    }
}

/// The bias of a model without a margin is a quotient of rounding: it was a mismatch of models that
/// nobody had changed.
#[test]
fn a_bias_of_rounding_is_no_mismatch() {
    let bench = Bench::new();
    let data = bench.file("data", "0 1:-6\n1 1:-2\n0 1:6\n1 1:7\n0 1:1\n1 1:-7\n").display().to_string();
    assert_eq!(bench.run(&format!("train {data} --formulation nu-svc --kernel linear --nu 0.3 -o m -q")).code, 0);
    let verified = bench.run(&format!("verify m {data}"));
    assert!(verified.code == 0 && verified.out.contains("no margin is left to determine it"), "{verified:?}");
}

/// Four points, each of both classes: no function separates a part of them, and ν-SVC says so.
#[test]
fn a_nu_without_a_margin_is_said() {
    let bench = Bench::new();
    let row = |i: usize, of: usize| format!("{} 1:{of}", 2 * (i % 2) as i32 - 1);
    let rows = |of: &dyn Fn(usize) -> usize| (0..80).map(|i| row(i, of(i))).collect::<Vec<_>>().join("\n");
    let (same, apart) = (bench.file("same", rows(&|i| i / 2 % 4)), bench.file("apart", rows(&|i| 10 * (i % 2) + i / 2 % 4)));
    let text = |command: &str| bench.run(command).out;
    for (data, lacks) in [(same.display(), true), (apart.display(), false)] {
        for command in ["train", "cv -k 4"] {
            let told = text(&format!("{command} {data} --formulation nu-svc --nu 0.2 -g 0.5"));
            assert_eq!(told.contains("no margin is left, and decision values mean nothing"), lacks, "{told}");
        }
        let grid = bench.run(&format!("grid {data} --formulation nu-svc --nu 0.2 -g 0.5 -k 4 -o m --force"));
        let (info, verify) = (text("info m"), text(&format!("verify m {data}")));
        for told in [grid.err, info, verify] {
            assert_eq!(told.contains("no margin is left"), lacks, "{told}");
        }
        assert_eq!(bench.run(&format!("verify m {data}")).code, 0, "{data}");
        let told = bench.run(&format!("svm-train -s 1 -n 0.2 {data} {data}.model"));
        assert_eq!(told.err.contains("WARNING: no margin is left at this nu"), lacks, "{told:?}");
        // The other formulation has a solution.
        assert!(!text(&format!("train {data} -g 0.5")).contains("no margin"));
    }
}

#[test]
fn every_formulation_has_the_documents_of_c_svc() {
    let bench = bench();
    for command in
        ["train DATA -o m --force", "cv DATA -k 3", "loo DATA", "grid DATA -c 1,2 -k 3", "verify m DATA", "predict DATA m"]
    {
        let of = |options: &str, data: &str| {
            let train = bench.run(&format!("train {data} -g 1 {options} -o m -q --force"));
            assert_eq!(train.code, 0, "{options}: {train:?}");
            let takes = !command.starts_with("verify") && !command.starts_with("predict");
            let own: Vec<&str> = options.split(' ').collect();
            // C has been given already.
            let without =
                own.iter().position(|word| *word == "-c").map_or(own.clone(), |at| [&own[..at], &own[at + 2..]].concat());
            let options = if command.starts_with("grid") { without.join(" ") } else { options.to_owned() };
            let options = if takes { format!("-g 1 {options}") } else { String::new() };
            let mut found = BTreeSet::new();
            let document = bench.json(&format!("{} {options} -q", command.replace("DATA", data)));
            keys(&document, "", &mut found);
            if let Some(certificate) = document.get("certificate") {
                assert_eq!(certificate["holds"], true, "{command} {options}: {certificate}");
            }
            found
        };
        let expected = of("-c 5", "classes");
        for (options, data) in ALL {
            assert_eq!(of(options, data), expected, "{command} {options}");
        }
    }
}

#[test]
fn models_are_judged_told_and_read_back() {
    let bench = bench();
    for (options, data) in ALL {
        let name = options.split(' ').nth(1).expect("a name");
        let trained = bench.json(&format!("train {data} -g 1 {options} -o m -q --force"));
        assert_eq!(trained["formulation"]["name"], name);
        let judged = bench.json(&format!("verify m {data} -q"));
        assert_eq!((&judged["matches"], &judged["tolerance_met"]), (&Value::Bool(true), &Value::Bool(true)), "{options}");
        let dual = |document: &Value| document["certificate"]["dual"].as_f64().expect("a dual objective");
        assert!((dual(&judged) - dual(&trained)).abs() <= 1e-12 * dual(&trained).abs(), "{options}");
        let told = bench.json("info m");
        assert_eq!(told["training"]["formulation"], trained["formulation"], "{options}");
        assert_eq!(
            told["decision_rule"],
            match name {
                "nu-svc" => "vote",
                "one-class" => "inlier",
                _ => "value",
            }
        );
        assert_eq!(bench.run("info m").code, 0);
        let predicted = bench.run(&format!("predict {data} m -o labels -q --force"));
        assert_eq!(predicted.code, 0, "{predicted:?}");
        let first: f64 = bench.read("labels").lines().next().expect("a line").parse().expect("a number");
        assert!(told["decision_rule"] == "value" || first.abs() == 1.0, "{options}: {first}");
        assert!(bench.run(&format!("cv {data} -g 1 {options} -k 3 -q")).out.contains(match name {
            "nu-svc" => "accuracy",
            "one-class" => "inliers",
            "quantile" => "pinball loss",
            "expectile" => "expectile loss",
            _ => "mean squared error",
        }));
    }
}

#[test]
fn scores_of_values_are_those_of_the_decisions_written() {
    let bench = bench();
    let document = bench.json("cv values --formulation epsilon-svr -g 1 -c 5 -k 4 -o out -q");
    assert_eq!((&document["fold_plan"], &document["accuracy"]), (&Value::from("shuffled"), &Value::Null));
    let rows: Vec<Vec<f64>> =
        bench.read("out").lines().map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect();
    // A value is what its one machine decides.
    assert!(rows.iter().all(|row| row.len() == 3 && row[1] == row[2]));
    let error = rows.iter().map(|row| (row[0] - row[1]).powi(2)).sum::<f64>() / rows.len() as f64;
    let said = document["scores"]["mean_squared_error"].as_f64().expect("a score");
    assert!((said - error).abs() < 1e-12 && error < 0.1, "{said} {error}");
    let grid = bench.json("grid values --formulation epsilon-svr -g 1 -c 0.001:10 -k 4 -q");
    let errors: Vec<f64> = grid["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .map(|point| point["scores"]["mean_squared_error"].as_f64().expect("a score"))
        .collect();
    let best = grid["cells"].as_array().expect("cells").iter().find(|point| point["c"] == grid["best_c"]).expect("the best");
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(best["scores"]["mean_squared_error"], least, "{errors:?}");
    assert_eq!(grid["majority"], Value::Null);
}

#[test]
fn scores_of_a_quantile_are_those_of_its_level() {
    let bench = bench();
    let options = "--formulation quantile --tau 0.9 -g 1";
    let document = bench.json(&format!("cv values {options} -c 5 -k 4 -o out -q"));
    assert_eq!(document["formulation"]["tau"], 0.9);
    let pairs: Vec<(f64, f64)> = bench
        .read("out")
        .lines()
        .map(|line| {
            let mut words = line.split(' ').map(|word| word.parse().expect("a number"));
            (words.next().expect("a target"), words.next().expect("a prediction"))
        })
        .collect();
    let mean = |of: fn(f64) -> f64| pairs.iter().map(|(y, f)| of(y - f)).sum::<f64>() / pairs.len() as f64;
    let pinball = mean(|e| if e > 0.0 { 0.9 * e } else { -0.1 * e });
    let coverage = mean(|e| f64::from(u8::from(e <= 0.0)));
    let said = |name: &str| document["scores"][name].as_f64().expect("a score");
    assert!((said("pinball_loss") - pinball).abs() < 1e-12 && (said("coverage") - coverage).abs() < 1e-12);
    // A search is for the least, and predictions of the model have the same scores.
    let grid = bench.json(&format!("grid values {options} -c 0.001:10 -k 4 -q"));
    let cells = grid["cells"].as_array().expect("cells");
    let loss = |cell: &Value| cell["scores"]["pinball_loss"].as_f64().expect("a score");
    let least = cells.iter().map(loss).fold(f64::INFINITY, f64::min);
    assert_eq!(cells.iter().find(|cell| cell["c"] == grid["best_c"]).map(loss), Some(least));
    assert_eq!(bench.run(&format!("train values {options} -c 5 -o m -q")).code, 0);
    let predicted = bench.json("predict values m -q");
    assert!(predicted["scores"]["pinball_loss"].as_f64().expect("a score") > 0.0);
    assert!(predicted["scores"]["coverage"].as_f64().expect("a share") >= 0.85);
    assert!(bench.run("info m").out.contains("quantile, tau 0.9, pinball loss, free bias"));
    // LIBSVM's text holds the function, not what it is of.
    assert_eq!(bench.run("convert m text --format libsvm").code, 0);
    assert!(bench.read("text").starts_with("svm_type epsilon_svr\n"));
    let calibrated = bench.run("calibrate m values -o m2 -q");
    assert!(calibrated.code != 0 && calibrated.err.contains("quantile has no probabilities"), "{calibrated:?}");
    assert!(bench.json("predict values text -q")["scores"].get("pinball_loss").is_none());
}

#[test]
fn several_levels_are_one_model() {
    let bench = bench();
    let options = "--formulation quantile --tau 0.9,0.1,0.5 -g 1 -c 5";
    let document = bench.json(&format!("cv values {options} -k 4 -q"));
    assert_eq!(document["formulation"]["levels"], serde_json::json!([0.1, 0.5, 0.9]));
    let levels = document["levels"]["levels"].as_array().expect("levels").clone();
    let mean = levels.iter().map(|level| level["loss"].as_f64().expect("a loss")).sum::<f64>() / 3.0;
    assert!((document["scores"]["pinball_loss"].as_f64().expect("a loss") - mean).abs() < 1e-12);
    let text = bench.run(&format!("cv values {options} -k 4 -q")).out;
    assert!(text.contains("quantile, tau 0.1, 0.5, 0.9, ") && text.contains(" crossing "), "{text}");
    // A grid chooses by the mean loss of all levels.
    let grid = bench.json(&format!("grid values {options},50 -k 4 -q"));
    assert_eq!(grid["cells"][0]["scores"]["pinball_loss"], document["scores"]["pinball_loss"]);
    let trained = bench.run(&format!("train values {options} -o m -q"));
    assert!(trained.code == 0 && trained.out.contains("tau 0.1"), "{trained:?}");
    assert_eq!(bench.json("verify m values -q")["matches"], true);
    // Values ascend in each row, and the prediction is the middle one.
    let rows: Vec<Vec<f64>> = bench
        .run("predict values m -q")
        .out
        .lines()
        .map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect())
        .collect();
    assert!(rows.len() == 60 && rows.iter().all(|row| row.len() == 3 && row.is_sorted()), "{rows:?}");
    assert_eq!(bench.json("predict values m -q")["levels"]["rows"], 60);
    let refused = bench.run("train values --formulation quantile --tau 0.1,0.1 -o m2 -q");
    assert!(refused.code == 2 && refused.err.contains("--tau has 0.1 twice"), "{refused:?}");
    let text = bench.run("convert m text --format libsvm");
    assert!(text.code != 0 && text.err.contains("several quantiles"), "{text:?}");
}

#[test]
fn importance_is_of_every_column() {
    let bench = bench();
    let document = bench.json("cv classes -g 1 -c 5 -k 4 --importance=3 -q");
    let found = &document["importance"];
    assert_eq!((found["metric"].as_str(), found["repeats"].as_u64()), (Some("accuracy"), Some(3)));
    let means: Vec<f64> =
        found["columns"].as_array().expect("columns").iter().map(|column| column["mean"].as_f64().expect("a number")).collect();
    assert!(!means.is_empty() && means.is_sorted_by(|a, b| a >= b), "{means:?}");
    let text = bench.run("cv classes -g 1 -c 5 -k 4 --importance -q").out;
    assert!(text.contains(" importance ") && text.contains("5 permutations of each of"), "{text}");
    let without = bench.json("cv classes -g 1 -c 5 -k 4 -q");
    assert!(without.get("importance").is_none() && without["scores"] == document["scores"]);
}

#[test]
fn exact_sets_are_made_from_all_training_rows() {
    let bench = bench();
    assert_eq!(bench.run("train classes -g 1 -c 5 --updatable -o kept -q").code, 0);
    let sets = bench.run("predict classes kept --sets --full --alpha 0.1 -o sets -q");
    assert_eq!(bench.read("sets").lines().count(), 1 + bench.read("classes").lines().count());
    assert!(sets.code == 0 && sets.out.contains("sets by full conformal prediction at 0.1"), "{sets:?}");
    let refused = |line: &str, code: i32, says: &str| {
        let answer = bench.run(line);
        assert!(answer.code == code && answer.err.contains(says), "{line}: {answer:?}");
    };
    refused("predict classes kept --sets --full -q", 2, "--full: add --alpha 0.1");
    refused("predict classes kept --full -q", 2, "--sets");
    assert_eq!(bench.run("train classes -g 1 -c 5 -o bare -q").code, 0);
    refused("predict classes bare --sets --full --alpha 0.1 -q", 1, "train it with --updatable");
    assert_eq!(bench.run("train penguins --impute median --updatable -o several -q").code, 0);
    refused("predict penguins several --sets --full --alpha 0.1 -q", 1, "use the sets of folds (train --conformal 0.1)");
}

#[test]
fn weights_of_samples_come_from_a_file() {
    let bench = bench();
    bench.file("weights", ["1\n", "2\n", "0\n"].concat().repeat(20));
    let rows = values();
    let twice: Vec<String> = rows.lines().enumerate().map(|(i, line)| format!("{line}\n").repeat([1, 2, 0][i % 3])).collect();
    bench.file("twice", twice.concat());
    let options = "--formulation epsilon-svr -g 1 -c 5 --eps 1e-6 -q --force";
    let weighted = bench.json(&format!("train values --weights weights {options} -o m"));
    let copied = bench.json(&format!("train twice {options} -o m2"));
    let of = |document: &Value, key: &str| document["certificate"][key].as_f64().expect("a number");
    assert!(of(&weighted, "dual") <= of(&copied, "primal") + 1e-9 && of(&copied, "dual") <= of(&weighted, "primal") + 1e-9);
    assert_eq!(weighted["sample_weights"], serde_json::json!({"minimum": 0.0, "maximum": 2.0, "sum": 60.0}));
    assert_eq!(bench.json("verify m values -q")["matches"], true);
    bench.file("bad", "1\nx\n");
    let answer = bench.run("train values --formulation epsilon-svr --weights bad -q -o m3");
    assert!(answer.code == 1 && answer.err.contains("bad:2: `x` is not a weight"), "{answer:?}");
    bench.file("short", "1\n1\n");
    let answer = bench.run("train values --formulation epsilon-svr --weights short -q -o m3");
    assert!(answer.code == 1 && answer.err.contains("short: 2 weights for 60 rows of values"), "{answer:?}");
    let over = bench.run("train values --formulation epsilon-svr --weights weights -q -o weights");
    assert!(over.code == 1 && bench.read("weights").starts_with("1\n2\n"), "{over:?}");
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    let bench = bench();
    let refused = |line: &str, code: i32, says: &str| {
        let answer = bench.run(&format!("{line} -q"));
        assert_eq!(answer.code, code, "{line}: {answer:?}");
        let errors: Vec<&str> = answer.err.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(errors.len() == 1 && errors[0].contains(says), "{line}: {answer:?} does not say {says:?}");
    };
    bench.file("uneven", "1 1:1\n-1 1:2\n-1 1:3\n-1 1:4\n");
    refused("train uneven --formulation nu-svc --nu 0.6", 1, "nu, 0.6, is infeasible: it must be above 0 and at most 0.5");
    refused("train classes --epsilon 0.1", 2, "--epsilon is for --formulation epsilon-svr, not c-svc");
    refused("train classes --formulation epsilon-svr --nu 0.1", 2, "--nu is for --formulation nu-svc, nu-svr or one-class");
    refused("train values --formulation epsilon-svr --weight 1=2", 2, "--weight 1=…: epsilon-svr has no classes");
    refused("cv values --formulation nu-svr --folds stratified", 2, "there are no classes");
    refused("grid classes --formulation one-class --metric f1", 2, "unknown metric; there are inliers");
    refused("train values --formulation one-class --loss squared", 2, "its loss is the hinge loss");
    refused("train values --formulation quantile --loss squared", 2, "quantile has a loss of its own; leave the loss out");
    refused("train values --formulation expectile --loss hinge", 2, "expectile has a loss of its own");
    refused("train values --formulation quantile --epsilon 0.1", 2, "--epsilon is for --formulation epsilon-svr, not quantile");
    refused("train values --formulation epsilon-svr --tau 0.5", 2, "--tau is for --formulation quantile or expectile");
    refused("grid values --formulation quantile --metric coverage", 2, "unknown metric; there are pinball_loss, mean_absolute");
    refused("train values --formulation quantile --probability platt -o m", 1, "quantile has no probabilities");
    refused("train values --formulation quantile --updatable", 2, "models of quantile cannot be updated");
    refused("train values --formulation nu-svr --solver irwls", 2, "it does not solve nu-svr; use --solver smo");
    refused("train values --formulation epsilon-svr --updatable", 2, "models of epsilon-svr cannot be updated");
    refused("cv values --formulation epsilon-svr --seeding sir", 2, "it is for C-SVC");
    assert_eq!(bench.run("train values --formulation epsilon-svr -o m -q").code, 0);
    refused("update m --data values --remove 1", 1, "the model is of epsilon-svr, and exact updates are for C-SVC");
    let usage = bench.run("train values --formulation epsilon-svr --epsilon -1");
    assert!(usage.code == 2 && usage.err.contains("0 or more"), "{usage:?}");
    let usage = bench.run("train values --formulation nu-svr --nu 1.5");
    assert!(usage.code == 2 && usage.err.contains("at most 1"), "{usage:?}");
    for tau in ["0", "1", "-0.5", "1.5", "nan", "half"] {
        let usage = bench.run(&format!("train values --formulation quantile --tau {tau}"));
        assert!(usage.code == 2 && usage.err.contains("above 0 and below 1"), "{usage:?}");
    }
    let warned = bench.run("train classes --formulation epsilon-svr -o m --force");
    assert!(
        warned.warnings().iter().any(|warning| warning.contains("if they are classes, use --formulation c-svc")),
        "{warned:?}"
    );
}

/// The loss of several levels is their mean, in a prediction as in a cross-validation.
#[test]
fn predictions_at_several_levels_have_the_mean_loss() {
    let bench = Bench::new();
    bench
        .file("v.csv", format!("x,y\n{}", (0..40).map(|i| format!("{},{}\n", i % 9, (i * i) % 13)).collect::<Vec<_>>().concat()));
    assert_eq!(bench.run("train v.csv --target y --formulation quantile --tau 0.1,0.5,0.9 -o m -q").code, 0);
    let found = bench.json("predict v.csv m");
    let losses: Vec<f64> =
        found["levels"]["levels"].as_array().expect("levels").iter().map(|of| of["loss"].as_f64().expect("a loss")).collect();
    let mean = losses.iter().sum::<f64>() / 3.0;
    let said = found["scores"]["pinball_loss"].as_f64().expect("a loss");
    assert!((said - mean).abs() < 1e-12 && (said - losses[1]).abs() > 1e-6, "{said} {losses:?}");
}
