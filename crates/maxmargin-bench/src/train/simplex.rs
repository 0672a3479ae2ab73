//! Trainings of the L2-SVM on the simplex as in the papers: their stopping rule, their samples, and
//! the evidence of convergence.

mod sum;

use super::contender::{MeasuredSolver, Training};
use crate::cell::choice::Bound;
use crate::cell::job::Train;
use crate::failure::Failure;

use crate::measured::{Measured, Simplex, worst};
use crate::system::machine;
use maxmargin::Solver;
use maxmargin::core::{
    BiasTerm, Certificate, Dual, Formulation, Loss, Refused, Run, Solution, Solve, Solved, Start, certify_gradient,
    exact_gradient,
};
use maxmargin::data::{ClassLabels, RunControl};
use maxmargin::frankwolfe::{
    Evidence, Finish, FrankWolfeConfig, FrankWolfeError, FrankWolfeOutcome, POINTS, Sampling, Simplex as Usual, StepMethod,
    StopRule, decision, l2_svm, ordinary, random_start, solve, two_point_start,
};
use maxmargin::kernel::{Rows, Space};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A method on the simplex, stopped by the rule of the cell.
pub(crate) struct OnSimplex {
    usual: Usual,
    rule: StopRule,
    /// C of the papers: `C/2 Σ ξ²`.
    c: f64,
    /// SMO replaces the method.
    by_smo: bool,
    two_points: bool,
    trained: Mutex<Vec<MachineTraining>>,
}

/// The training of one machine.
struct MachineTraining {
    machine: usize,
    outcome: FrankWolfeOutcome,
    /// Certificate of the point on the simplex.
    certificate: Certificate,
    /// The dual objective with margins at 1.
    ordinary_objective: f64,
    radius2: f64,
    train_seconds: f64,
    cpu_seconds: Option<f64>,
    certify_seconds: f64,
}

impl OnSimplex {
    pub(crate) fn of(solver: Solver, cell: &Train) -> Self {
        let method = match solver {
            Solver::Cvm => StepMethod::Cvm,
            Solver::Fw => StepMethod::Fw,
            Solver::Mfw => StepMethod::Mfw,
            Solver::Swap => StepMethod::Swap,
            // The caller passes solvers of this family and SMO.
            _ => StepMethod::Pairwise,
        };
        let rule = match cell.simplex.bound {
            Bound::RelativeGap => StopRule::RelativeGap,
            Bound::Radius => StopRule::Radius,
            Bound::Violation => StopRule::Violation,
        };
        let (seed, options) = (cell.setting.seed, &cell.simplex);
        let finish = if options.sampled_stop { Finish::Sample } else { Finish::Scan };
        let sampling = options.sample.filter(|candidates| *candidates > 0).map(|candidates| {
            let usual = Sampling::of(candidates, seed, finish);
            Sampling { balanced: options.sample_balanced, tries: options.sample_tries.unwrap_or(usual.tries), ..usual }
        });
        let usual = Usual { sampling, ..Usual::of(method, seed) };
        let (by_smo, two_points) = (solver == Solver::Smo, options.two_points);
        Self { usual, rule, c: cell.setting.c, by_smo, two_points, trained: Mutex::default() }
    }

    /// Trains one machine, with a start and samples of its own. The certificate is not timed.
    fn train(&self, dual: &Dual, rows: &Rows, run: &mut Run) -> Result<Solved, Refused> {
        let (begun, cpu_begun) = (Instant::now(), machine::cpu_seconds());
        let simplex =
            l2_svm(dual.ids().to_vec(), dual.sign().to_vec(), self.c).map_err(|_| self.refused(&FrankWolfeError::Kernel))?;
        let seed = self.usual.seed.wrapping_add((run.machine as u64) << 32);
        let start =
            if self.two_points { two_point_start(&simplex, rows, seed) } else { random_start(&simplex, rows, POINTS, seed) };
        let start = start.map_err(|error| self.refused(&error))?;
        let sampling = self.usual.sampling.map(|sampling| Sampling { seed, ..sampling });
        let config = FrankWolfeConfig { rule: self.rule, sampling, par: run.par, ..FrankWolfeConfig::of(self.usual.method) };
        let mut outcome = if self.by_smo {
            sum::smo(&simplex, rows, &start, self.rule, run)?
        } else {
            solve(&simplex, rows, start, &config, &run.stop, run.control).map_err(|error| self.refused(&error))?
        };
        let train_seconds = begun.elapsed().as_secs_f64();
        let cpu_seconds = machine::cpu_seconds().zip(cpu_begun).map(|(now, begun)| now - begun);

        let scaled = ordinary(&simplex, &outcome.solution).ok_or_else(|| self.refused(&FrankWolfeError::Kernel))?;
        let Solution { alpha, bias, gradient, status, work, .. } = &mut outcome.solution;
        if outcome.evidence != Evidence::FullScan {
            *gradient = exact_gradient(&simplex, rows.gram(), alpha, run.par, &RunControl::unlimited()).expect("unlimited");
        }
        let certificate = certify_gradient(&simplex, rows.gram(), alpha, *bias, gradient);
        let square = -0.5 / scaled.objective;
        let solution = Solution {
            bias: decision(&simplex, &scaled.alpha, 1.0).bias,
            gradient: gradient.iter().map(|g| g / square - 1.0).collect(),
            alpha: scaled.alpha,
            status: *status,
            work: *work,
            weights: None,
        };
        let own = simplex.ids().iter().map(|&id| rows.gram().diagonal()[id] + simplex.ridge());
        let radius2 = own.fold(f64::NEG_INFINITY, f64::max) - square;
        let certify_seconds = begun.elapsed().as_secs_f64() - train_seconds;
        self.trained.lock().unwrap_or_else(PoisonError::into_inner).push(MachineTraining {
            machine: run.machine,
            outcome,
            certificate,
            ordinary_objective: -scaled.objective,
            radius2,
            train_seconds,
            cpu_seconds,
            certify_seconds,
        });
        Ok(Solved { solution, exact: true, counts: Vec::new() })
    }

    fn refused(&self, error: &FrankWolfeError) -> Refused {
        Refused::failed(self.usual.name(), error)
    }
}

/// Returns the support as hexadecimal digits, four variables each, the first in the lowest bit: 1
/// where α is above 0.
fn support(alpha: &[f64]) -> String {
    let digit = |four: &[f64]| four.iter().rev().fold(0, |digit, a| 2 * digit + u32::from(*a > 0.0));
    alpha.chunks(4).filter_map(|four| char::from_digit(digit(four), 16)).collect()
}

impl Solve for OnSimplex {
    fn name(&self) -> &'static str {
        self.usual.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.usual.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.usual.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, _: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(self.name(), space)?;
        self.train(dual, rows, run)
    }
}

impl MeasuredSolver for OnSimplex {
    fn formulation(&self, c: f64) -> Formulation {
        Formulation::Svc { c: 0.5 * c, loss: Loss::SquaredHinge, bias_term: BiasTerm::Feature(1.0) }
    }

    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        let mut trained = self.trained.lock().unwrap_or_else(PoisonError::into_inner);
        trained.sort_by_key(|t| t.machine);
        let sum = |of: fn(&MachineTraining) -> u64| trained.iter().map(of).sum();
        let certificates = || trained.iter().map(|t| t.certificate);
        let only = if let [only] = &trained[..] { Some(only) } else { None };
        let weakest = trained.iter().map(|t| t.outcome.evidence).max_by_key(|e| *e as usize);
        measured.rows_computed = sum(|t| t.outcome.solution.work.rows_computed);
        measured.objective = certificates().map(|c| c.dual).sum();
        measured.kkt = worst(certificates().map(|c| c.kkt));
        measured.relative_gap = worst(certificates().map(|c| c.relative_gap()));
        measured.certify_seconds = trained.iter().map(|t| t.certify_seconds).sum();
        measured.simplex = Some(Simplex {
            train_rows: training.data.labels.len(),
            classes: training.classes.map_or(1, ClassLabels::count),
            train_seconds: trained.iter().map(|t| t.train_seconds).sum(),
            cpu_seconds: trained.iter().map(|t| t.cpu_seconds).sum(),
            core_set: trained.iter().map(|t| t.outcome.core_set).sum(),
            evidence: weakest.map_or_else(String::new, |evidence| format!("{evidence:?}")),
            toward_steps: sum(|t| t.outcome.steps.toward),
            away_steps: sum(|t| t.outcome.steps.away),
            swap_steps: sum(|t| t.outcome.steps.swap),
            drop_steps: sum(|t| t.outcome.steps.drop),
            rounds: sum(|t| t.outcome.steps.rounds),
            samples: sum(|t| t.outcome.steps.samples),
            ordinary_objective: only.map(|only| only.ordinary_objective),
            radius2: only.map(|only| only.radius2),
            support: only.filter(|_| training.cell.simplex.support).map(|only| support(&only.outcome.solution.alpha)),
            gamma: training.kernel.gamma().unwrap_or(training.cell.setting.gamma),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::support;

    #[test]
    fn a_digit_holds_four_samples() {
        assert_eq!(support(&[0.5, 0.0, 0.0, 1.0, 0.0, 1e-300]), "92");
        assert_eq!(support(&[0.0; 4]), "0");
    }
}
