//! Factors of C for classes, matched to the labels of the data.

use super::ProblemRequest;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::label_names;
use crate::files::input::{Input, MaxSize, read_text};
use maxmargin::Svm;
use maxmargin::core::{Formulation, TargetKind};
use maxmargin::data::ClassLabels;
use maxmargin::data::quote::quoted;
use std::path::Path;

/// A factor of C for one class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Weight {
    /// For one class, given as a number or a word.
    Of { label: String, factor: f64 },
    /// Inversely proportional to the class sizes.
    Balanced,
}

impl Weight {
    /// Returns the weight as the command line spells it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Of { label, factor } => format!("{label}={}", format::exact(*factor)),
            Self::Balanced => "balanced".to_owned(),
        }
    }
}

impl ProblemRequest {
    /// Refuses weights for formulations without classes.
    pub(super) fn check_weights(&self, formulation: Formulation) -> Result<(), Failure> {
        let Some(weight) = self.class_weights.first().filter(|_| formulation.target_kind() != TargetKind::Classes) else {
            return Ok(());
        };
        let option = match weight {
            Weight::Of { label, .. } => format!("{}=…", display(label)),
            Weight::Balanced => "balanced".to_owned(),
        };
        Err(Failure::Usage(format!("--weight {option}: {} has no classes", formulation.name())))
    }

    /// Adds the factors of C of the options to an estimator.
    ///
    /// # Errors
    ///
    /// If the data has no class with the label of a weight.
    pub(crate) fn weighted(&self, mut svm: Svm, classes: Option<&ClassLabels>) -> Result<Svm, Failure> {
        let labels = classes.map_or(&[][..], ClassLabels::labels);
        for weight in &self.class_weights {
            svm = match weight {
                Weight::Balanced => svm.balanced(),
                Weight::Of { label, factor } => {
                    let known = label_names::label(label).filter(|known| labels.contains(known));
                    let known = known.ok_or_else(|| {
                        let names: Vec<String> = labels.iter().map(|l| label_names::display(*l)).collect();
                        let (last, others) = names
                            .split_last()
                            .map_or((String::new(), String::new()), |(last, others)| (last.clone(), others.join(", ")));
                        Failure::Usage(format!("--weight {}=…: the classes of the data are {others} and {last}", display(label)))
                    })?;
                    svm.class_weight(known, *factor)
                }
            };
        }
        Ok(svm)
    }

    /// Returns the weight of each row of the data, if there is a file with them.
    pub(super) fn weights_of_samples(&self, input: &Input) -> Result<Option<Vec<f64>>, Failure> {
        self.sample_weights.as_deref().map(|path| sample_weights(path, MaxSize::of(self.max_size), input)).transpose()
    }
}

/// Returns a label as it was given; numbers in our format.
fn display(label: &str) -> String {
    label.parse().map_or_else(|_| label.to_owned(), format::exact)
}

/// Reads one weight for each row of the data.
fn sample_weights(path: &Path, most: MaxSize, input: &Input) -> Result<Vec<f64>, Failure> {
    let name = path.display().to_string();
    let text = read_text(path, most);
    let text = text.map_err(|why| Failure::input(&name, format!("cannot read the weights: {why}")))?;
    let weight = |(at, line): (usize, &str)| {
        let value = line.trim().parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight >= 0.0);
        let what =
            || format!("`{}` is not a weight; a file of weights holds one number, 0 or more, for each row", quoted(line, 40));
        value.ok_or_else(|| Failure::input(format!("{name}:{}", at + 1), what()))
    };
    let weights: Vec<f64> = text.lines().enumerate().map(weight).collect::<Result<_, _>>()?;
    let (found, rows) = (weights.len(), input.data.labels.len());
    if found == rows {
        Ok(weights)
    } else {
        Err(Failure::input(name, format!("{found} weights for {rows} rows of {}", input.name)))
    }
}
