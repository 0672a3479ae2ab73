//! Columns about trainings by working sets: seconds inside their solver and outside, working sets, kernel values, support vectors.

use super::columns::{Column, beside, column, counted, group, objectives, seconds, show, times, verdict};
use super::spec::Chunks;
use super::table::Row;
use serde_json::Value;

/// The columns behind data, setting and variant.
pub(crate) fn columns<'a>(chunks: &'a Chunks, rows: &'a [Row], peer: &str) -> Vec<Column<'a>> {
    let baseline = move |row: &Row| beside(rows, row, &chunks.baseline).filter(|other| other.cell.variant != row.cell.variant);
    let theirs = |row: &Row| row.peer.as_ref().and_then(counted).map(|figures| figures.seconds);
    let process = |row: &Row| counted(&row.ours).map(|figures| figures.seconds);
    vec![
        column("paper, s", |row| show(row.printed.seconds, seconds)),
        column("process, s", move |row| show(process(row), short)),
        column(&format!("{peer}, process s"), move |row| show(theirs(row), short)),
        column(&format!("{peer} / this, process"), move |row| show(theirs(row).zip(process(row)), |(o, t)| times(o / t))),
        column("training, s", |row| show(number(row, "solve_seconds"), short)),
        column(&format!("{} / this, training", chunks.baseline), move |row| {
            let other = baseline(row).and_then(|other| number(other, "solve_seconds"));
            show(other.zip(number(row, "solve_seconds")), |(other, this)| times(other / this))
        }),
        column("paper, optimiser s", |row| show(row.printed.optimiser, seconds)),
        column("optimiser, s", |row| show(number(row, "optimiser_seconds"), short)),
        column(&format!("{} / this, paper's optimiser", chunks.baseline), move |row| {
            let other = baseline(row).and_then(|other| other.printed.optimiser);
            show(other.zip(row.printed.optimiser), |(other, this)| times(other / this))
        }),
        column(&format!("{} / this, optimiser", chunks.baseline), move |row| {
            let other = baseline(row).and_then(|other| number(other, "optimiser_seconds"));
            show(other.zip(number(row, "optimiser_seconds")), |(other, this)| times(other / this))
        }),
        column("working sets", |row| show(count(row, "chunks"), group)),
        column("iterations", |row| show(counted(&row.ours).and_then(|figures| figures.measured.iterations), group)),
        column("finish, s", |row| show(number(row, "finish_seconds"), short)),
        column("finish, iterations", |row| show(count(row, "finish_iterations"), group)),
        column("kernel values, millions", |row| show(values(row), |v| format!("{:.2}", v / 1e6))),
        column("paper, SV", |row| show(row.printed.support_vectors, |x| group(x as u64))),
        column("SV", |row| show(count(row, "support_vectors"), group)),
        column("SV / paper", |row| {
            let ratio = number(row, "support_vectors").zip(row.printed.support_vectors);
            show(ratio, |(ours, paper)| format!("{:.3}", ours / paper))
        }),
        column(&format!("{peer}, SV"), |row| {
            let figures = row.peer.as_ref().and_then(counted);
            show(figures.and_then(|figures| figures.measured.number("support_vectors")), |x| group(x as u64))
        }),
        column("free", |row| show(count(row, "free_vectors"), group)),
        column("objective", |row| show(objectives(row), |(ours, _)| format!("{ours:.6}"))),
        column(&format!("{peer}'s, relative"), |row| {
            show(objectives(row).and_then(|(ours, other)| Some((other? - ours) / ours.abs())), |x| format!("{x:+.1e}"))
        }),
        column("KKT", verdict),
    ]
}

/// Seconds, milliseconds where they are few.
fn short(x: f64) -> String {
    if x < 0.1 { format!("{x:.3}") } else { seconds(x) }
}

fn number(row: &Row, name: &str) -> Option<f64> {
    counted(&row.ours)?.measured.number(name)
}

fn count(row: &Row, name: &str) -> Option<u64> {
    counted(&row.ours)?.measured.more.get(name).and_then(Value::as_u64)
}

/// Kernel values computed in single precision.
fn values(row: &Row) -> Option<f64> {
    number(row, "kernel_values")
}

#[cfg(test)]
mod tests {
    use crate::bench::cell::{Extent, cells};
    use crate::bench::columns::markdown;
    use crate::bench::papers::Printed;
    use crate::bench::spec::Spec;
    use crate::bench::table::{Figures, Row};
    use serde_json::json;

    const SPEC: &str = r#"
        title = "Test"
        set = { job = "train", solver = "irwls", tol = 0.001 }
        [[problem]]
        name = "A"
        data = "a4a"
        [[table]]
        number = 2
        title = "T"
        problems = ["A"]
        vary = [{ working_set = 40 }]
        chunks = { baseline = "interior point" }
        variant = [{ name = "interior point" }, { name = "IRWLS" }]
    "#;

    #[test]
    fn solvers_of_working_sets_beside_each_other() {
        let spec = Spec::parse(SPEC).expect("spec");
        let table = &spec.tables[0];
        let row = |cell: crate::bench::cell::Cell| {
            let slow = cell.variant == "interior point";
            let figures = json!({
                "iterations": 30, "solve_seconds": if slow { 2.0 } else { 1.0 }, "optimiser_seconds": if slow { 1.2 } else { 0.1 },
                "chunks": 17, "kernel_values": 2_500_000, "support_vectors": 99, "kkt": 5e-4, "objective": 12.5,
            });
            let printed = Printed {
                seconds: Some(20.6),
                optimiser: Some(if slow { 1.01 } else { 0.17 }),
                support_vectors: Some(100.0),
                ..Printed::default()
            };
            let measured = serde_json::from_value(figures).expect("figures");
            Row { printed, ours: Figures { seconds: 2.5, measured, flaw: None }, peer: None, cell }
        };
        let all = cells(&spec, table, Extent { quick: false, full: false, only: &[] });
        let text = markdown(table, &all.into_iter().map(row).collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "| data | setting | variant | paper, s | process, s | training, s | interior point / this, training | paper, optimiser s | \
             optimiser, s | interior point / this, paper's optimiser | interior point / this, optimiser | working sets | iterations | \
             kernel values, millions | paper, SV | SV | SV / paper | objective | KKT |"
        );
        assert_eq!(
            lines[3],
            "| A | working_set=40 | IRWLS | 20.6 | 2.50 | 1.00 | 2.00 | 0.17 | 0.10 | 5.94 | 12 | 17 | 30 | 2.50 | 100 | 99 | 0.990 | \
             12.500000 | 5.0e-4 |"
        );
        assert!(Spec::parse(&SPEC.replace(r#"baseline = "interior point""#, r#"baseline = "x""#)).is_err());
    }
}
