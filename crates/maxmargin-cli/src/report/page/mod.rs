//! Reports as one HTML file: facts, pictures and tables. The page loads nothing from the network.

mod pictures;
mod run;

use crate::console::format;
use crate::console::label_names;
use maxmargin::metrics::Confusion;
use maxmargin_plot::{Svg, escaped};
use std::fmt::Write as _;

pub(crate) use pictures::{FoldScore, fold_scores, precision_recall, reliability, roc};
pub(crate) use run::run_facts;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A page that is being written.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    body: String,
}

/// A row of a table.
#[derive(Debug)]
pub(crate) struct PageRow {
    /// `best`, `pruned` or empty.
    pub(crate) class: &'static str,
    pub(crate) cells: Vec<String>,
}

impl Page {
    pub(crate) fn new(title: String) -> Self {
        Self { title, body: String::new() }
    }

    /// Adds names with their values.
    pub(crate) fn facts(&mut self, facts: &[(&str, String)]) {
        let fact = |(name, value): &(&str, String)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
        let _ = writeln!(self.body, "<dl>\n{}</dl>", facts.iter().map(fact).collect::<String>());
    }

    pub(crate) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escaped(text));
    }

    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", escaped(text));
    }

    pub(crate) fn list(&mut self, items: &[String]) {
        let item = |item: &String| format!("<li>{}</li>\n", escaped(item));
        let _ = writeln!(self.body, "<ul>\n{}</ul>", items.iter().map(item).collect::<String>());
    }

    /// Adds text to copy, such as a command.
    pub(crate) fn code(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>\n<pre>{}</pre>", escaped(name), escaped(text));
    }

    /// Adds pictures with captions: side by side where there is room.
    pub(crate) fn pictures(&mut self, pictures: &[(Svg, String)]) {
        let picture = |(svg, caption): &(Svg, String)| {
            format!("<figure>\n{}<figcaption>{}</figcaption></figure>\n", svg.document(), escaped(caption))
        };
        let _ = writeln!(self.body, "<div class=\"pictures\">\n{}</div>", pictures.iter().map(picture).collect::<String>());
    }

    /// Adds a table that readers can sort by a column and filter by words.
    pub(crate) fn table(&mut self, heads: &[String], rows: &[PageRow]) {
        let are_words = |c: usize| rows.first().is_some_and(|row| row.cells.get(c).is_some_and(|cell| sort_key(cell).is_none()));
        let head = |(c, head): (usize, &String)| {
            let class = if are_words(c) { " class=\"w\"" } else { "" };
            format!("<th{class}>{}</th>", escaped(head))
        };
        let cell = |text: &String| match sort_key(text) {
            Some(key) => format!("<td data-v=\"{key}\">{}</td>", escaped(text)),
            None => format!("<td class=\"w\">{}</td>", escaped(text)),
        };
        let row = |row: &PageRow| {
            let class = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
            format!("<tr{class}>{}</tr>\n", row.cells.iter().map(cell).collect::<String>())
        };
        let _ = writeln!(
            self.body,
            "<input class=\"filter\" type=\"search\" placeholder=\"filter rows by words\" aria-label=\"filter rows by words\">\n\
             <div class=\"scroll\"><table class=\"sort\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>",
            heads.iter().enumerate().map(head).collect::<String>(),
            rows.iter().map(row).collect::<String>()
        );
    }

    /// Adds a confusion matrix with shares of each class.
    pub(crate) fn confusion(&mut self, confusion: &Confusion, classes: &[f64]) {
        let name = |class: &f64| escaped(&label_names::display(*class));
        let head = |class: &f64| format!("<th>{}</th>", name(class));
        let heads: String = classes.iter().map(head).collect();
        let cell = |count: usize, size: usize| {
            let share = if size == 0 { 0.0 } else { count as f64 / size as f64 };
            let (count, percent) = (format::count(count as u64), format::share(share));
            format!("<td style=\"--share:{share:.3}\">{count}<br><span class=\"note\">{percent}</span></td>")
        };
        let row = |(k, class): (usize, &f64)| {
            let cells: String = confusion.counts[k].iter().map(|count| cell(*count, confusion.sizes[k])).collect();
            format!("<tr><th>{}</th>{cells}</tr>\n", name(class))
        };
        let _ = writeln!(
            self.body,
            "<div class=\"scroll\"><table class=\"confusion\"><thead><tr><th>class \\ predicted</th>{heads}</tr></thead><tbody>\n{}</tbody></table></div>",
            classes.iter().enumerate().map(row).collect::<String>()
        );
    }

    pub(crate) fn warnings(&mut self, warnings: &[String]) {
        if !warnings.is_empty() {
            self.heading("Warnings");
            self.list(warnings);
        }
    }

    /// Returns the whole page.
    pub(crate) fn html(self) -> String {
        let title = escaped(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>{STYLE}</style></head><body>\n\
             <h1>{title}</h1>\n{}<script>{SCRIPT}</script></body></html>\n",
            self.body
        )
    }
}

/// Returns the number by which a cell is sorted: `1,234`, `85.2 %`, `2^-5`, `~0.5`.
fn sort_key(text: &str) -> Option<f64> {
    let plain = text.trim_start_matches('~').trim_end_matches(" %").replace(',', "");
    match plain.strip_prefix("2^") {
        Some(power) => power.parse().ok().map(f64::exp2),
        None => plain.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_sorted_by_their_numbers() {
        assert_eq!(["1,234", "85.2 %", "2^-1", "~0.5", "9e-4"].map(sort_key), [1234.0, 85.2, 0.5, 0.5, 9e-4].map(Some));
        assert_eq!(["rbf", "converged", "", "none"].map(sort_key), [None; 4]);
    }

    #[test]
    fn a_page_escapes_what_it_shows() {
        let mut page = Page::new("a<b".to_owned());
        page.facts(&[("x&y", "<i>".to_owned())]);
        page.table(&["<h>".to_owned()], &[PageRow { class: "best", cells: vec!["<c>".to_owned()] }]);
        let html = page.html();
        assert!(["a<b", "<i>", "<h>", "<c>"].iter().all(|raw| !html.contains(raw)), "{html}");
        assert!(html.contains("<tr class=\"best\"><td class=\"w\">&lt;c&gt;</td></tr>"), "{html}");
    }
}
