//! The table of formulations: names, help, parameters.

use crate::problem::formulation::Formulation;

/// One row of the table of formulations.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FormulationKind {
    /// The name on the command line, in Python and in reports.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    build: fn(FormulationParameters) -> Formulation,
}

/// The parameters of all formulations, with LIBSVM's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FormulationParameters {
    /// The price of errors.
    pub c: f64,
    /// The width below which errors cost nothing.
    pub epsilon: f64,
    /// The share of samples.
    pub nu: f64,
    /// The level of a quantile or expectile.
    pub tau: f64,
}

impl Default for FormulationParameters {
    fn default() -> Self {
        Self { c: 1.0, epsilon: 0.1, nu: 0.5, tau: 0.5 }
    }
}

impl FormulationKind {
    /// Every formulation, with its usual loss and bias term.
    pub const ALL: [Self; 7] = [
        Self { name: "c-svc", help: "classes, margin violations at cost C", build: |of| Formulation::c_svc(of.c) },
        Self {
            name: "nu-svc",
            help: "classes, at most the share nu of the samples violates its margin",
            build: |of| Formulation::NuSvc { nu: of.nu },
        },
        Self {
            name: "epsilon-svr",
            help: "regression, errors beyond epsilon at cost C",
            build: |of| Formulation::epsilon_svr(of.c, of.epsilon),
        },
        Self {
            name: "nu-svr",
            help: "regression, at most the share nu of the samples outside the tube, whose width is found",
            build: |of| Formulation::NuSvr { c: of.c, nu: of.nu },
        },
        Self {
            name: "quantile",
            help: "regression of the quantile tau, errors at cost C tau above it and C (1 - tau) below",
            build: |of| Formulation::quantile(of.c, of.tau),
        },
        Self {
            name: "expectile",
            help: "regression of the expectile tau, squared errors at cost C tau above it and C (1 - tau) below",
            build: |of| Formulation::expectile(of.c, of.tau),
        },
        Self {
            name: "one-class",
            help: "the region of the samples, at most the share nu of them outside; labels are ignored",
            build: |of| Formulation::OneClass { nu: of.nu },
        },
    ];

    /// Returns the formulation of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        static ALL: [FormulationKind; 7] = FormulationKind::ALL;
        ALL.iter().find(|kind| kind.name == name)
    }

    /// Returns the formulation with these parameters; those that it does not have are ignored.
    pub fn formulation(&self, parameters: FormulationParameters) -> Formulation {
        (self.build)(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::formulation::Level;

    #[test]
    fn every_formulation_is_the_one_of_its_row() {
        let parameters = FormulationParameters { c: 2.0, epsilon: 0.25, nu: 0.75, tau: 0.9 };
        for kind in FormulationKind::ALL {
            let formulation = kind.formulation(parameters);
            assert_eq!(formulation.name(), kind.name);
            assert_eq!(FormulationKind::named(kind.name).map(|same| same.help), Some(kind.help));
            let own = [formulation.c(), formulation.epsilon(), formulation.nu(), formulation.level().map(Level::tau)];
            for (own, given) in own.into_iter().zip([parameters.c, parameters.epsilon, parameters.nu, parameters.tau]) {
                assert!(own.is_none_or(|own| own == given), "{}", kind.name);
            }
        }
    }
}
