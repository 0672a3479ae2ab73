//! Named settings of a cell, and how they are written as text.

use crate::workspace::failure::{Outcome, fail};
use serde_json::{Map, Value};

/// Named settings of a cell, as the measured program reads them.
pub(crate) type Settings = Map<String, Value>;

/// The setting `folds` that asks for those of `svm-train -v`.
pub(crate) const LIBSVM_FOLDS: &str = "libsvm";

/// Settings as text, sorted by name.
pub(crate) fn label(settings: &Settings) -> String {
    let parts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
    parts.join(" ")
}

/// `template` with every `{key}` replaced by its setting.
pub(crate) fn fill(template: &str, settings: &Settings) -> Outcome<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, tail)) = after.split_once('}') else { return fail(format!("`{template}` lacks a closing brace")) };
        let Some(value) = settings.get(key) else { return fail(format!("`{template}`: the cell has no setting `{key}`")) };
        out += before;
        out += &plain(value);
        rest = tail;
    }
    Ok(out + rest)
}

/// A value as a person writes it: no quotes, and no `.0` behind whole numbers.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |x| x.to_string()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::fill;
    use serde_json::json;

    #[test]
    fn templates() {
        let settings = json!({"k": 10, "c": 2182.0, "folds": "contiguous"}).as_object().expect("map").clone();
        assert_eq!(fill("libsvm_k{k}_s", &settings).expect("filled"), "libsvm_k10_s");
        assert_eq!(fill("{c}/{folds}", &settings).expect("filled"), "2182/contiguous");
        assert!(fill("{gamma}", &settings).unwrap_err().to_string().contains("gamma"));
        assert!(fill("{k", &settings).is_err());
    }
}
