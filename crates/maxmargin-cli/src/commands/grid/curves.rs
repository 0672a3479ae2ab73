//! Pictures of the cost of C: support vectors and seconds over C, one line for each γ.

use super::cell::CellDocument;
use super::plot::{colour, shown, ticks, values};
use crate::console::format;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Sizes in pixels: the plot and its margins.
const PLOT: (f64, f64) = (330.0, 210.0);
const LEFT: f64 = 70.0;
const TOP: f64 = 34.0;
const BELOW: f64 = 52.0;
/// The right margin, for the names of the lines.
const RIGHT: f64 = 66.0;

/// The fewest values of C for a line.
const FEWEST: usize = 3;

/// Most labels of an axis.
const MOST_WORDS: usize = 6;

/// The least vertical distance of two labels.
const APART: f64 = 13.0;

/// One of the two pictures.
struct Panel {
    title: &'static str,
    value: fn(&CellDocument) -> f64,
    say: fn(f64) -> String,
    /// True for a logarithmic axis.
    logarithmic: bool,
}

const PANELS: [Panel; 2] = [
    Panel {
        title: "support vectors of all folds",
        value: |cell| cell.found.solved.support_vectors as f64,
        say: |value| format::count(value as u64),
        logarithmic: false,
    },
    Panel { title: "seconds of a combination", value: |cell| cell.seconds, say: format::short, logarithmic: true },
];

/// Writes both pictures side by side for the cells of one kernel, or nothing for too few values of
/// C. Pruned cells are omitted.
pub(super) fn write(out: &mut dyn Write, cells: &[&CellDocument], best: Option<&CellDocument>) -> io::Result<()> {
    let mut shown = shown(cells, best);
    shown.retain(|cell| cell.at_least_errors.is_none());
    let costs = values(&shown, |cell| cell.c);
    if costs.len() < FEWEST {
        return Ok(());
    }
    let (wide, high) = (LEFT + PLOT.0 + RIGHT, TOP + PLOT.1 + BELOW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {high}\" width=\"{0}\" height=\"{high}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<style>.t{{fill:#222}}.p{{fill:#fff}}.a{{stroke:#888}}\
         @media(prefers-color-scheme:dark){{.p{{fill:#181818}}.t{{fill:#ddd}}}}</style>\n<rect class=\"p\" width=\"{0}\" height=\"{high}\"/>\n",
        2.0 * wide
    );
    for (panel, left) in PANELS.iter().zip([0.0, wide]) {
        let _ = writeln!(svg, "<g transform=\"translate({left} 0)\">");
        panel.draw(&mut svg, &shown, &costs, best);
        svg.push_str("</g>\n");
    }
    writeln!(out, "{svg}</svg>")
}

impl Panel {
    fn draw(&self, svg: &mut String, cells: &[&CellDocument], costs: &[f64], best: Option<&CellDocument>) {
        let found =
            cells.iter().map(|cell| (self.value)(cell)).filter(|value| value.is_finite() && (*value > 0.0 || !self.logarithmic));
        let (least, most) =
            found.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
        let marks = if self.logarithmic { magnitudes(least, most) } else { steps(most) };
        let of = |value: f64| if self.logarithmic { value.max(marks[0]).log10() } else { value };
        let ends = (of(marks[0]), of(marks[marks.len() - 1]));
        let up = |value: f64| TOP + PLOT.1 * (1.0 - (of(value) - ends.0) / (ends.1 - ends.0));
        let (first, last) = (costs[0].log2(), costs[costs.len() - 1].log2());
        let right = |c: f64| LEFT + PLOT.0 * (c.log2() - first) / (last - first);
        let (foot, end) = (TOP + PLOT.1, LEFT + PLOT.0);
        let _ = writeln!(svg, "<text class=\"t\" x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>", self.title);
        let _ = writeln!(svg, "<path class=\"a\" fill=\"none\" d=\"M{LEFT} {TOP}V{foot}H{end}\"/>");
        for mark in &marks {
            let (y, text) = (up(*mark), (self.say)(*mark));
            let _ = writeln!(svg, "<path class=\"a\" d=\"M{} {y:.1}h5\"/>", LEFT - 5.0);
            let _ =
                writeln!(svg, "<text class=\"t\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>", LEFT - 9.0, y + 4.0);
        }
        draw_costs(svg, costs, right);
        let widths: Vec<Option<f64>> = match values(cells, |cell| cell.gamma) {
            widths if widths.is_empty() => vec![None],
            widths => widths.into_iter().map(Some).collect(),
        };
        let names = ticks(&widths.iter().copied().flatten().collect::<Vec<f64>>());
        let chosen = best.map(|best| best.gamma);
        let mut called = Vec::new();
        // That of the best lies above the others.
        let mut order: Vec<usize> = (0..widths.len()).collect();
        order.sort_by_key(|at| chosen == Some(widths[*at]));
        for at in order {
            let mut line: Vec<(f64, f64)> = cells
                .iter()
                .filter(|cell| cell.gamma == widths[at])
                .filter_map(|cell| Some((cell.c?, (self.value)(cell))))
                .filter(|(_, value)| value.is_finite())
                .collect();
            line.sort_by(|one, other| one.0.total_cmp(&other.0));
            let Some(tip) = line.last() else { continue };
            let points: Vec<String> = line.iter().map(|(c, value)| format!("{:.1},{:.1}", right(*c), up(*value))).collect();
            let is_chosen = chosen == Some(widths[at]);
            // The lightest colours are hard to see on white.
            let share = 0.8 * at as f64 / (widths.len() - 1).max(1) as f64;
            let (stroke, width) = if is_chosen { ("#e4002b".to_owned(), 3.0) } else { (colour(share).0, 1.5) };
            let _ = writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" points=\"{}\"/>",
                points.join(" ")
            );
            if is_chosen || at == 0 || at + 1 == widths.len() {
                called.extend(names.get(at).map(|name| (up(tip.1), format!("γ {name}"))));
            }
        }
        if let Some((best, c)) = best.and_then(|best| Some((best, best.c?))) {
            let (x, y) = (right(c), up((self.value)(best)));
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"#e4002b\"/>");
        }
        draw_names(svg, called, end + 7.0);
    }
}

/// Draws the labels and the name of the axis of C, whose values are at `right`.
fn draw_costs(svg: &mut String, costs: &[f64], right: impl Fn(f64) -> f64) {
    let foot = TOP + PLOT.1;
    let every = costs.len().div_ceil(MOST_WORDS);
    for (c, word) in costs.iter().zip(ticks(costs)).step_by(every) {
        let x = right(*c);
        let _ = writeln!(svg, "<path class=\"a\" d=\"M{x:.1} {foot}v5\"/>");
        let _ = writeln!(svg, "<text class=\"t\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{word}</text>", foot + 19.0);
    }
    let _ =
        writeln!(svg, "<text class=\"t\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">C</text>", LEFT + PLOT.0 / 2.0, foot + 42.0);
}

/// Draws the names of lines at their heights, apart from each other.
fn draw_names(svg: &mut String, mut called: Vec<(f64, String)>, x: f64) {
    called.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut free = f64::NEG_INFINITY;
    for (y, name) in called {
        free = y.max(free + APART);
        let _ = writeln!(svg, "<text class=\"t\" x=\"{x}\" y=\"{:.1}\">{name}</text>", free + 4.0);
    }
}

/// 0 and on by 1, 2 or 5 times a power of ten, in three to six steps, up to what is not less than
/// `most`.
fn steps(most: f64) -> Vec<f64> {
    let most = if most > 0.0 { most } else { 1.0 };
    let power = 10_f64.powf((most / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| most / step <= 5.0).unwrap_or(most);
    (0..=(most / step).ceil() as usize).map(|k| k as f64 * step).collect()
}

/// Powers of ten from one that is not greater than `least` to one that is not less than `most`;
/// with 2 and 5 times these where they are few.
fn magnitudes(least: f64, most: f64) -> Vec<f64> {
    let (least, most) = if least.is_finite() && least > 0.0 { (least, most) } else { (0.1, 1.0) };
    let (low, high) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    let powers = low..=high.max(low + 1);
    if powers.clone().count() > 3 {
        return powers.map(|power| 10_f64.powi(power)).collect();
    }
    let parts = powers.clone().flat_map(|power| [1.0, 2.0, 5.0].map(|times| times * 10_f64.powi(power)));
    parts.filter(|mark| *mark <= 10_f64.powi(*powers.end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_marks_that_hold_all_values() {
        assert_eq!(steps(9822.0), [0.0, 2000.0, 4000.0, 6000.0, 8000.0, 10000.0]);
        assert_eq!(steps(3.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(magnitudes(0.02, 60.0), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(magnitudes(2.0, 7.0), [1.0, 2.0, 5.0, 10.0]);
        for most in [1e-3, 0.7, 1.0, 5.0, 6.1, 99.0, 1e6, 0.0] {
            let marks = steps(most);
            assert!(marks.len() >= 3 && marks.len() <= 7 && marks[marks.len() - 1] >= most, "{most}: {marks:?}");
            let marks = magnitudes(most, 3.0 * most);
            assert!(marks.len() >= 3 && marks[0] <= most.max(0.1) && marks[marks.len() - 1] >= 3.0 * most, "{most}: {marks:?}");
        }
    }
}
