//! Programs as ONNX graphs.

mod attributes;
mod classifier;
mod coupling;
mod graph;
mod intervals;
mod outcome;
mod prepare;
mod probabilities;
mod proto;
mod run;
mod single;
mod sums;

pub use graph::{Attribute, Element, Elements, Graph, Node, Port, Tensor};
pub use run::inputs_of;

use crate::program::Program;
use prepare::RawInputs;

/// The precision of decision values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Double precision: in ONNX core operators alone, except for words.
    #[default]
    Double,
    /// Single precision: in ONNX operators of ai.onnx.ml, with inputs and outputs in single
    /// precision. Everything but the sums over support vectors stays in double precision.
    Single,
}

impl Precision {
    /// `f64` or `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "f64",
            Self::Single => "f32",
        }
    }
}

/// Returns the graph of a program.
///
/// Inputs: `X` (rows × features), or one input for each column of a table with words. Outputs:
/// `label` and `decision`, `value` of a regression; `probabilities`, `lower` and `upper` if the
/// program has them.
pub fn graph(program: &Program, precision: Precision) -> Graph {
    let element = match precision {
        Precision::Double => Element::Double,
        Precision::Single => Element::Float,
    };
    let mut graph = Graph::default();
    let raw = RawInputs::declare(&mut graph, &program.inputs, element);
    let features = raw.features(&mut graph, &program.inputs, &program.functions);
    let decisions = match precision {
        Precision::Double => sums::decisions(&mut graph, &features, &program.functions),
        Precision::Single => single::decisions(&mut graph, &features, &program.functions, &program.outcome),
    };
    let probabilities = probabilities::probabilities(&mut graph, program, &decisions);
    outcome::outputs(&mut graph, program, &decisions, probabilities.as_ref(), element);
    if let Some(of) = &program.intervals {
        intervals::outputs(&mut graph, &raw, &program.inputs, of, element);
    }
    graph
}
