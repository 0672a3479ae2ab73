//! Bars: blocks side by side, each with named lines of bars from a common zero and a scale below.

use crate::axis::Axis;
use crate::svg::{Anchor, Point, Svg};
use crate::text::width;

/// Width of a block's axis.
const LONGEST: f64 = 190.0;
/// Height of a line: two bars.
const STEP: f64 = 21.0;
const BAR: f64 = 8.0;
/// Room above a block for its name, below for its ticks.
const ABOVE: f64 = 28.0;
const BELOW: f64 = 44.0;
const HEAD: f64 = 64.0;
/// Room for the figure of a bar.
const FIGURE: f64 = 52.0;

/// A bar from zero, to the left where its length is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its length on the axis.
    pub length: f64,
    /// The class of its colour, as [`Svg::bar`] has it.
    pub class: &'static str,
    /// The text at its end; empty for none.
    pub figure: String,
}

/// Bars with a name, one below the other: two at most have room.
#[derive(Clone, Debug, PartialEq)]
pub struct BarLine {
    /// The text to the left.
    pub name: String,
    /// Its bars. One alone stands in the middle of the line.
    pub bars: Vec<Bar>,
}

/// Lines of bars over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct BarBlock {
    /// The text above.
    pub title: String,
    /// The words below the axis.
    pub label: String,
    /// A value that the axis reaches at least.
    pub reach: f64,
    /// Its lines, from top to bottom.
    pub lines: Vec<BarLine>,
}

/// A chart of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// The title.
    pub title: String,
    /// The classes of bars with their meaning; empty where the title says it.
    pub legend: Vec<(&'static str, String)>,
    /// Blocks beside each other.
    pub across: usize,
    /// Its blocks.
    pub blocks: Vec<BarBlock>,
}

impl BarChart {
    /// Draws the chart.
    pub fn draw(&self) -> Svg {
        let lines = || self.blocks.iter().flat_map(|block| &block.lines);
        // Figures of bars to the left stand between the names and the axis.
        let is_left = lines().flat_map(|line| &line.bars).any(|bar| bar.length < 0.0);
        let room = if is_left { FIGURE } else { 0.0 };
        let names = lines().map(|line| width(&line.name)).fold(30.0, f64::max) + room;
        let cell = names + LONGEST + 70.0;
        let across = self.across.max(1);
        let rows: Vec<&[BarBlock]> = self.blocks.chunks(across).collect();
        let longest = |row: &[BarBlock]| row.iter().map(|block| block.lines.len()).max().unwrap_or(0) as f64;
        let height = |row: &[BarBlock]| ABOVE + BELOW + STEP * longest(row);
        let all: f64 = rows.iter().map(|row| height(row)).sum();
        let wide = cell * across.min(self.blocks.len().max(2)) as f64 + 10.0;
        let mut svg = Svg::new(wide.max(1.25 * width(&self.title) + 20.0), HEAD + all);
        svg.text((14.0, 25.0), Anchor::Start, "big", &self.title);
        let mut left = 14.0;
        for (class, text) in &self.legend {
            svg.bar((left, 38.0), 12.0, 10.0, class);
            svg.text((left + 17.0, 47.0), Anchor::Start, "", text);
            left += width(text) + 24.0;
        }
        let mut top = HEAD;
        for row in rows {
            for (n, block) in row.iter().enumerate() {
                let left = 14.0 + names + cell * n as f64;
                paint(&mut svg, block, (left, top + ABOVE), NameSpan { names, room });
            }
            top += height(row);
        }
        svg
    }
}

/// The room left of an axis: of names and figures, and of the figures in it.
#[derive(Clone, Copy)]
struct NameSpan {
    names: f64,
    room: f64,
}

/// Draws one block, whose axis begins at this point.
fn paint(svg: &mut Svg, block: &BarBlock, (left, top): Point, NameSpan { names, room }: NameSpan) {
    let lengths = block.lines.iter().flat_map(|line| &line.bars).map(|bar| bar.length);
    let axis = Axis::from_zero(lengths.chain([block.reach]));
    let place = |length: f64| left + LONGEST * axis.place(length);
    let bottom = top + STEP * block.lines.len() as f64;
    svg.text((left - names, top - 10.0), Anchor::Start, "strong", &block.title);
    for (tick, text) in axis.ticks() {
        svg.line((place(tick), top), (place(tick), bottom), "grid");
        svg.text((place(tick), bottom + 15.0), Anchor::Middle, "small quiet", &text);
    }
    svg.line((place(0.0), top), (place(0.0), bottom), "axis");
    svg.text((left + 0.5 * LONGEST, bottom + 31.0), Anchor::Middle, "small quiet", &block.label);
    for (n, line) in block.lines.iter().enumerate() {
        let y = top + STEP * n as f64 + 2.0;
        svg.text((left - room - 6.0, y + 12.0), Anchor::End, "small", &line.name);
        let first = if line.bars.len() > 1 { y } else { y + 0.5 * (BAR + 1.0) };
        for (m, bar) in line.bars.iter().enumerate() {
            let (from, to) = (place(bar.length.min(0.0)), place(bar.length.max(0.0)));
            let y = first + (BAR + 1.0) * m as f64;
            svg.bar((from, y), to - from, BAR, bar.class);
            if !bar.figure.is_empty() {
                let (x, anchor) = if bar.length < 0.0 { (from - 5.0, Anchor::End) } else { (to + 5.0, Anchor::Start) };
                svg.text((x, y + BAR), anchor, "small", &bar.figure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, lengths: &[f64]) -> BarLine {
        let bar = |length: &f64| Bar { length: *length, class: "f0", figure: format!("{length:.2}") };
        BarLine { name: name.to_owned(), bars: lengths.iter().map(bar).collect() }
    }

    fn document(lines: Vec<BarLine>) -> String {
        let block = BarBlock { title: "C = 1".to_owned(), label: "values".to_owned(), reach: 0.0, lines };
        BarChart { title: "T".to_owned(), legend: Vec::new(), across: 3, blocks: vec![block] }.draw().document()
    }

    fn number(line: &str, key: &str) -> f64 {
        let rest = line.split(&format!(" {key}=\"")).nth(1).expect("the attribute");
        rest.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
    }

    #[test]
    fn bars_go_to_both_sides_of_zero() {
        let text = document(vec![line("age", &[2.0]), line("size", &[-1.0])]);
        let bars: Vec<(f64, f64)> = text
            .lines()
            .filter(|line| line.contains("class=\"f0\""))
            .map(|line| (number(line, "x"), number(line, "width")))
            .collect();
        let [(right, long), (left, short)] = bars[..] else { panic!("{text}") };
        assert!((left + short - right).abs() < 0.15 && (long - 2.0 * short).abs() < 0.3, "{bars:?}");
        let figure = text.lines().find(|line| line.contains(">-1.00<")).expect("the figure");
        assert!(figure.contains("text-anchor=\"end\"") && (number(figure, "x") - left + 5.0).abs() < 0.15, "{figure}");
    }

    #[test]
    fn two_bars_share_a_line() {
        let text = document(vec![line("cold", &[1.0, 0.5])]);
        let tops: Vec<f64> = text.lines().filter(|line| line.contains("class=\"f0\"")).map(|line| number(line, "y")).collect();
        assert_eq!(tops[1] - tops[0], 9.0, "{text}");
    }
}
