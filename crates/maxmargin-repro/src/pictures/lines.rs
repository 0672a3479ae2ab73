//! Line plots: one line per variant, one panel per setting.

use crate::cells::row::Row;
use crate::cells::settings::{Settings, label, plain};
use crate::columns::catalogue::theoretical;
use crate::specs::presentation::Plot;
use crate::specs::table::Table;
use crate::workspace::failure::{Context, Outcome};
use maxmargin_plot::{AxisStyle, ChartStyle, Panel, chart};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Name of the line that a theory predicts.
const THEORY: &str = "theory";

/// What a plot shows, in words.
pub(crate) fn caption(plot: &Plot) -> String {
    let dashed = label(&plot.dashed);
    let dashed = if dashed.is_empty() { dashed } else { format!(", dashed: {dashed}") };
    format!("{} over {}{dashed}", plot.y.heading(["peer"; 2]), abscissa_words(&plot.x))
}

/// What stands at the axis of a setting or of a figure of the lines.
fn abscissa_words(x: &str) -> &str {
    match x {
        "c" => "C",
        "k" => "folds",
        "gamma" => "γ",
        "train_rows" => "training samples",
        "add+remove" => "samples that come and leave in an update",
        "add" => "samples that come, and as many that leave, in an update",
        "working_set" => "samples of a working set",
        other => other,
    }
}

/// Draws the rows of a table into `target`.
pub(crate) fn draw(target: &Path, table: &Table, plot: &Plot, rows: &[Row]) -> Outcome<()> {
    let dashed = label(&plot.dashed);
    let title = if dashed.is_empty() { table.title.clone() } else { format!("{} (dashed: {dashed})", table.title) };
    let x = AxisStyle { label: abscissa_words(&plot.x).to_owned(), logarithmic: plot.log_x };
    let y = AxisStyle { label: plot.y.heading(["peer"; 2]), logarithmic: plot.log_y };
    let picture = chart(&title, &ChartStyle { x, y, points: plot.points }, &panels(plot, rows));
    fs::write(target, picture.document()).context(target.display())
}

/// The lines of all panels, in the order of the rows.
fn panels(plot: &Plot, rows: &[Row]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for row in rows {
        let x = abscissa(&plot.x, &row.cell.settings).or_else(|| row.ours.measured.number(&plot.x));
        let (Some(x), Some(y)) = (x, plot.y.value(rows, row)) else { continue };
        let title = title(plot, row);
        let at = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
            panels.push(Panel { title, lines: Vec::new() });
            panels.len() - 1
        });
        let dashed = !plot.dashed.is_empty() && plot.dashed.iter().all(|(key, value)| row.cell.settings.get(key) == Some(value));
        let mut point = |name: &str, y: f64| {
            // A logarithmic axis has no place for the rest.
            let has_place = |value: f64, logarithmic: bool| value.is_finite() && (!logarithmic || value > 0.0);
            if has_place(x, plot.log_x) && has_place(y, plot.log_y) {
                panels[at].put(name, dashed, (x, y), &row.cell.problem);
            }
        };
        point(&row.cell.variant, y);
        if let Some(ratio) = theoretical(row).filter(|_| plot.theory.as_ref() == Some(&row.cell.variant)) {
            point(THEORY, ratio * y);
        }
    }
    for line in panels.iter_mut().flat_map(|panel| &mut panel.lines) {
        line.points.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    }
    panels
}

/// The sum of the settings that `x` names.
fn abscissa(x: &str, settings: &Settings) -> Option<f64> {
    let number = |key: &str| settings.get(key).and_then(Value::as_f64);
    let known: Vec<f64> = x.split('+').filter_map(|key| number(key.trim())).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}

fn title(plot: &Plot, row: &Row) -> String {
    let settings = &row.cell.settings;
    let some = |key: &str| settings.get(key).and_then(Value::as_f64).is_some_and(|count| count > 0.0);
    let part = |key: &String| match key.as_str() {
        "problem" => row.cell.problem.clone(),
        "scenario" => match (some("add"), some("remove")) {
            (true, true) => "adding and removing".to_owned(),
            (true, false) => "adding".to_owned(),
            (false, true) => "removing".to_owned(),
            (false, false) => "nothing".to_owned(),
        },
        key => settings.get(key).map_or_else(String::new, |value| format!("{} = {}", abscissa_words(key), plain(value))),
    };
    plot.panel.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{THEORY, abscissa, draw, panels};
    use crate::cells::row::Printed;
    use crate::cells::row::Row;
    use crate::specs::extent::{Extent, cells};
    use crate::specs::spec::Spec;
    use serde_json::json;
    use std::fs;

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
        vary = [{ add = 16 }, { add = 4 }, { remove = 9 }]
        variant = [{ name = "mid" }, { name = "sid" }]
        plot = { x = "add+remove", y = "update-breakpoints", theory = "sid", panel = ["scenario"], log_x = true }
    "#;

    fn rows(spec: &Spec) -> Vec<Row> {
        let row = |cell| Row::made(cell, Printed::default(), json!({ "updates": 2, "breakpoints": 80 }));
        cells(spec, &spec.tables[0], Extent::default()).into_iter().map(row).collect()
    }

    #[test]
    fn lines_by_variant_and_scenario() {
        let spec = Spec::parse(SPEC).expect("spec");
        let panels = panels(spec.tables[0].plot.as_ref().expect("plot"), &rows(&spec));
        assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["adding", "removing"]);
        let names: Vec<&str> = panels[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["mid", "sid", THEORY]);
        // Sorted by the number of samples; 40 breakpoints an update, of which theory leaves 40/√4
        // and 40/√16.
        let theory: Vec<(f64, f64)> = panels[0].lines[2].points.iter().map(|point| point.at).collect();
        assert_eq!(theory, [(4.0, 20.0), (16.0, 10.0)]);
    }

    #[test]
    fn a_picture_is_drawn() {
        let folder = tempfile::tempdir().expect("folder");
        let target = folder.path().join("plot.svg");
        let spec = Spec::parse(SPEC).expect("spec");
        let table = &spec.tables[0];
        draw(&target, table, table.plot.as_ref().expect("plot"), &rows(&spec)).expect("drawn");
        let text = fs::read_to_string(&target).expect("svg");
        assert!(text.contains("polyline") && text.contains("removing") && text.contains(THEORY));
        // Words at both axes, and names at the lines.
        assert!(text.contains("samples that come and leave in an update") && text.contains("breakpoints per update"), "{text}");
    }

    #[test]
    fn settings_are_added_up() {
        let settings = json!({"add": 3, "remove": 4}).as_object().expect("object").clone();
        assert_eq!(abscissa("add+remove", &settings), Some(7.0));
        assert_eq!(abscissa("c", &settings), None);
    }
}
