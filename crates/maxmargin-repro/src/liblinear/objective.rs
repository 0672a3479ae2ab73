//! The primal objectives of LIBLINEAR's solvers, computed from a model and its data alone.

use super::model::{LinearModel, Rows};

/// The width within which errors of values cost nothing: LIBLINEAR's default of `-p`.
const WIDTH: f64 = 0.1;

/// LIBLINEAR's default of `-n`, the ν of one class.
const NU: f64 = 0.5;

/// LIBLINEAR's numbers of its solvers.
pub(crate) const SOLVERS: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 21];

/// Returns what a solver minimises, in a few words.
pub(crate) fn name(solver: u8) -> &'static str {
    match solver {
        0 => "logistic, primal",
        1 => "squared hinge, dual",
        2 => "squared hinge, primal",
        3 => "hinge, dual",
        4 => "Crammer and Singer",
        5 => "squared hinge, L1",
        6 => "logistic, L1",
        7 => "logistic, dual",
        11 => "values, squared, primal",
        12 => "values, squared, dual",
        13 => "values, dual",
        _ => "one class",
    }
}

/// Returns the primal objective of a model at the cost `c`: that of all columns together.
pub(crate) fn primal(solver: u8, model: &LinearModel, rows: &Rows, c: f64) -> f64 {
    let norm: f64 = match solver {
        5 | 6 => model.weights.iter().map(|w| w.abs()).sum(),
        _ => 0.5 * model.weights.iter().map(|w| w * w).sum::<f64>(),
    };
    let mut products = vec![0.0; model.columns];
    let mut sum = 0.0;
    for (label, entries) in rows.iter() {
        model.products(entries, &mut products);
        sum += match solver {
            4 => all_classes(&model.labels, label, &products),
            11..=13 => {
                let beyond = ((label - products[0]).abs() - WIDTH).max(0.0);
                if solver == 13 { beyond } else { beyond * beyond }
            }
            21 => (model.rho - products[0]).max(0.0),
            _ => products.iter().zip(&model.labels).map(|(f, own)| margin(solver, if *own == label { *f } else { -f })).sum(),
        };
    }
    // One class has the cost 1, and its threshold is part of the objective.
    if solver == 21 { norm + sum - NU * rows.labels.len() as f64 * model.rho } else { norm + c * sum }
}

/// Returns the loss at a margin.
fn margin(solver: u8, z: f64) -> f64 {
    match solver {
        0 | 6 | 7 => (-z).max(0.0) + (-z.abs()).exp().ln_1p(),
        3 => (1.0 - z).max(0.0),
        _ => (1.0 - z).max(0.0).powi(2),
    }
}

/// Returns Crammer and Singer's loss of one row.
fn all_classes(labels: &[f64], label: f64, products: &[f64]) -> f64 {
    let mut own = 0.0;
    let mut most = f64::NEG_INFINITY;
    for (class, product) in labels.iter().zip(products) {
        if *class == label {
            own = *product;
        }
        most = most.max(product + f64::from(u8::from(*class != label)));
    }
    most - own
}

/// Returns the sum of the dual objectives that `--certificate` of our program prints, one for each
/// column of weights: a lower bound on the optimum.
pub(crate) fn dual_bound(output: &str) -> Option<f64> {
    let dual = |line: &str| {
        let (_, rest) = line.strip_prefix("certificate: ")?.split_once("dual = ")?;
        rest.split(',').next()?.trim().parse::<f64>().ok()
    };
    let duals: Option<Vec<f64>> = output.lines().filter(|line| line.starts_with("certificate: ")).map(dual).collect();
    duals.filter(|duals| !duals.is_empty()).map(|duals| duals.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows, one weight each; the margins are 0.5 and −1.
    fn case(columns: usize) -> (LinearModel, Rows) {
        let weights = if columns == 1 { vec![0.5, 1.0] } else { vec![0.5, -0.5, 1.0, 0.0] };
        let model = LinearModel { labels: vec![1.0, -1.0], columns, rho: 0.75, weights };
        (model, Rows::parse("1 1:1\n-1 2:1\n").expect("rows"))
    }

    #[test]
    fn objectives_by_hand() {
        let (model, rows) = case(1);
        let near = |solver: u8, expected: f64| {
            let found = primal(solver, &model, &rows, 2.0);
            assert!((found - expected).abs() < 1e-12, "-s {solver}: {found}, not {expected}");
        };
        let logistic = 2.0 * ((1.0 + (-0.5_f64).exp()).ln() + (1.0 + 1.0_f64.exp()).ln());
        near(0, 0.625 + logistic);
        near(7, 0.625 + logistic);
        near(6, 1.5 + logistic);
        near(1, 0.625 + 2.0 * (0.25 + 4.0));
        near(2, 0.625 + 2.0 * (0.25 + 4.0));
        near(5, 1.5 + 2.0 * (0.25 + 4.0));
        near(3, 0.625 + 2.0 * (0.5 + 2.0));
        // Errors 0.5 and 2, beyond the width 0.4 and 1.9.
        near(11, 0.625 + 2.0 * (0.16 + 3.61));
        near(12, 0.625 + 2.0 * (0.16 + 3.61));
        near(13, 0.625 + 2.0 * (0.4 + 1.9));
        near(21, 0.625 + 0.25 - 0.5 * 2.0 * 0.75);
        // The first row leads by 1, which costs nothing; the second is 1 behind.
        let (model, rows) = case(2);
        assert!((primal(4, &model, &rows, 2.0) - (0.75 + 2.0 * 2.0)).abs() < 1e-12);
        // Columns of the other solvers are problems of their own.
        let both = 0.75 + 2.0 * ((0.5 + 0.5) + (2.0 + 1.0));
        assert!((primal(3, &model, &rows, 2.0) - both).abs() < 1e-12);
        assert!(SOLVERS.iter().all(|solver| !name(*solver).is_empty()));
    }

    #[test]
    fn bounds_of_all_columns_are_summed() {
        let line = |dual: &str| format!("certificate: primal = 2.5, dual = {dual}, relative gap = 1e-7, KKT violation = 0\n");
        assert_eq!(dual_bound(&(line("2") + "nSV = 3\n" + &line("0.25"))), Some(2.25));
        assert_eq!(dual_bound(&line("-8750.5")), Some(-8750.5));
        assert_eq!(dual_bound("Objective value = -2\n"), None);
        assert_eq!(dual_bound(&(line("2") + &line("x"))), None);
    }
}
