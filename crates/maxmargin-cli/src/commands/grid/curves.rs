//! Pictures of the cost of C: support vectors and seconds over C, a line for each γ.

use super::cell::CellDocument;
use super::plot::{shown, ticks, values};
use maxmargin_plot::{AxisStyle, ChartStyle, Panel, Svg, chart};

/// The fewest values of C for a line.
const FEWEST: usize = 3;

/// Most lines of a picture: each has a colour of its own.
const LINES: usize = 8;

/// Draws support vectors and seconds over C for the cells of one kernel; nothing for too few values
/// of C. Pruned cells are omitted.
pub(super) fn costs(cells: &[&CellDocument], best: Option<&CellDocument>) -> Vec<Svg> {
    let mut shown = shown(cells, best);
    shown.retain(|cell| cell.at_least_errors.is_none());
    if values(&shown, |cell| cell.c).len() < FEWEST {
        return Vec::new();
    }
    let vectors = |cell: &CellDocument| cell.found.solved.support_vectors as f64;
    vec![
        picture("support vectors of all folds", false, &shown, best, vectors),
        picture("seconds of a combination", true, &shown, best, |cell| cell.seconds),
    ]
}

fn picture(
    title: &str,
    logarithmic: bool,
    cells: &[&CellDocument],
    best: Option<&CellDocument>,
    value: impl Fn(&CellDocument) -> f64,
) -> Svg {
    let mut panel = Panel { title: String::new(), lines: Vec::new() };
    for (gamma, name) in lines(cells, best) {
        let of_line = cells.iter().filter(|cell| cell.gamma == gamma);
        let mut points: Vec<(f64, f64)> = of_line.filter_map(|cell| Some((cell.c?, value(cell)))).collect();
        points.retain(|point| point.1.is_finite());
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points.into_iter().for_each(|at| panel.put(&name, false, at, ""));
    }
    let axis = |label: &str, logarithmic| AxisStyle { label: label.to_owned(), logarithmic };
    chart(title, &ChartStyle { x: axis("C", true), y: axis("", logarithmic), points: false }, &[panel])
}

/// Returns the values of γ that are drawn, with their names: of many, some at equal distances and
/// that of the best.
fn lines(cells: &[&CellDocument], best: Option<&CellDocument>) -> Vec<(Option<f64>, String)> {
    let widths = values(cells, |cell| cell.gamma);
    if widths.is_empty() {
        return vec![(None, "all".to_owned())];
    }
    let step = widths.len().div_ceil(LINES - 1).max(1);
    let chosen = best.and_then(|best| best.gamma);
    let is_drawn = |at: usize| at.is_multiple_of(step) || chosen == Some(widths[at]);
    let name = |(at, name): (usize, String)| {
        let mark = if chosen == Some(widths[at]) { " (best)" } else { "" };
        (Some(widths[at]), format!("γ {name}{mark}"))
    };
    ticks(&widths).into_iter().enumerate().filter(|(at, _)| is_drawn(*at)).map(name).collect()
}
