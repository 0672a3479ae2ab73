//! The stored snapshots: one file per group of cases, written by a recording, compared otherwise.

use super::extract::Numbers;
use super::numbers::parse;
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;

/// Tolerance on floats where bits may differ, relative to their size, or to 1 if they are smaller.
///
/// A violation of optimality is a difference of decision values, which are of size 1, and near an
/// optimum it is rounding alone.
const NEAR: f64 = 1e-9;

/// Returns whether this run records.
pub(crate) fn recording() -> bool {
    std::env::var_os("MAXMARGIN_RECORD").is_some()
}

fn path(group: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "cli", "snapshots", &format!("{group}.json")].iter().collect()
}

/// Writes what the cases of `group` gave, values that belong together in one line.
pub(crate) fn write(group: &str, cases: &[(String, Numbers)]) {
    let mut out = String::from("{");
    for (c, (case, found)) in cases.iter().enumerate() {
        let _ = write!(out, "{}\n  {case:?}: {{", if c == 0 { "" } else { "," });
        let mut before = None;
        for (v, (name, value)) in found.iter().enumerate() {
            let subject = name.rsplit_once(' ').map_or("", |(subject, _)| subject);
            let gap = if before == Some(subject) { " " } else { "\n    " };
            before = Some(subject);
            let number = value.parse::<f64>().is_ok_and(f64::is_finite) && !name.ends_with("hash");
            let quote = if number || value == "true" || value == "false" { "" } else { "\"" };
            let _ = write!(out, "{}{gap}{name:?}: {quote}{value}{quote}", if v == 0 { "" } else { "," });
        }
        out.push_str("\n  }");
    }
    out.push_str("\n}\n");
    std::fs::write(path(group), out).unwrap_or_else(|e| panic!("{group}: {e}"));
}

/// Returns the stored numbers of `group`.
pub(crate) fn read(group: &str) -> Value {
    let path = path(group);
    parse(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}; record with MAXMARGIN_RECORD=1", path.display())))
}

/// The lines of a report on what differs; what was found and is not stored is not looked at.
pub(crate) fn differences(case: &str, stored: &Value, found: &Numbers, exact: bool) -> Vec<String> {
    let Some(stored) = stored.as_object() else { return vec![format!("{case}: nothing stored")] };
    let line = |(name, stored): (&String, &Value)| {
        let stored = stored.as_str().map_or_else(|| stored.to_string(), str::to_owned);
        let found = found.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let same = found.is_some_and(|found| same(name, &stored, found, exact));
        (!same).then(|| format!("{case}: {name}: stored {stored}, found {}", found.unwrap_or("nothing")))
    };
    stored.iter().filter_map(line).collect()
}

fn same(name: &str, stored: &str, found: &str, exact: bool) -> bool {
    // Without its exact bits the text of decision values says nothing; their sum and the first of
    // them do.
    if stored == found || !exact && name == "decisions hash" {
        return true;
    }
    let (Ok(a), Ok(b)) = (stored.parse::<f64>(), found.parse::<f64>()) else { return false };
    let float = [stored, found].iter().any(|text| text.contains(['.', 'e']));
    // A sum of decision values may have lost as much as each of some hundred values.
    let near = if name == "decisions sum" { 1000.0 * NEAR } else { NEAR };
    !name.ends_with("hash") && (a == b || !exact && float && (a - b).abs() <= near * a.abs().max(b.abs()).max(1.0))
}

#[test]
fn the_last_bit_counts() {
    let stored = parse("{\"a 0\": 0.1, \"n\": 7, \"h hash\": \"12\", \"s\": \"converged\"}");
    let found = |a: &str, n: &str| -> Numbers {
        [("a 0", a), ("n", n), ("h hash", "12"), ("s", "converged"), ("new", "1")]
            .map(|(n, v)| (n.to_owned(), v.to_owned()))
            .into()
    };
    let count = |a, n, exact| differences("case", &stored, &found(a, n), exact).len();
    assert_eq!(count("0.1", "7", true), 0);
    assert_eq!(count("1e-1", "7", true), 0);
    assert_eq!(count("0.10000000000000002", "7", true), 1);
    assert_eq!((count("0.10000000000000002", "7", false), count("0.10000001", "8", false)), (0, 2));
    assert_eq!(differences("case", &stored, &Numbers::new(), false).len(), 4);
    assert_eq!(parse(r#"{"a": "1 \" 2", "b": [-1.5e-7, true]}"#)["b"][0], "-1.5e-7");
}
