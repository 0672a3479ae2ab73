//! What the reports for people are made of.

use super::document::{DataDocument, MachineDocument, Setup, Work};
use super::table::{Align, columns};
use crate::{advice, format, names};
use maxmargin::core::{Certificate, Goal, Status};
use maxmargin::cv::CertificateReport;
use maxmargin::data::scale::{Method, Scaler};
use maxmargin::metrics::Confusion;
use maxmargin::model::Multiclass;

/// Machines shown one by one; of more, only those that need attention.
pub(crate) const SHOWN: usize = 15;

/// `a9a: 32,561 rows, 123 features; class -1: 24,720, class 1: 7,841`
pub(crate) fn data_line(data: &DataDocument) -> String {
    let class = |c: &super::document::ClassCount| format!("class {}: {}", names::shown(c.label), format::count(c.count as u64));
    let mut classes: Vec<String> = data.classes.iter().take(10).map(class).collect();
    if data.classes.len() > classes.len() {
        classes.push(format!("and {} more classes", data.classes.len() - classes.len()));
    }
    if let Some(target) = &data.target {
        let [low, high, mean] = [target.minimum, target.maximum, target.mean].map(format::short);
        classes.push(format!("targets {low} to {high}, mean {mean}"));
    }
    if classes.is_empty() {
        classes.push("labels not looked at".to_owned());
    }
    let (rows, features) = (format::count(data.rows as u64), format::count(data.features as u64));
    format!("{}: {rows} rows, {features} features; {}\n", data.name, classes.join(", "))
}

/// `rbf, gamma 0.5 (given); smo; hinge loss, free bias`
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
        format!("{} kernel; {solver}; {formulation}", setup.kernel.text())
    }
}

/// `1 (times 2 for class 3)`
pub(crate) fn cost_text(setup: &Setup) -> String {
    let labels = setup.data.labels();
    let changed = setup.weights.iter().zip(labels).filter(|(w, _)| **w != 1.0);
    let text: Vec<String> = changed.map(|(w, c)| format!("{} for class {}", format::exact(*w), names::shown(c))).collect();
    let times = if text.is_empty() { String::new() } else { format!(" (times {})", text.join(", ")) };
    let none = if setup.formulation.nu.is_some() && setup.command != "grid" { "none" } else { "many" };
    setup.formulation.c.map_or_else(|| none.to_owned(), format::exact) + &times
}

/// `all hold: largest KKT violation …`; of one: `holds: …`
pub(crate) fn certificates(of: &[CertificateReport], setup: &Setup, what: &str) -> String {
    let held = of.iter().filter(|c| c.holds).count();
    let verdict = match (held, of.len()) {
        (1, 1) => "holds".to_owned(),
        (0, 1) => "does not meet the tolerance".to_owned(),
        (held, all) if held == all => "all hold".to_owned(),
        (held, all) => format!("{held} of {all} {what} hold"),
    };
    if of.iter().any(|c| c.kkt.is_infinite()) {
        // What ended a training left no time to judge it.
        return if of.len() == 1 {
            "none: it ended before it could be judged".to_owned()
        } else {
            format!("{verdict}; some ended before they could be judged")
        };
    }
    let Some(worst) = of.iter().copied().reduce(CertificateReport::worse) else { return "none".to_owned() };
    let (kkt, gap) = (format::short(worst.kkt), format::short(worst.relative_gap));
    let tolerance = setup.eps.map_or_else(String::new, |eps| format!(" (tolerance {})", format::short(eps)));
    let asked = setup.gap.map_or_else(String::new, |gap| format!(" (asked for {})", format::exact(gap)));
    let words = if of.len() == 1 { ("KKT violation", "relative gap") } else { ("largest KKT violation", "largest relative gap") };
    let proved = certain_text(of).map_or_else(String::new, |text| format!("; {text}"));
    if of.iter().any(CertificateReport::is_stationary_only) {
        return format!("{verdict}: {} {kkt}{tolerance}; {STATIONARY}", words.0);
    }
    let goal = Goal::of(setup.eps, setup.gap).unwrap_or(OPTIMAL);
    let hidden = of.iter().find(|c| c.hides(goal)).or_else(|| of.iter().find(|c| c.hides(OPTIMAL)));
    let short_of = match hidden {
        Some(certificate) => format!("; {}", advice::hidden(certificate)),
        None if of.iter().all(|c| c.optimal) => String::new(),
        None => "; a gap above 0.01 proves no optimum: ask for a smaller --eps or a --gap".to_owned(),
    };
    format!("{verdict}: {} {kkt}{tolerance}, {} {gap}{asked}{proved}{short_of}", words.0, words.1)
}

/// The gap of an optimum ([`Certificate::OPTIMAL`]), as a goal.
const OPTIMAL: Goal = Goal::Gap(Certificate::OPTIMAL);

/// The verdict on a point of a kernel for which a duality gap proves nothing.
pub(crate) const STATIONARY: &str = "a stationary point of an indefinite kernel, or of one that is not known to be positive semidefinite; not known to be optimal";

/// How many labels the gap proves, of the machine or fold that has fewest.
pub(crate) fn certain_text(of: &[CertificateReport]) -> Option<String> {
    let least = of.iter().map(|c| c.certain).min().flatten()?;
    let (count, each) = (format::count(least as u64), if of.len() == 1 { "" } else { " at least" });
    Some(format!("{count} training labels{each} are those of every optimum"))
}

/// The machines one by one, where they are few, or those that need attention.
pub(crate) fn machines_table(machines: &[MachineDocument]) -> String {
    let header = [
        ("machine", Align::Left),
        ("iterations", Align::Right),
        ("SV", Align::Right),
        ("at C", Align::Right),
        ("objective", Align::Right),
        ("bias", Align::Right),
        ("relative gap", Align::Right),
        ("KKT", Align::Right),
        ("status", Align::Left),
    ];
    let few = machines.len() <= SHOWN;
    let open = |m: &MachineDocument| m.report.status != Status::Converged || !m.report.certificate.holds;
    let row = |m: &MachineDocument| {
        let MachineDocument { negative, positive, report } = m;
        vec![
            MachineDocument::name(*negative, *positive),
            report.iterations.to_string(),
            report.support_vectors.to_string(),
            report.bounded.to_string(),
            format::known_by(format::long, report.objective),
            format::long(report.bias),
            format::known(report.certificate.relative_gap),
            format::known(report.certificate.kkt),
            words(report.status).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = machines.iter().filter(|m| few || open(m)).take(SHOWN).map(row).collect();
    if rows.is_empty() { String::new() } else { format!("\n{}", columns(&header, &rows)) }
}

/// One line per class: how many of its rows are recognised, and what most of the others are taken
/// for.
pub(crate) fn confusion_table(confusion: &Confusion, classes: &[f64]) -> String {
    let header = [
        ("class", Align::Right),
        ("rows", Align::Right),
        ("recognised", Align::Right),
        ("also given to it", Align::Right),
        ("most often taken for", Align::Left),
    ];
    let row = |class: usize| {
        let (counts, all) = (&confusion.counts[class], confusion.sizes[class]);
        let given = (0..classes.len()).filter(|&other| other != class).map(|other| confusion.counts[other][class]).sum::<usize>();
        let mistaken = (0..classes.len()).filter(|&other| other != class && counts[other] > 0);
        let worst = mistaken.rev().max_by_key(|&other| counts[other]);
        vec![
            names::shown(classes[class]),
            all.to_string(),
            format!("{:.2} %", 100.0 * counts[class] as f64 / all.max(1) as f64),
            given.to_string(),
            worst.map_or_else(String::new, |other| format!("{} ({})", names::shown(classes[other]), counts[other])),
        ]
    };
    columns(&header, &(0..classes.len()).map(row).collect::<Vec<_>>())
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

/// The word for a status, the same in JSON and in tables.
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

/// A status in words.
pub(crate) fn words(status: Status) -> &'static str {
    match status {
        Status::IterationLimit => "iteration limit",
        Status::TimeLimit => "time limit",
        other => status_name(other),
    }
}

/// Which classes machines tell apart, in words.
pub(crate) fn scheme_text(multiclass: Multiclass, count: Option<usize>) -> String {
    match (multiclass, count) {
        (Multiclass::OneVsOne, None) => "one for each pair of classes".to_owned(),
        (Multiclass::OneVsOne, Some(count)) => format!("one for each pair of {count} classes"),
        (Multiclass::OneVsRest, None) => "one for each class against the rest".to_owned(),
        (Multiclass::OneVsRest, Some(count)) => format!("one for each of {count} classes against the rest"),
    }
}

/// How features were scaled.
pub(crate) fn scaling_text(scaler: &Scaler) -> String {
    match scaler.method() {
        Method::MinMax { lower, upper } => format!("minmax to {}…{}", format::exact(lower), format::exact(upper)),
        Method::Standard => "standard".to_owned(),
        Method::Given => "given, with a factor for each feature".to_owned(),
    }
}
