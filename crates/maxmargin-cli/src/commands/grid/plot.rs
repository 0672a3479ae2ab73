//! The picture of the scores: C to the right, γ upwards, each cell a coloured square.

use super::cell::CellDocument;
use super::choice::Choice;
use crate::console::format;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Sizes in pixels: a cell, and the left, top, bottom and right margins.
const CELL: (usize, usize) = (64, 34);
const LEFT: usize = 96;
const TOP: usize = 56;
const BELOW: usize = 64;
const RIGHT: usize = 24;

/// Average width of a letter of the title and of the line below it: narrow pictures are as wide as
/// their text.
const LETTERS: [usize; 2] = [8, 7];

/// The colours from the worst to the best score.
const COLOURS: [[f64; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];

/// Returns the colour at a share of the way from the worst to the best score, and whether text on
/// it should be dark.
pub(super) fn colour(share: f64) -> (String, bool) {
    let at = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let below = (at as usize).min(COLOURS.len() - 2);
    let part = at - below as f64;
    let mix = |k: usize| COLOURS[below][k] + part * (COLOURS[below + 1][k] - COLOURS[below][k]);
    (format!("rgb({:.0},{:.0},{:.0})", mix(0), mix(1), mix(2)), share > 0.55)
}

/// Returns the distinct values, ascending.
pub(super) fn values(cells: &[&CellDocument], of: impl Fn(&CellDocument) -> Option<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = cells.iter().filter_map(|cell| of(cell)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Returns the labels of an axis: `2^-5.5`, as options take them, for whole or half powers of two
/// over a wide range; otherwise short numbers.
pub(super) fn ticks(values: &[f64]) -> Vec<String> {
    let powers: Vec<f64> = values.iter().map(|value| (2.0 * value.log2()).round() / 2.0).collect();
    let exact = powers.iter().zip(values).all(|(power, value)| (power - value.log2()).abs() < 1e-9);
    if exact && powers.iter().any(|power| power.abs() > 3.0) {
        powers.iter().map(|power| format!("2^{power}")).collect()
    } else {
        values.iter().map(|value| format::short(*value)).collect()
    }
}

/// Returns a cell that determines the kernel and degree to show: the best if it has a γ, else one
/// with a γ. A kernel without γ has one row over C.
fn leader<'a>(cells: &[&'a CellDocument], best: Option<&'a CellDocument>) -> Option<&'a CellDocument> {
    let wide = |cell: &&CellDocument| cell.gamma.is_some();
    best.filter(wide).or_else(|| cells.iter().copied().find(wide)).or(best).or_else(|| cells.first().copied())
}

/// The cells of the kernel and degree that are shown.
pub(super) fn shown<'a>(cells: &[&'a CellDocument], best: Option<&'a CellDocument>) -> Vec<&'a CellDocument> {
    let first = leader(cells, best);
    let alike = |cell: &&&CellDocument| first.is_some_and(|first| cell.kernel == first.kernel && cell.degree == first.degree);
    cells.iter().filter(alike).copied().collect()
}

/// Writes the picture of the cells of one kernel. Those that did not converge are framed by dots,
/// the best by a line, and those that were given up are hatched.
pub(super) fn write(
    out: &mut dyn Write,
    cells: &[&CellDocument],
    best: Option<&CellDocument>,
    choice: &Choice,
) -> io::Result<()> {
    let shown = shown(cells, best);
    let (costs, widths) = (values(&shown, |cell| cell.c), values(&shown, |cell| cell.gamma));
    let scores = values(&shown, |cell| cell.score);
    let (low, high) = (scores.first().copied().unwrap_or(0.0), scores.last().copied().unwrap_or(0.0));
    let share = |score: f64| {
        let up = if high > low { (score - low) / (high - low) } else { 1.0 };
        if choice.rises() { up } else { 1.0 - up }
    };
    // A kernel without a width has one row, which has no name.
    let rows = widths.len().max(1);
    let kernel = shown.first().map_or("", |first| first.kernel);
    let title = format!("{}, out of fold; {kernel} kernel", choice.column());
    let said = best.map_or_else(String::new, |best| format!("best: {}: {}", best.text(), best.score_text(choice)));
    let words = (LETTERS[0] * title.chars().count()).max(LETTERS[1] * said.chars().count());
    let (width, height) = (LEFT + words.max(CELL.0 * costs.len()) + RIGHT, TOP + CELL.1 * rows + BELOW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<style>text{{fill:#222}}.d{{fill:#111}}.l{{fill:#fff}}.p{{fill:#fff}}\
         @media(prefers-color-scheme:dark){{.p{{fill:#181818}}text{{fill:#ddd}}.d{{fill:#111}}.l{{fill:#fff}}}}</style>\n\
         <defs><pattern id=\"pruned\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" stroke=\"#888\"/></pattern></defs>\n\
         <rect class=\"p\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let _ =
        writeln!(svg, "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{title}</text>\n<text x=\"{LEFT}\" y=\"44\">{said}</text>");
    for cell in &shown {
        let column = cell.c.and_then(|c| costs.iter().position(|known| *known == c)).unwrap_or(0);
        let row = cell.gamma.and_then(|gamma| widths.iter().position(|known| *known == gamma)).unwrap_or(0);
        let colour = cell.score.map_or(("none".to_owned(), false), |score| colour(share(score)));
        let is_best = best.is_some_and(|best| std::ptr::eq(best, *cell));
        draw_cell(&mut svg, cell, (LEFT + CELL.0 * column, top_of(row, rows)), colour, is_best, choice);
    }
    draw_axes(&mut svg, &costs, &widths, rows);
    writeln!(out, "{svg}</svg>")
}

/// Returns the top of a row, of so many.
fn top_of(row: usize, rows: usize) -> usize {
    TOP + CELL.1 * (rows - 1 - row)
}

/// Draws a cell with its score at a corner of its square.
fn draw_cell(
    svg: &mut String,
    cell: &CellDocument,
    corner: (usize, usize),
    colour: (String, bool),
    is_best: bool,
    choice: &Choice,
) {
    let (x, y) = corner;
    let hatched = cell.at_least_errors.map(|_| ("url(#pruned)".to_owned(), false));
    let (fill, dark) = hatched.unwrap_or(colour);
    let frame = match (is_best, cell.converged()) {
        (true, _) => " stroke=\"#e4002b\" stroke-width=\"3\"",
        (false, false) => " stroke=\"#888\" stroke-dasharray=\"3\"",
        _ => "",
    };
    let (w, h) = (CELL.0 - 2, CELL.1 - 2);
    let text = cell.score_text(choice);
    // Text on hatching has the colour of the page.
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

/// Draws the labels and the names of the axes.
fn draw_axes(svg: &mut String, costs: &[f64], widths: &[f64], rows: usize) {
    for (at, gamma) in ticks(widths).iter().enumerate() {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{gamma}</text>", LEFT - 8, top_of(at, rows) + 20);
    }
    let foot = TOP + CELL.1 * rows;
    for (at, c) in ticks(costs).iter().enumerate() {
        let (x, y) = (LEFT + CELL.0 * at + CELL.0 / 2, foot + 18);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{c}</text>");
    }
    let (middle, side) = (LEFT + CELL.0 * costs.len() / 2, TOP + CELL.1 * rows / 2);
    if !costs.is_empty() {
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">C</text>", foot + 42);
    }
    if !widths.is_empty() {
        let turned = format!("transform=\"rotate(-90 24 {side})\" text-anchor=\"middle\"");
        let _ = writeln!(svg, "<text x=\"24\" y=\"{side}\" {turned}>gamma</text>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_dark_to_light() {
        assert_eq!((colour(0.0).0, colour(1.0).0), ("rgb(68,1,84)".to_owned(), "rgb(253,231,37)".to_owned()));
        assert!(!colour(0.2).1 && colour(0.9).1);
    }

    #[test]
    fn an_axis_has_one_kind_of_words() {
        assert_eq!(ticks(&[0.03125, 2_f64.powf(-2.5), 2.0]), ["2^-5", "2^-2.5", "2^1"]);
        assert_eq!(ticks(&[0.5, 1.0, 2.0]), ["0.5", "1", "2"]);
        assert_eq!(ticks(&[0.03125, 0.1]), ["0.03125", "0.1"]);
    }
}
