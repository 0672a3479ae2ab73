//! C text: literals and constant arrays, in one precision.

use crate::onnx::Precision;
use std::fmt::Write;

/// The longest line of an array.
const WIDTH: usize = 100;

/// A C file that is being written.
pub(super) struct Text {
    /// The text so far.
    pub(super) written: String,
    /// The bytes of all constants.
    pub(super) constants: usize,
    /// The beginning of all names.
    pub(super) prefix: String,
    precision: Precision,
}

impl Text {
    pub(super) fn new(prefix: &str, precision: Precision) -> Self {
        Self { written: String::new(), constants: 0, prefix: prefix.to_owned(), precision }
    }

    /// The type of numbers.
    pub(super) fn real(&self) -> &'static str {
        if self.precision == Precision::Double { "double" } else { "float" }
    }

    /// The ending of functions of math.h and of literals.
    pub(super) fn suffix(&self) -> &'static str {
        if self.precision == Precision::Double { "" } else { "f" }
    }

    /// The bytes of a number.
    pub(super) fn bytes(&self) -> usize {
        if self.precision == Precision::Double { 8 } else { 4 }
    }

    /// A number as a literal that has the same bits when it is read.
    pub(super) fn literal(&self, value: f64) -> String {
        let digits = match self.precision {
            _ if value.is_nan() => return "NAN".to_owned(),
            _ if value.is_infinite() => return if value > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned(),
            Precision::Double => format!("{value:?}"),
            Precision::Single => format!("{:?}", value as f32),
        };
        if digits.contains("inf") {
            return if value > 0.0 { "INFINITY" } else { "-INFINITY" }.to_owned();
        }
        digits + self.suffix()
    }

    /// Adds lines. `@` stands for the prefix, `REAL` for the type of numbers, and `$` for the
    /// ending of literals and functions.
    pub(super) fn add(&mut self, lines: &str) {
        let lines = lines.replace('@', &self.prefix).replace("REAL", self.real()).replace('$', self.suffix());
        self.written.push_str(&lines);
    }

    /// Adds a constant array of numbers.
    pub(super) fn reals(&mut self, name: &str, values: &[f64]) {
        let literals: Vec<String> = values.iter().map(|value| self.literal(*value)).collect();
        self.constants += self.bytes() * values.len();
        self.array(self.real(), name, &literals);
    }

    /// Adds a constant array of whole numbers from 0 on, in the shortest type that has them.
    pub(super) fn counts(&mut self, name: &str, values: &[usize]) {
        let most = values.iter().copied().max().unwrap_or(0);
        let (kind, bytes) = match most {
            0..=0xff => ("unsigned char", 1),
            0x100..=0xffff => ("unsigned short", 2),
            _ => ("unsigned long", 8),
        };
        self.constants += bytes * values.len();
        let literals: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.array(kind, name, &literals);
    }

    /// Adds a constant array.
    pub(super) fn array(&mut self, kind: &str, name: &str, literals: &[String]) {
        let length = literals.len().max(1);
        let _ = write!(self.written, "static const {kind} {}_{name}[{length}] = {{", self.prefix);
        let mut column = WIDTH;
        for literal in literals {
            if column + literal.len() + 2 > WIDTH {
                self.written.push_str("\n    ");
                column = 4;
            }
            self.written.push_str(literal);
            self.written.push_str(", ");
            column += literal.len() + 2;
        }
        if literals.is_empty() {
            self.written.push('0');
        }
        self.written.push_str("\n};\n");
    }
}
