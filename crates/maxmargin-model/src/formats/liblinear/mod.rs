//! LIBLINEAR's models, and their text as input and output.
//!
//! A model of two classes, a regression and a one-class model have one column of weights. A model
//! of more classes has one column for each class (one-vs-rest).

mod convert;
mod read;

use maxmargin_data::number::format_g;
use maxmargin_data::{Par, Samples};
use std::io::{self, Write};

pub use read::read_model;

/// LIBLINEAR's solvers: their numbers and names.
pub const SOLVERS: [(i32, &str); 12] = [
    (0, "L2R_LR"),
    (1, "L2R_L2LOSS_SVC_DUAL"),
    (2, "L2R_L2LOSS_SVC"),
    (3, "L2R_L1LOSS_SVC_DUAL"),
    (4, "MCSVM_CS"),
    (5, "L1R_L2LOSS_SVC"),
    (6, "L1R_LR"),
    (7, "L2R_LR_DUAL"),
    (11, "L2R_L2LOSS_SVR"),
    (12, "L2R_L2LOSS_SVR_DUAL"),
    (13, "L2R_L1LOSS_SVR_DUAL"),
    (21, "ONECLASS_SVM"),
];

/// A model of LIBLINEAR.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// One of [`SOLVERS`].
    pub solver: i32,
    /// The labels in LIBLINEAR's order; empty for regression and one class.
    pub labels: Vec<i32>,
    /// The number of features. Files number them from 1.
    pub features: usize,
    /// The value of the bias feature, which follows the last feature; a negative value means that
    /// there is none.
    pub bias: f64,
    /// The offset that a one-class model subtracts.
    pub rho: Option<f64>,
    /// One column of weights for each decision value: `features` weights, and one for the bias
    /// feature if there is one.
    pub weights: Vec<Vec<f64>>,
}

/// Rows per task.
const CHUNK: usize = 256;

impl LinearModel {
    /// Returns true for a regression model.
    pub fn is_regression(&self) -> bool {
        matches!(self.solver, 11..=13)
    }

    /// Returns true for a one-class model.
    pub fn is_one_class(&self) -> bool {
        self.solver == 21
    }

    /// Returns true for a logistic regression.
    pub fn is_logistic(&self) -> bool {
        matches!(self.solver, 0 | 6 | 7)
    }

    /// Returns the decision values of every row, row-major rows × columns of weights. Features
    /// beyond those of the model are ignored.
    pub fn decision_values(&self, samples: &Samples, par: Par) -> Vec<f64> {
        let columns = self.weights.len();
        let mut values = vec![0.0; samples.len() * columns];
        par.for_chunks(&mut values, CHUNK * columns, |chunk, values| {
            for (at, decisions) in values.chunks_exact_mut(columns).enumerate() {
                for (decision, w) in decisions.iter_mut().zip(&self.weights) {
                    let mut sum = 0.0;
                    samples.row(chunk * CHUNK + at).for_each(|j, value| {
                        if j < self.features {
                            sum += w[j] * value;
                        }
                    });
                    let with_bias = if self.bias >= 0.0 { sum + w[self.features] * self.bias } else { sum };
                    *decision = with_bias - self.rho.unwrap_or(0.0);
                }
            }
        });
        values
    }

    /// Returns the prediction from the decision values of one row: a label, the value of a
    /// regression, or 1 and −1 for one class.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        if self.is_regression() {
            return decisions[0];
        }
        if self.is_one_class() {
            return if decisions[0] > 0.0 { 1.0 } else { -1.0 };
        }
        let best = match decisions {
            // Of two labels, LIBLINEAR looks at the first column alone, also where there are two.
            [first] | [first, _] if self.labels.len() == 2 => usize::from(*first <= 0.0),
            _ => (1..decisions.len()).fold(0, |best, class| if decisions[class] > decisions[best] { class } else { best }),
        };
        f64::from(self.labels[best])
    }

    /// Returns the probabilities of the labels from the decision values of a logistic regression.
    pub fn probabilities(&self, decisions: &[f64]) -> Vec<f64> {
        let of = |decision: &f64| 1.0 / (1.0 + (-decision).exp());
        match decisions {
            [one] if self.labels.len() == 2 => vec![of(one), 1.0 - of(one)],
            _ => {
                let sum: f64 = decisions.iter().map(of).sum();
                decisions.iter().map(|decision| of(decision) / sum).collect()
            }
        }
    }

    /// Writes LIBLINEAR's text, numbers with 17 digits.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = SOLVERS.iter().find(|known| known.0 == self.solver).map_or("", |known| known.1);
        let classes = if self.labels.is_empty() { 2 } else { self.labels.len() };
        write!(out, "solver_type {name}\nnr_class {classes}\n")?;
        if !self.labels.is_empty() {
            write!(out, "label")?;
            self.labels.iter().try_for_each(|label| write!(out, " {label}"))?;
            writeln!(out)?;
        }
        write!(out, "nr_feature {}\nbias {}\n", self.features, format_g(self.bias, 17))?;
        if let Some(rho) = self.rho {
            writeln!(out, "rho {}", format_g(rho, 17))?;
        }
        writeln!(out, "w")?;
        for row in 0..self.rows() {
            for w in &self.weights {
                write!(out, "{} ", format_g(w[row], 17))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// The number of lines of weights.
    fn rows(&self) -> usize {
        self.features + usize::from(self.bias >= 0.0)
    }
}

/// Returns true if `bytes` begin like a LIBLINEAR model.
pub fn looks_like_model(bytes: &[u8]) -> bool {
    bytes.starts_with(b"solver_type ")
}
