//! The machines of a linear classifier over one matrix of features.

use super::{LinearClassifier, LinearMachineReport, LinearObjective};
use maxmargin_core::{
    BiasTerm, Certificate, CrammerSinger, DualError, MarginLoss, MarginProblem, Penalty, Refused, RunControl, Stop,
    certify_crammer_singer, certify_margin,
};
use maxmargin_cv::{CvError, check_sample_weights};
use maxmargin_data::Samples;
use maxmargin_kernel::Matrix;
use maxmargin_linear::{Config, MarginSolver, solve_crammer_singer};

/// The name of the solver in refusals.
const NAME: &str = "linear";

/// The classes of the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassRows<'a> {
    /// The class of each row.
    pub(crate) of: &'a [usize],
    /// The number of classes.
    pub(crate) classes: usize,
    /// The class with positive decision values, of two.
    pub(crate) positive: usize,
    /// The factor of C for each class.
    pub(crate) weight: &'a [f64],
}

/// The weights of a machine by feature, features ascending, and its bias.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Weights {
    pub(crate) weights: Vec<(u32, f64)>,
    pub(crate) bias: f64,
}

impl Weights {
    /// Returns `self − other`.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut terms: Vec<(u32, f64)> =
            self.weights.iter().copied().chain(other.weights.iter().map(|&(j, w)| (j, -w))).collect();
        terms.sort_by_key(|term| term.0);
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        terms.retain(|term| term.1 != 0.0);
        Self { weights: terms, bias: self.bias - other.bias }
    }
}

/// A trained column of weights.
#[derive(Clone, Debug)]
pub(crate) struct ColumnFit {
    /// The weights by feature, features ascending, without zeros.
    pub(crate) weights: Vec<(u32, f64)>,
    /// The bias: the additional feature times its weight.
    pub(crate) bias: f64,
    /// The weights in the layout of the matrix, from which another training may start.
    pub(crate) columns: Vec<f64>,
    /// The dual variable of each row for this class (Crammer and Singer); empty for other machines.
    pub(crate) alpha: Vec<f64>,
    /// The training; that of all columns for Crammer and Singer.
    pub(crate) report: LinearMachineReport,
}

impl ColumnFit {
    pub(crate) fn of_column(&self) -> Weights {
        Weights { weights: self.weights.clone(), bias: self.bias }
    }
}

/// Returns the number of columns of weights: one for two classes, one for each of more.
fn margin_columns(rows: &ClassRows) -> usize {
    if rows.classes > 2 { rows.classes } else { 1 }
}

/// The features of a training set, for any number of trainings.
pub(crate) struct Engine<'s> {
    classifier: LinearClassifier,
    matrix: Matrix<'s>,
}

impl<'s> Engine<'s> {
    pub(crate) fn new(classifier: &LinearClassifier, samples: &'s Samples) -> Self {
        let feature = match classifier.bias_term {
            BiasTerm::Free => Some(1.0),
            BiasTerm::Feature(value) => Some(value),
            BiasTerm::None => None,
        };
        Self { classifier: classifier.clone(), matrix: Matrix::new(samples, feature, classifier.par) }
    }

    /// Returns the engine with another cost.
    pub(crate) fn set_cost(&mut self, c: f64) {
        self.classifier.c = c;
    }

    /// Trains all columns, each from its own start if there are starts.
    pub(crate) fn fit(
        &self,
        rows: &ClassRows,
        starts: Option<&[ColumnFit]>,
        control: &RunControl,
    ) -> Result<Vec<ColumnFit>, CvError> {
        self.classifier.check()?;
        self.matrix.check()?;
        match self.classifier.objective {
            LinearObjective::Margin { loss, penalty } => self.fit_margin(loss, penalty, rows, starts, control),
            LinearObjective::CrammerSinger => self.fit_classes(rows, control),
        }
    }

    fn config(&self) -> Config {
        let LinearClassifier { method, seed, par, .. } = self.classifier;
        Config { method, seed, par, ..Config::default() }
    }

    fn stop(&self) -> &Stop {
        &self.classifier.stop
    }

    /// Returns the cost of row `i` with this factor of its class.
    fn cost(&self, i: usize, factor: f64) -> f64 {
        self.classifier.c * factor * self.classifier.sample_weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    fn check_weights(&self) -> Result<(), CvError> {
        let weights = self.classifier.sample_weights.as_ref();
        weights.map_or(Ok(()), |weights| check_sample_weights(weights, self.matrix.len()))
    }

    /// Refuses costs without a solution, as [`Svm`](crate::Svm) does: a class whose samples all have
    /// the cost 0 beside a free bias, or no cost above 0 at all.
    pub(crate) fn check_costs(&self, rows: &ClassRows) -> Result<(), CvError> {
        self.check_weights()?;
        let has_cost = |i: usize, class: usize| self.cost(i, rows.weight[class]) != 0.0;
        let (mut has_rows, mut takes_part) = (vec![false; rows.classes], vec![false; rows.classes]);
        for (i, &class) in rows.of.iter().enumerate() {
            has_rows[class] = true;
            takes_part[class] |= has_cost(i, class);
        }
        let is_free = self.classifier.bias_term == BiasTerm::Free;
        if is_free && has_rows != takes_part {
            return Err(DualError::OneClass.into());
        }
        if !takes_part.contains(&true) {
            return Err(DualError::Upper { variable: 0, value: 0.0 }.into());
        }
        Ok(())
    }

    fn fit_margin(
        &self,
        loss: MarginLoss,
        penalty: Penalty,
        rows: &ClassRows,
        starts: Option<&[ColumnFit]>,
        control: &RunControl,
    ) -> Result<Vec<ColumnFit>, CvError> {
        self.check_weights()?;
        let solver = MarginSolver::new(&self.matrix);
        let fit = |column: usize| {
            let problem = self.margin_problem(loss, penalty, rows, column)?;
            let start = starts.map(|starts| &starts[column].columns[..]);
            let solved = solver.solve(&problem, start, &self.config(), self.stop(), control);
            let solved = solved.map_err(|error| Refused::failed(NAME, &error))?;
            let (weights, bias) = self.matrix.unpack(&solved.w);
            let report = LinearMachineReport {
                certificate: solved.certificate,
                status: solved.status,
                nonzeros: solved.w.iter().filter(|w| **w != 0.0).count(),
                dual_nonzeros: None,
                work: solved.work,
            };
            Ok(ColumnFit { weights, bias, columns: solved.w, alpha: Vec::new(), report })
        };
        (0..margin_columns(rows)).map(fit).collect()
    }

    /// Returns the problem of one column: a class against the rest, or the positive class of two
    /// against the other.
    fn margin_problem(
        &self,
        loss: MarginLoss,
        penalty: Penalty,
        rows: &ClassRows,
        column: usize,
    ) -> Result<MarginProblem, CvError> {
        let only = margin_columns(rows) == 1;
        let own = if only { rows.positive.min(rows.classes - 1) } else { column };
        let sign: Vec<f64> = rows.of.iter().map(|&class| if class == own { 1.0 } else { -1.0 }).collect();
        // Of more than two classes, the rest has C itself as its cost.
        let factor = |class: usize| if class == own || only { rows.weight[class] } else { 1.0 };
        let cost = rows.of.iter().enumerate().map(|(i, &class)| self.cost(i, factor(class))).collect();
        let problem = MarginProblem::new(loss, penalty, sign, cost).map_err(|error| Refused::failed(NAME, &error))?;
        let free = self.classifier.bias_term == BiasTerm::Free;
        Ok(if free { problem.with_free_bias() } else { problem })
    }

    /// Certifies the weights of all columns of a loss of the margin.
    pub(crate) fn certify_columns(&self, rows: &ClassRows, columns: &[Weights]) -> Result<Vec<Certificate>, CvError> {
        self.classifier.check()?;
        self.check_weights()?;
        let LinearObjective::Margin { loss, penalty } = self.classifier.objective else {
            let what = "the machine of Crammer and Singer is certified by its dual variables";
            return Err(Refused::failed(NAME, &what).into());
        };
        if columns.len() != margin_columns(rows) {
            let what = format!("{} columns of weights for {} classes", columns.len(), rows.classes);
            return Err(Refused::failed(NAME, &what).into());
        }
        let certify = |(column, of): (usize, &Weights)| {
            let problem = self.margin_problem(loss, penalty, rows, column)?;
            let packed = self.matrix.pack(&of.weights, of.bias);
            let packed = packed.ok_or_else(|| Refused::failed(NAME, &"a weight belongs to a feature that no row has"))?;
            Ok(certify_margin(&problem, &self.matrix, &packed, self.classifier.par))
        };
        columns.iter().enumerate().map(certify).collect()
    }

    fn fit_classes(&self, rows: &ClassRows, control: &RunControl) -> Result<Vec<ColumnFit>, CvError> {
        self.check_weights()?;
        if self.classifier.bias_term == BiasTerm::Free {
            return Err(CvError::FreeBias);
        }
        let problem = self.classes_problem(rows)?;
        let solved = solve_crammer_singer(&self.matrix, &problem, &self.config(), self.stop(), control);
        let solved = solved.map_err(|error| Refused::failed(NAME, &error))?;
        let nonzeros = solved.weights.iter().flatten().filter(|w| **w != 0.0).count();
        let report = LinearMachineReport {
            certificate: solved.certificate,
            status: solved.status,
            nonzeros,
            dual_nonzeros: Some(solved.alpha.iter().filter(|alpha| **alpha != 0.0).count()),
            work: solved.work,
        };
        let column = |(class, columns): (usize, Vec<f64>)| {
            let (weights, bias) = self.matrix.unpack(&columns);
            let alpha = solved.alpha.iter().skip(class).step_by(rows.classes).copied().collect();
            ColumnFit { weights, bias, columns, alpha, report: report.clone() }
        };
        Ok(solved.weights.into_iter().enumerate().map(column).collect())
    }

    fn classes_problem(&self, rows: &ClassRows) -> Result<CrammerSinger, CvError> {
        let cost = rows.of.iter().enumerate().map(|(i, &class)| self.cost(i, rows.weight[class])).collect();
        Ok(CrammerSinger::new(rows.classes, rows.of.to_vec(), cost).map_err(|error| Refused::failed(NAME, &error))?)
    }

    /// Certifies the dual variables of all classes, `alpha[i · classes + m]` for row `i` and class
    /// `m`. Returns the certificate, and the weights and the bias of each class.
    pub(crate) fn certify_classes(&self, rows: &ClassRows, alpha: &[f64]) -> Result<(Certificate, Vec<Weights>), CvError> {
        self.classifier.check()?;
        self.check_weights()?;
        if alpha.len() != rows.of.len() * rows.classes {
            let what = format!("{} dual variables for {} rows and {} classes", alpha.len(), rows.of.len(), rows.classes);
            return Err(Refused::failed(NAME, &what).into());
        }
        let problem = self.classes_problem(rows)?;
        let found = certify_crammer_singer(&problem, &self.matrix, alpha, self.classifier.par);
        let unpack = |w: &Vec<f64>| {
            let (weights, bias) = self.matrix.unpack(w);
            Weights { weights, bias }
        };
        Ok((found.certificate, found.weights.iter().map(unpack).collect()))
    }
}
