//! Samples in LIBSVM's text and models in LIBLINEAR's.

use crate::datasets::edit::pair;
use crate::workspace::failure::{Context, Outcome, fail};

/// Sparse rows with labels.
pub(crate) struct Rows {
    pub(crate) labels: Vec<f64>,
    /// The first entry of each row, and the end of the last one.
    starts: Vec<usize>,
    /// Feature numbers, from 1.
    features: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    /// Reads samples in LIBSVM's text.
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let mut rows = Self { labels: Vec::new(), starts: vec![0], features: Vec::new(), values: Vec::new() };
        for (n, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let label = words.next().unwrap_or_default();
            rows.labels.push(label.parse().context(format_args!("line {}: label `{label}`", n + 1))?);
            for word in words {
                let (feature, value) = pair(n, word)?;
                rows.features.push(u32::try_from(feature).context(format_args!("line {}: `{word}`", n + 1))?);
                rows.values.push(value);
            }
            rows.starts.push(rows.features.len());
        }
        Ok(rows)
    }

    /// Returns the label and the entries of each row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, impl Iterator<Item = (u32, f64)>)> {
        self.labels.iter().zip(self.starts.windows(2)).map(|(label, ends)| {
            let entries = ends[0]..ends[1];
            (*label, self.features[entries.clone()].iter().copied().zip(self.values[entries].iter().copied()))
        })
    }
}

/// A model of LIBLINEAR's, without a bias.
#[derive(Debug, PartialEq)]
pub(crate) struct LinearModel {
    /// The labels of the columns. Two labels may have one column, that of the first.
    pub(crate) labels: Vec<f64>,
    pub(crate) columns: usize,
    /// The threshold of one class.
    pub(crate) rho: f64,
    /// Weights, feature by feature.
    pub(crate) weights: Vec<f64>,
}

impl LinearModel {
    /// Reads LIBLINEAR's text.
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let Some((head, body)) = text.split_once("\nw\n") else { return fail("the model has no line `w`") };
        let numbers = |line: &str| -> Outcome<Vec<f64>> {
            line.split_whitespace().map(|word| word.parse().context(format_args!("`{word}` in the model"))).collect()
        };
        let after = |key: &str| head.lines().find_map(|line| line.strip_prefix(key)).map(numbers).transpose();
        if after("bias ")?.is_none_or(|bias| bias.first().is_none_or(|bias| *bias >= 0.0)) {
            return fail("the model has a bias, or does not say so");
        }
        let columns = body.lines().next().map_or(0, |line| line.split_whitespace().count());
        let weights = numbers(body)?;
        let features = after("nr_feature ")?.and_then(|numbers| numbers.first().copied()).unwrap_or(0.0) as usize;
        if columns == 0 || weights.len() != columns * features {
            return fail(format!("the model has {} weights for {features} features of {columns} columns", weights.len()));
        }
        let rho = after("rho ")?.and_then(|numbers| numbers.first().copied()).unwrap_or(0.0);
        Ok(Self { labels: after("label ")?.unwrap_or_default(), columns, rho, weights })
    }

    /// Adds the products of a row with all columns to `sums`.
    pub(crate) fn products(&self, entries: impl Iterator<Item = (u32, f64)>, sums: &mut [f64]) {
        sums.fill(0.0);
        for (feature, value) in entries {
            let at = (feature as usize).saturating_sub(1) * self.columns;
            let Some(row) = self.weights.get(at..at + self.columns) else { continue };
            sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight * value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "solver_type MCSVM_CS\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias -1\nw\n1 -1 \n0.5 0 \n0 2e-1 \n";

    #[test]
    fn rows_are_read() {
        let rows = Rows::parse("+1 1:0.5 3:-2\n-1\n2.5 2:1\n").expect("rows");
        assert_eq!(rows.labels, [1.0, -1.0, 2.5]);
        let entries: Vec<Vec<(u32, f64)>> = rows.iter().map(|(_, entries)| entries.collect()).collect();
        assert_eq!(entries, [vec![(1, 0.5), (3, -2.0)], vec![], vec![(2, 1.0)]]);
        assert!(Rows::parse("1\nx 1:2\n").is_err_and(|failure| failure.to_string().contains("line 2")));
        assert!(Rows::parse("1 2\n").is_err());
    }

    #[test]
    fn models_are_read_whole_or_not_at_all() {
        let model = LinearModel::parse(MODEL).expect("a model");
        assert_eq!((&model.labels[..], model.columns, model.rho), (&[1.0, -1.0][..], 2, 0.0));
        let mut sums = [9.0; 2];
        model.products([(1, 2.0), (3, 10.0), (7, 5.0)].into_iter(), &mut sums);
        assert_eq!(sums, [2.0, 0.0]);
        let one = MODEL.replace("label 1 -1\n", "").replace("bias -1\n", "bias -1\nrho 0.25\n");
        assert_eq!(LinearModel::parse(&one).expect("a model").rho, 0.25);
        for broken in [MODEL.replace("bias -1", "bias 1"), MODEL.replace("0 2e-1 \n", ""), MODEL.replace("\nw\n", "\n")] {
            assert!(LinearModel::parse(&broken).is_err(), "{broken}");
        }
    }
}
