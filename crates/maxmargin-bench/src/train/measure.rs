//! One training on all data: the product's study, of any number of classes, with a solver that
//! reports figures of its own.

use super::contender::{MeasuredSolver, Training};
use super::linear::OwnRule;
use super::simplex::OnSimplex;
use super::smo::SmoAndFinish;
use super::study::{Posed, options, study};
use super::trace::TracedSolver;
use super::working_sets::WorkingSetSolver;
use super::{ddag, linear, svmlight};
use crate::cell::job::{Train, Trainer};
use crate::data::{input, split};
use crate::failure::Failure;
use crate::measured::{Measured, WorkingSets};
use maxmargin::Solver;
use maxmargin::core::{Dual, Formulation, Refused, Run, Solve, Solved, Start, TargetKind};
use maxmargin::cv::RunControl;
use maxmargin::data::{ClassLabels, Par, Samples};
use maxmargin::kernel::{KernelKind, Space, gamma_mean};
use maxmargin::linear::Method;
use maxmargin::smo::Smo;
use maxmargin::solvers::SmoFinish;
use std::time::Instant;

/// The product's default: SMO that merges equal samples and hands slow problems over, for any
/// formulation.
struct DefaultSolver {
    solver: SmoFinish,
    formulation: Option<Formulation>,
}

impl Solve for DefaultSolver {
    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.solver.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.solver.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        self.solver.solve(dual, space, start, run)
    }
}

impl MeasuredSolver for DefaultSolver {
    fn formulation(&self, c: f64) -> Formulation {
        self.formulation.unwrap_or_else(|| Formulation::c_svc(c))
    }

    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        measured.chunks = Some(WorkingSets::of(training.fitted));
        Ok(())
    }
}

/// Returns the solver of a cell; none for another program.
fn contender(cell: &Train) -> Option<Box<dyn MeasuredSolver>> {
    let linear = |method| Box::new(OwnRule::of(method, cell));
    let Trainer::Ours(solver) = cell.solver else { return None };
    let contender: Box<dyn MeasuredSolver> = match solver {
        Solver::Linear => linear(Method::Hybrid),
        Solver::Descent => linear(Method::Descent),
        Solver::Avsf => linear(Method::Avsf),
        Solver::Newton => linear(Method::Newton),
        Solver::Irwls => Box::new(WorkingSetSolver::of(cell)),
        Solver::Cvm | Solver::Fw | Solver::Mfw | Solver::Swap | Solver::Pairwise => Box::new(OnSimplex::of(solver, cell)),
        Solver::Smo if cell.simplex.simplex => Box::new(OnSimplex::of(solver, cell)),
        Solver::Auto => Box::new(DefaultSolver {
            solver: SmoFinish { hands_over: true, merge_equal_rows: true, ..SmoFinish::default() },
            formulation: cell.task.formulation(cell.setting.c),
        }),
        _ => match cell.finish_from {
            Some(from) => Box::new(SmoAndFinish::from(from)),
            None => Box::new(Smo::default()),
        },
    };
    Some(if cell.trace { Box::new(TracedSolver::new(contender)) } else { contender })
}

pub(crate) fn measure(cell: &Train, par: Par) -> Result<Measured, Failure> {
    let setting = &cell.setting;
    if cell.solver.is_linear() && setting.kernel.name != "linear" {
        return Err(Failure::LinearKernel);
    }
    let (source, _file) = if cell.solver.reads_files() { input::as_file(&setting.data)? } else { (setting.data.clone(), None) };
    let begun = Instant::now();
    let (data, test) = split::load(cell, &source, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let Some(contender) = contender(cell) else {
        let classes = ClassLabels::new(&data.labels)?;
        let program = if cell.solver == Trainer::SvmLight { svmlight::program } else { linear::program };
        let total = program(cell, &source, &data, &classes, par)?;
        return Ok(Measured { read_seconds, ..total });
    };
    let formulation = contender.formulation(setting.c);
    let classes = if formulation.target_kind() == TargetKind::Classes { Some(ClassLabels::new(&data.labels)?) } else { None };
    let classes = classes.as_ref();
    let gamma = if cell.mean_width { mean_gamma(setting.kernel, &data.samples) } else { setting.gamma };
    let kernel = setting.kernel_of(gamma)?;
    let weights = vec![1.0; classes.map_or(0, ClassLabels::count)];
    let posed = Posed { data: &data, classes, weights: &weights, kernel: &kernel, formulation, solver: &*contender };
    let options = options(&posed, par);
    let study = study(setting, &posed, &options);
    let fitted = study.train(&RunControl::unlimited())?;
    let process_seconds = begun.elapsed().as_secs_f64();
    let mut measured = Measured { read_seconds, total_seconds: process_seconds - read_seconds, ..Measured::of(&fitted) };
    if let Some(test) = &test {
        measured.accuracy = Some(accuracy(&fitted.predict(&test.samples)?, &test.labels));
        if let Some(classes) = classes.filter(|classes| classes.count() > 2) {
            let values = fitted.decision_values(&test.samples)?;
            measured.accuracy_ddag = Some(accuracy(&ddag::labels(&values, classes), &test.labels));
        }
    }
    let training = Training { cell, data: &data, classes, kernel: &kernel, fitted: &fitted, process_seconds, par };
    contender.add_figures(&training, &mut measured)?;
    Ok(measured)
}

/// Returns the percentage of labels that are as predicted.
fn accuracy(predicted: &[f64], labels: &[f64]) -> f64 {
    let right = predicted.iter().zip(labels).filter(|(predicted, label)| predicted == label).count();
    100.0 * right as f64 / labels.len() as f64
}

/// Returns γ from the mean squared distance of two samples: `1 / 2σ²` for an RBF, `1 / σ²` for
/// another kernel.
fn mean_gamma(kernel: &KernelKind, samples: &Samples) -> f64 {
    let gamma = gamma_mean(samples);
    if kernel.name == "rbf" { gamma } else { 2.0 * gamma }
}
