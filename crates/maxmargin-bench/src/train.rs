//! One training on all data: the product's study, of any number of classes, around a solver that
//! says more than its solutions.

use crate::cell::{KernelName, Setting, Train, Trainer};
use crate::failure::Failure;
use crate::irwls::WorkingSetSolver;
use crate::linear::OwnRule;
use crate::measured::{Measured, WorkingSets};
use crate::simplex::OnSimplex;
use crate::smo::SmoAndFinish;
use crate::trace::Traced;
use crate::{input, linear, split, svmlight};
use maxmargin::Solver;
use maxmargin::core::{Dual, Formulation, Refused, Run, Solve, Solved, Start, TargetKind};
use maxmargin::cv::{Fitted, Quiet, Study};
use maxmargin::data::{ClassLabels, Dataset, Par, Samples};
use maxmargin::kernel::{Kernel, Space};
use maxmargin::linear::Method;
use maxmargin::smo::Smo;
use maxmargin::solvers::SmoFinish;
use std::time::Instant;

/// A solver, and what is measured of it alone.
pub(crate) trait Contender: Solve {
    /// The problem that the cell's C means.
    fn formulation(&self, c: f64) -> Formulation {
        Formulation::c_svc(c)
    }

    /// Adds what it knows of a training to what is measured of all.
    fn tell(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure>;
}

/// A training that is over.
pub(crate) struct Training<'a> {
    pub(crate) cell: &'a Train,
    pub(crate) data: &'a Dataset,
    /// None where there are no classes.
    pub(crate) classes: Option<&'a ClassLabels>,
    pub(crate) kernel: &'a Kernel,
    pub(crate) fitted: &'a Fitted,
    /// Reading included.
    pub(crate) process_seconds: f64,
    pub(crate) par: Par,
}

/// What users get who ask for nothing: SMO that joins equal samples and hands over what is slow,
/// for any formulation.
struct Product {
    solver: SmoFinish,
    formulation: Option<Formulation>,
}

impl Solve for Product {
    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.solver.takes(formulation, features)
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        self.solver.solve(dual, space, start, run)
    }
}

impl Contender for Product {
    fn formulation(&self, c: f64) -> Formulation {
        self.formulation.unwrap_or_else(|| Formulation::c_svc(c))
    }

    fn tell(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        measured.chunks = Some(WorkingSets::of(training.fitted));
        Ok(())
    }
}

/// The solver of a cell; none for another program.
fn contender(cell: &Train) -> Option<Box<dyn Contender>> {
    let linear = |method| Box::new(OwnRule::of(method, cell));
    let Trainer::Ours(solver) = cell.solver else { return None };
    let contender: Box<dyn Contender> = match solver {
        Solver::Linear => linear(Method::Hybrid),
        Solver::Descent => linear(Method::Descent),
        Solver::Avsf => linear(Method::Avsf),
        Solver::Newton => linear(Method::Newton),
        Solver::Irwls => Box::new(WorkingSetSolver::of(cell)),
        Solver::Cvm | Solver::Fw | Solver::Mfw | Solver::Swap | Solver::Pairwise => Box::new(OnSimplex::of(solver, cell)),
        Solver::Smo if cell.simplex.simplex => Box::new(OnSimplex::of(solver, cell)),
        Solver::Auto => Box::new(Product {
            solver: SmoFinish { hands_over: true, merge_equal_rows: true, ..SmoFinish::default() },
            formulation: cell.task.formulation(cell.setting.c),
        }),
        _ => match cell.finish_from {
            Some(from) => Box::new(SmoAndFinish::from(from)),
            None => Box::new(Smo::default()),
        },
    };
    Some(if cell.trace { Box::new(Traced::new(contender)) } else { contender })
}

pub(crate) fn measure(cell: &Train, par: Par) -> Result<Measured, Failure> {
    let setting = &cell.setting;
    if cell.solver.is_linear() && setting.kernel != KernelName::Linear {
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
    let study = study(setting, (&data, classes, &weights), (&kernel, formulation, &*contender), par);
    let fitted = study.train(&Quiet)?;
    let process_seconds = begun.elapsed().as_secs_f64();
    let mut measured = Measured { read_seconds, total_seconds: process_seconds - read_seconds, ..Measured::of(&fitted) };
    if let Some(test) = &test {
        let predicted = fitted.predict(&test.samples)?;
        let right = predicted.iter().zip(&test.labels).filter(|(predicted, label)| predicted == label).count();
        measured.accuracy = Some(100.0 * right as f64 / test.labels.len() as f64);
    }
    let training = Training { cell, data: &data, classes, kernel: &kernel, fitted: &fitted, process_seconds, par };
    contender.tell(&training, &mut measured)?;
    Ok(measured)
}

/// The product's study of the machines of a cell, each of `weights` a factor of C of a class.
pub(crate) fn study<'a>(
    setting: &Setting,
    (data, classes, weights): (&'a Dataset, Option<&'a ClassLabels>, &'a [f64]),
    (kernel, formulation, solver): (&'a Kernel, Formulation, &'a dyn Solve),
    par: Par,
) -> Study<'a> {
    Study {
        data,
        classes,
        sample_weights: None,
        multiclass: maxmargin::model::Multiclass::OneVsOne,
        kernel,
        gamma: None,
        scale: None,
        impute: None,
        feature_weights: None,
        formulation,
        weights,
        class_weights: maxmargin::cv::ClassWeights::Given,
        solver,
        stop: setting.stop(),
        memory: setting.budget(),
        par,
    }
}

/// γ from the mean squared distance of two samples, `2 (mean ‖x‖² − ‖mean x‖²)`.
fn mean_gamma(kernel: KernelName, samples: &Samples) -> f64 {
    let mut mean = vec![0.0; samples.features()];
    let mut norms = 0.0;
    for i in 0..samples.len() {
        samples.row(i).for_each(|k, v| {
            mean[k] += v;
            norms += v * v;
        });
    }
    let n = samples.len() as f64;
    let distance = 2.0 * (norms / n - mean.iter().map(|m| (m / n) * (m / n)).sum::<f64>());
    if kernel == KernelName::Rbf { 0.5 / distance } else { 1.0 / distance }
}
