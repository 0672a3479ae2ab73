//! The [`Solve`] implementation of the L2-SVM on the simplex.

use crate::config::{FrankWolfeConfig, FrankWolfeError, Sampling, StepMethod, StopRule};
use crate::l2_svm::{decision, ordinary};
use crate::random_start::{POINTS, random_start};
use crate::solve::solve;
use maxmargin_core::{
    BiasTerm, Dual, EqualityConstraint, Formulation, Goal, Loss, Reason, Refused, Run, Solution, Solve, Solved, Start, Status,
    Stop, Work, exact_gradient, figures,
};
use maxmargin_data::RunControl;
use maxmargin_kernel::{Rows, Space};
use std::time::Instant;

/// The squared hinge loss with the bias inside the kernel (`K + 1`), solved on the simplex and
/// returned with margins at 1.
///
/// It takes duals without equality constraint and upper bounds, with linear terms −1 and one ridge,
/// over kernel rows: those of [`Loss::SquaredHinge`] with [`BiasTerm::Feature`] and one C for all
/// samples.
#[derive(Clone, Copy, Debug)]
pub struct Simplex {
    /// The kind of steps.
    pub method: StepMethod,
    /// Random samples instead of full scans.
    pub sampling: Option<Sampling>,
    /// The seed of the random points of the start.
    pub seed: u64,
}

impl Simplex {
    /// Creates a solver with full scans. Only pairwise steps reach a small KKT violation quickly.
    pub fn of(method: StepMethod, seed: u64) -> Self {
        Self { method, sampling: None, seed }
    }

    fn refused(&self, reason: Reason) -> Refused {
        Refused::new(self.name(), reason)
    }
}

/// The relative gap of the first solution, which shows the scale of the violation.
const COARSE: f64 = 0.01;

/// The largest number of rounds in which the tolerance on the simplex follows the scale of the
/// solution.
const ROUNDS: u32 = 6;

/// The bias feature of the kernel `K + 1`.
const FEATURE: f64 = 1.0;

impl Solve for Simplex {
    fn name(&self) -> &'static str {
        match self.method {
            StepMethod::Cvm => "cvm",
            StepMethod::Fw => "fw",
            StepMethod::Mfw => "mfw",
            StepMethod::Swap => "swap",
            StepMethod::Pairwise => "pairwise",
        }
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        if features {
            return Err(self.refused(Reason::NoRows));
        }
        if !matches!(formulation, Formulation::Svc { .. }) {
            return Err(self.refused(Reason::Formulation(formulation.name())));
        }
        if formulation.loss() != Loss::SquaredHinge {
            return Err(self.refused(Reason::Loss(Loss::SquaredHinge)));
        }
        let bias_term = BiasTerm::Feature(FEATURE);
        if formulation.bias_term() != bias_term {
            return Err(self.refused(Reason::BiasTerm(bias_term)));
        }
        Ok(())
    }

    fn uses_neighbours(&self) -> bool {
        false
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(self.name(), space)?;
        self.check(dual)?;
        self.solve_ordinary(dual, rows, &start, run).map_err(|error| Refused::failed(self.name(), &error))
    }
}

impl Simplex {
    fn check(&self, dual: &Dual) -> Result<(), Refused> {
        if !dual.has_one_ridge() {
            return Err(self.refused(Reason::Weights));
        }
        let ordinary = dual.balance() == EqualityConstraint::Free && dual.linear_term().iter().all(|p| *p == -1.0);
        if !ordinary || dual.ridge() <= 0.0 || dual.upper().iter().any(|u| u.is_finite()) {
            return Err(self.refused(Reason::Loss(Loss::SquaredHinge)));
        }
        Ok(())
    }

    /// Minimises on the simplex until the ordinary scaling meets the goal by exact kernel values.
    fn solve_ordinary(&self, dual: &Dual, rows: &Rows, from: &Start, run: &mut Run) -> Result<Solved, FrankWolfeError> {
        let begun = Instant::now();
        let n = dual.len();
        let simplex = Dual::new(
            dual.ids().to_vec(),
            dual.sign().to_vec(),
            vec![0.0; n],
            vec![f64::INFINITY; n],
            dual.ridge(),
            EqualityConstraint::Simplex,
        )
        .map_err(|_| FrankWolfeError::Kernel)?;
        let method = FrankWolfeConfig { sampling: self.sampling, par: run.par, ..FrankWolfeConfig::of(self.method) };
        let mut start = match carried(&simplex, from) {
            Some(start) => start,
            None => random_start(&simplex, rows, POINTS, self.seed)?,
        };
        // The violation scales with αᵀQα, which only a solution shows: the first one is coarse.
        let goal = run.stop.goal;
        let (mut rule, mut tol) = (StopRule::RelativeGap, goal.gap().unwrap_or(COARSE));
        let (mut round, mut violations) = (0, 0_i32);
        let (mut work, mut core_set) = (Work::default(), 0);
        loop {
            let of_rule = if rule == StopRule::Violation { Goal::Kkt(tol) } else { Goal::Gap(tol) };
            let limits = Stop { goal: of_rule, ..run.stop.left(begun, work.iterations) };
            let outcome = solve(&simplex, rows, start, &FrankWolfeConfig { rule, ..method }, &limits, run.control)?;
            work += outcome.solution.work;
            core_set = core_set.max(outcome.core_set);
            // After an early end, `f32` rows may not show the scale.
            let exact = exact_gradient(&simplex, rows.gram(), &outcome.solution.alpha, run.par, &RunControl::unlimited())
                .expect("unlimited");
            let point = Solution { gradient: exact, ..outcome.solution };
            let scaled = ordinary(&simplex, &point).ok_or(FrankWolfeError::Kernel)?;
            let mut status = point.status;
            let square = -0.5 / scaled.objective;
            let gradient: Vec<f64> = point.gradient.iter().map(|g| g / square - 1.0).collect();
            let certificate = figures(dual, &scaled.alpha, 0.0, &gradient);
            let met = goal.met(&certificate);
            if met || status != Status::Converged || round == ROUNDS {
                if !met && status == Status::Converged {
                    status = Status::Stalled;
                }
                let bias = decision(&simplex, &scaled.alpha, FEATURE).bias;
                let solution = Solution { alpha: scaled.alpha, bias, gradient, status, work, weights: None };
                return Ok(Solved { solution, exact: true, counts: vec![("core_set", core_set as u64)] });
            }
            match goal.kkt() {
                Some(kkt) if !certificate.holds(kkt) || rule == StopRule::Violation => {
                    (rule, tol) = (StopRule::Violation, 0.9 * kkt * square * 0.5_f64.powi((violations - 1).max(0)));
                    violations += 1;
                }
                // The gap in the ordinary scaling differs slightly from that on the simplex.
                _ => tol *= 0.5,
            }
            round += 1;
            start = Start::checked(&simplex, point.alpha).expect("a solution is feasible");
        }
    }
}

/// Returns a start of the ordinary scaling, moved to the simplex; `None` for 0, which is not on it.
fn carried(simplex: &Dual, from: &Start) -> Option<Start> {
    let mass: f64 = from.alpha().iter().sum();
    let scaled = || from.alpha().iter().map(|a| a / mass).collect();
    (mass > 0.0).then(|| Start::checked(simplex, scaled()).ok()).flatten()
}
