//! An ONNX graph: operators over named values, constants, inputs and outputs.

use super::proto::Message;

/// The version of the core operators. Version 15 is what runtimes have had since 2021.
const CORE: i64 = 15;

/// The version of the operators for machine learning (ai.onnx.ml).
const MACHINE_LEARNING: i64 = 2;

/// The version of the file format, which comes with the version of the operators.
const FORMAT: i64 = 8;

/// The name of a value of a graph.
pub(super) type Value = String;

/// The type of the elements of a tensor, with ONNX's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Single precision.
    Float,
    /// Whole numbers of 64 bits.
    Int64,
    /// Texts.
    Text,
    /// Truth values.
    Bool,
    /// Double precision.
    Double,
}

impl Element {
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Float => 1,
            Self::Int64 => 7,
            Self::Text => 8,
            Self::Bool => 9,
            Self::Double => 11,
        }
    }

    /// The name of a tensor of this type in ONNX's documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "tensor(float)",
            Self::Int64 => "tensor(int64)",
            Self::Text => "tensor(string)",
            Self::Bool => "tensor(bool)",
            Self::Double => "tensor(double)",
        }
    }
}

/// The elements of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Double precision.
    Double(Vec<f64>),
    /// Whole numbers.
    Int64(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Texts.
    Text(Vec<String>),
}

/// A constant of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The length of each axis.
    pub dims: Vec<usize>,
    /// The elements, row-major.
    pub elements: Elements,
}

/// An attribute of an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A whole number.
    Int(i64),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Numbers in single precision.
    Floats(Vec<f32>),
    /// A text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
}

/// An operator with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name of the operator.
    pub operator: &'static str,
    /// The operands.
    pub inputs: Vec<String>,
    /// The results.
    pub outputs: Vec<String>,
    /// The attributes.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// True for operators of ai.onnx.ml.
    pub is_ml: bool,
}

/// An input or output: its first axis is the rows, and the second one has this length.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The name.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// The length of the second axis; `None` if there is one axis only.
    pub columns: Option<usize>,
}

/// A graph that is being built, or was built.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The operators, each after those it needs.
    pub nodes: Vec<Node>,
    /// The constants by name.
    pub constants: Vec<(String, Tensor)>,
    /// The inputs.
    pub inputs: Vec<Port>,
    /// The outputs.
    pub outputs: Vec<Port>,
}

impl Graph {
    /// Adds a constant.
    fn constant(&mut self, name: &str, dims: &[usize], elements: Elements) -> Value {
        let tensor = Tensor { dims: dims.to_vec(), elements };
        if let Some((name, _)) = self.constants.iter().find(|(_, known)| *known == tensor) {
            return name.clone();
        }
        let name = format!("{name}_c{}", self.constants.len());
        self.constants.push((name.clone(), tensor));
        name
    }

    /// Adds numbers in double precision.
    pub(super) fn doubles(&mut self, name: &str, dims: &[usize], values: Vec<f64>) -> Value {
        self.constant(name, dims, Elements::Double(values))
    }

    /// Adds one number.
    pub(super) fn scalar(&mut self, name: &str, value: f64) -> Value {
        self.doubles(name, &[], vec![value])
    }

    /// Adds whole numbers.
    pub(super) fn integers(&mut self, name: &str, dims: &[usize], values: Vec<i64>) -> Value {
        self.constant(name, dims, Elements::Int64(values))
    }

    /// Adds truth values.
    pub(super) fn truths(&mut self, name: &str, dims: &[usize], values: Vec<bool>) -> Value {
        self.constant(name, dims, Elements::Bool(values))
    }

    /// Adds texts.
    pub(super) fn texts(&mut self, name: &str, values: Vec<String>) -> Value {
        self.constant(name, &[values.len()], Elements::Text(values))
    }

    /// Adds a core operator with one result.
    pub(super) fn apply(&mut self, operator: &'static str, inputs: &[&Value]) -> Value {
        self.apply_with(operator, inputs, Vec::new())
    }

    /// Adds a core operator with attributes and one result.
    pub(super) fn apply_with(
        &mut self,
        operator: &'static str,
        inputs: &[&Value],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Value {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.push(operator, inputs, vec![name.clone()], attributes, false);
        name
    }

    /// Adds an operator of ai.onnx.ml with one result.
    pub(super) fn apply_ml(
        &mut self,
        operator: &'static str,
        input: &Value,
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Value {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.push(operator, &[input], vec![name.clone()], attributes, true);
        name
    }

    /// Adds `SVMClassifier`, and returns its scores.
    pub(super) fn svm_classifier(&mut self, input: &Value, attributes: Vec<(&'static str, Attribute)>) -> Value {
        let name = format!("svmclassifier_{}", self.nodes.len());
        self.push("SVMClassifier", &[input], vec![format!("{name}_label"), name.clone()], attributes, true);
        name
    }

    /// Adds the `count` smallest or greatest values of each row, in order from there.
    pub(super) fn top(&mut self, values: &Value, count: usize, greatest: bool) -> Value {
        let k = self.integers("rank", &[1], vec![count as i64]);
        let name = format!("topk_{}", self.nodes.len());
        let outputs = vec![name.clone(), format!("{name}_places")];
        let attributes =
            vec![("axis", Attribute::Int(1)), ("largest", Attribute::Int(i64::from(greatest))), ("sorted", Attribute::Int(1))];
        self.push("TopK", &[values, &k], outputs, attributes, false);
        name
    }

    fn push(
        &mut self,
        operator: &'static str,
        inputs: &[&Value],
        outputs: Vec<Value>,
        attributes: Vec<(&'static str, Attribute)>,
        is_ml: bool,
    ) {
        let inputs = inputs.iter().map(|&input| input.clone()).collect();
        self.nodes.push(Node { operator, inputs, outputs, attributes, is_ml });
    }

    /// Adds a conversion to another type of elements.
    pub(super) fn cast(&mut self, value: &Value, element: Element) -> Value {
        self.apply_with("Cast", &[value], vec![("to", Attribute::Int(element.number()))])
    }

    /// Adds a sum or a maximum over an axis, which remains with length 1 if `keep` is true.
    pub(super) fn reduce_sum(&mut self, value: &Value, axis: i64, keep: bool) -> Value {
        let axes = self.integers("axes", &[1], vec![axis]);
        self.apply_with("ReduceSum", &[value, &axes], vec![("keepdims", Attribute::Int(i64::from(keep)))])
    }

    /// Adds the places of the greatest values along the second axis, the first of equal ones, as a
    /// column.
    pub(super) fn arg_max(&mut self, value: &Value) -> Value {
        self.apply_with("ArgMax", &[value], vec![("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(1))])
    }

    /// Adds a selection along an axis by constant places.
    pub(super) fn take(&mut self, value: &Value, axis: i64, places: Vec<i64>) -> Value {
        let count = places.len();
        let places = self.integers("places", &[count], places);
        self.apply_with("Gather", &[value, &places], vec![("axis", Attribute::Int(axis))])
    }

    /// Adds an axis of length 1.
    pub(super) fn unsqueeze(&mut self, value: &Value, axis: i64) -> Value {
        let axes = self.integers("axes", &[1], vec![axis]);
        self.apply("Unsqueeze", &[value, &axes])
    }

    /// Adds values side by side along the second axis.
    pub(super) fn concat(&mut self, values: &[&Value]) -> Value {
        self.apply_with("Concat", values, vec![("axis", Attribute::Int(1))])
    }

    /// Adds an input.
    pub(super) fn input(&mut self, name: &str, element: Element, columns: usize) -> Value {
        self.inputs.push(Port { name: name.to_owned(), element, columns: Some(columns) });
        name.to_owned()
    }

    /// Makes a value an output of this name.
    pub(super) fn output(&mut self, name: &str, value: &Value, element: Element, columns: Option<usize>) {
        self.push("Identity", &[value], vec![name.to_owned()], Vec::new(), false);
        self.outputs.push(Port { name: name.to_owned(), element, columns });
    }

    /// The operators that occur, in alphabetical order, with their numbers.
    pub fn operators(&self) -> Vec<(&'static str, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        self.nodes.iter().for_each(|node| *counts.entry(node.operator).or_insert(0) += 1);
        counts.into_iter().collect()
    }

    /// The model file with this graph and these texts beside it.
    pub fn to_bytes(&self, metadata: &[(&str, String)]) -> Vec<u8> {
        let has_ml = self.nodes.iter().any(|node| node.is_ml);
        let set = |domain: &str, version: i64| Message::default().text(1, domain).integer(2, version);
        let file = Message::default()
            .integer(1, FORMAT)
            .text(2, "maxmargin")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &self.message())
            .message(8, &set("", CORE));
        let file = if has_ml { file.message(8, &set("ai.onnx.ml", MACHINE_LEARNING)) } else { file };
        let entry =
            |file: Message, (key, value): &(&str, String)| file.message(14, &Message::default().text(1, key).text(2, value));
        file.each(metadata, entry).into_bytes()
    }

    fn message(&self) -> Message {
        Message::default()
            .each(&self.nodes, |graph, node| graph.message(1, &node.message()))
            .text(2, "maxmargin")
            .each(&self.constants, |graph, (name, tensor)| graph.message(5, &tensor.message(name)))
            .each(&self.inputs, |graph, port| graph.message(11, &port.message()))
            .each(&self.outputs, |graph, port| graph.message(12, &port.message()))
    }
}

impl Node {
    fn message(&self) -> Message {
        let node = Message::default()
            .each(&self.inputs, |node, input| node.text(1, input))
            .each(&self.outputs, |node, output| node.text(2, output))
            .text(3, &self.outputs[0])
            .text(4, self.operator)
            .each(&self.attributes, |node, (name, value)| node.message(5, &value.message(name)));
        if self.is_ml { node.text(7, "ai.onnx.ml") } else { node }
    }
}

impl Attribute {
    fn message(&self, name: &str) -> Message {
        let attribute = Message::default().text(1, name);
        match self {
            Self::Int(value) => attribute.integer(3, *value).integer(20, 2),
            Self::Text(text) => attribute.text(4, text).integer(20, 3),
            Self::Floats(values) => attribute.each(values, |to, value| to.float(7, *value)).integer(20, 6),
            Self::Ints(values) => attribute.each(values, |to, value| to.integer(8, *value)).integer(20, 7),
            Self::Texts(texts) => attribute.each(texts, |to, text| to.text(9, text)).integer(20, 8),
        }
    }
}

impl Tensor {
    fn message(&self, name: &str) -> Message {
        let tensor = Message::default().each(&self.dims, |tensor, dim| tensor.integer(1, *dim as i64));
        let of = |element: Element| element.number();
        match &self.elements {
            Elements::Double(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                tensor.integer(2, of(Element::Double)).text(8, name).bytes(9, &bytes)
            }
            Elements::Int64(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                tensor.integer(2, of(Element::Int64)).text(8, name).bytes(9, &bytes)
            }
            Elements::Bool(values) => {
                let bytes: Vec<u8> = values.iter().map(|value| u8::from(*value)).collect();
                tensor.integer(2, of(Element::Bool)).text(8, name).bytes(9, &bytes)
            }
            Elements::Text(texts) => {
                tensor.integer(2, of(Element::Text)).each(texts, |tensor, text| tensor.text(6, text)).text(8, name)
            }
        }
    }
}

impl Port {
    fn message(&self) -> Message {
        // The number of rows is left open under the name N.
        let rows = Message::default().text(2, "N");
        let shape = Message::default().message(1, &rows);
        let shape = self.columns.map_or(Message::default().message(1, &rows), |columns| {
            shape.message(1, &Message::default().integer(1, columns as i64))
        });
        let tensor = Message::default().integer(1, self.element.number()).message(2, &shape);
        Message::default().text(1, &self.name).message(2, &Message::default().message(1, &tensor))
    }
}
