//! A search as one HTML file: the results, pictures, every cell. The page loads nothing from the
//! network.

use super::cell::CellDocument;
use super::choice::Choice;
use super::document::GridDocument;
use crate::console::format;
use crate::report::{data_line, setup_line, threshold_text};
use std::borrow::Cow;
use std::io::{self, Write};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}figure{margin:1rem 0;overflow-x:auto}table{border-collapse:collapse;font-size:.93rem}\
th,td{padding:.15rem .45rem;text-align:right;border-bottom:1px solid #ddd;font-variant-numeric:tabular-nums}td{white-space:nowrap}\
th{position:sticky;top:0;background:#fff;vertical-align:bottom}td.w,th.w{text-align:left}tr.best{font-weight:bold}tr.pruned,figcaption,.note{color:#666}\
.scroll{max-height:40rem;overflow:auto}pre{margin:0;overflow-x:auto}ul{padding-left:1.2rem}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th{background:#181818}th,td{border-color:#444}\
tr.pruned,figcaption,.note{color:#aaa}}";

/// The note above the table.
const NOTE: &str = "The best first. A score is over the samples of all folds, each predicted by a machine that was not trained on it; KKT violation and duality gap \
                    are those of the worst fold's certificate.";

/// The caption of the cost pictures.
const COSTS: &str = "Cost over C, one line per γ, from the smallest (dark) to the largest (light); red: the γ of the best combination, with a dot at its C";

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes the page. The pictures are SVG documents: scores, and costs over C, which may be empty.
pub(super) fn write(
    out: &mut dyn Write,
    d: &GridDocument,
    choice: &Choice,
    [scores, costs]: [Cow<'_, str>; 2],
) -> io::Result<()> {
    let name = escaped(&d.setup.data.name);
    let data = data_line(&d.setup.data);
    writeln!(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Search of {name}</title>")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>")?;
    writeln!(
        out,
        "<h1>Search of {name}</h1>\n<p>{}<br>{}; {} {} folds</p>",
        escaped(data.trim()),
        escaped(&setup_line(&d.setup)),
        d.k,
        escaped(&d.fold_plan)
    )?;
    write_summary(out, d, choice)?;
    writeln!(out, "<figure>\n{scores}<figcaption>{}</figcaption></figure>", escaped(&legend(&d.cells)))?;
    if !costs.is_empty() {
        writeln!(out, "<figure>\n{costs}<figcaption>{COSTS}</figcaption></figure>")?;
    }
    write_table(out, d, choice)?;
    writeln!(out, "</body></html>")
}

/// Writes the list of results, and the warnings.
fn write_summary(out: &mut dyn Write, d: &GridDocument, choice: &Choice) -> io::Result<()> {
    writeln!(out, "<ul>")?;
    let offered =
        [("Best", &d.best), ("Simplest within a standard error", &d.one_se), ("Best neighbours among equals", &d.flattest)];
    for (what, found) in offered {
        if let Some(found) = found {
            writeln!(out, "<li>{what}: {}</li>", escaped(&d.result_text(found, choice)))?;
        }
    }
    for line in d.gradient.iter().flat_map(|gradient| gradient.lines(choice)) {
        writeln!(out, "<li>{}</li>", escaped(&line))?;
    }
    if d.best.is_none() {
        writeln!(out, "<li>No combination converged</li>")?;
    }
    if let Some(majority) = d.majority {
        writeln!(out, "<li>Accuracy of always predicting the majority class: {}</li>", format::percent(majority))?;
    }
    if let Some(refit) = &d.refit {
        let vectors = format::count(refit.support_vectors as u64);
        writeln!(out, "<li>Model of all data: {} ({vectors} support vectors)</li>", escaped(&refit.model))?;
        if let Some(found) = &refit.threshold {
            writeln!(out, "<li>Threshold: {}</li>", escaped(&threshold_text(found, &d.setup.labels())))?;
        }
    }
    if let Some(command) = &d.reproduction.train_command {
        writeln!(out, "<li>Command line: <pre>{}</pre></li>", escaped(command))?;
    }
    if let Some(python) = &d.reproduction.python {
        writeln!(out, "<li>Python: <pre>{}</pre></li>", escaped(python))?;
    }
    let iterations = format::count(d.total_iterations);
    writeln!(out, "<li>{iterations} iterations in {}</li>\n</ul>", format::seconds(d.seconds.total))?;
    if !d.end.warnings.is_empty() {
        writeln!(out, "<h2>Warnings</h2>\n<ul>")?;
        d.end.warnings.iter().try_for_each(|warning| writeln!(out, "<li>{}</li>", escaped(warning)))?;
        writeln!(out, "</ul>")?;
    }
    Ok(())
}

/// Writes the table of all cells.
fn write_table(out: &mut dyn Write, d: &GridDocument, choice: &Choice) -> io::Result<()> {
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
    writeln!(out, "<h2>{} combinations</h2>\n<p class=\"note\">{NOTE}</p>", d.cells.len())?;
    write!(out, "<div class=\"scroll\"><table><thead><tr><th class=\"w\">kernel</th>")?;
    filled.iter().try_for_each(|column| write!(out, "<th>{}</th>", escaped(heads[*column])))?;
    writeln!(out, "<th class=\"w\">status</th></tr></thead><tbody>")?;
    let scores: Vec<Option<f64>> = d.cells.iter().map(|cell| cell.score).collect();
    for at in choice.order(&scores) {
        let cell = &d.cells[at];
        let class = match (d.best.as_ref() == Some(&cell.parameters()), cell.at_least_errors) {
            (true, _) => " class=\"best\"",
            (false, Some(_)) => " class=\"pruned\"",
            _ => "",
        };
        write!(out, "<tr{class}><td class=\"w\">{}</td>", cell.kernel)?;
        filled.iter().try_for_each(|column| write!(out, "<td>{}</td>", escaped(&rows[at][*column])))?;
        writeln!(out, "<td class=\"w\">{}</td></tr>", escaped(&cell.status_text()))?;
    }
    writeln!(out, "</tbody></table></div>")
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
        cell.score_text(choice),
        format::count(cell.found.solved.support_vectors as u64),
        certificate(|c| c.kkt),
        certificate(|c| c.relative_gap),
        format::count(cell.found.total_iterations),
        format!("{:.3}", cell.seconds),
    ]
}
