//! Tests whether trainings differ over data sets: Wilcoxon's signed ranks and Friedman's ranks
//! (Demšar, JMLR 7, 2006).

use super::columns::{NOTHING, grid};
use super::numbers::digits;
use super::papers::Paper;
use super::spec::Statistics;
use super::table::Row;
use crate::failure::Outcome;
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

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Time,
    Accuracy,
}

/// The report's section on the trainings of a table.
pub(crate) fn section(statistics: &Statistics, rows: &[Row]) -> Outcome<String> {
    let ours = |row: &Row, measure| {
        let measured = row.counted()?;
        let value = if measure == Measure::Time { measured.train_seconds } else { measured.accuracy };
        value.filter(|_| measured.number("cut_runs").is_none_or(|cut| cut == 0.0))
    };
    let theirs = |row: &Row, measure| if measure == Measure::Time { row.printed.seconds } else { row.printed.accuracy };
    let paper = Paper::load(&statistics.paper)?;
    let [a, b, c] = &statistics.variants;
    let pairs = [(b, a), (c, a), (b, c)].map(|(this, other)| format!("{this} vs. {other}: W, p"));
    let heads = ["measure", "figures", "data sets"].map(str::to_owned).into_iter().chain(pairs);
    let heads = heads.chain(["Friedman F, p", "mean ranks"].map(str::to_owned));
    let mut lines: Vec<[String; 8]> = Vec::new();
    for (measure, name) in [(Measure::Time, "time"), (Measure::Accuracy, "accuracy")] {
        let printed = |column: &str| paper.entry(&[("measure", name)], column).unwrap_or_else(|| NOTHING.into());
        let pair = |pair: &str| format!("{}, {}", printed(&format!("{pair}_W")), printed(&format!("{pair}_p")));
        let friedman = format!("{}, {}", printed("friedman_F"), printed("friedman_p"));
        let (first, second, third) = (pair("fw_vs_cvm"), pair("mfw_vs_cvm"), pair("fw_vs_mfw"));
        let whose = "as the paper prints them".to_owned();
        lines.push([name.to_owned(), whose, "26".to_owned(), first, second, third, friedman, NOTHING.to_owned()]);
        let again = values(statistics, rows, |row| theirs(row, measure));
        let here = values(statistics, rows, |row| ours(row, measure));
        for (whose, values) in [("recomputed from the printed tables 2 and 3, sets measured here", again), ("here", here)] {
            let [first, second, third, friedman, ranks] = judged(&values, measure);
            let sets = values.len().to_string();
            lines.push([name.to_owned(), whose.to_owned(), sets, first, second, third, friedman, ranks]);
        }
    }
    let column = |(n, head): (usize, String)| (head, n < 2, lines.iter().map(|line| line[n].clone()).collect());
    let columns: Vec<(String, bool, Vec<String>)> = heads.enumerate().map(column).collect();
    Ok(format!("## Statistics: tables 5 and 6\n\n{}\n", grid(&columns)))
}

/// One row per data set of which all three are known.
fn values(statistics: &Statistics, rows: &[Row], of: impl Fn(&Row) -> Option<f64>) -> Vec<Vec<f64>> {
    let mut problems: Vec<&str> = rows.iter().map(|row| row.cell.problem.as_str()).collect();
    problems.dedup();
    let value = |problem: &str, variant: &String| {
        rows.iter().find(|row| row.cell.problem == problem && row.cell.variant == *variant).and_then(&of)
    };
    problems.iter().filter_map(|problem| statistics.variants.iter().map(|variant| value(problem, variant)).collect()).collect()
}

/// The tests of the paper: its first algorithm against both others one-sided; the others by time
/// two-sided, by accuracy one-sided.
fn judged(values: &[Vec<f64>], measure: Measure) -> [String; 5] {
    let test = |a: usize, b: usize, sides: f64| {
        let found = wilcoxon(&values.iter().map(|row| row[a] - row[b]).collect::<Vec<f64>>());
        format!("{}, {:.3e}", found.positive.min(found.negative), (sides * found.p).min(1.0))
    };
    let sides = if measure == Measure::Time { 2.0 } else { 1.0 };
    let (friedman, ranks) = friedman(values).map_or_else(
        || (NOTHING.to_owned(), NOTHING.to_owned()),
        |(f, p, mean)| (format!("{f:.3}, {p:.2e}"), mean.into_iter().map(digits::<2>).collect::<Vec<_>>().join(", ")),
    );
    [test(1, 0, 1.0), test(2, 0, 1.0), test(1, 2, sides), friedman, ranks]
}

#[cfg(test)]
mod tests {
    use super::{friedman, ranks, wilcoxon};
    use crate::tools::root;
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
        let text = fs::read_to_string(root().join("xtask/papers/frank-wolfe-table2-3.csv")).expect("table");
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
}
