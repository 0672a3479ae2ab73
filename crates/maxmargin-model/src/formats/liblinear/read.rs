//! Reads LIBLINEAR's model text.

use super::{LinearModel, SOLVERS};
use crate::error::ModelError;
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
    let (mut solver, mut classes, mut features, mut bias, mut rho) = (None, None, None, -1.0, None);
    let mut labels: Vec<i32> = Vec::new();
    let mut last = 1;
    loop {
        let Some((at, line)) = lines.next() else {
            return Err(ModelError::line(last, "the file ends before the line `w`; it is cut short"));
        };
        last = at;
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        let mut one = || words.next().ok_or_else(|| ModelError::line(at, format!("`{name}` needs a value")));
        match name {
            "w" => break,
            "solver_type" => {
                let word = one()?;
                let known = SOLVERS.iter().find(|known| known.1 == word);
                let unknown = || ModelError::Unsupported(format!("solver_type {}", quoted(word, 40)));
                solver = Some(known.ok_or_else(unknown)?.0);
            }
            "nr_class" => classes = Some(whole(at, one()?)?),
            "nr_feature" => features = Some(whole(at, one()?)?),
            "bias" => bias = number(at, one()?)?,
            "rho" => rho = Some(number(at, one()?)?),
            "label" => {
                let label =
                    |word: &str| word.parse().map_err(|_| ModelError::line(at, format!("`{}` is no label", quoted(word, 40))));
                labels = words.map(label).collect::<Result<_, _>>()?;
            }
            _ => return Err(ModelError::line(at, format!("unknown word `{}` in the header of the model", quoted(name, 40)))),
        }
    }
    let missing = |what: &str| ModelError::line(last, format!("the header has no `{what}`"));
    let solver = solver.ok_or_else(|| missing("solver_type"))?;
    let (classes, features) = (classes.ok_or_else(|| missing("nr_class"))?, features.ok_or_else(|| missing("nr_feature"))?);
    let has_labels = !matches!(solver, 11..=13 | 21);
    if has_labels && (labels.len() != classes || classes == 0) {
        return Err(ModelError::line(last, format!("{} labels for {classes} classes", labels.len())));
    }
    if !has_labels {
        labels.clear();
    }
    let columns = if has_labels && (classes != 2 || solver == 4) { classes } else { 1 };
    let mut model = LinearModel { solver, labels, features, bias, rho, weights: vec![Vec::new(); columns] };
    for (at, line) in lines {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if words.len() != columns {
            return Err(ModelError::line(at, format!("{} weights where {columns} should stand", words.len())));
        }
        for (column, word) in model.weights.iter_mut().zip(words) {
            column.push(number(at, word)?);
        }
        last = at;
    }
    let (found, rows) = (model.weights[0].len(), model.rows());
    if found != rows {
        return Err(ModelError::line(
            last,
            format!("{found} lines of weights where {rows} should stand; the file is cut short or damaged"),
        ));
    }
    Ok(model)
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
            "line 7: 1 lines of weights where 4000000000 should stand; the file is cut short or damaged"
        );
        assert_eq!(said(head), "line 5: the file ends before the line `w`; it is cut short");
        assert_eq!(said(&format!("{head}w\n1 2\n")), "line 7: 2 weights where 1 should stand");
        assert_eq!(said(&format!("{head}odd 3\nw\n")), "line 6: unknown word `odd` in the header of the model");
        assert_eq!(
            said(&head.replace("label 1", "label 1 2").replace("4000000000\n", "0\nw\n")),
            "line 5: 3 labels for 2 classes"
        );
        assert!(said("solver_type NEW\n").contains("solver_type NEW"));
    }
}
