//! xtask/specs/PAPER.toml: what a paper measured, on which data, with which settings.

mod problem;
mod shows;

pub(crate) use problem::{Problem, Recipe, Test};
pub(crate) use shows::{BRIEF, Brief, Plot, Statistics};

use super::cell::label;
use super::columns::Entry;
use crate::failure::{Context, Outcome, fail};
use crate::tools::root;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;

/// Named settings of a cell, as the measured program reads them.
pub(crate) type Settings = Map<String, Value>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// What the command line calls it: the name of its file.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) title: String,
    /// What a reader of the report should know.
    #[serde(default)]
    pub(crate) remarks: Vec<String>,
    /// Settings of every cell.
    pub(crate) set: Settings,
    /// Settings that take the place of others with `--full`.
    #[serde(default)]
    pub(crate) full: Settings,
    /// What tables show that have no columns of their own.
    #[serde(default)]
    columns: Vec<Entry>,
    /// Tests of differences over all problems of a table.
    pub(crate) statistics: Option<Statistics>,
    #[serde(rename = "problem")]
    pub(crate) problems: Vec<Problem>,
    #[serde(rename = "table")]
    pub(crate) tables: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) number: u32,
    pub(crate) title: String,
    /// File in xtask/papers with the printed figures, if a paper printed some.
    pub(crate) paper: Option<String>,
    /// Which row of that file belongs to a cell: column = template. Without it the first column
    /// holds the problem's name.
    #[serde(default)]
    pub(crate) row: BTreeMap<String, String>,
    /// Names of the problems, in the table's order.
    #[serde(default)]
    pub(crate) problems: Vec<String>,
    /// A figure: it draws the measurements of these tables and has none of its own.
    #[serde(default)]
    pub(crate) from: Vec<u32>,
    /// What the report shows of it at once; nothing but its heading when absent.
    pub(crate) brief: Option<Brief>,
    /// Its picture belongs to the report's first page.
    #[serde(default)]
    pub(crate) lead: bool,
    #[serde(default)]
    pub(crate) set: Settings,
    /// Each problem is measured once with each of these.
    #[serde(default)]
    pub(crate) vary: Vec<Settings>,
    /// Those of them that are for `--quick`; all when absent.
    pub(crate) quick_vary: Option<Vec<Settings>>,
    #[serde(default, rename = "variant")]
    pub(crate) variants: Vec<Variant>,
    #[serde(default, rename = "peer")]
    pub(crate) peers: Vec<Peer>,
    #[serde(default, rename = "limit")]
    pub(crate) limits: Vec<Limit>,
    /// What the report shows of a row; as the spec says when absent.
    pub(crate) columns: Option<Vec<Entry>>,
    /// A row shows what each value of C gave, and which is best.
    #[serde(default)]
    pub(crate) choice: bool,
    /// Cells that differ in this setting alone are one row, with means.
    pub(crate) mean_over: Option<String>,
    /// Tells the file of a figure from others of the same number.
    pub(crate) part: Option<String>,
    pub(crate) plot: Option<Plot>,
    /// Bars of iterations relative to the first variant.
    #[serde(default)]
    pub(crate) bars: bool,
}

impl Table {
    /// Whether it draws what others measured.
    pub(crate) fn is_figure(&self) -> bool {
        self.plot.is_some() && !self.from.is_empty()
    }

    /// Its heading in the report.
    pub(crate) fn heading(&self) -> String {
        format!("{} {}: {}", if self.is_figure() { "Figure" } else { "Table" }, self.number, self.title)
    }

    /// The name of its first peer, from 0, or the next.
    pub(crate) fn peer(&self, place: usize) -> &str {
        self.peers.get(place).map_or("peer", |peer| &peer.name)
    }

    /// Varied settings as the report shows them: without the one over which it has means.
    pub(crate) fn shown(&self, vary: &Settings) -> String {
        let mut shown = vary.clone();
        shown.retain(|key, _| self.mean_over.as_ref() != Some(key));
        label(&shown)
    }
}

/// One way to solve the problem, and the paper's columns about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// Only these problems of the table; all when absent.
    pub(crate) problems: Option<Vec<String>>,
    /// Another program that the measured one runs: only with `--peers` where it is installed, or
    /// where the command line names it.
    pub(crate) program: Option<String>,
    #[serde(default)]
    pub(crate) set: Settings,
    #[serde(default)]
    pub(crate) paper: Columns,
}

impl Variant {
    /// Whether the variant is measured on this problem.
    pub(crate) fn is_for(&self, problem: &str) -> bool {
        self.problems.as_ref().is_none_or(|only| only.iter().any(|name| name == problem))
    }
}

/// Templates of column names; seconds are summed when a paper splits them.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Columns {
    /// What tells the variant's row of the file from others of the same cell: column = template.
    #[serde(default)]
    pub(crate) row: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) seconds: Vec<String>,
    pub(crate) iterations: Option<String>,
    pub(crate) accuracy: Option<String>,
    pub(crate) support_vectors: Option<String>,
    /// Seconds inside the solver of working sets.
    pub(crate) optimiser: Option<String>,
}

/// Another program on the same file, which prints what LIBSVM's prints. Runs once for each problem
/// and entry of `vary`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) program: String,
    /// Templates; the data file's path comes after them.
    pub(crate) arguments: Vec<String>,
    /// A program that is told test samples, the model that was written, and a file for its labels,
    /// where a problem has test samples.
    pub(crate) tests_with: Option<String>,
}

impl Peer {
    /// The arguments for a cell, the data file apart. Cells with equal arguments are one run of the
    /// peer.
    pub(crate) fn told(&self, settings: &Settings) -> Outcome<Vec<String>> {
        self.arguments.iter().map(|argument| fill(argument, settings)).collect()
    }
}

/// A count that may not grow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limit {
    pub(crate) problem: String,
    pub(crate) variant: String,
    pub(crate) vary: Settings,
    pub(crate) iterations: u64,
}

impl Spec {
    pub(crate) fn load(paper: &str) -> Outcome<Self> {
        let folder = root().join("xtask/specs");
        let path = folder.join(format!("{paper}.toml"));
        if !path.is_file() {
            let mut known: Vec<String> = fs::read_dir(&folder)
                .context(folder.display())?
                .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
                .collect();
            known.sort();
            return fail(format!("no spec is called `{paper}`; there is {}", known.join(", ")));
        }
        let spec = Self::parse(&fs::read_to_string(&path).context(path.display())?).context(path.display())?;
        Ok(Self { name: paper.to_owned(), ..spec })
    }

    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let spec: Self = toml::from_str(text).context("spec")?;
        for table in &spec.tables {
            for name in table.problems.iter().chain(table.limits.iter().map(|limit| &limit.problem)) {
                spec.problem(name)?;
            }
            // A table that shows others has their variants.
            let all = spec.tables.iter().filter(|other| std::ptr::eq(*other, table) || table.from.contains(&other.number));
            let variants: Vec<&str> = all.flat_map(|other| &other.variants).map(|variant| variant.name.as_str()).collect();
            let plotted = table.plot.iter().flat_map(|plot| plot.y.variant().into_iter().chain(plot.theory.as_deref()));
            let brief = table.brief.iter().flat_map(|brief| &brief.columns);
            let shown = spec.columns_of(table).iter().filter(|_| !table.is_figure()).chain(brief).filter_map(Entry::variant);
            if let Some(name) = shown.chain(plotted).find(|name| !variants.contains(name)) {
                return fail(format!("table {} has no variant `{name}`; there is {}", table.number, variants.join(", ")));
            }
            if let Some(brief) = table.brief.as_ref().filter(|brief| brief.columns.len() > BRIEF) {
                return fail(format!(
                    "table {}: brief has {} columns, a page has room for {BRIEF}",
                    table.number,
                    brief.columns.len()
                ));
            }
            if let Some(vary) = table.quick_vary.iter().flatten().find(|quick| !table.vary.contains(quick)) {
                return fail(format!("table {}: `{}` of quick_vary is not in vary", table.number, label(vary)));
            }
        }
        let drawn = spec.tables.iter().flat_map(|table| &table.from);
        if let Some(number) = drawn.copied().find(|number| !spec.tables.iter().any(|table| table.number == *number)) {
            return fail(format!("a figure draws table {number}, which the spec does not have"));
        }
        Ok(spec)
    }

    /// The entries that tables and figures of these numbers name. Where a number is that of a table
    /// and of a figure each is named apart.
    pub(crate) fn named(&self, tables: &[u32], figures: &[u32], statistics: bool) -> Outcome<Vec<&Table>> {
        let all = tables.is_empty() && figures.is_empty() && !statistics;
        let only =
            |number: u32, figure: bool| self.tables.iter().all(|other| other.number != number || other.is_figure() == figure);
        let named = |table: &Table| {
            let (n, figure) = (table.number, table.is_figure());
            let among = |numbers: &[u32], kind: bool| numbers.contains(&n) && (figure == kind || only(n, figure));
            let tested = statistics && self.statistics.as_ref().is_some_and(|tests| !figure && tests.table == n);
            all || tested || among(tables, false) || among(figures, true)
        };
        for &number in tables.iter().chain(figures) {
            if !self.tables.iter().any(|table| table.number == number) {
                return fail(format!("the spec has no table or figure {number}"));
            }
        }
        if statistics && self.statistics.is_none() {
            return fail("the spec has no statistics");
        }
        Ok(self.tables.iter().filter(|table| named(table)).collect())
    }

    /// What the report shows of a table's rows.
    pub(crate) fn columns_of<'a>(&'a self, table: &'a Table) -> &'a [Entry] {
        table.columns.as_ref().unwrap_or(&self.columns)
    }

    pub(crate) fn problem(&self, name: &str) -> Outcome<&Problem> {
        match self.problems.iter().find(|problem| problem.name == name) {
            Some(problem) => Ok(problem),
            None => fail(format!("the spec has no problem `{name}`")),
        }
    }
}

/// `template` with every `{key}` replaced by its setting.
pub(crate) fn fill(template: &str, settings: &Settings) -> Outcome<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, tail)) = after.split_once('}') else { return fail(format!("`{template}` lacks a closing brace")) };
        let Some(value) = settings.get(key) else { return fail(format!("`{template}`: the cell has no setting `{key}`")) };
        out += before;
        out += &plain(value);
        rest = tail;
    }
    Ok(out + rest)
}

/// A value as a person writes it: no quotes, and no `.0` behind whole numbers.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |x| x.to_string()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Spec, fill};
    use crate::tools::root;
    use serde_json::json;
    use std::fs;

    #[test]
    fn templates() {
        let settings = json!({"k": 10, "c": 2182.0, "folds": "contiguous"}).as_object().expect("map").clone();
        assert_eq!(fill("libsvm_k{k}_s", &settings).expect("filled"), "libsvm_k10_s");
        assert_eq!(fill("{c}/{folds}", &settings).expect("filled"), "2182/contiguous");
        assert!(fill("{gamma}", &settings).unwrap_err().to_string().contains("gamma"));
        assert!(fill("{k", &settings).is_err());
    }

    #[test]
    fn tables_and_figures_of_one_number() {
        let spec = Spec::load("frank-wolfe").expect("spec");
        let named = |tables: &[u32], figures: &[u32], statistics| {
            let found = spec.named(tables, figures, statistics).expect("named");
            found.iter().map(|table| (table.number, table.is_figure())).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(Vec::from_iter(named(&[3], &[], false)), [(3, false)]);
        assert_eq!(Vec::from_iter(named(&[], &[3], false)), [(3, true)]);
        assert_eq!(Vec::from_iter(named(&[7, 9], &[], true)), [(2, false), (7, true), (9, false)]);
        assert!(spec.named(&[99], &[], false).is_err());
        // A figure that was measured as a table of its own.
        let other = Spec::load("incremental").expect("spec");
        assert_eq!(other.named(&[], &[5], false).expect("named").len(), 1);
        assert!(other.named(&[], &[], true).is_err());
    }

    #[test]
    fn every_spec_of_the_project_parses() {
        let folder = root().join("xtask/specs");
        let mut specs = 0;
        for entry in fs::read_dir(folder).expect("specs") {
            let path = entry.expect("entry").path();
            let paper = path.file_stem().expect("name").to_string_lossy().into_owned();
            let spec = Spec::load(&paper).unwrap_or_else(|failure| panic!("{failure}"));
            for table in &spec.tables {
                super::super::papers::Paper::of(table).unwrap_or_else(|failure| panic!("{failure}"));
            }
            specs += 1;
        }
        assert!(specs > 0);
    }
}
