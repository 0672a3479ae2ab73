//! The picture of the scores: C to the right, γ upwards, each cell a coloured square.

use super::cell::CellDocument;
use super::choice::Choice;
use crate::console::format;
use maxmargin_plot::{CellMark, HeatCell, HeatMap, Svg};

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
        let short = |power: &f64| if [0.0, 1.0].contains(power) { power.exp2().to_string() } else { format!("2^{power}") };
        powers.iter().map(short).collect()
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

/// Draws the cells of one kernel. Those that did not converge are framed by dots, the best by a
/// line, and those that were given up are hatched.
pub(super) fn scores(cells: &[&CellDocument], best: Option<&CellDocument>, choice: &Choice) -> Svg {
    let shown = shown(cells, best);
    let (costs, widths) = (values(&shown, |cell| cell.c), values(&shown, |cell| cell.gamma));
    let scores = values(&shown, |cell| cell.score);
    let (low, high) = (scores.first().copied().unwrap_or(0.0), scores.last().copied().unwrap_or(0.0));
    let share = |score: f64| {
        let up = if high > low { (score - low) / (high - low) } else { 1.0 };
        if choice.rises() { up } else { 1.0 - up }
    };
    let place =
        |values: &[f64], value: Option<f64>| value.and_then(|value| values.iter().position(|known| *known == value)).unwrap_or(0);
    let cell = |cell: &&CellDocument| HeatCell {
        at: (place(&costs, cell.c), place(&widths, cell.gamma)),
        share: cell.score.map(share),
        text: short_score(cell, choice),
        tip: format!("{}: {}", cell.text(), cell.score_text(choice)),
        mark: match (best.is_some_and(|best| std::ptr::eq(best, *cell)), cell.at_least_errors, cell.converged()) {
            (true, ..) => CellMark::Best,
            (_, Some(_), _) => CellMark::Pruned,
            (_, None, false) => CellMark::Unfinished,
            (_, None, true) => CellMark::Plain,
        },
    };
    let kernel = shown.first().map_or("", |first| first.kernel);
    let ends = if choice.rises() { [low, high] } else { [high, low] };
    let map = HeatMap {
        title: format!("{}, out of fold; {kernel} kernel", choice.column()),
        subtitle: best.map_or_else(String::new, |best| format!("best: {}: {}", best.text(), short_score(best, choice))),
        columns: ("C".to_owned(), ticks(&costs)),
        rows: ("gamma".to_owned(), ticks(&widths)),
        ends: ends.map(|end| choice.short(Some(end))),
        cells: shown.iter().map(cell).collect(),
    };
    map.draw()
}

/// Returns the score as a square has room for it.
pub(super) fn short_score(cell: &CellDocument, choice: &Choice) -> String {
    let loose = if cell.exact { "" } else { "~" };
    if cell.at_least_errors.is_some() { "pruned".to_owned() } else { format!("{loose}{}", choice.short(cell.score)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_one_kind_of_words() {
        assert_eq!(ticks(&[0.03125, 2_f64.powf(-2.5), 2.0]), ["2^-5", "2^-2.5", "2"]);
        assert_eq!(ticks(&[0.5, 1.0, 2.0]), ["0.5", "1", "2"]);
        assert_eq!(ticks(&[0.03125, 0.1]), ["0.03125", "0.1"]);
    }
}
