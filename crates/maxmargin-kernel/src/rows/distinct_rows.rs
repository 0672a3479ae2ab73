//! Rows of the distinct samples of a matrix.

use super::Rows;
use crate::{Distinct, Gram};
use maxmargin_data::{Cancelled, RunControl};
use std::sync::Arc;

/// Kernel rows of the distinct samples, one per kind, for all problems over the same row store.
pub struct DistinctRows {
    distinct: Arc<Distinct>,
    rows: Rows<'static>,
    /// Bytes taken from the budget of the rows of all samples.
    bytes: u64,
}

impl DistinctRows {
    /// The rows of the distinct samples of `gram`, where at least a tenth of all samples are copies
    /// and the budget has room.
    pub(crate) fn new(rows: &Rows, gram: &dyn Gram, control: &RunControl) -> Result<Option<Box<Self>>, Cancelled> {
        let Some(distinct) = gram.distinct(control)? else { return Ok(None) };
        if !distinct.saves_rows() {
            return Ok(None);
        }
        let distinct_rows = gram.part(&distinct.first).and_then(|part| rows.for_part(part));
        Ok(distinct_rows.map(|(rows, bytes)| Box::new(Self { distinct, rows, bytes })))
    }

    /// The kinds of equal samples.
    pub fn distinct(&self) -> &Distinct {
        &self.distinct
    }

    /// Bytes taken from the budget of the rows of all samples.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// One row for each kind.
    pub fn rows(&self) -> &Rows<'static> {
        &self.rows
    }
}
