//! Tests whether trainings differ over data sets: Wilcoxon's signed ranks and Friedman's ranks
//! (Demšar, JMLR 7, 2006).

use crate::cells::row::Row;
use crate::columns::markdown::grid;
use crate::columns::value::NOTHING;
use crate::numbers::format::digits;
use crate::numbers::statistics::{friedman, wilcoxon};
use crate::specs::papers::Paper;
use crate::specs::presentation::Statistics;
use crate::workspace::failure::Outcome;

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
