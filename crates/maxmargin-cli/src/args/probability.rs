//! Options about probabilities.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use maxmargin::cv::Probability;
use maxmargin::model::{Decide, Model};

/// How labels come from a model with probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecideName {
    /// the class of the greatest probability
    #[default]
    Coupled,
    /// what the decision values elect, as LIBSVM's svm-predict does without -b
    Vote,
}

impl DecideName {
    /// The rule that this is for a model.
    pub(crate) fn decide(self, model: &Model) -> Decide {
        let coupled = !model.calibration().is_empty() && !model.classes().is_empty();
        match self {
            _ if model.classes().is_empty() => model.decide(),
            Self::Coupled if coupled => Decide::Coupled,
            Self::Coupled | Self::Vote => model.scheme().decide(),
        }
    }
}

/// Probabilities of a training.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Probabilities")]
pub(crate) struct ProbabilityArgs {
    /// Give the model probabilities, fitted to five folds that are trained besides: platt (a sigmoid) or isotonic (any monotone function); of a regression the
    /// scale of its errors, of one class the probability of being inside
    #[arg(long, value_name = "HOW", value_parser = probability())]
    pub(crate) probability: Option<Probability>,
    /// How labels come from a model with probabilities
    #[arg(long, value_enum, default_value_t, requires = "probability")]
    pub(crate) decide: DecideName,
}

/// A way of fitting probabilities by name.
pub(crate) fn probability() -> impl TypedValueParser<Value = Probability> {
    PossibleValuesParser::new(Probability::ALL.map(Probability::name)).try_map(|name| name.parse::<Probability>())
}
