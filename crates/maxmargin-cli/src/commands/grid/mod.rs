//! `grid`: cross-validation for every combination of C, γ and kernel, with kernel values that all C
//! share.

mod cell;
mod choice;
mod curves;
mod descended;
mod document;
mod end;
mod log;
mod outer;
mod page;
mod plot;
mod reproduction;
mod scales;
mod warnings;

use crate::args::{GridArgs, SvmArgs, Widths};
use crate::console::failure::{Failure, Outcome};
use crate::console::notes::Notes;
use crate::console::progress::Bar;
use crate::files::input::Input;
use crate::files::output::Output;
use crate::files::output_paths::{Content, OutputPaths};
use crate::files::picture::Picture;
use crate::machine::threads::Threads;
use crate::problem::folds::{folds_file, plan, write_folds};
use crate::problem::groups::with_groups;
use crate::problem::{PreparedProblem, ProblemRequest, RunContext, failed, label_failure};
use cell::CellDocument;
use choice::Choice;
use end::FinishedSearch;
use log::Log;
use maxmargin::core::TargetKind;
use maxmargin::cv::{CvReport, FoldPlan};
use maxmargin::data::ClassLabels;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::{Ranges, Search, SearchHooks, Svm};
use serde_json::{Value, json};
use std::time::Instant;

/// The outputs of a search.
#[derive(Debug)]
struct Files {
    folds: Option<Output>,
    csv: Option<Output>,
    /// In the format of grid.py.
    lines: Option<Output>,
    picture: Option<Picture>,
    page: Option<Output>,
    model: Option<Output>,
}

impl Files {
    /// Opens all requested outputs before the work begins.
    fn open(args: &GridArgs) -> Result<Self, Failure> {
        let mut paths = OutputPaths::new(args.write.force);
        paths.reads(folds_file(args.folds.folds.as_ref()));
        paths.reads([&args.data.source]);
        paths.reads(args.problem.weights.as_deref());
        let mut text =
            |path: &Option<std::path::PathBuf>| path.as_deref().map(|path| paths.output(path, Content::Text)).transpose();
        let (folds, csv, lines) = (text(&args.folds.write_folds)?, text(&args.csv)?, text(&args.out_grid)?);
        let page = text(&args.report)?;
        let picture = args.plot.as_deref().map(|path| Picture::open(path, &mut paths)).transpose()?;
        let model = args.output.as_deref().map(|path| paths.output(path, Content::Model)).transpose()?;
        Ok(Self { folds, csv, lines, picture, page, model })
    }
}

pub(crate) fn run(args: &GridArgs) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let svm_args = SvmArgs {
        kernel: args.search.middle(),
        problem: args.problem.clone(),
        solver: args.solver.clone(),
        run: args.run.clone(),
    };
    let run = &args.run;
    let mut notes = Notes::new(run.quiet);
    let seeding = args.folds.seeding.seeding;
    let command = if args.whole { "search" } else { "grid" };
    let mut request = svm_args.request(command, None, &args.data.options)?.seeded(seeding);
    let svm = request.svm()?;
    let needs = request.target_kind();
    check_output(args)?;
    let choice = Choice::new(svm.formulation().into(), args.search.metric.as_deref())?;
    let mut files = Files::open(args)?;
    let threads = Threads::new(run.threads)?;
    let context = RunContext { begun, threads: &threads };
    let read = with_groups(args.data.request(), [args.folds.source_of_groups()]);
    let input = request.load(&read, context, &mut notes)?;
    let choice = choice.of_data(args.search.metric.as_deref(), args.whole, &input, &mut notes)?;
    let (plan, fold_plan) = plan(&args.folds.request(&args.data.options), needs, &input, &mut notes)?;
    write_folds(files.folds.take(), &plan)?;
    let scales = if args.whole && request.options.scale.is_none() {
        let (scale, tried) = scaling(&request, svm, &input, &plan, args, &choice, context)?;
        request.options.scale = scale;
        Some(tried)
    } else {
        None
    };
    let PreparedProblem { svm, data, classes, setup } = request.prepare(request.svm()?, &input, context, &mut notes)?;
    choice.check(classes.as_ref())?;
    // Checked now, because after the search it would be too late.
    args.probability.calibration_options().check(classes.as_ref(), &input.data.labels).map_err(|e| failed(&input, &e))?;
    let widths = if args.whole { scales::widths(&data) } else { args.search.gamma.clone() };
    let (ranges, columns) = ranges(args, &widths);
    let search = search(args, ranges, &choice);
    let log = Log::open(&args.log, &setup, &plan, settings(args))?;
    let found = {
        let bar = Bar::cells(run.quiet, columns * ranges_of_c(&svm, args));
        let attended = SearchHooks { control: &bar.control(), logs: &log };
        let each =
            |svm: &Svm, report: CvReport| CellDocument::new(svm, &report, &choice, &input.data.labels, &setup, run.detail());
        svm.search(&data, &plan, &search, attended, each).map_err(|e| failed(&input, &e))?
    };
    let outer = match args.outer {
        Some(k) if found.cells.len() == found.planned => {
            let left = run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let svm = left.into_iter().fold(svm.clone(), Svm::max_time);
            Some(outer::nested(&svm, k, &input, &search, &log, args)?)
        }
        _ => None,
    };
    log.settle(&mut notes)?;
    let folds = (plan.folds(), fold_plan);
    FinishedSearch { args, begun, choice, input: &input, data: &data, folds, svm, classes, setup, scales, found, outer }
        .end(files, &threads, notes)
}

/// Refuses options of a model where none is written.
fn check_output(args: &GridArgs) -> Result<(), Failure> {
    if args.output.is_none() && !args.probability.calibration_options().is_nothing() {
        let what = "--probability and --threshold are for the model of the best combination; name its file with -o";
        return Err(Failure::Usage(what.to_owned()));
    }
    Ok(())
}

/// Returns the chosen scaling and the trials.
fn scaling(
    request: &ProblemRequest,
    svm: Svm,
    input: &Input,
    plan: &FoldPlan,
    args: &GridArgs,
    choice: &Choice,
    run: RunContext<'_>,
) -> Result<(Option<ScaleMethod>, Vec<scales::ScalingTrial>), Failure> {
    let classes = (choice.target_kind() == TargetKind::Classes).then(|| ClassLabels::new(&input.data.labels)).transpose();
    let classes = classes.map_err(|e| label_failure(input, &e))?;
    let svm = request.weighted(svm, classes.as_ref())?;
    let left = args.run.time_limit.map(|limit| limit.saturating_sub(run.begun.elapsed()));
    let timed = left.into_iter().fold(svm.threads(run.threads.par()), Svm::max_time);
    let asked = args.folds.folds.as_ref().map(|_| plan);
    let options = scales::TrialOptions { seed: args.data.options.seed, quiet: args.run.quiet, plan: asked };
    scales::choose_scaling(&timed, input, choice, &options)
}

/// Returns the settings that cells depend on and documents do not hold.
fn settings(args: &GridArgs) -> Value {
    json!({
        "seeding": args.folds.seeding.seeding.name(),
        "max_iter": args.run.max_iter,
        "shrinking": !args.solver.no_shrinking,
        "equal_rows": args.solver.equal_rows,
    })
}

/// Returns the ranges and the number of their columns.
fn ranges(args: &GridArgs, widths: &Widths) -> (Ranges, usize) {
    let kernels = args.search.kernels();
    let mut ranges = Ranges::new().c(&args.search.c.0).kernels(&kernels);
    let mut columns = kernels.len();
    if let Widths::Values(values) = widths {
        ranges = ranges.gamma(values);
        let wide = kernels.iter().filter(|kernel| kernel.gamma().is_some()).count();
        columns += wide * (values.len() - 1);
    }
    (ranges, columns)
}

/// Returns the number of values of C of each column.
fn ranges_of_c(svm: &Svm, args: &GridArgs) -> usize {
    if svm.formulation().c().is_some() { args.search.c.0.len() } else { 1 }
}

/// Returns the search with the options of its strategy.
fn search(args: &GridArgs, ranges: Ranges, choice: &Choice) -> Search {
    let how = &args.search.how;
    let mut search = Search::new(ranges).metric(choice.metric());
    search = how.random.into_iter().fold(search, |search, cells| search.random(cells as usize));
    search = how.fast.into_iter().fold(search, Search::fast_within);
    for (is_on, with) in [
        (how.prune, Search::prune as fn(Search) -> Search),
        (how.halving, Search::halving),
        (how.extend, Search::extend),
        (how.refine, Search::refine),
        (how.gradient, Search::gradient),
        (how.per_feature, Search::gradient_per_feature),
    ] {
        search = if is_on { with(search) } else { search };
    }
    search
}
