//! The values of parameters that a search combines.

use crate::Svm;
use maxmargin_core::Formulation;
use maxmargin_cv::{CvError, TrainOptions};
use maxmargin_kernel::{Gamma, Kernel};

/// The values of parameters whose combinations a grid tries. A parameter without values here has
/// the value of the [`Svm`].
///
/// Kernels without a width occur once for any number of values of γ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    pub(crate) c: Vec<f64>,
    pub(crate) gamma: Vec<f64>,
    pub(crate) kernels: Vec<Kernel>,
    epsilon: Vec<f64>,
    nu: Vec<f64>,
}

/// Returns the error of a parameter that a formulation does not have.
pub(crate) fn needless_parameter(parameter: &'static str, formulation: Formulation) -> CvError {
    let owners = match parameter {
        "nu" => "nu-svc, nu-svr or one-class",
        "epsilon" => "epsilon-svr",
        _ => "formulations other than nu-svc and one-class",
    };
    CvError::Parameter { parameter, owners, formulation: formulation.name() }
}

impl Ranges {
    /// Returns ranges without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets values of `C`, for formulations with a `C`.
    #[must_use]
    pub fn c(self, values: &[f64]) -> Self {
        Self { c: values.to_vec(), ..self }
    }

    /// Sets values of γ, for kernels with a γ.
    #[must_use]
    pub fn gamma(self, values: &[f64]) -> Self {
        Self { gamma: values.to_vec(), ..self }
    }

    /// Sets kernels. Without values of γ, the rule of [`Svm::gamma`] determines it, or else each
    /// kernel has its own γ.
    #[must_use]
    pub fn kernels(self, kernels: &[Kernel]) -> Self {
        Self { kernels: kernels.to_vec(), ..self }
    }

    /// Sets widths of the insensitive tube, for ε-SVR. A search of another formulation refuses
    /// them.
    #[must_use]
    pub fn epsilon(self, values: &[f64]) -> Self {
        Self { epsilon: values.to_vec(), ..self }
    }

    /// Sets values of ν, for ν-SVC, ν-SVR and one class. A search of another formulation refuses
    /// them.
    #[must_use]
    pub fn nu(self, values: &[f64]) -> Self {
        Self { nu: values.to_vec(), ..self }
    }

    /// Refuses values of a parameter that the formulation does not have. Values of `C` are allowed:
    /// programs have usual ones for every formulation.
    pub(crate) fn check(&self, formulation: Formulation) -> Result<(), CvError> {
        if !self.nu.is_empty() && formulation.nu().is_none() {
            return Err(needless_parameter("nu", formulation));
        }
        if !self.epsilon.is_empty() && formulation.epsilon().is_none() {
            return Err(needless_parameter("epsilon", formulation));
        }
        Ok(())
    }

    /// Returns the values of C of every column: the given values, the formulation's C without any,
    /// or 1 for a formulation without C.
    pub(crate) fn costs(&self, formulation: Formulation) -> Vec<f64> {
        match formulation.c() {
            Some(c) if self.c.is_empty() => vec![c],
            Some(_) => self.c.clone(),
            None => vec![1.0],
        }
    }

    /// Returns one estimator for each combination of all parameters except C.
    pub(crate) fn columns(&self, svm: &Svm) -> Vec<Svm> {
        let kernels = if self.kernels.is_empty() { vec![svm.options.kernel.clone()] } else { self.kernels.clone() };
        let mut columns = Vec::new();
        for kernel in kernels {
            let widths: Vec<Option<Gamma>> = if kernel.gamma().is_some() && !self.gamma.is_empty() {
                self.gamma.iter().map(|gamma| Some(Gamma::Value(*gamma))).collect()
            } else {
                vec![svm.options.gamma]
            };
            for gamma in widths {
                for formulation in self.formulations(svm.options.formulation) {
                    let change = |options: &mut TrainOptions| {
                        (options.kernel, options.gamma, options.formulation) = (kernel.clone(), gamma, formulation);
                    };
                    columns.push(svm.clone().with(change));
                }
            }
        }
        columns
    }

    fn formulations(&self, own: Formulation) -> Vec<Formulation> {
        let values = match own {
            Formulation::Svr { .. } => &self.epsilon,
            Formulation::NuSvc { .. } | Formulation::NuSvr { .. } | Formulation::OneClass { .. } => &self.nu,
            _ => return vec![own],
        };
        let with = |value: &f64| match own {
            Formulation::Svr { c, loss, bias_term, .. } => Formulation::Svr { c, epsilon: *value, loss, bias_term },
            Formulation::NuSvc { .. } => Formulation::NuSvc { nu: *value },
            Formulation::NuSvr { c, .. } => Formulation::NuSvr { c, nu: *value },
            Formulation::OneClass { .. } => Formulation::OneClass { nu: *value },
            other => other,
        };
        if values.is_empty() { vec![own] } else { values.iter().map(with).collect() }
    }
}
