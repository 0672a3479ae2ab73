//! `train`: one model of all data, with its certificate.

use crate::args::TrainArgs;
use crate::failure::{Done, Failure};
use crate::input::{self, Input};
use crate::linear::{self, Linear};
use crate::multiclass;
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::problem::{self, Prepared};
use crate::progress::Bar;
use crate::report::{Certified, DataDocument, End, TrainDocument, train_report};
use crate::solver::Solver;
use crate::threads::Threads;
use crate::{advice, memory, model_io};
use maxmargin::core::{Certificate, Dual, Solution, Start, Status, Stop};
use maxmargin::data::Par;
use maxmargin::kernel::{Gram, KernelGram, RowWork, Rows};
use maxmargin::linear::{LinearSolution, LinearWork, Matrix};
use maxmargin::model::{Asked, Model, Record};
use maxmargin::{CSvcSolver, Kept, solve_c_svc};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a training gave and what it took.
struct Trained {
    solution: Solution,
    certificate: Certificate,
    work: RowWork,
    linear: Option<LinearWork>,
    solve_seconds: f64,
}

pub(crate) fn run(args: &TrainArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let path = args.output.clone().unwrap_or_else(|| default_model(&args.data.source));
    let on_stdout = path.as_os_str() == "-";
    if args.run.json && on_stdout {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a model file".to_owned()));
    }
    let output = Output::open(&path)?;
    let model_name = output.name().to_owned();
    let threads = Threads::new(args.run.threads)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let solver = Solver::of(&args.solver, args.kernel.kernel, args.updatable, args.data.options.seed)?;
    if let Some(labels) = multiclass::asked(&solver, false, &input)? {
        return multiclass::train(args, &solver, &input, labels, &threads, begun, output, notes);
    }
    let prepared = problem::prepare(&args.kernel, &args.problem, &input, &mut notes)?;
    let (linear, kernel) = match solver {
        Solver::Linear(linear) => (Some(linear), CSvcSolver::Smo),
        Solver::Kernel(solver) => (None, solver),
        Solver::L2(_) => (None, CSvcSolver::Smo),
    };
    let failed = |e: String| Failure::input(&input.name, e);
    let (trained, mut model) = match &linear {
        Some(linear) => train_linear(args, linear, &input, &prepared, &threads, &mut notes)?,
        None => train_kernel(args, kernel, &input, &prepared, &threads, &mut notes)?,
    };
    let Trained { solution, certificate, .. } = &trained;
    if solution.status != Status::Converged || !certificate.holds(args.run.eps) {
        notes.warn(advice::unfinished(solution.status, certificate, &args.run));
    }
    if args.updatable {
        model = Kept::new(input.data.clone()).put_into(model).map_err(|e| failed(e.to_string()))?;
    }
    model_io::save(&model, output)?;

    let document = TrainDocument {
        data: DataDocument::new(&input.name, &input.data),
        kernel: prepared.document.clone(),
        solver: solver.name(),
        linear: linear.map(|l| l.document(trained.linear)),
        c: args.problem.c,
        weights: prepared.weights,
        eps: args.run.eps,
        scale: problem::scale_name(&args.problem),
        status: solution.status,
        iterations: solution.work.iterations,
        rows_computed: trained.work.computed,
        kernel_bytes: trained.work.peak_bytes,
        objective: -certificate.dual,
        bias: solution.bias,
        support_vectors: model.support_vectors(),
        bounded: model.record().map_or(0, |r| r.bounded as usize),
        certificate: Certified::new(certificate, args.run.eps),
        model: model_name,
        read_seconds: input.seconds,
        kernel_seconds: trained.work.time.as_secs_f64(),
        solve_seconds: trained.solve_seconds,
        total_seconds: begun.elapsed().as_secs_f64(),
        end: End::now(&threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else if on_stdout {
        // Standard output is the model; the report goes where notes go.
        notes.say(train_report(&document).trim_end());
    } else {
        print(&train_report(&document))?;
    }
    Ok(if solution.status == Status::Converged { Done::Finished } else { Done::Stopped })
}

/// Trains over kernel values.
fn train_kernel(
    args: &TrainArgs,
    solver: CSvcSolver,
    input: &Input,
    prepared: &Prepared,
    threads: &Threads,
    notes: &mut Notes,
) -> Result<(Trained, Model), Failure> {
    let samples = prepared.samples(input);
    let gram = KernelGram::new(samples, prepared.kernel.clone()).map_err(|e| Failure::input(&input.name, e))?;
    problem::warn_of_scale(samples, &prepared.kernel, &gram, input.data.index_base, args.data.options.seed, notes);
    let budget = args.run.memory.unwrap_or_else(memory::default_budget);
    let labels = prepared.labels.signs.clone();
    let dual = Dual::c_svc((0..samples.len()).collect(), labels, prepared.upper.clone());
    let dual = dual.map_err(|e| Failure::input(&input.name, e))?;
    notes.say(&problem::start_line(input, prepared, &gram, budget, threads));
    let trained = train(args, solver, &dual, &gram, budget, threads.par()).map_err(|e| Failure::input(&input.name, e))?;
    let model = model_of(args, input, prepared, &dual, &trained).map_err(|e| Failure::input(&input.name, e))?;
    Ok((trained, model))
}

/// Trains a linear SVM on the rows themselves; the model keeps its weights.
fn train_linear(
    args: &TrainArgs,
    linear: &Linear,
    input: &Input,
    prepared: &Prepared,
    threads: &Threads,
    notes: &mut Notes,
) -> Result<(Trained, Model), Failure> {
    let samples = prepared.samples(input);
    linear::announce(input, samples, threads, notes);
    let seed = args.data.options.seed;
    let failed = |e: &dyn std::fmt::Display| Failure::input(&input.name, e);
    let svm = linear.svm(args.problem.c, prepared.weights, stop(args), seed, threads.par());
    let dual = svm.dual(&prepared.labels, args.problem.c).map_err(|e| failed(&e))?;
    let begun = Instant::now();
    let bar = Bar::new(args.run.quiet);
    let matrix = Matrix::new(samples, linear.offset.feature(), threads.par());
    let start = Start::zero(&dual).map_err(|e| failed(&e))?;
    let solved = maxmargin::linear::solve(&matrix, &dual, start, &svm.cv().config, &stop(args), &mut &bar);
    bar.finish();
    let LinearSolution { w, solution, certificate, work } = solved.map_err(|e| failed(&e))?;
    let asked = Asked { c: args.problem.c, weights: prepared.weights, eps: args.run.eps };
    let what = (linear.loss, linear.offset);
    let record = Record::of_weights(&input.data, asked, what, &dual, &solution, certificate);
    let model = Model::from_weights(samples.features(), &prepared.labels, &w, solution.bias)
        .and_then(|model| model.with_index_base(input.data.index_base))
        .and_then(|model| model.with_record(record))
        .and_then(|model| match &prepared.scaled {
            Some((scaler, _)) => model.with_scaler(scaler.clone()),
            None => Ok(model),
        });
    let solve_seconds = begun.elapsed().as_secs_f64();
    let trained = Trained { solution, certificate, work: RowWork::default(), linear: Some(work), solve_seconds };
    Ok((trained, model.map_err(|e| failed(&e))?))
}

fn stop(args: &TrainArgs) -> Stop {
    Stop { tol: args.run.eps, max_iter: args.run.max_iter, max_time: args.run.time_limit }
}

fn train(args: &TrainArgs, solver: CSvcSolver, dual: &Dual, gram: &dyn Gram, budget: u64, par: Par) -> Result<Trained, String> {
    let rows = Rows::new(gram, budget, par);
    let stop = stop(args);
    let start = Start::zero(dual).map_err(|e| e.to_string())?;
    let begun = Instant::now();
    let bar = Bar::new(args.run.quiet);
    let solved = solve_c_svc(solver, dual, &rows, start, par, &stop, &mut &bar);
    bar.finish();
    let (solution, certificate) = solved.map_err(|e| e.to_string())?;
    Ok(Trained { solution, certificate, work: rows.work(), linear: None, solve_seconds: begun.elapsed().as_secs_f64() })
}

fn model_of(
    args: &TrainArgs,
    input: &Input,
    prepared: &Prepared,
    dual: &Dual,
    trained: &Trained,
) -> Result<Model, maxmargin::model::ModelError> {
    let Trained { solution, certificate, .. } = trained;
    let asked = Asked { c: args.problem.c, weights: prepared.weights, eps: args.run.eps };
    let record = Record::of(&input.data, asked, dual, solution, *certificate);
    let samples = prepared.samples(input);
    let model = Model::from_solution(prepared.kernel.clone(), samples, &prepared.labels, dual, solution)?
        .with_index_base(input.data.index_base)?
        .with_record(record)?;
    match &prepared.scaled {
        Some((scaler, _)) => model.with_scaler(scaler.clone()),
        None => Ok(model),
    }
}

/// The data's own name with `.model`, in the current directory.
fn default_model(source: &str) -> PathBuf {
    let name = if source == "-" { Path::new("stdin") } else { Path::new(source) };
    let name = name.file_name().map_or_else(|| "data".into(), |n| n.to_string_lossy().into_owned());
    let packed = [".gz", ".bz2", ".xz"].into_iter().find_map(|end| name.strip_suffix(end));
    PathBuf::from(format!("{}.model", packed.unwrap_or(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_after_their_data() {
        assert_eq!(default_model("../data/a9a.xz"), Path::new("a9a.model"));
        assert_eq!(default_model("heart"), Path::new("heart.model"));
        assert_eq!(default_model("-"), Path::new("stdin.model"));
        assert_eq!(default_model("banana"), Path::new("banana.model"));
    }
}
