//! The controls of a study's parts: its trainings and its certificates.

use crate::run::error::CvError;
use maxmargin_core::{Progress, RunControl, Status, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::{KernelError, Space};
use std::time::{Duration, Instant};

/// Certificates may be computed for this long after the end of a study, or for this share of the
/// time until then if that is longer.
const GRACE: (Duration, u32) = (Duration::from_millis(400), 12);

/// Rows and columns of the block of exact kernel values that is timed to estimate an audit.
const PROBE: (usize, usize) = (8, 1024);

/// Factor on the time of the kernel values: an audit does a little more than compute them.
const MORE: f64 = 1.25;

/// The control of a study that began at `begun`: a part of `control` with the study's time limit.
pub(crate) fn study_control<'a>(control: &'a RunControl, begun: Instant, stop: &Stop) -> RunControl<'a> {
    control.child(|progress| *progress).limit_time(stop.left(begun, 0).max_time)
}

/// The control of the preparation of a kernel. Work below one check is done also after the end of
/// the study, so that its trainings have a result, with the status of the end.
pub(crate) fn preparation_control<'a>(control: &'a RunControl) -> RunControl<'a> {
    control.grace(Duration::ZERO, u32::MAX, |progress| *progress)
}

/// The control of one training in `space`. It ends when the remaining time is what the training's
/// audit needs. The number of computed kernel rows bounds the number of support vectors, since a
/// solver computes the row of each of them.
pub(crate) fn training_control<'a>(
    control: &'a RunControl,
    space: Space,
    par: Par,
    tag: impl Fn(&Progress) -> Progress + Send + Sync + 'a,
) -> RunControl<'a> {
    let audit_seconds = control.time_left().map_or(0.0, |_| seconds_per_vector(space, par));
    let samples = space.len() as u64;
    control.child(tag).reserve_time(move |progress| {
        let rows = if progress.owed > 0 { progress.owed } else { progress.rows_computed };
        Duration::from_secs_f64(audit_seconds * rows.min(samples) as f64)
    })
}

/// The control of certificates. Solutions that exist are to be reported, so it has a grace period
/// after the end of the study.
pub(crate) fn certificate_control<'a>(
    control: &'a RunControl,
    tag: impl Fn(&Progress) -> Progress + Send + Sync + 'a,
) -> RunControl<'a> {
    control.grace(GRACE.0, GRACE.1, tag)
}

/// The status that the end of this run gives to a training.
pub(crate) fn status_of(control: &RunControl) -> Status {
    control.ended().map_or(Status::TimeLimit, Status::from)
}

/// Converts a kernel's error to one of the study.
pub(crate) fn study_error(control: &RunControl, error: KernelError) -> CvError {
    if let KernelError::Cancelled(_) = error { CvError::Ended(status_of(control)) } else { error.into() }
}

/// Estimated seconds that an audit takes for each support vector.
fn seconds_per_vector(space: Space, par: Par) -> f64 {
    let Some(rows) = space.rows() else { return 0.0 };
    let (ids, columns) = ((0..space.len().min(PROBE.0)).collect::<Vec<_>>(), space.len().min(PROBE.1));
    let mut block = vec![0.0; ids.len() * columns];
    let begun = Instant::now();
    rows.gram().fill_exact(&ids, 0..columns, &mut block);
    MORE * begun.elapsed().as_secs_f64() / block.len().max(1) as f64 * space.len() as f64 / par.threads() as f64
}
