//! `grid`: cross-validation for every combination of C, γ and kernel, over kernel values that are computed once for all C.

mod choice;
mod document;
mod log;
mod plot;

use crate::args::{GridArgs, Share, SvmArgs, Widths};
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
use maxmargin::{Attended, Ranges, Svm};
use serde_json::json;
use std::time::Instant;

pub(crate) fn run(args: &GridArgs) -> Result<Done, Failure> {
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
    let asked = Asked { seeding, ..Asked::new("grid", &svm_args, None, &args.data) };
    let svm = asked.svm()?;
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
    let model = args.output.as_deref().map(|path| places.output(path, Content::Model)).transpose()?;
    let threads = Threads::new(run.threads)?;
    let input = asked.load(&args.data, (begun, &threads), &mut notes)?;
    let (plan, fold_plan) = plan(&args.folds, needs, &input, &args.data.options)?;
    write_folds(folds_output, &plan)?;
    let Prepared { svm, classes, setup } = asked.prepare(svm, &input, (begun, &threads), &mut notes)?;
    choice.check(classes.as_ref())?;
    let (ranges, columns) = ranges(args);
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
        svm.grid_attended(&input.data, &plan, &ranges, attended, each).map_err(|e| failed(&input, &e))?
    };
    log.settle(&mut notes)?;
    let documents = || found.cells.iter().map(|cell| &cell.found);
    if let Some(cell) = documents().next() {
        tell_of_cold_starts(seeding.name(), cell.found.seeding(), &notes);
    }
    for failed in &found.failed {
        notes.warn(format!("not tried: {}: {}", document::parameters(&failed.svm), failed.found));
    }
    let share = args.log.shard.unwrap_or(Share { first: 0, of: 1 });
    let tried = (0..columns - found.failed.len()).filter(|at| at % share.of == share.first).count() * ranges_of_c(&svm, args);
    let complete = warn(&documents().collect::<Vec<_>>(), tried, &mut notes);
    let converged = (0..found.cells.len()).filter(|&at| found.cells[at].found.converged());
    let best = choice.best(converged.map(|at| (at, found.cells[at].found.score)));
    let rows = input.data.labels.len();
    let majority = classes.as_ref().map(largest);
    let chosen = best.map(|at| &found.cells[at].found);
    warn_of_best(chosen, majority, rows, (args, &svm, &choice), &mut notes);
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
    let refit = match (model, best.filter(|_| !ended)) {
        (Some(output), Some(at)) => {
            // The limit is for the search and this together.
            let left = run.time_limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let svm = left.into_iter().fold(found.cells[at].svm.clone(), Svm::max_time);
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
    let cells: Vec<CellDocument> = found.cells.into_iter().map(|cell| cell.found).collect();
    let best = best.map(|at| cells[at].parameters());
    let unfinished = refit.as_ref().is_some_and(|refit| refit.status != Status::Converged);
    let document = GridDocument {
        setup,
        k: plan.folds(),
        fold_plan,
        metric: choice.name(),
        status,
        best_c: best.as_ref().and_then(|best| best.c),
        best,
        majority: majority.map(|majority| majority.1 as f64 / rows as f64),
        cells,
        refit,
        seconds,
        end: End::now(&threads, &notes),
    };
    show(&document, run.json.is_some(), |document| document::text(document, &choice), None)?;
    Ok(if complete && !unfinished { Done::Finished } else { Done::Stopped })
}

/// Says where nothing was learnt, and where there may be better.
fn warn_of_best(
    best: Option<&CellDocument>,
    majority: Option<(f64, usize)>,
    rows: usize,
    (args, svm, choice): (&GridArgs, &Svm, &Choice),
    notes: &mut Notes,
) {
    match (best, majority) {
        (Some(best), Some(majority)) if choice.is_default() && best.found.correct <= majority.1 => {
            notes.warn(no_better(best, majority, rows, args));
        }
        (Some(best), None) if best.found.scores.get("r2").is_some_and(|r2| *r2 <= 0.0) => {
            notes.warn(format!("no combination beats always saying the mean of the targets; try {}", tries(args).join(", ")));
        }
        (Some(best), _) => best.on_border(&ranges_shown(args, svm)).into_iter().for_each(|what| notes.warn(what)),
        _ => {}
    }
}

/// What is tried, and how many columns that makes.
fn ranges(args: &GridArgs) -> (Ranges, usize) {
    let kernels = args.search.kernels();
    let mut ranges = Ranges::new().c(&args.search.c.0).kernels(&kernels);
    let mut columns = kernels.len();
    if let Widths::Values(values) = &args.search.gamma {
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

/// The ranges of C and γ that have ends.
fn ranges_shown(args: &GridArgs, svm: &Svm) -> [Vec<f64>; 2] {
    let c = if svm.formulation().c().is_some() { args.search.c.0.clone() } else { Vec::new() };
    let gamma = if let Widths::Values(values) = &args.search.gamma { values.clone() } else { Vec::new() };
    [c, gamma]
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
    let support_vectors = fitted.model.support_vectors();
    let _writing = Phase::new(quiet, format!("writing {model}"));
    model_io::save(&fitted.model, output)?;
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
