//! The end of a search: warnings, files, the model, the document.

use super::cell::{self, CellDocument};
use super::choice::Choice;
use super::descended::DescentDocument;
use super::document::{self, GridDocument, Refit};
use super::outer::OuterDocument;
use super::page::{self, Pictures};
use super::reproduction::Reproduction;
use super::warnings::{Majority, is_equalled_within, warn_of_best, warn_of_unfinished};
use super::{Files, plot, ranges_of_c, scales};
use crate::args::{CellChoice, GridArgs, decision_rule};
use crate::commands::cv::tell_of_cold_starts;
use crate::commands::train::warn_of_missing_calibration;
use crate::console::failure::{Failure, Outcome};
use crate::console::notes::Notes;
use crate::console::progress::{Bar, Phase};
use crate::files::input::Input;
use crate::files::model_file;
use crate::files::output::{Output, show};
use crate::machine::threads::Threads;
use crate::problem::failed;
use crate::report::advice;
use crate::report::missing_classes::{warn_of_folds, warn_of_report};
use crate::report::{End, Seconds, Setup};
use maxmargin::core::Status;
use maxmargin::data::ClassLabels;
use maxmargin::model::Record;
use maxmargin::{PreparedData, SearchResult, Svm};
use std::time::Instant;

/// A finished search.
pub(super) struct FinishedSearch<'a> {
    pub(super) args: &'a GridArgs,
    pub(super) begun: Instant,
    pub(super) choice: Choice,
    pub(super) input: &'a Input,
    pub(super) data: &'a PreparedData<'a>,
    /// The number of folds, and their name.
    pub(super) folds: (usize, String),
    pub(super) svm: Svm,
    pub(super) classes: Option<ClassLabels>,
    pub(super) setup: Setup,
    pub(super) scales: Option<Vec<scales::ScalingTrial>>,
    pub(super) found: SearchResult<CellDocument>,
    pub(super) outer: Option<OuterDocument>,
}

impl FinishedSearch<'_> {
    fn documents(&self) -> Vec<&CellDocument> {
        self.found.cells.iter().map(|cell| &cell.result).collect()
    }

    /// Returns the number of cells that this process should try.
    fn tried(&self) -> usize {
        self.args.log.shard.map_or(self.found.planned, |share| {
            let rows = ranges_of_c(&self.svm, self.args);
            (0..self.found.planned / rows).filter(|at| at % share.of == share.first).count() * rows
        })
    }

    /// Warns of folds that lack classes, and of cells that could not be trained.
    fn warn_of_folds(&self, cells: &[&CellDocument], notes: &mut Notes) {
        if let Some(cell) = cells.first() {
            // All cells have the same folds.
            let classes = self.classes.as_ref().map_or(0, ClassLabels::count);
            warn_of_report(cell.found.reports(), &cell.found.missing_classes, classes, notes);
            tell_of_cold_starts(self.args.folds.seeding.seeding.name(), cell.found.seeding(), notes);
        }
        for failed in &self.found.failed {
            notes.warn(format!("not tried: {}: {}", cell::parameters(&failed.svm), failed.result));
        }
        self.outer.iter().for_each(|outer| warn_of_folds("outer fold", &outer.missing(), notes));
    }

    /// Returns the class that a cell predicts for every row, if there is one.
    fn only_class(&self, cell: &CellDocument) -> Option<f64> {
        self.classes.as_ref()?.labels().get(cell.found.only_said()?).copied()
    }

    /// Returns whether cells are missing or unfinished, and notes that a log keeps the others.
    fn ended_early(&self, cells: &[&CellDocument], notes: &Notes) -> bool {
        let ended = cells.len() < self.tried() || cells.iter().any(|cell| cell.found.solved.status.ended_early());
        if let (true, Some(folder)) = (ended, &self.args.log.log) {
            notes.note(&format!("{}: finished combinations are kept; run the same command again to continue", folder.display()));
        }
        ended
    }

    /// Returns how to train the cell at this index without a search.
    fn reproduction(&self, at: Option<usize>) -> Reproduction {
        // No option gives each feature a gamma of its own.
        let is_per_feature = |at: usize| {
            let descent = self.found.descent.as_ref();
            descent.is_some_and(|descent| descent.widths.is_some() && descent.at == at && descent.from != at)
        };
        let Some(at) = at.filter(|at| !is_per_feature(*at)) else { return Reproduction::default() };
        let is_numeric = self.input.data.columns.as_ref().is_none_or(|columns| columns.are_numbers());
        // The column of the folds' groups is no feature.
        let groups = self.input.written.as_ref().map_or(&[][..], |table| &table.groups);
        let left_out = self.args.folds.source_of_groups().filter(|source| groups.iter().any(|(asked, _)| asked == source));
        Reproduction::of(self.args, &self.found.cells[at].result, &self.setup, is_numeric, left_out)
    }

    /// Returns the time of each phase, summed over cells.
    fn seconds(&self, cells: &[&CellDocument]) -> Seconds {
        let total = |of: fn(&Seconds) -> Option<f64>| Some(cells.iter().filter_map(|cell| of(&cell.parts)).sum());
        Seconds {
            read: self.input.seconds,
            kernel: total(|s| s.kernel),
            seed: total(|s| s.seed),
            solve: total(|s| s.solve),
            certify: total(|s| s.certify),
            total: self.begun.elapsed().as_secs_f64(),
        }
    }

    /// Returns the best cell, the simplest and the flattest.
    fn offered(&self) -> [Option<usize>; 3] {
        let offered = [maxmargin::best, maxmargin::one_standard_error, maxmargin::flattest];
        let [best, simplest, flattest] = offered.map(|of| of(&self.found.cells, self.choice.metric()));
        // A search reports the one that it trains.
        let trains_flattest = self.args.whole && self.args.search.how.take == CellChoice::Flattest;
        [if trains_flattest { flattest } else { best }, simplest, flattest]
    }

    /// Writes all outputs and prints warnings and the report.
    pub(super) fn end(self, mut files: Files, threads: &Threads, mut notes: Notes) -> Result<Outcome, Failure> {
        let (args, choice) = (self.args, &self.choice);
        let cells = self.documents();
        let gradient = self.found.descent.as_ref().map(|descent| DescentDocument::new(descent, &cells, self.data));
        // Tables and pictures show ranges; a cell found by descent lies between their values.
        let in_ranges = DescentDocument::others(gradient.as_ref(), cells.iter().copied());
        self.warn_of_folds(&cells, &mut notes);
        let tried = self.tried();
        let complete = warn_of_unfinished(&cells, tried, &mut notes);
        let [best, simplest, flattest] = self.offered();
        let majority = self.classes.as_ref().map(Majority::of);
        let chosen = best.map(|at| cells[at]);
        let ranges = if args.search.how.random.is_some() { [Vec::new(), Vec::new()] } else { ranges_of(&in_ranges) };
        // A search chooses its ranges itself, and ends where more of them gains nothing.
        let is_equalled = |best| args.whole && is_equalled_within(best, &in_ranges, &ranges);
        let ranges = if chosen.is_some_and(is_equalled) { [Vec::new(), Vec::new()] } else { ranges };
        let only_class = chosen.and_then(|best| self.only_class(best));
        warn_of_best(chosen, majority, only_class, &ranges, args, choice, &mut notes);
        let drawn = files.page.is_some().then(|| Pictures::of(&in_ranges, chosen, choice));
        write(&mut files, &cells, &in_ranges, chosen, choice)?;
        let ended = self.ended_early(&cells, &notes);
        let taken = match args.search.how.take {
            CellChoice::Best => self.found.best_cell(choice.metric()),
            CellChoice::OneSe => simplest,
            CellChoice::Flattest => flattest,
        };
        let reproduction = self.reproduction(taken);
        let refit = files.model.take().map(|output| self.refitted(output, taken, ended, &mut notes)).transpose()?.flatten();
        let seconds = self.seconds(&cells);
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
            reproduction,
            gradient,
            total_iterations,
            majority: majority.map(Majority::share),
            outer: self.outer,
            cells: self.found.cells.into_iter().map(|cell| cell.result).collect(),
            refit,
            seconds,
            end: End::now(threads, &mut notes),
        };
        if let Some((file, pictures)) = files.page.zip(drawn) {
            file.write(|out| out.write_all(page::html(&document, choice, pictures).as_bytes()))?;
        }
        show(&document, args.run.json.is_some(), |document| document::text(document, choice), None)?;
        let judged = document.outer.as_ref().is_none_or(OuterDocument::is_complete);
        Ok(if complete && judged && !unfinished { Outcome::Finished } else { Outcome::Stopped })
    }

    /// Trains the cell at this index on all data, if the search has finished.
    fn refitted(&self, output: Output, at: Option<usize>, ended: bool, notes: &mut Notes) -> Result<Option<Refit>, Failure> {
        let Some(at) = at.filter(|_| !ended) else {
            let why = if ended { "the search ended early" } else { "no combination converged" };
            notes.warn(format!("{}: no model was written: {why}", output.name()));
            return Ok(None);
        };
        // The time limit covers the search and this training together.
        let left = self.args.run.time_limit.map(|limit| limit.saturating_sub(self.begun.elapsed()));
        let svm = left.into_iter().fold(self.found.cells[at].svm.clone(), Svm::max_time);
        let svm = self.args.probability.apply(svm);
        self.refit(&svm, output, notes).map(Some)
    }

    /// Trains an estimator on all data and writes the model.
    fn refit(&self, svm: &Svm, output: Output, notes: &mut Notes) -> Result<Refit, Failure> {
        let (input, args) = (self.input, self.args);
        let (model, quiet) = (output.name().to_owned(), args.run.quiet);
        let fitted = {
            let bar = Bar::new(quiet);
            svm.fit_with(self.data, &bar.control()).map_err(|e| failed(input, &e))?
        };
        if fitted.status != Status::Converged {
            notes.warn(format!("{model}: {}", advice::unfinished(fitted.status, &fitted.certificate, svm, args.run.limits())));
        }
        if fitted.model.record().is_some_and(Record::lacks_margin) {
            notes.warn(format!("{model}: {}", advice::NO_MARGIN));
        }
        warn_of_missing_calibration(&fitted, notes);
        let support_vectors = fitted.model.support_vectors();
        let decide = decision_rule(&fitted.model, args.probability.decide);
        let written = fitted.model.with_decision_rule(decide).map_err(|e| Failure::input(&input.name, e))?;
        let _writing = Phase::new(quiet, format!("writing {model}"));
        model_file::save(&written, output)?;
        let (status, certificate, threshold) = (fitted.status, fitted.certificate, fitted.threshold);
        Ok(Refit { model, status, certificate, support_vectors, threshold })
    }
}

/// Writes the tables and the picture.
fn write(
    files: &mut Files,
    cells: &[&CellDocument],
    in_ranges: &[&CellDocument],
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
        picture.write(&plot::scores(in_ranges, best, choice))?;
    }
    Ok(())
}

/// Returns the values of C and γ that were tried, ascending.
fn ranges_of(cells: &[&CellDocument]) -> [Vec<f64>; 2] {
    let ascending = |of: fn(&CellDocument) -> Option<f64>| {
        let mut values: Vec<f64> = cells.iter().filter_map(|cell| of(cell)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    [ascending(|cell| cell.c), ascending(|cell| cell.gamma)]
}
