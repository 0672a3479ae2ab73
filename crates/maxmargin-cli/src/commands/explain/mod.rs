//! `explain`: decision values divided among the columns of the data.

mod document;
mod names;
mod output;
mod plot;

use super::predict;
use crate::args::ExplainArgs;
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::interrupt;
use crate::console::name_list::names;
use crate::console::notes::Notes;
use crate::files::input::{Input, MaxSize, scale_failure};
use crate::files::model_file;
use crate::files::output::{check_standard_output, show};
use crate::files::output_paths::{Content, OutputPaths};
use crate::files::picture::Picture;
use crate::machine::threads::Threads;
use crate::report::{End, delimiter_of, machine_names};
use document::{ExplainDocument, Seconds};
use maxmargin::data::{Par, RunControl};
use maxmargin::explain::{Explain, ExplainError, Explanation};
use maxmargin::model::{Model, ModelError};
use names::column_names;
use output::ContributionTable;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// The rows that are explained, and what explains them.
struct Work<'a> {
    model: &'a Model,
    /// The name of the model's file.
    model_name: String,
    input: Input,
    background: Option<Input>,
    /// The rows of the data, from 0.
    rows: Vec<usize>,
}

pub(crate) fn run(args: &ExplainArgs) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let on_stdout = args.output.as_deref() == Some(Path::new("-"));
    check_standard_output(args.run.json, on_stdout)?;
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([Path::new(&args.data.source), &args.model]);
    paths.reads(args.background.as_deref());
    let output = args.output.as_deref().map(|path| paths.output(path, Content::Text)).transpose()?;
    let picture = args.plot.as_deref().map(|path| Picture::open(path, &mut paths)).transpose()?;
    let threads = Threads::new(args.run.threads)?;
    let model = model_file::load(&args.model, MaxSize::of(args.data.options.max_size))?;
    // Data of any size is not read for a model that cannot be explained.
    Explain::check(&model).map_err(|e| Failure::input(args.model.display(), e))?;
    let input = predict::load(&args.data.request(), &names(&args.id), &model, threads.par(), &mut notes)?;
    let background = background(args, &model, threads.par(), &mut notes)?;
    let rows = rows_to_explain(args, &input)?;
    let work = Work { model: &model, model_name: args.model.display().to_string(), input, background, rows };
    let read_seconds = started.elapsed().as_secs_f64();
    let begun = Instant::now();
    let Some(found) = work.explained(args.interactions, threads.par(), &mut notes)? else { return Ok(Outcome::Interrupted) };
    let explain_seconds = begun.elapsed().as_secs_f64();
    let names = column_names(&model, found.players());
    if let (Some(output), Some(path)) = (output, &args.output) {
        let kept = work.input.written.as_ref().map_or(&[][..], |table| &table.kept[..]);
        let table = ContributionTable { found: &found, rows: &work.rows, names: &names, machines: &machine_names(&model), kept };
        output.write(|out| table.write(delimiter_of(path), out))?;
    }
    if let Some(picture) = picture {
        let drawn = match args.row {
            None => plot::all(&found, &names),
            Some(_) => plot::row(&found, &names, &model, &work.input, work.rows[0]),
        };
        picture.write(&drawn)?;
    }
    let seconds = Seconds { read: read_seconds, explain: explain_seconds, total: started.elapsed().as_secs_f64() };
    let document = ExplainDocument::new(&work, &found, names, args.run.json, seconds, End::now(&threads, &mut notes));
    let is_table = model.columns().is_some();
    show(&document, args.run.json, |document| document.text(&found, is_table), on_stdout.then_some(&notes))?;
    Ok(Outcome::Finished)
}

/// Reads the background set, whose rows must suit the model as those to explain.
fn background(args: &ExplainArgs, model: &Model, par: Par, notes: &mut Notes) -> Result<Option<Input>, Failure> {
    let Some(source) = &args.background else { return Ok(None) };
    let mut request = args.data.request();
    request.source.clone_from(source);
    let input = predict::load(&request, &[], model, par, notes)?;
    match model.prepared(&input.data.samples) {
        Err(ModelError::Scale(error)) => Err(scale_failure(&input, &error)),
        Err(error) => Err(Failure::input(&input.name, error)),
        Ok(_) => Ok(Some(input)),
    }
}

/// Returns the rows to explain, from 0.
fn rows_to_explain(args: &ExplainArgs, input: &Input) -> Result<Vec<usize>, Failure> {
    let rows = input.data.samples.len();
    match args.row {
        None => Ok((0..rows).collect()),
        Some(row) if (1..=rows as u64).contains(&row) => Ok(vec![row as usize - 1]),
        Some(row) => Err(Failure::Usage(format!("--row {row}: {} has the rows 1 to {rows}", input.name))),
    }
}

impl Work<'_> {
    /// Explains the rows; none where Ctrl-C cancelled it.
    fn explained(&self, interactions: bool, par: Par, notes: &mut Notes) -> Result<Option<Explanation>, Failure> {
        let _working = notes.phase(format!("explaining {} rows", format::count(self.rows.len() as u64)));
        interrupt::listen_without_result();
        let control =
            RunControl::new(|_| if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        let explain = if interactions { Explain::default().interactions() } else { Explain::default() };
        let all = &self.input.data.samples;
        let samples = if self.rows.len() < all.len() { Cow::Owned(all.select(&self.rows)) } else { Cow::Borrowed(all) };
        let background = self.background.as_ref().map(|input| &input.data.samples);
        match explain.rows(self.model, &samples, background, par, &control) {
            Ok(found) => Ok(Some(found)),
            Err(ExplainError::Cancelled(_)) => {
                notes.warn("interrupted: nothing was written");
                Ok(None)
            }
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Returns the failure of an explanation at the file that it is about.
    fn failure(&self, error: &ExplainError) -> Failure {
        match error {
            ExplainError::Model(ModelError::Scale(error)) => scale_failure(&self.input, error),
            ExplainError::Kernel(_) | ExplainError::Degree { .. } => Failure::input(&self.model_name, error),
            ExplainError::EmptyBackground | ExplainError::Background { .. } => {
                Failure::input(self.background.as_ref().map_or("--background", |input| &input.name), error)
            }
            _ => Failure::input(&self.input.name, error),
        }
    }
}

/// Returns places by falling magnitude; of equal ones the first comes first.
fn largest(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order
}
