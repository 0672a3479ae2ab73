//! `train`: one model of all data, with its certificate.

use crate::args::{TrainArgs, decided};
use crate::failure::{Done, Failure};
use crate::input::Input;
use crate::missing::warn_of_calibration;
use crate::notes::Notes;
use crate::output::show;
use crate::places::{Content, Places};
use crate::problem::{Asked, AtCost, Prepared, failed, warn_of_small_cost};
use crate::progress::{Bar, Phase};
use crate::report::{
    End, MachineDocument, Seconds, Setup, Solved, calibration_text, certificate_text, cost_text, data_line, fields, machines_table,
    reliability_table, multiclass_text, setup_line, threshold_text, words, work_text,
};
use crate::threads::Threads;
use crate::{advice, format, model_io};
use maxmargin::Fitted;
use maxmargin::core::{Status, TargetKind};
use maxmargin::cv::{CalibrationReport, ThresholdReport, TrainingData};
use maxmargin::data::Par;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Rows by which a regression is judged that may have learnt nothing.
const JUDGED: usize = 1000;

#[derive(Debug, Serialize)]
struct TrainDocument {
    #[serde(flatten)]
    setup: Setup,
    #[serde(flatten)]
    solved: Solved,
    model: String,
    /// Where probabilities were asked for.
    calibration: Option<CalibrationReport>,
    /// Where one was asked for.
    threshold: Option<ThresholdReport>,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &TrainArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let run = &args.svm.run;
    let mut notes = Notes::new(run.quiet);
    let path = args.output.clone().unwrap_or_else(|| default_model(&args.data.source));
    let on_stdout = path.as_os_str() == "-";
    if run.json.is_some() && on_stdout {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a model file".to_owned()));
    }
    let asked = Asked { updatable: args.updatable, ..Asked::new("train", &args.svm, Some(args.cost.c), &args.data) };
    let svm = args.probability.given(asked.svm()?);
    let mut places = Places::new(args.write.force);
    places.reads([&args.data.source]);
    places.reads(args.svm.problem.weights.as_deref());
    let output = places.output(&path, Content::Model)?;
    let model_name = output.name().to_owned();
    let threads = Threads::new(run.threads)?;
    let input = asked.load(&args.data, (begun, &threads), &mut notes)?;
    let Prepared { svm, setup, .. } = asked.prepare(svm, &input, (begun, &threads), &mut notes)?;
    let fitted = {
        let bar = Bar::new(run.quiet);
        svm.fit_watched(&input.data, &bar).map_err(|e| failed(&input, &e))?
    };
    let unfinished = fitted.machines.iter().filter(|m| m.status != Status::Converged || !m.certificate.holds).count();
    if unfinished > 0 {
        let what = advice::unfinished(fitted.status, &fitted.certificate, &svm, run);
        notes.warn(match fitted.machines.len() {
            1 => what,
            all => format!("{unfinished} of {all} machines are unfinished; the worst: {what}"),
        });
    }
    warn_of_calibration(fitted.calibration.as_ref().map(|calibration| &calibration.run), &mut notes);
    if let Some(why) = fitted.calibration.as_ref().and_then(|calibration| calibration.missing) {
        notes.warn(format!("the model has no probabilities: {why}"));
    }
    if let Some(why) = fitted.threshold.as_ref().and_then(|threshold| threshold.missing) {
        notes.warn(format!("the model keeps the threshold 0: {why}"));
    }
    if let (TargetKind::Values, Some(c)) = (svm.formulation().target_kind(), svm.formulation().c()) {
        judge_regression(c, &fitted, &input, &mut notes)?;
    }
    let support_vectors = fitted.model.support_vectors();
    let decide = decided(&fitted.model, args.probability.decide);
    let mut model = fitted.model.with_decide(decide).map_err(|e| Failure::input(&input.name, e))?;
    if args.updatable {
        model = TrainingData::new(input.data.clone()).put_into(model).map_err(|e| Failure::input(&input.name, e))?;
    }
    {
        let _writing = Phase::new(run.quiet, format!("writing {model_name}"));
        model_io::save(&model, output)?;
    }
    let (labels, multiclass) = setup.sides();
    let document = TrainDocument {
        setup,
        solved: Solved {
            status: fitted.status,
            certificate: Some(fitted.certificate),
            machines: MachineDocument::of((&labels, multiclass), &fitted.machines),
            iterations: fitted.iterations,
            rows_computed: fitted.kernel.computed,
            kernel_bytes: fitted.kernel.peak_bytes,
            support_vectors,
            work: fitted.counts.into_iter().collect(),
        },
        model: model_name,
        calibration: fitted.calibration,
        threshold: fitted.threshold,
        seconds: Seconds {
            read: input.seconds,
            kernel: Some(fitted.kernel.time.as_secs_f64()),
            seed: None,
            solve: Some(fitted.solve_seconds),
            certify: None,
            total: begun.elapsed().as_secs_f64(),
        },
        end: End::now(&threads, &mut notes),
    };
    show(&document, run.json.is_some(), |document| report(document, run.verbose), on_stdout.then_some(&notes))?;
    Ok(if document.solved.status == Status::Converged { Done::Finished } else { Done::Stopped })
}

/// Says when a regression is at C nearly everywhere and explains nothing of some of the rows that
/// it was trained on.
fn judge_regression(c: f64, fitted: &Fitted, input: &Input, notes: &mut Notes) -> Result<(), Failure> {
    let bounded = fitted.machines.iter().map(|machine| machine.bounded).sum();
    let samples = input.data.labels.len();
    let at = AtCost { bounded, samples };
    if !at.is_near_all() {
        return Ok(());
    }
    let rows: Vec<usize> = (0..samples).step_by(samples.div_ceil(JUDGED).max(1)).collect();
    let queries = input.data.samples.select(&rows);
    let predicted = fitted.model.decision_values(&queries, Par::Seq).map_err(|e| Failure::input(&input.name, e))?;
    let truth: Vec<f64> = rows.iter().map(|&row| input.data.labels[row]).collect();
    warn_of_small_cost(c, at, &truth, &predicted, notes);
    Ok(())
}

/// `120 of 1,000`; of one machine also `: 100 bounded, 20 free`
fn support_vectors_text(d: &TrainDocument) -> String {
    let count = |number: usize| format::count(number as u64);
    let all = format!("{} of {}", count(d.solved.support_vectors), count(d.setup.data.rows));
    let [MachineDocument { report, .. }] = &d.solved.machines[..] else { return all };
    let free = report.support_vectors.saturating_sub(report.bounded);
    format!("{all}: {} bounded, {} free", count(report.bounded), count(free))
}

fn report(d: &TrainDocument, verbose: bool) -> String {
    let TrainDocument { setup, solved, seconds, .. } = d;
    let certified = MachineDocument::certified(&solved.machines);
    let classes = setup.labels().len();
    let mut rows = vec![
        ("solver", setup_line(setup)),
        ("C, goal", format!("{}, {}", cost_text(setup), setup.goal_text())),
        ("scaling", setup.scale.unwrap_or("none").to_owned()),
        ("status", format!("{} after {} iterations", words(solved.status), format::count(solved.iterations))),
        ("certificate", certificate_text(&certified, setup.eps, setup.gap, "machine")),
        (
            "support vectors",
            support_vectors_text(d),
        ),
    ];
    if classes > 2 {
        rows.insert(
            3,
            ("machines", format!("{}, {}", certified.len(), multiclass_text(setup.multiclass.unwrap_or_default(), Some(classes)))),
        );
    }
    rows.extend(work_text(&solved.work).map(|text| ("work", text)));
    rows.extend(d.calibration.as_ref().map(|found| ("probabilities", calibration_text(found))));
    rows.extend(d.threshold.as_ref().map(|found| ("threshold", threshold_text(found, &setup.labels()))));
    if !setup.over_features() {
        rows.push(("kernel rows", kernel_rows(solved.rows_computed, setup.data.rows, solved.kernel_bytes)));
    }
    let time = format::seconds(seconds.total);
    let phases = || {
        let [solve, kernel] = [seconds.solve, seconds.kernel].map(|part| format::seconds(part.unwrap_or(0.0)));
        format!("{time}: read {}, solve and certify {solve}, of which kernel rows {kernel}", format::seconds(seconds.read))
    };
    rows.extend([
        ("time", if verbose { phases() } else { time.clone() }),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
        ("model", d.model.clone()),
    ]);
    let reliability = d.calibration.as_ref().and_then(|found| found.reliability.as_ref());
    let reliability = reliability.map_or_else(String::new, |found| format!("\n{}", reliability_table(found, &setup.labels())));
    data_line(&setup.data) + &fields(&rows) + &machines_table(&solved.machines) + &reliability
}

/// `1,234 computed for 5,000 samples, at most 20 MiB in memory`
pub(crate) fn kernel_rows(computed: u64, of: usize, bytes: u64) -> String {
    format!(
        "{} computed for {} samples, at most {} in memory",
        format::count(computed),
        format::count(of as u64),
        format::bytes(bytes)
    )
}

/// The data's own name with `.model`, in the current directory.
pub(crate) fn default_model(source: &str) -> PathBuf {
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
