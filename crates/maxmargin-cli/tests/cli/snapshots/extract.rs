//! The numbers in what the program writes, under names that outlive the shape of its documents.
//!
//! This is the one place to change when documents change; the stored snapshots and the names stay.
//! A name that a document comes to tell in addition needs no change: what is not stored is not
//! compared.

use super::numbers::{hash, parse};
use serde_json::Value;

/// Names and the text of their values, in the order in which they are stored.
pub(crate) type Numbers = Vec<(String, String)>;

/// The text of the number, word or truth at `path`, if the document tells it.
fn text(document: &Value, path: &str) -> Option<String> {
    match document.pointer(path)? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Adds what the document tells of `fields`: (name, path).
fn add(found: &mut Numbers, document: &Value, prefix: &str, fields: &[(&str, &str)]) {
    for (name, path) in fields {
        if let Some(value) = text(document, path) {
            found.push((format!("{prefix}{name}"), value));
        }
    }
}

fn list<'v>(document: &'v Value, name: &str) -> &'v [Value] {
    document[name].as_array().map_or(&[], Vec::as_slice)
}

const MACHINE: [(&str, &str); 8] = [
    ("status", "/status"),
    ("iterations", "/iterations"),
    ("objective", "/objective"),
    ("bias", "/bias"),
    ("support_vectors", "/support_vectors"),
    ("bounded", "/bounded"),
    ("primal", "/certificate/primal"),
    ("kkt", "/certificate/kkt"),
];
const DUAL: (&str, &str) = ("dual", "/certificate/dual");
const SUMS: [(&str, &str); 3] = [("status", "/status"), ("iterations", "/iterations"), ("rows_computed", "/rows_computed")];

/// `train`.
pub(crate) fn train(json: &str) -> Numbers {
    let document = parse(json);
    let mut found = Numbers::new();
    add(&mut found, &document, "", &SUMS);
    for (m, machine) in list(&document, "machines").iter().enumerate() {
        add(&mut found, machine, &format!("machine {m} "), &MACHINE);
        add(&mut found, machine, &format!("machine {m} "), &[DUAL]);
    }
    found
}

/// The number at `path`, 0 if there is none.
fn number(document: &Value, path: &str) -> f64 {
    text(document, path).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Adds the largest of some machines, folds or points.
fn add_largest(found: &mut Numbers, of: &[&Value], prefix: &str, fields: &[(&str, &str)]) {
    for (name, path) in fields {
        if let Some(worst) = of.iter().max_by(|a, b| number(a, path).total_cmp(&number(b, path))) {
            add(found, worst, prefix, &[(name, path)]);
        }
    }
}

const WORST: [(&str, &str); 2] = [("kkt", "/certificate/kkt"), ("relative_gap", "/certificate/relative_gap")];

/// `cv` and `loo`, with the machines of every fold.
pub(crate) fn cv(json: &str) -> Numbers {
    let document = parse(json);
    let mut found = Numbers::new();
    add(&mut found, &document, "", &SUMS);
    let sums = [("accuracy", "/accuracy"), ("correct", "/correct"), ("total_iterations", "/total_iterations")];
    add(&mut found, &document, "", &sums);
    add(&mut found, &document, "", &[("seed_steps", "/seed_steps")]);
    let (folds, full) = (list(&document, "folds"), list(&document, "machines"));
    let classes = list(&document["data"], "classes").len();
    let several = classes > 2;
    for m in (0..classes * (classes - 1) / 2).filter(|_| several) {
        let is_it = |machine: &&Value| number(machine, "/machine") == m as f64;
        let of_folds = folds.iter().flat_map(|fold| list(fold, "machines"));
        let iterations: f64 = of_folds.chain(full).filter(is_it).map(|machine| number(machine, "/iterations")).sum();
        found.push((format!("machine {m} iterations"), iterations.to_string()));
        if let Some(machine) = full.iter().find(is_it) {
            let fields =
                [("full primal", "/certificate/primal"), ("full dual", "/certificate/dual"), ("full kkt", "/certificate/kkt")];
            add(&mut found, machine, &format!("machine {m} "), &fields);
        }
    }
    if let ([machine], false) = (full, several) {
        add(&mut found, machine, "full machine 0 ", &MACHINE);
    }
    for (f, fold) in folds.iter().enumerate() {
        let prefix = format!("fold {f} ");
        add(&mut found, fold, &prefix, &[("status", "/status"), ("iterations", "/iterations"), ("correct", "/correct")]);
        if folds.len() > 20 {
            // Leave-one-out: what each fold cost and reached is enough.
            add(&mut found, fold, &prefix, &[("machine 0 objective", "/objective")]);
            continue;
        }
        // The worst machine's, be it trained for this fold or that of all data which serves it.
        let own = list(fold, "machines");
        let shared = full.iter().filter(|machine| !own.iter().any(|own| own["machine"] == machine["machine"]));
        add_largest(&mut found, &own.iter().chain(shared).collect::<Vec<_>>(), &prefix, &WORST);
        add(&mut found, fold, &prefix, &[("support_vectors", "/support_vectors"), ("rows_computed", "/rows_computed")]);
        add(&mut found, fold, &prefix, &[("seed_steps", "/seed_steps"), ("breakpoints", "/breakpoints")]);
        if !several {
            let machine = [("objective", "/objective"), ("bounded", "/bounded"), ("primal", "/certificate/primal")];
            add(&mut found, fold, &format!("{prefix}machine 0 "), &machine);
        }
    }
    found
}

/// `grid`.
pub(crate) fn grid(json: &str) -> Numbers {
    let document = parse(json);
    let mut found = Numbers::new();
    add(&mut found, &document, "", &[("best_c", "/best_c")]);
    for (p, point) in list(&document, "cells").iter().enumerate() {
        let prefix = format!("point {p} ");
        let fields = [("c", "/c"), ("status", "/status"), ("iterations", "/total_iterations")];
        add(&mut found, point, &prefix, &fields);
        add(&mut found, point, &prefix, &[("accuracy", "/accuracy"), ("correct", "/correct")]);
        add_largest(&mut found, &list(point, "folds").iter().collect::<Vec<_>>(), &prefix, &WORST);
    }
    found
}

/// `update`.
pub(crate) fn update(json: &str) -> Numbers {
    let document = parse(json);
    let mut found = Numbers::new();
    for name in ["status", "rows", "added", "removed", "margin"] {
        add(&mut found, &document, "", &[(name, &format!("/{name}"))]);
    }
    for name in ["breakpoints", "zero_steps", "exchanges", "repairs", "columns"] {
        add(&mut found, &document["work"], "", &[(name, &format!("/{name}"))]);
    }
    for (m, machine) in list(&document, "machines").iter().enumerate() {
        add(&mut found, machine, &format!("machine {m} "), &MACHINE[4..]);
        add(&mut found, machine, &format!("machine {m} "), &[DUAL]);
    }
    found
}

/// `verify`.
pub(crate) fn verify(json: &str) -> Numbers {
    let document = parse(json);
    let mut found = Numbers::new();
    let verdicts = [("matches", "/matches"), ("tolerance_met", "/tolerance_met")];
    add(&mut found, &document, "verify ", &verdicts);
    add(&mut found, &document, "verify ", &MACHINE[6..]);
    found
}

/// The output of `predict --decision`: the values of a row in a line.
pub(crate) fn decisions(written: &str) -> Numbers {
    let values: Vec<&str> = written.split_whitespace().collect();
    told(written, &values)
}

/// The output of `cv -o`: `label predicted` and a decision value of each machine.
pub(crate) fn tested(written: &str) -> Numbers {
    let rows: Vec<Vec<&str>> = written.lines().map(|line| line.split(' ').collect()).collect();
    let labels: Vec<String> = rows.iter().map(|row| row[..2].join(" ")).collect();
    let mut found = vec![("labels hash".to_owned(), hash(&labels.join("\n")))];
    let number = |text: &str| text.parse::<f64>().unwrap_or_else(|e| panic!("{e}: {text}"));
    let mut classes: Vec<f64> = rows.iter().map(|row| number(row[0])).collect();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    if classes.len() == 2 {
        let values: Vec<&str> = rows.iter().map(|row| row[2]).collect();
        found.extend(told(&values.join("\n"), &values));
        return found;
    }
    let pairs = (0..classes.len()).flat_map(|a| (a + 1..classes.len()).map(move |b| (a, b)));
    for (m, (a, b)) in pairs.enumerate() {
        // A machine is right about samples of its two classes.
        let right = |row: &&Vec<&str>| number(row[0]) == classes[if number(row[2 + m]) >= 0.0 { b } else { a }];
        found.push((format!("machine {m} correct"), rows.iter().filter(right).count().to_string()));
    }
    found
}

/// A hash of all, and enough to see how far off a mismatch is.
fn told(written: &str, values: &[&str]) -> Numbers {
    let sum: f64 = values.iter().map(|v| v.parse::<f64>().unwrap_or_else(|e| panic!("{e}: {v}"))).sum();
    let mut found = vec![("decisions hash".to_owned(), hash(written)), ("decisions sum".to_owned(), format!("{sum:?}"))];
    found.extend(values.iter().take(3).enumerate().map(|(i, v)| (format!("decisions {i}"), (*v).to_owned())));
    found
}
