//! The spaces of the machines of a study: one for each, or one for all of them where all have all
//! samples.

use crate::study::SpaceSource;
use crate::study::layout::{MachineLayout, MachineSamples};
use maxmargin_data::Par;
use maxmargin_kernel::{RowWork, Space};
use std::sync::{Mutex, PoisonError};

/// Where machines find their spaces.
pub(crate) struct Spaces<'a> {
    source: &'a SpaceSource<'a>,
    feature: Option<f64>,
    /// Bytes of kernel rows and threads of a machine that has a space of its own.
    room: (u64, Par),
    /// That of all machines, and what they know of its work.
    shared: Option<(Space<'a>, Mutex<RowWork>)>,
}

/// Work of a space that nobody has counted yet.
pub(crate) struct RowWorkDelta<'a> {
    space: Space<'a>,
    counted: &'a Mutex<RowWork>,
}

impl RowWorkDelta<'_> {
    /// What was done since somebody last asked: summed over all who ask it is all work.
    pub(crate) fn take(&self) -> RowWork {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.space.work();
        let since = now.since(&counted);
        *counted = now;
        since
    }
}

impl Spaces<'_> {
    /// Calls `run` with the spaces of an layout; `memory` is for one that all machines share,
    /// `room` for one that has its own.
    pub(crate) fn of<T>(
        source: &SpaceSource,
        layout: &MachineLayout,
        feature: Option<f64>,
        (memory, room): (u64, (u64, Par)),
        run: impl FnOnce(&Spaces) -> T,
    ) -> T {
        let all = layout.original.len();
        match &layout.parts[..] {
            [first, _, ..] if layout.parts.iter().all(|part| part.rows.len() == all) => {
                let shared = |space: Space| run(&Spaces { source, feature, room, shared: Some((space, Mutex::default())) });
                source.with_space(first, feature, (memory, room.1), shared).0
            }
            _ => run(&Spaces { source, feature, room, shared: None }),
        }
    }

    /// Calls `each` with the space of a part.
    pub(crate) fn with<T>(&self, part: &MachineSamples, each: impl FnOnce(Space, &RowWorkDelta) -> T) -> T {
        if let Some((space, counted)) = &self.shared {
            return each(*space, &RowWorkDelta { space: *space, counted });
        }
        let counted = Mutex::default();
        self.source.with_space(part, self.feature, self.room, |space| each(space, &RowWorkDelta { space, counted: &counted })).0
    }
}
