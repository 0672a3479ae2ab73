//! `grid`: cross-validation for every combination of C, γ and kernel, over kernel values that are
//! computed once for all C.

mod choice;
mod curves;
mod descended;
mod document;
mod end;
mod log;
mod outer;
mod page;
mod picture;
mod plot;
mod scales;

use crate::args::{GridArgs, ScaleName, SvmArgs, Widths};
use crate::failure::{Done, Failure};
use crate::folds::{folds_file, plan, write_folds};
use crate::input::Input;
use crate::notes::Notes;
use crate::output::Output;
use crate::places::{Content, Places};
use crate::problem::{Asked, Prepared, failed};
use crate::progress::Bar;
use crate::threads::Threads;
use choice::Choice;
use document::CellDocument;
use end::Searched;
use log::Log;
use maxmargin::core::TargetKind;
use maxmargin::cv::CvReport;
use maxmargin::data::ClassLabels;
use maxmargin::{Ranges, Search, SearchHooks, Svm};
use picture::Picture;
use serde_json::{Value, json};
use std::time::Instant;

/// Where a search writes.
#[derive(Debug)]
struct Files {
    folds: Option<Output>,
    csv: Option<Output>,
    /// As grid.py writes them.
    lines: Option<Output>,
    picture: Option<Picture>,
    page: Option<Output>,
    model: Option<Output>,
}

impl Files {
    /// All that is asked for, checked before the work begins.
    fn open(args: &GridArgs) -> Result<Self, Failure> {
        let mut places = Places::new(args.write.force);
        places.reads(folds_file(&args.folds));
        places.reads([&args.data.source]);
        places.reads(args.problem.weights.as_deref());
        let mut text =
            |path: &Option<std::path::PathBuf>| path.as_deref().map(|path| places.output(path, Content::Text)).transpose();
        let (folds, csv, lines) = (text(&args.folds.write_folds)?, text(&args.csv)?, text(&args.out_grid)?);
        let page = text(&args.report)?;
        let picture = args.plot.as_deref().map(|path| Picture::open(path, &mut places)).transpose()?;
        let model = args.output.as_deref().map(|path| places.output(path, Content::Model)).transpose()?;
        Ok(Self { folds, csv, lines, picture, page, model })
    }
}

pub(crate) fn run(args: &GridArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut svm_args = SvmArgs {
        kernel: args.search.middle(),
        problem: args.problem.clone(),
        solver: args.solver.clone(),
        run: args.run.clone(),
    };
    let run = &args.run;
    let mut notes = Notes::new(run.quiet);
    let seeding = args.folds.seeding.seeding;
    let command = if args.whole { "search" } else { "grid" };
    let asked = Asked { seeding, ..Asked::new(command, &svm_args, None, &args.data) };
    let svm = asked.svm()?;
    let needs = asked.target_kind()?;
    if args.output.is_none() && !args.probability.fits().is_nothing() {
        let what = "--probability and --threshold are for the model of the best combination; name its file (-o)";
        return Err(Failure::Usage(what.to_owned()));
    }
    let choice = Choice::new(needs, args.search.metric.as_deref())?;
    let mut files = Files::open(args)?;
    let threads = Threads::new(run.threads)?;
    let input = asked.load(&args.data, (begun, &threads), &mut notes)?;
    let (plan, fold_plan) = plan(&args.folds, needs, &input, &args.data.options, &mut notes)?;
    write_folds(files.folds.take(), &plan)?;
    let scales = if args.whole && svm_args.problem.scale.is_none() {
        let classes = (needs == TargetKind::Classes).then(|| ClassLabels::new(&input.data.labels)).transpose();
        let classes = classes.map_err(|e| Failure::input(&input.name, e))?;
        let svm = asked.weighted(svm, classes.as_ref())?;
        let (scale, tried) = scaled(&svm, &input, (args, &choice, needs), (begun, &threads))?;
        svm_args.problem.scale = scale;
        Some(tried)
    } else {
        None
    };
    // Once more, with the scaling that was found.
    let asked = Asked { seeding, ..Asked::new(command, &svm_args, None, &args.data) };
    let Prepared { svm, classes, setup } = asked.prepare(asked.svm()?, &input, (begun, &threads), &mut notes)?;
    choice.check(classes.as_ref())?;
    // After the search it would be late.
    args.probability.fits().check(classes.as_ref(), &input.data.labels).map_err(|e| failed(&input, &e))?;
    let widths = match (&args.search.gamma, args.whole) {
        (_, true) => Widths::Values(scales::widths(&input.data, &svm_args.problem)),
        (given, false) => given.clone(),
    };
    let (ranges, columns) = ranges(args, &widths);
    let search = search(args, ranges, &choice);
    let log = Log::open(&args.log, &setup, (&plan, settings(args)))?;
    let found = {
        let bar = Bar::cells(run.quiet, columns * ranges_of_c(&svm, args));
        let attended = SearchHooks { watch: &bar, logs: &log };
        let each = |svm: &Svm, report: CvReport| CellDocument::new(svm, &report, &choice, (&input.data.labels, &setup, run.json));
        svm.search(&input.data, &plan, &search, attended, each).map_err(|e| failed(&input, &e))?
    };
    let outer = match args.outer {
        Some(k) if found.cells.len() == found.planned => {
            let left = run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let svm = left.into_iter().fold(svm.clone(), Svm::max_time);
            Some(outer::judge(&svm, k, &input, (&search, &log), args)?)
        }
        _ => None,
    };
    log.settle(&mut notes)?;
    let folds = (plan.folds(), fold_plan);
    Searched { args, begun, choice, input, folds, svm, classes, setup, scales, found, outer }.end(files, &threads, notes)
}

/// How samples are to be scaled, and what was tried.
fn scaled(
    svm: &Svm,
    input: &Input,
    (args, choice, needs): (&GridArgs, &Choice, TargetKind),
    (begun, threads): (Instant, &Threads),
) -> Result<(Option<ScaleName>, Vec<scales::Tried>), Failure> {
    let left = args.run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
    let timed = left.into_iter().fold(svm.clone(), Svm::max_time);
    scales::pick(&timed, input, (choice, needs, args.problem.impute, args.data.options.seed), (threads.par(), args.run.quiet))
}

/// What cells depend on and documents do not say.
fn settings(args: &GridArgs) -> Value {
    json!({
        "seeding": args.folds.seeding.seeding.name(),
        "max_iter": args.run.max_iter,
        "shrinking": !args.solver.no_shrinking,
        "equal_rows": args.solver.equal_rows,
    })
}

/// What is tried, and how many columns that makes.
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

/// Values of C of each column.
fn ranges_of_c(svm: &Svm, args: &GridArgs) -> usize {
    if svm.formulation().c().is_some() { args.search.c.0.len() } else { 1 }
}

/// How the ranges are searched.
fn search(args: &GridArgs, ranges: Ranges, choice: &Choice) -> Search {
    let how = &args.search.how;
    let mut search = Search::new(ranges).metric(choice.metric());
    search = how.random.into_iter().fold(search, |search, cells| search.random(cells as usize));
    search = how.fast.into_iter().fold(search, Search::fast_within);
    for (asked, with) in [
        (how.prune, Search::prune as fn(Search) -> Search),
        (how.halving, Search::halving),
        (how.extend, Search::extend),
        (how.refine, Search::refine),
        (how.gradient, Search::gradient),
        (how.per_feature, Search::gradient_per_feature),
    ] {
        search = if asked { with(search) } else { search };
    }
    search
}
