//! LIBSVM's parameters, their defaults, and its checks in their order.

use super::classes::Classes;
use maxmargin_core::{Formulation, Goal};
use maxmargin_data::classes::pairs;
use maxmargin_kernel::{Kernel, KernelKind};

/// The parameters of `svm-train`. Types are LIBSVM's numbers, which are checked in
/// [`Parameters::check`] only, as in LIBSVM.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The formulation: 0 C-SVC, 1 ν-SVC, 2 one class, 3 ε-SVR, 4 ν-SVR.
    pub svm_type: i32,
    /// The kernel: 0 linear, 1 polynomial, 2 RBF, 3 sigmoid, 4 precomputed.
    pub kernel_type: i32,
    /// The degree of the polynomial kernel.
    pub degree: i32,
    /// The γ of the kernel; 0 means 1 / greatest index ([`Parameters::resolved`]).
    pub gamma: f64,
    /// The constant of the polynomial and the sigmoid kernel.
    pub coef0: f64,
    /// The size of the cache in megabytes.
    pub cache_size: f64,
    /// The KKT tolerance.
    pub eps: f64,
    /// The cost of errors.
    pub c: f64,
    /// Factors of C by label.
    pub weights: Vec<(i32, f64)>,
    /// The ν of ν-SVC, one class and ν-SVR.
    pub nu: f64,
    /// The width ε of ε-SVR.
    pub p: f64,
    /// 1 for shrinking, else 0.
    pub shrinking: i32,
    /// 1 for probabilities, else 0.
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

/// A parameter that LIBSVM refuses, with its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParameterError(pub &'static str);

/// The problem in the terms of this workspace's solvers.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The formulation.
    pub formulation: Formulation,
    /// The kernel.
    pub kernel: Kernel,
    /// The goal of solutions.
    pub goal: Goal,
}

impl Parameters {
    /// Replaces `gamma = 0` by its default for data with the greatest index `greatest`.
    #[must_use]
    pub fn resolved(mut self, greatest: usize) -> Self {
        if self.gamma == 0.0 {
            // Rows without features have the same kernel values for any γ.
            self.gamma = 1.0 / greatest.max(1) as f64;
        }
        self
    }

    /// Returns true for classification.
    pub fn has_classes(&self) -> bool {
        matches!(self.svm_type, 0 | 1)
    }

    /// Checks the parameters in LIBSVM's order. `labels` are the labels of the data.
    ///
    /// # Errors
    ///
    /// The first check that fails, in LIBSVM's words where it has such a check.
    pub fn check(&self, labels: &[f64]) -> Result<(), ParameterError> {
        let Self { svm_type, kernel_type, .. } = *self;
        let has_gamma = matches!(kernel_type, 1..=3);
        let has_c = matches!(svm_type, 0 | 3 | 4);
        let has_nu = matches!(svm_type, 1 | 2 | 4);
        // These comparisons are false for NaN, so that NaN is refused.
        let positive = |value: f64| value > 0.0;
        let not_below = |value: f64| value >= 0.0;
        let is_weight = |value: f64| value >= 0.0 && value.is_finite();
        let checks = [
            (!(0..=4).contains(&svm_type), "unknown svm type"),
            (KernelKind::with_libsvm_number(kernel_type).is_none(), "unknown kernel type"),
            (has_gamma && self.gamma.is_nan(), "gamma is not a number"),
            (has_gamma && !not_below(self.gamma), "gamma < 0"),
            (kernel_type == 1 && self.degree < 0, "degree of polynomial kernel < 0"),
            (self.cache_size.is_nan(), "cache_size is not a number"),
            (!positive(self.cache_size), "cache_size <= 0"),
            (self.eps.is_nan(), "eps is not a number"),
            (!positive(self.eps), "eps <= 0"),
            (has_c && self.c.is_nan(), "C is not a number"),
            (has_c && !positive(self.c), "C <= 0"),
            (has_nu && self.nu.is_nan(), "nu is not a number"),
            (has_nu && !(positive(self.nu) && self.nu <= 1.0), "nu <= 0 or nu > 1"),
            (svm_type == 3 && self.p.is_nan(), "p is not a number"),
            (svm_type == 3 && !not_below(self.p), "p < 0"),
            (!matches!(self.shrinking, 0 | 1), "shrinking != 0 and shrinking != 1"),
            (!matches!(self.probability, 0 | 1), "probability != 0 and probability != 1"),
            (svm_type == 1 && !self.is_feasible(labels), "specified nu is infeasible"),
            // LIBSVM takes these, and trains what is no problem.
            (has_c && self.c.is_infinite(), "C is infinite; choose a large number, such as 1e6"),
            (has_gamma && self.gamma.is_infinite(), "gamma is infinite"),
            (matches!(kernel_type, 1 | 3) && !self.coef0.is_finite(), "coef0 is not a finite number"),
            (svm_type == 3 && self.p.is_infinite(), "p is infinite"),
            (
                svm_type == 0 && !self.weights.iter().all(|weight| is_weight(weight.1)),
                "the weight of a class (-wi) is not a finite number of 0 or more",
            ),
        ];
        checks.iter().find(|check| check.0).map_or(Ok(()), |check| Err(ParameterError(check.1)))
    }

    /// Returns true if every pair of classes has enough samples of both classes for ν.
    fn is_feasible(&self, labels: &[f64]) -> bool {
        // Labels that cannot be classes are an error of `LibsvmProblem::new`.
        let Ok(classes) = Classes::new(labels) else { return true };
        let sizes = classes.sizes();
        pairs(sizes.len()).all(|(a, b)| self.nu * (sizes[a] + sizes[b]) as f64 / 2.0 <= sizes[a].min(sizes[b]) as f64)
    }

    /// Returns the problem in the terms of this workspace's solvers. The parameters must have
    /// passed [`Parameters::check`].
    pub fn shape(&self) -> Shape {
        let Self { c, nu, p, gamma, coef0, .. } = *self;
        let formulation = match self.svm_type {
            1 => Formulation::NuSvc { nu },
            2 => Formulation::OneClass { nu },
            3 => Formulation::epsilon_svr(c, p),
            4 => Formulation::NuSvr { c, nu },
            _ => Formulation::c_svc(c),
        };
        let kind = KernelKind::with_libsvm_number(self.kernel_type);
        let kernel = kind.map_or(Kernel::rbf(gamma), |kind| kind.kernel(gamma, coef0, self.degree.max(0) as u32));
        Shape { formulation, kernel, goal: Goal::Kkt(self.eps) }
    }

    /// Returns the factor of C for a label. Repeated weights multiply.
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
        assert_eq!(said(Parameters { eps: 0.0, c: 0.0, ..usual() }), Err("eps <= 0"));
        assert_eq!(said(Parameters { c: 0.0, svm_type: 1, nu: 0.5, ..usual() }), Ok(()));
        assert_eq!(said(Parameters { svm_type: 1, nu: 0.51, ..usual() }), Err("specified nu is infeasible"));
        assert_eq!(said(Parameters { shrinking: 2, probability: 2, ..usual() }), Err("shrinking != 0 and shrinking != 1"));
        for weight in [-2.0, f64::NAN, f64::INFINITY] {
            let weighted = |svm_type| Parameters { weights: vec![(1, 0.0), (2, weight)], svm_type, ..usual() };
            assert_eq!(said(weighted(0)), Err("the weight of a class (-wi) is not a finite number of 0 or more"));
            assert_eq!(said(weighted(3)), Ok(()), "no class, no weight");
        }
        assert_eq!(said(Parameters { c: f64::INFINITY, ..usual() }), Err("C is infinite; choose a large number, such as 1e6"));
    }

    /// NaN used to be reported as a number that is too small.
    #[test]
    fn parameters_that_are_no_finite_numbers_are_named() {
        let said = |parameters: Parameters| parameters.check(&[1.0, 1.0, 1.0, 2.0]).map_err(|fault| fault.0);
        let usual = Parameters::default;
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let cases = [
            (Parameters { c: nan, ..usual() }, "C is not a number"),
            (Parameters { c: -inf, ..usual() }, "C <= 0"),
            (Parameters { gamma: nan, ..usual() }, "gamma is not a number"),
            (Parameters { gamma: inf, ..usual() }, "gamma is infinite"),
            (Parameters { coef0: nan, kernel_type: 1, ..usual() }, "coef0 is not a finite number"),
            (Parameters { coef0: inf, kernel_type: 3, ..usual() }, "coef0 is not a finite number"),
            (Parameters { cache_size: nan, ..usual() }, "cache_size is not a number"),
            (Parameters { eps: nan, ..usual() }, "eps is not a number"),
            (Parameters { nu: nan, svm_type: 2, ..usual() }, "nu is not a number"),
            (Parameters { nu: inf, svm_type: 2, ..usual() }, "nu <= 0 or nu > 1"),
            (Parameters { p: nan, svm_type: 3, ..usual() }, "p is not a number"),
            (Parameters { p: inf, svm_type: 3, ..usual() }, "p is infinite"),
        ];
        for (parameters, words) in cases {
            assert_eq!(said(parameters), Err(words));
        }
        let unused = Parameters { c: nan, coef0: nan, p: nan, svm_type: 2, kernel_type: 0, gamma: nan, ..usual() };
        assert_eq!(said(unused), Ok(()), "parameters of other machines do not matter");
    }

    #[test]
    fn repeated_weights_multiply() {
        let parameters = Parameters { weights: vec![(1, 2.0), (2, 5.0), (1, 3.0)], ..Parameters::default() };
        assert_eq!([parameters.weight(1), parameters.weight(2), parameters.weight(3)], [6.0, 5.0, 1.0]);
    }
}
