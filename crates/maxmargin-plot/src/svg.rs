//! An SVG document of lines, bars, points and words, on a card of its own that is light or dark as
//! the reader's screen is.

use crate::text::escaped;
use std::fmt::Write as _;

/// Colours of series on a light and on a dark card: Okabe and Ito's, darker and lighter. People who
/// see red and green alike can tell them apart.
const SERIES: [(&str, &str); 8] = [
    ("#0060a8", "#5cb3f2"),
    ("#c04800", "#ff9a4d"),
    ("#007a58", "#35c79c"),
    ("#a3548a", "#e39acb"),
    ("#8a6a00", "#e3c000"),
    ("#5a5aa8", "#a6a6f2"),
    ("#6b4a3a", "#c9a58f"),
    ("#5f6670", "#a3abb5"),
];

/// Style of words and lines that belong to no series.
const STYLE: &str = "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px;fill:#24292f}\
.card{fill:#fff}.quiet{fill:#57606a}.big{font-size:15px;font-weight:600}.strong{font-weight:600}.small{font-size:11px}\
.axis{stroke:#57606a;fill:none}.grid{stroke:#d8dee4;fill:none}.paper{fill:#a8b0b9}";
const DARK: &str =
    "text{fill:#e6edf3}.card{fill:#0d1117}.quiet{fill:#9ea7b3}.axis{stroke:#9ea7b3}.grid{stroke:#2b333d}.paper{fill:#6b7480}";

/// A point of a picture in pixels: x to the right, y downwards.
pub type Point = (f64, f64);

/// The part of a text that stands at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The middle of the text is at the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A picture that is being drawn.
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Returns the number of a series' colour: colours repeat after the eighth.
fn series(n: usize) -> usize {
    n % SERIES.len()
}

/// Returns a coordinate as text. Tenths of a pixel are enough, and keep pictures small.
fn at(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

impl Svg {
    /// Returns an empty picture of this width and height in pixels.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Writes a text. `class` is empty, or some of `quiet`, `big`, `strong`, `small`.
    pub fn text(&mut self, (x, y): Point, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.body, "<text x=\"{}\" y=\"{}\"{anchor}{class}>{}</text>", at(x), at(y), escaped(text));
    }

    /// Writes a text that reads from bottom to top, its middle at the point.
    pub fn upright(&mut self, (x, y): Point, class: &str, text: &str) {
        let (x, y) = (at(x), at(y));
        let turned = format!("transform=\"rotate(-90 {x} {y})\" text-anchor=\"middle\"");
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" {turned} class=\"{class}\">{}</text>", escaped(text));
    }

    /// Draws a straight line. `class` is `axis` or `grid`.
    pub fn line(&mut self, from: Point, to: Point, class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(at);
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\"/>");
    }

    /// Draws the line of series `n` through the points.
    pub fn curve(&mut self, points: &[Point], n: usize, dashed: bool) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y))).collect();
        let dashed = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(self.body, "<polyline class=\"s{}\"{dashed} points=\"{}\"/>", series(n), points.join(" "));
    }

    /// Draws a point of series `n` with this radius.
    pub fn dot(&mut self, (x, y): Point, n: usize, radius: f64) {
        let _ = writeln!(self.body, "<circle class=\"f{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", series(n), at(x), at(y), at(radius));
    }

    /// Draws a filled rectangle from its upper left corner. `class` is `paper`, or `f0`, `f1`, …
    /// for the colour of a series.
    pub fn bar(&mut self, (x, y): Point, width: f64, height: f64, class: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height].map(at);
        let _ = writeln!(self.body, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>");
    }

    /// Adds elements as they are.
    pub(crate) fn elements(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// Returns the whole document.
    pub fn document(&self) -> String {
        let (width, height) = (at(self.width), at(self.height));
        let colours = |dark: bool| -> String {
            let colour = |(n, (light, on_dark)): (usize, &(&str, &str))| {
                let colour = if dark { on_dark } else { light };
                format!(".s{n}{{stroke:{colour};stroke-width:2;fill:none}}.f{n}{{fill:{colour}}}")
            };
            SERIES.iter().enumerate().map(colour).collect()
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <style>{STYLE}{}@media (prefers-color-scheme:dark){{{DARK}{}}}</style>\n\
             <rect class=\"card\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n{}</svg>\n",
            colours(false),
            colours(true),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Svg};

    #[test]
    fn a_document() {
        let mut svg = Svg::new(100.0, 50.0);
        svg.text((1.0, 2.04), Anchor::End, "quiet", "C < 1 & more");
        svg.curve(&[(0.0, 1.5), (2.0, 3.0)], 9, true);
        let text = svg.document();
        assert!(text.contains("<text x=\"1\" y=\"2\" text-anchor=\"end\" class=\"quiet\">C &lt; 1 &amp; more</text>"), "{text}");
        assert!(text.contains("<polyline class=\"s1\" stroke-dasharray=\"5 4\" points=\"0,1.5 2,3\"/>"), "{text}");
        assert!(text.contains("prefers-color-scheme:dark"));
    }
}
