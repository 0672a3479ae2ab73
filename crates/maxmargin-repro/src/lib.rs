//! The laboratory: papers' experiments as specs, measured by spawned programs, reported and judged.
//!
//! Links no solver. It spawns `maxmargin-bench` for each cell of a table, so that the driver
//! cannot disturb the measured program, and builds in seconds.
//!
//! Reading order:
//!
//! - `specs::Spec` is a paper's experiment: problems, tables, variants and settings. `specs::cells`
//!   expands a table into `cells::Cell`s, one measurement each.
//! - `run` measures cells, one process each, and appends a `cells::Record` (a line of JSON) for
//!   each process.
//! - `tables` condenses records into `cells::Row`s, with the paper's printed figures beside ours.
//!   `columns` defines each value that a table or a plot can show of a row.
//! - `claims` decides each claim of a paper by a rule over columns. `pictures` draws rows.
//! - `reports` writes all pages: reports of papers, the page of verdicts, the README's picture.
//! - `searches` measures whole searches beside LIBSVM, and simulates searches on many machines.
//!   `liblinear` measures trainings beside LIBLINEAR's solvers, at equal gap.
//! - `datasets` finds, verifies and converts data files. `numbers` formats and tests numbers.
//!   `workspace` knows the workspace's folders and runs child processes.
#![expect(clippy::print_stdout, reason = "its commands talk to a person")]

mod cells {
    pub(crate) mod cell;
    pub(crate) mod counts;
    pub(crate) mod machine;
    pub(crate) mod record;
    pub(crate) mod row;
    pub(crate) mod settings;
}
mod claims {
    pub(crate) mod again;
    mod bounds;
    pub(crate) mod claim;
    #[cfg(test)]
    mod claims_tests;
    mod figure;
    mod finding;
    mod look;
    pub(crate) mod page;
    mod rule;
    mod series;
    pub(crate) mod sheets;
    mod verdict;
}
mod columns {
    pub(crate) mod catalogue;
    #[cfg(test)]
    mod columns_tests;
    pub(crate) mod entry;
    pub(crate) mod markdown;
    mod traces;
    pub(crate) mod value;
}
/// Data files: the manifest, downloads, verification, conversions.
pub mod datasets {
    pub(crate) mod edit;
    pub mod fetch;
    pub mod locate;
    pub mod manifest;
    pub(crate) mod recipes {
        pub(crate) mod fisher;
        pub(crate) mod kdd;
        pub(crate) mod rest;
        pub(crate) mod signal;
        pub(crate) mod standardise;
    }
    pub mod unpack;
}
mod liblinear {
    pub(crate) mod command;
    mod model;
    mod objective;
    mod record;
    mod tolerance;
    mod train;
}
mod numbers {
    pub(crate) mod format;
    pub(crate) mod groups;
    pub(crate) mod statistics;
    pub(crate) mod wrap;
}
mod pictures {
    pub(crate) mod bars;
    pub(crate) mod lines;
    pub(crate) mod overview;
}
mod reports {
    pub(crate) mod bench;
    pub(crate) mod diff;
    pub(crate) mod evidence;
    pub(crate) mod recheck;
    pub(crate) mod report;
    pub(crate) mod stale;
}
mod run {
    pub(crate) mod arguments;
    pub(crate) mod finished;
    pub(crate) mod folds;
    pub(crate) mod history;
    pub(crate) mod inputs;
    mod jobs;
    pub(crate) mod measure;
    pub(crate) mod peer;
    pub(crate) mod process;
}
mod searches {
    pub(crate) mod costs;
    pub(crate) mod grids;
    pub(crate) mod page;
    pub(crate) mod probabilities;
    pub(crate) mod schedule;
    pub(crate) mod simulate;
}
mod specs {
    pub(crate) mod corrupted;
    pub(crate) mod extent;
    pub(crate) mod papers;
    pub(crate) mod presentation;
    pub(crate) mod problem;
    pub(crate) mod spec;
    pub(crate) mod table;
}
mod tables {
    pub(crate) mod choice;
    pub(crate) mod commands;
    pub(crate) mod means;
    pub(crate) mod rows;
    pub(crate) mod significance;
}
/// The workspace's folders, child processes, and the error of all commands.
pub mod workspace {
    pub mod failure;
    pub mod tools;
}

pub use cells::machine::HostMachine;
pub use liblinear::command::{Arguments as LiblinearArguments, run as liblinear};
pub use reports::bench::run as bench;
pub use reports::diff::{Arguments as DiffArguments, run as bench_diff};
pub use run::arguments::Arguments as BenchArguments;
pub use searches::grids::{Arguments as GridArguments, run as grids};
pub use searches::page::SearchArguments;
pub use searches::probabilities::run as probabilities;
pub use searches::simulate::{Arguments as SimulateArguments, run as simulate};
pub use specs::corrupted::try_corrupted_inputs;
