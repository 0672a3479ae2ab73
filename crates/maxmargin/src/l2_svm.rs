//! The L2-SVM with a kernel: squared hinge loss, the bias inside the kernel, solved on the simplex.

use maxmargin_core::{
    Certificate, Dual, DualError, Loss, Offset, Solution, Start, Status, Stop, Watch, Work, certify_gradient, exact_gradient,
};
use maxmargin_data::Par;
use maxmargin_frankwolfe::{
    FrankWolfeConfig, FrankWolfeError, Method, POINTS, Rule, Sampling, decision, l2_svm, ordinary, random_start, solve,
};
use maxmargin_kernel::Rows;
use std::time::Instant;

/// How an L2-SVM is trained.
#[derive(Clone, Copy, Debug)]
pub struct L2Config {
    /// Who makes the steps.
    pub method: Method,
    /// The relative duality gap to reach; without it the KKT violation of [`Stop::tol`], which only pairwise steps reach soon.
    pub gap: Option<f64>,
    /// Samples instead of scans.
    pub sampling: Option<Sampling>,
    /// Seed of the random points of the start.
    pub seed: u64,
    /// Threads.
    pub par: Par,
}

impl L2Config {
    /// The loss and the bias of what is solved: `½ (‖w‖² + b²) + C Σ ξ²`.
    pub const PROBLEM: (Loss, Offset) = (Loss::SquaredHinge, Offset::Feature(1.0));
}

/// A trained L2-SVM in the ordinary scaling, margins at 1.
#[derive(Clone, Debug)]
pub struct L2Solved {
    /// The problem over `K + 1`: [`Loss::SquaredHinge`] with [`Offset::Feature`]`(1)`.
    pub dual: Dual,
    /// Its solution; the bias is what the constant inside the kernel adds up to.
    pub solution: Solution,
    /// Exact judgement.
    pub certificate: Certificate,
    /// Vertices that were in use at any time.
    pub core_set: usize,
}

/// Why an L2-SVM cannot be trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum L2Error {
    /// The problem is not possible.
    #[error(transparent)]
    Dual(#[from] DualError),
    /// The solver cannot take it.
    #[error(transparent)]
    Solver(#[from] FrankWolfeError),
}

/// Relative gap of the solution that tells the scale of the violation.
const COARSE: f64 = 0.01;

/// Rounds in which the tolerance on the simplex follows the scale of the solution.
const ROUNDS: u32 = 6;

/// Trains the L2-SVM of the samples `ids` of `rows`, whose kernel has 1 added ([`maxmargin_kernel::OffsetGram`]); `c` is the price of `ξ²`, the same
/// for all samples.
///
/// # Errors
///
/// When there are no samples, `c` is not positive, or kernel values are not finite.
///
/// # Panics
///
/// When ids and signs have different lengths or name samples that the kernel does not have.
pub fn solve_l2(
    rows: &Rows,
    ids: Vec<usize>,
    signs: Vec<f64>,
    c: f64,
    config: &L2Config,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<L2Solved, L2Error> {
    let begun = Instant::now();
    let (loss, offset) = L2Config::PROBLEM;
    let dual = Dual::svc(loss, offset, ids.clone(), signs.clone(), vec![c; ids.len()])?;
    // On the simplex the price is C/2 of ξ².
    let simplex = l2_svm(ids, signs, 2.0 * c)?;
    let method = FrankWolfeConfig { sampling: config.sampling, par: config.par, ..FrankWolfeConfig::of(config.method) };
    let mut start = random_start(&simplex, rows, POINTS, config.seed)?;
    // The violation scales with αᵀQα, which only a solution tells: a coarse one comes first.
    let (mut rule, mut tol) = (Rule::RelativeGap, config.gap.unwrap_or(COARSE));
    let mut work = Work::default();
    for round in 0..=ROUNDS {
        let left = stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
        let limits = Stop { tol, max_time: left, max_iter: stop.max_iter.map(|most| most.saturating_sub(work.iterations)) };
        let outcome = solve(&simplex, rows, start, &FrankWolfeConfig { rule, ..method }, &limits, watch)?;
        work += outcome.solution.work;
        let Some(scaled) = ordinary(&simplex, &outcome.solution) else {
            return Err(L2Error::Solver(FrankWolfeError::Kernel));
        };
        let mut status = outcome.solution.status;
        let gradient = exact_gradient(&dual, rows.gram(), &scaled.alpha, config.par);
        // The constant inside the kernel is the bias of the problem as it was solved.
        let certificate = certify_gradient(&dual, &scaled.alpha, 0.0, &gradient);
        let met = match config.gap {
            Some(gap) => certificate.relative_gap() <= gap,
            None => certificate.kkt <= stop.tol,
        };
        if met || status != Status::Converged || round == ROUNDS {
            if !met && status == Status::Converged {
                status = Status::Stalled;
            }
            let bias = decision(&simplex, &scaled.alpha, 1.0).bias;
            let solution = Solution { alpha: scaled.alpha, bias, gradient, status, work };
            return Ok(L2Solved { dual, solution, certificate, core_set: outcome.core_set });
        }
        if config.gap.is_some() {
            // The gap of the ordinary scaling is a little different from the one that was reached on the simplex.
            tol *= 0.5;
        } else {
            let square = -0.5 / scaled.objective;
            (rule, tol) = (Rule::Violation, 0.9 * stop.tol * square * 0.5_f64.powi(round.saturating_sub(1) as i32));
        }
        start = Start::checked(&simplex, outcome.solution.alpha).expect("a solution is feasible");
    }
    unreachable!("the last round returns")
}
