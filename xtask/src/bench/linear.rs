//! Columns about trainings of linear models: seconds, steps, gaps, who is faster. A run that was cut off is a lower bound.

use super::columns::{Column, beside, column, counted, group, seconds, show, times};
use super::record::Measured;
use super::spec::Linear;
use super::table::Row;
use serde_json::Value;

/// How long something took.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    Took(f64),
    /// It was cut off after so long.
    Beyond(f64),
}

impl Time {
    fn text(self) -> String {
        match self {
            Self::Took(time) if time < 0.1 => format!("{time:.3}"),
            Self::Took(time) => seconds(time),
            Self::Beyond(limit) => format!("> {}", seconds(limit)),
        }
    }
}

/// The columns behind data, setting and variant.
pub(crate) fn columns<'a>(linear: &'a Linear, rows: &'a [Row]) -> Vec<Column<'a>> {
    let baseline = move |row: &Row| beside(rows, row, &linear.baseline).filter(|other| other.cell.variant != row.cell.variant);
    let ours = |row: &Row| row.cell.variant == linear.ours;
    vec![
        column("paper, training s", |row| show(row.printed.seconds, |x| Time::Took(x).text())),
        column("training, s", |row| show(training(row), Time::text)),
        column("process, s", |row| show(process(row), Time::text)),
        column("paper, steps", |row| show(row.printed.iterations, |x| group(x as u64))),
        column("steps", |row| show(counted(&row.ours).and_then(|figures| figures.measured.iterations), group)),
        column("sweeps", |row| show(count(row, "sweeps"), group)),
        column("Newton steps", |row| show(work(row, "newton_steps").filter(|steps| *steps > 0), group)),
        column(&format!("{} / this, paper", linear.baseline), move |row| {
            let printed = baseline(row).and_then(|other| other.printed.seconds);
            show(printed.zip(row.printed.seconds), |(other, this)| times(other / this))
        }),
        column(&format!("{} / this, here", linear.baseline), move |row| {
            show(baseline(row).and_then(training).zip(training(row)).and_then(ratio), |text| text)
        }),
        column("best other / this, training", move |row| {
            show(best(rows, row, training).filter(|_| ours(row)).zip(training(row)).and_then(ratio), |text| text)
        }),
        column("best other / this, process", move |row| {
            show(best(rows, row, process).filter(|_| ours(row)).zip(process(row)).and_then(ratio), |text| text)
        }),
        column("own gap", |row| {
            show(counted(&row.ours).and_then(|o| o.measured.relative_gap), |gap| format!("{:.1e}", gap.max(0.0)))
        }),
        column("gap to the bound", |row| show(number(row, "excess"), |gap| format!("{:.1e}", gap.max(0.0)))),
        column("the bound's own gap", |row| {
            let wanted = row.cell.settings.get("bound_gap").and_then(Value::as_f64);
            let missed = number(row, "bound_gap").filter(|gap| wanted.is_some_and(|wanted| *gap > wanted));
            show(missed, |gap| format!("{gap:.1e}"))
        }),
        column("ended", ended),
    ]
}

/// What a run measured that met its own stopping rule.
pub(crate) fn finished(row: &Row) -> Option<&Measured> {
    counted(&row.ours).map(|figures| &figures.measured).filter(|measured| measured.status() == Some("Converged"))
}

fn number(row: &Row, name: &str) -> Option<f64> {
    counted(&row.ours)?.measured.number(name)
}

fn count(row: &Row, name: &str) -> Option<u64> {
    counted(&row.ours)?.measured.more.get(name).and_then(Value::as_u64)
}

fn work(row: &Row, name: &str) -> Option<u64> {
    counted(&row.ours)?.measured.more.get("work")?.get(name).and_then(Value::as_u64)
}

fn training(row: &Row) -> Option<Time> {
    let measured = &counted(&row.ours)?.measured;
    let took = measured.train_seconds?;
    // The clock of a solver looks up between sweeps; what was agreed is the limit.
    let limit = measured.number("limit_seconds").unwrap_or(took);
    Some(if measured.cut_off() { Time::Beyond(limit) } else { Time::Took(took) })
}

fn process(row: &Row) -> Option<Time> {
    let measured = &counted(&row.ours)?.measured;
    let took = measured.process_seconds?;
    let limit = measured.number("limit_seconds").unwrap_or(took);
    Some(if measured.cut_off() { Time::Beyond(limit) } else { Time::Took(took) })
}

/// The shortest time of another variant that met its stopping rule on the same problem.
fn best(rows: &[Row], row: &Row, time: fn(&Row) -> Option<Time>) -> Option<Time> {
    let same = |other: &&Row| {
        (&other.cell.problem, &other.cell.vary) == (&row.cell.problem, &row.cell.vary) && other.cell.variant != row.cell.variant
    };
    let times = rows.iter().filter(same).filter(|other| finished(other).is_some()).filter_map(|other| match time(other)? {
        Time::Took(took) => Some(took),
        Time::Beyond(_) => None,
    });
    times.min_by(f64::total_cmp).map(Time::Took)
}

/// The first time as a multiple of the second, as far as it is known.
fn ratio((other, this): (Time, Time)) -> Option<String> {
    match (other, this) {
        (Time::Took(other), Time::Took(this)) => Some(times(other / this)),
        (Time::Beyond(other), Time::Took(this)) => Some(format!("> {}", times(other / this))),
        (Time::Took(other), Time::Beyond(this)) => Some(format!("< {}", times(other / this))),
        (Time::Beyond(_), Time::Beyond(_)) => None,
    }
}

fn ended(row: &Row) -> String {
    if let Some(flaw) = &row.ours.flaw {
        return flaw.replace('|', "/");
    }
    match row.ours.measured.status() {
        Some("Converged") => "by its rule".into(),
        Some("TimeLimit") => "cut off".into(),
        Some("IterationLimit") => "at its cap of sweeps".into(),
        other => other.unwrap_or("unknown").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Time, ratio};
    use crate::bench::cell::{Extent, cells};
    use crate::bench::columns::markdown;
    use crate::bench::papers::Printed;
    use crate::bench::record::Measured;
    use crate::bench::spec::Spec;
    use crate::bench::table::{Figures, Row};
    use serde_json::json;

    const SPEC: &str = r#"
        title = "Test"
        set = { job = "train", kernel = "linear", tol = 0.01, bound_gap = 1e-9 }
        [[problem]]
        name = "A"
        data = "a9a"
        [[table]]
        number = 2
        title = "T"
        problems = ["A"]
        vary = [{ c = 1 }]
        linear = { baseline = "baseline", ours = "hybrid" }
        variant = [
            { name = "baseline" }, { name = "AVSF" }, { name = "hybrid" }, { name = "LIBLINEAR", program = "liblinear-train" },
        ]
    "#;

    fn measured(variant: &str) -> Measured {
        let (train, process, status) = match variant {
            "baseline" => (Some(100.5), 101.0, "TimeLimit"),
            "AVSF" => (Some(8.0), 9.0, "Converged"),
            "hybrid" => (Some(0.5), 1.0, "Converged"),
            _ => (None, 4.0, "IterationLimit"),
        };
        let figures = json!({
            "iterations": 3000, "train_seconds": train, "process_seconds": process, "status": status, "limit_seconds": 100,
            "excess": 2e-4, "bound_gap": 5e-10, "sweeps": 12, "work": { "newton_steps": 7 },
        });
        serde_json::from_value(figures).expect("figures")
    }

    #[test]
    fn runs_that_were_cut_off_are_lower_bounds() {
        let spec = Spec::parse(SPEC).expect("spec");
        let table = &spec.tables[0];
        let all = cells(&spec, table, Extent { quick: false, full: false, only: &[] });
        let row = |cell: crate::bench::cell::Cell| {
            let measured = measured(&cell.variant);
            Row { printed: Printed::default(), ours: Figures { seconds: 1.0, measured, flaw: None }, peer: None, cell }
        };
        let text = markdown(table, &all.into_iter().map(row).collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "| data | setting | variant | training, s | process, s | steps | sweeps | Newton steps | baseline / this, here | \
             best other / this, training | best other / this, process | gap to the bound | ended |"
        );
        assert_eq!(lines[2], "| A | c=1 | baseline | > 100 | > 100 | 3,000 | 12 | 7 | – | – | – | 2.0e-4 | cut off |");
        assert_eq!(lines[3], "| A | c=1 | AVSF | 8.00 | 9.00 | 3,000 | 12 | 7 | > 13 | – | – | 2.0e-4 | by its rule |");
        // LIBLINEAR gave up, so that the best other is AVSF.
        assert_eq!(lines[4], "| A | c=1 | hybrid | 0.50 | 1.00 | 3,000 | 12 | 7 | > 200 | 16 | 9.00 | 2.0e-4 | by its rule |");
        assert!(lines[5].contains("| – | 4.00 |") && lines[5].ends_with("| at its cap of sweeps |"), "{}", lines[5]);
        assert!(Spec::parse(&SPEC.replace("ours = \"hybrid\"", "ours = \"hybird\"")).is_err());
    }

    #[test]
    fn ratios_of_what_is_known() {
        assert_eq!(ratio((Time::Took(1.0), Time::Beyond(100.0))).as_deref(), Some("< 0.01"));
        assert_eq!(ratio((Time::Beyond(1.0), Time::Beyond(100.0))), None);
        assert_eq!(Time::Took(0.0123).text(), "0.012");
    }
}
