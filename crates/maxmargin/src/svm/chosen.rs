//! Which cell of a search to take: the best, the simplest that is as good within its error, the one
//! whose neighbours are best too.

use super::ranges::Cell;
use maxmargin_kernel::Kernel;
use maxmargin_metrics::{Best, Metric};

/// Whether one score is better than another.
pub(crate) fn better(metric: &Metric, this: f64, other: f64) -> bool {
    match metric.best() {
        Best::Highest => this > other,
        Best::Lowest => this < other,
    }
}

/// The place of the best cell that may be chosen; of equals the first.
pub fn best<T>(cells: &[Cell<T>], metric: &Metric) -> Option<usize> {
    let known = cells.iter().enumerate().filter(|(_, cell)| cell.scored.is_candidate());
    let known = known.filter_map(|(at, cell)| Some((at, cell.scored.score?)));
    known.reduce(|best, next| if better(metric, next.1, best.1) { next } else { best }).map(|best| best.0)
}

/// The place of the simplest cell whose score is within one standard error of the best: of its
/// kernel that with the least C, then the least γ (ν-SVC, one class: the least γ). The best itself,
/// where its folds tell of no error.
pub fn one_standard_error<T>(cells: &[Cell<T>], metric: &Metric) -> Option<usize> {
    let at = best(cells, metric)?;
    let top = &cells[at];
    let (Some(score), Some(error)) = (top.scored.score, top.scored.standard_error) else { return Some(at) };
    let bound = if metric.best() == Best::Highest { score - error } else { score + error };
    let near = |cell: &Cell<T>| {
        let within = cell.scored.score.is_some_and(|score| !better(metric, bound, score));
        cell.scored.is_candidate() && within && alike(cell, top)
    };
    let simple = |at: &usize| [cells[*at].svm.formulation().c().unwrap_or(0.0), width(&cells[*at])];
    let order = |a: &usize, b: &usize| {
        let ([c, gamma], [other, wide]) = (simple(a), simple(b));
        c.total_cmp(&other).then(gamma.total_cmp(&wide))
    };
    (0..cells.len()).filter(|&at| near(&cells[at])).min_by(order)
}

/// The place of that cell among those as good as the best whose neighbours (the next C and the next
/// γ on either side) have the best score in the mean; of equals the first.
pub fn flattest<T>(cells: &[Cell<T>], metric: &Metric) -> Option<usize> {
    let at = best(cells, metric)?;
    let top = cells[at].scored.score;
    let equal = (0..cells.len()).filter(|&at| cells[at].scored.is_candidate() && cells[at].scored.score == top);
    let around = equal.map(|at| (at, mean_around(cells, at)));
    around.reduce(|best, next| if better(metric, next.1, best.1) { next } else { best }).map(|best| best.0)
}

/// The mean score of the neighbours of a cell, and its own where it has none.
fn mean_around<T>(cells: &[Cell<T>], at: usize) -> f64 {
    let own = &cells[at];
    let place = |cell: &Cell<T>| [cell.svm.formulation().c().unwrap_or(0.0), width(cell)];
    let here = place(own);
    let mut scores = Vec::new();
    for axis in 0..2 {
        // On a line through the cell: the other parameter is its own.
        let on_line = |cell: &&Cell<T>| alike(cell, own) && place(cell)[1 - axis] == here[1 - axis];
        let line = || cells.iter().filter(on_line).filter(|cell| cell.scored.score.is_some());
        let order = |a: &&Cell<T>, b: &&Cell<T>| place(a)[axis].total_cmp(&place(b)[axis]);
        let below = line().filter(|cell| place(cell)[axis] < here[axis]).max_by(order);
        let above = line().filter(|cell| place(cell)[axis] > here[axis]).min_by(order);
        scores.extend(below.into_iter().chain(above).filter_map(|cell| cell.scored.score));
    }
    if scores.is_empty() {
        return own.scored.score.unwrap_or(f64::NAN);
    }
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// Whether two cells differ in C and γ alone.
fn alike<T>(one: &Cell<T>, other: &Cell<T>) -> bool {
    let plain = |cell: &Cell<T>| (cell.svm.kernel_given().with_gamma(1.0), cell.svm.formulation().with_c(1.0));
    plain(one) == plain(other)
}

/// γ of a cell; 0 where its kernel has none.
pub(crate) fn width<T>(cell: &Cell<T>) -> f64 {
    let kernel: Kernel = cell.svm.kernel_given();
    kernel.gamma().unwrap_or(0.0)
}
