//! DEC: the exact decremental path from the model of all data to every fold (the technique of
//! Karasuyama and Takeuchi 2009, with an empty set A).
//!
//! R are the samples that leave, M the free samples.
//!
//! ```text
//! 1. solve all data; make α exact, with a factor of the margin M
//! for each fold, from a copy of 1:
//! 2. repeat until R is empty:
//! 3.     Δα_R = −η α_R,  [Δb; Δα_M] = η φ, which keeps y_i f_i = 1 on M and yᵀα = 0
//! 4.     η: the smallest step at which some α_M meets 0 or C, or some sample reaches the margin
//! 5.     update α, b, the sets and the factor
//! ```

use super::problem::{FoldProblem, Trained};
use super::row_boxes::RowBoxes;
use super::start_draft::{SeedResult, StartDraft};
use maxmargin_core::{RunControl, Status};
use maxmargin_kernel::Rows;
use maxmargin_path::{Added, Path, PathConfig, PathError, Update};

/// Makes the model of all data an exact solution, from which the path of every fold starts (step
/// 1). Folds copy the factor and share the kernel columns. Returns `None` if no exact solution is
/// found.
pub(crate) fn exact<'a>(
    alpha: &[f64],
    boxes: &RowBoxes,
    rows: &'a Rows<'a>,
    memory: u64,
    control: &RunControl,
) -> Result<Option<Path<'a>>, PathError> {
    let dual = boxes.dual();
    let mut path = Path::new(rows.gram(), dual.sign(), PathConfig::default().with_memory(memory))?;
    let mut cancellable = path.control(control);
    let update = cancellable.adopt(dual.ids(), dual.upper(), alpha)?;
    path = cancellable.uncontrolled(rows.gram());
    Ok((update.status == Status::Converged).then_some(path))
}

/// Seeds a fold with the end of its path (steps 2 to 5). SMO then only confirms that the start is
/// optimal.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let Some(path) = from.path.clone() else { return Ok(None) };
    let mut path = path.control(fold.control);
    let update = walk(&mut path, &[], fold.hidden, None, fold)?;
    let mut draft = StartDraft::new(from, fold);
    draft.steps += update.columns;
    draft.breakpoints = update.breakpoints as u64;
    draft.adopt_exact(&path.solution());
    Ok((update.status == Status::Converged).then_some(draft))
}

/// Follows the path of a change, for at most `max_breakpoints` if given.
pub(super) fn walk(
    path: &mut Path,
    add: &[Added],
    remove: &[usize],
    max_breakpoints: Option<usize>,
    fold: FoldProblem,
) -> Result<Update, PathError> {
    path.configure(PathConfig::default().with_limit(max_breakpoints));
    let update = path.change(add, remove)?;
    // Kernel rows give back as much memory as the path took.
    let _reserved = fold.rows.all().reserve(update.bytes);
    Ok(update)
}
