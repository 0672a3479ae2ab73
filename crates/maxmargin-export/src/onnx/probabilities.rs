//! Probabilities of decision values, and of classes.

use super::coupling::coupled;
use super::graph::{Attribute, Element, Graph, Value};
use crate::program::{CalibrationMap, Classes, Outcome, Program};

/// The least distance of a probability from 0 and from 1.
const LEAST: f64 = 1e-7;

/// Adds the probabilities of all outcomes, rows × outcomes; `None` without a calibration.
pub(super) fn probabilities(graph: &mut Graph, program: &Program, decisions: &Value) -> Option<Value> {
    if program.outcomes() == 0 {
        return None;
    }
    let each = each_machine(graph, program, decisions);
    Some(match &program.outcome {
        Outcome::Classes(classes) if classes.labels.len() == 2 => two(graph, &each, false),
        Outcome::Classes(classes) => several(graph, classes, &each),
        Outcome::Inlier | Outcome::Value => two(graph, &each, true),
    })
}

/// Adds the probability `p` of the only machine and its complement: `1 − p, p`, or `p, 1 − p`.
fn two(graph: &mut Graph, each: &Value, own_first: bool) -> Value {
    let one = graph.scalar("one", 1.0);
    let other = graph.apply("Sub", &[&one, each]);
    let pair = if own_first { [each, &other] } else { [&other, each] };
    graph.concat(&pair)
}

fn several(graph: &mut Graph, classes: &Classes, each: &Value) -> Value {
    if classes.are_pairs() {
        return coupled(graph, classes.labels.len(), each);
    }
    let sum = graph.reduce_sum(each, 1, true);
    graph.apply("Div", &[each, &sum])
}

/// Adds the probability of each machine, rows × machines.
fn each_machine(graph: &mut Graph, program: &Program, decisions: &Value) -> Value {
    let maps = &program.calibration;
    let sigmoids: Option<Vec<[f64; 2]>> =
        maps.iter().map(|map| if let CalibrationMap::Sigmoid { a, b } = map { Some([*a, *b]) } else { None }).collect();
    let values = if let Some(sigmoids) = sigmoids {
        sigmoid(graph, decisions, &sigmoids)
    } else {
        let columns: Vec<Value> = (0..maps.len())
            .map(|p| {
                let column = graph.take(decisions, 1, vec![p as i64]);
                match &maps[p] {
                    CalibrationMap::Sigmoid { a, b } => sigmoid(graph, &column, &[[*a, *b]]),
                    CalibrationMap::Steps { at, probability } => steps(graph, &column, at, probability),
                    CalibrationMap::Marks { marks } => inside(graph, &column, marks),
                    CalibrationMap::Laplace { .. } => column,
                }
            })
            .collect();
        graph.concat(&columns.iter().collect::<Vec<_>>())
    };
    if program.outcome == Outcome::Inlier {
        return values;
    }
    let least = graph.scalar("least", LEAST);
    let most = graph.scalar("most", 1.0 - LEAST);
    let values = graph.apply("Max", &[&values, &least]);
    graph.apply("Min", &[&values, &most])
}

/// Adds `1 / (1 + exp(a f + b))`. The exponential is that of a negative number, so that it does not
/// overflow.
fn sigmoid(graph: &mut Graph, decisions: &Value, sigmoids: &[[f64; 2]]) -> Value {
    let count = sigmoids.len();
    let a = graph.doubles("a", &[1, count], sigmoids.iter().map(|[a, _]| *a).collect());
    let b = graph.doubles("b", &[1, count], sigmoids.iter().map(|[_, b]| *b).collect());
    let product = graph.apply("Mul", &[decisions, &a]);
    let argument = graph.apply("Add", &[&product, &b]);
    let size = graph.apply("Abs", &[&argument]);
    let minus = graph.apply("Neg", &[&size]);
    let small = graph.apply("Exp", &[&minus]);
    let one = graph.scalar("one", 1.0);
    let whole = graph.apply("Add", &[&small, &one]);
    let zero = graph.scalar("zero", 0.0);
    let is_positive = graph.apply("GreaterOrEqual", &[&argument, &zero]);
    let upper = graph.apply("Where", &[&is_positive, &small, &one]);
    graph.apply("Div", &[&upper, &whole])
}

/// Adds the number of ascending values that are at most the decision value, as whole numbers.
fn count_up_to(graph: &mut Graph, column: &Value, ascending: &[f64]) -> Value {
    let values = graph.doubles("ascending", &[1, ascending.len()], ascending.to_vec());
    let is_up_to = graph.apply("LessOrEqual", &[&values, column]);
    let ones = graph.cast(&is_up_to, Element::Int64);
    graph.reduce_sum(&ones, 1, true)
}

/// Adds the entries of a constant at places.
fn look_up(graph: &mut Graph, name: &str, values: &[f64], places: &Value) -> Value {
    let values = graph.doubles(name, &[values.len()], values.to_vec());
    graph.apply_with("Gather", &[&values, places], vec![("axis", Attribute::Int(0))])
}

/// Adds the probability of being inside.
fn inside(graph: &mut Graph, column: &Value, marks: &[f64]) -> Value {
    let below = count_up_to(graph, column, marks);
    let mut values: Vec<f64> = (0..=marks.len()).map(|i| i as f64 / marks.len() as f64).collect();
    (values[0], values[marks.len()]) = (0.001, 0.999);
    let value = look_up(graph, "inside", &values, &below);
    of_numbers(graph, column, &value)
}

/// Adds a function that is linear between knots and constant beyond them.
fn steps(graph: &mut Graph, column: &Value, at: &[f64], probability: &[f64]) -> Value {
    let next = count_up_to(graph, column, at);
    let one = graph.integers("one", &[], vec![1]);
    let zero = graph.integers("zero", &[], vec![0]);
    let last = graph.integers("last", &[], vec![at.len() as i64 - 1]);
    let before = graph.apply("Sub", &[&next, &one]);
    let before = graph.apply("Max", &[&before, &zero]);
    let next = graph.apply("Min", &[&next, &last]);
    // Halves prevent overflow, as in the program.
    let halves: Vec<f64> = at.iter().map(|knot| 0.5 * knot).collect();
    let low = look_up(graph, "knots", &halves, &before);
    let high = look_up(graph, "knots", &halves, &next);
    let low_value = look_up(graph, "values", probability, &before);
    let high_value = look_up(graph, "values", probability, &next);
    let half = graph.scalar("half", 0.5);
    let own = graph.apply("Mul", &[column, &half]);
    let way = graph.apply("Sub", &[&own, &low]);
    let length = graph.apply("Sub", &[&high, &low]);
    // Beyond the ends both knots are the same one: 0 of a length of 1.
    let is_end = graph.apply("Equal", &[&before, &next]);
    let unit = graph.scalar("one", 1.0);
    let nothing = graph.scalar("zero", 0.0);
    let length = graph.apply("Where", &[&is_end, &unit, &length]);
    let way = graph.apply("Where", &[&is_end, &nothing, &way]);
    let share = graph.apply("Div", &[&way, &length]);
    let rise = graph.apply("Sub", &[&high_value, &low_value]);
    let part = graph.apply("Mul", &[&share, &rise]);
    let value = graph.apply("Add", &[&low_value, &part]);
    let value = graph.apply("Max", &[&value, &low_value]);
    let value = graph.apply("Min", &[&value, &high_value]);
    of_numbers(graph, column, &value)
}

/// Adds the value where the decision value is a number, and NaN where it is none.
fn of_numbers(graph: &mut Graph, column: &Value, value: &Value) -> Value {
    let is_nan = graph.apply("IsNaN", &[column]);
    graph.apply("Where", &[&is_nan, column, value])
}
