//! Options of probabilities and thresholds.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueEnum};
use maxmargin::Svm;
use maxmargin::core::TargetKind;
use maxmargin::cv::{CalibrationOptions, Probability, is_tunable};
use maxmargin::metrics::{Metric, all_metrics};
use maxmargin::model::{DecisionRule, Model};

/// The rules that turn decision values into labels, for models with probabilities or a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecisionRuleName {
    /// the class with the largest probability
    Coupled,
    /// by the decision values alone, as LIBSVM's svm-predict does without -b
    Vote,
    /// the second of two classes at and above the model's threshold
    Threshold,
}

impl DecisionRuleName {
    /// Returns the rule that this name means for a model.
    pub(crate) fn decision_rule(self, model: &Model) -> DecisionRule {
        let coupled = !model.calibration().is_empty() && !model.classes().is_empty();
        match self {
            _ if model.classes().is_empty() => model.decision_rule(),
            Self::Coupled if coupled => DecisionRule::Coupled,
            Self::Coupled | Self::Vote => model.multiclass().decision_rule(),
            Self::Threshold => DecisionRule::Threshold,
        }
    }
}

/// Options of a training for probabilities and a threshold.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Probabilities, threshold", group(ArgGroup::new("fitted").multiple(true)))]
pub(crate) struct ProbabilityArgs {
    /// Add probabilities, fitted by five-fold cross-validation: platt (a sigmoid) or isotonic (any
    /// monotone function); for a regression the scale of its errors, for one class the probability
    /// of being an inlier
    #[arg(long, value_name = "HOW", value_parser = probability(), group = "fitted")]
    pub(crate) probability: Option<Probability>,
    /// Give a two-class model a threshold other than 0: the one with the best score by this metric
    /// (accuracy, balanced-accuracy, f1, f1-macro, matthews) in five-fold cross-validation. It
    /// decides labels; decision values and probabilities stay as they are
    #[arg(long, value_name = "METRIC", value_parser = threshold, group = "fitted")]
    pub(crate) threshold: Option<&'static Metric>,
    /// Rule that turns decision values into labels [default: threshold if there is one, else
    /// coupled]
    #[arg(long, value_enum, requires = "fitted")]
    pub(crate) decide: Option<DecisionRuleName>,
}

impl ProbabilityArgs {
    /// Returns true if a calibration or a rule was asked for.
    pub(crate) fn is_given(self) -> bool {
        self.probability.is_some() || self.threshold.is_some() || self.decide.is_some()
    }

    /// Returns the requested calibration.
    pub(crate) fn calibration_options(self) -> CalibrationOptions {
        CalibrationOptions { probability: self.probability, threshold: self.threshold }
    }

    /// Adds the requested calibration to an estimator.
    pub(crate) fn apply(self, svm: Svm) -> Svm {
        with_calibration(self.calibration_options(), svm)
    }
}

/// Adds a calibration to an estimator.
pub(crate) fn with_calibration(calibration_options: CalibrationOptions, svm: Svm) -> Svm {
    let svm = calibration_options.probability.into_iter().fold(svm, Svm::probability);
    calibration_options.threshold.into_iter().fold(svm, Svm::threshold)
}

/// Returns the named decision rule, or the model's own.
pub(crate) fn decision_rule(model: &Model, name: Option<DecisionRuleName>) -> DecisionRule {
    name.map_or(model.decision_rule(), |name| name.decision_rule(model))
}

/// Parses a metric that can choose a threshold; its words may be joined by `-` or `_`.
pub(crate) fn threshold(name: &str) -> Result<&'static Metric, String> {
    let known = || all_metrics(TargetKind::Classes).filter(|metric| is_tunable(metric));
    let wanted = name.replace('-', "_");
    known().find(|metric| metric.name() == wanted).ok_or_else(|| {
        let names: Vec<&str> = known().map(Metric::name).collect();
        format!("a threshold needs a metric that counts the errors of both classes: {}", names.join(", "))
    })
}

/// A parser of calibration methods.
pub(crate) fn probability() -> impl TypedValueParser<Value = Probability> {
    PossibleValuesParser::new(Probability::ALL.map(Probability::name)).try_map(|name| name.parse::<Probability>())
}
