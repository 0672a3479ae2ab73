//! Programs as one C99 file.

mod functions;
mod outcome;
mod text;

use crate::error::ExportError;
use crate::onnx::Precision;
use crate::program::{InputKind, Outcome, Program};
use text::Text;

/// A C file.
#[derive(Clone, Debug)]
pub struct CSource {
    /// The text.
    pub text: String,
    /// The bytes of its constant arrays in the compiled program.
    pub constants: usize,
    /// The bytes of the numbers on the stack of its largest function.
    pub stack: usize,
}

/// Returns the program as one C99 file that needs `math.h` alone. Names begin with `prefix`.
///
/// # Errors
///
/// When `prefix` is no identifier.
pub fn c_source(program: &Program, precision: Precision, prefix: &str) -> Result<CSource, ExportError> {
    let mut letters = prefix.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
    if !begins || !letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(ExportError::Prefix(prefix.to_owned()));
    }
    let mut out = Text::new(prefix, precision);
    head(&mut out, program);
    functions::add(&mut out, &program.inputs, &program.functions, 0);
    for (k, functions) in program.intervals.iter().flat_map(|of| &of.functions).enumerate() {
        functions::add(&mut out, &program.inputs, functions, k + 1);
    }
    outcome::add(&mut out, program);
    let couples =
        if matches!(&program.outcome, Outcome::Classes(classes) if classes.are_pairs()) { program.outcomes() } else { 0 };
    let folds = program.intervals.as_ref().map_or(0, |of| of.functions.iter().map(|of| of.bias.len()).sum());
    let numbers = program.inputs.features + 2 * program.machines() + couples * (couples + 5) + folds;
    Ok(CSource { stack: out.bytes() * numbers, constants: out.constants, text: out.written })
}

/// Adds the comment, the sizes and the declarations.
fn head(out: &mut Text, program: &Program) {
    let inputs = &program.inputs;
    let (count, machines) = (inputs.count(), program.machines());
    out.add(&format!(
        "/* A support vector machine, written by maxmargin {}. C99; needs math.h alone: no heap, no other library.\n *\n",
        program.maxmargin
    ));
    if inputs.columns.is_empty() {
        let base = inputs.index_base;
        out.add(&format!(" * x has the {count} features, feature {base} first.\n"));
    } else {
        out.add(
            " * x has these columns; NaN is a gap. Words are given by their numbers, and any other number is none of them.\n",
        );
    }
    for (c, column) in inputs.columns.iter().enumerate() {
        let mut line = format!(" *   x[{c}]: {}", outcome::quoted(&column.name));
        match &column.kind {
            InputKind::Number => {}
            InputKind::Boolean => line += " (1 or 0)",
            InputKind::Category { words } => {
                let words = words.iter().enumerate().map(|(w, word)| format!("{w} {}", outcome::quoted(word)));
                line = line + ": " + &words.collect::<Vec<_>>().join(", ");
            }
        }
        // A comment ends at its mark, which no name may have.
        out.written.push_str(&(line.replace("*/", "*\\057") + "\n"));
    }
    out.add(" *\n * @_decision: one decision value for each machine.\n");
    out.add(match &program.outcome {
        Outcome::Value if program.machines() > 1 => {
            " * @_levels: a value for each level, ascending. @_predict: that of the central one.\n"
        }
        Outcome::Value => " * @_predict: the value.\n",
        Outcome::Inlier => " * @_predict: 1 inside, -1 outside.\n",
        Outcome::Classes(_) => " * @_predict: the place of the class in @_labels.\n",
    });
    if program.outcomes() > 0 {
        out.add(match &program.outcome {
            Outcome::Inlier => " * @_probabilities: of inside and outside.\n",
            _ => " * @_probabilities: of each class, in the order of @_labels.\n",
        });
    }
    if !program.levels.is_empty() {
        out.add(&format!(" * Levels: {:?}.\n", program.levels));
    }
    if let Some(intervals) = &program.intervals {
        out.add(&format!(
            " * @_interval: the bounds of an interval that misses the truth in about the share {}.\n",
            intervals.alpha
        ));
    }
    if let Some(scale) = program.error_scale() {
        out.add(&format!(" * Errors have the density exp(-|z|/s)/(2 s) with s = {scale:?}.\n"));
    }
    out.add(" */\n#include <math.h>\n\n");
    out.add(&format!("enum {{ @_INPUTS = {count}, @_MACHINES = {machines}, @_OUTCOMES = {} }};\n\n", program.outcomes()));
}
