//! Counts and values of a cell, compared with those of an earlier measurement of it.

use super::record::Measured;
use serde_json::Value;

/// The relative difference of two values that are sums in another order.
const ROUNDING: f64 = 1e-9;

/// Figures that may differ where nothing changed: what certificates leave after cancellation, and
/// the bound of another training.
const NO_COUNTS: [&str; 7] = ["kkt", "relative_gap", "bound", "bound_gap", "excess", "tolerance", "threads"];

/// Returns a line for each count or value that differs, in order of their names.
///
/// Whole numbers and words are compared exactly, other numbers to a relative 1e-9, figures that
/// both measurements have. Seconds, bytes and violations of certificates are no counts.
pub(crate) fn differences(before: &Measured, now: &Measured) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Ok(before), Ok(now)) = (serde_json::to_value(before), serde_json::to_value(now)) {
        compare("", &before, &now, &mut lines);
    }
    lines
}

fn is_count(name: &str) -> bool {
    !(NO_COUNTS.contains(&name) || name.contains("seconds") || name.contains("bytes"))
}

fn compare(name: &str, before: &Value, now: &Value, lines: &mut Vec<String>) {
    match (before, now) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(before), Value::Object(now)) => {
            let both =
                before.iter().filter(|(key, _)| is_count(key)).filter_map(|(key, value)| Some((key, value, now.get(key)?)));
            for (key, value, other) in both {
                let inner = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                compare(&inner, value, other, lines);
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            let mut inner = Vec::new();
            for (place, (value, other)) in before.iter().zip(now).enumerate() {
                compare(&format!("{name}[{place}]"), value, other, &mut inner);
            }
            if let Some(first) = inner.first() {
                lines.push(if inner.len() == 1 { first.clone() } else { format!("{first}, and {} more", inner.len() - 1) });
            }
        }
        (Value::Array(before), Value::Array(now)) => {
            lines.push(format!("{name}: {} values -> {}", before.len(), now.len()));
        }
        _ if is_same(before, now) => {}
        _ => lines.push(format!("{name}: {before} -> {now}")),
    }
}

/// Returns whether two values are the same count, word or, to rounding, number.
fn is_same(before: &Value, now: &Value) -> bool {
    match (before.as_f64(), now.as_f64()) {
        _ if before == now => true,
        (Some(a), Some(b)) if before.is_f64() || now.is_f64() => (a - b).abs() <= ROUNDING * a.abs().max(b.abs()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::differences;
    use crate::cells::record::Measured;
    use serde_json::{Value, json};

    fn measured(change: &Value) -> Measured {
        let mut figures = json!({
            "iterations": 320, "rows_computed": 270, "accuracy": 83.5, "objective": -2.0, "kkt": 9e-4, "peak_rss_bytes": 7_000,
            "support_vectors": 95, "status": "Converged", "fold_iterations": [100, 120, 100], "solve_seconds": 0.5,
            "work": { "steps": 12, "sweep_seconds": 0.1 },
        });
        let all = figures.as_object_mut().expect("object");
        all.extend(change.as_object().expect("object").clone());
        serde_json::from_value(figures).expect("figures")
    }

    fn lines(change: &Value) -> Vec<String> {
        differences(&measured(&json!({})), &measured(change))
    }

    #[test]
    fn counts_exactly_and_values_to_rounding() {
        assert!(lines(&json!({})).is_empty());
        assert_eq!(
            lines(&json!({"iterations": 321, "support_vectors": 94})),
            ["iterations: 320 -> 321", "support_vectors: 95 -> 94"]
        );
        assert_eq!(lines(&json!({"rows_computed": 271, "status": "TimeLimit"})).len(), 2);
        assert!(lines(&json!({"objective": -2.000_000_001, "accuracy": 83.5 * (1.0 + 1e-10)})).is_empty());
        assert_eq!(lines(&json!({"objective": -2.000_000_01})), ["objective: -2.0 -> -2.00000001"]);
        assert_eq!(lines(&json!({"accuracy": 83.6})), ["accuracy: 83.5 -> 83.6"]);
    }

    #[test]
    fn counts_within_lists_and_groups() {
        assert_eq!(lines(&json!({"fold_iterations": [100, 119, 101]})), ["fold_iterations[1]: 120 -> 119, and 1 more"]);
        assert_eq!(lines(&json!({"fold_iterations": [320]})), ["fold_iterations: 3 values -> 1"]);
        assert_eq!(lines(&json!({"work": {"steps": 13, "sweep_seconds": 9.0}})), ["work.steps: 12 -> 13"]);
    }

    #[test]
    fn seconds_bytes_and_violations_are_no_counts() {
        assert!(lines(&json!({"kkt": 1e-5, "peak_rss_bytes": 1, "solve_seconds": 9.0})).is_empty());
        // A figure that only one of both has.
        assert!(lines(&json!({"breakpoints": 3, "accuracy": null})).is_empty());
    }
}
