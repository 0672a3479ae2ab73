//! What a search tells: a document for programs, tables for people.

use super::choice::Choice;
use super::descended::DescentDocument;
use crate::args::Json;
use crate::console::format;
use crate::report::{Align, CvResults, End, Seconds, Setup, columns, data_line, setup_line, status_text, threshold_text};
use maxmargin::Svm;
use maxmargin::core::Status;
use maxmargin::cv::{CertificateReport, CvReport, ThresholdReport};
use maxmargin::data::number::write_shortest;
use serde::Serialize;
use std::io::{self, Write};

/// Cells shown one by one.
const SHOWN: usize = 12;

/// One combination.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CellDocument {
    pub(super) kernel: &'static str,
    pub(super) c: Option<f64>,
    pub(super) gamma: Option<f64>,
    pub(super) degree: Option<u32>,
    /// By the metric of the search.
    pub(super) score: Option<f64>,
    /// What its trainings were asked to show.
    eps: Option<f64>,
    gap: Option<f64>,
    /// Whether that is what the search was asked for.
    pub(super) exact: bool,
    /// Where it was given up: errors that it had made by then.
    pub(super) at_least_errors: Option<usize>,
    #[serde(flatten)]
    pub(super) found: CvResults,
    /// Of all threads together.
    pub(super) seconds: f64,
    #[serde(skip)]
    pub(super) parts: Seconds,
}

/// What tells a combination from the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Parameters {
    kernel: &'static str,
    pub(super) c: Option<f64>,
    gamma: Option<f64>,
    degree: Option<u32>,
    pub(super) score: Option<f64>,
}

/// The best combination, trained on all data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Refit {
    pub(super) model: String,
    pub(super) status: Status,
    pub(super) certificate: CertificateReport,
    pub(super) support_vectors: usize,
    /// Where one was asked for.
    pub(super) threshold: Option<ThresholdReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct GridDocument {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) k: usize,
    pub(super) fold_plan: String,
    pub(super) metric: &'static str,
    /// Ways of scaling that were tried, where one was to be found.
    pub(super) scales: Option<Vec<super::scales::ScalingTrial>>,
    /// The worst of all cells.
    pub(super) status: Status,
    pub(super) cells: Vec<CellDocument>,
    /// Of the cells that converged that of best score, of equals the first.
    pub(super) best: Option<Parameters>,
    pub(super) best_c: Option<f64>,
    /// The simplest within a standard error of the best.
    pub(super) one_se: Option<Parameters>,
    /// Of those as good as the best the one with the best neighbours.
    pub(super) flattest: Option<Parameters>,
    /// The descent from the best, where that was asked for.
    pub(super) gradient: Option<DescentDocument>,
    /// Iterations of all trainings, with those that were done again.
    pub(super) total_iterations: u64,
    /// Fraction of samples in the largest class: the accuracy of guessing it always.
    pub(super) majority: Option<f64>,
    /// The search judged by samples that it did not see, where that was asked for.
    pub(super) outer: Option<super::outer::OuterDocument>,
    pub(super) refit: Option<Refit>,
    #[serde(flatten)]
    pub(super) seconds: Seconds,
    #[serde(flatten)]
    pub(super) end: End,
}

/// `rbf, C = 8, gamma = 0.5`
fn named(kernel: &str, c: Option<f64>, gamma: Option<f64>, degree: Option<u32>) -> String {
    let degree = degree.map(|degree| format!("degree = {degree}"));
    let number = |name: &str, value: Option<f64>| value.map(|value| format!("{name} = {}", format::parameter(value)));
    let all = [Some(kernel.to_owned()), degree, number("C", c), number("gamma", gamma)];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What an estimator has been given, without its C.
pub(super) fn parameters(svm: &Svm) -> String {
    let kernel = svm.kernel_given();
    named(kernel.name(), None, kernel.gamma(), degree(&kernel))
}

fn degree(kernel: &maxmargin::kernel::Kernel) -> Option<u32> {
    kernel.parameter("degree").map(|degree| degree as u32)
}

impl Parameters {
    /// Of an estimator whose width is a number.
    pub(super) fn of(svm: &Svm, score: Option<f64>) -> Self {
        let kernel = svm.kernel_given();
        Self { kernel: kernel.name(), c: svm.formulation().c(), gamma: kernel.gamma(), degree: degree(&kernel), score }
    }

    pub(super) fn text(&self) -> String {
        named(self.kernel, self.c, self.gamma, self.degree)
    }
}

impl CellDocument {
    pub(super) fn new(
        svm: &Svm,
        report: &CvReport,
        choice: &Choice,
        (labels, setup, json): (&[f64], &Setup, Option<Json>),
    ) -> Self {
        let kernel = svm.kernel_given();
        let found = CvResults::new(report, labels, setup, json);
        let parts = CvResults::seconds(report);
        Self {
            kernel: kernel.name(),
            c: svm.formulation().c(),
            gamma: kernel.gamma().map(|gamma| setup.kernel.gamma_of_rule().unwrap_or(gamma)),
            degree: degree(&kernel),
            score: found.scores.get(choice.name()).copied().filter(|score| !score.is_nan()),
            eps: svm.resolved_goal().kkt(),
            gap: svm.resolved_goal().gap(),
            exact: (setup.eps, setup.gap) == (svm.resolved_goal().kkt(), svm.resolved_goal().gap()),
            at_least_errors: report.lost,
            seconds: [parts.seed, parts.solve, parts.certify].into_iter().flatten().sum(),
            found,
            parts,
        }
    }

    pub(super) fn parameters(&self) -> Parameters {
        Parameters { kernel: self.kernel, c: self.c, gamma: self.gamma, degree: self.degree, score: self.score }
    }

    pub(super) fn converged(&self) -> bool {
        self.found.solved.status == Status::Converged
    }

    /// Its score for people: one of a looser goal is marked.
    pub(super) fn score_text(&self, choice: &Choice) -> String {
        match self.at_least_errors {
            Some(_) => "pruned".to_owned(),
            None if self.exact => choice.number(self.score),
            None => format!("~{}", choice.number(self.score)),
        }
    }

    /// How it ended.
    pub(super) fn status_text(&self) -> String {
        let status = status_text(self.found.solved.status);
        match (self.at_least_errors, self.gap) {
            (Some(errors), _) => format!("pruned at {} errors", format::count(errors as u64)),
            (None, Some(gap)) if !self.exact => format!("{status} to a duality gap of {}", format::short(gap)),
            _ => status.to_owned(),
        }
    }

    pub(super) fn text(&self) -> String {
        named(self.kernel, self.c, self.gamma, self.degree)
    }

    /// What to try where the best has the least or the greatest value of a range.
    pub(super) fn on_border(&self, ranges: &[Vec<f64>; 2]) -> Vec<String> {
        let mut told = Vec::new();
        for ((name, option, value), range) in [("C", "-c", self.c), ("gamma", "-g", self.gamma)].into_iter().zip(ranges) {
            let (Some(value), [first, .., last]) = (value, &range[..]) else { continue };
            let side = if value == *first {
                "smallest"
            } else if value == *last {
                "largest"
            } else {
                continue;
            };
            let value = format::parameter(value);
            told.push(format!(
                "the best combination has the {side} {name} that was tried ({value}): the optimum may lie beyond it; widen {option}"
            ));
        }
        told
    }
}

/// One line per cell.
pub(super) fn write_csv<'a>(
    mut out: &mut dyn Write,
    metric: &str,
    cells: impl Iterator<Item = &'a CellDocument>,
) -> io::Result<()> {
    writeln!(out, "kernel,degree,c,gamma,{metric},status,kkt,relative_gap,iterations,seconds,mean,deviation")?;
    for cell in cells {
        write!(out, "{},{}", cell.kernel, cell.degree.map_or_else(String::new, |degree| degree.to_string()))?;
        let worst = cell.found.solved.certificate;
        for value in [cell.c, cell.gamma, cell.score] {
            out.write_all(b",")?;
            value.map_or(Ok(()), |value| write_shortest(&mut out, value))?;
        }
        let status = match cell.at_least_errors {
            Some(_) => "lost",
            None if !cell.exact && cell.converged() => "loose",
            None => status_text(cell.found.solved.status),
        };
        write!(out, ",{status},{:e},{:e}", worst.map_or(f64::NAN, |c| c.kkt), worst.map_or(f64::NAN, |c| c.relative_gap))?;
        write!(out, ",{},{:.3}", cell.found.total_iterations, cell.seconds)?;
        let spread = cell.found.spread_of(metric);
        for value in [spread.map(|spread| spread.mean), spread.map(|spread| spread.deviation)] {
            out.write_all(b",")?;
            value.filter(|value| !value.is_nan()).map_or(Ok(()), |value| write_shortest(&mut out, value))?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// One line per cell that has a score, as LIBSVM's grid.py writes and reads them.
pub(super) fn write_out<'a>(
    out: &mut dyn Write,
    choice: &Choice,
    cells: impl Iterator<Item = &'a CellDocument>,
) -> io::Result<()> {
    for cell in cells {
        let Some(score) = cell.score else { continue };
        for (name, value) in [("log2c", cell.c), ("log2g", cell.gamma)] {
            value.map_or(Ok(()), |value| write!(out, "{name}={:?} ", value.log2()))?;
        }
        writeln!(out, "rate={:?}", if choice.is_share() { 100.0 * score } else { score })?;
    }
    Ok(())
}

/// The score of every C (down) and γ (across), where there are several of both and one kernel.
fn matrix(cells: &[&CellDocument], choice: &Choice) -> Option<String> {
    let (first, values) = (cells.first()?, |of: fn(&CellDocument) -> Option<f64>| {
        let mut values: Vec<f64> = cells.iter().filter_map(|cell| of(cell)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    });
    let (costs, widths) = (values(|cell| cell.c), values(|cell| cell.gamma));
    let alike = cells.iter().all(|cell| cell.kernel == first.kernel && cell.degree == first.degree);
    if costs.len() < 2 || widths.len() < 2 || !alike {
        return None;
    }
    let names: Vec<String> = widths.iter().map(|gamma| format::short(*gamma)).collect();
    let head = [("C \\ gamma", Align::Right)];
    let header: Vec<(&str, Align)> = head.into_iter().chain(names.iter().map(|name| (&name[..], Align::Right))).collect();
    let row = |c: &f64| {
        let of = |gamma: &f64| cells.iter().find(|cell| cell.c == Some(*c) && cell.gamma == Some(*gamma));
        let score = |gamma: &f64| of(gamma).map_or_else(String::new, |cell| cell.score_text(choice));
        std::iter::once(format::short(*c)).chain(widths.iter().map(score)).collect::<Vec<String>>()
    };
    Some(format!("{}\n{}\n", choice.column(), columns(&header, &costs.iter().map(row).collect::<Vec<_>>())))
}

/// The best cells one by one.
fn table(cells: &[&CellDocument], choice: &Choice) -> String {
    let column = choice.column();
    let many = |of: fn(&CellDocument) -> bool| cells.iter().any(|cell| of(cell));
    let several = cells.iter().any(|cell| cell.kernel != cells[0].kernel);
    let (has_degree, has_gamma) = (many(|cell| cell.degree.is_some()), many(|cell| cell.gamma.is_some()));
    let mut header = Vec::new();
    header.extend(several.then_some(("kernel", Align::Left)));
    header.extend(has_degree.then_some(("degree", Align::Right)));
    header.push(("C", Align::Right));
    header.extend(has_gamma.then_some(("gamma", Align::Right)));
    header.extend([
        (&column[..], Align::Right),
        ("deviation", Align::Right),
        ("status", Align::Left),
        ("worst KKT", Align::Right),
        ("worst duality gap", Align::Right),
        ("iterations", Align::Right),
        ("seconds", Align::Right),
    ]);
    let row = |cell: &&CellDocument| {
        let worst = |of: fn(&CertificateReport) -> f64| {
            cell.found.solved.certificate.as_ref().map_or_else(String::new, |c| format::known_bound(of(c)))
        };
        let parameter = |value: Option<f64>| value.map_or_else(String::new, format::parameter);
        let mut row = Vec::new();
        row.extend(several.then(|| cell.kernel.to_owned()));
        row.extend(has_degree.then(|| cell.degree.map_or_else(String::new, |degree| degree.to_string())));
        row.push(parameter(cell.c));
        row.extend(has_gamma.then(|| parameter(cell.gamma)));
        row.extend([
            cell.score_text(choice),
            choice.number(
                cell.found.spread_of(choice.name()).map(|spread| spread.deviation).filter(|deviation| !deviation.is_nan()),
            ),
            cell.status_text(),
            worst(|c| c.kkt),
            worst(|c| c.relative_gap),
            format::count(cell.found.total_iterations),
            format!("{:.3}", cell.seconds),
        ]);
        row
    };
    columns(&header, &cells.iter().map(row).collect::<Vec<_>>())
}

pub(super) fn text(d: &GridDocument, choice: &Choice) -> String {
    let scores: Vec<Option<f64>> = d.cells.iter().map(|cell| cell.score).collect();
    let few = d.cells.len() <= SHOWN;
    let order = if few { (0..d.cells.len()).collect() } else { choice.order(&scores) };
    let shown: Vec<&CellDocument> = order.iter().take(SHOWN).map(|&at| &d.cells[at]).collect();
    let more = if few { String::new() } else { format!("the best {SHOWN} of {} combinations:\n", d.cells.len()) };
    let beaten = |best: &Parameters| match d.majority {
        Some(majority) if choice.is_default() => best.score.is_none_or(|accuracy| accuracy <= majority).then_some(majority),
        _ => None,
    };
    let best = match &d.best {
        None => "best: none converged".to_owned(),
        Some(best) => {
            let majority = beaten(best).map(|share| format!("best: none beats the majority class ({})", format::percent(share)));
            let named = || format!("best: {}; {}", best.text(), choice.text(best.score));
            majority.unwrap_or_else(named)
        }
    };
    let beside = |what: &str, other: &Option<Parameters>| match (other, &d.best) {
        (Some(other), Some(best)) if other != best => {
            format!("{what}: {}; {}\n", other.text(), choice.text(other.score))
        }
        _ => String::new(),
    };
    let beside = beside("simplest within a standard error", &d.one_se) + &beside("best neighbours among equals", &d.flattest);
    let beside =
        d.gradient.iter().flat_map(|gradient| gradient.lines(choice)).map(|line| line + "\n").collect::<String>() + &beside;
    let beside = beside + &d.outer.as_ref().map_or_else(String::new, |outer| outer.text(choice));
    let refit = d.refit.as_ref().map_or_else(String::new, |refit| {
        let (vectors, how) = (format::count(refit.support_vectors as u64), status_text(refit.status));
        let threshold = refit.threshold.as_ref().map(|found| threshold_text(found, &d.setup.labels()));
        let threshold = threshold.map_or_else(String::new, |text| format!("threshold: {text}\n"));
        format!("model of all data: {} ({vectors} support vectors, {how})\n{threshold}", refit.model)
    });
    let table = if shown.is_empty() { String::new() } else { table(&shown, choice) };
    format!(
        "{}{}; {} {} folds\n{}{more}{table}{best}; {} in all, peak memory {}\n{beside}{refit}",
        data_line(&d.setup.data),
        setup_line(&d.setup),
        d.k,
        d.fold_plan,
        matrix(&DescentDocument::others(d.gradient.as_ref(), d.cells.iter()), choice).unwrap_or_default(),
        format::seconds(d.seconds.total),
        format::bytes(d.end.peak_rss_bytes)
    )
}
