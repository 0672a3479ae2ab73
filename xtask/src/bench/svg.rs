//! Pictures: an SVG document of lines, bars, points and words, on a card of its own that is light
//! or dark as the reader's screen is.

use crate::failure::{Context, Outcome};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Colours of series on a light and on a dark card, told apart by people who see red and green
/// alike (Okabe and Ito's, darker and lighter).
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

/// What words and lines look like that belong to no series.
const STYLE: &str = "text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px;fill:#24292f}\
.card{fill:#fff}.quiet{fill:#57606a}.big{font-size:15px;font-weight:600}.strong{font-weight:600}.small{font-size:11px}\
.axis{stroke:#57606a;fill:none}.grid{stroke:#d8dee4;fill:none}.paper{fill:#a8b0b9}";
const DARK: &str =
    "text{fill:#e6edf3}.card{fill:#0d1117}.quiet{fill:#9ea7b3}.axis{stroke:#9ea7b3}.grid{stroke:#2b333d}.paper{fill:#6b7480}";

/// Width of a letter of the font above, on average.
const LETTER: f64 = 6.6;

/// Where a text stands about its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture that is being drawn: x to the right, y downwards, pixels.
pub(crate) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// How wide a text will be.
pub(crate) fn width(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

/// The class of a series' colour.
pub(crate) fn series(n: usize) -> usize {
    n % SERIES.len()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A coordinate: tenths of a pixel are enough, and keep pictures small.
fn at(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.body, "<text x=\"{}\" y=\"{}\"{anchor}{class}>{}</text>", at(x), at(y), escaped(text));
    }

    /// A text that is read from below to above, its middle at the place.
    pub(crate) fn upright(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let (x, y) = (at(x), at(y));
        let turned = format!("transform=\"rotate(-90 {x} {y})\" text-anchor=\"middle\"");
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" {turned} class=\"{class}\">{}</text>", escaped(text));
    }

    /// A line of the axes or between them: class `axis` or `grid`.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(at);
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\"/>");
    }

    /// The line of a series.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], n: usize, dashed: bool) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y))).collect();
        let dashed = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(self.body, "<polyline class=\"s{}\"{dashed} points=\"{}\"/>", series(n), points.join(" "));
    }

    pub(crate) fn dot(&mut self, (x, y): (f64, f64), n: usize, radius: f64) {
        let _ = writeln!(self.body, "<circle class=\"f{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", series(n), at(x), at(y), at(radius));
    }

    /// A filled rectangle; `class` is `paper` or that of a series, such as `f0`.
    pub(crate) fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height].map(at);
        let _ = writeln!(self.body, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>");
    }

    /// The document.
    pub(crate) fn document(&self) -> String {
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

    pub(crate) fn write(&self, target: &Path) -> Outcome<()> {
        fs::write(target, self.document()).context(target.display())
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
