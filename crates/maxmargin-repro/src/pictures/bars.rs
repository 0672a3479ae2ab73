//! Bars of iterations: each variant relative to the table's first, the paper's beside ours, a block
//! for each problem and setting.

use crate::cells::row::Row;
use crate::cells::settings::plain;
use crate::numbers::groups::grouped;
use crate::workspace::failure::{Context, Outcome};
use maxmargin_plot::{Anchor, Axis, Svg, width};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Blocks in a line.
const ACROSS: usize = 3;
/// Width of a block's bars at their longest.
const LONGEST: f64 = 190.0;
/// Height of a variant: two bars.
const STEP: f64 = 21.0;
const BAR: f64 = 8.0;
/// Room above a block for its name, below for its ticks.
const ABOVE: f64 = 28.0;
const BELOW: f64 = 44.0;
const HEAD: f64 = 64.0;

/// Bars of one problem and setting: label, then (variant, paper, ours), each relative to the
/// block's own first variant.
struct Block {
    label: String,
    bars: Vec<(String, Option<f64>, Option<f64>)>,
}

/// Draws the rows into `target`.
pub(crate) fn draw(target: &Path, rows: &[Row], title: &str) -> Outcome<()> {
    fs::write(target, picture(&blocks(rows), title).document()).context(target.display())
}

fn picture(blocks: &[Block], title: &str) -> Svg {
    let names = blocks.iter().flat_map(|block| &block.bars).map(|bar| width(&bar.0)).fold(30.0, f64::max);
    let cell = names + LONGEST + 70.0;
    let lines: Vec<&[Block]> = blocks.chunks(ACROSS).collect();
    let height = |line: &[Block]| ABOVE + BELOW + STEP * line.iter().map(|block| block.bars.len()).max().unwrap_or(0) as f64;
    let all: f64 = lines.iter().map(|line| height(line)).sum();
    let mut svg = Svg::new(cell * ACROSS.min(blocks.len().max(2)) as f64 + 10.0, HEAD + all);
    svg.text((14.0, 25.0), Anchor::Start, "big", title);
    // Where the paper prints no iterations there is one kind of bar, which the title explains.
    if blocks.iter().flat_map(|block| &block.bars).any(|bar| bar.1.is_some()) {
        svg.bar((14.0, 38.0), 12.0, 10.0, "paper");
        svg.text((31.0, 47.0), Anchor::Start, "", "printed in the paper");
        svg.bar((170.0, 38.0), 12.0, 10.0, "f0");
        svg.text((187.0, 47.0), Anchor::Start, "", "here");
    }
    let mut top = HEAD;
    for line in lines {
        for (n, block) in line.iter().enumerate() {
            paint(&mut svg, block, (14.0 + names + cell * n as f64, top + ABOVE), names);
        }
        top += height(line);
    }
    svg
}

/// One block, its bars from `left` on.
fn paint(svg: &mut Svg, block: &Block, (left, top): (f64, f64), names: f64) {
    let lengths = || block.bars.iter().flat_map(|bar| [bar.1, bar.2]).flatten();
    let axis = Axis::from_zero(lengths().chain([1.0]));
    let bottom = top + STEP * block.bars.len() as f64;
    svg.text((left - names, top - 10.0), Anchor::Start, "strong", &block.label);
    for (tick, text) in axis.ticks() {
        let x = left + LONGEST * axis.place(tick);
        svg.line((x, top), (x, bottom), "grid");
        svg.text((x, bottom + 15.0), Anchor::Middle, "small quiet", &text);
    }
    svg.line((left, top), (left, bottom), "axis");
    svg.text((left + 0.5 * LONGEST, bottom + 31.0), Anchor::Middle, "small quiet", "iterations, the first variant = 1");
    for (n, (variant, printed, ours)) in block.bars.iter().enumerate() {
        let y = top + STEP * n as f64 + 2.0;
        svg.text((left - 6.0, y + 12.0), Anchor::End, "small", variant);
        // Below the paper's, or in the middle of the line.
        let own = y + if printed.is_some() { BAR + 1.0 } else { 0.5 * (BAR + 1.0) };
        let bars = [(printed, y, "paper"), (ours, own, "f0")];
        for (length, y, class) in bars.into_iter().filter_map(|(length, y, class)| Some(((*length)?, y, class))) {
            svg.bar((left, y), LONGEST * axis.place(length), BAR, class);
        }
        if let Some(ours) = ours {
            // Beside its own bar: at the end of the paper's it would seem to be that one's figure.
            svg.text((left + LONGEST * axis.place(*ours) + 5.0, own + BAR), Anchor::Start, "small", &format!("{ours:.2}"));
        }
    }
}

/// A block's settings in words.
fn setting(row: &Row) -> String {
    let word = |(key, value): (&str, &str)| match (key, value) {
        ("folds", "libsvm") => "LIBSVM's folds".to_owned(),
        ("folds", "contiguous") => "folds in file order".to_owned(),
        ("k", k) => format!("{k} folds"),
        ("c", c) => format!("C = {c}"),
        (key, value) => format!("{} {value}", key.replace('_', " ")),
    };
    let known = row.cell.shown.split(' ').filter_map(|part| part.split_once('='));
    known.map(word).collect::<Vec<_>>().join(", ")
}

fn blocks(rows: &[Row]) -> Vec<Block> {
    let ours = |row: &Row| row.counted()?.iterations.map(|n| n as f64);
    let relative = |value: Option<f64>, to: Option<f64>| value.zip(to).filter(|(_, to)| *to > 0.0).map(|(v, to)| v / to);
    let block = |members: Vec<&Row>| {
        let bar = |row: &&Row| {
            let printed = relative(row.printed.iterations, members[0].printed.iterations);
            (row.cell.variant.clone(), printed, relative(ours(row), ours(members[0])))
        };
        let setting = setting(members[0]);
        // As many folds as samples are no setting of the table.
        let own = members[0].cell.settings.get("k").filter(|_| setting.is_empty()).map(|k: &Value| format!("{} folds", plain(k)));
        let parts = [members[0].cell.problem.clone(), own.unwrap_or(setting)];
        let label = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        Block { label, bars: members.iter().map(bar).collect() }
    };
    let all = grouped(rows, |row| (row.cell.problem.clone(), row.cell.shown.clone())).into_iter().map(block);
    all.filter(|block| block.bars.iter().any(|bar| bar.2.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::{Block, picture};

    #[test]
    fn a_block_has_its_name_a_scale_and_figures_at_the_bars() {
        let bars = vec![("cold".to_owned(), Some(1.0), Some(1.0)), ("sir".to_owned(), None, Some(0.254))];
        let block = Block { label: "Adult, LIBSVM's folds".into(), bars };
        let text = picture(&[block], "T").document();
        assert!(text.contains("Adult, LIBSVM&apos;s folds") || text.contains("Adult, LIBSVM's folds"), "{text}");
        assert!(text.contains(">0.25</text>") && text.contains("the first variant = 1"), "{text}");
        assert_eq!(text.matches("class=\"paper\"").count(), 2, "one bar, and the legend's");
        let bare = Block { label: "k = 3".into(), bars: vec![("cold".to_owned(), None, Some(1.0))] };
        assert!(!picture(&[bare], "T").document().contains("printed in the paper"), "nothing is printed there");
        assert!(text.matches("class=\"grid\"").count() >= 3, "{text}");
        let x = |line: &str| line.split("x=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
        let figure = text.lines().find(|line| line.contains(">0.25</text>")).and_then(x);
        let bar = text.lines().rfind(|line| line.contains("class=\"f0\"")).and_then(|line| {
            let width = line.split("width=\"").nth(1)?.split('"').next()?.parse::<f64>().ok()?;
            Some(x(line)? + width)
        });
        assert!(figure.zip(bar).is_some_and(|(figure, bar)| (figure - bar - 5.0).abs() < 0.2), "{figure:?} {bar:?}");
    }
}
