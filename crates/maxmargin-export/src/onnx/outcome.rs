//! The last part of a graph: labels, ties, thresholds, values.

use super::graph::{Attribute, Element, Graph, Value};
use crate::program::{Classes, Labels, Outcome, Program};
use maxmargin_data::classes::pairs;
use maxmargin_model::DecisionRule;

/// Adds the outputs of a program; numbers have the type `element`.
pub(super) fn outputs(graph: &mut Graph, program: &Program, decisions: &Value, probabilities: Option<&Value>, element: Element) {
    match &program.outcome {
        Outcome::Value if program.levels.is_empty() => output(graph, "value", decisions, 1, element),
        Outcome::Value => {
            // Predictions of levels do not cross: they ascend.
            let ascending = graph.top(decisions, program.machines(), false);
            output(graph, "value", &ascending, program.machines(), element);
        }
        Outcome::Inlier => {
            let zero = graph.scalar("zero", 0.0);
            let is_inside = graph.apply("Greater", &[decisions, &zero]);
            let place = graph.cast(&is_inside, Element::Int64);
            labels(graph, &place, &Labels::Integers(vec![-1, 1]));
            output(graph, "decision", decisions, 1, element);
        }
        Outcome::Classes(classes) => {
            let place = chosen_class(graph, classes, decisions, probabilities);
            labels(graph, &place, &classes.labels);
            output(graph, "decision", decisions, program.machines(), element);
        }
    }
    if let Some(probabilities) = probabilities {
        output(graph, "probabilities", probabilities, program.outcomes(), element);
    }
}

/// Adds an output of numbers.
pub(super) fn output(graph: &mut Graph, name: &str, value: &Value, columns: usize, element: Element) {
    let value = if element == Element::Double { value.clone() } else { graph.cast(value, element) };
    graph.output(name, &value, element, Some(columns));
}

/// Adds the output `label` from a column of places.
fn labels(graph: &mut Graph, place: &Value, labels: &Labels) {
    let (element, all) = match labels {
        Labels::Integers(numbers) => (Element::Int64, graph.integers("labels", &[numbers.len()], numbers.clone())),
        Labels::Numbers(numbers) => (Element::Double, graph.doubles("labels", &[numbers.len()], numbers.clone())),
        Labels::Words(words) => (Element::Text, graph.texts("labels", words.clone())),
    };
    let shape = graph.integers("shape", &[1], vec![-1]);
    let flat = graph.apply("Reshape", &[place, &shape]);
    let label = graph.apply_with("Gather", &[&all, &flat], vec![("axis", Attribute::Int(0))]);
    graph.output("label", &label, element, None);
}

/// Adds the place of the predicted class as a column.
fn chosen_class(graph: &mut Graph, classes: &Classes, decisions: &Value, probabilities: Option<&Value>) -> Value {
    if let (DecisionRule::Threshold, Some(threshold)) = (classes.rule, classes.threshold) {
        let threshold = graph.scalar("threshold", threshold);
        let is_second = graph.apply("GreaterOrEqual", &[decisions, &threshold]);
        return graph.cast(&is_second, Element::Int64);
    }
    match (classes.rule, probabilities) {
        (DecisionRule::Coupled, Some(probabilities)) => likeliest(graph, classes, decisions, probabilities),
        _ => elected(graph, classes, decisions),
    }
}

/// Adds the class that decision values elect.
fn elected(graph: &mut Graph, classes: &Classes, decisions: &Value) -> Value {
    if !classes.are_pairs() {
        return first_greatest(graph, classes, decisions);
    }
    let votes = second_side(graph, classes, decisions);
    let count = classes.labels.len();
    if count == 2 {
        return graph.cast(&votes, Element::Int64);
    }
    // A vote for the second class of a pair is one less for the first.
    let machines = classes.sides.len();
    let (mut moved, mut all_first) = (vec![0.0; machines * count], vec![0.0; count]);
    for (p, (a, b)) in pairs(count).enumerate() {
        (moved[p * count + a], moved[p * count + b]) = (-1.0, 1.0);
        all_first[a] += 1.0;
    }
    let votes = graph.cast(&votes, Element::Double);
    let moved = graph.doubles("votes", &[machines, count], moved);
    let moved = graph.apply("MatMul", &[&votes, &moved]);
    let all_first = graph.doubles("votes", &[1, count], all_first);
    let votes = graph.apply("Add", &[&moved, &all_first]);
    first_greatest(graph, classes, &votes)
}

/// Adds whether each decision value is for the second class of its machine.
fn second_side(graph: &mut Graph, classes: &Classes, decisions: &Value) -> Value {
    let zero = graph.scalar("zero", 0.0);
    if classes.zero_is_second.iter().all(|is| *is) {
        return graph.apply("GreaterOrEqual", &[decisions, &zero]);
    }
    let is_above = graph.apply("Greater", &[decisions, &zero]);
    let is_zero = graph.apply("Equal", &[decisions, &zero]);
    let is_second = graph.truths("zero_is_second", &[1, classes.sides.len()], classes.zero_is_second.clone());
    let is_second = graph.apply("And", &[&is_zero, &is_second]);
    graph.apply("Or", &[&is_above, &is_second])
}

/// Adds the class with the greatest value, the first of equals in the order of ties.
fn first_greatest(graph: &mut Graph, classes: &Classes, values: &Value) -> Value {
    let order: Vec<i64> = classes.order.iter().map(|class| *class as i64).collect();
    if order.is_sorted() {
        return graph.arg_max(values);
    }
    let ordered = graph.take(values, 1, order.clone());
    let place = graph.arg_max(&ordered);
    let order = graph.integers("order", &[order.len()], order);
    graph.apply_with("Gather", &[&order, &place], vec![("axis", Attribute::Int(0))])
}

/// Adds the class with the greatest probability.
fn likeliest(graph: &mut Graph, classes: &Classes, decisions: &Value, probabilities: &Value) -> Value {
    // Not by ReduceMax, whose axes moved from an attribute to an input in version 18.
    let first = graph.arg_max(probabilities);
    let greatest = at_places(graph, probabilities, &first);
    if !classes.elected_first {
        let tolerance = graph.scalar("tie_tolerance", classes.tie_tolerance);
        let least = graph.apply("Sub", &[&greatest, &tolerance]);
        let is_equal = graph.apply("GreaterOrEqual", &[probabilities, &least]);
        let is_equal = graph.cast(&is_equal, Element::Double);
        return first_greatest(graph, classes, &is_equal);
    }
    let elected = elected(graph, classes, decisions);
    let own = at_places(graph, probabilities, &elected);
    let is_greatest = graph.apply("GreaterOrEqual", &[&own, &greatest]);
    graph.apply("Where", &[&is_greatest, &elected, &first])
}

/// Adds one value of each row, by a column of places.
fn at_places(graph: &mut Graph, values: &Value, places: &Value) -> Value {
    graph.apply_with("GatherElements", &[values, places], vec![("axis", Attribute::Int(1))])
}
