//! What a report shows of a table: columns, plots, statistics.

use super::super::columns::Entry;
use super::Settings;
use serde::Deserialize;

/// The one table that the README repeats.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Readme {
    pub(crate) variants: Vec<String>,
    pub(crate) columns: Vec<Entry>,
}

/// A plot with one line per variant, in panels.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// A setting, or settings joined by `+`.
    pub(crate) x: String,
    /// A column; its heading is what the plot shows, in words.
    pub(crate) y: Entry,
    /// What tells the panels apart: settings, `problem`, or `scenario` (adding, removing, both).
    #[serde(default)]
    pub(crate) panel: Vec<String>,
    #[serde(default)]
    pub(crate) log_x: bool,
    #[serde(default)]
    pub(crate) log_y: bool,
    /// Lines of cells with these settings are dashed.
    #[serde(default)]
    pub(crate) dashed: Settings,
    /// The variant beside whose line stands what theory makes of it for all samples of an update at once.
    pub(crate) theory: Option<String>,
    /// Points without lines between them.
    #[serde(default)]
    pub(crate) points: bool,
}

/// Which table's trainings are tested for differences.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statistics {
    pub(crate) table: u32,
    /// The slow one first.
    pub(crate) variants: [String; 3],
    /// File in xtask/papers with the printed statistics.
    pub(crate) paper: String,
}
