//! What columns make of traces, and of what lines say beside the solution: rates, bounds, supports.

use super::value::{Place, Shown};
use crate::cells::row::Row;
use crate::numbers::format::count;
use crate::numbers::statistics::explained;
use serde_json::Value;

/// Powers of ten over which steps are compared, and over which a line is laid.
const COMPARED: usize = 3;
const LAID: usize = 4;

/// Rates are told down to this gap: below it rounding and what the optimum is known to have their
/// share.
const FINEST: f64 = 1e-8;

/// A power of ten of the gap and the step that first reached it.
type Reached = (f64, f64);

/// What a run noted, the largest gap first.
fn reached(row: &Row) -> Option<Vec<Reached>> {
    let points = row.counted()?.more.get("trace")?.as_array()?;
    points.iter().map(|point| Some((point.get("gap")?.as_f64()?, point.get("iterations")?.as_f64()?))).collect()
}

/// The last so many that rates are told by, if there are.
fn last(row: &Row, n: usize) -> Option<Vec<Reached>> {
    let mut points = reached(row)?;
    points.retain(|(gap, _)| *gap > 0.5 * FINEST);
    points.len().checked_sub(n).map(|from| points.split_off(from))
}

/// Steps from each power of ten to the next.
fn steps(points: &[Reached]) -> Vec<f64> {
    points.windows(2).map(|two| two[1].1 - two[0].1).collect()
}

/// All of them in words.
pub(super) fn words(row: &Row) -> Shown {
    let points = reached(row).filter(|points| !points.is_empty());
    let point = |(gap, steps): &Reached| format!("{gap:.0e}: {}", count(*steps));
    points.map_or(Shown::Nothing, |points| Shown::Words(points.iter().map(point).collect::<Vec<_>>().join("; ")))
}

/// The most steps of one of the last powers of ten as a multiple of the fewest.
pub(super) fn spread(row: &Row) -> Option<f64> {
    let steps = steps(&last(row, COMPARED + 1)?);
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    (least > 0.0).then(|| steps.iter().copied().fold(0.0, f64::max) / least)
}

/// Steps of the last power of ten as a multiple of those of the one before: 1 where the gap falls
/// geometrically, 10 where it falls like one over the steps.
pub(super) fn growth(row: &Row) -> Option<f64> {
    let steps = steps(&last(row, 3)?);
    (steps[0] > 0.0).then(|| steps[1] / steps[0])
}

/// Share of the variance of the gap's logarithm that a line over the steps explains, of the last
/// powers of ten.
pub(super) fn straight(row: &Row) -> Option<f64> {
    let points: Vec<Reached> = last(row, LAID + 1)?.into_iter().map(|(gap, steps)| (steps, gap.log10())).collect();
    Some(explained(&points))
}

/// Steps times the tolerance that they led to.
pub(super) fn times_tolerance(row: &Row) -> Option<f64> {
    let tol = row.cell.settings.get("tol").and_then(Value::as_f64)?;
    Some(row.finished()?.iterations? as f64 * tol)
}

/// `(g* − g) / g` as a share of `2ε + ε²`, which the paper promises of the radius ε: g is the
/// squared radius here, g* that of the other variant.
pub(super) fn of_bound(at: &Place) -> Option<f64> {
    let epsilon = at.row.cell.settings.get("tol").and_then(Value::as_f64)?;
    let radius2 = |row: &Row| row.finished()?.number("radius2");
    let (here, best) = (radius2(at.row)?, radius2(at.other()?)?);
    Some((best - here) / here / (2.0 * epsilon + epsilon * epsilon))
}

/// Samples that are in the support here or of the other variant and not in both.
pub(super) fn support_off(at: &Place) -> Option<f64> {
    let digits = |row: &Row| -> Option<Vec<u32>> {
        row.finished()?.more.get("support")?.as_str()?.chars().map(|digit| digit.to_digit(16)).collect()
    };
    let (here, there) = (digits(at.row)?, digits(at.other()?)?);
    let off = here.iter().zip(&there).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    (here.len() == there.len()).then(|| f64::from(off))
}

/// Percent of the training that schedules and preferences take alone.
pub(super) fn adaptation(row: &Row) -> Option<f64> {
    let measured = row.finished()?;
    Some(100.0 * measured.number("adaptation_seconds")? / measured.train_seconds?)
}

#[cfg(test)]
mod tests {
    use crate::cells::row::Printed;
    use crate::cells::row::Row;
    use crate::columns::entry::Entry;
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use serde_json::{Value, json};

    /// Rows of two variants with what they measured.
    fn rows(first: &Value, second: &Value) -> Vec<Row> {
        let spec = Spec::parse(
            "title = \"\"\nset = { bound = \"radius\", tol = 0.1 }\n[[problem]]\nname = \"A\"\ndata = \"a\"\n[[table]]\nnumber = 1\ntitle = \"\"\n\
             problems = [\"A\"]\nvary = [{ c = 1 }]\nvariant = [{ name = \"X\" }, { name = \"Y\" }]",
        )
        .expect("spec");
        let all = cells(&spec, &spec.tables[0], Extent::default()).into_iter();
        all.zip([first, second]).map(|(cell, measured)| Row::made(cell, Printed::default(), measured.clone())).collect()
    }

    fn text(name: &str, rows: &[Row]) -> String {
        Entry::try_from(name.to_owned()).expect("entry").text(rows, &rows[0])
    }

    fn traced(steps: &[u64]) -> Value {
        let points = steps.iter().zip(1..).map(|(n, k)| json!({"gap": 0.1_f64.powi(k), "iterations": n}));
        json!({"status": "Converged", "trace": points.collect::<Vec<_>>()})
    }

    #[test]
    fn steps_of_each_power_of_ten() {
        let linear = rows(&traced(&[5, 100, 200, 310, 410, 520]), &json!({}));
        assert_eq!(text("trace", &linear), "1e-1: 5; 1e-2: 100; 1e-3: 200; 1e-4: 310; 1e-5: 410; 1e-6: 520");
        assert_eq!(
            ["decade-spread", "decade-growth", "trace-straight"].map(|name| text(name, &linear)),
            ["1.10", "1.10", "1.000"]
        );
        let slow = rows(&traced(&[1, 10, 100, 1000, 10_000]), &json!({}));
        assert_eq!(["decade-spread", "decade-growth"].map(|name| text(name, &slow)), ["100", "10"]);
        // −1, …, −5 over 1, 10, …, 10⁴: 20988² / (76319236.8 · 10).
        assert_eq!(text("trace-straight", &slow), "0.577");
        let fine = rows(&traced(&[1, 2, 3, 4, 5, 6, 7, 8, 1000, 5000]), &json!({}));
        assert_eq!(["decade-spread", "decade-growth"].map(|name| text(name, &fine)), ["1.00", "1.00"], "below 1e-8");
        let short = rows(&traced(&[1, 10]), &json!({}));
        assert_eq!(["decade-spread", "decade-growth", "trace-straight"].map(|name| text(name, &short)), ["–"; 3]);
        assert_eq!(text("trace", &rows(&json!({"status": "Converged", "trace": []}), &json!({}))), "–");
    }

    #[test]
    fn the_bound_and_the_support_of_another_variant() {
        let here = json!({"status": "Converged", "iterations": 50, "radius2": 2.0, "support": "3f0"});
        let there = json!({"status": "Converged", "radius2": 2.21, "support": "2f1"});
        let both = rows(&here, &there);
        assert_eq!(["steps-times-tol", "of-bound: Y", "support-off: Y"].map(|name| text(name, &both)), ["5.00", "0.5000", "2"]);
        let cut = json!({"status": "TimeLimit", "iterations": 50, "radius2": 2.0, "support": "3f0"});
        let both = rows(&cut, &there);
        assert_eq!(["steps-times-tol", "of-bound: Y", "support-off: Y"].map(|name| text(name, &both)), ["–"; 3]);
    }

    #[test]
    fn adaptation_is_a_share_of_the_training() {
        let share = |status: &str| {
            let measured = json!({"status": status, "train_seconds": 8.0, "adaptation_seconds": 1.0});
            text("adaptation-seconds-share", &rows(&measured, &json!({})))
        };
        assert_eq!((share("Converged"), share("TimeLimit")), ("12.5".into(), "–".into()));
        assert!(Entry::try_from("adaptation-seconds-share".to_owned()).expect("entry").is_clock());
        assert!(!Entry::try_from("steps-times-tol".to_owned()).expect("entry").is_clock());
    }
}
