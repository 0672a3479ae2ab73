//! What comes after a search: warnings, files, the model, the document.

use super::choice::Choice;
use super::descended::DescentDocument;
use super::document::{self, CellDocument, GridDocument, Refit};
use super::outer::OuterDocument;
use super::{Files, curves, page, plot, ranges_of_c, scales};
use crate::args::{GridArgs, Taken, decided};
use crate::cv::tell_of_cold_starts;
use crate::failure::{Done, Failure};
use crate::input::Input;
use crate::missing::{warn_of_calibration, warn_of_folds, warn_of_report};
use crate::notes::Notes;
use crate::output::{Output, show};
use crate::problem::failed;
use crate::progress::{Bar, Phase};
use crate::report::{End, Seconds, Setup, words};
use crate::threads::Threads;
use crate::{advice, model_io, names};
use maxmargin::core::Status;
use maxmargin::data::ClassLabels;
use maxmargin::{SearchResult, Svm};
use std::time::Instant;

/// A search that is over.
pub(super) struct Searched<'a> {
    pub(super) args: &'a GridArgs,
    pub(super) begun: Instant,
    pub(super) choice: Choice,
    pub(super) input: Input,
    /// How many, and what to call them.
    pub(super) folds: (usize, String),
    pub(super) svm: Svm,
    pub(super) classes: Option<ClassLabels>,
    pub(super) setup: Setup,
    pub(super) scales: Option<Vec<scales::Tried>>,
    pub(super) found: SearchResult<CellDocument>,
    pub(super) outer: Option<OuterDocument>,
}

impl Searched<'_> {
    fn documents(&self) -> Vec<&CellDocument> {
        self.found.cells.iter().map(|cell| &cell.result).collect()
    }

    /// Cells that were to be tried here.
    fn tried(&self) -> usize {
        self.args.log.shard.map_or(self.found.planned, |share| {
            let rows = ranges_of_c(&self.svm, self.args);
            (0..self.found.planned / rows).filter(|at| at % share.of == share.first).count() * rows
        })
    }

    /// Writes and says what came of it.
    pub(super) fn end(self, mut files: Files, threads: &Threads, mut notes: Notes) -> Result<Done, Failure> {
        let (args, choice) = (self.args, &self.choice);
        let cells = self.documents();
        let gradient = self.found.descent.as_ref().map(|descent| DescentDocument::new(descent, &cells, &self.input.data));
        // Tables and pictures of ranges are not for a cell that lies between them.
        let asked = DescentDocument::others(gradient.as_ref(), cells.iter().copied());
        if let Some(cell) = cells.first() {
            // The folds of all cells are the same.
            let classes = self.classes.as_ref().map_or(0, ClassLabels::count);
            warn_of_report(cell.found.reports(), &cell.found.missing_classes, classes, &mut notes);
            tell_of_cold_starts(args.folds.seeding.seeding.name(), cell.found.seeding(), &notes);
        }
        for failed in &self.found.failed {
            notes.warn(format!("not tried: {}: {}", document::parameters(&failed.svm), failed.result));
        }
        self.outer.iter().for_each(|outer| warn_of_folds("outer fold", &outer.missing(), &mut notes));
        let tried = self.tried();
        let complete = warn(&cells, tried, &mut notes);
        let offered = [maxmargin::best, maxmargin::one_standard_error, maxmargin::flattest];
        let [best, simplest, flattest] = offered.map(|of| of(&self.found.cells, choice.metric()));
        let majority = self.classes.as_ref().map(largest);
        let chosen = best.map(|at| cells[at]);
        let shown = if args.search.how.random.is_some() { [Vec::new(), Vec::new()] } else { ranges_shown(&asked) };
        let rows = self.input.data.labels.len();
        let only = chosen.and_then(|best| best.found.only_said());
        let only = only.and_then(|class| self.classes.as_ref()?.labels().get(class).copied());
        warn_of_best(chosen, (majority, only), (rows, &shown), (args, choice), &mut notes);
        let mut drawn = [Vec::new(), Vec::new()];
        if files.page.is_some() {
            // Writing to memory cannot fail.
            let _ = plot::write(&mut drawn[0], &asked, chosen, choice);
            let _ = curves::write(&mut drawn[1], &asked, chosen);
        }
        write(&mut files, (&cells, &asked), chosen, choice)?;
        let ended = cells.len() < tried || cells.iter().any(|cell| cell.found.solved.status.ended_early());
        if let (true, Some(folder)) = (ended, &args.log.log) {
            notes.say(&format!("{}: what is done is kept; the same command goes on from there", folder.display()));
        }
        let taken = match args.search.how.take {
            Taken::Best => self.found.best_cell(choice.metric()),
            Taken::OneSe => simplest,
            Taken::Flattest => flattest,
        };
        let refit = files.model.take().map(|output| self.refitted(output, (taken, ended), &mut notes)).transpose()?.flatten();
        let total = |of: fn(&Seconds) -> Option<f64>| Some(cells.iter().filter_map(|cell| of(&cell.parts)).sum());
        let seconds = Seconds {
            read: self.input.seconds,
            kernel: total(|s| s.kernel),
            seed: total(|s| s.seed),
            solve: total(|s| s.solve),
            certify: total(|s| s.certify),
            total: self.begun.elapsed().as_secs_f64(),
        };
        let status = cells.iter().map(|cell| cell.found.solved.status).reduce(Status::worse).unwrap_or(Status::Interrupted);
        let total_iterations = self.found.repeated_iterations + cells.iter().map(|cell| cell.found.total_iterations).sum::<u64>();
        let [best, one_se, flattest] = [best, simplest, flattest].map(|at| at.map(|at| cells[at].parameters()));
        let unfinished = refit.as_ref().is_some_and(|refit| refit.status != Status::Converged);
        let document = GridDocument {
            setup: self.setup,
            k: self.folds.0,
            fold_plan: self.folds.1,
            metric: choice.name(),
            scales: self.scales,
            status,
            best_c: best.as_ref().and_then(|best| best.c),
            best,
            one_se,
            flattest,
            gradient,
            total_iterations,
            majority: majority.map(|majority| majority.1 as f64 / rows as f64),
            outer: self.outer,
            cells: self.found.cells.into_iter().map(|cell| cell.result).collect(),
            refit,
            seconds,
            end: End::now(threads, &mut notes),
        };
        if let Some(page) = files.page {
            page.write(|out| page::write(out, &document, choice, drawn.each_ref().map(|svg| String::from_utf8_lossy(svg))))?;
        }
        show(&document, args.run.json.is_some(), |document| document::text(document, choice), None)?;
        let judged = document.outer.as_ref().is_none_or(OuterDocument::is_complete);
        Ok(if complete && judged && !unfinished { Done::Finished } else { Done::Stopped })
    }

    /// The cell at this place trained on all data, where the search came to its end.
    fn refitted(&self, output: Output, (at, ended): (Option<usize>, bool), notes: &mut Notes) -> Result<Option<Refit>, Failure> {
        let Some(at) = at.filter(|_| !ended) else {
            let why = if ended { "the search was ended before it was through" } else { "no combination converged" };
            notes.warn(format!("{}: nothing is written, {why}", output.name()));
            return Ok(None);
        };
        // The limit is for the search and this together.
        let left = self.args.run.time_limit.map(|limit| limit.saturating_sub(self.begun.elapsed()));
        let svm = left.into_iter().fold(self.found.cells[at].svm.clone(), Svm::max_time);
        let svm = self.args.probability.given(svm);
        refit(&svm, &self.input, output, notes, self.args).map(Some)
    }
}

/// Writes the tables and the picture.
fn write(
    files: &mut Files,
    (cells, asked): (&[&CellDocument], &[&CellDocument]),
    best: Option<&CellDocument>,
    choice: &Choice,
) -> Result<(), Failure> {
    if let Some(csv) = files.csv.take() {
        csv.write(|out| document::write_csv(out, choice.name(), cells.iter().copied()))?;
    }
    if let Some(lines) = files.lines.take() {
        lines.write(|out| document::write_out(out, choice, cells.iter().copied()))?;
    }
    if let Some(picture) = files.picture.take() {
        picture.write(|out| plot::write(out, asked, best, choice))?;
    }
    Ok(())
}

/// Says where nothing was learnt, and where there may be better.
fn warn_of_best(
    best: Option<&CellDocument>,
    (majority, only): (Option<(f64, usize)>, Option<f64>),
    (rows, shown): (usize, &[Vec<f64>; 2]),
    (args, choice): (&GridArgs, &Choice),
    notes: &mut Notes,
) {
    match (best, majority) {
        (Some(best), Some(majority)) if choice.is_default() && best.found.correct <= majority.1 => {
            notes.warn(no_better(best, majority, rows, args));
        }
        (Some(best), Some(_)) if only.is_some() => {
            notes.warn(format!(
                "the best combination by {} says {} of every row, whatever it is ({}); try {}",
                choice.name(),
                only.map(names::shown).unwrap_or_default(),
                best.text(),
                tries_of_classes(args).join(", ")
            ));
        }
        (Some(best), None) if best.found.scores.get("r2").is_some_and(|r2| *r2 <= 0.0) => {
            notes.warn(format!("no combination beats always saying the mean of the targets; try {}", tries(args).join(", ")));
        }
        (Some(best), _) => best.on_border(shown).into_iter().for_each(|what| notes.warn(what)),
        _ => {}
    }
}

/// The values of C and γ that were tried, ascending.
fn ranges_shown(cells: &[&CellDocument]) -> [Vec<f64>; 2] {
    let ascending = |of: fn(&CellDocument) -> Option<f64>| {
        let mut values: Vec<f64> = cells.iter().filter_map(|cell| of(cell)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    [ascending(|cell| cell.c), ascending(|cell| cell.gamma)]
}

/// The best, trained on all data and written.
fn refit(svm: &Svm, input: &Input, output: Output, notes: &mut Notes, args: &GridArgs) -> Result<Refit, Failure> {
    let (model, quiet) = (output.name().to_owned(), args.run.quiet);
    let fitted = {
        let bar = Bar::new(quiet, input.data.labels.len());
        svm.fit_watched(&input.data, &bar).map_err(|e| failed(input, &e))?
    };
    if fitted.status != Status::Converged {
        notes.warn(format!("{model}: {}", advice::unfinished(fitted.status, &fitted.certificate, svm, &args.run)));
    }
    if let Some(why) = fitted.calibration.as_ref().and_then(|calibration| calibration.missing) {
        notes.warn(format!("the model has no probabilities: {why}"));
    }
    if let Some(why) = fitted.threshold.as_ref().and_then(|threshold| threshold.missing) {
        notes.warn(format!("the model has no threshold but 0: {why}"));
    }
    warn_of_calibration(fitted.calibration.as_ref().map(|calibration| &calibration.run), notes);
    let support_vectors = fitted.model.support_vectors();
    let decide = decided(&fitted.model, args.probability.decide);
    let written = fitted.model.with_decision_rule(decide).map_err(|e| Failure::input(&input.name, e))?;
    let _writing = Phase::new(quiet, format!("writing {model}"));
    model_io::save(&written, output)?;
    let (status, certificate, threshold) = (fitted.status, fitted.certificate, fitted.threshold);
    Ok(Refit { model, status, certificate, support_vectors, threshold })
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

/// What else there is to try where there are classes.
fn tries_of_classes(args: &GridArgs) -> Vec<&'static str> {
    let mut tries = tries(args);
    tries.extend(args.problem.weight.is_empty().then_some("a weight for the rare classes (--weight LABEL=W, or balanced)"));
    tries
}

/// What to do when nothing was learnt.
fn no_better(best: &CellDocument, (label, size): (f64, usize), rows: usize, args: &GridArgs) -> String {
    format!(
        "nothing beats the majority class: always guessing {} is right for {:.4} %, the best combination for {:.4} %; try {}",
        names::shown(label),
        100.0 * size as f64 / rows as f64,
        100.0 * best.found.correct as f64 / rows as f64,
        tries_of_classes(args).join(", "),
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
