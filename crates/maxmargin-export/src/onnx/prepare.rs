//! The first part of a graph: inputs, filled gaps, words as features, scaling.

use super::graph::{Attribute, Element, Graph, Value};
use crate::program::{Functions, InputColumn, InputKind, Inputs, Scale};

/// The code of a word that is not in the list of a column.
const UNKNOWN: i64 = -1;

/// The code of a gap in a column of words.
const GAP: i64 = -2;

/// The inputs of a graph before gaps are filled.
pub(super) enum RawInputs {
    /// All features, or all columns of numbers, in one matrix.
    Matrix(Value),
    /// One column each: a number, or the code of a word.
    Columns(Vec<Value>),
}

impl RawInputs {
    /// Declares the inputs: one matrix `X`, or one input for each column where some have words.
    /// Numbers have the type `element`.
    pub(super) fn declare(graph: &mut Graph, inputs: &Inputs, element: Element) -> Self {
        if !inputs.has_words() {
            let given = graph.input("X", element, inputs.count());
            return Self::Matrix(as_double(graph, given, element));
        }
        let column = |column: &InputColumn| match &column.kind {
            InputKind::Number | InputKind::Boolean => {
                let given = graph.input(&column.name, element, 1);
                as_double(graph, given, element)
            }
            InputKind::Category { words } => {
                let given = graph.input(&column.name, Element::Text, 1);
                codes(graph, &given, words)
            }
        };
        Self::Columns(inputs.columns.iter().map(column).collect())
    }

    /// Adds the features that decision functions take: filled and scaled.
    pub(super) fn features(&self, graph: &mut Graph, inputs: &Inputs, functions: &Functions) -> Value {
        let fills = &functions.fills;
        let features = match self {
            Self::Matrix(given) if fills.iter().all(Option::is_none) => given.clone(),
            Self::Matrix(given) => {
                let values = fills.iter().map(|fill| fill.unwrap_or(f64::NAN)).collect();
                let fills = graph.doubles("fills", &[1, fills.len()], values);
                filled(graph, given, &fills)
            }
            Self::Columns(given) => {
                let parts: Vec<Value> = given
                    .iter()
                    .zip(&inputs.columns)
                    .enumerate()
                    .filter(|(_, (_, column))| column.kind.width() > 0)
                    .map(|(c, (value, column))| column_features(graph, value, &column.kind, fills[c]))
                    .collect();
                graph.concat(&parts.iter().collect::<Vec<_>>())
            }
        };
        match &functions.scale {
            None => features,
            Some(scale) => scaled(graph, features, scale),
        }
    }
}

fn as_double(graph: &mut Graph, value: Value, element: Element) -> Value {
    if element == Element::Double { value } else { graph.cast(&value, Element::Double) }
}

/// Adds the places of words in their list, [`UNKNOWN`] for others and [`GAP`] for empty texts.
fn codes(graph: &mut Graph, given: &Value, words: &[String]) -> Value {
    let mut keys = words.to_vec();
    let mut places: Vec<i64> = (0..words.len() as i64).collect();
    if words.iter().all(|word| !word.is_empty()) {
        keys.push(String::new());
        places.push(GAP);
    }
    let attributes = vec![
        ("keys_strings", Attribute::Texts(keys)),
        ("values_int64s", Attribute::Ints(places)),
        ("default_int64", Attribute::Int(UNKNOWN)),
    ];
    graph.apply_ml("LabelEncoder", given, attributes)
}

/// Replaces NaN by the values to fill with.
fn filled(graph: &mut Graph, given: &Value, fills: &Value) -> Value {
    let is_gap = graph.apply("IsNaN", &[given]);
    graph.apply("Where", &[&is_gap, fills, given])
}

/// Adds the features of one column.
fn column_features(graph: &mut Graph, given: &Value, kind: &InputKind, fill: Option<f64>) -> Value {
    let InputKind::Category { words } = kind else {
        let Some(fill) = fill else { return given.clone() };
        let fill = graph.scalar("fill", fill);
        return filled(graph, given, &fill);
    };
    let gap = graph.integers("gap", &[], vec![GAP]);
    let is_gap = graph.apply("Equal", &[given, &gap]);
    let places = graph.integers("words", &[1, words.len()], (0..words.len() as i64).collect());
    let code = match fill {
        None => given.clone(),
        Some(fill) => {
            let fill = graph.integers("fill", &[], vec![fill as i64]);
            graph.apply("Where", &[&is_gap, &fill, given])
        }
    };
    let is_word = graph.apply("Equal", &[&code, &places]);
    let features = graph.cast(&is_word, Element::Double);
    if fill.is_some() {
        return features;
    }
    // A gap without a value to fill it with is an error for the program; here it shows as NaN.
    let nan = graph.scalar("nan", f64::NAN);
    graph.apply("Where", &[&is_gap, &nan, &features])
}

/// Adds `(x − shift) · factor / divisor + offset`, without the steps that change nothing.
fn scaled(graph: &mut Graph, mut value: Value, scale: &Scale) -> Value {
    for (operator, name, numbers, neutral) in [
        ("Sub", "shift", &scale.shift, 0.0),
        ("Mul", "factor", &scale.factor, 1.0),
        ("Div", "divisor", &scale.divisor, 1.0),
        ("Add", "offset", &scale.offset, 0.0),
    ] {
        if numbers.iter().any(|number| *number != neutral) {
            let numbers = graph.doubles(name, &[1, numbers.len()], numbers.clone());
            value = graph.apply(operator, &[&value, &numbers]);
        }
    }
    value
}
