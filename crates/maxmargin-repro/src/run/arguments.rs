//! The options of `cargo xtask bench`.

use crate::specs::extent::Extent;
use crate::specs::table::UNCAPPED;
use std::path::PathBuf;

/// Options of `cargo xtask bench`.
#[derive(Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one switch of the command line each")]
pub struct Arguments {
    /// Name of a file in crates/maxmargin-repro/specs, such as alpha-seeding; without one the quick
    /// form of every paper, and whether what held still does
    pub(crate) paper: Option<String>,
    /// Only these tables of the paper (or figures, where no table has the number)
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) table: Vec<u32>,
    /// Only these figures of the paper (or tables, where no figure has the number)
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) figure: Vec<u32>,
    /// Only what the spec's statistics are about; prints them
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Small problems only, results in target/bench
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// The problems that take hours as well
    #[arg(long)]
    pub(crate) full: bool,
    /// Only this problem, as the report's column `data` names it; say it again for another
    #[arg(long, value_name = "DATA")]
    pub(crate) only: Vec<String>,
    /// Only these settings, as the column `setting` has them, such as "folds=libsvm"; say it again
    /// for others
    #[arg(long, value_name = "SETTING")]
    pub(crate) setting: Vec<String>,
    /// Only this variant, as the column `variant` names it; say it again for another
    #[arg(long, value_name = "VARIANT")]
    pub(crate) variant: Vec<String>,
    /// Run the spec's other programs on the same files
    #[arg(long)]
    pub(crate) peers: bool,
    /// Use this binary for a peer, such as svm-train=./libsvm/svm-train
    #[arg(long, value_name = "PROGRAM=PATH")]
    pub(crate) peer: Vec<String>,
    /// Measure this build of LIBLINEAR's train program as well, one whose limit of sweeps is
    /// lifted: variant "LIBLINEAR, no cap"
    #[arg(long, value_name = "PATH")]
    pub(crate) liblinear: Option<PathBuf>,
    /// Folder of data files, plain or packed [default: `MAXMARGIN_DATA`, then datasets/files]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Measure every cell so many times, in turn; the report has medians
    #[arg(long, default_value_t = 1)]
    pub(crate) repeats: u32,
    /// Threads of our own program
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Raw lines go here, the report beside it [default: docs/reproduction/raw/PAPER.jsonl]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Forget earlier lines of the raw file instead of adding to them
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Leave out the cells that have lines already: of the same settings and data, and of crates
    /// that have not changed since
    #[arg(long, conflicts_with = "fresh")]
    pub(crate) resume: bool,
    /// Measure nothing: render the report from the raw file
    #[arg(long)]
    pub(crate) render: bool,
    /// Measure nothing: write the page of all claims and their verdicts from the raw files
    #[arg(long, conflicts_with = "paper")]
    pub(crate) verdicts: bool,
    /// Measure nothing: list, for each table, the lines that are older than the last change of a
    /// crate that they measure
    #[arg(long, conflicts_with_all = ["fresh", "resume", "render", "verdicts"])]
    pub(crate) stale: bool,
    /// Measure so many random cells of the reports again, by their printed commands, and compare
    /// all counts; writes no lines
    #[arg(long, value_name = "N", conflicts_with_all = ["stale", "fresh", "resume", "render", "verdicts"])]
    pub(crate) recheck: Option<usize>,
    /// The draw of --recheck [default: the time]
    #[arg(long, value_name = "S", requires = "recheck")]
    pub(crate) seed: Option<u64>,
    /// --recheck leaves out cells whose lines took more seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, requires = "recheck")]
    pub(crate) limit: f64,
    /// Measure a tree with uncommitted changes, although the measurement cannot be repeated
    #[arg(long)]
    pub(crate) uncommitted: bool,
    /// Build the measured program without optimising for release (its counts are the same, its
    /// seconds are not)
    #[arg(long)]
    pub(crate) dev: bool,
    /// Use this binary instead of building maxmargin-bench
    #[arg(long, value_name = "PATH")]
    pub(crate) bench_bin: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn extent(&self) -> Extent<'_> {
        let Self { quick, full, only, setting, variant, .. } = self;
        Extent { quick: *quick, full: *full, only, setting, variant }
    }

    /// Programs that the command line names, as PROGRAM=PATH.
    pub(crate) fn named(&self) -> Vec<String> {
        let uncapped = self.liblinear.iter().map(|path| format!("{}={}", UNCAPPED, path.display()));
        self.peer.iter().cloned().chain(uncapped).collect()
    }
}
