//! FULL: every fold from the model of all data, independently of the other folds.

use super::{Draft, top};
use crate::problem::{Pool, Trained};
use maxmargin_kernel::Rows;
use std::ops::Range;

/// The best of several repairs by the dual objective of the start.
pub(super) fn seed<'a>(from: &Trained, pool: &'a Pool, hidden: Range<usize>, rows: &'a Rows<'a>) -> Option<Draft<'a>> {
    top::seed(from, pool, hidden, rows)
}
