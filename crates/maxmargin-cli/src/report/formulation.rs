//! The formulation in documents and text.

use crate::console::format;
use maxmargin::LinearObjective;
use maxmargin::core::{BiasTerm, Formulation, Level, Loss, MarginLoss, Penalty};
use maxmargin::cv::CertificateReport;
use maxmargin::metrics::Purpose;
use serde::Serialize;

/// The formulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FormulationDocument {
    name: &'static str,
    #[serde(skip)]
    formulation: Formulation,
    #[serde(skip)]
    pub(crate) purpose: Purpose,
    pub(crate) c: Option<f64>,
    pub(crate) epsilon: Option<f64>,
    pub(crate) nu: Option<f64>,
    pub(crate) tau: Option<f64>,
    /// The levels of several machines; the central one is `tau`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) levels: Vec<f64>,
    loss: &'static str,
    /// The norm of the weights, where the objective has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    penalty: Option<Penalty>,
    #[serde(skip)]
    objective: Option<LinearObjective>,
    /// Spelled as on the command line: `free`, `none` or the value of the feature.
    bias: String,
}

impl FormulationDocument {
    /// Describes a formulation with this C, or with several for None.
    pub(crate) fn new(formulation: Formulation, c: Option<f64>) -> Self {
        let bias = match formulation.bias_term() {
            BiasTerm::Free => "free".to_owned(),
            BiasTerm::None => "none".to_owned(),
            BiasTerm::Feature(value) => format::exact(value),
        };
        let c = c.filter(|_| formulation.c().is_some());
        Self {
            name: formulation.name(),
            formulation,
            purpose: formulation.into(),
            c,
            epsilon: formulation.epsilon(),
            nu: formulation.nu(),
            tau: formulation.level().map(Level::tau),
            levels: Vec::new(),
            loss: if formulation.loss() == Loss::Hinge { "hinge" } else { "squared_hinge" },
            penalty: None,
            objective: None,
            bias,
        }
    }

    /// The same formulation with a machine for each of these levels, if there are some.
    pub(crate) fn with_levels(self, levels: &[f64]) -> Self {
        Self { levels: levels.to_vec(), ..self }
    }

    /// The same formulation with the objective of a linear machine, if there is one.
    pub(crate) fn with_objective(self, objective: Option<LinearObjective>) -> Self {
        let (loss, penalty) = match objective {
            None => return self,
            Some(LinearObjective::CrammerSinger) => ("crammer_singer", Penalty::L2),
            Some(LinearObjective::Margin { loss: MarginLoss::Logistic, penalty }) => ("logistic", penalty),
            Some(LinearObjective::Margin { loss: MarginLoss::SquaredHinge, penalty }) => ("squared_hinge", penalty),
        };
        Self { loss, penalty: Some(penalty), objective, ..self }
    }

    /// Returns true if one of these certificates meets its goal and shows no margin.
    pub(crate) fn lacks_margin<'c>(&self, mut certificates: impl Iterator<Item = &'c CertificateReport>) -> bool {
        certificates.any(|certificate| certificate.holds && self.formulation.lacks_margin(certificate.primal))
    }

    /// Returns true for one machine of all classes.
    pub(crate) fn is_of_all_classes(&self) -> bool {
        self.objective == Some(LinearObjective::CrammerSinger)
    }

    /// Returns true for weights that are no sum over support vectors.
    pub(crate) fn has_weights_only(&self) -> bool {
        self.objective.is_some()
    }

    /// `hinge loss, free bias`; `epsilon-svr, epsilon 0.1, hinge loss, free bias`
    pub(crate) fn text(&self) -> String {
        if let Some(nu) = self.nu {
            return format!("{}, nu {}", self.name, format::exact(nu));
        }
        let parameter = match (self.epsilon, self.tau) {
            (Some(epsilon), _) => format!("{}, epsilon {}, ", self.name, format::exact(epsilon)),
            (None, Some(_)) if !self.levels.is_empty() => {
                let levels: Vec<String> = self.levels.iter().map(|level| format::exact(*level)).collect();
                format!("{}, tau {}, ", self.name, levels.join(", "))
            }
            (None, Some(tau)) => format!("{}, tau {}, ", self.name, format::exact(tau)),
            (None, None) => String::new(),
        };
        parameter + &self.loss_text()
    }

    fn loss_text(&self) -> String {
        let loss = match (self.purpose.level, self.loss) {
            (Some(Level::Quantile(_)), _) => "pinball loss",
            (Some(Level::Expectile(_)), _) => "asymmetric squared loss",
            (None, "hinge") => "hinge loss",
            (None, "logistic") => "logistic loss",
            (None, "crammer_singer") => "all classes at once",
            (None, _) => "squared hinge loss",
        };
        let norm = if self.penalty == Some(Penalty::L1) { ", L1 norm" } else { "" };
        let loss = format!("{loss}{norm}");
        match self.bias.as_str() {
            "free" => format!("{loss}, free bias"),
            "none" => format!("{loss}, no bias"),
            value => format!("{loss}, bias as a feature of value {value}"),
        }
    }
}
