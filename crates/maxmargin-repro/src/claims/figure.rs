//! A figure that a rule looks at, and the cells without which it is not known.

use crate::cells::settings::Settings;
use crate::columns::value::Shown;
use serde_json::Value;

/// One place, and what is known of its figure.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) problem: String,
    pub(crate) shown: String,
    pub(crate) variant: String,
    pub(crate) settings: Settings,
    /// Other figures of the same line, by their names in it.
    pub(crate) beside: Settings,
    pub(crate) value: Shown,
    /// Cells without which the figure is not known.
    pub(crate) missing: Vec<Missing>,
    /// Why its own line is no result, if there is one that is none.
    pub(crate) flaw: Option<String>,
}

/// A cell without a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Missing {
    pub(crate) table: u32,
    pub(crate) problem: String,
    pub(crate) setting: String,
    pub(crate) variant: String,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { table, problem, setting, variant } = self;
        write!(f, "table {table} {problem} {setting}{}{variant}", if setting.is_empty() { "" } else { " " })
    }
}

impl Figure {
    /// What the figure may be: one number where it is known.
    pub(crate) fn range(&self) -> (f64, f64) {
        match self.value {
            Shown::Is(x) if x.is_finite() => (x, x),
            Shown::Over(x) => (x, f64::INFINITY),
            Shown::Under(x) => (f64::NEG_INFINITY, x),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    pub(crate) fn known(&self) -> Option<f64> {
        if let Shown::Is(x) = self.value { Some(x).filter(|x| x.is_finite()) } else { None }
    }

    /// Whether nothing at all is known.
    pub(crate) fn nothing(&self) -> bool {
        self.range() == (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Problem and setting as a person reads them.
    pub(crate) fn name(&self) -> String {
        [&self.problem, &self.shown, &self.variant]
            .into_iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The sum of the settings that `along` names, or a figure of the same line.
    pub(crate) fn abscissa(&self, along: &str) -> Option<f64> {
        let number = |key: &str| self.settings.get(key).and_then(Value::as_f64);
        let known: Vec<f64> = along.split('+').filter_map(|key| number(key.trim())).collect();
        if known.is_empty() { self.beside.get(along).and_then(Value::as_f64) } else { Some(known.iter().sum()) }
    }
}
