//! `predict` by a model of several classes.

use super::document::Counts;
use crate::args::PredictArgs;
use crate::failure::{Done, Failure};
use crate::format;
use crate::input::Input;
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::predict::compare_features;
use crate::report::{DataDocument, End};
use crate::threads::Threads;
use maxmargin::data::number::write_shortest;
use maxmargin::model::MulticlassModel;
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct MulticlassPredictDocument {
    data: DataDocument,
    model: String,
    classes: Vec<f64>,
    support_vectors: usize,
    accuracy: Option<f64>,
    correct: usize,
    /// One row for each class of the data, one column for each class that was predicted.
    confusion: Counts,
    unknown_labels: usize,
    read_seconds: f64,
    predict_seconds: f64,
    #[serde(flatten)]
    end: End,
}

/// Predicts `input`; the output is open already.
pub(crate) fn run(
    args: &PredictArgs,
    model: &MulticlassModel,
    input: &Input,
    output: Option<Output>,
    threads: &Threads,
    mut notes: Notes,
) -> Result<Done, Failure> {
    let parts = model.parts();
    let effect = match &parts.scaler {
        Some(_) => "features beyond the model's are left out: its scaler does not know them",
        None if parts.kernel == maxmargin::kernel::Kernel::Linear => "features beyond the model's have weight 0",
        None => "features beyond the model's count in kernel values",
    };
    compare_features(model.features(), effect, input, &notes);
    let begun = Instant::now();
    let failed = |e| Failure::input(&input.name, e);
    let decisions = model.decision_values(&input.data.samples, threads.par()).map_err(failed)?;
    let predict_seconds = begun.elapsed().as_secs_f64();
    let width = parts.machines.len();
    let predicted: Vec<f64> = decisions.chunks_exact(width).map(|row| model.label(row)).collect();
    if let Some(output) = output {
        output.write(|out| {
            for (row, &label) in decisions.chunks_exact(width).zip(&predicted) {
                let values = if args.decision { row } else { std::slice::from_ref(&label) };
                for (at, &value) in values.iter().enumerate() {
                    if at > 0 {
                        out.write_all(b" ")?;
                    }
                    write_shortest(&mut &mut *out, value)?;
                }
                out.write_all(b"\n")?;
            }
            Ok(())
        })?;
    }
    let confusion = Counts::of(model.classes(), &input.data.labels, &predicted);
    let known = confusion.known();
    let unknown_labels = input.data.labels.len() - known;
    if unknown_labels > 0 {
        notes.warn(format!(
            "{unknown_labels} of {} rows have a label that is none of the model's {} classes: they are predicted but not counted",
            input.data.labels.len(),
            model.classes().len(),
        ));
    }
    let document = MulticlassPredictDocument {
        data: DataDocument::new(&input.name, &input.data),
        model: args.model.display().to_string(),
        classes: model.classes().to_vec(),
        support_vectors: model.support_vectors(),
        accuracy: (known > 0).then(|| confusion.correct() as f64 / known as f64),
        correct: confusion.correct(),
        confusion,
        unknown_labels,
        read_seconds: input.seconds,
        predict_seconds,
        end: End::now(threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else if args.output.as_deref().is_some_and(|p| p.as_os_str() == "-") {
        // Standard output is the predictions; the report goes where notes go.
        notes.say(report(&document).trim_end());
    } else {
        print(&report(&document))?;
    }
    Ok(Done::Finished)
}

fn report(d: &MulticlassPredictDocument) -> String {
    let head = d.accuracy.map_or_else(String::new, |accuracy| {
        let known = format::count((d.data.rows - d.unknown_labels) as u64);
        let correct = format::count(d.correct as u64);
        format!("accuracy {:.4} % ({correct} of {known})\n\n{}\n", 100.0 * accuracy, d.confusion.table(&d.classes))
    });
    format!(
        "{head}{} rows, {} classes, {} support vectors; read {}, predict {}\n",
        format::count(d.data.rows as u64),
        d.classes.len(),
        format::count(d.support_vectors as u64),
        format::seconds(d.read_seconds),
        format::seconds(d.predict_seconds)
    )
}
