//! Figures along a setting: whether they rise, by how much, how far they are apart.

use super::bounds::{Bounds, Kept, all, counted, show, told_of};
use super::figure::Figure;
use super::finding::Finding;
use crate::numbers::groups::grouped;
use crate::numbers::statistics::spearman;
use serde::Deserialize;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    /// Settings joined by `+`, or a figure of the same line, such as `train_rows`.
    along: String,
    of: Of,
    /// All problems are one series, not each one of its own.
    #[serde(default)]
    across: bool,
    at_least: Option<f64>,
    at_most: Option<f64>,
    /// Share of the series that have to.
    #[serde(default = "all")]
    needs: f64,
    partly: Option<f64>,
    /// As soon as this share of the series is known they alone count.
    known: Option<f64>,
}

/// What is made of a series.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Of {
    /// Spearman's rank correlation with what it is along: 1 rises everywhere, −1 falls everywhere.
    Correlation,
    /// The last figure as a multiple of the first.
    Rise,
    /// The largest as a multiple of the smallest.
    Spread,
    /// Where along the series the least figure is.
    Lowest,
}

/// Fewer points show no trend.
const FEWEST: usize = 3;

impl Series {
    pub(super) const fn bounds(&self) -> Bounds {
        Bounds::new(self.at_least, self.at_most)
    }

    pub(super) const fn known(&self) -> Option<f64> {
        self.known
    }

    pub(super) const fn needs(&self) -> f64 {
        self.needs
    }

    pub(super) fn words(&self) -> String {
        let (along, bounds) = (&self.along, self.bounds().words());
        match self.of {
            Of::Correlation => format!("rank correlation with {along} {bounds}"),
            Of::Rise => format!("last over first along {along} {bounds}"),
            Of::Lowest => format!("least at {along} {bounds}"),
            Of::Spread => format!("largest over smallest along {along} {bounds}"),
        }
    }

    pub(super) fn decide(&self, figures: &[Figure]) -> (Finding, String) {
        let groups = grouped(figures.iter(), |figure| self.key(figure));
        let made: Vec<(String, Option<f64>)> = groups.iter().map(|group| (self.name(group[0]), self.made(group))).collect();
        let keep = |value: &Option<f64>| value.map_or(Kept::Unknown, |value| self.bounds().keep((value, value)));
        let kept: Vec<Kept> = made.iter().map(|(_, value)| keep(value)).collect();
        let told: Vec<String> =
            made.iter().filter_map(|(name, value)| Some(format!("{name} {}", show((*value)?)).trim().to_owned())).collect();
        (counted(&told_of(&kept, self.known), self.needs, self.partly), told.join(", "))
    }

    /// What figures of one series have in common.
    fn key(&self, figure: &Figure) -> (String, String, Vec<(String, String)>) {
        let varied = |key: &str| self.along.split('+').any(|name| name.trim() == key);
        let shown = figure.shown.split(' ').filter_map(|part| part.split_once('='));
        // Of a setting along which it goes there is only whether it is there: adding and removing
        // are two series.
        let rest = shown.map(|(key, value)| (key.to_owned(), if varied(key) { String::new() } else { value.to_owned() }));
        let rest = rest.collect();
        let problem = if self.across { String::new() } else { figure.problem.clone() };
        (problem, figure.variant.clone(), rest)
    }

    fn name(&self, figure: &Figure) -> String {
        let (problem, variant, rest) = self.key(figure);
        let rest = rest.into_iter().filter(|(_, value)| !value.is_empty() || self.along.contains('+')).collect::<Vec<_>>();
        let rest: Vec<String> =
            rest.into_iter().map(|(key, value)| if value.is_empty() { key } else { format!("{key}={value}") }).collect();
        [problem, variant, rest.join(" ")].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn made(&self, group: &[&Figure]) -> Option<f64> {
        let mut points: Vec<(f64, f64)> =
            group.iter().filter_map(|figure| Some((figure.abscissa(&self.along)?, figure.known()?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (first, last) = (points.first()?, points.last()?);
        let values = || points.iter().map(|point| point.1);
        match self.of {
            Of::Correlation => (points.len() >= FEWEST).then(|| spearman(&points)),
            // The ends of what is asked for, not of what happens to be there.
            Of::Rise => (points.len() == group.len() && points.len() > 1).then(|| last.1 / first.1),
            Of::Lowest => {
                let least = points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
                (points.len() >= FEWEST).then_some(least.0)
            }
            Of::Spread => (points.len() >= FEWEST).then(|| values().fold(f64::MIN, f64::max) / values().fold(f64::MAX, f64::min)),
        }
    }
}
