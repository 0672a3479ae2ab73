//! Labels that are probably wrong: samples by the margin of their label under machines that were
//! not trained on them.

use super::margin_scores::margin_scores;
use maxmargin_data::{ClassLabels, Dataset, LabelError, Samples};
use maxmargin_model::Multiclass;
use std::collections::HashMap;

/// A sample with the margin of its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The row of the sample.
    pub row: usize,
    /// The margin of the sample's label, out of sample: below 0 the machines prefer another label.
    pub margin: f64,
    /// The rows with equal features and another label, ascending.
    pub contradicting: Vec<usize>,
}

/// Returns the samples by ascending margin; of equal margins the first row comes first. Samples
/// that no fold with a solution tested are left out.
///
/// `decisions` are those of a cross-validation ([`CvReport::decisions`](super::CvReport)): rounds ×
/// samples × machines. The margin of a label is the least decision value in its favour: of the
/// machines of pairs that separate it from another class, or of its own machine minus that of each
/// other class. Margins of several rounds are averaged.
///
/// # Errors
///
/// When there are not two classes at least.
///
/// # Panics
///
/// When `decisions` has not the shape above.
pub fn suspects(data: &Dataset, multiclass: Multiclass, decisions: &[f64]) -> Result<Vec<Suspect>, LabelError> {
    let classes = ClassLabels::new(&data.labels)?;
    // Two classes have one machine under any scheme.
    let multiclass = if classes.count() == 2 { Multiclass::OneVsOne } else { multiclass };
    let (rows, machines) = (data.labels.len(), multiclass.sides(classes.count()).len());
    assert!(decisions.len().is_multiple_of(rows * machines), "{} decision values", decisions.len());
    let mut contradicting = contradicting(&data.samples, classes.of());
    let mut found = Vec::new();
    let mut scores = vec![0.0; classes.count()];
    for (row, &class) in classes.of().iter().enumerate() {
        let rounds = decisions.chunks_exact(rows * machines);
        let of_rounds = rounds.map(|round| &round[row * machines..][..machines]);
        let known = of_rounds.filter(|decisions| !decisions.iter().any(|decision| decision.is_nan()));
        let margins: Vec<f64> = known
            .map(|decisions| {
                margin_scores(multiclass, decisions, &mut scores);
                -scores[class as usize]
            })
            .collect();
        if !margins.is_empty() {
            let margin = margins.iter().sum::<f64>() / margins.len() as f64;
            found.push(Suspect { row, margin, contradicting: contradicting.remove(&row).unwrap_or_default() });
        }
    }
    found.sort_by(|a, b| a.margin.total_cmp(&b.margin));
    Ok(found)
}

/// Returns for each row the rows of other classes with equal features, where there are any.
fn contradicting(samples: &Samples, of: &[u32]) -> HashMap<usize, Vec<usize>> {
    let mut equal: HashMap<Vec<(usize, u64)>, Vec<usize>> = HashMap::new();
    for row in 0..samples.len() {
        let mut key = Vec::new();
        samples.row(row).for_each(|j, value| {
            if value != 0.0 {
                key.push((j, value.to_bits()));
            }
        });
        equal.entry(key).or_default().push(row);
    }
    let mut found = HashMap::new();
    for rows in equal.into_values().filter(|rows| rows.iter().any(|row| of[*row] != of[rows[0]])) {
        for &row in &rows {
            found.insert(row, rows.iter().copied().filter(|other| of[*other] != of[row]).collect());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(rows: &[[f64; 2]], labels: &[f64]) -> Dataset {
        Dataset::from_rows(rows, labels).expect("finite")
    }

    fn order(found: &[Suspect]) -> Vec<(usize, f64)> {
        found.iter().map(|suspect| (suspect.row, suspect.margin)).collect()
    }

    #[test]
    fn margins_of_two_classes_have_the_sign_of_the_label() {
        let data = data(&[[1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [3.0, 1.0]], &[1.0, -1.0, 1.0, 1.0, -1.0]);
        let nan = f64::NAN;
        for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
            let found = suspects(&data, multiclass, &[0.5, 0.5, -2.0, nan, -1.0]).expect("two classes");
            assert_eq!(order(&found), [(2, -2.0), (1, -0.5), (0, 0.5), (4, 1.0)]);
            let equal: Vec<&[usize]> = found.iter().map(|suspect| &suspect.contradicting[..]).collect();
            assert_eq!(equal, [&[][..], &[0, 3], &[1], &[]], "-0 equals 0");
        }
        let twice = suspects(&data, Multiclass::OneVsOne, &[0.5, 0.5, -2.0, nan, -1.0, 1.5, nan, -1.0, 3.0, -1.0]);
        assert_eq!(order(&twice.expect("two classes")), [(2, -1.5), (1, -0.5), (0, 1.0), (4, 1.0), (3, 3.0)]);
    }

    #[test]
    fn the_least_favourable_machine_decides() {
        let data = data(&[[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]], &[0.0, 1.0, 2.0]);
        // Machines of the pairs 01, 02, 12.
        let pairs = [-1.0, -3.0, 9.0, 2.0, 9.0, 0.5, 9.0, 4.0, 1.0];
        let found = suspects(&data, Multiclass::OneVsOne, &pairs).expect("three classes");
        assert_eq!(order(&found), [(1, -0.5), (0, 1.0), (2, 1.0)]);
        let rest = [1.0, 0.5, -1.0, 2.0, -1.0, 0.0, -1.0, -2.0, 1.5];
        let found = suspects(&data, Multiclass::OneVsRest, &rest).expect("three classes");
        assert_eq!(order(&found), [(1, -3.0), (0, 0.5), (2, 2.5)]);
        assert!(suspects(&self::data(&[[0.0, 1.0]], &[1.0]), Multiclass::OneVsOne, &[]).is_err());
    }
}
