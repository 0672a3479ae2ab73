//! LIBSVM's parameters, their defaults, and what it checks of them in which order.

use super::classes::Classes;
use maxmargin_core::{Formulation, Goal};
use maxmargin_data::classes::pairs;
use maxmargin_kernel::Kernel;

/// What `svm-train` is told; types are LIBSVM's numbers, which are checked as late as LIBSVM does.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// 0 C-SVC, 1 ν-SVC, 2 one class, 3 ε-SVR, 4 ν-SVR.
    pub svm_type: i32,
    /// 0 linear, 1 polynomial, 2 RBF, 3 sigmoid, 4 precomputed.
    pub kernel_type: i32,
    /// Of the polynomial.
    pub degree: i32,
    /// The kernel's width; 0 stands for 1 / greatest index ([`Parameters::resolved`]).
    pub gamma: f64,
    /// The constant of polynomial and sigmoid.
    pub coef0: f64,
    /// Megabytes of cache.
    pub cache_size: f64,
    /// Greatest violation of the optimality conditions.
    pub eps: f64,
    /// The price of errors.
    pub c: f64,
    /// Factors of C by label.
    pub weights: Vec<(i32, f64)>,
    /// Of ν-SVC, one class, ν-SVR.
    pub nu: f64,
    /// The width of ε-SVR.
    pub p: f64,
    /// 0 or 1.
    pub shrinking: i32,
    /// 0 or 1.
    pub probability: i32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            svm_type: 0,
            kernel_type: 2,
            degree: 3,
            gamma: 0.0,
            coef0: 0.0,
            cache_size: 100.0,
            eps: 1e-3,
            c: 1.0,
            weights: Vec::new(),
            nu: 0.5,
            p: 0.1,
            shrinking: 1,
            probability: 0,
        }
    }
}

/// What LIBSVM says of parameters that it does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParameterError(pub &'static str);

/// What is asked for as our solvers take it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Which support vector machine.
    pub formulation: Formulation,
    /// The kernel.
    pub kernel: Kernel,
    /// What solutions have to show.
    pub goal: Goal,
}

impl Parameters {
    /// The same with the default width for data whose greatest index is `greatest`.
    #[must_use]
    pub fn resolved(mut self, greatest: usize) -> Self {
        if self.gamma == 0.0 {
            // Rows without a feature have the same kernel values for any width.
            self.gamma = 1.0 / greatest.max(1) as f64;
        }
        self
    }

    /// Whether it is about classes.
    pub fn has_classes(&self) -> bool {
        matches!(self.svm_type, 0 | 1)
    }

    /// LIBSVM's checks, in its order; `labels` are those of the data.
    ///
    /// # Errors
    ///
    /// The first that fails, in LIBSVM's words.
    pub fn check(&self, labels: &[f64]) -> Result<(), ParameterError> {
        let Self { svm_type, kernel_type, .. } = *self;
        // A number that is none is refused wherever it is compared.
        let positive = |value: f64| value > 0.0;
        let not_below = |value: f64| value >= 0.0;
        let checks = [
            (!(0..=4).contains(&svm_type), "unknown svm type"),
            (!(0..=4).contains(&kernel_type), "unknown kernel type"),
            (matches!(kernel_type, 1..=3) && !not_below(self.gamma), "gamma < 0"),
            (kernel_type == 1 && self.degree < 0, "degree of polynomial kernel < 0"),
            (!positive(self.cache_size), "cache_size <= 0"),
            (!positive(self.eps), "eps <= 0"),
            (matches!(svm_type, 0 | 3 | 4) && !positive(self.c), "C <= 0"),
            (matches!(svm_type, 1 | 2 | 4) && !(positive(self.nu) && self.nu <= 1.0), "nu <= 0 or nu > 1"),
            (svm_type == 3 && !not_below(self.p), "p < 0"),
            (!matches!(self.shrinking, 0 | 1), "shrinking != 0 and shrinking != 1"),
            (!matches!(self.probability, 0 | 1), "probability != 0 and probability != 1"),
            (svm_type == 1 && !self.is_feasible(labels), "specified nu is infeasible"),
        ];
        checks.iter().find(|check| check.0).map_or(Ok(()), |check| Err(ParameterError(check.1)))
    }

    /// Whether every pair of classes has as many samples of each as ν asks for.
    fn is_feasible(&self, labels: &[f64]) -> bool {
        // Labels that are no classes are refused when the problem is made.
        let Ok(classes) = Classes::new(labels) else { return true };
        let sizes = classes.sizes();
        pairs(sizes.len()).all(|(a, b)| self.nu * (sizes[a] + sizes[b]) as f64 / 2.0 <= sizes[a].min(sizes[b]) as f64)
    }

    /// What our solvers are asked for. Parameters are those that passed [`Parameters::check`].
    pub fn shape(&self) -> Shape {
        let Self { c, nu, p, gamma, coef0, .. } = *self;
        let formulation = match self.svm_type {
            1 => Formulation::NuSvc { nu },
            2 => Formulation::OneClass { nu },
            3 => Formulation::epsilon_svr(c, p),
            4 => Formulation::NuSvr { c, nu },
            _ => Formulation::c_svc(c),
        };
        let kernel = match self.kernel_type {
            0 => Kernel::Linear,
            1 => Kernel::poly(gamma, coef0, self.degree.max(0) as u32),
            3 => Kernel::sigmoid(gamma, coef0),
            4 => Kernel::Precomputed,
            _ => Kernel::rbf(gamma),
        };
        Shape { formulation, kernel, goal: Goal::Kkt(self.eps) }
    }

    /// The factor of C of a label: repeated weights multiply.
    pub fn weight(&self, label: i32) -> f64 {
        self.weights.iter().filter(|weight| weight.0 == label).map(|weight| weight.1).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_come_in_libsvms_order() {
        let said = |parameters: Parameters| parameters.check(&[1.0, 1.0, 1.0, 2.0]).map_err(|fault| fault.0);
        let usual = Parameters::default;
        assert_eq!(said(usual()), Ok(()));
        assert_eq!(said(Parameters { svm_type: 9, kernel_type: 9, ..usual() }), Err("unknown svm type"));
        assert_eq!(said(Parameters { gamma: -1.0, eps: 0.0, ..usual() }), Err("gamma < 0"));
        assert_eq!(said(Parameters { eps: f64::NAN, c: 0.0, ..usual() }), Err("eps <= 0"));
        assert_eq!(said(Parameters { c: 0.0, svm_type: 1, nu: 0.5, ..usual() }), Ok(()));
        assert_eq!(said(Parameters { svm_type: 1, nu: 0.51, ..usual() }), Err("specified nu is infeasible"));
        assert_eq!(said(Parameters { shrinking: 2, probability: 2, ..usual() }), Err("shrinking != 0 and shrinking != 1"));
    }

    #[test]
    fn repeated_weights_multiply() {
        let parameters = Parameters { weights: vec![(1, 2.0), (2, 5.0), (1, 3.0)], ..Parameters::default() };
        assert_eq!([parameters.weight(1), parameters.weight(2), parameters.weight(3)], [6.0, 5.0, 1.0]);
    }
}
