//! What a report shows of a table: columns, plots, statistics.

use super::Settings;
use serde::Deserialize;

/// Breakpoints of two variants beside √(m + l) : (m + l), which holds where all samples have the same way to go (Karasuyama
/// and Takeuchi 2009, section 3.4).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Theory {
    /// All samples at once.
    pub(crate) multiple: String,
    /// One after the other.
    pub(crate) single: String,
}

/// The variants that the columns about linear trainings compare.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Linear {
    /// Its seconds are shown as a multiple of every other variant's.
    pub(crate) baseline: String,
    /// The best of the others is shown as a multiple of this variant.
    pub(crate) ours: String,
}

/// The variant whose seconds are shown as a multiple of every other's, where trainings go by working sets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunks {
    pub(crate) baseline: String,
}

/// What the columns about trainings on the simplex show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Simplex {
    pub(crate) view: View,
    /// Seconds of this variant are shown as a multiple of every other's.
    pub(crate) baseline: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum View {
    /// Test accuracies beside the paper's.
    Accuracy,
    /// Seconds beside the paper's.
    Seconds,
    /// Seconds to one certified gap.
    Gap,
    /// Validation accuracies, a column for each value of C.
    Choice,
}

/// A plot with one line per variant, in panels.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// A setting, or settings joined by `+`.
    pub(crate) x: String,
    pub(crate) y: Quantity,
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
    /// The variant that a speed-up is over.
    pub(crate) baseline: Option<String>,
    /// Points without lines between them.
    #[serde(default)]
    pub(crate) points: bool,
}

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quantity {
    /// Milliseconds of one update.
    UpdateSeconds,
    /// Breakpoints of one update.
    Breakpoints,
    /// Percent of samples that a cross-validation gets wrong.
    Error,
    /// Seconds of a training that met its stopping rule, reading apart.
    TrainSeconds,
    /// The same for the whole process.
    ProcessSeconds,
    /// Percent of test samples that a model gets right.
    Accuracy,
    /// Seconds of a training as a divisor of the baseline's.
    Speedup,
    /// The speed-up that the paper prints.
    PaperSpeedup,
    /// Vertices that a training used.
    CoreSet,
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
