//! Reads LIBLINEAR's model text.

use super::{LinearModel, SOLVERS};
use crate::error::{ModelError, Unsupported};
use maxmargin_data::quote::quoted;

/// Reads LIBLINEAR's model text, header lines in any order.
///
/// # Errors
///
/// When the text is not a model, with the line.
pub fn read_model(bytes: &[u8]) -> Result<LinearModel, ModelError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].split(|b| *b == b'\n').count();
        ModelError::line(line, "not text")
    })?;
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let mut header = Header { bias: -1.0, ..Header::default() };
    let mut last = 1;
    loop {
        let Some((at, line)) = lines.next() else {
            return Err(ModelError::line(last, "the file ends before the line `w`; it is cut short"));
        };
        last = at;
        match line.split_ascii_whitespace().next() {
            Some("w") => break,
            Some(name) => header.read_line(at, name, line)?,
            None => {}
        }
    }
    let mut model = header.into_model(last)?;
    let columns = model.weights.len();
    for (at, line) in lines {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if words.len() != columns {
            return Err(ModelError::line(at, format!("{} weights instead of {columns}", words.len())));
        }
        for (column, word) in model.weights.iter_mut().zip(words) {
            column.push(number(at, word)?);
        }
        last = at;
    }
    let (found, rows) = (model.weights[0].len(), model.rows());
    if found != rows {
        let reason = format!("{found} lines of weights instead of {rows}; the file is cut short or damaged");
        return Err(ModelError::line(last, reason));
    }
    Ok(model)
}

/// The lines above the weights.
#[derive(Default)]
struct Header {
    solver: Option<i32>,
    classes: Option<usize>,
    features: Option<usize>,
    bias: f64,
    rho: Option<f64>,
    labels: Vec<i32>,
}

impl Header {
    /// Reads line number `at`, which begins with `name`.
    fn read_line(&mut self, at: usize, name: &str, line: &str) -> Result<(), ModelError> {
        let mut words = line.split_ascii_whitespace().skip(1);
        let mut one = || words.next().ok_or_else(|| ModelError::line(at, format!("`{name}` needs a value")));
        match name {
            "solver_type" => {
                let word = one()?;
                let known = SOLVERS.iter().find(|known| known.1 == word);
                let unknown = || ModelError::from(Unsupported::Header { field: "solver_type", word: quoted(word, 40) });
                self.solver = Some(known.ok_or_else(unknown)?.0);
            }
            "nr_class" => self.classes = Some(whole(at, one()?)?),
            "nr_feature" => self.features = Some(whole(at, one()?)?),
            "bias" => self.bias = number(at, one()?)?,
            "rho" => self.rho = Some(number(at, one()?)?),
            "label" => {
                let not_a_label = |word| ModelError::line(at, format!("`{}` is not a label", quoted(word, 40)));
                self.labels = words.map(|word| word.parse().map_err(|_| not_a_label(word))).collect::<Result<_, _>>()?;
            }
            _ => return Err(ModelError::line(at, format!("unknown word `{}` in the header of the model", quoted(name, 40)))),
        }
        Ok(())
    }

    /// Returns the model without its weights; `last` is the number of the header's last line.
    fn into_model(mut self, last: usize) -> Result<LinearModel, ModelError> {
        let missing = |what: &str| ModelError::line(last, format!("the header has no `{what}`"));
        let solver = self.solver.ok_or_else(|| missing("solver_type"))?;
        let classes = self.classes.ok_or_else(|| missing("nr_class"))?;
        let features = self.features.ok_or_else(|| missing("nr_feature"))?;
        let has_labels = !matches!(solver, 11..=13 | 21);
        if has_labels && (self.labels.len() != classes || classes == 0) {
            return Err(ModelError::line(last, format!("{} labels for {classes} classes", self.labels.len())));
        }
        if !has_labels {
            self.labels.clear();
        }
        let columns = if has_labels && (classes != 2 || solver == 4) { classes } else { 1 };
        let weights = vec![Vec::new(); columns];
        Ok(LinearModel { solver, labels: self.labels, features, bias: self.bias, rho: self.rho, weights })
    }
}

fn number(at: usize, word: &str) -> Result<f64, ModelError> {
    let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| ModelError::line(at, format!("`{}` is not a finite number", quoted(word, 40))))
}

fn whole(at: usize, word: &str) -> Result<usize, ModelError> {
    let value = word.parse::<u32>().ok();
    value.map(|value| value as usize).ok_or_else(|| ModelError::line(at, format!("`{}` is not a whole number", quoted(word, 40))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::{Par, Samples};

    fn said(text: &str) -> String {
        read_model(text.as_bytes()).expect_err("no model").to_string()
    }

    #[test]
    fn models_are_read_as_they_are_written() {
        let models = [
            LinearModel {
                solver: 3,
                labels: vec![1, -1],
                features: 2,
                bias: -1.0,
                rho: None,
                weights: vec![vec![0.5, -1.0 / 3.0]],
            },
            LinearModel { solver: 2, labels: vec![4, 2, 3], features: 1, bias: 0.5, rho: None, weights: vec![vec![1.0, 2.0]; 3] },
            LinearModel { solver: 13, labels: vec![], features: 0, bias: 1.0, rho: None, weights: vec![vec![7.0]] },
            LinearModel { solver: 21, labels: vec![], features: 1, bias: -1.0, rho: Some(0.25), weights: vec![vec![1e-300]] },
        ];
        for model in models {
            let mut text = Vec::new();
            model.write(&mut text).expect("room");
            assert_eq!(read_model(&text).expect("a model"), model);
        }
    }

    #[test]
    fn labels_are_elected_as_liblinear_does() {
        let two =
            LinearModel { solver: 3, labels: vec![5, 7], features: 1, bias: 2.0, rho: None, weights: vec![vec![1.0, -0.5]] };
        let rows = Samples::from_rows(&[[1.0, 9.0], [1.5, 9.0]]).expect("rows");
        let decisions = two.decision_values(&rows, Par::Seq);
        assert_eq!(decisions, [0.0, 0.5]);
        assert_eq!([two.label(&decisions[..1]), two.label(&decisions[1..])], [7.0, 5.0]);
        let three = LinearModel { labels: vec![5, 7, 6], weights: vec![vec![]; 3], ..two };
        assert_eq!(three.label(&[0.5, 0.5, 0.25]), 5.0);
        assert_eq!(three.probabilities(&[0.0, 0.0, 0.0]), [1.0 / 3.0; 3]);
    }

    #[test]
    fn damaged_models_are_errors_with_a_line() {
        let head = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 4000000000\nbias -1\n";
        assert_eq!(
            said(&format!("{head}w\n1 \n")),
            "line 7: 1 lines of weights instead of 4000000000; the file is cut short or damaged"
        );
        assert_eq!(said(head), "line 5: the file ends before the line `w`; it is cut short");
        assert_eq!(said(&format!("{head}w\n1 2\n")), "line 7: 2 weights instead of 1");
        assert_eq!(said(&format!("{head}odd 3\nw\n")), "line 6: unknown word `odd` in the header of the model");
        assert_eq!(
            said(&head.replace("label 1", "label 1 2").replace("4000000000\n", "0\nw\n")),
            "line 5: 3 labels for 2 classes"
        );
        assert!(said("solver_type NEW\n").contains("solver_type NEW"));
    }
}
