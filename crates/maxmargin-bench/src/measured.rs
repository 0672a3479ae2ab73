//! The figures of a cell.

use maxmargin::cv::{CertificateReport, Fitted};
use maxmargin::linear::LinearWork;
use serde::Serialize;

/// The figures of a cell. Their names are those of `cargo xtask bench`'s records.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    /// Solver iterations, summed over the folds or updates; none where the method does not count
    /// them.
    pub(crate) iterations: Option<u64>,
    /// Iterations of the model of all data, where the seeding needs one.
    pub(crate) full_iterations: Option<u64>,
    /// Kernel rows computed.
    pub(crate) rows_computed: u64,
    /// Percent.
    pub(crate) accuracy: Option<f64>,
    /// Percent, where the machines of pairs of classes decide along a graph and not by votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accuracy_ddag: Option<f64>,
    /// Dual objective (maximised), summed over the folds.
    pub(crate) objective: f64,
    /// Largest KKT violation of all certificates.
    pub(crate) kkt: f64,
    /// Largest relative duality gap of all certificates.
    pub(crate) relative_gap: f64,
    pub(crate) support_vectors: usize,
    /// The worst status.
    pub(crate) status: String,
    pub(crate) read_seconds: f64,
    pub(crate) kernel_seconds: f64,
    pub(crate) seed_seconds: f64,
    /// Summed over the folds, which may run side by side.
    pub(crate) solve_seconds: f64,
    pub(crate) certify_seconds: f64,
    /// From the parsed data to the certified result.
    pub(crate) total_seconds: f64,
    pub(crate) kernel_bytes: u64,
    pub(crate) fold_iterations: Vec<u64>,
    pub(crate) peak_rss_bytes: Option<u64>,
    pub(crate) threads: usize,
    #[serde(flatten)]
    pub(crate) rounds: Option<Rounds>,
    #[serde(flatten)]
    pub(crate) compared: Option<Compared>,
    #[serde(flatten)]
    pub(crate) update: Option<UpdateFigures>,
    #[serde(flatten)]
    pub(crate) linear: Option<LinearFigures>,
    #[serde(flatten)]
    pub(crate) simplex: Option<Simplex>,
    #[serde(flatten)]
    pub(crate) chunks: Option<WorkingSets>,
    #[serde(flatten)]
    pub(crate) finish: Option<Finished>,
    /// The iterations at which the gap first reached each power of ten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<Vec<TracePoint>>,
}

/// The first iteration at which the gap was within a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct TracePoint {
    pub(crate) gap: f64,
    pub(crate) iterations: u64,
}

/// Seconds and iterations of single folds, seeding and solving, without certificates. A round is a
/// fold. Means are NaN where a single round was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Rounds {
    /// The training from which the others start: that of all data, or that of the first fold.
    pub(crate) first_round_seconds: f64,
    /// A later one, the mean of those that were measured.
    pub(crate) round_seconds: f64,
    /// The first round and all later ones. Rounds that were not measured count as the mean of the
    /// others.
    pub(crate) all_rounds_seconds: f64,
    /// The same of iterations.
    pub(crate) all_rounds_iterations: f64,
}

/// Agreement of neighbouring folds.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Compared {
    /// Percent of the samples that two neighbouring folds train on whose α of both differ by at
    /// most 10⁻³ C.
    pub(crate) alpha_kept: f64,
    /// The same among those that are support vectors of either; none where there are none.
    pub(crate) alpha_kept_support: Option<f64>,
}

/// Figures of linear trainings.
#[derive(Debug, Default, Serialize)]
pub(crate) struct LinearFigures {
    /// Training alone, from parsed data to the solution; absent where a program does not report it.
    pub(crate) train_seconds: Option<f64>,
    /// Training and reading the file; for a program also its start and the writing of its model.
    pub(crate) process_seconds: f64,
    /// The limit that the run had, in seconds.
    pub(crate) limit_seconds: Option<f64>,
    /// Sweeps of coordinate descent.
    pub(crate) sweeps: Option<u64>,
    /// The counts of our solvers. `steps` are updates that were considered, as the paper counts
    /// them.
    pub(crate) work: Option<LinearWork>,
    /// Objective of w, in `f64`; absent where there is no w.
    pub(crate) primal: Option<f64>,
    /// A certified dual objective of the problem, a lower bound on every primal objective.
    pub(crate) bound: Option<f64>,
    /// Relative duality gap of the solution that the bound comes from.
    pub(crate) bound_gap: Option<f64>,
    /// (primal − bound) / primal, an upper bound on the relative distance of w from the optimum.
    pub(crate) excess: Option<f64>,
    /// Seconds of as many schedules and preferences as the training had; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) adaptation_seconds: Option<f64>,
}

impl LinearFigures {
    /// Returns the bound and its own gap.
    pub(crate) fn bound_and_gap(&self) -> Option<(f64, f64)> {
        self.bound.zip(self.bound_gap)
    }
}

/// Figures of trainings by working sets, and of the trainings that they are compared with.
#[derive(Debug, Serialize)]
pub(crate) struct WorkingSets {
    /// Working sets; none for trainings without them.
    pub(crate) chunks: Option<u64>,
    /// Working sets with exact kernel values.
    pub(crate) exact_chunks: Option<u64>,
    /// Working sets that gained nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idle_chunks: Option<u64>,
    /// Seconds inside their solver.
    pub(crate) optimiser_seconds: Option<f64>,
    /// Working sets that did not settle, where their solver may cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) given_up: Option<u64>,
    /// Kernel values in `f32`: rows computed times the rows of the data.
    pub(crate) kernel_values: u64,
    pub(crate) free_vectors: usize,
}

/// Figures of the active-set finish.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Finished {
    pub(crate) finish_seconds: f64,
    /// Linear systems and pair steps.
    pub(crate) finish_iterations: u64,
}

/// Figures of the solvers on the simplex.
#[derive(Debug, Serialize)]
pub(crate) struct Simplex {
    /// Training samples.
    pub(crate) train_rows: usize,
    pub(crate) classes: usize,
    /// From the start to the solution, kernel rows included, without the certificate; summed over
    /// the pairs of classes, as all counts are.
    pub(crate) train_seconds: f64,
    /// The same by the processor's clock, where the system reports it.
    pub(crate) cpu_seconds: Option<f64>,
    /// Vertices in use at any time.
    pub(crate) core_set: usize,
    /// The evidence of convergence: `FullScan`, `Sample` or `None`; the weakest of all pairs.
    pub(crate) evidence: String,
    pub(crate) toward_steps: u64,
    pub(crate) away_steps: u64,
    pub(crate) swap_steps: u64,
    pub(crate) drop_steps: u64,
    /// Problems of core sets.
    pub(crate) rounds: u64,
    pub(crate) samples: u64,
    /// `1 / 2 αᵀK̃α`: the dual objective with margins at 1, of two classes.
    pub(crate) ordinary_objective: Option<f64>,
    /// `Δ² − αᵀK̃α` with the largest `K̃_ii` as Δ², of two classes: the squared radius of the ball
    /// where all are equal.
    pub(crate) radius2: Option<f64>,
    /// Bit k of the hexadecimal digits, four in each and the lowest first: whether sample k is in
    /// the support, of two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) support: Option<String>,
    pub(crate) gamma: f64,
}

/// Figures of updates.
#[derive(Debug, Serialize)]
pub(crate) struct UpdateFigures {
    /// Updates that the counts are sums over.
    pub(crate) updates: usize,
    /// Median of one update's seconds, over all updates and rounds.
    pub(crate) update_seconds: f64,
    /// Seconds of all updates, the mean of the rounds.
    pub(crate) update_seconds_total: f64,
    /// Changes of the sets along the paths.
    pub(crate) breakpoints: Option<u64>,
    /// Changes at which the path did not move.
    pub(crate) zero_steps: Option<u64>,
    /// Changes of the sets by the finish after the paths.
    pub(crate) repairs: Option<u64>,
    /// The largest tolerance within which a path counts as exact.
    pub(crate) tolerance: Option<f64>,
    /// Samples with 0 < α < C, mean over the updates.
    pub(crate) margin: f64,
}

/// Returns the largest value, or NaN where a value is NaN: a maximum must not hide it.
pub(crate) fn worst(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

impl Measured {
    /// Returns the figures that every training has, apart from reading. Times are sums over
    /// machines.
    pub(crate) fn of(fitted: &Fitted) -> Self {
        let certificates = || fitted.machines.iter().map(|machine| machine.certificate);
        Self {
            iterations: Some(fitted.iterations),
            rows_computed: fitted.kernel.computed,
            status: format!("{:?}", fitted.status),
            support_vectors: fitted.model.support_vectors(),
            kernel_seconds: fitted.kernel.time.as_secs_f64(),
            solve_seconds: fitted.solve_seconds,
            kernel_bytes: fitted.kernel.peak_bytes,
            objective: certificates().map(|certificate| certificate.dual).sum(),
            ..Self::worst_of(certificates)
        }
    }

    /// Returns the worst figures of some certificates.
    pub(crate) fn worst_of<I: Iterator<Item = CertificateReport>>(certificates: impl Fn() -> I) -> Self {
        Self {
            kkt: worst(certificates().map(|certificate| certificate.kkt)),
            relative_gap: worst(certificates().map(|certificate| certificate.relative_gap)),
            ..Self::default()
        }
    }
}

impl WorkingSets {
    /// Returns the figures of a training without working sets.
    pub(crate) fn of(fitted: &Fitted) -> Self {
        Self {
            chunks: None,
            exact_chunks: None,
            idle_chunks: None,
            optimiser_seconds: None,
            given_up: None,
            kernel_values: fitted.machines.iter().map(|machine| machine.rows_computed * machine.train as u64).sum(),
            free_vectors: fitted.machines.iter().map(|machine| machine.support_vectors - machine.bounded).sum(),
        }
    }
}
