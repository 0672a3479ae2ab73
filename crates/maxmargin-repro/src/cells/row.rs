//! A row of a report: the figures of one cell, measured and printed.

use super::cell::Cell;
use super::machine::HostMachine;
use super::record::Measured;
use super::settings::Settings;
use std::collections::BTreeMap;

/// One line of a report.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) cell: Cell,
    pub(crate) printed: Printed,
    pub(crate) ours: Figures,
    /// The first peer on the same problem and settings.
    pub(crate) peer: Option<Figures>,
    /// The second peer: the first program built another way.
    pub(crate) second: Option<Figures>,
}

/// One program's measurements of one cell.
#[derive(Clone, Default)]
pub(crate) struct Figures {
    /// Median over the repeats.
    pub(crate) seconds: f64,
    pub(crate) measured: Measured,
    /// The reason why it does not count.
    pub(crate) flaw: Option<String>,
    /// The number of measurements.
    pub(crate) repeats: usize,
    /// The settings of the cell.
    pub(crate) settings: Settings,
    /// The machine that it was measured on.
    pub(crate) machine: HostMachine,
    /// The revisions of the measured program, by run.
    pub(crate) revisions: BTreeMap<u64, String>,
}

/// A paper's figures for one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Printed {
    pub(crate) seconds: Option<f64>,
    pub(crate) iterations: Option<f64>,
    pub(crate) accuracy: Option<f64>,
    pub(crate) support_vectors: Option<f64>,
    pub(crate) optimiser: Option<f64>,
}

impl Figures {
    /// Returns the figures of a run whose certificate holds.
    pub(crate) fn counted(&self) -> Option<&Measured> {
        self.flaw.is_none().then_some(&self.measured)
    }

    /// Returns the seconds of such a run.
    pub(crate) fn counted_seconds(&self) -> Option<f64> {
        self.counted().map(|_| self.seconds)
    }
}

impl Row {
    /// Returns the seconds of the first peer, if it was measured on this row's machine.
    pub(crate) fn peer_seconds(&self) -> Option<f64> {
        self.seconds_here(self.peer.as_ref()?)
    }

    /// Returns the seconds of the second peer, if it was measured on this row's machine.
    pub(crate) fn second_seconds(&self) -> Option<f64> {
        self.seconds_here(self.second.as_ref()?)
    }

    /// Seconds of two machines do not compare.
    fn seconds_here(&self, peer: &Figures) -> Option<f64> {
        peer.counted_seconds().filter(|_| peer.machine.is_same_host(&self.ours.machine))
    }

    pub(crate) fn counted(&self) -> Option<&Measured> {
        self.ours.counted()
    }

    /// Returns the figures of a run that met its own stopping rule.
    pub(crate) fn finished(&self) -> Option<&Measured> {
        self.counted().filter(|measured| measured.status() == Some("Converged"))
    }

    /// Returns a figure that only some jobs report.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.counted()?.number(name)
    }

    /// Returns a row of made-up figures.
    #[cfg(test)]
    pub(crate) fn made(cell: Cell, printed: Printed, measured: serde_json::Value) -> Self {
        let measured = serde_json::from_value(measured).expect("figures");
        let settings = cell.settings.clone();
        Self {
            cell,
            printed,
            ours: Figures { seconds: 2.5, measured, repeats: 1, settings, ..Figures::default() },
            peer: None,
            second: None,
        }
    }
}
