//! The output of a search: a JSON document and tables.

use super::cell::{CellDocument, Parameters};
use super::choice::Choice;
use super::descended::DescentDocument;
use super::plot::ticks;
use super::reproduction::Reproduction;
use crate::console::colour::{self, Colour};
use crate::console::format;
use crate::report::{
    Align, End, Seconds, Setup, columns, columns_without, data_line, fits, setup_line, status_text, threshold_text,
};
use maxmargin::core::Status;
use maxmargin::cv::{CertificateReport, ThresholdReport};
use maxmargin::data::number::write_shortest;
use serde::Serialize;
use std::io::{self, Write};

/// Most cells that are shown one by one.
const SHOWN: usize = 12;

/// The best cell, trained on all data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Refit {
    pub(super) model: String,
    pub(super) status: Status,
    pub(super) certificate: CertificateReport,
    pub(super) support_vectors: usize,
    /// The threshold, if requested.
    pub(super) threshold: Option<ThresholdReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct GridDocument {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) k: usize,
    pub(super) fold_plan: String,
    pub(super) metric: &'static str,
    /// Trials of scaling methods, for `search`.
    pub(super) scales: Option<Vec<super::scales::ScalingTrial>>,
    /// The worst status of all cells.
    pub(super) status: Status,
    pub(super) cells: Vec<CellDocument>,
    /// The converged cell with the best score, the first of equals.
    pub(super) best: Option<Parameters>,
    pub(super) best_c: Option<f64>,
    /// The simplest cell within one standard error of the best.
    pub(super) one_se: Option<Parameters>,
    /// Of the cells that are as good as the best, the one with the best neighbours.
    pub(super) flattest: Option<Parameters>,
    #[serde(flatten)]
    pub(super) reproduction: Reproduction,
    /// The descent from the best cell, if requested.
    pub(super) gradient: Option<DescentDocument>,
    /// Iterations of all trainings, including repeated ones.
    pub(super) total_iterations: u64,
    /// Share of the largest class: the accuracy of always predicting it.
    pub(super) majority: Option<f64>,
    /// The nested cross-validation, if requested.
    pub(super) outer: Option<super::outer::OuterDocument>,
    pub(super) refit: Option<Refit>,
    #[serde(flatten)]
    pub(super) seconds: Seconds,
    #[serde(flatten)]
    pub(super) end: End,
}

impl GridDocument {
    /// `minmax scaling, rbf, C = 2^3, gamma = 2^-1, accuracy 97.50 %`; a search that chose no
    /// scaling says so.
    pub(super) fn result_text(&self, found: &Parameters, choice: &Choice) -> String {
        self.result_with(found, &choice.text(found.score))
    }

    /// Returns [`Self::result_text`] with this text of the score.
    pub(super) fn result_with(&self, found: &Parameters, score: &str) -> String {
        let scaling = match (self.setup.scale, &self.scales) {
            (Some(scale), _) => format!("{scale} scaling, "),
            (None, Some(_)) => "no scaling, ".to_owned(),
            (None, None) => String::new(),
        };
        format!("{scaling}{}, {}", found.text(), score)
    }
}

/// Writes one line per cell.
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
            Some(_) => "pruned",
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

/// Writes one line per cell with a score, in the format of LIBSVM's grid.py.
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

/// Returns a table of scores by C (down) and γ (across), for several of both and one kernel.
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
    let names = ticks(&widths);
    let rows = |shown: std::ops::Range<usize>, score: &dyn Fn(&CellDocument) -> String| {
        let head = [("C \\ γ", Align::Right)];
        let header = head.into_iter().chain(names[shown.clone()].iter().map(|name| (&name[..], Align::Right)));
        let row = |(c, name): (&f64, String)| {
            let of = |gamma: &f64| cells.iter().find(|cell| cell.c == Some(*c) && cell.gamma == Some(*gamma));
            let scores = widths[shown.clone()].iter().map(|gamma| of(gamma).map_or_else(String::new, |cell| score(cell)));
            std::iter::once(name).chain(scores).collect::<Vec<String>>()
        };
        columns(&header.collect::<Vec<_>>(), &costs.iter().zip(ticks(&costs)).map(row).collect::<Vec<_>>())
    };
    let table = rows(0..widths.len(), &|cell| cell.score_text(choice));
    if fits(&table) {
        return Some(format!("{}\n{table}\n", choice.column()));
    }
    // Where the table is too wide for a terminal, scores have one digit less. What is too wide then
    // continues below.
    let (mut tables, mut begin) = (String::new(), 0);
    while begin < widths.len() {
        let wide = |end: &usize| rows(begin..*end, &|cell| cell.short_score_text(choice));
        let end = (begin + 2..=widths.len()).rev().find(|end| fits(&wide(end))).unwrap_or(begin + 1);
        tables += &wide(&end);
        tables.push('\n');
        begin = end;
    }
    Some(format!("{}\n{tables}", choice.column()))
}

/// Returns a table of cells.
fn table(cells: &[&CellDocument], choice: &Choice) -> String {
    let column = choice.column();
    let many = |of: fn(&CellDocument) -> bool| cells.iter().any(|cell| of(cell));
    let several = cells.iter().any(|cell| cell.kernel != cells[0].kernel);
    let (has_degree, has_gamma) = (many(|cell| cell.degree.is_some()), many(|cell| cell.gamma.is_some()));
    // The usual status takes no column.
    let has_status = cells.iter().any(|cell| cell.status_text() != status_text(Status::Converged));
    let mut header = Vec::new();
    header.extend(several.then_some(("kernel", Align::Left)));
    header.extend(has_degree.then_some(("degree", Align::Right)));
    header.push(("C", Align::Right));
    header.extend(has_gamma.then_some(("gamma", Align::Right)));
    header.extend([(&column[..], Align::Right), ("deviation", Align::Right)]);
    header.extend(has_status.then_some(("status", Align::Left)));
    header.extend([("KKT", Align::Right), ("gap", Align::Right), ("iterations", Align::Right), ("seconds", Align::Right)]);
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
        ]);
        row.extend(has_status.then(|| cell.status_text()));
        row.extend([
            worst(|c| c.kkt),
            worst(|c| c.relative_gap),
            format::count(cell.found.total_iterations),
            format!("{:.3}", cell.seconds),
        ]);
        row
    };
    columns_without(&header, &cells.iter().map(row).collect::<Vec<_>>(), &["seconds", "iterations", "gap"])
}

/// Colours the row of the best cell below the header.
fn with_coloured_best(table: &str, best: Option<usize>) -> String {
    let line = |(at, line): (usize, &str)| {
        if best.is_some_and(|best| at == best + 1) { Colour::Green.paint(line) + "\n" } else { format!("{line}\n") }
    };
    table.lines().enumerate().map(line).collect()
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
            let named = || format!("best: {}", d.result_text(best, choice));
            majority.unwrap_or_else(named)
        }
    };
    let beside = |what: &str, other: &Option<Parameters>| match (other, &d.best) {
        (Some(other), Some(best)) if other != best => {
            format!("{what}: {}\n", d.result_text(other, choice))
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
    let again = d.reproduction.train_command.as_ref().map_or_else(String::new, |command| format!("command line: {command}\n"));
    let python =
        d.reproduction.python.as_ref().map_or_else(String::new, |lines| format!("Python:\n  {}\n", lines.replace('\n', "\n  ")));
    let table = if shown.is_empty() { String::new() } else { table(&shown, choice) };
    let of_best = shown.iter().position(|cell| d.best.as_ref() == Some(&cell.parameters()));
    let table = with_coloured_best(&table, of_best.filter(|_| colour::is_wanted(&io::stdout())));
    format!(
        "{}{}; {} {} folds\n{}{more}{table}{best}\n{beside}{refit}{again}{python}{} in all, peak memory {}\n",
        data_line(&d.setup.data),
        setup_line(&d.setup),
        d.k,
        d.fold_plan,
        matrix(&DescentDocument::others(d.gradient.as_ref(), d.cells.iter()), choice).unwrap_or_default(),
        format::seconds(d.seconds.total),
        format::bytes(d.end.peak_rss_bytes)
    )
}
