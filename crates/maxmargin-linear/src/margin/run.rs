//! The entry point for linear machines with a differentiable loss.

use crate::config::{Config, LinearWork, Method};
use crate::margin::conjugate::Systems;
use crate::margin::context::MarginRun;
use crate::margin::dual::{Certifier, DescentEnd};
use crate::margin::evaluate::Targets;
use crate::margin::l1_problem::L1Problem;
use crate::margin::lasso::LassoGoal;
use crate::margin::newton::{L2Problem, NewtonGoal};
use crate::margin::passes::Passes;
use crate::margin::store::ColumnStore;
use crate::run::SweepControl;
use crate::second_order::system::DIRECT;
use crate::solve::LinearError;
use maxmargin_core::{Certificate, MarginLoss, MarginProblem, Penalty, RunControl, Status, Stop, certify_margin};
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::{FeatureRows, Job};
use std::sync::OnceLock;

/// The weights of a linear machine with their certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginSolution {
    /// The weights, one for each column of the matrix ([`Matrix::unpack`] names their features).
    pub w: Vec<f64>,
    /// The certificate, computed from the weights alone.
    pub certificate: Certificate,
    /// The end of the run.
    pub status: Status,
    /// The cost of the run.
    pub work: LinearWork,
}

/// A solver for problems over one matrix, which share a copy of it by columns where one is needed.
pub struct MarginSolver<'m, 's> {
    matrix: &'m Matrix<'s>,
    store: OnceLock<ColumnStore>,
}

/// The times that a run continues at a share of the goal before it is given up, and that share.
const ROUNDS: (u32, f64) = (4, 0.2);

/// The columns up to which rows are read as they are.
const NARROW: usize = DIRECT;

impl<'m, 's> MarginSolver<'m, 's> {
    /// Returns a solver for problems over the rows of `matrix`.
    pub fn new(matrix: &'m Matrix<'s>) -> Self {
        Self { matrix, store: OnceLock::new() }
    }

    /// Minimises `problem` from `start`, or from zero, until the certificate meets `stop.goal`.
    /// [`Method::Hybrid`] and [`Method::Newton`] make Newton steps. For logistic regression with
    /// the L2 norm, the other two are coordinate descents on the dual; for the L1 norm, coordinate
    /// descents inside the Newton steps. The same seed gives the same bits for any number of
    /// threads.
    ///
    /// # Errors
    ///
    /// When the matrix has another number of rows than the problem, or of columns than the start,
    /// and for the squared hinge loss with the L2 norm by coordinate descent, which
    /// [`crate::solve()`] makes.
    pub fn solve(
        &self,
        problem: &MarginProblem,
        start: Option<&[f64]>,
        config: &Config,
        stop: &Stop,
        control: &RunControl,
    ) -> Result<MarginSolution, LinearError> {
        let (rows, width) = (self.matrix.len(), self.width());
        if problem.len() != rows {
            return Err(LinearError::Rows { found: problem.len(), expected: rows });
        }
        if let Some(start) = start.filter(|start| start.len() != width) {
            return Err(LinearError::Start { found: start.len(), expected: width });
        }
        let descends = matches!(config.method, Method::Descent | Method::Avsf);
        if descends && problem.penalty() == Penalty::L2 {
            if problem.loss() == MarginLoss::SquaredHinge {
                return Err(LinearError::SquaredHinge);
            }
            if problem.free_column(width).is_some() {
                return Err(LinearError::FreeBias);
            }
        }
        let config = &config.for_passes(self.matrix.entries(), rows);
        let control = SweepControl::new(stop, control);
        let (memory, work) = (self.matrix.memory_budget(), LinearWork::default());
        let mut run = MarginRun { config, control, memory, work, until: u64::MAX };
        let mut w = start.map_or_else(|| vec![0.0; width], <[f64]>::to_vec);
        let mut aim = NewtonGoal { gap: stop.goal.gap().unwrap_or(f64::INFINITY), kkt: stop.goal.kkt().unwrap_or(f64::INFINITY) };
        for round in 0.. {
            let found = self.minimise(problem, w, aim, &mut run);
            w = found.w;
            let certificate = found.certificate.unwrap_or_else(|| certify_margin(problem, self.matrix, &w, config.par));
            let met = stop.goal.met(&certificate);
            let limited = run.control.ended.is_some_and(|ended| ended != Status::Stalled);
            if met || limited || round == ROUNDS.0 || run.control.ended.is_some() {
                let ended = run.control.ended.unwrap_or(Status::Stalled);
                let status = if met { Status::Converged } else { ended };
                return Ok(MarginSolution { w, certificate, status, work: run.work });
            }
            aim = NewtonGoal { gap: ROUNDS.1 * aim.gap, kkt: ROUNDS.1 * aim.kkt };
        }
        unreachable!("the last round returns")
    }

    fn width(&self) -> usize {
        struct Width;
        impl Job for Width {
            type Out = usize;
            fn run<R: FeatureRows>(self, rows: &R) -> usize {
                rows.width()
            }
        }
        self.matrix.visit(Width)
    }

    fn minimise(&self, problem: &MarginProblem, w: Vec<f64>, goal: NewtonGoal, run: &mut MarginRun) -> Minimum {
        self.matrix.visit(Minimise { solver: self, problem, w, goal, run })
    }
}

struct Minimise<'a, 'm, 's, 'r> {
    solver: &'a MarginSolver<'m, 's>,
    problem: &'a MarginProblem,
    w: Vec<f64>,
    goal: NewtonGoal,
    run: &'a mut MarginRun<'r>,
}

/// Weights, and their certificate where the solver has it.
struct Minimum {
    w: Vec<f64>,
    certificate: Option<Certificate>,
}

impl Job for Minimise<'_, '_, '_, '_> {
    type Out = Minimum;

    fn run<R: FeatureRows>(self, rows: &R) -> Minimum {
        let Self { solver, problem, w, goal, run } = self;
        let (width, par) = (rows.width(), run.config.par);
        let certifier = Certifier { problem, squares: solver.matrix.squares(), goal: run.control.stop.goal };
        if problem.penalty() == Penalty::L2 {
            let ids: Vec<usize> = (0..rows.len()).filter(|&i| problem.cost()[i] > 0.0).collect();
            let targets = targets_of(problem, &ids);
            let of_rows =
                L2Problem { passes: Passes { rows, ids, columns: None, par }, targets, free: problem.free_column(width) };
            let is_dense = 2 * rows.entries() > rows.len() * width;
            if width <= NARROW || is_dense || matches!(run.config.method, Method::Descent | Method::Avsf) {
                return by_method(&of_rows, w, &certifier, goal, run);
            }
            if sweeps_first(problem, &w, width, run) {
                // Coordinate descent while it pays: it needs no copy by columns.
                let end = of_rows.dual_descent(&certifier, true, run);
                if !end.is_slow {
                    return Minimum { w: end.w, certificate: end.certificate };
                }
                // Newton steps begin at zero: from the weights of a slow descent they take longer.
            }
        }
        let store = solver.store.get_or_init(|| ColumnStore::new(rows));
        let free = problem.free_column(width).and_then(|column| store.place(column));
        let all: Vec<usize> = (0..rows.len()).collect();
        let (start, targets) = (store.pack(&w), targets_of(problem, &all));
        let found = match problem.penalty() {
            Penalty::L1 => {
                let goal = LassoGoal { gap: goal.gap, kkt: goal.kkt };
                L1Problem { store, targets, free, par }.solve(start, goal, run)
            }
            Penalty::L2 => {
                let passes = Passes { rows: &store.rows, ids: all, columns: Some(&store.columns), par };
                L2Problem { passes, targets, free }.newton_from(start, goal, run)
            }
        };
        Minimum { w: store.unpack(&found, width), certificate: None }
    }
}

/// Returns true if a run over many columns begins with coordinate descent on the dual: logistic
/// regression without a free bias, from zero.
fn sweeps_first(problem: &MarginProblem, w: &[f64], width: usize, run: &MarginRun) -> bool {
    problem.loss() == MarginLoss::Logistic
        && problem.free_column(width).is_none()
        && run.config.method == Method::Hybrid
        && w.iter().all(|w| *w == 0.0)
}

/// Makes Newton steps, or descends from zero if the method says so.
fn by_method<R: FeatureRows>(
    problem: &L2Problem<R>,
    w: Vec<f64>,
    certifier: &Certifier,
    goal: NewtonGoal,
    run: &mut MarginRun,
) -> Minimum {
    match run.config.method {
        Method::Hybrid | Method::Newton => {
            Minimum { w: problem.newton(w, goal, &mut Systems::default(), run), certificate: None }
        }
        Method::Descent | Method::Avsf => {
            let DescentEnd { w, certificate, .. } = problem.dual_descent(certifier, false, run);
            Minimum { w, certificate }
        }
    }
}

fn targets_of(problem: &MarginProblem, ids: &[usize]) -> Targets {
    let of = |values: &[f64]| ids.iter().map(|&i| values[i]).collect();
    Targets { loss: problem.loss(), sign: of(problem.sign()), cost: of(problem.cost()) }
}
