//! One bar plot per table: iterations of each variant relative to the table's first variant, the paper's beside ours.

use super::table::{Row, grouped};
use crate::failure::{Context, Outcome};
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 1000;
/// Height of one line of groups.
const HEIGHT: u32 = 300;
/// Bars in one line, the gaps between groups counted as bars.
const LINE: usize = 28;
const PRINTED: RGBColor = RGBColor(188, 188, 188);
const OURS: RGBColor = RGBColor(31, 90, 150);

pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Bars of one problem and setting: label, then (variant, paper, ours), each relative to the group's own first variant.
struct Group {
    label: String,
    bars: Vec<(String, Option<f64>, Option<f64>)>,
}

/// Draws the rows into `target`.
pub(crate) fn draw(target: &Path, rows: &[Row], title: &str) -> Outcome<()> {
    let lines = lines(groups(rows));
    let bars = lines.iter().map(|line| width(line)).max().unwrap_or(1);
    let highest =
        lines.iter().flatten().flat_map(|group| &group.bars).flat_map(|bar| [bar.1, bar.2]).flatten().fold(1.0, f64::max);
    svg(target, (WIDTH, HEIGHT * lines.len() as u32), |canvas| {
        for (n, (area, line)) in canvas.split_evenly((lines.len(), 1)).iter().zip(&lines).enumerate() {
            paint(area, line, (bars as f64, highest * 1.1), if n == 0 { title } else { "" })?;
        }
        Ok(())
    })
}

/// Draws a picture into `target`.
pub(crate) fn svg(target: &Path, size: (u32, u32), paint: impl FnOnce(&Canvas) -> Drawn) -> Outcome<()> {
    let canvas = SVGBackend::new(target, size).into_drawing_area();
    let draw = || -> Drawn {
        canvas.fill(&WHITE)?;
        paint(&canvas)?;
        Ok(canvas.present()?)
    };
    draw().context(target.display())
}

/// Bars and the gap after them.
fn width(line: &[Group]) -> usize {
    line.iter().map(|group| group.bars.len() + 1).sum()
}

/// As many groups in a line as fit.
fn lines(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let mut lines: Vec<Vec<Group>> = Vec::new();
    for group in groups {
        match lines.last_mut() {
            Some(line) if width(line) + group.bars.len() < LINE => line.push(group),
            _ => lines.push(vec![group]),
        }
    }
    lines
}

fn paint(canvas: &Canvas, groups: &[Group], (right, top): (f64, f64), title: &str) -> Drawn {
    let mut chart = ChartBuilder::on(canvas)
        .caption(title, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(50)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(TRANSPARENT)
        .y_desc("relative to the first")
        .draw()?;
    let bar = |left: f64, height: f64, colour: RGBColor| Rectangle::new([(left, 0.0), (left + 0.4, height)], colour.filled());
    let mut at = 0.5;
    let mut labels = Vec::new();
    for group in groups {
        labels.push((at, 28, group.label.clone(), 13));
        for (variant, printed, ours) in &group.bars {
            let drawn = [(0.0, printed, PRINTED), (0.4, ours, OURS)];
            chart.draw_series(
                drawn.iter().filter_map(|(shift, height, colour)| height.map(|height| bar(at + shift, height, *colour))),
            )?;
            labels.push((at, 8, variant.clone(), 11));
            at += 1.0;
        }
        at += 1.0;
    }
    for (x, down, text, size) in labels {
        let (left, bottom) = chart.backend_coord(&(x, 0.0));
        let (origin_x, origin_y) = canvas.get_base_pixel();
        canvas.draw(&Text::new(text, (left - origin_x, bottom - origin_y + down), ("sans-serif", size)))?;
    }
    for (n, (colour, text)) in [(PRINTED, "paper"), (OURS, "here")].into_iter().enumerate() {
        let (x, y) = (WIDTH as i32 - 160 + 80 * n as i32, 10);
        canvas.draw(&Rectangle::new([(x, y), (x + 12, y + 12)], colour.filled()))?;
        canvas.draw(&Text::new(text, (x + 18, y), ("sans-serif", 13)))?;
    }
    Ok(())
}

fn groups(rows: &[Row]) -> Vec<Group> {
    let label = |row: &&Row| format!("{} {}", row.cell.problem, row.cell.shown);
    let ours = |row: &Row| row.counted()?.iterations.map(|n| n as f64);
    let relative = |value: Option<f64>, to: Option<f64>| value.zip(to).filter(|(_, to)| *to > 0.0).map(|(v, to)| v / to);
    let group = |members: Vec<&Row>| {
        let bar = |row: &&Row| {
            let printed = relative(row.printed.iterations, members[0].printed.iterations);
            (row.cell.variant.clone(), printed, relative(ours(row), ours(members[0])))
        };
        Group { label: label(&members[0]), bars: members.iter().map(bar).collect() }
    };
    grouped(rows, label).into_iter().map(group).collect()
}
