//! The rows that callers give to the methods of a model.

use crate::data::Data;
use maxmargin::data::Dataset;
use maxmargin::kernel::Kernel;
use maxmargin::{LinearRecord, model};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use std::sync::Arc;

/// Returns packed rows as they are, and packs arrays, matrices of scipy and lists. `y` are the
/// targets of rows that are not packed.
///
/// Models of other programs have the features of their support vectors alone, so that rows may have
/// more.
pub(crate) fn rows(x: &Bound<'_, PyAny>, y: Option<&Bound<'_, PyAny>>, model: &model::Model) -> PyResult<Arc<Dataset>> {
    if let Ok(data) = x.cast::<Data>() {
        return Ok(Arc::clone(&data.get().data));
    }
    let is_precomputed = *model.kernel() == Kernel::Precomputed;
    // A precomputed kernel has a column of serial numbers before its values.
    let features = model.features().saturating_sub(usize::from(is_precomputed));
    let is_exact = model.record().is_some() || LinearRecord::of(model).is_ok_and(|record| record.is_some());
    let pack = x.py().import("maxmargin._data")?.getattr("packed_for")?;
    let options = [("precomputed", is_precomputed), ("exact", is_exact)].into_py_dict(x.py())?;
    options.set_item("y", y)?;
    let data = pack.call((x, features), Some(&options))?;
    Ok(Arc::clone(&data.cast::<Data>()?.get().data))
}
