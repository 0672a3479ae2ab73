//! The kernel spaces of the machines of a study: one for each machine, or one for all machines if
//! each of them has all samples.

use crate::study::layout::{MachineLayout, MachineSamples};
use crate::study::space_source::SpaceSource;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::{RowWork, Space};
use std::sync::{Mutex, PoisonError};

/// Memory for kernel rows, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct RowMemory {
    /// For a space that all machines share.
    pub(crate) all: u64,
    /// For a machine with a space of its own.
    pub(crate) each: u64,
    /// Threads that compute rows.
    pub(crate) par: Par,
    /// Set if several solutions of each machine are certified one after the other.
    pub(crate) keep_exact: bool,
}

/// Opens the spaces of machines.
pub(crate) struct Spaces<'a> {
    source: &'a SpaceSource<'a>,
    feature: Option<f64>,
    memory: RowMemory,
    /// The space that all machines share, and the part of its work that is already counted.
    shared: Option<(Space<'a>, Mutex<RowWork>)>,
}

/// Work on kernel rows that is not counted yet.
pub(crate) struct RowWorkDelta<'a> {
    space: Space<'a>,
    counted: &'a Mutex<RowWork>,
}

impl RowWorkDelta<'_> {
    /// Takes the work since the last call. The sum over all calls is the whole work of the space.
    pub(crate) fn take(&self) -> RowWork {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.space.work();
        let since = now.since(&counted);
        *counted = now;
        since
    }
}

impl Spaces<'_> {
    /// Calls `run` with the spaces of a layout.
    pub(crate) fn of<T>(
        source: &SpaceSource,
        layout: &MachineLayout,
        feature: Option<f64>,
        memory: RowMemory,
        run: impl FnOnce(&Spaces) -> T,
    ) -> T {
        let all = layout.data_row.len();
        match &layout.machines[..] {
            [first, _, ..] if layout.machines.iter().all(|machine| machine.rows.len() == all) => {
                let shared = |space: Space| run(&Spaces { source, feature, memory, shared: Some((space, Mutex::default())) });
                source.with_space(first, feature, memory.all, memory.par, memory.keep_exact, shared).0
            }
            _ => run(&Spaces { source, feature, memory, shared: None }),
        }
    }

    /// Prepares the space that all machines share for solvers that work on neighbours: before the
    /// machines run side by side, since one search serves all.
    pub(crate) fn find_shared_neighbours(&self, control: &RunControl) -> Result<(), Cancelled> {
        self.shared.as_ref().map_or(Ok(()), |(space, _)| space.find_neighbours(control))
    }

    /// Prepares the space of one machine in the same way, unless all share it.
    pub(crate) fn find_own_neighbours(&self, space: Space, control: &RunControl) -> Result<(), Cancelled> {
        if self.shared.is_some() { Ok(()) } else { space.find_neighbours(control) }
    }

    /// Calls `each` with the space of a machine.
    pub(crate) fn with<T>(&self, machine: &MachineSamples, each: impl FnOnce(Space, &RowWorkDelta) -> T) -> T {
        if let Some((space, counted)) = &self.shared {
            return each(*space, &RowWorkDelta { space: *space, counted });
        }
        let counted = Mutex::default();
        let RowMemory { each: memory, par, keep_exact, .. } = self.memory;
        let each = |space: Space| each(space, &RowWorkDelta { space, counted: &counted });
        self.source.with_space(machine, self.feature, memory, par, keep_exact, each).0
    }
}
