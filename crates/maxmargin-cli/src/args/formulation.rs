//! Options of the formulation.

use super::values;
use clap::Args;
use maxmargin::core::{Formulation, FormulationKind, FormulationParameters, levels};

/// The formulation and its parameters except C.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct FormulationArgs {
    /// Formulation (LIBSVM's -s) [default: c-svc]; named explicitly, c-svc and nu-svc accept as
    /// classes labels that look like values
    #[arg(long, value_name = "NAME", value_parser = values::formulation())]
    pub(crate) formulation: Option<&'static FormulationKind>,
    /// Half-width of the tube of epsilon-svr, within which errors cost nothing (LIBSVM's -p)
    /// [default: 0.1]
    #[arg(long, value_name = "P", value_parser = values::not_negative, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,
    /// Share of the samples for nu-svc, nu-svr and one-class (LIBSVM's -n) [default: 0.5]
    #[arg(long, value_name = "NU", value_parser = values::share, allow_hyphen_values = true)]
    pub(crate) nu: Option<f64>,
    /// Level of quantile or expectile, between 0 and 1: 0.9 for a value that nine of ten targets do
    /// not exceed; several, as in 0.1,0.5,0.9, make one model of them all [default: 0.5]
    #[arg(long, value_name = "TAU", value_parser = values::level, value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) tau: Vec<f64>,
}

impl FormulationArgs {
    /// Returns the formulation with this C, if it has one.
    ///
    /// # Errors
    ///
    /// If an option is for another formulation.
    pub(crate) fn with_c(&self, c: f64) -> Result<Formulation, String> {
        let usual = FormulationParameters::default();
        let (epsilon, nu) = (self.epsilon.unwrap_or(usual.epsilon), self.nu.unwrap_or(usual.nu));
        let levels = self.sorted_levels()?;
        let tau = levels.get(levels::central(&levels)).copied().unwrap_or(usual.tau);
        let parameters = FormulationParameters { c, epsilon, nu, tau };
        let formulation = self.formulation.map_or(Formulation::c_svc(c), |kind| kind.formulation(parameters));
        if self.epsilon.is_some() && formulation.epsilon().is_none() {
            return Err(format!("--epsilon is for --formulation epsilon-svr, not {}", formulation.name()));
        }
        if self.nu.is_some() && formulation.nu().is_none() {
            return Err(format!("--nu is for --formulation nu-svc, nu-svr or one-class, not {}", formulation.name()));
        }
        if !self.tau.is_empty() && formulation.level().is_none() {
            return Err(format!("--tau is for --formulation quantile or expectile, not {}", formulation.name()));
        }
        Ok(formulation)
    }

    /// Returns the levels if there are several, ascending.
    ///
    /// # Errors
    ///
    /// If a level is there twice.
    pub(crate) fn levels(&self) -> Result<Vec<f64>, String> {
        Ok(Some(self.sorted_levels()?).filter(|levels| levels.len() > 1).unwrap_or_default())
    }

    fn sorted_levels(&self) -> Result<Vec<f64>, String> {
        let mut sorted = self.tau.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("--tau has {} twice", pair[0])),
            None => Ok(sorted),
        }
    }
}
