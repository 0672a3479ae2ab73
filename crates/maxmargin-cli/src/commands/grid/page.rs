//! A search as one HTML file: the results, pictures, every cell.

use super::cell::CellDocument;
use super::choice::Choice;
use super::curves;
use super::document::GridDocument;
use super::plot;
use crate::console::format;
use crate::report::page::{Page, PageRow, run_facts};
use crate::report::threshold_text;
use maxmargin_plot::Svg;

/// The note above the table.
const NOTE: &str = "The best first. A score is over the samples of all folds, each predicted by a machine that was not trained on it; KKT violation and duality gap \
                    are those of the worst fold's certificate. A click on a heading sorts.";

/// The captions of the cost pictures.
const COSTS: [&str; 2] = ["Support vectors over C, a line for each γ", "Time over C, a line for each γ"];

/// The pictures of a page.
pub(super) struct Pictures {
    scores: Svg,
    costs: Vec<Svg>,
}

impl Pictures {
    pub(super) fn of(cells: &[&CellDocument], best: Option<&CellDocument>, choice: &Choice) -> Self {
        Self { scores: plot::scores(cells, best, choice), costs: curves::costs(cells, best) }
    }
}

/// Returns the page of a search.
pub(super) fn html(d: &GridDocument, choice: &Choice, pictures: Pictures) -> String {
    let mut page = Page::new(format!("Search of {}", d.setup.data.name));
    page.list(&results(d, choice));
    d.reproduction.train_command.iter().for_each(|command| page.code("The same model by the command line:", command));
    d.reproduction.python.iter().for_each(|python| page.code("The same model in Python:", python));
    page.warnings(&d.end.warnings);
    let costs = pictures.costs.into_iter().zip(COSTS).map(|(picture, caption)| (picture, caption.to_owned()));
    let drawn: Vec<(Svg, String)> = std::iter::once((pictures.scores, legend(&d.cells))).chain(costs).collect();
    page.heading("Pictures");
    page.pictures(&drawn);
    table(&mut page, d, choice);
    page.heading("What was run");
    let mut facts = run_facts(&d.setup);
    facts.push(("folds", format!("{} {}", d.k, d.fold_plan)));
    facts.push(("work", format!("{} iterations in {}", format::count(d.total_iterations), format::seconds(d.seconds.total))));
    page.facts(&facts);
    page.html()
}

/// Returns the lines of the results.
fn results(d: &GridDocument, choice: &Choice) -> Vec<String> {
    let offered =
        [("Best", &d.best), ("Simplest within a standard error", &d.one_se), ("Best neighbours among equals", &d.flattest)];
    let mut lines: Vec<String> = offered
        .into_iter()
        .filter_map(|(what, found)| {
            let found = found.as_ref()?;
            Some(format!("{what}: {}", d.result_with(found, &choice.short_text(found.score))))
        })
        .collect();
    lines.extend(d.gradient.iter().flat_map(|gradient| gradient.lines(choice)));
    if d.best.is_none() {
        lines.push("No combination converged".to_owned());
    }
    lines.extend(
        d.majority.map(|majority| format!("Accuracy of always predicting the majority class: {}", format::share(majority))),
    );
    if let Some(refit) = &d.refit {
        let vectors = format::count(refit.support_vectors as u64);
        lines.push(format!("Model of all data: {} ({vectors} support vectors)", refit.model));
        lines.extend(refit.threshold.as_ref().map(|found| format!("Threshold: {}", threshold_text(found, &d.setup.labels()))));
    }
    lines
}

/// Writes the table of all cells.
fn table(page: &mut Page, d: &GridDocument, choice: &Choice) {
    let rows: Vec<[String; 9]> = d.cells.iter().map(|cell| numbers(cell, choice)).collect();
    // Columns of parameters that no kernel here has are omitted.
    let filled: Vec<usize> = (0..9).filter(|column| rows.iter().any(|row| !row[*column].is_empty())).collect();
    let score = choice.column();
    let heads = [
        "degree",
        "C",
        "gamma",
        &score,
        "support vectors of all folds",
        "worst KKT violation",
        "worst duality gap",
        "iterations",
        "seconds",
    ];
    page.heading(&format!("{} combinations", d.cells.len()));
    page.note(NOTE);
    let names = std::iter::once("kernel").chain(filled.iter().map(|column| heads[*column])).chain(["status"]);
    let scores: Vec<Option<f64>> = d.cells.iter().map(|cell| cell.score).collect();
    let row = |at: usize| {
        let cell = &d.cells[at];
        let class = match (d.best.as_ref() == Some(&cell.parameters()), cell.at_least_errors) {
            (true, _) => "best",
            (false, Some(_)) => "pruned",
            _ => "",
        };
        let between = filled.iter().map(|column| rows[at][*column].clone());
        PageRow { class, cells: std::iter::once(cell.kernel.to_owned()).chain(between).chain([cell.status_text()]).collect() }
    };
    let rows: Vec<PageRow> = choice.order(&scores).into_iter().map(row).collect();
    page.table(&names.map(str::to_owned).collect::<Vec<_>>(), &rows);
}

/// Returns the legend of the marks that occur in the picture.
fn legend(cells: &[CellDocument]) -> String {
    let pruned = |cell: &CellDocument| cell.at_least_errors.is_some();
    let marks: [(&str, bool); 4] = [
        ("Red frame: the best", true),
        ("~: solved to a looser duality gap, cannot be the best", cells.iter().any(|cell| !cell.exact && !pruned(cell))),
        ("hatched: pruned, could not be the best any more", cells.iter().any(pruned)),
        ("dotted frame: not converged", cells.iter().any(|cell| !cell.converged() && !pruned(cell))),
    ];
    marks.iter().filter(|(_, there)| *there).map(|(what, _)| *what).collect::<Vec<_>>().join("; ")
}

/// Returns the entries of a row between kernel and status; parameters that the kernel lacks are
/// empty.
fn numbers(cell: &CellDocument, choice: &Choice) -> [String; 9] {
    let parameter = |value: Option<f64>| value.map_or_else(String::new, format::parameter);
    let worst = cell.found.solved.certificate;
    let certificate = |of: fn(&maxmargin::cv::CertificateReport) -> f64| {
        worst.as_ref().map_or_else(String::new, |c| format::known_bound(of(c)))
    };
    [
        cell.degree.map_or_else(String::new, |degree| degree.to_string()),
        parameter(cell.c),
        parameter(cell.gamma),
        plot::short_score(cell, choice),
        format::count(cell.found.solved.support_vectors as u64),
        certificate(|c| c.kkt),
        certificate(|c| c.relative_gap),
        format::count(cell.found.total_iterations),
        format!("{:.3}", cell.seconds),
    ]
}
