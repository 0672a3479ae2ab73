//! Reports for people.

use super::document::{CvDocument, DataDocument, TrainDocument, status_name};
use super::table::{Align, columns, fields};
use crate::format;
use maxmargin::core::Status;
use maxmargin::data::scale::{Method, Scaler};

/// Folds shown one by one; of more, only those that need attention.
const SHOWN: usize = 100;

/// `a9a: 32,561 rows, 123 features; class -1: 24,720, class 1: 7,841`
pub(crate) fn data_line(data: &DataDocument) -> String {
    let classes: Vec<String> = data
        .classes
        .iter()
        .take(10)
        .map(|c| format!("class {}: {}", format::exact(c.label), format::count(c.count as u64)))
        .collect();
    let (rows, features) = (format::count(data.rows as u64), format::count(data.features as u64));
    format!("{}: {rows} rows, {features} features; {}\n", data.name, classes.join(", "))
}

/// The report of `train`.
pub(crate) fn train_report(d: &TrainDocument) -> String {
    let certificate = d.certificate;
    let verdict = if certificate.holds { "holds" } else { "does not meet the tolerance" };
    let mut rows = vec![
        ("kernel", d.solver.map_or_else(|| d.kernel.text(), |solver| format!("{}; {solver}", d.kernel.text()))),
        ("C, eps", format!("{}{}, {}", format::exact(d.c), weights_text(d.weights), format::exact(d.eps))),
        ("scaling", d.scale.unwrap_or("none").to_owned()),
        ("status", format!("{} after {} iterations", words(d.status), format::count(d.iterations))),
        ("objective", format::long(d.objective)),
        (
            "certificate",
            format!(
                "{verdict}: KKT violation {}, relative gap {} (primal {}, dual {})",
                format::short(certificate.kkt),
                format::short(certificate.relative_gap),
                format::long(certificate.primal),
                format::long(certificate.dual)
            ),
        ),
        ("bias", format::long(d.bias)),
        (
            "support vectors",
            format!(
                "{} of {}, {} at C",
                format::count(d.support_vectors as u64),
                format::count(d.data.rows as u64),
                format::count(d.bounded as u64)
            ),
        ),
        ("kernel rows", kernel_rows(d.rows_computed, d.data.rows, d.kernel_bytes)),
        (
            "time",
            format!(
                "{}: read {}, solve and certify {}, of which kernel rows {}",
                format::seconds(d.total_seconds),
                format::seconds(d.read_seconds),
                format::seconds(d.solve_seconds),
                format::seconds(d.kernel_seconds)
            ),
        ),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
        ("model", d.model.clone()),
    ];
    if let Some(linear) = &d.linear {
        rows[0] = ("solver", linear.text());
        rows.retain(|row| row.0 != "kernel rows");
        if let Some(work) = linear.work_text() {
            rows.insert(4, ("work", work));
        }
    }
    data_line(&d.data) + &fields(&rows)
}

/// The report of `cv`.
pub(crate) fn cv_report(d: &CvDocument) -> String {
    let header = [
        ("fold", Align::Right),
        ("train", Align::Right),
        ("test", Align::Right),
        ("accuracy", Align::Right),
        ("iterations", Align::Right),
        ("SV", Align::Right),
        ("at C", Align::Right),
        ("objective", Align::Right),
        ("relative gap", Align::Right),
        ("KKT", Align::Right),
        ("status", Align::Left),
    ];
    let all = d.folds.len() <= SHOWN;
    let rows: Vec<Vec<String>> = d
        .folds
        .iter()
        .filter(|f| all || f.status != Status::Converged)
        .take(SHOWN)
        .map(|f| {
            vec![
                f.fold.to_string(),
                f.train.to_string(),
                f.test.to_string(),
                format!("{:.2} %", 100.0 * f.correct as f64 / f.test.max(1) as f64),
                f.iterations.to_string(),
                f.support_vectors.to_string(),
                f.bounded.to_string(),
                format::long(f.objective),
                format::short(f.certificate.relative_gap),
                format::short(f.certificate.kkt),
                words(f.status).to_owned(),
            ]
        })
        .collect();
    let mut text = head(d, &format!("{} {} folds", d.k, d.fold_plan));
    if !rows.is_empty() {
        text += &columns(&header, &rows);
        text.push('\n');
    }
    text + &summary(d)
}

/// The report of `loo`.
pub(crate) fn loo_report(d: &CvDocument) -> String {
    let moved = d.folds.iter().filter(|f| f.iterations > 1).count();
    let work =
        format!(" {} of {} trainings took more than one iteration\n", format::count(moved as u64), format::count(d.k as u64));
    head(d, "leave-one-out") + &summary(d) + &work
}

fn head(d: &CvDocument, what: &str) -> String {
    format!(
        "{}{}; C {}{}, eps {}, scaling {}; {what}, seeding {}, {} thread{}\n\n",
        data_line(&d.data),
        d.linear.map_or_else(|| format!("{} kernel", d.kernel.text()), |linear| linear.text()),
        format::exact(d.c),
        weights_text(d.weights),
        format::exact(d.eps),
        d.scale.unwrap_or("none"),
        d.seeding,
        d.end.threads,
        if d.end.threads == 1 { "" } else { "s" }
    )
}

fn summary(d: &CvDocument) -> String {
    let rows = d.data.rows;
    let kkt = d.folds.iter().map(|f| f.certificate.kkt).fold(0.0, f64::max);
    let gap = d.folds.iter().map(|f| f.certificate.relative_gap).fold(0.0, f64::max);
    let held = d.folds.iter().filter(|f| f.certificate.kkt <= d.eps).count();
    let certificates = if held == d.folds.len() { "all hold".to_owned() } else { format!("{held} of {} hold", d.folds.len()) };
    let full = d
        .full
        .as_ref()
        .map_or_else(String::new, |full| format!(" (and {} for the model of all data)", format::count(full.iterations)));
    let seeds = match d.seed_steps {
        0 => String::new(),
        steps => format!("; seeds read {} kernel rows", format::count(steps)),
    };
    let partial = if d.status == Status::Converged { "" } else { "; folds that did not converge are counted too" };
    let c = d.confusion;
    let mut table = vec![
        (
            "accuracy",
            format!(
                "{:.4} % ({} of {}){partial}",
                100.0 * d.accuracy,
                format::count(d.correct as u64),
                format::count(rows as u64)
            ),
        ),
        (
            "errors",
            format!(
                "{} of {} negative, {} of {} positive rows",
                format::count(c.false_positive as u64),
                format::count((c.false_positive + c.true_negative) as u64),
                format::count(c.false_negative as u64),
                format::count((c.false_negative + c.true_positive) as u64)
            ),
        ),
        (
            "certificates",
            format!(
                "{certificates}: largest KKT violation {} (tolerance {}), largest relative gap {}",
                format::short(kkt),
                format::short(d.eps),
                format::short(gap)
            ),
        ),
        ("iterations", format!("{}{full}{seeds}", format::count(d.iterations))),
        ("kernel rows", kernel_rows(d.rows_computed, rows, d.kernel_bytes)),
        ("time", format::seconds(d.total_seconds)),
        (
            "of threads",
            format!(
                "read {}, kernel {}, seed {}, solve {}, certify {}",
                format::seconds(d.read_seconds),
                format::seconds(d.kernel_seconds),
                format::seconds(d.seed_seconds),
                format::seconds(d.solve_seconds),
                format::seconds(d.certify_seconds)
            ),
        ),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
    ];
    if d.linear.is_some() {
        table.retain(|row| row.0 != "kernel rows");
    }
    fields(&table)
}

fn kernel_rows(computed: u64, of: usize, bytes: u64) -> String {
    format!(
        "{} computed for {} samples, at most {} held",
        format::count(computed),
        format::count(of as u64),
        format::bytes(bytes)
    )
}

fn weights_text(weights: [f64; 2]) -> String {
    if weights == [1.0, 1.0] {
        return String::new();
    }
    format!(" (times {} for the negative and {} for the positive class)", format::exact(weights[0]), format::exact(weights[1]))
}

/// A status in words.
pub(crate) fn words(status: Status) -> &'static str {
    match status {
        Status::IterationLimit => "iteration limit",
        Status::TimeLimit => "time limit",
        other => status_name(other),
    }
}

/// How features were scaled.
pub(crate) fn scaling_text(scaler: &Scaler) -> String {
    match scaler.method() {
        Method::MinMax { lower, upper } => format!("minmax to {}…{}", format::exact(lower), format::exact(upper)),
        Method::Standard => "standard".to_owned(),
    }
}
