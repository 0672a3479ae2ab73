//! The metric of a search.

use crate::console::failure::Failure;
use crate::console::format;
use crate::console::notes::Notes;
use crate::files::input::Input;
use maxmargin::core::TargetKind;
use maxmargin::data::ClassLabels;
use maxmargin::metrics::{
    BALANCED_ACCURACY, Best, CLASS_METRICS, INLIERS, Metric, Purpose, TWO_CLASS_METRICS, all_metrics, are_sides, metrics_of,
};

/// The metric by which cells are compared.
pub(super) struct Choice {
    metric: &'static Metric,
    purpose: Purpose,
}

impl Choice {
    /// Returns the metric of this name, or the default for the purpose.
    pub(super) fn new(purpose: Purpose, name: Option<&str>) -> Result<Self, Failure> {
        let Some(name) = name else { return Ok(Self { metric: metrics_of(purpose)[0], purpose }) };
        let of_sides = if purpose.target_kind == TargetKind::Nothing { CLASS_METRICS } else { &[] };
        let known = || all_metrics(purpose).chain(of_sides.iter().copied()).filter(|metric| !metric.is_diagnostic());
        let unknown = || {
            let names: Vec<&str> = known().map(Metric::name).collect();
            Failure::Usage(format!("--metric {name}: unknown metric; there are {}", names.join(", ")))
        };
        let metric = known().find(|metric| metric.name() == name).ok_or_else(unknown)?;
        Ok(Self { metric, purpose })
    }

    /// Returns the choice for this data. One class is scored by labels of 1 and −1 unless a metric
    /// is `asked` for: the share of inliers is largest where γ is near 0, whatever the data is.
    ///
    /// # Errors
    ///
    /// If a metric needs such labels and the data has others, or `is_search` is true and there is
    /// nothing to choose by.
    pub(super) fn of_data(self, asked: Option<&str>, is_search: bool, input: &Input, notes: &mut Notes) -> Result<Self, Failure> {
        if self.target_kind() != TargetKind::Nothing {
            return Ok(self);
        }
        let labels = &input.data.labels;
        let has_sides = are_sides(labels) && labels.contains(&1.0) && labels.contains(&-1.0);
        let by_inliers = self.name() == INLIERS.name();
        let advice = "give rows the labels 1 (normal) and -1 (outlier), by which the balanced accuracy is scored";
        match (asked, has_sides) {
            (None, true) => return Ok(Self { metric: &BALANCED_ACCURACY, ..self }),
            (None, false) if is_search => {
                let what = format!(
                    "one class without labels has nothing to choose gamma by: the share of inliers is largest where gamma is \
                     near 0; {advice}, or train with -g and --nu of your own"
                );
                return Err(Failure::input(&input.name, what));
            }
            (Some(name), false) if !by_inliers => {
                return Err(Failure::input(&input.name, format!("--metric {name}: one class without labels; {advice}")));
            }
            _ => {}
        }
        if by_inliers {
            notes.warn(format!("the share of inliers is largest where gamma is near 0, whatever the data is; {advice}"));
        }
        Ok(self)
    }

    /// Checks that the metric applies to the data.
    pub(super) fn check(&self, classes: Option<&ClassLabels>) -> Result<(), Failure> {
        let two = TWO_CLASS_METRICS.iter().any(|metric| metric.name() == self.name());
        match classes.map(ClassLabels::count) {
            Some(count) if two && count != 2 => {
                let name = self.name();
                Err(Failure::Usage(format!("--metric {name}: it is for two classes, and the data has {count}; try f1_macro")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.metric.name()
    }

    /// Returns whether it is the default metric.
    pub(super) fn is_default(&self) -> bool {
        self.name() == metrics_of(self.purpose)[0].name()
    }

    /// Returns whether a higher score is better.
    pub(super) fn rises(&self) -> bool {
        self.metric.best() == Best::Highest
    }

    pub(super) fn target_kind(&self) -> TargetKind {
        self.purpose.target_kind
    }

    pub(super) fn metric(&self) -> &'static Metric {
        self.metric
    }

    /// Returns the indices from the best score to the worst; cells without a score come last.
    pub(super) fn order(&self, scores: &[Option<f64>]) -> Vec<usize> {
        let sign = if self.rises() { -1.0 } else { 1.0 };
        let key = |at: &usize| scores[*at].map_or(f64::INFINITY, |score| sign * score);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        order
    }

    /// The header of a column of scores: `accuracy, %`
    pub(super) fn column(&self) -> String {
        let unit = if self.is_share() { ", %" } else { "" };
        format!("{}{unit}", self.title())
    }

    /// The name of the metric in a sentence.
    fn title(&self) -> String {
        self.name().replace('_', " ")
    }

    /// Returns whether scores are shares of the samples.
    pub(super) fn is_share(&self) -> bool {
        matches!(self.name(), "accuracy" | "balanced_accuracy" | "inliers")
    }

    /// A score in a column ([`Self::column`]): `85.19`
    pub(super) fn number(&self, score: Option<f64>) -> String {
        match score {
            None => "none".to_owned(),
            Some(score) if self.is_share() => format!("{:.2}", 100.0 * score),
            Some(score) => format::short(score),
        }
    }

    /// A score for pictures and pages: `85.2`
    pub(super) fn short(&self, score: Option<f64>) -> String {
        match score {
            Some(score) if self.is_share() => format!("{:.1}", 100.0 * score),
            Some(score) => format!("{score:.3}"),
            None => "none".to_owned(),
        }
    }

    /// A score in a sentence of a page: `accuracy 85.2 %`
    pub(super) fn short_text(&self, score: Option<f64>) -> String {
        let unit = if self.is_share() && score.is_some() { " %" } else { "" };
        format!("{} {}{unit}", self.title(), self.short(score))
    }

    /// A score with its unit: `85.19 %`
    pub(super) fn value(&self, score: Option<f64>) -> String {
        let unit = if self.is_share() && score.is_some() { " %" } else { "" };
        self.number(score) + unit
    }

    /// A score in a sentence: `accuracy 85.19 %`
    pub(super) fn text(&self, score: Option<f64>) -> String {
        format!("{} {}", self.title(), self.value(score))
    }
}
