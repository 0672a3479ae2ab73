//! More than two classes: a machine for each pair. Also problems of two classes whose solver keeps models of this form.

mod document;
mod folds;
mod info;
mod predict;
mod verify;

pub(crate) use folds::cross_validate;
pub(crate) use info::{MulticlassModelInfo, model_text};
pub(crate) use predict::run as predict;
pub(crate) use verify::run as verify;

use crate::args::TrainArgs;
use crate::failure::{Done, Failure};
use crate::input::Input;
use crate::linear;
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::problem::{self, PreparedClasses};
use crate::progress::Bar;
use crate::report::{DataDocument, End};
use crate::solver::Solver;
use crate::threads::Threads;
use crate::{advice, format, memory, model_io};
use document::{MulticlassTrainDocument, PairDocument, train_report};
use maxmargin::core::{Certificate, Status, Stop};
use maxmargin::cv::{CvProgress, CvWatch};
use maxmargin::data::{ClassLabels, Samples};
use maxmargin::kernel::{Kernel, KernelGram};
use maxmargin::{LinearSvm, Multiclass, MulticlassTrained, SvmError};
use std::time::Instant;

/// Rows that warnings about the kernel look at, about.
const LOOKED_AT: usize = 2000;

/// The classes, where they, the solver or the caller ask for a machine for each pair.
pub(crate) fn asked(solver: &Solver, caller: bool, input: &Input) -> Result<Option<ClassLabels>, Failure> {
    let labels = ClassLabels::new(&input.data.labels).map_err(|e| Failure::input(&input.name, e))?;
    Ok((labels.count() > 2 || caller || matches!(solver, Solver::L2(_))).then_some(labels))
}

/// Trains as `solver` says.
fn solve(
    solver: &Solver,
    problem: &Multiclass,
    kernel: &Kernel,
    memory: u64,
    seed: u64,
    watch: &dyn CvWatch,
) -> Result<MulticlassTrained, SvmError> {
    match solver {
        Solver::Kernel(solver) => problem.train_c_svc(kernel, memory, *solver, watch),
        Solver::Linear(linear) => problem.train_linear(&linear_svm(linear, problem, seed), watch),
        Solver::L2(l2) => problem.train_l2(kernel, memory, &l2.config(seed, problem.par), watch),
    }
}

/// The trainer of each pair.
fn linear_svm(linear: &linear::Linear, problem: &Multiclass<'_>, seed: u64) -> LinearSvm {
    linear.svm(problem.c, [1.0; 2], problem.stop, seed, problem.par)
}

/// Whether a machine is what was asked for.
fn met(solver: &Solver, certificate: &Certificate, eps: f64) -> bool {
    match solver {
        Solver::L2(l2) => l2.gap.map_or_else(|| certificate.holds(eps), |gap| certificate.relative_gap() <= gap),
        _ => certificate.holds(eps),
    }
}

/// One line before the work.
fn announce(input: &Input, prepared: &PreparedClasses, solver: &Solver, seed: u64, threads: &Threads, notes: &mut Notes) {
    let samples = prepared.samples(input);
    if let Solver::Linear(_) = solver {
        return linear::announce(input, samples, threads, notes);
    }
    // The matrix of the training is made where it is trained; the warnings look at a few entries, for which some rows will do.
    let some: Vec<usize> = (0..samples.len()).step_by(samples.len().div_ceil(LOOKED_AT).max(1)).collect();
    if let Ok(gram) = KernelGram::new(&samples.select(&some), prepared.kernel.clone()) {
        problem::warn_of_scale(samples, &prepared.kernel, &gram, input.data.index_base, seed, notes);
    }
    notes.say(&format!(
        "{}: {} rows, {} features, {} classes; {} kernel, {} pair{} of classes, {} thread{}",
        input.name,
        format::count(samples.len() as u64),
        format::count(samples.features() as u64),
        prepared.labels.count(),
        prepared.document.text(),
        prepared.labels.pairs(),
        if prepared.labels.pairs() == 1 { "" } else { "s" },
        threads.count(),
        if threads.count() == 1 { "" } else { "s" },
    ));
}

/// The problem that the options describe, over `samples`.
fn problem_of<'a>(
    args: &crate::args::ProblemArgs,
    stop: Stop,
    input: &'a Input,
    samples: &'a Samples,
    prepared: &'a PreparedClasses,
    threads: &'a Threads,
) -> Multiclass<'a> {
    Multiclass {
        data: &input.data,
        samples,
        labels: &prepared.labels,
        c: args.c,
        weights: &prepared.weights,
        stop,
        par: threads.par(),
    }
}

/// `train` for these problems; the output is open already.
#[expect(clippy::too_many_arguments, reason = "what `train` has made so far")]
pub(crate) fn train(
    args: &TrainArgs,
    solver: &Solver,
    input: &Input,
    labels: ClassLabels,
    threads: &Threads,
    begun: Instant,
    output: Output,
    mut notes: Notes,
) -> Result<Done, Failure> {
    if args.updatable {
        let what = format!("--updatable: {} classes; only models of two can be updated", labels.count());
        return Err(Failure::Usage(what));
    }
    let model_name = output.name().to_owned();
    let on_stdout = args.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let failed = |e: &dyn std::fmt::Display| Failure::input(&input.name, e);
    let prepared = problem::prepare_classes(&args.kernel, &args.problem, input, labels, &mut notes)?;
    let seed = args.data.options.seed;
    announce(input, &prepared, solver, seed, threads, &mut notes);
    let stop = Stop { tol: args.run.eps, max_iter: args.run.max_iter, max_time: args.run.time_limit };
    let problem = problem_of(&args.problem, stop, input, prepared.samples(input), &prepared, threads);
    let solving = Instant::now();
    let bar = Bar::new(args.run.quiet);
    let watch = |progress: &CvProgress| bar.cv_tick(progress);
    let memory = args.run.memory.unwrap_or_else(memory::default_budget);
    let trained = solve(solver, &problem, &prepared.kernel, memory, seed, &watch);
    bar.finish();
    let trained = trained.map_err(|e| failed(&e))?;
    let solve_seconds = solving.elapsed().as_secs_f64();
    let model = match &prepared.scaled {
        Some((scaler, _)) => trained.model.clone().with_scaler(scaler.clone()).map_err(|e| failed(&e))?,
        None => trained.model.clone(),
    };
    let record = model.record().ok_or_else(|| failed(&"the model has no record"))?;
    let missed =
        record.pairs.iter().filter(|p| p.status != Status::Converged || !met(solver, &p.certificate, args.run.eps)).count();
    if missed > 0 {
        let what = advice::unfinished(trained.status, &trained.worst.1, &args.run);
        notes.warn(format!("{missed} of {} machines are unfinished; the worst: {what}", record.pairs.len()));
    }
    model_io::save_multiclass(&model, output)?;
    let document = MulticlassTrainDocument {
        data: DataDocument::new(&input.name, &input.data),
        kernel: prepared.document.clone(),
        solver: solver.name(),
        linear: if let Solver::Linear(linear) = solver { Some(linear.document(trained.linear)) } else { None },
        l2: if let Solver::L2(l2) = solver { Some(l2.document()) } else { None },
        c: args.problem.c,
        weights: prepared.weights.clone(),
        eps: args.run.eps,
        scale: problem::scale_name(&args.problem),
        status: trained.status,
        iterations: trained.iterations,
        rows_computed: trained.kernel.computed,
        kernel_bytes: trained.kernel.peak_bytes,
        support_vectors: model.support_vectors(),
        missed,
        pairs: PairDocument::of(&model, args.run.eps),
        model: model_name,
        read_seconds: input.seconds,
        kernel_seconds: trained.kernel.time.as_secs_f64(),
        solve_seconds,
        total_seconds: begun.elapsed().as_secs_f64(),
        end: End::now(threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else if on_stdout {
        notes.say(train_report(&document).trim_end());
    } else {
        print(&train_report(&document))?;
    }
    Ok(if trained.status == Status::Converged { Done::Finished } else { Done::Stopped })
}
