//! What a search varies, and what it finds.

use super::Svm;
use super::chosen::best;
use super::search::Descent;
use maxmargin_core::Formulation;
use maxmargin_cv::CvError;
use maxmargin_kernel::{Gamma, Kernel};
use maxmargin_metrics::Metric;

/// The values that a grid tries: all combinations. What has no values here is what the [`Svm`]
/// says.
///
/// Kernels without a width are tried once, however many values of γ there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    pub(crate) c: Vec<f64>,
    pub(crate) gamma: Vec<f64>,
    pub(crate) kernels: Vec<Kernel>,
    epsilon: Vec<f64>,
    nu: Vec<f64>,
}

impl Ranges {
    /// Nothing varies yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Values of `C`, for formulations that have one.
    #[must_use]
    pub fn c(self, values: &[f64]) -> Self {
        Self { c: values.to_vec(), ..self }
    }

    /// Values of γ, for kernels that have one.
    #[must_use]
    pub fn gamma(self, values: &[f64]) -> Self {
        Self { gamma: values.to_vec(), ..self }
    }

    /// Kernels; where there are no values of γ, the rule of [`Svm::gamma`] gives it, and their own
    /// counts where there is none.
    #[must_use]
    pub fn kernels(self, kernels: &[Kernel]) -> Self {
        Self { kernels: kernels.to_vec(), ..self }
    }

    /// Widths of the insensitive tube, for ε-SVR.
    #[must_use]
    pub fn epsilon(self, values: &[f64]) -> Self {
        Self { epsilon: values.to_vec(), ..self }
    }

    /// Values of ν, for ν-SVC, ν-SVR and one class.
    #[must_use]
    pub fn nu(self, values: &[f64]) -> Self {
        Self { nu: values.to_vec(), ..self }
    }

    /// Values of C that every column has: that of the formulation where there are none, or where it
    /// has no C.
    pub(crate) fn costs(&self, formulation: Formulation) -> Vec<f64> {
        match formulation.c() {
            Some(c) if self.c.is_empty() => vec![c],
            Some(_) => self.c.clone(),
            None => vec![1.0],
        }
    }

    /// One estimator for each combination of everything but C.
    pub(crate) fn columns(&self, svm: &Svm) -> Vec<Svm> {
        let kernels = if self.kernels.is_empty() { vec![svm.kernel.clone()] } else { self.kernels.clone() };
        let mut columns = Vec::new();
        for kernel in kernels {
            let widths: Vec<Option<Gamma>> = match kernel {
                Kernel::Rbf { .. } | Kernel::Poly { .. } | Kernel::Sigmoid { .. } if !self.gamma.is_empty() => {
                    self.gamma.iter().map(|gamma| Some(Gamma::Value(*gamma))).collect()
                }
                _ => vec![svm.gamma],
            };
            for gamma in widths {
                for formulation in self.formulations(svm.formulation) {
                    columns.push(Svm { kernel: kernel.clone(), gamma, formulation, ..svm.clone() });
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

/// One combination of a search, and what was found for it.
#[derive(Clone, Debug)]
pub struct Cell<T> {
    /// The estimator with the parameters of this cell: its [`Svm::fit`] trains them on all data.
    pub svm: Svm,
    /// How it did by the metric of the search.
    pub scored: CellScore,
    /// What was found: a report, or what was made of it.
    pub found: T,
}

/// How a cell did by the metric of its search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellScore {
    /// The score of all samples that are counted; none where it is not defined, or the cell was
    /// given up.
    pub score: Option<f64>,
    /// The standard error of the mean of the scores of the folds, where two of them or more have
    /// one.
    pub standard_error: Option<f64>,
    /// Whether every training met its goal.
    pub converged: bool,
    /// Whether a limit or the watch ended one.
    pub ended: bool,
    /// Whether that goal is the one that was asked for, and not the looser one of
    /// [`Search::fast`](super::search::Search::fast).
    pub exact: bool,
    /// Errors after which the cell was given up, since it could not win any more.
    pub lost: Option<usize>,
    /// Errors of all samples that are counted, where predictions are labels.
    pub errors: Option<usize>,
    /// Solver iterations of all its trainings.
    pub iterations: u64,
}

impl CellScore {
    /// Whether it may be chosen.
    pub fn is_candidate(&self) -> bool {
        self.converged && self.exact && self.lost.is_none() && self.score.is_some()
    }
}

/// What a search found.
#[derive(Debug)]
pub struct SearchResult<T> {
    /// In the order of kernels, then γ, then ε or ν, then C; searches that choose their cells by
    /// themselves have γ and C ascending. Those that were not reached before the run was ended are
    /// missing.
    pub cells: Vec<Cell<T>>,
    /// Combinations of everything but C that are no problem, such as a kernel whose values are not
    /// finite, and why.
    pub failed: Vec<Cell<CvError>>,
    /// Cells that were to be tried, without those that failed.
    pub wanted: usize,
    /// Solver iterations of trainings that were done again: to the goal that was asked for, with
    /// more samples, or on the way of a descent.
    pub again: u64,
    /// The descent from the best of the others, where one was asked for and came to its end.
    pub descent: Option<Descent>,
}

impl<T> SearchResult<T> {
    /// The place of the cell that the search decides for: what a descent found, where there was one
    /// and its cell may be chosen, otherwise the best.
    pub fn taken(&self, metric: &Metric) -> Option<usize> {
        let descended = self.descent.as_ref().map(|descent| descent.at);
        descended.filter(|&at| self.cells[at].scored.is_candidate()).or_else(|| best(&self.cells, metric))
    }
}
