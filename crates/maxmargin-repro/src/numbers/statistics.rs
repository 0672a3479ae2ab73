//! Ranks, rank tests over data sets (Demšar, JMLR 7, 2006), correlations, means and medians.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Ranks from 1, the mean of their places for equal values.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let equal = order[at..].iter().take_while(|&&k| values[k] == values[order[at]]).count();
        order[at..at + equal].iter().for_each(|&k| ranks[k] = at as f64 + 0.5 * (equal as f64 + 1.0));
        at += equal;
    }
    ranks
}

/// What the test of one pair found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wilcoxon {
    /// Sums of the ranks of positive and of negative differences.
    pub(crate) positive: f64,
    pub(crate) negative: f64,
    /// Probability, without a difference, of a smaller sum at most this small: one-sided, exact.
    pub(crate) p: f64,
}

/// Wilcoxon's signed-rank test of differences. Zeros take part in the ranking and are dropped
/// afterwards (Pratt 1959); the distribution is the exact one, of all signs of the ranks at hand.
pub(crate) fn wilcoxon(differences: &[f64]) -> Wilcoxon {
    // Differences of printed decimals are equal up to rounding: to nine digits of the largest.
    let unit = 1e-9 * differences.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
    let snapped = |d: f64| if unit > 0.0 { (d / unit).round() } else { 0.0 };
    let differences: Vec<f64> = differences.iter().map(|d| snapped(*d)).collect();
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let signed: Vec<(f64, f64)> = ranks(&sizes).into_iter().zip(differences.iter().copied()).filter(|(_, d)| *d != 0.0).collect();
    let sum = |of: fn(&f64) -> bool| signed.iter().filter(|(_, d)| of(d)).fold(0.0, |sum, (rank, _)| sum + rank);
    let (positive, negative) = (sum(|d| *d > 0.0), sum(|d| *d < 0.0));
    // Shares of all 2^n signs by twice their sum of positive ranks, which is whole.
    let doubled: Vec<usize> = signed.iter().map(|(rank, _)| (2.0 * rank).round() as usize).collect();
    let mut share = vec![0.0; doubled.iter().sum::<usize>() + 1];
    share[0] = 1.0;
    for rank in doubled {
        for total in (0..share.len()).rev() {
            share[total] = 0.5 * (share[total] + if total >= rank { share[total - rank] } else { 0.0 });
        }
    }
    let least = (2.0 * positive.min(negative)).round() as usize;
    Wilcoxon { positive, negative, p: share[..=least].iter().sum() }
}

/// Friedman's test that `k` trainings differ, in the form of Iman and Davenport: F and its
/// probability with `k − 1` and `(k − 1)(N − 1)` degrees of freedom, and mean ranks. `rows` has one
/// value per training for each data set. None for fewer than two of either.
pub(crate) fn friedman(rows: &[Vec<f64>]) -> Option<(f64, f64, Vec<f64>)> {
    let (n, k) = (rows.len() as f64, rows.first()?.len() as f64);
    if n < 2.0 || k < 2.0 {
        return None;
    }
    let mut mean = vec![0.0; rows[0].len()];
    for row in rows {
        ranks(row).iter().zip(&mut mean).for_each(|(rank, mean)| *mean += rank / n);
    }
    let square = 12.0 * n / (k * (k + 1.0)) * (mean.iter().map(|r| r * r).sum::<f64>() - 0.25 * k * (k + 1.0) * (k + 1.0));
    let f = (n - 1.0) * square / (n * (k - 1.0) - square);
    let p = FisherSnedecor::new(k - 1.0, (k - 1.0) * (n - 1.0)).ok().filter(|_| f.is_finite()).map_or(0.0, |law| law.sf(f));
    Some((f, p, mean))
}

/// Spearman's rank correlation; 0 where one side does not vary.
pub(crate) fn spearman(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    correlation(&ranks(&x), &ranks(&y))
}

/// Share of the variance of `y` that a straight line in `x` explains.
pub(crate) fn explained(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    correlation(&x, &y).powi(2)
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let sum = |a: &[f64], ma: f64, b: &[f64], mb: f64| a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f64>();
    let size = (sum(x, mx, x, mx) * sum(y, my, y, my)).sqrt();
    if size > 0.0 { sum(x, mx, y, my) / size } else { 0.0 }
}

/// Mean and standard deviation (with n − 1; none of one value).
pub(crate) fn spread(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (None, None);
    }
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (Some(mean), (n > 1.0).then(|| (square / (n - 1.0)).sqrt()))
}

/// The middle of the values, which are sorted on return; NaN of none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::{explained, friedman, median, ranks, spearman, wilcoxon};
    use crate::workspace::tools::root;
    use std::fs;

    #[test]
    fn ranks_of_equal_values() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
    }

    /// Differences 1, −2, 3: of 8 signs, those with a sum of negative ranks of at most 2 are none,
    /// {1}, {2}.
    #[test]
    fn signed_ranks_by_hand() {
        let found = wilcoxon(&[1.0, -2.0, 3.0]);
        assert_eq!((found.positive, found.negative, found.p), (4.0, 2.0, 3.0 / 8.0));
        // Pratt: the zero takes rank 1, so that ranks 2, 3 and 4 are left; sums of at most 3: none,
        // {2}, {3}.
        let found = wilcoxon(&[1.0, 0.0, -2.0, 3.0]);
        assert_eq!((found.positive, found.negative, found.p), (6.0, 3.0, 3.0 / 8.0));
    }

    fn printed(columns: [&str; 3]) -> Vec<Vec<f64>> {
        let text = fs::read_to_string(root().join("crates/maxmargin-repro/papers/frank-wolfe-table2-3.csv")).expect("table");
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().expect("header");
        let at = columns.map(|name| header.iter().position(|column| *column == name).expect("column"));
        lines.map(|row| at.iter().map(|&c| row[c].parse().expect("number")).collect()).collect()
    }

    /// The paper's tables 5 and 6 from its tables 2 and 3. Its Friedman probabilities are twice
    /// those of F, which has one tail. Of accuracies that it prints with two digits its W of FW
    /// against MFW (63.5) and its F (11.879) do not follow, but the probability of the former does.
    #[test]
    fn statistics_that_the_paper_prints() {
        let seconds = printed(["cvm_s", "fw_s", "mfw_s"]);
        let of = |rows: &[Vec<f64>], a: usize, b: usize| {
            let found = wilcoxon(&rows.iter().map(|row| row[a] - row[b]).collect::<Vec<_>>());
            (found.positive.min(found.negative), found.p)
        };
        let near = |(w, p): (f64, f64), expected: (f64, f64)| {
            // Four printed digits.
            assert!(w == expected.0 && (p / expected.1 - 1.0).abs() < 5e-4, "{w} {p} {expected:?}");
        };
        near(of(&seconds, 1, 0), (17.0, 3.085e-6));
        near(of(&seconds, 2, 0), (20.0, 5.528e-6));
        near(of(&seconds, 1, 2), (159.0, 0.6893 / 2.0));
        let (f, p, _) = friedman(&seconds).expect("two data sets and more");
        assert!((f - 14.858).abs() < 5e-4 && (2.0 * p / 1.72e-5 - 1.0).abs() < 5e-3, "{f} {p}");
        // With 2 and 50 degrees of freedom F has the closed form (1 + F / 25)^−25.
        assert!((p / (1.0 + f / 25.0).powi(-25) - 1.0).abs() < 1e-9, "{p}");

        let accuracy = printed(["cvm_accuracy", "fw_accuracy", "mfw_accuracy"]);
        near(of(&accuracy, 1, 0), (19.0, 4.977e-6));
        assert_eq!(of(&accuracy, 2, 0).0, 48.5);
        let (_, p) = of(&accuracy, 1, 2);
        assert!((p / 1.23e-3 - 1.0).abs() < 5e-3, "{p}");
    }

    #[test]
    fn rank_correlations_by_hand() {
        assert_eq!(spearman(&[(1.0, 10.0), (2.0, 100.0), (3.0, 1e6)]), 1.0);
        assert_eq!(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
        // Ranks 1 2 3 4 against 2 1 4 3: 1 − 6·4 / (4·15).
        assert!((spearman(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)]) - 0.6).abs() < 1e-12);
        assert_eq!(spearman(&[(1.0, 5.0), (2.0, 5.0)]), 0.0);
    }

    #[test]
    fn a_line_explains_itself_and_not_a_parabola() {
        let line: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), 3.0 * f64::from(x) - 1.0)).collect();
        assert!((explained(&line) - 1.0).abs() < 1e-12);
        let parabola: Vec<(f64, f64)> = (-4..5).map(|x| (f64::from(x), f64::from(x * x))).collect();
        assert!(explained(&parabola) < 1e-12);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&mut []).is_nan());
    }
}
