//! A plain interpreter of the operators that graphs in double precision have. It computes what
//! their definition says, for checks; it is no fast runtime.

mod operators;
mod tensor;

use super::graph::{Elements, Graph, Tensor};
use crate::program::{InputKind, Inputs};
use maxmargin_data::{Columns, Samples};
use std::collections::HashMap;

impl Graph {
    /// Returns the outputs for these inputs, one for each of [`Graph::inputs`]; `None` if the graph
    /// has operators of single precision, or inputs do not fit.
    pub fn run(&self, inputs: Vec<Tensor>) -> Option<Vec<Tensor>> {
        let mut values: HashMap<&str, Tensor> = HashMap::new();
        for (name, constant) in &self.constants {
            values.insert(name, constant.clone());
        }
        for (port, input) in self.inputs.iter().zip(inputs) {
            values.insert(&port.name, input);
        }
        for node in &self.nodes {
            let operands = node.inputs.iter().map(|name| values.get(&name[..])).collect::<Option<Vec<&Tensor>>>()?;
            let result = operators::apply(node, &operands)?;
            values.insert(&node.outputs[0], result);
        }
        self.outputs.iter().map(|port| values.remove(&port.name[..])).collect()
    }
}

/// Returns the inputs of a graph for these rows of samples, before their gaps are filled.
pub fn inputs_of(inputs: &Inputs, columns: Option<&Columns>, samples: &Samples, rows: &[usize]) -> Vec<Tensor> {
    let count = inputs.count();
    let Some(columns) = columns else {
        let mut values = vec![0.0; rows.len() * count];
        for (row, to) in rows.iter().zip(values.chunks_exact_mut(count)) {
            samples.row(*row).for_each(|j, value| {
                if let Some(to) = to.get_mut(j) {
                    *to = value;
                }
            });
        }
        return vec![Tensor { dims: vec![rows.len(), count], elements: Elements::Double(values) }];
    };
    // Numbers by column, and the place of a word (NaN for a gap, −1 for none of them).
    let is_word = |c: usize| matches!(inputs.columns[c].kind, InputKind::Category { .. });
    let blank: Vec<f64> = (0..count).map(|c| if is_word(c) { -1.0 } else { 0.0 }).collect();
    let mut table = blank.repeat(rows.len());
    for (row, to) in rows.iter().zip(table.chunks_exact_mut(count)) {
        samples.row(*row).for_each(|j, value| {
            if let Some(gap) = j.checked_sub(columns.width()) {
                if let Some(to) = to.get_mut(gap) {
                    *to = f64::NAN;
                }
                return;
            }
            let c = (0..count).find(|&c| columns.features_of(c).contains(&j)).unwrap_or(0);
            to[c] = if is_word(c) { (j - columns.features_of(c).start) as f64 } else { value };
        });
    }
    if !inputs.has_words() {
        return vec![Tensor { dims: vec![rows.len(), count], elements: Elements::Double(table) }];
    }
    let column = |c: usize| {
        let own = table.iter().skip(c).step_by(count).copied();
        let elements = match &inputs.columns[c].kind {
            InputKind::Category { words } => Elements::Text(own.map(|place| word(words, place)).collect()),
            InputKind::Number | InputKind::Boolean => Elements::Double(own.collect()),
        };
        Tensor { dims: vec![rows.len(), 1], elements }
    };
    (0..count).map(column).collect()
}

/// A word of a column; the empty text for a gap, and a text that is none of the words for none.
fn word(words: &[String], place: f64) -> String {
    match words.get(place as usize) {
        _ if place.is_nan() => String::new(),
        Some(word) if place >= 0.0 => word.clone(),
        // Longer than all of them.
        _ => "?".repeat(words.iter().map(String::len).max().unwrap_or(0) + 1),
    }
}
