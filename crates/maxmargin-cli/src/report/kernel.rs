//! Kernels in documents.

use crate::console::format;
use maxmargin::kernel::{Gamma, Kernel};
use serde::Serialize;

/// A kernel and the rule of its width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct KernelDocument {
    #[serde(rename = "type")]
    name: &'static str,
    gamma: Option<f64>,
    gamma_rule: Option<&'static str>,
    coef0: Option<f64>,
    degree: Option<u32>,
}

impl KernelDocument {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        Self {
            name: kernel.name(),
            gamma: kernel.gamma(),
            gamma_rule: None,
            coef0: kernel.parameter("coef0"),
            degree: kernel.parameter("degree").map(|degree| degree as u32),
        }
    }

    /// Describes a kernel with the rule of its width, if it has one.
    pub(crate) fn by_rule(kernel: &Kernel, gamma: Gamma) -> Self {
        Self { gamma_rule: kernel.gamma().map(|_| gamma_rule(gamma)), ..Self::new(kernel) }
    }

    /// Returns the width, if a rule computed it.
    pub(crate) fn gamma_of_rule(&self) -> Option<f64> {
        self.gamma.filter(|_| self.gamma_rule.is_some_and(|rule| rule != GIVEN))
    }

    /// Describes the (first) kernel of a search, whose parameters vary. A width by a rule does not.
    pub(crate) fn searched(kernel: &Kernel, gamma: Gamma) -> Self {
        let own = Self::by_rule(kernel, gamma);
        let width = own.gamma_of_rule();
        Self { gamma: width, gamma_rule: own.gamma_rule.filter(|_| width.is_some()), degree: None, ..own }
    }

    /// `rbf, gamma 0.5` for a value that was given, `rbf, gamma 0.0769 (1/features)` for one by a
    /// rule.
    pub(crate) fn text(&self) -> String {
        self.text_after(self.name)
    }

    /// `rbf kernel, gamma 0.5`
    pub(crate) fn sentence(&self) -> String {
        self.text_after(&format!("{} kernel", self.name))
    }

    /// Returns a sentence on the width that an update of a model keeps, if the kernel has one. Data
    /// that was written for a model of a table has the model's columns, not those of the table.
    pub(crate) fn kept_width(&self, of_table: bool) -> Option<String> {
        let sentence = self.sentence();
        let changed = if of_table { "the changed table" } else { "the changed data (--write-data)" };
        let advice = match self.gamma_rule {
            Some(GIVEN) => String::new(),
            _ => format!("; train on {changed} to have -g scale or mean choose it anew"),
        };
        self.gamma.map(|_| format!("{sentence}, kept{advice}"))
    }

    fn text_after(&self, name: &str) -> String {
        let gamma = self.gamma.map(|gamma| match self.gamma_rule.and_then(|rule| rule.split_once(": ")) {
            Some((_, formula)) => format!("gamma {} ({formula})", format::computed(gamma)),
            None => format!("gamma {}", format::parameter(gamma)),
        });
        let degree = self.degree.map(|degree| format!("degree {degree}"));
        let coef0 = self.coef0.map(|coef0| format!("coef0 {}", format::exact(coef0)));
        let name = Some(name.to_owned());
        [name, gamma, degree, coef0].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The rule of a width that the user gave.
const GIVEN: &str = "given";

/// Returns the rule of a width, for documents.
fn gamma_rule(gamma: Gamma) -> &'static str {
    match gamma {
        Gamma::Value(_) => GIVEN,
        Gamma::Auto => "auto: 1/features",
        Gamma::Scale => "scale: 1/(features * variance)",
        Gamma::Mean => "mean: 1/(2 * mean squared distance)",
    }
}
