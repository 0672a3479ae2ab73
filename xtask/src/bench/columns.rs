//! The columns of a report's tables.

use super::spec::{Table, Theory};
use super::table::{Figures, Row};
use serde_json::Value;

/// A column of a table: its heading, and what it shows of a row.
pub(crate) type Column<'a> = (String, Box<dyn Fn(&Row) -> String + 'a>);

/// The first columns are words, the others numbers.
const LEFT: usize = 3;

/// What stands where there is no figure.
pub(crate) const NOTHING: &str = "–";

/// The rows as a table. Columns in which no row has anything are left out.
pub(crate) fn markdown(table: &Table, rows: &[Row]) -> String {
    let peer = table.peers.first().map_or("peer", |peer| peer.name.as_str());
    let mut columns = columns(peer);
    match (&table.linear, &table.chunks, &table.simplex) {
        (Some(linear), ..) => drop(columns.splice(LEFT.., super::linear::columns(linear, rows))),
        (_, Some(chunks), _) => drop(columns.splice(LEFT.., super::chunks::columns(chunks, rows, peer))),
        (.., Some(simplex)) => drop(columns.splice(LEFT.., super::simplex::columns(simplex, rows))),
        _ => drop(columns.splice(LEFT..LEFT, updates(table, rows))),
    }
    let cells: Vec<Vec<String>> = rows.iter().map(|row| columns.iter().map(|column| column.1(row)).collect()).collect();
    let used: Vec<usize> =
        (0..columns.len()).filter(|&c| cells.iter().any(|row| row[c] != NOTHING && !row[c].is_empty())).collect();
    let line = |of: &dyn Fn(usize) -> String| format!("| {} |\n", used.iter().map(|&c| of(c)).collect::<Vec<_>>().join(" | "));
    let head = line(&|c| columns[c].0.clone()) + &line(&|c| if c < LEFT { "---" } else { "--:" }.to_owned());
    cells.iter().fold(head, |text, row| text + &line(&|c| row[c].clone()))
}

pub(crate) fn column<'a>(heading: &str, show: impl Fn(&Row) -> String + 'a) -> Column<'a> {
    (heading.to_owned(), Box::new(show))
}

fn columns(peer: &str) -> Vec<Column<'static>> {
    // Where an update is measured the process around it says nothing.
    let whole = |row: &Row| counted(&row.ours).filter(|figures| figures.measured.update_seconds.is_none()).cloned();
    let ours = move |row: &Row| whole(row).map(|figures| figures.seconds);
    let theirs = |row: &Row| row.peer.as_ref().and_then(counted).map(|figures| figures.seconds);
    let iterations = move |row: &Row| whole(row)?.measured.iterations;
    vec![
        column("data", |row| row.cell.problem.clone()),
        column("setting", |row| row.cell.vary.clone()),
        column("variant", |row| row.cell.variant.clone()),
        column("paper, s", |row| show(row.printed.seconds, seconds)),
        column("here, s", move |row| show(ours(row), seconds)),
        column(&format!("{peer} here, s"), move |row| show(theirs(row), seconds)),
        column(&format!("{peer} / here"), move |row| show(ours(row).zip(theirs(row)), |(o, p)| format!("{:.1}", p / o))),
        column("paper, iterations", |row| show(row.printed.iterations, |x| group(x as u64))),
        column("iterations here", move |row| show(iterations(row), group)),
        column("here / paper", move |row| {
            show(iterations(row).zip(row.printed.iterations), |(o, p)| format!("{:.3}", o as f64 / p))
        }),
        column("model of all data", |row| show(counted(&row.ours).and_then(|o| o.measured.full_iterations), group)),
        column(&format!("{peer} here"), |row| {
            show(row.peer.as_ref().and_then(counted).and_then(|p| p.measured.iterations), group)
        }),
        column("paper, accuracy", |row| show(row.printed.accuracy, |x| format!("{x:.2}"))),
        column("accuracy here", |row| show(counted(&row.ours).and_then(|o| o.measured.accuracy), |x| format!("{x:.2}"))),
        column(&format!("{peer}'s accuracy"), |row| {
            show(row.peer.as_ref().and_then(counted).and_then(|p| p.measured.accuracy), |x| format!("{x:.2}"))
        }),
        column("objective", |row| show(objectives(row), |(ours, _)| format!("{ours:.6}"))),
        column(&format!("{peer}'s, relative"), |row| {
            show(objectives(row).and_then(|(o, p)| Some((p? - o) / o.abs())), |x| format!("{x:+.1e}"))
        }),
        column("kernel rows", |row| show(counted(&row.ours).and_then(|o| o.measured.rows_computed), group)),
        column("peak, MiB", |row| show(counted(&row.ours).and_then(|o| o.measured.peak_rss_bytes), |bytes| group(bytes >> 20))),
        column("worst KKT", verdict),
    ]
}

/// Columns about updates.
fn updates<'a>(table: &'a Table, rows: &'a [Row]) -> Vec<Column<'a>> {
    let mut columns = vec![column("update, ms", |row| show(update_ms(row), milliseconds))];
    for name in &table.against {
        columns.push(column(&format!("{name} / this"), move |row| {
            let other = beside(rows, row, name).filter(|other| other.cell.variant != row.cell.variant).and_then(update_ms);
            show(other.zip(update_ms(row)), |(other, this)| times(other / this))
        }));
    }
    columns.push(column("iterations per update", |row| {
        show(per_update(row, |measured| measured.iterations), |x| group(x.round() as u64))
    }));
    columns.push(column("breakpoints per update", |row| show(breakpoints(row), |x| format!("{x:.1}"))));
    if let Some(theory) = &table.theory {
        let heading = format!("{} / {}", theory.multiple, theory.single);
        columns.push(column(&heading, move |row| {
            let single = beside(rows, row, &theory.single).and_then(breakpoints);
            let ours = breakpoints(row).filter(|_| row.cell.variant == theory.multiple);
            show(ours.zip(single).filter(|(_, single)| *single > 0.0), |(ours, single)| format!("{:.3}", ours / single))
        }));
        columns.push(column("in theory", move |row| show(expected(theory, row), |ratio| format!("{ratio:.3}"))));
    }
    columns.push(column("free samples", |row| {
        let free = counted(&row.ours).and_then(|figures| figures.measured.more.get("margin")).and_then(Value::as_f64);
        show(free, |x| format!("{x:.0}"))
    }));
    columns
}

/// The row of another variant on the same problem and settings.
pub(crate) fn beside<'a>(rows: &'a [Row], row: &Row, variant: &str) -> Option<&'a Row> {
    let place = |row: &Row| (row.cell.problem.clone(), row.cell.vary.clone());
    rows.iter().find(|other| other.cell.variant == variant && place(other) == place(row))
}

/// Milliseconds of one update.
pub(crate) fn update_ms(row: &Row) -> Option<f64> {
    counted(&row.ours)?.measured.update_seconds.map(|seconds| 1e3 * seconds)
}

/// Breakpoints of one update.
pub(crate) fn breakpoints(row: &Row) -> Option<f64> {
    per_update(row, |measured| measured.breakpoints)
}

fn per_update(row: &Row, count: impl Fn(&super::record::Measured) -> Option<u64>) -> Option<f64> {
    let measured = &counted(&row.ours)?.measured;
    let updates = measured.updates.filter(|updates| *updates > 0)?;
    Some(count(measured)? as f64 / updates as f64)
}

/// √n : n for the n samples of an update, for the variant that takes them all at once.
fn expected(theory: &Theory, row: &Row) -> Option<f64> {
    (row.cell.variant == theory.multiple).then(|| theoretical(row)).flatten()
}

/// The length of the straight line over that along the coordinates, when all samples have the same way to go.
pub(crate) fn theoretical(row: &Row) -> Option<f64> {
    let count = |key: &str| row.cell.settings.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let samples = count("add") + count("remove");
    (samples > 0.0).then(|| samples.sqrt().recip())
}

/// Objectives of ours and of the peer, where both solved the same problem: folds differ.
pub(crate) fn objectives(row: &Row) -> Option<(f64, Option<f64>)> {
    let setting = |name: &str| row.cell.settings.get(name).and_then(Value::as_str);
    let same = setting("job") == Some("train") || setting("folds") == Some(super::run::LIBSVM_FOLDS);
    let ours = counted(&row.ours)?.measured.objective.filter(|_| same)?;
    Some((ours, row.peer.as_ref().and_then(counted).and_then(|p| p.measured.objective)))
}

pub(crate) fn verdict(row: &Row) -> String {
    row.ours.flaw.clone().unwrap_or_else(|| show(row.ours.measured.kkt, |x| format!("{x:.1e}"))).replace('|', "/")
}

/// Only what meets its certificate counts.
pub(crate) fn counted(figures: &Figures) -> Option<&Figures> {
    figures.flaw.is_none().then_some(figures)
}

pub(crate) fn show<T>(value: Option<T>, how: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), how)
}

pub(crate) fn seconds(x: f64) -> String {
    match x {
        x if x < 10.0 => format!("{x:.2}"),
        x if x < 100.0 => format!("{x:.1}"),
        x => group(x.round() as u64),
    }
}

/// Three digits.
fn milliseconds(x: f64) -> String {
    match x {
        x if x < 1.0 => format!("{x:.3}"),
        x => seconds(x),
    }
}

pub(crate) fn times(x: f64) -> String {
    if x < 10.0 { format!("{x:.2}") } else { group(x.round() as u64) }
}

/// `1234567` as `1,234,567`.
pub(crate) fn group(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{group, markdown, seconds};
    use crate::bench::cell::{Extent, cells};
    use crate::bench::record::Measured;
    use crate::bench::spec::Spec;
    use crate::bench::table::{Figures, Row};

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1000, 1_234_567].map(group), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.004, 9.994, 57.01, 6783.4].map(seconds), ["0.00", "9.99", "57.0", "6,783"]);
    }

    const SPEC: &str = r#"
        title = "Test"
        set = { job = "update", tol = 1e-8 }
        [[problem]]
        name = "A"
        data = "two-gaussians"
        [[table]]
        number = 5
        title = "T"
        problems = ["A"]
        vary = [{ add = 4 }, { add = 9, remove = 7 }]
        against = ["sid"]
        theory = { multiple = "mid", single = "sid" }
        variant = [{ name = "mid" }, { name = "sid" }]
    "#;

    #[test]
    fn updates_beside_each_other() {
        let spec = Spec::parse(SPEC).expect("spec");
        let table = &spec.tables[0];
        let rows = cells(&spec, table, Extent { quick: false, full: false, only: &[] }).into_iter().map(|cell| {
            let (breakpoints, update_seconds) = if cell.variant == "mid" { (50, 0.002) } else { (100, 0.005) };
            let measured = Measured {
                kkt: Some(1e-9),
                updates: Some(10),
                breakpoints: Some(breakpoints),
                update_seconds: Some(update_seconds),
                ..Measured::default()
            };
            Row {
                cell,
                printed: super::super::papers::Printed::default(),
                ours: Figures { seconds: 1.0, measured, flaw: None },
                peer: None,
            }
        });
        let text = markdown(table, &rows.collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "| data | setting | variant | update, ms | sid / this | breakpoints per update | mid / sid | in theory | worst KKT |"
        );
        assert_eq!(lines[2], "| A | add=4 | mid | 2.00 | 2.50 | 5.0 | 0.500 | 0.500 | 1.0e-9 |");
        assert_eq!(lines[3], "| A | add=4 | sid | 5.00 | – | 10.0 | – | – | 1.0e-9 |");
        assert!(lines[4].contains("| 0.500 | 0.250 |"), "{}", lines[4]);
        assert!(Spec::parse(&SPEC.replace(r#"against = ["sid"]"#, r#"against = ["sidd"]"#)).is_err());
    }
}
