//! DEC: every fold by the exact decremental path from the model of all data.

use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained};
use crate::seed::row_boxes::RowBoxes;
use maxmargin_core::Status;
use maxmargin_kernel::Rows;
use maxmargin_path::{Added, Config, Path, PathError, Update};

/// The model of all data as an exact solution, which every fold starts its path from: the factor is
/// copied, the kernel columns are shared. Nothing where there is no exact solution.
pub(crate) fn exact<'a>(
    alpha: &[f64],
    boxes: &RowBoxes,
    rows: &'a Rows<'a>,
    memory: u64,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Path<'a>>, PathError> {
    let dual = boxes.dual();
    let mut path = Path::new(rows.gram(), dual.sign(), Config::default().with_memory(memory))?;
    let mut asked = path.asking(go_on);
    let update = asked.adopt(dual.ids(), dual.upper(), alpha)?;
    path = asked.unasked(rows.gram());
    Ok((update.status == Status::Converged).then_some(path))
}

/// The end of the path on which the hidden samples give up their α. What remains for SMO is to see
/// that nothing remains.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let Some(path) = from.path.clone() else { return Ok(None) };
    let mut path = path.asking(fold.go_on);
    let update = walk(&mut path, &[], fold.hidden, None, fold)?;
    let mut draft = StartDraft::new(from, fold);
    draft.steps += update.columns;
    draft.breakpoints = update.breakpoints as u64;
    draft.adopt_exact(&path.solution());
    Ok((update.status == Status::Converged).then_some(draft))
}

/// Follows the path of a change, for at most `most` breakpoints if there is such a limit.
pub(super) fn walk(
    path: &mut Path,
    add: &[Added],
    remove: &[usize],
    most: Option<usize>,
    fold: Fold,
) -> Result<Update, PathError> {
    path.configure(Config::default().with_limit(most));
    let update = path.change(add, remove)?;
    let _held = fold.rows.all().reserve(update.bytes);
    Ok(update)
}
