//! What a report shows of a table: some columns at once, plots, statistics.

use crate::cells::cell::Cell;
use crate::cells::settings::Settings;
use crate::columns::entry::Entry;
use serde::Deserialize;

/// What a report shows of a table before the reader unfolds the rest: the paper's figure, ours,
/// their ratio.
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

/// Columns that a page has room for.
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
    /// The variant beside whose line stands what theory makes of it for all samples of an update at
    /// once.
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
    /// File in crates/maxmargin-repro/papers with the printed statistics.
    pub(crate) paper: String,
}
