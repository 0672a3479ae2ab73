//! DEC: every fold by the exact decremental path from the model of all data.

use super::Draft;
use crate::pool::Pool;
use crate::problem::{Fold, Trained};
use maxmargin_core::Status;
use maxmargin_kernel::Rows;
use maxmargin_path::{Added, Config, Path, Update};

/// Breakpoints between two looks at whether to go on.
const STRETCH: usize = 256;

/// The model of all data as an exact solution, which every fold starts its path from: the factor is copied, the kernel columns
/// are shared.
pub(crate) fn exact<'a>(alpha: &[f64], pool: &Pool, rows: &Rows<'a>) -> Option<Path<'a>> {
    let dual = pool.dual();
    let exact = Path::from_solution(rows.gram(), dual.sign(), dual.ids(), dual.upper(), alpha, Config::default());
    exact.ok().filter(|(_, update)| update.status == Status::Converged).map(|(path, _)| path)
}

/// The end of the path on which the hidden samples give up their α. What remains for SMO is to see that nothing remains.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> Option<Draft<'a>> {
    let mut path = from.path.clone()?;
    let remove: Vec<usize> = fold.hidden.clone().collect();
    let update = walk(&mut path, &[], &remove, usize::MAX, fold)?;
    let mut draft = Draft::new(from, fold);
    draft.steps += update.columns;
    draft.breakpoints = update.breakpoints as u64;
    draft.adopt_exact(&path.solution());
    (update.status == Status::Converged).then_some(draft)
}

/// Follows the path of a change for at most `most` breakpoints, or until the caller has had enough (`None`).
pub(super) fn walk(path: &mut Path, add: &[Added], remove: &[usize], most: usize, fold: Fold) -> Option<Update> {
    path.configure(Config::default().with_limit(Some(STRETCH.min(most))));
    let mut update = path.change(add, remove).ok()?;
    while update.status == Status::IterationLimit && update.breakpoints < most {
        if !(fold.go_on)() {
            return None;
        }
        update = update.followed_by(path.resume(Some(STRETCH.min(most - update.breakpoints))));
    }
    Some(update)
}
