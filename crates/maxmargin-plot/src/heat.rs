//! Heat maps: a square for each pair of values, coloured by a score, with a colour bar.

use crate::svg::{Anchor, Svg};
use crate::text::{capital, escaped, width};
use std::fmt::Write as _;

/// Sizes in pixels: a square, and the left, top and bottom margins.
const CELL: (f64, f64) = (46.0, 28.0);
const LEFT: f64 = 84.0;
const TOP: f64 = 60.0;
const BELOW: f64 = 96.0;
const RIGHT: f64 = 16.0;

/// The colours from the worst to the best score (viridis).
const COLOURS: [[f64; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];

/// Text is dark on colours above this share.
const LIGHT: f64 = 0.55;

/// A remark on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMark {
    /// None.
    Plain,
    /// It is the best: a red frame.
    Best,
    /// It has no final score: a dotted frame.
    Unfinished,
    /// It was given up: hatched.
    Pruned,
}

/// A square of a heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCell {
    /// The column from the left and the row from below.
    pub at: (usize, usize),
    /// The share of the way from the worst to the best score; None without a score.
    pub share: Option<f64>,
    /// The text in it.
    pub text: String,
    /// The text that is shown when the pointer is on it.
    pub tip: String,
    /// A remark.
    pub mark: CellMark,
}

/// Squares of two parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The text above.
    pub title: String,
    /// The line below the title.
    pub subtitle: String,
    /// The name of the parameter to the right, and its values.
    pub columns: (String, Vec<String>),
    /// The name of the parameter upwards, and its values; without values there is one row.
    pub rows: (String, Vec<String>),
    /// The worst and the best score, at the ends of the colour bar.
    pub ends: [String; 2],
    /// The squares.
    pub cells: Vec<HeatCell>,
}

/// Returns the colour at a share of the way from the worst to the best score.
fn colour(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let below = (at as usize).min(COLOURS.len() - 2);
    let part = at - below as f64;
    let mix = |k: usize| COLOURS[below][k] + part * (COLOURS[below + 1][k] - COLOURS[below][k]);
    format!("rgb({:.0},{:.0},{:.0})", mix(0), mix(1), mix(2))
}

impl HeatMap {
    /// Draws the squares, the axes and the colour bar.
    pub fn draw(&self) -> Svg {
        let (across, up) = (self.columns.1.len().max(1), self.rows.1.len().max(1));
        // A narrow picture is wide enough for its words.
        let words = (1.3 * width(&self.title)).max(width(&self.subtitle)).max(220.0);
        let size = (LEFT + words.max(CELL.0 * across as f64) + RIGHT, TOP + CELL.1 * up as f64 + BELOW);
        let mut svg = Svg::new(size.0.ceil(), size.1.ceil());
        svg.text((14.0, 24.0), Anchor::Start, "big", &capital(&self.title));
        svg.text((14.0, 44.0), Anchor::Start, "quiet", &self.subtitle);
        svg.elements(
            "<defs><pattern id=\"pruned\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
             <path d=\"M0 6L6 0\" stroke=\"#888\"/></pattern></defs>",
        );
        self.cells.iter().for_each(|cell| draw_cell(&mut svg, cell, up));
        self.draw_axes(&mut svg, across, up);
        self.draw_bar(&mut svg, TOP + CELL.1 * up as f64 + 62.0);
        svg
    }

    fn draw_axes(&self, svg: &mut Svg, across: usize, up: usize) {
        let foot = TOP + CELL.1 * up as f64;
        for (at, value) in self.rows.1.iter().enumerate() {
            svg.text((LEFT - 8.0, foot - CELL.1 * at as f64 - 10.0), Anchor::End, "small quiet", value);
        }
        for (at, value) in self.columns.1.iter().enumerate() {
            svg.text((LEFT + CELL.0 * (at as f64 + 0.5), foot + 16.0), Anchor::Middle, "small quiet", value);
        }
        if !self.columns.1.is_empty() {
            svg.text((LEFT + 0.5 * CELL.0 * across as f64, foot + 36.0), Anchor::Middle, "quiet", &self.columns.0);
        }
        if !self.rows.1.is_empty() {
            svg.upright((22.0, 0.5 * (TOP + foot)), "quiet", &self.rows.0);
        }
    }

    /// Draws the colours from the worst score to the best.
    fn draw_bar(&self, svg: &mut Svg, top: f64) {
        let stops = (0..=8).map(|k| f64::from(k) / 8.0);
        let stop = |share: f64| format!("<stop offset=\"{share}\" stop-color=\"{}\"/>", colour(share));
        let stops: String = stops.map(stop).collect();
        svg.elements(&format!("<defs><linearGradient id=\"scores\">{stops}</linearGradient></defs>"));
        svg.elements(&format!("<rect x=\"{LEFT}\" y=\"{top}\" width=\"140\" height=\"10\" fill=\"url(#scores)\"/>"));
        svg.text((LEFT, top + 24.0), Anchor::Start, "small quiet", &self.ends[0]);
        svg.text((LEFT + 140.0, top + 24.0), Anchor::End, "small quiet", &self.ends[1]);
    }
}

/// Draws a square with its score, in a map of so many rows.
fn draw_cell(svg: &mut Svg, cell: &HeatCell, up: usize) {
    let x = LEFT + CELL.0 * cell.at.0 as f64;
    let y = TOP + CELL.1 * (up - 1 - cell.at.1) as f64;
    let fill = match (cell.mark, cell.share) {
        (CellMark::Pruned, _) => "url(#pruned)".to_owned(),
        (_, Some(share)) => colour(share),
        (_, None) => "none".to_owned(),
    };
    let frame = match cell.mark {
        CellMark::Best => " stroke=\"#e4002b\" stroke-width=\"3\"",
        CellMark::Unfinished => " stroke=\"#888\" stroke-dasharray=\"3\"",
        CellMark::Plain | CellMark::Pruned => "",
    };
    // Text on hatching and on no colour has the colour of other texts.
    let ink = match cell.share.filter(|_| cell.mark != CellMark::Pruned) {
        Some(share) if share > LIGHT => " style=\"fill:#111\"",
        Some(_) => " style=\"fill:#fff\"",
        None => "",
    };
    let (w, h) = (CELL.0 - 2.0, CELL.1 - 2.0);
    let mut group = format!("<g><title>{}</title>", escaped(&cell.tip));
    let _ = write!(group, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"{frame}/>");
    let (middle, base) = (x + 0.5 * w, y + 0.5 * h + 4.0);
    let _ = write!(group, "<text class=\"small\" x=\"{middle}\" y=\"{base}\" text-anchor=\"middle\"{ink}>");
    svg.elements(&format!("{group}{}</text></g>", escaped(&cell.text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(at: (usize, usize), share: Option<f64>, mark: CellMark) -> HeatCell {
        HeatCell { at, share, text: format!("{at:?}"), tip: "a < b".to_owned(), mark }
    }

    #[test]
    fn colours_go_from_dark_to_light() {
        assert_eq!((colour(0.0), colour(1.0)), ("rgb(68,1,84)".to_owned(), "rgb(253,231,37)".to_owned()));
    }

    #[test]
    fn every_cell_has_its_place_and_its_mark() {
        let words = |words: [&str; 2]| words.map(str::to_owned).to_vec();
        let map = HeatMap {
            title: "accuracy".to_owned(),
            subtitle: "best".to_owned(),
            columns: ("C".to_owned(), words(["1", "2"])),
            rows: ("gamma".to_owned(), words(["3", "4"])),
            ends: ["80".to_owned(), "90".to_owned()],
            cells: vec![
                cell((0, 0), Some(0.0), CellMark::Plain),
                cell((1, 1), Some(1.0), CellMark::Best),
                cell((0, 1), None, CellMark::Pruned),
                cell((1, 0), Some(0.5), CellMark::Unfinished),
            ],
        };
        let text = map.draw().document();
        let places = ["x=\"84\" y=\"88\"", "x=\"130\" y=\"60\"", "x=\"84\" y=\"60\"", "x=\"130\" y=\"88\""];
        assert!(places.iter().all(|place| text.matches(place).count() == 1), "{text}");
        let counts = ["stroke=\"#e4002b\"", "url(#pruned)", "stroke-dasharray=\"3\"", "<title>a &lt; b</title>", "url(#scores)"];
        assert_eq!(counts.map(|what| text.matches(what).count()), [1, 1, 1, 4, 1], "{text}");
    }
}
