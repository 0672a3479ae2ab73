//! The numbers in what the program writes, under names that outlive the shape of its documents.
//!
//! This is the one place to change when documents change; the stored snapshots and the names stay. A name that a document comes to
//! tell in addition needs no change: what is not stored is not compared.

use super::numbers::{hash, parse};
use serde_json::Value;

/// Names and the text of their values, in the order in which they are stored.
pub(crate) type Found = Vec<(String, String)>;

/// The text of the number, word or truth at `path`, if the document tells it.
fn text(document: &Value, path: &str) -> Option<String> {
    match document.pointer(path)? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Adds what the document tells of `fields`: (name, path).
fn add(found: &mut Found, document: &Value, prefix: &str, fields: &[(&str, &str)]) {
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

/// `train`: today's document of two classes is one machine, that of several has `pairs`.
pub(crate) fn train(json: &str) -> Found {
    let document = parse(json);
    let mut found = Found::new();
    add(&mut found, &document, "", &SUMS);
    let pairs = list(&document, "pairs");
    let machines = if pairs.is_empty() { std::slice::from_ref(&document) } else { pairs };
    for (m, machine) in machines.iter().enumerate() {
        add(&mut found, machine, &format!("machine {m} "), &MACHINE);
        add(&mut found, machine, &format!("machine {m} "), &[DUAL]);
    }
    found
}

/// `cv` and `loo`.
pub(crate) fn cv(json: &str) -> Found {
    let document = parse(json);
    let mut found = Found::new();
    add(&mut found, &document, "", &SUMS);
    let sums = [("accuracy", "/accuracy"), ("correct", "/correct"), ("total_iterations", "/total_iterations")];
    add(&mut found, &document, "", &sums);
    add(&mut found, &document, "", &[("seed_steps", "/seed_steps")]);
    for (m, pair) in list(&document, "pairs").iter().enumerate() {
        let fields = [("correct", "/correct"), ("iterations", "/iterations"), ("full primal", "/full/primal")];
        add(&mut found, pair, &format!("machine {m} "), &fields);
        add(&mut found, pair, &format!("machine {m} "), &[("full dual", "/full/dual"), ("full kkt", "/full/kkt")]);
    }
    if document["full"].is_object() {
        add(&mut found, &document["full"], "full machine 0 ", &MACHINE);
    }
    let folds = list(&document, "folds");
    for (f, fold) in folds.iter().enumerate() {
        let prefix = format!("fold {f} ");
        add(&mut found, fold, &prefix, &[("status", "/status"), ("iterations", "/iterations"), ("correct", "/correct")]);
        if folds.len() > 20 {
            // Leave-one-out: what each fold cost and reached is enough.
            add(&mut found, fold, &prefix, &[("machine 0 objective", "/objective")]);
            continue;
        }
        // Of several classes: the worst machine's, and the different support vectors of all machines.
        let worst = [("kkt", "/kkt"), ("relative_gap", "/relative_gap"), ("support_vectors", "/support_vectors")];
        add(&mut found, fold, &prefix, &worst);
        add(&mut found, fold, &prefix, &[("kkt", "/certificate/kkt"), ("relative_gap", "/certificate/relative_gap")]);
        add(&mut found, fold, &prefix, &[("rows_computed", "/rows_computed"), ("seed_steps", "/seed_steps")]);
        add(&mut found, fold, &prefix, &[("breakpoints", "/breakpoints")]);
        if fold["certificate"].is_object() {
            let machine = [("objective", "/objective"), ("bounded", "/bounded"), ("primal", "/certificate/primal")];
            add(&mut found, fold, &format!("{prefix}machine 0 "), &machine);
        }
    }
    found
}

/// `grid`.
pub(crate) fn grid(json: &str) -> Found {
    let document = parse(json);
    let mut found = Found::new();
    add(&mut found, &document, "", &[("best_c", "/best_c")]);
    for (p, point) in list(&document, "points").iter().enumerate() {
        let fields = ["c", "status", "iterations", "accuracy", "correct", "kkt", "relative_gap"];
        let paths: Vec<String> = fields.iter().map(|name| format!("/{name}")).collect();
        let fields: Vec<(&str, &str)> = fields.into_iter().zip(paths.iter().map(String::as_str)).collect();
        add(&mut found, point, &format!("point {p} "), &fields);
    }
    found
}

/// `update`.
pub(crate) fn update(json: &str) -> Found {
    let document = parse(json);
    let mut found = Found::new();
    let counts = ["status", "rows", "added", "removed", "breakpoints", "zero_steps", "exchanges", "repairs", "columns", "margin"];
    for name in counts {
        add(&mut found, &document, "", &[(name, &format!("/{name}"))]);
    }
    add(&mut found, &document, "machine 0 ", &MACHINE[4..]);
    add(&mut found, &document, "machine 0 ", &[DUAL]);
    found
}

/// `verify`.
pub(crate) fn verify(json: &str) -> Found {
    let document = parse(json);
    let mut found = Found::new();
    let verdicts = [("matches", "/matches"), ("tolerance_met", "/tolerance_met")];
    add(&mut found, &document, "verify ", &verdicts);
    add(&mut found, &document, "verify ", &MACHINE[6..]);
    found
}

/// What `predict --decision` wrote: the values of a row in a line.
pub(crate) fn decisions(written: &str) -> Found {
    let values: Vec<&str> = written.split_whitespace().collect();
    told(written, &values)
}

/// What `cv -o` wrote: `label predicted decision`, of several classes `label predicted`.
pub(crate) fn tested(written: &str) -> Found {
    let column = |from: usize, to: usize| -> Vec<String> {
        let lines = written.lines().map(|line| line.split(' ').skip(from).take(to - from).collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.is_empty()).collect()
    };
    let mut found = vec![("labels hash".to_owned(), hash(&column(0, 2).join("\n")))];
    let values = column(2, 3);
    if !values.is_empty() {
        found.extend(told(&values.join("\n"), &values.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    found
}

/// A hash of all, and enough to see how far off a mismatch is.
fn told(written: &str, values: &[&str]) -> Found {
    let sum: f64 = values.iter().map(|v| v.parse::<f64>().unwrap_or_else(|e| panic!("{e}: {v}"))).sum();
    let mut found = vec![("decisions hash".to_owned(), hash(written)), ("decisions sum".to_owned(), format!("{sum:?}"))];
    found.extend(values.iter().take(3).enumerate().map(|(i, v)| (format!("decisions {i}"), (*v).to_owned())));
    found
}
