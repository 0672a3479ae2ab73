//! Bars of iterations: each variant relative to the table's first, the paper's beside ours, a block
//! for each problem and setting.

use crate::cells::row::Row;
use crate::cells::settings::plain;
use crate::numbers::groups::grouped;
use crate::workspace::failure::{Context, Outcome};
use maxmargin_plot::{Bar, BarBlock, BarChart, BarLine, Svg};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Blocks in a line.
const ACROSS: usize = 3;

/// Draws the rows into `target`.
pub(crate) fn draw(target: &Path, rows: &[Row], title: &str) -> Outcome<()> {
    fs::write(target, picture(blocks(rows), title).document()).context(target.display())
}

fn picture(blocks: Vec<BarBlock>, title: &str) -> Svg {
    let is_printed = |bar: &Bar| bar.class == PRINTED;
    // Without printed iterations there is one kind of bar, which the title explains.
    let both = blocks.iter().flat_map(|block| &block.lines).flat_map(|line| &line.bars).any(is_printed);
    let legend = [(PRINTED, "printed in the paper"), (OURS, "here")].map(|(class, text)| (class, text.to_owned()));
    let legend = if both { legend.to_vec() } else { Vec::new() };
    BarChart { title: title.to_owned(), legend, across: ACROSS, blocks }.draw()
}

/// Classes of the bars.
const PRINTED: &str = "paper";
const OURS: &str = "f0";

/// Returns the bars of a variant: iterations relative to the block's first variant.
fn line(variant: &str, printed: Option<f64>, ours: Option<f64>) -> BarLine {
    // The figure stands at our bar: at the paper's it would seem to belong to that one.
    let printed = printed.map(|length| Bar { length, class: PRINTED, figure: String::new() });
    let ours = ours.map(|length| Bar { length, class: OURS, figure: format!("{length:.2}") });
    BarLine { name: variant.to_owned(), bars: printed.into_iter().chain(ours).collect() }
}

/// Returns the block of these bars, whose axis has the first variant.
fn block(title: String, lines: Vec<BarLine>) -> BarBlock {
    BarBlock { title, label: "iterations, the first variant = 1".to_owned(), reach: 1.0, lines }
}

/// Returns a block's settings in words.
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

fn blocks(rows: &[Row]) -> Vec<BarBlock> {
    let ours = |row: &Row| row.counted()?.iterations.map(|n| n as f64);
    let relative = |value: Option<f64>, to: Option<f64>| value.zip(to).filter(|(_, to)| *to > 0.0).map(|(v, to)| v / to);
    let of_members = |members: Vec<&Row>| {
        let bars = |row: &&Row| {
            let printed = relative(row.printed.iterations, members[0].printed.iterations);
            line(&row.cell.variant, printed, relative(ours(row), ours(members[0])))
        };
        let setting = setting(members[0]);
        // The number of folds of leave-one-out is no setting of the table.
        let own = members[0].cell.settings.get("k").filter(|_| setting.is_empty()).map(|k: &Value| format!("{} folds", plain(k)));
        let parts = [members[0].cell.problem.clone(), own.unwrap_or(setting)];
        let label = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        block(label, members.iter().map(bars).collect())
    };
    let all = grouped(rows, |row| (row.cell.problem.clone(), row.cell.shown.clone())).into_iter().map(of_members);
    all.filter(|block| block.lines.iter().flat_map(|line| &line.bars).any(|bar| bar.class == OURS)).collect()
}

#[cfg(test)]
mod tests {
    use super::{block, line, picture};

    #[test]
    fn a_block_has_its_name_a_scale_and_figures_at_the_bars() {
        let bars = vec![line("cold", Some(1.0), Some(1.0)), line("sir", None, Some(0.254))];
        let text = picture(vec![block("Adult, LIBSVM's folds".into(), bars)], "T").document();
        assert!(text.contains("Adult, LIBSVM&apos;s folds") || text.contains("Adult, LIBSVM's folds"), "{text}");
        assert!(text.contains(">0.25</text>") && text.contains("the first variant = 1"), "{text}");
        assert_eq!(text.matches("class=\"paper\"").count(), 2, "one bar, and the legend's");
        let bare = block("k = 3".into(), vec![line("cold", None, Some(1.0))]);
        assert!(!picture(vec![bare], "T").document().contains("printed in the paper"), "nothing is printed there");
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
