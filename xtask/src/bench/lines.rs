//! Line plots: one line per variant, one panel per setting.

use super::columns::theoretical;
use super::plot::{Canvas, Drawn, svg};
use super::spec::{Plot, Settings, Table, plain};
use super::table::Row;
use crate::failure::Outcome;
use plotters::prelude::*;
use serde_json::Value;
use std::ops::Range;
use std::path::Path;

/// Size of a panel.
const PANEL: (u32, u32) = (380, 300);
/// Height of title and legend.
const HEAD: u32 = 62;
/// Width of an entry of the legend.
const ENTRY: i32 = 130;
const COLOURS: [RGBColor; 8] = [
    RGBColor(31, 90, 150),
    RGBColor(200, 60, 40),
    RGBColor(120, 170, 60),
    RGBColor(150, 90, 170),
    RGBColor(230, 150, 30),
    RGBColor(60, 170, 180),
    RGBColor(110, 80, 60),
    RGBColor(120, 120, 120),
];

/// Name of the line that a theory predicts.
const THEORY: &str = "theory";

/// Points of one variant.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    name: String,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

/// The lines of one setting.
#[derive(Clone, Debug, PartialEq)]
struct Panel {
    title: String,
    lines: Vec<Line>,
}

/// What a plot shows, in words.
pub(crate) fn caption(plot: &Plot) -> String {
    let dashed = super::cell::label(&plot.dashed);
    let dashed = if dashed.is_empty() { dashed } else { format!(", dashed: {dashed}") };
    format!("{} over {}{dashed}", plot.y.heading("peer"), plot.x)
}

/// Draws the rows of a table into `target`.
pub(crate) fn draw(target: &Path, table: &Table, plot: &Plot, rows: &[Row]) -> Outcome<()> {
    let panels = panels(plot, rows);
    let across = match panels.len() {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let down = panels.len().div_ceil(across).max(1);
    let size = (PANEL.0 * (across as u32).max(2), HEAD + PANEL.1 * down as u32);
    let names = names(&panels);
    let ranges = (range(&panels, |point| point.0), range(&panels, |point| point.1));
    svg(target, size, |canvas| {
        let (head, body) = canvas.split_vertically(HEAD);
        legend(&head, &format!("{}: {}", table.title, caption(plot)), &names)?;
        let areas = body.split_evenly((down, across));
        areas.iter().zip(&panels).try_for_each(|(area, panel)| paint(area, panel, plot, ranges.clone(), &names))
    })
}

/// The lines of all panels, in the order of the rows; coordinates are logarithms where the plot says so.
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
            let place = (if plot.log_x { x.log10() } else { x }, if plot.log_y { y.log10() } else { y });
            if place.0.is_finite() && place.1.is_finite() {
                panels[at].put(name, dashed, place);
            }
        };
        point(&row.cell.variant, y);
        if let Some(ratio) = theoretical(row).filter(|_| plot.theory.as_ref() == Some(&row.cell.variant)) {
            point(THEORY, ratio * y);
        }
    }
    for line in panels.iter_mut().flat_map(|panel| &mut panel.lines) {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    panels
}

impl Panel {
    fn put(&mut self, name: &str, dashed: bool, point: (f64, f64)) {
        match self.lines.iter_mut().find(|line| line.name == name && line.dashed == dashed) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line { name: name.to_owned(), dashed, points: vec![point] }),
        }
    }
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
        key => settings.get(key).map_or_else(String::new, |value| format!("{key} = {}", plain(value))),
    };
    plot.panel.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// Names of all lines, each once.
fn names(panels: &[Panel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

/// All panels have the same axes.
fn range(panels: &[Panel], coordinate: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
    let points = panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
    let (low, high) = points.map(coordinate).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let pad = if high > low { 0.04 * (high - low) } else { 0.5 };
    if low <= high { low - pad..high + pad } else { 0.0..1.0 }
}

fn colour(names: &[&str], name: &str) -> RGBColor {
    let at = names.iter().position(|known| *known == name).unwrap_or(0);
    COLOURS[at % COLOURS.len()]
}

fn legend(canvas: &Canvas, title: &str, names: &[&str]) -> Drawn {
    canvas.draw(&Text::new(title, (10, 6), ("sans-serif", 16)))?;
    let (width, _) = canvas.dim_in_pixel();
    let across = (width as i32 / ENTRY).max(1);
    for (n, name) in names.iter().enumerate() {
        let (x, y) = (10 + ENTRY * (n as i32 % across), 30 + 16 * (n as i32 / across));
        canvas.draw(&Rectangle::new([(x, y), (x + 12, y + 10)], colour(names, name).filled()))?;
        canvas.draw(&Text::new((*name).to_owned(), (x + 17, y), ("sans-serif", 12)))?;
    }
    Ok(())
}

fn paint(canvas: &Canvas, panel: &Panel, plot: &Plot, (x, y): (Range<f64>, Range<f64>), names: &[&str]) -> Drawn {
    let (wide_x, wide_y) = (x.end - x.start > 1.2, y.end - y.start > 1.2);
    let mut chart = ChartBuilder::on(canvas)
        .caption(&panel.title, ("sans-serif", 14))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(50)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(8)
        .y_labels(8)
        .x_label_formatter(&|v| label(*v, plot.log_x, wide_x))
        .y_label_formatter(&|v| label(*v, plot.log_y, wide_y))
        .x_desc(plot.x.as_str())
        .draw()?;
    for line in &panel.lines {
        let colour = colour(names, &line.name);
        let (points, style) = (line.points.iter().copied(), colour.stroke_width(2));
        if plot.points {
            // The points below are all there is.
        } else if line.dashed {
            chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?;
        } else {
            chart.draw_series(LineSeries::new(points, style))?;
        }
        chart.draw_series(line.points.iter().map(|point| Circle::new(*point, 2, colour.filled())))?;
    }
    Ok(())
}

/// The text of a tick. Logarithmic axes of more than a decade show powers of ten only.
fn label(value: f64, logarithmic: bool, wide: bool) -> String {
    if !logarithmic {
        let rounded = (value * 1e6).round() / 1e6;
        return rounded.to_string();
    }
    if wide && (value - value.round()).abs() > 1e-6 {
        return String::new();
    }
    match 10_f64.powf(value) {
        x if !(1e-4..1e5).contains(&x) => format!("{x:.0e}"),
        x if x < 1.0 => format!("{x:.4}").trim_end_matches('0').to_owned(),
        x if wide => format!("{x:.0}"),
        x => format!("{x:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{THEORY, abscissa, draw, label, panels};
    use crate::bench::cell::{Extent, cells};
    use crate::bench::papers::Printed;
    use crate::bench::spec::Spec;
    use crate::bench::table::Row;
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
        // Sorted by the number of samples; 40 breakpoints an update, of which theory leaves 40/√4 and 40/√16.
        let theory: Vec<(f64, f64)> = panels[0].lines[2].points.iter().map(|(x, y)| (10_f64.powf(*x), *y)).collect();
        assert!((theory[0].0 - 4.0).abs() < 1e-9 && (theory[1].0 - 16.0).abs() < 1e-9, "{theory:?}");
        assert_eq!((theory[0].1, theory[1].1), (20.0, 10.0));
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
    }

    #[test]
    fn axes() {
        let settings = json!({"add": 3, "remove": 4}).as_object().expect("object").clone();
        assert_eq!(abscissa("add+remove", &settings), Some(7.0));
        assert_eq!(abscissa("c", &settings), None);
        assert_eq!([-2.0, 0.0, 3.0].map(|v| label(v, true, true)), ["0.01", "1", "1000"]);
        assert_eq!([label(0.5, true, true), label(5.0, true, true), label(0.25, false, true)], ["", "1e5", "0.25"]);
    }
}
