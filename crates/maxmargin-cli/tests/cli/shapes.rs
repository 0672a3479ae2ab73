//! The shape of the JSON documents: key paths and types, the same for two classes and for four, and
//! every key described in docs/json.md.

use crate::common::Bench;
use maxmargin::core::TargetKind;
use maxmargin::metrics::all_metrics;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Types by path; elements of an array share one path.
type Shape = BTreeMap<String, BTreeSet<&'static str>>;

fn walk(value: &Value, path: &str, shape: &mut Shape) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "truth",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    shape.entry(path.to_owned()).or_default().insert(kind);
    match value {
        Value::Array(values) => values.iter().for_each(|value| walk(value, &format!("{path}[]"), shape)),
        // Which metrics there are depends on what is scored.
        Value::Object(_) if path.ends_with(".scores") || path.ends_with(".spread") => {}
        Value::Object(fields) => fields.iter().for_each(|(key, value)| walk(value, &format!("{path}.{key}"), shape)),
        _ => {}
    }
}

fn shape(document: &Value) -> Shape {
    let mut shape = Shape::new();
    walk(document, "", &mut shape);
    shape
}

fn text(shape: &Shape) -> String {
    let line = |(path, kinds): (&String, &BTreeSet<&str>)| {
        format!("{path}: {}\n", kinds.iter().copied().collect::<Vec<_>>().join(" or "))
    };
    shape.iter().map(line).collect()
}

/// Rows of some classes that overlap.
fn data(classes: usize) -> String {
    let mut state = 17_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let places = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)];
    let line = |i: usize| {
        let (x, y) = places[i % classes];
        format!("{} 1:{} 2:{}\n", i % classes, x + noise(), y + noise())
    };
    (0..20 * classes).map(line).collect()
}

/// The shapes of the documents of a command on data of two classes and of four.
fn of_two_and_four(before: &[&str], line: &str) -> [Shape; 2] {
    [2, 4].map(|classes| {
        let bench = Bench::new();
        bench.file("data", data(classes));
        before.iter().for_each(|line| assert_eq!(bench.run(&format!("{line} -q")).code, 0, "{line}"));
        let json = if line.contains("--json") { "" } else { "--json" };
        shape(&bench.run(&format!("{line} {json}")).json())
    })
}

#[test]
fn documents_have_one_shape() {
    let described = include_str!("../../../../docs/json.md");
    for metric in [TargetKind::Classes, TargetKind::Values, TargetKind::Nothing].into_iter().flat_map(all_metrics) {
        assert!(described.contains(&format!("`{}`", metric.name())), "{} is not in docs/json.md", metric.name());
    }
    let train = ["train data -c 2 -g 1 --updatable -o m"];
    let probable = ["train data -c 2 -g 1 --probability platt -o m"];
    let cases: [(&str, &[&str], &str); 16] = [
        ("train", &[], "train data -c 2 -g 1 -o m"),
        ("cv", &[], "cv data -c 2 -g 1 -k 3"),
        ("cv_full", &[], "cv data -c 2 -g 1 -k 3 --seeding cold --json=full"),
        ("loo", &[], "loo data -c 2 -g 1"),
        ("grid", &[], "grid data -c 1,2 -g 1 -k 3"),
        ("predict", &train, "predict data m"),
        ("explain", &train, "explain m data --background data --interactions"),
        ("cv_suspects", &[], "cv data -c 2 -g 1 -k 3 --suspects list.csv"),
        ("verify", &train, "verify m"),
        ("update", &train, "update m --remove 1-3 -c 3"),
        ("info_model", &train, "info m"),
        ("info_data", &train, "info data"),
        ("train_probability", &[], "train data -c 2 -g 1 --probability platt -o m"),
        ("predict_probability", &probable, "predict data m"),
        ("calibrate", &train, "calibrate m data"),
        ("doctor", &[], "doctor"),
    ];
    for (name, before, line) in cases {
        let [two, four] = of_two_and_four(before, line);
        assert_eq!(text(&two), text(&four), "{name}");
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(format!("shape_{name}"), text(&two));
        });
        for path in two.keys().filter(|path| !path.is_empty()) {
            let key = path.rsplit('.').next().unwrap_or(path).trim_end_matches("[]");
            assert!(described.contains(&format!("`{key}`")), "{name}: {path} is not in docs/json.md");
        }
    }
}

#[test]
fn every_solver_has_the_shape_of_its_command() {
    let bench = Bench::new();
    bench.file("data", data(4));
    // Each solver has counts, warnings and starts of folds of its own.
    let own = |path: &String| [".work.", ".machines", ".full.", ".warnings["].iter().any(|part| path.contains(part));
    let without_work = |document: &Value| -> BTreeSet<String> { shape(document).into_keys().filter(|path| !own(path)).collect() };
    for command in ["train data -o m", "cv data -k 3", "grid data -c 1,2 -k 3 --kernel rbf"] {
        let smo = without_work(&bench.json(&format!("{command} --solver smo")));
        for solver in ["irwls", "pairwise", "cvm", "linear", "avsf --bias 1"] {
            let kernel = if ["linear", "avsf --bias 1"].contains(&solver) { "--kernel linear" } else { "" };
            let command = if kernel.is_empty() { command } else { command.trim_end_matches(" --kernel rbf") };
            let found = without_work(&bench.json(&format!("{command} {kernel} --solver {solver}")));
            assert_eq!(found, smo, "{command} {solver}");
        }
    }
}
