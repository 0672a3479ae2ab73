//! The report of `export` on the files that it wrote.

use super::Check;
use crate::console::format;
use crate::report::fields;
use maxmargin::export::onnx::Port;
use maxmargin::export::{CSource, Graph, Precision, Program};
use maxmargin::model::Model;

/// The report: the model, then a line for each file.
pub(super) fn text(name: &str, model: &Model, program: &Program, lines: &[(String, String)]) -> String {
    let count = |number: usize| format::count(number as u64);
    let classes = match model.classes().len() {
        0 => String::new(),
        classes => format!(", {} classes", count(classes)),
    };
    let (vectors, inputs) = (count(model.support_vectors()), count(program.inputs.count()));
    let lines: Vec<(&str, String)> = lines.iter().map(|(label, what)| (&label[..], what.clone())).collect();
    let kernel = model.kernel().name();
    format!("{name}: {kernel} kernel{classes}, {vectors} support vectors, {inputs} inputs\n\n{}", fields(&lines))
}

/// The lines of an ONNX file.
pub(super) fn onnx(
    name: &str,
    graph: &Graph,
    precision: Precision,
    bytes: usize,
    check: Option<&Check>,
) -> Vec<(String, String)> {
    let operators: usize = graph.operators().iter().map(|(_, count)| count).sum();
    let size = format::bytes(bytes as u64);
    let ports = |ports: &[Port]| ports.iter().map(port).collect::<Vec<_>>().join(", ");
    let is_ml = graph.nodes.iter().any(|node| node.is_ml);
    let domain = if is_ml { "core operators and ai.onnx.ml" } else { "core operators" };
    let mut lines = vec![
        (name.to_owned(), format!("{size}, {}, {operators} {domain}", precision.name())),
        ("  inputs".to_owned(), ports(&graph.inputs)),
        ("  outputs".to_owned(), ports(&graph.outputs)),
    ];
    lines.extend(check.map(|check| ("  checked".to_owned(), check.text(precision))));
    lines
}

/// `label int64 [N]`
fn port(port: &Port) -> String {
    let kind = port.element.name().trim_start_matches("tensor(").trim_end_matches(')');
    let columns = port.columns.map(|columns| format!(", {columns}")).unwrap_or_default();
    format!("{} {kind} [N{columns}]", port.name)
}

/// The line of a C file.
pub(super) fn c(name: &str, source: &CSource, precision: Precision) -> (String, String) {
    let [constants, stack] = [source.constants, source.stack].map(|bytes| format::bytes(bytes as u64));
    (name.to_owned(), format!("C99, {}, {constants} of constants, {stack} of stack", precision.name()))
}

/// The line of a JSON file.
pub(super) fn json(name: &str, bytes: usize) -> (String, String) {
    (name.to_owned(), format!("JSON, {}", format::bytes(bytes as u64)))
}

/// Returns what an ONNX file says of itself.
pub(super) fn metadata(
    model: &Model,
    program: &Program,
    precision: Precision,
    check: Option<&Check>,
) -> Vec<(&'static str, String)> {
    let mut entries = vec![
        ("maxmargin.precision", precision.name().to_owned()),
        ("maxmargin.kernel", model.kernel().name().to_owned()),
        ("maxmargin.support_vectors", model.support_vectors().to_string()),
        ("maxmargin.checked", check.map_or_else(|| "on no rows".to_owned(), |check| check.text(precision))),
    ];
    if let Some(record) = model.record() {
        entries.push(("maxmargin.formulation", record.formulation.name().to_owned()));
    }
    if let Some(scale) = program.error_scale() {
        entries.push(("maxmargin.error_scale", scale.to_string()));
    }
    if precision == Precision::Single
        && let Some(single) = check.and_then(|check| check.single)
    {
        entries.push(("maxmargin.bound", format!("{:e}", single.bound)));
    }
    if !program.levels.is_empty() {
        let levels: Vec<String> = program.levels.iter().map(ToString::to_string).collect();
        entries.push(("maxmargin.levels", levels.join(",")));
    }
    if let Some(intervals) = &program.intervals {
        entries.push(("maxmargin.alpha", intervals.alpha.to_string()));
    }
    if !program.inputs.columns.is_empty() && !program.inputs.has_words() {
        let names: Vec<&str> = program.inputs.columns.iter().map(|column| &column.name[..]).collect();
        entries.push(("maxmargin.columns", names.join(",")));
    }
    entries
}

impl Check {
    /// `270 rows of heart_scale: all labels equal, decision values within 2e-15`
    pub(super) fn text(&self, precision: Precision) -> String {
        let count = |number: usize| format::count(number as u64);
        let mut parts = Vec::new();
        if let Some(single) = self.single {
            let rows = count(single.rows);
            parts.push(if precision == Precision::Single {
                format!("{rows} rows of {}: no label can turn, decision values within {}", self.name, format::bound(single.bound))
            } else {
                format!("f64 because f32 could turn {} of {rows} labels", count(single.open))
            });
        }
        if let Some(double) = self.double {
            let labels = match double.other_labels {
                None => String::new(),
                Some(0) => "all labels equal, ".to_owned(),
                Some(other) => format!("{} labels differ, ", count(other)),
            };
            let mut differences = vec![("decision values", double.decisions)];
            differences.extend((double.probabilities > 0.0).then_some(("probabilities", double.probabilities)));
            differences.extend((double.intervals > 0.0).then_some(("intervals", double.intervals)));
            let differences = differences.iter().map(|(what, most)| format!("{what} within {}", format::bound(*most)));
            let [rows, name] = [count(double.rows), self.name.clone()];
            parts.push(format!("{rows} rows of {name}: {labels}{}", differences.collect::<Vec<_>>().join(", ")));
        }
        parts.join("; ")
    }
}
