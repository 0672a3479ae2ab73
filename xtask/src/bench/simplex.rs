//! Columns about trainings on the simplex: means over seeds, the paper's figures beside them, certified gaps.

use super::columns::{Column, NOTHING, beside, column, counted, group, seconds, show, times};
use super::record::Measured;
use super::spec::{Settings, Simplex, View};
use super::table::{Row, median};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Accuracies that count as those of the paper, percent points.
const NEAR: f64 = 0.5;

/// Rows that differ in the setting `over` alone become one, with means; the largest gap is the row's.
pub(crate) fn merge(rows: Vec<Row>, over: &str) -> Vec<Row> {
    let place = |row: &Row| {
        let rest: Settings =
            row.cell.settings.iter().filter(|(key, _)| *key != over).map(|(k, v)| (k.clone(), v.clone())).collect();
        (row.cell.table, row.cell.problem.clone(), row.cell.variant.clone(), rest)
    };
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| place(&group[0]) == place(&row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().map(|group| mean(group, over)).collect()
}

fn mean(mut group: Vec<Row>, over: &str) -> Row {
    let all: Vec<Measured> = group.iter().map(|row| row.ours.measured.clone()).collect();
    let flaw = group.iter().find_map(|row| row.ours.flaw.clone());
    let wall = group.iter().map(|row| row.ours.seconds).sum::<f64>() / group.len() as f64;
    let mut row = group.swap_remove(0);
    row.cell.vary = row.cell.vary.split(' ').filter(|part| part.split('=').next() != Some(over)).collect::<Vec<_>>().join(" ");
    row.ours.seconds = wall;
    row.ours.flaw = flaw;
    let measured = &mut row.ours.measured;
    let of = |value: fn(&Measured) -> Option<f64>| all.iter().filter_map(value).collect::<Vec<f64>>();
    let (accuracy, accuracy_std) = spread(&of(|m| m.accuracy));
    // Seconds of a processor, where they are known: others may use the machine as well.
    let (train_seconds, train_seconds_std) = spread(&of(|m| m.number("cpu_seconds").or(m.train_seconds)));
    let (core_set, _) = spread(&of(|m| m.number("core_set")));
    let (support_vectors, _) = spread(&of(|m| m.number("support_vectors")));
    (measured.accuracy, measured.train_seconds) = (accuracy, train_seconds);
    measured.iterations = spread(&of(|m| m.iterations.map(|n| n as f64))).0.map(|n| n.round() as u64);
    measured.rows_computed = spread(&of(|m| m.rows_computed.map(|n| n as f64))).0.map(|n| n.round() as u64);
    let mut gaps = of(|m| m.relative_gap);
    let middle = median(&mut gaps);
    measured.relative_gap = gaps.last().copied();
    let cut = all.iter().filter(|m| m.cut_off()).count();
    for (name, value) in [
        ("accuracy_std", json!(accuracy_std)),
        ("train_seconds_std", json!(train_seconds_std)),
        ("core_set", json!(core_set)),
        ("support_vectors", json!(support_vectors)),
        ("gap_median", json!(middle)),
        ("runs", json!(all.len())),
        ("cut_runs", json!(cut)),
    ] {
        measured.more.insert(name.into(), value);
    }
    row
}

/// Mean and standard deviation (with n − 1; none of one value).
fn spread(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (None, None);
    }
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (Some(mean), (n > 1.0).then(|| (square / (n - 1.0)).sqrt()))
}

fn measured(row: &Row) -> Option<&Measured> {
    counted(&row.ours).map(|figures| &figures.measured)
}

fn number(row: &Row, name: &str) -> Option<f64> {
    measured(row)?.number(name)
}

/// Seconds of a training that no limit ended.
fn finished(row: &Row) -> Option<f64> {
    measured(row).filter(|m| !cut_off(m)).and_then(|m| m.train_seconds)
}

fn cut_off(measured: &Measured) -> bool {
    measured.number("cut_runs").map_or(measured.cut_off(), |cut| cut > 0.0)
}

fn training(row: &Row) -> String {
    show(measured(row).and_then(|m| m.train_seconds), |s| {
        let text = if s < 0.1 { format!("{s:.4}") } else { seconds(s) };
        if measured(row).is_some_and(cut_off) { format!("> {text}") } else { text }
    })
}

/// The baseline's seconds over the row's, where no limit ended either.
pub(crate) fn speedup(rows: &[Row], row: &Row, baseline: &str) -> Option<f64> {
    let other = beside(rows, row, baseline).filter(|other| other.cell.variant != row.cell.variant)?;
    Some(finished(other)? / finished(row)?)
}

/// [`speedup`] as text, a lower bound where the baseline was cut off.
fn speedup_text(rows: &[Row], row: &Row, baseline: &str) -> Option<String> {
    if let Some(ratio) = speedup(rows, row, baseline) {
        return Some(times(ratio));
    }
    let other = beside(rows, row, baseline).filter(|other| other.cell.variant != row.cell.variant)?;
    let bound = measured(other).filter(|m| cut_off(m))?.train_seconds? / finished(row)?;
    Some(format!("> {}", times(bound)))
}

/// The same of the seconds that the paper prints.
pub(crate) fn printed_speedup(rows: &[Row], row: &Row, baseline: &str) -> Option<f64> {
    let other = beside(rows, row, baseline).filter(|other| other.cell.variant != row.cell.variant)?;
    Some(other.printed.seconds? / row.printed.seconds?)
}

fn ended(row: &Row) -> String {
    if let Some(flaw) = &row.ours.flaw {
        return flaw.replace('|', "/");
    }
    let measured = &row.ours.measured;
    let evidence = measured.more.get("evidence").and_then(Value::as_str);
    let runs = measured.number("runs").unwrap_or(1.0);
    match measured.number("cut_runs").unwrap_or_else(|| f64::from(u8::from(measured.cut_off()))) {
        cut if cut > 0.0 => format!("{cut} of {runs} cut off"),
        _ if evidence == Some("Sample") => "by a sample".into(),
        _ => "by a full scan".into(),
    }
}

/// The columns behind data, setting and variant.
pub(crate) fn columns<'a>(simplex: &'a Simplex, rows: &'a [Row]) -> Vec<Column<'a>> {
    let baseline = simplex.baseline.as_deref().unwrap_or_default();
    let deviation = |row: &Row, name: &str| show(number(row, name), |x| format!("{x:.2}"));
    let off = |row: &Row| Some(measured(row)?.accuracy? - row.printed.accuracy?);
    let accuracy = || column("accuracy here", |row: &Row| show(measured(row).and_then(|m| m.accuracy), |x| format!("{x:.2}")));
    let steps = || column("steps", |row: &Row| show(measured(row).and_then(|m| m.iterations), group));
    let computed = || column("kernel rows", |row: &Row| show(measured(row).and_then(|m| m.rows_computed), group));
    let core = || column("core set", |row: &Row| show(number(row, "core_set"), |x| group(x.round() as u64)));
    let worst = || column("certified gap, worst", |row: &Row| show(measured(row).and_then(|m| m.relative_gap), gap));
    let over_here = move || {
        column(&format!("{baseline} / this, here"), move |row: &Row| show(speedup_text(rows, row, baseline), |text| text))
    };
    match simplex.view {
        View::Accuracy => vec![
            column("paper, accuracy", |row| show(row.printed.accuracy, |x| format!("{x:.2}"))),
            accuracy(),
            column("±", move |row| deviation(row, "accuracy_std")),
            column("seeds", |row| show(number(row, "runs"), |x| format!("{x}"))),
            column("here − paper", move |row| show(off(row), |x| format!("{x:+.2}"))),
            column(&format!("within {NEAR}"), move |row| {
                show(off(row), |x| if x.abs() <= NEAR { "yes" } else { "no" }.to_owned())
            }),
            core(),
            column("support vectors", |row| show(number(row, "support_vectors"), |x| group(x.round() as u64))),
            column("certified gap, median", |row| show(number(row, "gap_median"), gap)),
            worst(),
            column("ended", ended),
        ],
        View::Seconds => vec![
            column("paper, s", |row| show(row.printed.seconds, seconds)),
            column("training here, s", training),
            column("±", move |row| show(number(row, "train_seconds_std"), |x| format!("{x:.3}"))),
            column(&format!("{baseline} / this, paper"), move |row| show(printed_speedup(rows, row, baseline), times)),
            over_here(),
            steps(),
            computed(),
            core(),
            worst(),
            column("ended", ended),
        ],
        View::Gap => vec![
            column("training, s", training),
            column("±", move |row| show(number(row, "train_seconds_std"), |x| format!("{x:.3}"))),
            over_here(),
            steps(),
            computed(),
            core(),
            accuracy(),
            worst(),
            column("ended", ended),
        ],
        View::Choice => Vec::new(),
    }
}

fn gap(gap: f64) -> String {
    format!("{:.1e}", gap.max(0.0))
}

/// A row for each problem with what every value of C gave, the best marked, beside the value that the spec uses.
pub(crate) fn choice(rows: &[Row], used: impl Fn(&str) -> Option<f64>) -> String {
    let c = |row: &Row| row.cell.settings.get("c").and_then(Value::as_f64);
    let mut values: Vec<f64> = rows.iter().filter_map(c).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut problems: Vec<(&str, &str)> = rows.iter().map(|row| (row.cell.problem.as_str(), row.cell.variant.as_str())).collect();
    problems.dedup();
    let heads: Vec<String> = values.iter().map(f64::to_string).collect();
    let mut text = format!("| data | variant | best C | used | paper's test accuracy | C = {} |\n", heads.join(" | "));
    text += "| --- | --- | --: | --: | --: |";
    text += &(" --: |".repeat(values.len()) + "\n");
    for (problem, variant) in problems {
        let of = |value: f64| {
            let same =
                |row: &&Row| (row.cell.problem.as_str(), row.cell.variant.as_str(), c(row)) == (problem, variant, Some(value));
            rows.iter().find(same)
        };
        let found: Vec<Option<f64>> = values.iter().map(|&v| of(v).and_then(measured).and_then(|m| m.accuracy)).collect();
        let best = best(&values, &found);
        let cells = values.iter().zip(&found).map(|(value, found)| {
            let cut = of(*value).and_then(measured).is_some_and(Measured::cut_off);
            let text = show(*found, |x| format!("{x:.2}{}", if cut { "*" } else { "" }));
            if best == Some(*value) { format!("**{text}**") } else { text }
        });
        let cells: Vec<String> = cells.collect();
        let number = |value: Option<f64>| value.map_or_else(|| NOTHING.to_owned(), |v| v.to_string());
        let printed = rows.iter().find(|row| row.cell.problem == problem).and_then(|row| row.printed.accuracy);
        let _ = writeln!(
            text,
            "| {problem} | {variant} | {} | {} | {} | {} |",
            number(best),
            number(used(problem)),
            show(printed, |x| format!("{x:.2}")),
            cells.join(" | ")
        );
    }
    text + "\n\\* cut off.\n"
}

/// The value of the highest accuracy, the smallest of several.
pub(crate) fn best(values: &[f64], found: &[Option<f64>]) -> Option<f64> {
    let known = values.iter().zip(found).filter_map(|(value, found)| Some((*value, (*found)?)));
    known.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::{best, choice, merge};
    use crate::bench::cell::{Extent, cells};
    use crate::bench::columns::markdown;
    use crate::bench::papers::Printed;
    use crate::bench::record::Measured;
    use crate::bench::spec::Spec;
    use crate::bench::table::{Figures, Row};
    use serde_json::json;

    const SPEC: &str = r#"
        title = "Test"
        set = { job = "train", kernel = "rbf", tol = 1e-6, bound = "radius" }
        [[problem]]
        name = "A"
        data = "a1a"
        [[table]]
        number = 2
        title = "T"
        problems = ["A"]
        vary = [{ seed = 1 }, { seed = 2 }, { seed = 3 }]
        mean_over = "seed"
        simplex = { view = "seconds", baseline = "CVM" }
        variant = [{ name = "CVM" }, { name = "FW" }]
    "#;

    fn rows(spec: &Spec) -> Vec<Row> {
        let all = cells(spec, &spec.tables[0], Extent { quick: false, full: false, only: &[] });
        let row = |(n, cell): (usize, crate::bench::cell::Cell)| {
            let seed = (n / 2) as f64;
            let (seconds, status) = if cell.variant == "CVM" { (4.0 + seed, "Converged") } else { (0.5, "Converged") };
            let figures = json!({
                "iterations": 1000, "train_seconds": seconds, "accuracy": 80.0 + seed, "relative_gap": 0.1 * (seed + 1.0), "status": status,
                "core_set": 10, "evidence": "Sample",
            });
            let measured: Measured = serde_json::from_value(figures).expect("figures");
            let printed = Printed { seconds: Some(20.0), ..Printed::default() };
            Row { printed, ours: Figures { seconds: 1.0, measured, flaw: None }, peer: None, cell }
        };
        all.into_iter().enumerate().map(row).collect()
    }

    #[test]
    fn means_over_seeds_and_speed_ups() {
        let spec = Spec::parse(SPEC).expect("spec");
        let rows = merge(rows(&spec), "seed");
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].ours.measured.accuracy, rows[0].ours.measured.number("accuracy_std")), (Some(81.0), Some(1.0)));
        let text = markdown(&spec.tables[0], &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "| data | variant | paper, s | training here, s | ± | CVM / this, paper | CVM / this, here | steps | core set | \
             certified gap, worst | ended |"
        );
        assert_eq!(lines[2], "| A | CVM | 20.0 | 5.00 | 1.000 | – | – | 1,000 | 10 | 3.0e-1 | by a sample |");
        assert_eq!(lines[3], "| A | FW | 20.0 | 0.50 | 0.000 | 1.00 | 10 | 1,000 | 10 | 3.0e-1 | by a sample |");
    }

    #[test]
    fn a_run_that_was_cut_off_is_a_lower_bound() {
        let spec = Spec::parse(SPEC).expect("spec");
        let mut rows = rows(&spec);
        rows[2].ours.measured.more.insert("status".into(), json!("TimeLimit"));
        let text = markdown(&spec.tables[0], &merge(rows, "seed"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "| A | CVM | 20.0 | > 5.00 | 1.000 | – | – | 1,000 | 10 | 3.0e-1 | 1 of 3 cut off |");
        assert_eq!(lines[3], "| A | FW | 20.0 | 0.50 | 0.000 | 1.00 | > 10 | 1,000 | 10 | 3.0e-1 | by a sample |");
    }

    #[test]
    fn the_smallest_of_equally_good_values() {
        assert_eq!(best(&[1.0, 2.0, 4.0], &[Some(5.0), Some(7.0), Some(7.0)]), Some(2.0));
        assert_eq!(best(&[1.0, 2.0], &[None, Some(3.0)]), Some(2.0));
        let spec = Spec::parse(&SPEC.replace("{ seed = 1 }, { seed = 2 }, { seed = 3 }", "{ c = 1 }, { c = 2 }, { c = 4 }"))
            .expect("spec");
        let text = choice(&rows(&spec), |_| Some(4.0));
        assert!(text.contains("| A | CVM | 4 | 4 | – | 80.00 | 81.00 | **82.00** |"), "{text}");
    }
}
