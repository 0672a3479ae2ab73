//! A table of a spec: problems, variants, peers, and what a report shows.

use super::presentation::{Brief, Plot};
use crate::cells::settings::{Settings, fill, label};
use crate::columns::entry::Entry;
use crate::workspace::failure::Outcome;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What specs call a LIBLINEAR that does not give up: no program of this name is installed
/// anywhere.
pub(crate) const UNCAPPED: &str = "liblinear-train-uncapped";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) number: u32,
    pub(crate) title: String,
    /// File in crates/maxmargin-repro/papers with the printed figures, if a paper printed some.
    pub(crate) paper: Option<String>,
    /// Which row of that file belongs to a cell: column = template. Without it the first column
    /// holds the problem's name.
    #[serde(default)]
    pub(crate) row: BTreeMap<String, String>,
    /// Names of the problems, in the table's order.
    #[serde(default)]
    pub(crate) problems: Vec<String>,
    /// A figure: it draws the measurements of these tables and has none of its own.
    #[serde(default)]
    pub(crate) from: Vec<u32>,
    /// What the report shows of it at once; nothing but its heading when absent.
    pub(crate) brief: Option<Brief>,
    /// Its picture belongs to the report's first page.
    #[serde(default)]
    pub(crate) lead: bool,
    #[serde(default)]
    pub(crate) set: Settings,
    /// Each problem is measured once with each of these.
    #[serde(default)]
    pub(crate) vary: Vec<Settings>,
    /// Those of them that are for `--quick`; all when absent.
    pub(crate) quick_vary: Option<Vec<Settings>>,
    #[serde(default, rename = "variant")]
    pub(crate) variants: Vec<Variant>,
    #[serde(default, rename = "peer")]
    pub(crate) peers: Vec<Peer>,
    #[serde(default, rename = "limit")]
    pub(crate) limits: Vec<Limit>,
    /// What the report shows of a row; as the spec says when absent.
    pub(crate) columns: Option<Vec<Entry>>,
    /// A row shows what each value of C gave, and which is best.
    #[serde(default)]
    pub(crate) choice: bool,
    /// Cells that differ in this setting alone are one row, with means.
    pub(crate) mean_over: Option<String>,
    /// Tells the file of a figure from others of the same number.
    pub(crate) part: Option<String>,
    pub(crate) plot: Option<Plot>,
    /// Bars of iterations relative to the first variant.
    #[serde(default)]
    pub(crate) bars: bool,
}

impl Table {
    /// Whether it draws what others measured.
    pub(crate) fn is_figure(&self) -> bool {
        self.plot.is_some() && !self.from.is_empty()
    }

    /// Its heading in the report.
    pub(crate) fn heading(&self) -> String {
        format!("{} {}: {}", if self.is_figure() { "Figure" } else { "Table" }, self.number, self.title)
    }

    /// The name of its first peer, from 0, or the next.
    fn peer(&self, place: usize) -> &str {
        self.peers.get(place).map_or("peer", |peer| &peer.name)
    }

    /// The names of its first two peers.
    pub(crate) fn peer_names(&self) -> [&str; 2] {
        [self.peer(0), self.peer(1)]
    }

    /// Varied settings as the report shows them: without the one over which it has means.
    pub(crate) fn shown(&self, vary: &Settings) -> String {
        let mut shown = vary.clone();
        shown.retain(|key, _| self.mean_over.as_ref() != Some(key));
        label(&shown)
    }
}

/// One way to solve the problem, and the paper's columns about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// Only these problems of the table; all when absent.
    pub(crate) problems: Option<Vec<String>>,
    /// Another program that the measured one runs: only with `--peers` where it is installed, or
    /// where the command line names it.
    pub(crate) program: Option<String>,
    #[serde(default)]
    pub(crate) set: Settings,
    #[serde(default)]
    pub(crate) paper: Columns,
}

impl Variant {
    /// Whether the variant is measured on this problem.
    pub(crate) fn is_for(&self, problem: &str) -> bool {
        self.problems.as_ref().is_none_or(|only| only.iter().any(|name| name == problem))
    }
}

/// Templates of column names; seconds are summed when a paper splits them.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Columns {
    /// What tells the variant's row of the file from others of the same cell: column = template.
    #[serde(default)]
    pub(crate) row: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) seconds: Vec<String>,
    pub(crate) iterations: Option<String>,
    pub(crate) accuracy: Option<String>,
    pub(crate) support_vectors: Option<String>,
    /// Seconds inside the solver of working sets.
    pub(crate) optimiser: Option<String>,
}

/// Another program on the same file, which prints what LIBSVM's prints. Runs once for each problem
/// and entry of `vary`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) program: String,
    /// Templates; the data file's path comes after them.
    pub(crate) arguments: Vec<String>,
    /// A program that is told test samples, the model that was written, and a file for its labels,
    /// where a problem has test samples.
    pub(crate) tests_with: Option<String>,
}

impl Peer {
    /// The arguments for a cell, the data file apart. Cells with equal arguments are one run of the
    /// peer.
    pub(crate) fn told(&self, settings: &Settings) -> Outcome<Vec<String>> {
        self.arguments.iter().map(|argument| fill(argument, settings)).collect()
    }
}

/// A count that may not grow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limit {
    pub(crate) problem: String,
    pub(crate) variant: String,
    pub(crate) vary: Settings,
    pub(crate) iterations: u64,
}
