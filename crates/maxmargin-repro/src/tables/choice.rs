//! Tables that choose: a row for each problem and variant, with what every value of C gave and
//! which is best.

use crate::cells::record::Measured;
use crate::cells::row::Row;
use crate::columns::markdown::grid;
use crate::columns::value::NOTHING;
use crate::numbers::format::digits;
use crate::numbers::groups::grouped;
use serde_json::Value;

/// The rows by problem and variant, the best value marked, beside the value that the spec uses.
pub(crate) fn markdown(rows: &[Row], used: impl Fn(&str) -> Option<f64>) -> String {
    let mut values: Vec<f64> = rows.iter().filter_map(c).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let groups = groups(rows);
    let best: Vec<Option<f64>> = groups.iter().map(|group| best(group)).collect();
    let text = |value: Option<f64>| value.map_or_else(|| NOTHING.to_owned(), |value| value.to_string());
    let words = |heading: &str, of: &dyn Fn(&Row) -> String| {
        (heading.to_owned(), true, groups.iter().map(|group| of(group[0])).collect::<Vec<_>>())
    };
    let numbers = |heading: &str, cells: Vec<String>| (heading.to_owned(), false, cells);
    let printed = |group: &Vec<&Row>| group[0].printed.accuracy.map_or_else(|| NOTHING.to_owned(), digits::<2>);
    let mut columns = vec![
        words("data", &|row| row.cell.problem.clone()),
        words("variant", &|row| row.cell.variant.clone()),
        numbers("best C", best.iter().map(|best| text(*best)).collect()),
        numbers("used", groups.iter().map(|group| text(used(&group[0].cell.problem))).collect()),
        numbers("paper's test accuracy", groups.iter().map(printed).collect()),
    ];
    for (n, value) in values.iter().enumerate() {
        let cells = groups.iter().zip(&best).map(|(group, best)| {
            let text = found(group, *value);
            if *best == Some(*value) { format!("**{text}**") } else { text }
        });
        columns.push(numbers(&if n == 0 { format!("C = {value}") } else { value.to_string() }, cells.collect()));
    }
    grid(&columns) + "\n\\* cut off.\n"
}

/// The rows of each problem and variant.
pub(crate) fn groups(rows: &[Row]) -> Vec<Vec<&Row>> {
    grouped(rows, |row| (&row.cell.problem, &row.cell.variant))
}

fn c(row: &Row) -> Option<f64> {
    row.cell.settings.get("c").and_then(Value::as_f64)
}

fn found(group: &[&Row], value: f64) -> String {
    let measured = group.iter().find(|row| c(row) == Some(value)).and_then(|row| row.counted());
    let star = if measured.is_some_and(Measured::cut_off) { "*" } else { "" };
    measured.and_then(|measured| measured.accuracy).map_or_else(|| NOTHING.to_owned(), |x| digits::<2>(x) + star)
}

/// The value of the highest accuracy, the smallest of several.
fn best(group: &[&Row]) -> Option<f64> {
    let known = group.iter().filter_map(|row| Some((c(row)?, row.counted()?.accuracy?)));
    let better = |a: (f64, f64), b: (f64, f64)| if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a };
    known.reduce(better).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::{best, markdown};
    use crate::cells::row::Printed;
    use crate::cells::row::Row;
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
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
        vary = [{ c = 1 }, { c = 2 }, { c = 4 }]
        choice = true
        variant = [{ name = "CVM" }]
    "#;

    #[test]
    fn the_smallest_of_equally_good_values() {
        let spec = Spec::parse(SPEC).expect("spec");
        let rows = |accuracies: [Option<f64>; 3]| {
            let cells = cells(&spec, &spec.tables[0], Extent::default()).into_iter().zip(accuracies);
            let row = |(cell, accuracy)| {
                let status = if accuracy == Some(5.0) { "TimeLimit" } else { "Converged" };
                Row::made(cell, Printed::default(), json!({ "accuracy": accuracy, "status": status }))
            };
            cells.map(row).collect::<Vec<_>>()
        };
        assert_eq!(best(&rows([Some(5.0), Some(7.0), Some(7.0)]).iter().collect::<Vec<_>>()), Some(2.0));
        assert_eq!(best(&rows([None, Some(3.0), None]).iter().collect::<Vec<_>>()), Some(2.0));
        let text = markdown(&rows([Some(5.0), None, Some(82.0)]), |_| Some(4.0));
        assert!(text.starts_with("| data | variant | best C | used | paper's test accuracy | C = 1 | 2 | 4 |\n"), "{text}");
        assert!(text.contains("| A | CVM | 4 | 4 | – | 5.00* | – | **82.00** |"), "{text}");
    }
}
