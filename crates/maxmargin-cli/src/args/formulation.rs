//! Options of the formulation.

use super::values;
use clap::{Args, ValueEnum};
use maxmargin::core::Formulation;

/// The formulations on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormulationName {
    /// classes, margin violations at cost -c
    CSvc,
    /// classes, at most the share --nu of the samples violates its margin
    NuSvc,
    /// regression, errors beyond --epsilon at cost -c
    EpsilonSvr,
    /// regression, at most the share --nu of the samples outside the tube, whose width is found
    NuSvr,
    /// the region of the samples, at most the share --nu of them outside; labels are ignored
    OneClass,
}

/// The formulation and its parameters except C.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct FormulationArgs {
    /// Formulation (LIBSVM's -s) [default: c-svc]; named explicitly, c-svc and nu-svc accept as
    /// classes labels that look like values
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) formulation: Option<FormulationName>,
    /// Half-width of the tube of epsilon-svr, within which errors cost nothing (LIBSVM's -p)
    /// [default: 0.1]
    #[arg(long, value_name = "P", value_parser = values::not_negative, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,
    /// Share of the samples for nu-svc, nu-svr and one-class (LIBSVM's -n) [default: 0.5]
    #[arg(long, value_name = "NU", value_parser = values::share, allow_hyphen_values = true)]
    pub(crate) nu: Option<f64>,
}

/// LIBSVM's defaults.
const EPSILON: f64 = 0.1;
const NU: f64 = 0.5;

impl FormulationArgs {
    /// Returns the formulation with this C, if it has one.
    ///
    /// # Errors
    ///
    /// If an option is for another formulation.
    pub(crate) fn with_c(&self, c: f64) -> Result<Formulation, String> {
        let (nu, epsilon) = (self.nu.unwrap_or(NU), self.epsilon.unwrap_or(EPSILON));
        let formulation = match self.formulation.unwrap_or(FormulationName::CSvc) {
            FormulationName::CSvc => Formulation::c_svc(c),
            FormulationName::NuSvc => Formulation::NuSvc { nu },
            FormulationName::EpsilonSvr => Formulation::epsilon_svr(c, epsilon),
            FormulationName::NuSvr => Formulation::NuSvr { c, nu },
            FormulationName::OneClass => Formulation::OneClass { nu },
        };
        if self.epsilon.is_some() && formulation.epsilon().is_none() {
            return Err(format!("--epsilon is for --formulation epsilon-svr, not {}", formulation.name()));
        }
        if self.nu.is_some() && formulation.nu().is_none() {
            return Err(format!("--nu is for --formulation nu-svc, nu-svr or one-class, not {}", formulation.name()));
        }
        Ok(formulation)
    }
}
