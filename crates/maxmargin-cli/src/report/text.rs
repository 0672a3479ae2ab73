//! The parts of the reports.

use super::document::{DataDocument, MachineDocument, Setup, Work};
use super::table::{Align, columns_without};
use crate::console::format;
use crate::console::label_names;
use maxmargin::core::Status;
use maxmargin::data::scale::{ScaleMethod, Scaler};
use maxmargin::metrics::Confusion;
use maxmargin::model::Multiclass;

/// Most machines that are shown one by one; of more, only those that need attention.
pub(crate) const SHOWN: usize = 15;

/// `a9a: 32,561 rows, 123 features; class -1: 24,720, class 1: 7,841`
pub(crate) fn data_line(data: &DataDocument) -> String {
    let class =
        |c: &super::document::ClassCount| format!("class {}: {}", label_names::display(c.label), format::count(c.count as u64));
    let mut classes: Vec<String> = data.classes.iter().take(10).map(class).collect();
    if data.classes.len() > classes.len() {
        classes.push(format!("and {} more classes", data.classes.len() - classes.len()));
    }
    if let Some(target) = &data.target {
        let [low, high, mean] = [target.minimum, target.maximum, target.mean].map(format::short);
        classes.push(format!("target values {low} to {high}, mean {mean}"));
    }
    if classes.is_empty() {
        classes.push("labels are ignored".to_owned());
    }
    let (rows, features) = (format::counted(data.rows as u64, "row"), format::counted(data.features as u64, "feature"));
    format!("{}: {rows}, {features}; {}\n", data.name, classes.join(", "))
}

/// `rbf kernel, gamma 0.5; smo; hinge loss, free bias`
pub(crate) fn setup_line(setup: &Setup) -> String {
    let formulation = setup.formulation.text();
    let solver = match setup.solver.as_str() {
        "" => "solver unknown",
        "linear" => "coordinate descent, then Newton steps",
        "descent" => "coordinate descent",
        "avsf" => "coordinate descent with adaptive frequencies",
        "newton" => "Newton steps",
        name => name,
    };
    if setup.over_features() {
        format!("{solver}; {formulation}")
    } else {
        format!("{}; {solver}; {formulation}", setup.kernel.sentence())
    }
}

/// `1 (× 2 for class 3)`
pub(crate) fn cost_text(setup: &Setup) -> String {
    let labels = setup.data.labels();
    let changed = setup.weights.iter().zip(labels).filter(|(w, _)| **w != 1.0);
    let text: Vec<String> =
        changed.map(|(w, c)| format!("{} for class {}", format::parameter(*w), label_names::display(c))).collect();
    let times = if text.is_empty() { String::new() } else { format!(" (× {})", text.join(", ")) };
    let none = if setup.formulation.nu.is_some() && setup.command != "grid" { "none" } else { "many" };
    setup.formulation.c.map_or_else(|| none.to_owned(), format::exact) + &times
}

/// Returns a table of the machines if they are few, otherwise of those that need attention.
pub(crate) fn machines_table(machines: &[MachineDocument]) -> String {
    let header = [
        ("machine", Align::Left),
        ("iterations", Align::Right),
        ("SV", Align::Right),
        ("bounded SV", Align::Right),
        ("objective", Align::Right),
        ("bias", Align::Right),
        ("duality gap", Align::Right),
        ("KKT", Align::Right),
        ("status", Align::Left),
    ];
    let few = machines.len() <= SHOWN;
    let open = |m: &MachineDocument| m.report.status != Status::Converged || !m.report.certificate.holds;
    let row = |m: &MachineDocument| {
        let MachineDocument { name, report } = m;
        vec![
            name.text(),
            report.iterations.to_string(),
            report.support_vectors.to_string(),
            report.bounded.to_string(),
            format::known_by(format::long, report.objective),
            format::long(report.bias),
            format::known_bound(report.certificate.relative_gap),
            format::known_bound(report.certificate.kkt),
            status_text(report.status).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = machines.iter().filter(|m| few || open(m)).take(SHOWN).map(row).collect();
    let spare = ["bounded SV", "KKT", "duality gap"];
    if rows.is_empty() { String::new() } else { format!("\n{}", columns_without(&header, &rows, &spare)) }
}

/// One line per class: its support, precision, recall and F1, the rows of other classes that were
/// predicted as it, and the class that it is most confused with.
pub(crate) fn confusion_table(confusion: &Confusion, classes: &[f64]) -> String {
    let header = [
        ("class", Align::Right),
        ("support", Align::Right),
        ("precision", Align::Right),
        ("recall", Align::Right),
        ("F1", Align::Right),
        ("false positives", Align::Right),
        ("confused with", Align::Left),
    ];
    let row = |class: usize| {
        let (counts, support) = (&confusion.counts[class], confusion.sizes[class]);
        let others = || (0..classes.len()).filter(|&other| other != class);
        let true_positives = counts[class];
        let false_positives: usize = others().map(|other| confusion.counts[other][class]).sum();
        let predicted = true_positives + false_positives;
        // 2 TP/(2 TP + FP + FN), where TP + FN is the support.
        let shares = [(true_positives, predicted), (true_positives, support), (2 * true_positives, predicted + support)];
        let share = |(part, whole): (usize, usize)| {
            if whole == 0 { "none".to_owned() } else { format::percent(part as f64 / whole as f64) }
        };
        let [precision, recall, f1] = shares.map(share);
        let confused = others().filter(|&other| counts[other] > 0).rev().max_by_key(|&other| counts[other]);
        vec![
            label_names::display(classes[class]),
            support.to_string(),
            precision,
            recall,
            f1,
            false_positives.to_string(),
            confused.map_or_else(String::new, |other| format!("{} ({})", label_names::display(classes[other]), counts[other])),
        ]
    };
    columns_without(&header, &(0..classes.len()).map(row).collect::<Vec<_>>(), &["false positives", "F1"])
}

/// `12 sweeps, 3 newton steps`
pub(crate) fn work_text(work: &Work) -> Option<String> {
    let counts: Vec<String> = work
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(name, n)| format!("{} {}", format::count(*n), name.replace('_', " ")))
        .collect();
    (!counts.is_empty()).then(|| counts.join(", "))
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

/// Returns the name of a status in JSON.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationLimit => "iteration_limit",
        Status::TimeLimit => "time_limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "stalled",
        Status::Slow => "slow",
    }
}

/// Returns a status in words.
pub(crate) fn status_text(status: Status) -> &'static str {
    match status {
        Status::IterationLimit => "iteration limit",
        Status::TimeLimit => "time limit",
        other => status_name(other),
    }
}

/// Returns the multiclass scheme in words.
pub(crate) fn multiclass_text(multiclass: Multiclass, count: Option<usize>) -> String {
    match (multiclass, count) {
        (Multiclass::OneVsOne, None) => "one for each pair of classes".to_owned(),
        (Multiclass::OneVsOne, Some(count)) => format!("one for each pair of {count} classes"),
        (Multiclass::OneVsRest, None) => "one for each class against the rest".to_owned(),
        (Multiclass::OneVsRest, Some(count)) => format!("one for each of {count} classes against the rest"),
    }
}

/// Returns the scaling in words.
pub(crate) fn scaling_text(scaler: &Scaler) -> String {
    match scaler.method() {
        ScaleMethod::MinMax { lower, upper } => format!("minmax to {}…{}", format::exact(lower), format::exact(upper)),
        ScaleMethod::Standard => "standard".to_owned(),
        ScaleMethod::Given => "given, with a factor for each feature".to_owned(),
        ScaleMethod::Centre => "centred: a number is subtracted from features far from 0".to_owned(),
    }
}
