//! The figures that a rule looks at: one for each place of a table, as far as raw lines know it.

use super::figure::{Figure, Missing};
use super::sheets::{Sheet, Sheets};
use crate::cells::cell::Cell;
use crate::cells::row::Row;
use crate::cells::settings::Settings;
use crate::columns::entry::Entry;
use crate::columns::value::{Shown, quotient};
#[cfg(test)]
use crate::specs::table::Table;
use crate::workspace::failure::Outcome;
use serde::Deserialize;

/// A column of a table, for some of its rows.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Look {
    pub(crate) table: u32,
    /// Only these problems; all of the table when absent.
    problems: Option<Vec<String>>,
    /// Only these settings, as the report's column `setting` has them.
    settings: Option<Vec<String>>,
    /// The variants of the figures; each of several is a place of its own.
    variants: Vec<String>,
    pub(crate) value: Entry,
    /// The figure becomes the least one of these variants divided by it.
    #[serde(default)]
    against: Vec<String>,
    /// This variant's figure is subtracted.
    minus: Option<String>,
    /// The same variant of another table, where problems are matched by the paper's name for them.
    than: Option<Than>,
    /// Figures of all values of this setting are added first.
    sum: Option<String>,
    /// Of figures that differ in this setting alone the largest counts, last of all.
    largest: Option<String>,
    /// A run that a limit ended, or that gave up, counts as a lower bound with its figure so far.
    #[serde(default)]
    so_far: bool,
}

/// The comparison with a figure of another table.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Than {
    table: u32,
    /// The other figure is divided by this one, not subtracted from it.
    #[serde(default)]
    ratio: bool,
}

impl Look {
    /// Returns the figures of all places of the spec, measured or not; none without the table.
    pub(crate) fn figures(&self, sheets: &Sheets) -> Outcome<Vec<Figure>> {
        let Some(sheet) = sheets.sheet(self.table)? else { return Ok(Vec::new()) };
        let of = |variant: &String| self.alone(sheet, variant);
        let others: Vec<Vec<Figure>> = self.against.iter().chain(&self.minus).map(of).collect();
        let mut figures = Vec::new();
        for mut figure in self.variants.iter().flat_map(of) {
            let same = |other: &&Figure| (&other.problem, &other.shown) == (&figure.problem, &figure.shown);
            let beside: Vec<&Figure> = others.iter().filter_map(|other| other.iter().find(same)).collect();
            figure.missing.extend(beside.iter().flat_map(|other| other.missing.clone()));
            let values: Vec<&Shown> = beside.iter().map(|other| &other.value).collect();
            if self.minus.is_some() {
                figure.value = match (&figure.value, &values[..]) {
                    (Shown::Is(this), [Shown::Is(other)]) => Shown::Is(this - other),
                    _ => Shown::Nothing,
                };
            } else if !self.against.is_empty() {
                figure.value = quotient(least(&values), figure.value);
            }
            if let Some(than) = &self.than {
                self.compare(&mut figure, than, sheets)?;
            }
            // A figure that is known without these cells does not miss them.
            if !figure.nothing() {
                figure.missing.clear();
            }
            if self.variants.len() == 1 {
                figure.variant.clear();
            }
            figures.push(figure);
        }
        Ok(match &self.largest {
            Some(over) => largest(figures, over),
            None => figures,
        })
    }

    /// Compares a figure with that of the same variant in another table.
    fn compare(&self, figure: &mut Figure, than: &Than, sheets: &Sheets) -> Outcome<()> {
        let Some(sheet) = sheets.sheet(than.table)? else { return Ok(()) };
        let named =
            |problem: &str| sheets.spec.problem(problem).map(|known| known.paper.clone().unwrap_or_else(|| known.name.clone()));
        let anywhere = Self { problems: None, ..self.clone() };
        let others = anywhere.alone(sheet, &figure.variant);
        let wanted = named(&figure.problem)?;
        let mut same = None;
        for other in others.into_iter().filter(|other| other.shown == figure.shown) {
            if named(&other.problem)? == wanted {
                same = same.or(Some(other));
            }
        }
        figure.value = match same {
            Some(other) if than.ratio => {
                figure.missing.extend(other.missing.clone());
                quotient(other.value, figure.value.clone())
            }
            Some(Figure { value: Shown::Is(other), .. }) => match figure.value {
                Shown::Is(this) => Shown::Is(this - other),
                _ => Shown::Nothing,
            },
            Some(other) => {
                figure.missing.extend(other.missing);
                Shown::Nothing
            }
            None => Shown::Nothing,
        };
        Ok(())
    }

    /// Returns names that the table does not have.
    #[cfg(test)]
    pub(crate) fn unknown(&self, table: &Table) -> Vec<String> {
        let is = |name: &&String| table.variants.iter().any(|variant| variant.name == **name);
        let variants = self.variants.iter().chain(&self.against).chain(&self.minus).filter(|name| !is(name));
        let problems = self.problems.iter().flatten().filter(|name| !table.problems.contains(name));
        let shown: Vec<String> = table.vary.iter().map(|vary| table.shown(vary)).collect();
        let settings = self.settings.iter().flatten().filter(|name| !shown.contains(name));
        variants.chain(problems).chain(settings).cloned().collect()
    }

    fn covers(&self, cell: &Cell) -> bool {
        let among = |names: &Option<Vec<String>>, name: &String| names.as_ref().is_none_or(|names| names.contains(name));
        among(&self.problems, &cell.problem) && among(&self.settings, &cell.shown)
    }

    /// Returns one variant's own figures.
    fn alone(&self, Sheet { table, rows, cells }: &Sheet, variant: &str) -> Vec<Figure> {
        let mut figures: Vec<Figure> = Vec::new();
        for cell in cells.iter().filter(|cell| self.covers(cell) && cell.variant == *variant) {
            let place = |problem: &str, shown: &str| problem == cell.problem && shown == cell.shown;
            if figures.iter().any(|figure| place(&figure.problem, &figure.shown)) {
                continue;
            }
            let row = rows.iter().find(|row| place(&row.cell.problem, &row.cell.shown) && row.cell.variant == variant);
            let value = row.map_or(Shown::Nothing, |row| self.shown(rows, row));
            let nothing = matches!(value, Shown::Nothing | Shown::Words(_));
            let name = || {
                let (problem, setting, variant) = (cell.problem.clone(), cell.shown.clone(), variant.to_owned());
                Missing { table: *table, problem, setting, variant }
            };
            figures.push(Figure {
                problem: cell.problem.clone(),
                shown: cell.shown.clone(),
                variant: variant.to_owned(),
                settings: cell.settings.clone(),
                beside: row.map_or_else(Settings::new, |row| row.ours.measured.more.clone()),
                value,
                missing: if nothing { vec![name()] } else { Vec::new() },
                flaw: row.and_then(|row| row.ours.flaw.clone()),
            });
        }
        match &self.sum {
            Some(over) => added(figures, over),
            None => figures,
        }
    }

    fn shown(&self, rows: &[Row], row: &Row) -> Shown {
        let ended = matches!(row.ours.measured.status(), Some("TimeLimit" | "IterationLimit" | "Stalled"));
        if self.so_far && (ended || row.ours.measured.cut_runs() > 0.0) {
            let mut row = row.clone();
            row.ours.flaw = None;
            return match self.value.shown(rows, &row) {
                Shown::Is(x) => Shown::Over(x),
                other => other,
            };
        }
        self.value.shown(rows, row)
    }
}

/// Returns the least of several figures, as far as it is known.
fn least(all: &[&Shown]) -> Shown {
    let (mut low, mut high) = (f64::INFINITY, f64::INFINITY);
    for one in all {
        let (at_least, at_most) = match *one {
            Shown::Is(x) => (*x, *x),
            Shown::Over(x) => (*x, f64::INFINITY),
            Shown::Under(x) => (f64::NEG_INFINITY, *x),
            _ => return Shown::Nothing,
        };
        (low, high) = (low.min(at_least), high.min(at_most));
    }
    match (low, high) {
        (low, high) if low == high && low.is_finite() => Shown::Is(low),
        (low, _) if low.is_finite() => Shown::Over(low),
        (_, high) if high.is_finite() => Shown::Under(high),
        _ => Shown::Nothing,
    }
}

/// Adds figures that differ in the setting `over` alone. Sums of bounds are bounds.
fn added(figures: Vec<Figure>, over: &str) -> Vec<Figure> {
    merged(figures, over, |a, b| match (a, b) {
        (Shown::Is(a), Shown::Is(b)) => Shown::Is(a + b),
        (Shown::Is(a) | Shown::Over(a), Shown::Is(b) | Shown::Over(b)) => Shown::Over(a + b),
        _ => Shown::Nothing,
    })
}

/// Returns the largest of figures that differ in the setting `over` alone; a lower bound where not
/// all are known.
fn largest(figures: Vec<Figure>, over: &str) -> Vec<Figure> {
    merged(figures, over, |a, b| match (a, b) {
        (Shown::Is(a), Shown::Is(b)) => Shown::Is(a.max(*b)),
        (Shown::Is(a), Shown::Under(b)) | (Shown::Under(b), Shown::Is(a)) if a >= b => Shown::Is(*a),
        (Shown::Is(a) | Shown::Over(a), Shown::Is(b) | Shown::Over(b)) => Shown::Over(a.max(*b)),
        (Shown::Is(a) | Shown::Over(a), _) | (_, Shown::Is(a) | Shown::Over(a)) => Shown::Over(*a),
        (Shown::Under(a), Shown::Under(b)) => Shown::Under(a.max(*b)),
        _ => Shown::Nothing,
    })
}

/// Merges figures that differ in the setting `over` alone.
fn merged(figures: Vec<Figure>, over: &str, with: impl Fn(&Shown, &Shown) -> Shown) -> Vec<Figure> {
    let mut all: Vec<(Settings, Figure)> = Vec::new();
    for mut figure in figures {
        let mut rest = figure.settings.clone();
        rest.remove(over);
        let same = |(settings, one): &&mut (Settings, Figure)| {
            *settings == rest && one.problem == figure.problem && one.variant == figure.variant
        };
        if let Some((_, one)) = all.iter_mut().find(same) {
            one.value = with(&one.value, &figure.value);
            one.missing.append(&mut figure.missing);
        } else {
            figure.shown = String::new();
            all.push((rest, figure));
        }
    }
    all.into_iter().map(|(_, one)| one).collect()
}
