//! Charts of lines: panels side by side with the same axes, every line named where it ends.

use crate::axis::Axis;
use crate::svg::{Anchor, Point, Svg};
use crate::text::{capital, width};

/// A point of a line, and the name of the thing that it measures.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartPoint {
    /// Its coordinates on the axes.
    pub at: (f64, f64),
    /// The text beside it in a chart of points.
    pub name: String,
    /// The ends of its error bar.
    pub interval: Option<(f64, f64)>,
}

/// A line of a panel. Lines with the same name have the same colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The text at its right end.
    pub name: String,
    /// True if it is drawn with gaps.
    pub dashed: bool,
    /// True if its points have dots.
    pub dots: bool,
    /// True if a line joins its points.
    pub joined: bool,
    /// Its points, from left to right.
    pub points: Vec<ChartPoint>,
}

/// Lines in one pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The text above it.
    pub title: String,
    /// Its lines, each name and kind once.
    pub lines: Vec<Line>,
}

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisStyle {
    /// The words beside it.
    pub label: String,
    /// True if equal distances are equal ratios.
    pub logarithmic: bool,
}

/// The style of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartStyle {
    /// The axis to the right.
    pub x: AxisStyle,
    /// The axis upwards.
    pub y: AxisStyle,
    /// Points with their names, and no lines between them.
    pub points: bool,
}

/// Area of the lines in a panel.
const AREA: (f64, f64) = (300.0, 210.0);
/// Room at the left for the ticks of y, above for the panel's title, below for the ticks of x and
/// their label.
const LEFT: f64 = 76.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 52.0;
/// Height of the title.
const HEAD: f64 = 40.0;
/// The least distance between the names of two lines.
const APART: f64 = 13.0;

impl Panel {
    /// Adds a point to the line of this name and kind, which it begins where there is none.
    pub fn put(&mut self, name: &str, dashed: bool, at: (f64, f64), of: &str) {
        self.put_with(name, dashed, at, of, None);
    }

    /// Adds a point with an error bar, as [`Panel::put`].
    pub fn put_with(&mut self, name: &str, dashed: bool, at: (f64, f64), of: &str, interval: Option<(f64, f64)>) {
        let point = ChartPoint { at, name: of.to_owned(), interval };
        match self.lines.iter_mut().find(|line| line.name == name && line.dashed == dashed) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line { name: name.to_owned(), dashed, dots: true, joined: true, points: vec![point] }),
        }
    }

    /// Adds a line without dots through the points.
    pub fn curve(&mut self, name: &str, dashed: bool, points: &[(f64, f64)]) {
        let points = points.iter().map(|&at| ChartPoint { at, name: String::new(), interval: None }).collect();
        self.lines.push(Line { name: name.to_owned(), dashed, dots: false, joined: true, points });
    }
}

/// Both axes of a chart, and the upper left corner of a panel's area.
struct Frame<'a> {
    x: Axis,
    y: Axis,
    corner: Point,
    style: &'a ChartStyle,
}

impl Frame<'_> {
    /// Returns the point of the picture at these coordinates.
    fn place(&self, (x, y): (f64, f64)) -> Point {
        (self.corner.0 + AREA.0 * self.x.place(x), self.corner.1 + AREA.1 * (1.0 - self.y.place(y)))
    }
}

/// Draws panels with common axes.
pub fn chart(title: &str, style: &ChartStyle, panels: &[Panel]) -> Svg {
    let across = match panels.len() {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    };
    let names = names(panels);
    let longest = names.iter().map(|name| width(name)).fold(40.0, f64::max);
    let cell = (LEFT + AREA.0 + longest + 22.0, ABOVE + AREA.1 + BELOW);
    let down = panels.len().div_ceil(across).max(1);
    let size = (cell.0 * across as f64, HEAD + cell.1 * down as f64);
    let mut svg = Svg::new(size.0.max(1.3 * width(title) + 20.0), size.1);
    svg.text((14.0, 25.0), Anchor::Start, "big", &capital(title));
    let all = || panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
    let x = Axis::over(all().map(|point| point.at.0), style.x.logarithmic);
    let heights =
        |point: &ChartPoint| [point.at.1].into_iter().chain(point.interval.into_iter().flat_map(|(low, high)| [low, high]));
    let y = Axis::over(all().flat_map(heights), style.y.logarithmic);
    // Names stand above points, and need room.
    let (x, y) = if style.points { (x.wider(0.12), y.wider(0.06)) } else { (x, y) };
    for (n, panel) in panels.iter().enumerate() {
        let corner = (LEFT + cell.0 * (n % across) as f64, HEAD + ABOVE + cell.1 * (n / across) as f64);
        paint(&mut svg, &Frame { x, y, corner, style }, panel, &names);
    }
    svg
}

/// Draws one panel: scales, lines or points, and their names.
fn paint(svg: &mut Svg, frame: &Frame, panel: &Panel, names: &[&str]) {
    let points = frame.style.points;
    scales(svg, frame, &panel.title);
    for line in &panel.lines {
        let colour = colour(names, &line.name);
        let places: Vec<Point> = line.points.iter().map(|point| frame.place(point.at)).collect();
        if !points && line.joined {
            svg.curve(&places, colour, line.dashed);
        }
        for (point, (low, high)) in line.points.iter().filter_map(|point| Some((point, point.interval?))) {
            svg.curve(&[frame.place((point.at.0, low)), frame.place((point.at.0, high))], colour, false);
        }
        if !line.dots {
            continue;
        }
        places.iter().for_each(|place| svg.dot(*place, colour, if points { 4.0 } else { 2.6 }));
    }
    if points {
        mark(svg, frame, panel);
    }
    label(svg, frame, panel, names);
}

/// Draws the grid, the ticks and the labels of both axes.
fn scales(svg: &mut Svg, frame: &Frame, title: &str) {
    let (left, top) = frame.corner;
    let (right, bottom) = (left + AREA.0, top + AREA.1);
    svg.text((left, top - 10.0), Anchor::Start, "strong", title);
    let mut free = f64::NEG_INFINITY;
    for (tick, text) in frame.x.ticks() {
        let x = frame.place((tick, 1.0)).0;
        svg.line((x, top), (x, bottom), "grid");
        // A text that would touch the one before is left out. Its line stays.
        if x - 0.5 * width(&text) > free {
            svg.text((x, bottom + 17.0), Anchor::Middle, "small quiet", &text);
            free = x + 0.5 * width(&text) + 3.0;
        }
    }
    for (tick, text) in frame.y.ticks() {
        let y = frame.place((1.0, tick)).1;
        svg.line((left, y), (right, y), "grid");
        svg.text((left - 7.0, y + 4.0), Anchor::End, "small quiet", &text);
    }
    svg.line((left, top), (left, bottom), "axis");
    svg.line((left, bottom), (right, bottom), "axis");
    svg.text((0.5 * (left + right), bottom + 36.0), Anchor::Middle, "quiet", &frame.style.x.label);
    svg.upright((left - 60.0, 0.5 * (top + bottom)), "quiet", &frame.style.y.label);
}

/// Writes the name of each line at its right end, moved apart where ends are close.
fn label(svg: &mut Svg, frame: &Frame, panel: &Panel, names: &[&str]) {
    let right = frame.corner.0 + AREA.0;
    let mut ends: Vec<(f64, Point, &str)> = Vec::new();
    for line in &panel.lines {
        let Some(last) = line.points.last() else { continue };
        // The drawn and the dashed line of a name have one label, at the first of them.
        if !ends.iter().any(|(_, _, name)| *name == line.name) {
            let place = frame.place(last.at);
            ends.push((place.1, place, &line.name));
        }
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (top, bottom) = (frame.corner.1 + 4.0, frame.corner.1 + AREA.1);
    let mut free = top;
    for end in &mut ends {
        end.0 = end.0.max(free);
        free = end.0 + APART;
    }
    let mut limit = bottom;
    for end in ends.iter_mut().rev() {
        end.0 = end.0.min(limit);
        limit = end.0 - APART;
    }
    for (y, place, name) in ends {
        let n = colour(names, name);
        if !frame.style.points && (place.0 + 4.0 < right || (place.1 - y).abs() > 3.0) {
            svg.line((place.0 + 3.0, place.1), (right + 8.0, y), "grid");
        }
        svg.dot((right + 12.0, y), n, 3.0);
        svg.text((right + 18.0, y + 4.0), Anchor::Start, "small", name);
    }
}

/// Writes the name of each group of points at its highest one, where no other name and no point is.
fn mark(svg: &mut Svg, frame: &Frame, panel: &Panel) {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let mut tops: Vec<(&str, Point)> = Vec::new();
    for point in points() {
        let place = frame.place(point.at);
        match tops.iter_mut().find(|(name, _)| *name == point.name) {
            Some((_, top)) if place.1 < top.1 => *top = place,
            Some(_) => {}
            None => tops.push((&point.name, place)),
        }
    }
    let dots: Vec<Area> = points().map(|point| Area::about(frame.place(point.at), (5.0, 5.0))).collect();
    let mut taken: Vec<Area> = Vec::new();
    for (name, (x, y)) in tops {
        // Half of the name's width, in small letters.
        let half = 0.46 * width(name);
        let area = |at: Point| Area::about((at.0, at.1 - 4.0), (half, 5.0));
        // First above the point, then beside it, then further up.
        let beside = [(x, y - 8.0), (x + 8.0 + half, y + 4.0), (x - 8.0 - half, y + 4.0)];
        let above = (2..=8).map(|n| (x, y - 8.0 - 11.0 * f64::from(n - 1)));
        let free = |at: &Point| !taken.iter().chain(&dots).any(|other| other.meets(&area(*at)));
        let at = beside.into_iter().chain(above).find(free).unwrap_or(beside[0]);
        taken.push(area(at));
        svg.text(at, Anchor::Middle, "small quiet", name);
    }
}

/// The rectangle that a name or a point covers.
struct Area {
    middle: Point,
    /// Half of its width and height.
    half: (f64, f64),
}

impl Area {
    fn about(middle: Point, half: (f64, f64)) -> Self {
        Self { middle, half }
    }

    fn meets(&self, other: &Area) -> bool {
        (self.middle.0 - other.middle.0).abs() < self.half.0 + other.half.0
            && (self.middle.1 - other.middle.1).abs() < self.half.1 + other.half.1
    }
}

/// Returns the names of all lines, each once.
fn names(panels: &[Panel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

/// Returns the series of a name, whose colour it has in all panels.
fn colour(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{AxisStyle, ChartStyle, Panel, chart};

    fn style(log_x: bool, points: bool) -> ChartStyle {
        let axis = |label: &str, logarithmic| AxisStyle { label: label.to_owned(), logarithmic };
        ChartStyle { x: axis("x", log_x), y: axis("y", false), points }
    }

    #[test]
    fn names_stand_at_the_ends_and_not_on_each_other() {
        let mut panel = Panel { title: "one".into(), lines: Vec::new() };
        for (n, name) in ["a", "b", "c"].into_iter().enumerate() {
            panel.put(name, false, (1.0, 1.0), "set");
            panel.put(name, false, (10.0, 2.0 + 0.01 * n as f64), "set");
        }
        let text = chart("T", &style(true, false), &[panel]).document();
        let mut heights: Vec<f64> = text
            .lines()
            .filter(|line| ["a", "b", "c"].iter().any(|name| line.ends_with(&format!(">{name}</text>"))))
            .filter_map(|line| line.split("y=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 3, "{text}");
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= 12.9), "{heights:?}");
    }

    #[test]
    fn the_name_of_a_point_stands_on_no_other_point() {
        let mut panel = Panel { title: "one".into(), lines: Vec::new() };
        // The second is a little below the first: above it is no room for its name.
        for (name, at) in [("Shuttle", (100.0, 8.0)), ("IJCNN", (104.0, 7.9)), ("far", (1.0, 1.0))] {
            panel.put("MFW", false, at, name);
        }
        let text = chart("T", &style(false, true), &[panel]).document();
        let number =
            |line: &str, name: &str| line.split(name).nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
        let name = text.lines().find(|line| line.contains(">IJCNN<")).expect("a name");
        let name = (number(name, " x=\"").expect("x"), number(name, " y=\"").expect("y"));
        let dots = text.lines().filter(|line| line.contains("r=\"4\""));
        for (x, y) in dots.filter_map(|line| Some((number(line, "cx=\"")?, number(line, "cy=\"")?))) {
            assert!((x - name.0).abs() > 15.0 || (y - (name.1 - 4.0)).abs() > 8.0, "{name:?} stands on {x} {y}");
        }
    }
}
