//! The presentation of a table in a report: visible columns, plots, statistics.

use crate::cells::cell::Cell;
use crate::cells::settings::Settings;
use crate::columns::entry::Entry;
use serde::Deserialize;

/// The part of a table that is visible before the reader unfolds the rest: the paper's figure,
/// ours, their ratio.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Brief {
    /// Not more than [`BRIEF`].
    pub(crate) columns: Vec<Entry>,
    /// Only these variants; all when absent.
    pub(crate) variants: Option<Vec<String>>,
    /// Only these settings, as the column `setting` has them.
    pub(crate) settings: Option<Vec<String>>,
}

/// The most columns that fit on a page.
pub(crate) const BRIEF: usize = 8;

impl Brief {
    pub(crate) fn shows(&self, cell: &Cell) -> bool {
        let among = |names: &Option<Vec<String>>, name: &String| names.as_ref().is_none_or(|names| names.contains(name));
        among(&self.variants, &cell.variant) && among(&self.settings, &cell.shown)
    }
}

/// A plot with one line per variant, in panels.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// A setting, or settings joined by `+`.
    pub(crate) x: String,
    /// A column, whose heading is the label of the axis.
    pub(crate) y: Entry,
    /// The keys of panels: settings, `problem`, or `scenario` (adding, removing, both).
    #[serde(default)]
    pub(crate) panel: Vec<String>,
    #[serde(default)]
    pub(crate) log_x: bool,
    #[serde(default)]
    pub(crate) log_y: bool,
    /// Lines of cells with these settings are dashed.
    #[serde(default)]
    pub(crate) dashed: Settings,
    /// The variant beside whose line the plot draws the theory's prediction for all samples of an
    /// update at once.
    pub(crate) theory: Option<String>,
    /// Points without lines between them.
    #[serde(default)]
    pub(crate) points: bool,
}

/// The table whose trainings are tested for differences.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statistics {
    pub(crate) table: u32,
    /// The slow one first.
    pub(crate) variants: [String; 3],
    /// File in crates/maxmargin-repro/papers with the printed statistics.
    pub(crate) paper: String,
}
