//! LIBLINEAR's parameters, their defaults and its checks.

use crate::libsvm::{LibsvmRun, ParameterError};
use crate::{LinearClassifier, LinearObjective};
use maxmargin_core::{BiasTerm, Formulation, Loss, MarginLoss, Penalty};

/// The parameters of `train`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// LIBLINEAR's number of the solver.
    pub solver: i32,
    /// The cost of errors.
    pub c: f64,
    /// The tolerance; `None` selects LIBLINEAR's default for the solver.
    pub eps: Option<f64>,
    /// The width ε of the insensitive tube, for regression.
    pub p: f64,
    /// The ν of one class.
    pub nu: f64,
    /// The value of the bias feature; a negative value means that there is none.
    pub bias: f64,
    /// True if the bias is regularised like the weights.
    pub regularised: bool,
    /// Factors of C by label.
    pub weights: Vec<(i32, f64)>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { solver: 1, c: 1.0, eps: None, p: 0.1, nu: 0.5, bias: -1.0, regularised: true, weights: Vec::new() }
    }
}

/// The certified relative duality gap at the default tolerance.
const GAP: f64 = 1e-6;

/// The largest relative duality gap: a looser tolerance asks for no worse solution.
const LARGEST_GAP: f64 = 1e-2;

impl Parameters {
    /// Checks the parameters in LIBLINEAR's order.
    ///
    /// # Errors
    ///
    /// The first check that fails, in LIBLINEAR's words.
    pub fn check(&self) -> Result<(), ParameterError> {
        let positive = |value: f64| value > 0.0;
        let not_below = |value: f64| value >= 0.0;
        let known = matches!(self.solver, 0..=7 | 11..=13 | 21);
        let checks = [
            (self.tolerance().is_nan(), "eps is not a number"),
            (!positive(self.tolerance()), "eps <= 0"),
            (self.c.is_nan(), "C is not a number"),
            (!positive(self.c), "C <= 0"),
            (self.is_regression() && self.p.is_nan(), "p is not a number"),
            (self.solver == 11 && !not_below(self.p), "p < 0"),
            (self.solver == 21 && self.bias >= 0.0, "prob->bias >=0, but this is ignored in ONECLASS_SVM"),
            (!self.regularised && self.bias != 1.0, "To not regularize bias, must specify -B 1 along with -R"),
            (
                !self.regularised && !matches!(self.solver, 0 | 2 | 5 | 6 | 11),
                "-R option supported only for solver L2R_LR, L2R_L2LOSS_SVC, L1R_L2LOSS_SVC, L1R_LR, and L2R_L2LOSS_SVR",
            ),
            (!known, "unknown solver type"),
            (self.solver == 21 && self.nu.is_nan(), "nu is not a number"),
            (self.solver == 21 && !(positive(self.nu) && self.nu <= 1.0), "nu <= 0 or nu > 1"),
            (matches!(self.solver, 12 | 13) && !not_below(self.p), "p < 0"),
            // LIBLINEAR takes these, and trains what is no problem.
            (self.c.is_infinite(), "C is infinite; choose a large number, such as 1e6"),
            (self.is_regression() && self.p.is_infinite(), "p is infinite"),
            (self.bias.is_nan() || self.bias == f64::INFINITY, "the bias (-B) is not a finite number"),
            (
                self.has_classes() && !self.weights.iter().all(|weight| weight.1 >= 0.0 && weight.1.is_finite()),
                "the weight of a class (-wi) is not a finite number of 0 or more",
            ),
        ];
        checks.iter().find(|check| check.0).map_or(Ok(()), |check| Err(ParameterError(check.1)))
    }

    pub(super) fn tolerance(&self) -> f64 {
        self.eps.unwrap_or(self.default_tolerance())
    }

    /// LIBLINEAR's default tolerance for the solver.
    fn default_tolerance(&self) -> f64 {
        match self.solver {
            0 | 2 | 5 | 6 | 21 => 0.01,
            11 => 0.0001,
            _ => 0.1,
        }
    }

    /// The relative duality gap that solutions must reach.
    pub fn gap(&self) -> f64 {
        (GAP * (self.tolerance() / self.default_tolerance())).min(LARGEST_GAP)
    }

    /// Returns true for regression.
    pub fn is_regression(&self) -> bool {
        matches!(self.solver, 11..=13)
    }

    /// Returns true for classification.
    pub fn has_classes(&self) -> bool {
        !self.is_regression() && self.solver != 21
    }

    /// The kind of the bias.
    fn bias_term(&self) -> BiasTerm {
        match self.bias {
            _ if !self.regularised => BiasTerm::Free,
            bias if bias > 0.0 => BiasTerm::Feature(bias),
            _ => BiasTerm::None,
        }
    }

    /// Returns the classifier of a solver that no [`Formulation`] describes: logistic regression,
    /// the L1 norm, and the machine of Crammer and Singer. `None` for the others.
    pub fn classifier(&self, run: &LibsvmRun) -> Option<LinearClassifier> {
        let margin = |loss, penalty| LinearObjective::Margin { loss, penalty };
        let objective = match self.solver {
            0 | 7 => margin(MarginLoss::Logistic, Penalty::L2),
            4 => LinearObjective::CrammerSinger,
            5 => margin(MarginLoss::SquaredHinge, Penalty::L1),
            6 => margin(MarginLoss::Logistic, Penalty::L1),
            _ => return None,
        };
        let classifier = LinearClassifier::of(objective, self.c).bias_term(self.bias_term()).gap(self.gap());
        Some(classifier.threads(run.par).seed(run.seed))
    }

    /// The formulation of the solver; that of the squared hinge loss for those of
    /// [`Parameters::classifier`].
    pub fn formulation(&self) -> Formulation {
        let (c, epsilon, bias_term) = (self.c, self.p, self.bias_term());
        let loss = if matches!(self.solver, 3 | 13) { Loss::Hinge } else { Loss::SquaredHinge };
        match self.solver {
            11..=13 => Formulation::Svr { c, epsilon, loss, bias_term },
            21 => Formulation::OneClass { nu: self.nu },
            _ => Formulation::Svc { c, loss, bias_term },
        }
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
    fn checks_come_in_liblinears_order() {
        let said = |parameters: Parameters| parameters.check().map_err(|fault| fault.0);
        let usual = Parameters::default;
        assert_eq!(said(usual()), Ok(()));
        assert_eq!(said(Parameters { eps: Some(0.0), c: 0.0, ..usual() }), Err("eps <= 0"));
        assert_eq!(
            said(Parameters { regularised: false, ..usual() }),
            Err("To not regularize bias, must specify -B 1 along with -R")
        );
        assert!(
            said(Parameters { regularised: false, bias: 1.0, ..usual() })
                .expect_err("-s 1")
                .starts_with("-R option supported only")
        );
        assert_eq!(said(Parameters { regularised: false, bias: 1.0, solver: 2, ..usual() }), Ok(()));
        assert_eq!(said(Parameters { solver: 8, ..usual() }), Err("unknown solver type"));
        for solver in [0, 4, 5, 6, 7] {
            assert_eq!(said(Parameters { solver, ..usual() }), Ok(()), "{solver}");
            assert!(Parameters { solver, ..usual() }.classifier(&LibsvmRun::default()).is_some(), "{solver}");
        }
        assert_eq!(usual().classifier(&LibsvmRun::default()), None);
        for wrong in [-2.0, f64::INFINITY, f64::NAN] {
            let weighted = Parameters { weights: vec![(1, 1.0), (2, wrong)], ..usual() };
            assert_eq!(said(weighted), Err("the weight of a class (-wi) is not a finite number of 0 or more"), "{wrong}");
        }
    }

    /// An infinite C used to be an error about the weight of a sample.
    #[test]
    fn parameters_that_are_no_finite_numbers_are_named() {
        let said = |parameters: Parameters| parameters.check().map_err(|fault| fault.0);
        let usual = Parameters::default;
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let cases = [
            (Parameters { c: inf, ..usual() }, "C is infinite; choose a large number, such as 1e6"),
            (Parameters { c: nan, ..usual() }, "C is not a number"),
            (Parameters { eps: Some(nan), ..usual() }, "eps is not a number"),
            (Parameters { p: nan, solver: 11, ..usual() }, "p is not a number"),
            (Parameters { p: nan, solver: 13, ..usual() }, "p is not a number"),
            (Parameters { p: inf, solver: 12, ..usual() }, "p is infinite"),
            (Parameters { nu: nan, solver: 21, ..usual() }, "nu is not a number"),
            (Parameters { bias: nan, ..usual() }, "the bias (-B) is not a finite number"),
            (Parameters { bias: inf, ..usual() }, "the bias (-B) is not a finite number"),
        ];
        for (parameters, words) in cases {
            assert_eq!(said(parameters), Err(words));
        }
    }

    #[test]
    fn gaps_are_in_proportion_to_the_tolerance() {
        let gap = |solver: i32, eps: f64| Parameters { solver, eps: Some(eps), ..Parameters::default() }.gap();
        assert_eq!(Parameters::default().gap(), 1e-6);
        assert_eq!([gap(3, 0.1), gap(0, 0.01), gap(11, 1e-4)], [1e-6; 3]);
        assert!((gap(3, 1e-4) / 1e-9 - 1.0).abs() < 1e-12 && (gap(3, 100.0) / 1e-3 - 1.0).abs() < 1e-12);
        assert_eq!([gap(3, 1e9), gap(3, f64::INFINITY)], [1e-2; 2]);
    }
}
