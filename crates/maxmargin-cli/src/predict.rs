//! `predict`: labels or decision values of a data set, and how they agree with its labels.

use crate::args::PredictArgs;
use crate::failure::{Done, Failure};
use crate::input::{self, Input};
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::report::{Align, Confusion, DataDocument, End, columns};
use crate::threads::Threads;
use crate::{format, model_io, multiclass};
use maxmargin::data::number::write_shortest;
use maxmargin::model::{Model, Stored};
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct PredictDocument {
    data: DataDocument,
    model: String,
    support_vectors: usize,
    accuracy: Option<f64>,
    correct: usize,
    confusion: Confusion,
    unknown_labels: usize,
    read_seconds: f64,
    predict_seconds: f64,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &PredictArgs) -> Result<Done, Failure> {
    let mut notes = Notes::new(args.run.quiet);
    let output = args.output.as_deref().map(Output::open).transpose()?;
    let threads = Threads::new(args.run.threads)?;
    let stored = model_io::load_any(&args.model)?;
    let index_base = match &stored {
        Stored::Two(model) => model.parts().index_base,
        Stored::Many(model) => model.parts().index_base,
    };
    let input = input::load(&args.data, Some(index_base), threads.par(), &mut notes)?;
    let model = match stored {
        Stored::Two(model) => model,
        Stored::Many(model) => return multiclass::predict(args, &model, &input, output, &threads, notes),
    };
    compare_features(model.features(), effect_of_more(&model), &input, &notes);
    let begun = Instant::now();
    let decisions = model.decision_values(&input.data.samples, threads.par()).map_err(|e| Failure::input(&input.name, e))?;
    let predict_seconds = begun.elapsed().as_secs_f64();
    let on_stdout = args.output.as_deref().is_some_and(|p| p.as_os_str() == "-");
    if let Some(output) = output {
        output.write(|out| {
            for &decision in &decisions {
                write_shortest(&mut &mut *out, if args.decision { decision } else { model.label(decision) })?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })?;
    }
    let (negative, positive) = (model.parts().negative, model.parts().positive);
    let confusion = Confusion::count(&input.data.labels, &decisions, negative, positive);
    let known = input.data.labels.iter().filter(|l| **l == negative || **l == positive).count();
    let unknown_labels = input.data.labels.len() - known;
    if unknown_labels > 0 {
        notes.warn(format!(
            "{unknown_labels} of {} rows have a label that is neither {} nor {}: they are predicted but not counted",
            input.data.labels.len(),
            format::exact(negative),
            format::exact(positive),
        ));
    }
    let document = PredictDocument {
        data: DataDocument::new(&input.name, &input.data),
        model: args.model.display().to_string(),
        support_vectors: model.support_vectors(),
        accuracy: (known > 0).then(|| confusion.correct() as f64 / known as f64),
        correct: confusion.correct(),
        confusion,
        unknown_labels,
        read_seconds: input.seconds,
        predict_seconds,
        end: End::now(&threads, &notes),
    };
    if args.run.json {
        print_json(&document)?;
    } else if on_stdout {
        // Standard output is the predictions; the report goes where notes go.
        notes.say(report(&document, &model).trim_end());
    } else {
        print(&report(&document, &model))?;
    }
    Ok(Done::Finished)
}

/// What becomes of features that a model does not have.
pub(crate) fn effect_of_more(model: &Model) -> &'static str {
    match (&model.parts().scaler, model.w()) {
        (Some(_), _) => "features beyond the model's are left out: its scaler does not know them",
        (None, Some(_)) => "features beyond the model's have weight 0",
        (None, None) => "features beyond the model's count in kernel values",
    }
}

/// Different feature counts are allowed, as in LIBSVM, and mentioned once.
pub(crate) fn compare_features(ours: usize, effect_of_more: &str, input: &Input, notes: &Notes) {
    let theirs = input.data.samples.features();
    if ours == theirs {
        return;
    }
    let effect = if theirs < ours { "missing features count as 0" } else { effect_of_more };
    notes.say(&format!("note: {} has {theirs} features, the model {ours}; {effect}", input.name));
}

fn report(document: &PredictDocument, model: &Model) -> String {
    let head = document.accuracy.map_or_else(String::new, |accuracy| {
        let known = format::count((document.data.rows - document.unknown_labels) as u64);
        let correct = format::count(document.correct as u64);
        let table = confusion_table(&document.confusion, model);
        format!("accuracy {:.4} % ({correct} of {known})\n\n{table}\n", 100.0 * accuracy)
    });
    format!(
        "{head}{} rows, {} support vectors; read {}, predict {}\n",
        format::count(document.data.rows as u64),
        format::count(document.support_vectors as u64),
        format::seconds(document.read_seconds),
        format::seconds(document.predict_seconds)
    )
}

fn confusion_table(confusion: &Confusion, model: &Model) -> String {
    let [negative, positive] = [model.parts().negative, model.parts().positive].map(format::exact);
    let row = |label: &str, a: usize, b: usize| vec![format!("label {label}"), a.to_string(), b.to_string()];
    let heads = [format!("predicted {negative}"), format!("predicted {positive}")];
    let header = [("", Align::Left), (heads[0].as_str(), Align::Right), (heads[1].as_str(), Align::Right)];
    let rows = [
        row(&negative, confusion.true_negative, confusion.false_positive),
        row(&positive, confusion.false_negative, confusion.true_positive),
    ];
    columns(&header, &rows)
}
