//! `grid`: cross-validation for every combination of C, γ and kernel, over kernel values that are computed once for all C.

mod choice;
mod document;
mod log;
mod outer;
mod page;
mod plot;
mod scales;

use crate::args::{GridArgs, SvmArgs, Taken, Widths};
use crate::cv::{folds_file, plan, tell_of_cold_starts, write_folds};
use crate::failure::{Done, Failure};
use crate::input::Input;
use crate::notes::Notes;
use crate::output::{Output, show};
use crate::places::{Content, Places};
use crate::problem::{Asked, Prepared, failed};
use crate::progress::{Bar, Phase};
use crate::report::{End, Seconds, words};
use crate::threads::Threads;
use crate::{advice, format, model_io};
use choice::Choice;
use document::{CellDocument, GridDocument};
use log::Log;
use maxmargin::core::Status;
use maxmargin::cv::CvReport;
use maxmargin::data::ClassLabels;
use maxmargin::{Attended, Ranges, Search, Svm};
use serde_json::json;
use std::time::Instant;

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
    let mut svm = asked.svm()?;
    let needs = asked.needs()?;
    let choice = Choice::new(needs, args.search.metric.as_deref())?;
    let mut places = Places::new(args.write.force);
    places.reads(folds_file(&args.folds));
    places.reads([&args.data.source]);
    places.reads(args.problem.weights.as_deref());
    let folds_output = args.folds.write_folds.as_deref().map(|path| places.output(path, Content::Text)).transpose()?;
    let csv = args.csv.as_deref().map(|path| places.output(path, Content::Text)).transpose()?;
    let lines = args.out_grid.as_deref().map(|path| places.output(path, Content::Text)).transpose()?;
    let picture = args.plot.as_deref().map(|path| places.output(path, Content::Text)).transpose()?;
    let page = args.report.as_deref().map(|path| places.output(path, Content::Text)).transpose()?;
    let model = args.output.as_deref().map(|path| places.output(path, Content::Model)).transpose()?;
    let threads = Threads::new(run.threads)?;
    let input = asked.load(&args.data, (begun, &threads), &mut notes)?;
    let (plan, fold_plan) = plan(&args.folds, needs, &input, &args.data.options)?;
    write_folds(folds_output, &plan)?;
    let mut scales = None;
    if args.whole && svm_args.problem.scale.is_none() {
        let (about, how) = ((&choice, needs, args.data.options.seed), (threads.par(), run.quiet));
        let left = run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        let timed = left.into_iter().fold(svm.clone(), Svm::max_time);
        let (scale, tried) = scales::pick(&timed, &input, about, how)?;
        (svm_args.problem.scale, scales) = (scale, Some(tried));
    }
    let asked = Asked { seeding, ..Asked::new(command, &svm_args, None, &args.data) };
    if args.whole {
        svm = asked.svm()?;
    }
    let Prepared { svm, classes, setup } = asked.prepare(svm, &input, (begun, &threads), &mut notes)?;
    choice.check(classes.as_ref())?;
    let widths = match (&args.search.gamma, args.whole) {
        (_, true) => Widths::Values(scales::widths(&input.data, svm_args.problem.scale)),
        (given, false) => given.clone(),
    };
    let (ranges, columns) = ranges(args, &widths);
    let search = search(args, ranges, &choice);
    let settings = json!({
        "seeding": seeding.name(),
        "max_iter": run.max_iter,
        "shrinking": !args.solver.no_shrinking,
        "equal_rows": args.solver.equal_rows,
    });
    let log = Log::open(&args.log, &setup, (&plan, settings))?;
    let found = {
        let bar = Bar::cells(run.quiet, columns * ranges_of_c(&svm, args));
        let attended = Attended { watch: &bar, logs: &log };
        let each = |svm: &Svm, report: CvReport| CellDocument::new(svm, &report, &choice, (&input.data.labels, &setup, run.json));
        svm.search(&input.data, &plan, &search, attended, each).map_err(|e| failed(&input, &e))?
    };
    let outer = match args.outer {
        Some(k) if found.cells.len() == found.wanted => {
            let left = run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let svm = left.into_iter().fold(svm.clone(), Svm::max_time);
            Some(outer::judge(&svm, k, &input, (&search, &log), args)?)
        }
        _ => None,
    };
    log.settle(&mut notes)?;
    let documents = || found.cells.iter().map(|cell| &cell.found);
    if let Some(cell) = documents().next() {
        tell_of_cold_starts(seeding.name(), cell.found.seeding(), &notes);
    }
    for failed in &found.failed {
        notes.warn(format!("not tried: {}: {}", document::parameters(&failed.svm), failed.found));
    }
    let tried = args.log.shard.map_or(found.wanted, |share| {
        let checked = found.wanted / ranges_of_c(&svm, args);
        (0..checked).filter(|at| at % share.of == share.first).count() * ranges_of_c(&svm, args)
    });
    let complete = warn(&documents().collect::<Vec<_>>(), tried, &mut notes);
    let best = maxmargin::best(&found.cells, choice.metric());
    let simplest = maxmargin::one_standard_error(&found.cells, choice.metric());
    let flattest = maxmargin::flattest(&found.cells, choice.metric());
    let taken = match args.search.how.take {
        Taken::Best => best,
        Taken::OneSe => simplest,
        Taken::Flattest => flattest,
    };
    let rows = input.data.labels.len();
    let majority = classes.as_ref().map(largest);
    let chosen = best.map(|at| &found.cells[at].found);
    let shown = if args.search.how.random.is_some() { [Vec::new(), Vec::new()] } else { ranges_shown(documents()) };
    warn_of_best(chosen, majority, (rows, &shown), (args, &choice), &mut notes);
    if let Some(csv) = csv {
        csv.write(|out| document::write_csv(out, choice.name(), documents()))?;
    }
    if let Some(lines) = lines {
        lines.write(|out| document::write_out(out, &choice, documents()))?;
    }
    if let Some(picture) = picture {
        picture.write(|out| plot::write(out, &documents().collect::<Vec<_>>(), chosen, &choice))?;
    }
    let ended = found.cells.len() < tried || documents().any(|cell| cell.found.solved.status.ended_early());
    if let (true, Some(folder)) = (ended, &args.log.log) {
        notes.say(&format!("{}: what is done is kept; the same command goes on from there", folder.display()));
    }
    let refit = match (model, taken.filter(|_| !ended)) {
        (Some(output), Some(at)) => {
            // The limit is for the search and this together.
            let left = run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let svm = left.into_iter().fold(found.cells[at].svm.clone(), Svm::max_time);
            let svm = args.probability.probability.into_iter().fold(svm, Svm::probability);
            Some(refit(&svm, &input, output, &mut notes, args)?)
        }
        (Some(output), None) => {
            let why = if ended { "the search was ended before it was through" } else { "no combination converged" };
            notes.warn(format!("{}: nothing is written, {why}", output.name()));
            None
        }
        (None, _) => None,
    };
    let total = |of: fn(&Seconds) -> Option<f64>| Some(documents().filter_map(|cell| of(&cell.parts)).sum());
    let seconds = Seconds {
        read: input.seconds,
        kernel: total(|s| s.kernel),
        seed: total(|s| s.seed),
        solve: total(|s| s.solve),
        certify: total(|s| s.certify),
        total: begun.elapsed().as_secs_f64(),
    };
    let status = documents().map(|p| p.found.solved.status).reduce(Status::worse).unwrap_or(Status::Interrupted);
    let mut drawn = Vec::new();
    if page.is_some() {
        // Writing to memory cannot fail.
        let _ = plot::write(&mut drawn, &documents().collect::<Vec<_>>(), chosen, &choice);
    }
    let again = found.again;
    let cells: Vec<CellDocument> = found.cells.into_iter().map(|cell| cell.found).collect();
    let [best, one_se, flattest] = [best, simplest, flattest].map(|at| at.map(|at| cells[at].parameters()));
    let total_iterations = again + cells.iter().map(|cell| cell.found.total_iterations).sum::<u64>();
    let unfinished = refit.as_ref().is_some_and(|refit| refit.status != Status::Converged);
    let document = GridDocument {
        setup,
        k: plan.folds(),
        fold_plan,
        metric: choice.name(),
        scales,
        status,
        best_c: best.as_ref().and_then(|best| best.c),
        best,
        one_se,
        flattest,
        total_iterations,
        majority: majority.map(|majority| majority.1 as f64 / rows as f64),
        outer,
        cells,
        refit,
        seconds,
        end: End::now(&threads, &notes),
    };
    if let Some(page) = page {
        page.write(|out| page::write(out, &document, &choice, &String::from_utf8_lossy(&drawn)))?;
    }
    show(&document, run.json.is_some(), |document| document::text(document, &choice), None)?;
    let judged = document.outer.as_ref().is_none_or(outer::OuterDocument::is_complete);
    Ok(if complete && judged && !unfinished { Done::Finished } else { Done::Stopped })
}

/// Says where nothing was learnt, and where there may be better.
fn warn_of_best(
    best: Option<&CellDocument>,
    majority: Option<(f64, usize)>,
    (rows, shown): (usize, &[Vec<f64>; 2]),
    (args, choice): (&GridArgs, &Choice),
    notes: &mut Notes,
) {
    match (best, majority) {
        (Some(best), Some(majority)) if choice.is_default() && best.found.correct <= majority.1 => {
            notes.warn(no_better(best, majority, rows, args));
        }
        (Some(best), None) if best.found.scores.get("r2").is_some_and(|r2| *r2 <= 0.0) => {
            notes.warn(format!("no combination beats always saying the mean of the targets; try {}", tries(args).join(", ")));
        }
        (Some(best), _) => best.on_border(shown).into_iter().for_each(|what| notes.warn(what)),
        _ => {}
    }
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

/// The values of C and γ that were tried, ascending.
fn ranges_shown<'a>(cells: impl Iterator<Item = &'a CellDocument> + Clone) -> [Vec<f64>; 2] {
    let ascending = |of: fn(&CellDocument) -> Option<f64>| {
        let mut values: Vec<f64> = cells.clone().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    [ascending(|cell| cell.c), ascending(|cell| cell.gamma)]
}

/// How the ranges are searched.
fn search(args: &GridArgs, ranges: Ranges, choice: &Choice) -> Search {
    let how = &args.search.how;
    let mut search = Search::new(ranges).metric(choice.metric());
    search = how.random.into_iter().fold(search, |search, cells| search.random(cells as usize));
    for (asked, with) in [
        (how.fast, Search::fast as fn(Search) -> Search),
        (how.prune, Search::prune),
        (how.halving, Search::halving),
        (how.extend, Search::extend),
        (how.refine, Search::refine),
    ] {
        search = if asked { with(search) } else { search };
    }
    search
}

/// The best, trained on all data and written.
fn refit(svm: &Svm, input: &Input, output: Output, notes: &mut Notes, args: &GridArgs) -> Result<document::Refit, Failure> {
    let (model, quiet) = (output.name().to_owned(), args.run.quiet);
    let fitted = {
        let bar = Bar::new(quiet, input.data.labels.len());
        svm.fit_watched(&input.data, &bar).map_err(|e| failed(input, &e))?
    };
    if fitted.status != Status::Converged {
        notes
            .warn(format!("{model}: {}", advice::unfinished(fitted.status, &fitted.certificate, svm.resolved_goal(), &args.run)));
    }
    if let Some(why) = fitted.calibration.as_ref().and_then(|calibration| calibration.missing) {
        notes.warn(format!("the model has no probabilities: {why}"));
    }
    let support_vectors = fitted.model.support_vectors();
    let decide = args.probability.decide.decide(&fitted.model);
    let written = fitted.model.with_decide(decide).map_err(|e| Failure::input(&input.name, e))?;
    let _writing = Phase::new(quiet, format!("writing {model}"));
    model_io::save(&written, output)?;
    Ok(document::Refit { model, status: fitted.status, certificate: fitted.certificate, support_vectors })
}

/// The label of the largest class, of equals the first, and its size.
fn largest(classes: &ClassLabels) -> (f64, usize) {
    let sizes = classes.sizes().iter().copied();
    classes.labels().iter().copied().zip(sizes).rev().max_by_key(|(_, size)| *size).unwrap_or_default()
}

/// What else there is to try.
fn tries(args: &GridArgs) -> Vec<&'static str> {
    let mut tries = vec!["larger values of C (-c)"];
    tries.extend(args.search.kernels().iter().any(|kernel| kernel.gamma().is_some()).then_some("other widths (-g)"));
    let can_scale = args.problem.scale.is_none() && !args.search.kernels().contains(&maxmargin::kernel::Kernel::Precomputed);
    tries.extend(can_scale.then_some("scaled features (--scale minmax)"));
    tries
}

/// What to do when nothing was learnt.
fn no_better(best: &CellDocument, (label, size): (f64, usize), rows: usize, args: &GridArgs) -> String {
    let mut tries = tries(args);
    tries.extend(args.problem.weight.is_empty().then_some("a weight for the rare classes (--weight LABEL=W)"));
    format!(
        "nothing beats the majority class: always guessing {} is right for {:.4} %, the best combination for {:.4} %; try {}",
        format::exact(label),
        100.0 * size as f64 / rows as f64,
        100.0 * best.found.correct as f64 / rows as f64,
        tries.join(", "),
    )
}

/// Cells that a warning names one by one.
const NAMED: usize = 10;

/// Says what is missing; whether nothing is.
fn warn(cells: &[&CellDocument], wanted: usize, notes: &mut Notes) -> bool {
    if cells.len() < wanted {
        notes.warn(format!("{} of {wanted} combinations were not reached", wanted - cells.len()));
    }
    let open = cells.iter().filter(|cell| cell.found.solved.status != Status::Converged);
    let open: Vec<String> = open.map(|cell| format!("{} ({})", cell.text(), words(cell.found.solved.status))).collect();
    if !open.is_empty() {
        let more = if open.len() > NAMED { format!(" and {} more", open.len() - NAMED) } else { String::new() };
        let named = open[..open.len().min(NAMED)].join(", ");
        notes.warn(format!("not converged: {named}{more}; --max-iter, --time-limit or a looser --eps or --gap"));
    }
    open.is_empty() && cells.len() == wanted
}
