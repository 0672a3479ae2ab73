//! The scores of a search as a picture: C to the right, γ upwards, every cell a square of its score.

use super::choice::Choice;
use super::document::CellDocument;
use crate::format;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Sizes in pixels: a cell, the room for the numbers at the left, above, and below.
const CELL: (usize, usize) = (64, 34);
const LEFT: usize = 96;
const TOP: usize = 56;
const BELOW: usize = 64;

/// The colours of the worst and of the best score, and between.
const COLOURS: [[f64; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];

/// The colour at a share of the way from the worst to the best, and whether text on it should be dark.
fn colour(share: f64) -> (String, bool) {
    let at = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let below = (at as usize).min(COLOURS.len() - 2);
    let part = at - below as f64;
    let mix = |k: usize| COLOURS[below][k] + part * (COLOURS[below + 1][k] - COLOURS[below][k]);
    (format!("rgb({:.0},{:.0},{:.0})", mix(0), mix(1), mix(2)), share > 0.55)
}

/// Values that occur, ascending.
fn values(cells: &[&CellDocument], of: impl Fn(&CellDocument) -> Option<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = cells.iter().filter_map(|cell| of(cell)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// `2^-5` for powers of two, otherwise a short number.
fn tick(value: f64) -> String {
    let power = value.log2();
    if power == power.round() && power.abs() > 3.0 { format!("2^{power}") } else { format::short(value) }
}

/// Writes the picture of the cells of the first kernel that has a width. Those that did not converge are framed by dots, the best by a line, and those that were
/// given up are hatched.
pub(super) fn write(
    out: &mut dyn Write,
    cells: &[&CellDocument],
    best: Option<&CellDocument>,
    choice: &Choice,
) -> io::Result<()> {
    let first = cells.iter().find(|cell| cell.gamma.is_some());
    let alike = |cell: &&&CellDocument| first.is_some_and(|first| cell.kernel == first.kernel && cell.degree == first.degree);
    let shown: Vec<&CellDocument> = cells.iter().filter(alike).copied().collect();
    let (costs, widths) = (values(&shown, |cell| cell.c), values(&shown, |cell| cell.gamma));
    let scores = values(&shown, |cell| cell.score);
    let (low, high) = (scores.first().copied().unwrap_or(0.0), scores.last().copied().unwrap_or(0.0));
    let share = |score: f64| {
        let up = if high > low { (score - low) / (high - low) } else { 1.0 };
        if choice.rises() { up } else { 1.0 - up }
    };
    let (width, height) = (LEFT + CELL.0 * costs.len().max(1) + 24, TOP + CELL.1 * widths.len() + BELOW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<style>text{{fill:#222}}.d{{fill:#111}}.l{{fill:#fff}}.p{{fill:#fff}}\
         @media(prefers-color-scheme:dark){{.p{{fill:#181818}}text{{fill:#ddd}}.d{{fill:#111}}.l{{fill:#fff}}}}</style>\n\
         <defs><pattern id=\"lost\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" stroke=\"#888\"/></pattern></defs>\n\
         <rect class=\"p\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let kernel = first.map_or("", |first| first.kernel);
    let _ =
        writeln!(svg, "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}, {kernel} kernel, out of fold</text>", choice.column());
    let right = |at: usize| LEFT + CELL.0 * at;
    let down = |at: usize| TOP + CELL.1 * (widths.len() - 1 - at);
    for cell in &shown {
        let column = cell.c.and_then(|c| costs.iter().position(|known| *known == c)).unwrap_or(0);
        let Some(row) = cell.gamma.and_then(|gamma| widths.iter().position(|known| *known == gamma)) else { continue };
        let (x, y) = (right(column), down(row));
        let hatched = cell.at_least_errors.map(|_| ("url(#lost)".to_owned(), false));
        let plain = cell.score.map_or(("none".to_owned(), false), |score| colour(share(score)));
        let (fill, dark) = hatched.unwrap_or(plain);
        let is_best = best.is_some_and(|best| std::ptr::eq(best, *cell));
        let frame = match (is_best, cell.converged()) {
            (true, _) => " stroke=\"#e4002b\" stroke-width=\"3\"",
            (false, false) => " stroke=\"#888\" stroke-dasharray=\"3\"",
            _ => "",
        };
        let (w, h) = (CELL.0 - 2, CELL.1 - 2);
        let text = if cell.at_least_errors.is_some() { "lost".to_owned() } else { choice.text(cell.score) };
        // On hatching text has the colour of the page.
        let class = if cell.at_least_errors.is_some() {
            ""
        } else if dark {
            "d"
        } else {
            "l"
        };
        let _ = writeln!(
            svg,
            "<g><title>{}: {text}</title><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"{frame}/>\
             <text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{text}</text></g>",
            cell.text(),
            x + w / 2,
            y + h / 2 + 4,
        );
    }
    for (at, gamma) in widths.iter().enumerate() {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 8, down(at) + 20, tick(*gamma));
    }
    let foot = TOP + CELL.1 * widths.len();
    for (at, c) in costs.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            right(at) + CELL.0 / 2,
            foot + 18,
            tick(*c)
        );
    }
    let (middle, side) = (LEFT + CELL.0 * costs.len() / 2, TOP + CELL.1 * widths.len() / 2);
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">C</text>", foot + 42);
    let _ = writeln!(svg, "<text x=\"20\" y=\"{side}\">gamma</text>");
    if let Some(best) = best {
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"44\">best: {}: {}</text>", best.text(), choice.text(best.score));
    }
    writeln!(out, "{svg}</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_dark_to_light() {
        assert_eq!((colour(0.0).0, colour(1.0).0), ("rgb(68,1,84)".to_owned(), "rgb(253,231,37)".to_owned()));
        assert!(!colour(0.2).1 && colour(0.9).1);
        assert_eq!((tick(0.03125), tick(1.0), tick(0.1)), ("2^-5".to_owned(), "1".to_owned(), "0.1".to_owned()));
    }
}
