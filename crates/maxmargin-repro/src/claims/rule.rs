//! Rules: what makes a claim of figures hold.

use super::bounds::{Bounds, Kept, all, counted, show, told_of, wanted};
use super::figure::{Figure, Missing};
use super::finding::{Decision, Finding};
use super::look::Look;
use super::series::Series;
use crate::numbers::statistics::{explained, median, spearman, wilcoxon};
use serde::Deserialize;

/// How a part of a claim is decided.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    /// The figure of each place keeps to bounds, on a share of them.
    Each(Each),
    /// The median of all places keeps to bounds.
    Median(Median),
    /// A number made of the figures along a setting keeps to bounds, for a share of the series.
    Series(Series),
    /// Wilcoxon's signed ranks of the differences (`minus`) of all places.
    Pairs(Pairs),
    /// Least squares of the figures on a power of another quantity.
    Law(Law),
    /// Spearman's rank correlation with the figures of another look at the same settings.
    Match(Match),
    /// Arithmetic that a test of the crates shows: `FILE::NAME`.
    Tested(String),
    /// A test of the crates that shows the contrary: `FILE::NAME`.
    Refuted(String),
    /// No measured program says this yet: what would have to.
    Awaits(String),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Median {
    at_least: Option<f64>,
    at_most: Option<f64>,
    /// As for each place.
    known: Option<f64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Each {
    at_least: Option<f64>,
    at_most: Option<f64>,
    /// Share of the places that have to.
    #[serde(default = "all")]
    needs: f64,
    /// Share with which the part holds in part.
    partly: Option<f64>,
    /// As soon as this share of the places is known they alone count; the page says which are
    /// missing.
    known: Option<f64>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pairs {
    /// What differences are said to be.
    sign: Sign,
    /// A difference is claimed: its probability by chance is at most this.
    p_at_most: Option<f64>,
    /// No difference is claimed: its probability by chance is at least this.
    p_at_least: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sign {
    Below,
    Above,
    /// Two-sided.
    Either,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Law {
    /// A setting, or a figure of the same line.
    along: String,
    power: f64,
    /// Share of the variance that the law explains.
    explains: f64,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Match {
    with: Look,
    at_least: f64,
}

/// What [`told_of`] does, in words.
fn once(known: Option<f64>) -> String {
    known.map_or(String::new(), |share| format!(" that is known, as soon as {:.0} % are", 100.0 * share))
}

impl Rule {
    pub(super) fn check(&self, look: Option<&Look>) -> Result<(), String> {
        let needs = !matches!(self, Self::Tested(_) | Self::Refuted(_) | Self::Awaits(_));
        if needs != look.is_some() {
            return Err(if needs { "the rule needs a look" } else { "the rule takes no look" }.into());
        }
        match self {
            Self::Each(each) => Bounds::new(each.at_least, each.at_most).check(),
            Self::Median(median) => Bounds::new(median.at_least, median.at_most).check(),
            Self::Series(series) => series.bounds().check(),
            Self::Pairs(pairs) if pairs.p_at_most.is_some() == pairs.p_at_least.is_some() => {
                Err("pairs take p_at_most or p_at_least".into())
            }
            _ => Ok(()),
        }
    }

    /// What the rule asks, in words.
    pub(crate) fn words(&self) -> String {
        let share =
            |needs: f64, of: &str| if needs >= 1.0 { format!("every {of}") } else { format!("{:.0} % of {of}s", 100.0 * needs) };
        match self {
            Self::Each(each) => {
                let bounds = Bounds::new(each.at_least, each.at_most).words();
                let partly = each.partly.map_or(String::new(), |part| format!(", in part {:.0} %", 100.0 * part));
                format!("{bounds} on {}{partly}{}", share(each.needs, "place"), once(each.known))
            }
            Self::Median(median) => {
                format!("median {}{}", Bounds::new(median.at_least, median.at_most).words(), once(median.known))
            }
            Self::Series(series) => {
                let share = share(series.needs(), "line");
                format!("{} for {share}{}", series.words(), once(series.known()))
            }
            Self::Pairs(pairs) => match (pairs.p_at_most, pairs.p_at_least) {
                (Some(p), _) => format!("Wilcoxon's p at most {p}"),
                (_, p) => format!("Wilcoxon's p at least {}", p.unwrap_or_default()),
            },
            Self::Law(law) => format!("a fit in the power {} of {} explains {:.0} %", law.power, law.along, 100.0 * law.explains),
            Self::Match(with) => format!("rank correlation at least {}", with.at_least),
            Self::Tested(test) => format!("the test `{test}` shows it"),
            Self::Refuted(test) => format!("the test `{test}` shows the contrary"),
            Self::Awaits(_) => "nothing measures it yet".into(),
        }
    }

    /// What figures say. `other` has the figures of a second look.
    pub(crate) fn decide(&self, figures: &[Figure], other: &[Figure]) -> Decision {
        let decided = match self {
            Self::Each(each) => each.decide(figures),
            Self::Median(median) => median.decide(figures),
            Self::Series(series) => series.decide(figures),
            Self::Pairs(pairs) => pairs.decide(figures),
            Self::Law(law) => law.decide(figures),
            Self::Match(with) => with.decide(figures, other),
            Self::Tested(test) | Self::Refuted(test) => {
                let name = test.rsplit("::").next().unwrap_or(test);
                let finding = if matches!(self, Self::Tested(_)) { Finding::Holds } else { Finding::Fails };
                let figure = format!("test `{name}`");
                return Decision { finding, figure, missing: Vec::new(), awaits: None, tested: true };
            }
            Self::Awaits(what) => {
                let (finding, figure) = (Finding::Untold, String::new());
                return Decision { finding, figure, missing: Vec::new(), awaits: Some(what.clone()), tested: false };
            }
        };
        let (finding, figure) = decided;
        let mut missing: Vec<Missing> = figures.iter().chain(other).flat_map(|figure| figure.missing.clone()).collect();
        missing.sort();
        missing.dedup();
        Decision { finding, figure, missing, awaits: None, tested: false }
    }

    /// The test that decides, `FILE::NAME`.
    #[cfg(test)]
    pub(super) fn test(&self) -> Option<&str> {
        if let Self::Tested(test) | Self::Refuted(test) = self { Some(test) } else { None }
    }

    /// The second look that the rule compares with.
    pub(super) fn second(&self) -> Option<&Look> {
        if let Self::Match(with) = self { Some(&with.with) } else { None }
    }
}

impl Each {
    fn decide(&self, figures: &[Figure]) -> (Finding, String) {
        let bounds = Bounds::new(self.at_least, self.at_most);
        let kept: Vec<Kept> = figures.iter().map(|figure| bounds.keep(figure.range())).collect();
        let yes = kept.iter().filter(|kept| **kept == Kept::Yes).count();
        let told = kept.iter().filter(|kept| **kept != Kept::Unknown).count();
        let figure = if told > 0 { format!("{yes} of {told}{}", range(figures)) } else { String::new() };
        (counted(&told_of(&kept, self.known), self.needs, self.partly), figure)
    }
}

/// Few figures one by one, many by their range.
fn range(figures: &[Figure]) -> String {
    let known: Vec<&Figure> = figures.iter().filter(|figure| !figure.nothing()).collect();
    let text = |figure: &&Figure| match figure.range() {
        (low, high) if low == high => show(low),
        (low, high) if high.is_infinite() => format!("> {}", show(low)),
        (_, high) => format!("< {}", show(high)),
    };
    if known.is_empty() {
        return String::new();
    }
    if known.len() <= 6 {
        let same = known.iter().all(|figure| figure.shown == known[0].shown) && known.len() > 1;
        let name = |figure: &&Figure| {
            let short = Figure { shown: if same { String::new() } else { figure.shown.clone() }, ..(*figure).clone() };
            format!("{} {}", short.name(), text(figure))
        };
        return format!(": {}", known.iter().map(name).collect::<Vec<_>>().join(", "));
    }
    let mut values: Vec<f64> = known.iter().filter_map(|figure| figure.known()).collect();
    if values.is_empty() {
        return String::new();
    }
    let middle = median(&mut values);
    format!(": {} to {}, median {}", show(values[0]), show(values[values.len() - 1]), show(middle))
}

impl Median {
    /// The median of figures that may be bounds only.
    fn decide(&self, figures: &[Figure]) -> (Finding, String) {
        let exact: Vec<&Figure> = figures.iter().filter(|figure| figure.known().is_some()).collect();
        let enough = self.known.is_some_and(|share| !exact.is_empty() && exact.len() >= wanted(share, figures.len()));
        let counting: Vec<&Figure> = if enough { exact } else { figures.iter().collect() };
        if counting.iter().all(|figure| figure.nothing()) {
            return (Finding::Untold, String::new());
        }
        let (mut low, mut high): (Vec<f64>, Vec<f64>) = counting.iter().map(|figure| figure.range()).unzip();
        let ends = (median(&mut low), median(&mut high));
        let known = if ends.0 == ends.1 { show(ends.0) } else { format!("{} to {}", show(ends.0), show(ends.1)) };
        let finding = match Bounds::new(self.at_least, self.at_most).keep(ends) {
            Kept::Yes => Finding::Holds,
            Kept::No => Finding::Fails,
            Kept::Unknown => Finding::Untold,
        };
        (finding, format!("median {known} of {}", counting.len()))
    }
}

impl Pairs {
    fn decide(&self, figures: &[Figure]) -> (Finding, String) {
        let differences: Vec<f64> = figures.iter().filter_map(Figure::known).collect();
        if differences.len() < 6 {
            return (Finding::Untold, String::new());
        }
        let found = wilcoxon(&differences);
        let as_said = match self.sign {
            Sign::Below => found.negative >= found.positive,
            Sign::Above => found.positive >= found.negative,
            Sign::Either => true,
        };
        let p = if self.sign == Sign::Either { (2.0 * found.p).min(1.0) } else { found.p };
        let below = differences.iter().filter(|difference| **difference < 0.0).count();
        let text =
            format!("p {p:.1e} over {} sets, {below} below{}", differences.len(), if as_said { "" } else { ": the other way" });
        let holds = self.p_at_most.is_none_or(|most| as_said && p <= most) && self.p_at_least.is_none_or(|least| p >= least);
        (if holds { Finding::Holds } else { Finding::Fails }, text)
    }
}

impl Law {
    fn decide(&self, figures: &[Figure]) -> (Finding, String) {
        let points: Vec<(f64, f64)> =
            figures.iter().filter_map(|figure| Some((figure.abscissa(&self.along)?.powf(self.power), figure.known()?))).collect();
        if points.len() < 5 {
            return (Finding::Untold, String::new());
        }
        let explained = explained(&points);
        let finding = if explained >= self.explains { Finding::Holds } else { Finding::Fails };
        (finding, format!("{:.0} % explained over {} places", 100.0 * explained, points.len()))
    }
}

impl Match {
    fn decide(&self, figures: &[Figure], other: &[Figure]) -> (Finding, String) {
        let pair = |figure: &Figure| {
            let same = |other: &&Figure| (&other.problem, &other.shown) == (&figure.problem, &figure.shown);
            Some((figure.known()?, other.iter().find(same)?.known()?))
        };
        let points: Vec<(f64, f64)> = figures.iter().filter_map(pair).collect();
        if points.len() < 5 {
            return (Finding::Untold, String::new());
        }
        let rho = spearman(&points);
        let finding = if rho >= self.at_least { Finding::Holds } else { Finding::Fails };
        (finding, format!("rank correlation {rho:.2} over {} places", points.len()))
    }
}
