//! What is trained on: data, how they are made, and the settings that belong to them.

use crate::cells::settings::Settings;
use crate::datasets::edit::Edit;
use serde::Deserialize;

/// Data and the settings that belong to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Problem {
    pub(crate) name: String,
    /// A name of datasets/manifest.toml, or of a generator when the settings have `rows`.
    pub(crate) data: String,
    /// The data are made of this and other files of the manifest.
    pub(crate) recipe: Option<Recipe>,
    /// The samples that a model is tested on.
    pub(crate) test: Option<Test>,
    /// Small enough for `--quick`.
    #[serde(default)]
    pub(crate) quick: bool,
    /// Only with `--full`.
    #[serde(default)]
    pub(crate) slow: bool,
    /// Only the first so many rows of the file.
    pub(crate) first: Option<usize>,
    /// Of them only rows of these labels.
    pub(crate) only: Option<Vec<i64>>,
    /// These labels become +1, all others −1.
    pub(crate) positive: Option<Vec<i64>>,
    /// All values are divided by this.
    pub(crate) divide: Option<f64>,
    /// Whose printed figures stand beside this problem's; those of its own name when absent.
    pub(crate) paper: Option<String>,
    pub(crate) note: Option<String>,
    #[serde(default)]
    pub(crate) set: Settings,
}

/// How data are made of files that are no samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Recipe {
    /// Does the river's flow rise?
    Fisher,
    /// Normal connections against attacks.
    Kdd,
    /// Every feature of the file is shifted and scaled to mean 0 and variance 1.
    Standardise,
    /// The samples of the file with a value each to predict, a smooth function of the features and
    /// noise.
    Signal,
    /// The first rows that a generator makes, as a file that other programs can read.
    Generate,
    /// Normal connections and four kinds of attacks.
    KddClasses,
}

/// Where test samples come from.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Test {
    /// A file of the manifest.
    File(String),
    /// The rows of another file that are not in the problem's.
    Rest { of: String },
}

impl Problem {
    /// Whether the measured program makes the data itself.
    pub(crate) fn generated(&self) -> bool {
        self.set.contains_key("rows")
    }

    /// What is made of its file.
    pub(crate) fn edit(&self) -> Edit<'_> {
        Edit { first: self.first, only: self.only.as_deref(), positive: self.positive.as_deref(), divide: self.divide }
    }
}
