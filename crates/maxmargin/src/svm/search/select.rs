//! The selection of a cell of a search: the best, the simplest within one standard error, or the
//! one with the best neighbours.

use super::cell::Cell;
use maxmargin_kernel::Kernel;
use maxmargin_metrics::{Best, Metric};

/// Returns the index of the best candidate
/// ([`CellScore::is_candidate`](super::cell::CellScore::is_candidate)), the first of equals.
pub fn best<T>(cells: &[Cell<T>], metric: &Metric) -> Option<usize> {
    let known = cells.iter().enumerate().filter(|(_, cell)| cell.score.is_candidate());
    let known = known.filter_map(|(at, cell)| Some((at, cell.score.value?)));
    known.reduce(|best, next| if metric.is_better(next.1, best.1) { next } else { best }).map(|best| best.0)
}

/// Returns the index of the simplest candidate within one standard error of the best: the least C,
/// then the least γ, with the kernel of the best. ν-SVC and one class have no C. Returns the best
/// itself if it has no standard error.
pub fn one_standard_error<T>(cells: &[Cell<T>], metric: &Metric) -> Option<usize> {
    let at = best(cells, metric)?;
    let top = &cells[at];
    let (Some(score), Some(error)) = (top.score.value, top.score.standard_error) else { return Some(at) };
    let bound = if metric.best() == Best::Highest { score - error } else { score + error };
    let near = |cell: &Cell<T>| {
        let within = cell.score.value.is_some_and(|score| !metric.is_better(bound, score));
        cell.score.is_candidate() && within && alike(cell, top)
    };
    let simple = |at: &usize| [cells[*at].svm.formulation().c().unwrap_or(0.0), width(&cells[*at])];
    let order = |a: &usize, b: &usize| {
        let ([c, gamma], [other, wide]) = (simple(a), simple(b));
        c.total_cmp(&other).then(gamma.total_cmp(&wide))
    };
    (0..cells.len()).filter(|&at| near(&cells[at])).min_by(order)
}

/// Returns the index of the cell with the best mean score of its neighbours, among the cells with
/// the best score. Neighbours are the next C and the next γ on either side. Of equals it is the one
/// nearest to their middle in the logarithms of C and γ: the first would be at an edge of the
/// ranges.
pub fn flattest<T>(cells: &[Cell<T>], metric: &Metric) -> Option<usize> {
    let at = best(cells, metric)?;
    let top = cells[at].score.value?;
    let equals = |cell: &Cell<T>| cell.score.value.is_some_and(|score| !metric.is_better(top, score));
    let equal = (0..cells.len()).filter(|&at| cells[at].score.is_candidate() && equals(&cells[at]));
    let around: Vec<(usize, f64)> = equal.map(|at| (at, mean_around(cells, at))).collect();
    let means = around.iter().map(|one| one.1);
    let highest = means.reduce(|best, next| if metric.is_better(next, best) { next } else { best })?;
    let flat: Vec<usize> = around.iter().filter(|one| !metric.is_better(highest, one.1)).map(|one| one.0).collect();
    let sum = |axis: usize| flat.iter().map(|&at| logarithms(&cells[at])[axis]).sum::<f64>();
    let middle = [0, 1].map(|axis| sum(axis) / flat.len() as f64);
    let distance = |&at: &usize| {
        let [c, gamma] = logarithms(&cells[at]);
        (c - middle[0]).powi(2) + (gamma - middle[1]).powi(2)
    };
    flat.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Returns the logarithms of C and γ, 0 for what a cell does not have.
fn logarithms<T>(cell: &Cell<T>) -> [f64; 2] {
    let of = |value: f64| if value > 0.0 { value.log2() } else { 0.0 };
    [of(cell.svm.formulation().c().unwrap_or(0.0)), of(width(cell))]
}

/// Returns the mean score of the neighbours of a cell, or its own score if it has no neighbours.
fn mean_around<T>(cells: &[Cell<T>], at: usize) -> f64 {
    let own = &cells[at];
    let place = |cell: &Cell<T>| [cell.svm.formulation().c().unwrap_or(0.0), width(cell)];
    let here = place(own);
    let mut scores = Vec::new();
    for axis in 0..2 {
        // Neighbours on this axis have the same value of the other parameter.
        let on_line = |cell: &&Cell<T>| alike(cell, own) && place(cell)[1 - axis] == here[1 - axis];
        let line = || cells.iter().filter(on_line).filter(|cell| cell.score.value.is_some());
        let order = |a: &&Cell<T>, b: &&Cell<T>| place(a)[axis].total_cmp(&place(b)[axis]);
        let below = line().filter(|cell| place(cell)[axis] < here[axis]).max_by(order);
        let above = line().filter(|cell| place(cell)[axis] > here[axis]).min_by(order);
        scores.extend(below.into_iter().chain(above).filter_map(|cell| cell.score.value));
    }
    if scores.is_empty() {
        return own.score.value.unwrap_or(f64::NAN);
    }
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// Returns true if two cells differ in C and γ alone.
fn alike<T>(one: &Cell<T>, other: &Cell<T>) -> bool {
    let plain = |cell: &Cell<T>| (cell.svm.kernel_given().with_gamma(1.0), cell.svm.formulation().with_c(1.0));
    plain(one) == plain(other)
}

/// Returns the γ of a cell, 0 for a kernel without γ.
pub(crate) fn width<T>(cell: &Cell<T>) -> f64 {
    let kernel: Kernel = cell.svm.kernel_given();
    kernel.gamma().unwrap_or(0.0)
}
