//! The claims of one certificate, computed again.

use super::double::Double;
use super::{GAP, Problem};
use maxmargin::cv::CertificateReport;
use maxmargin::data::scale::Scaler;
use maxmargin::prelude::{Dataset, Kernel, Par, Solver, Svm};

/// The largest number of steps of a training: a run that needs more makes no claim.
const STEPS: u64 = 20_000;

/// Trains the problem and checks the claims of its certificate. Returns whether it holds and
/// whether it calls the point optimal; `None` if the problem is refused.
///
/// # Errors
///
/// The false claim.
pub(super) fn check(problem: &Problem) -> Result<Option<(bool, bool)>, String> {
    let Problem { rows, labels, kernel, c, eps, linear } = problem;
    let Ok(data) = Dataset::from_rows(rows, labels) else { return Ok(None) };
    let solver = if *linear { Solver::Linear } else { Solver::Smo };
    let svm = Svm::c_svc(*c).kernel(kernel.clone()).solver(solver).eps(*eps).max_iter(STEPS).threads(Par::Seq);
    let Ok(fitted) = svm.fit(&data) else { return Ok(None) };
    let certificate = fitted.certificate;
    let record = fitted.model.record().ok_or("a model without a record")?;
    let (machine, trained) = (&fitted.model.machines()[0], &record.machines[0]);
    let coef = trained.folded.as_ref().unwrap_or(&machine.coef);
    let mut beta = vec![0.0; rows.len()];
    trained.rows.iter().zip(coef).for_each(|(&row, coef)| beta[row as usize] = *coef);
    // A centred training solves the same problem of shifted rows, if the shift was exact.
    let shifted = match fitted.model.parts().scaler.as_ref().and_then(Scaler::centred_at) {
        Some(centre) => Problem { rows: shifted(rows, &centre)?, ..problem.clone() },
        None => problem.clone(),
    };
    let point = Point::of(&shifted, &beta, machine.bias);
    if certificate.holds || certificate.optimal {
        point.is_feasible(*c)?;
    }
    let of_sums = claims(&point, &certificate, *c, *eps);
    // A linear machine may have weights of its own, which its certificate is then about.
    let own = fitted.model.weights(0).filter(|_| trained.folded.is_some());
    let own = own.map(|weights| point.decided_by(&shifted.rows, weights));
    match (of_sums, own) {
        (Err(_), Some(own)) => claims(&own, &certificate, *c, *eps)?,
        (of_sums, _) => of_sums?,
    }
    Ok(Some((certificate.holds, certificate.optimal)))
}

/// Checks the claims of a certificate about a feasible point.
///
/// # Errors
///
/// The false claim.
fn claims(point: &Point, certificate: &CertificateReport, c: f64, eps: f64) -> Result<(), String> {
    let (primal, dual) = point.objectives(c);
    let scale = primal.value().abs().max(dual.value().abs());
    let gap = (primal - dual).value();
    if certificate.holds {
        let violation = point.violation(c);
        if violation.is_nan() || violation > 2.0 * eps {
            return Err(format!("{certificate:?} holds, but the violation is {violation:e}, beta {:?}", point.beta));
        }
        // Weights that have no part in the dual objective have a violation of 0 with some α.
        let most = (2.0 * eps * c * point.beta.len() as f64).max(GAP * scale);
        if point.square.is_some() && (gap.is_nan() || gap.abs() > most) {
            return Err(format!("{certificate:?} holds, but the gap of the weights is {gap:e}, beta {:?}", point.beta));
        }
    }
    if certificate.optimal {
        if gap.is_nan() || gap.abs() > GAP * scale {
            let (primal, dual) = (primal.value(), dual.value());
            return Err(format!("{certificate:?} is optimal, but the objectives are {primal:e} and {dual:e}"));
        }
        let better = point.best_nearby(c);
        if better > primal.value() + GAP * scale {
            return Err(format!("{certificate:?} is optimal, but a point with {better:e} is better than {:e}", primal.value()));
        }
    }
    Ok(())
}

/// The rows minus `centre`.
///
/// # Errors
///
/// When a difference is not exact.
fn shifted(rows: &[Vec<f64>], centre: &[(usize, f64)]) -> Result<Vec<Vec<f64>>, String> {
    let difference = |value: f64, c: f64| {
        let exact = (Double::from(value) - Double::from(c)).value();
        let found = value - c;
        let is_exact = (Double::from(found) - Double::from(value) + Double::from(c)).value() == 0.0;
        if is_exact { Ok(found) } else { Err(format!("{value:e} − {c:e} is {exact:e}, not {found:e}")) }
    };
    let mut rows = rows.to_vec();
    for row in &mut rows {
        for &(j, c) in centre {
            row[j] = difference(row[j], c)?;
        }
    }
    Ok(rows)
}

/// A point, and the kernel values of its problem.
struct Point<'a> {
    labels: &'a [f64],
    /// The coefficients `y_i α_i`.
    beta: &'a [f64],
    bias: f64,
    values: Vec<Vec<Double>>,
    /// The sums `Σ_j β_j K_ij`.
    sums: Vec<Double>,
    /// The decision values without bias: the sums, or products with weights of the model's own.
    decisions: Vec<Double>,
    /// The `‖w‖²` of such weights, and that of the sum over the coefficients.
    square: Option<(Double, Double)>,
}

impl<'a> Point<'a> {
    fn of(problem: &'a Problem, beta: &'a [f64], bias: f64) -> Self {
        let n = beta.len();
        let entry = |i: usize, j: usize| value(&problem.kernel, &problem.rows[i], &problem.rows[j]);
        let values: Vec<Vec<Double>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        // Coefficients of equal rows are added first: sums of products of 53 bits have more digits
        // than twice an f64.
        let mut joined = vec![Double::default(); n];
        for (i, b) in beta.iter().enumerate() {
            let first = problem.rows.iter().position(|row| *row == problem.rows[i]).unwrap_or(i);
            joined[first] = joined[first] + Double::from(*b);
        }
        let sum = |row: &Vec<Double>| row.iter().zip(&joined).fold(Double::default(), |sum, (k, b)| sum + *k * *b);
        let sums: Vec<Double> = values.iter().map(sum).collect();
        Self { labels: &problem.labels, beta, bias, values, decisions: sums.clone(), sums, square: None }
    }

    /// The same dual point beside weights.
    fn decided_by(&self, rows: &[Vec<f64>], weights: &[f64]) -> Self {
        let product = |row: &[f64]| {
            let terms = row.iter().zip(weights).map(|(x, w)| Double::from(*x) * Double::from(*w));
            terms.fold(Double::default(), |sum, term| sum + term)
        };
        let (values, sums) = (self.values.clone(), self.sums.clone());
        let decisions = rows.iter().map(|row| product(row)).collect();
        // A sum of kernel values would need the digits of their squares.
        let of_column = |at: usize| {
            let terms = rows.iter().zip(self.beta).map(|(row, b)| Double::from(row[at]) * Double::from(*b));
            terms.fold(Double::default(), |sum, term| sum + term)
        };
        let columns = (0..weights.len()).map(of_column);
        let of_sum = columns.fold(Double::default(), |sum, column| sum + column * column);
        Self { values, sums, decisions, square: Some((product(weights), of_sum)), ..*self }
    }

    fn alpha(&self, i: usize) -> f64 {
        self.labels[i] * self.beta[i]
    }

    /// Returns the violation of boxes and the constraint, relative to their size.
    fn is_feasible(&self, c: f64) -> Result<(), String> {
        let mass: f64 = (0..self.beta.len()).map(|i| self.alpha(i).abs()).sum();
        let balance = self.beta.iter().fold(Double::default(), |sum, b| sum + Double::from(*b)).value();
        let outside = (0..self.beta.len()).find(|&i| self.alpha(i) < -1e-9 * c || self.alpha(i) > c * (1.0 + 1e-9));
        match outside {
            Some(i) => Err(format!("alpha {} is outside of [0, {c}]", self.alpha(i))),
            None if balance.abs() > 1e-9 * mass => Err(format!("the balance is {balance:e} of {mass:e}")),
            None => Ok(()),
        }
    }

    /// Returns LIBSVM's stopping quantity.
    fn violation(&self, c: f64) -> f64 {
        let (mut up, mut low) = (Double::from(f64::INFINITY), Double::from(f64::NEG_INFINITY));
        for (i, &y) in self.labels.iter().enumerate() {
            let (a, f) = (self.alpha(i), self.decisions[i] - Double::from(y));
            let (falls, rises) = (a > 0.0, a < c);
            if (y > 0.0 && rises) || (y < 0.0 && falls) {
                up = up.min(f);
            }
            if (y > 0.0 && falls) || (y < 0.0 && rises) {
                low = low.max(f);
            }
        }
        (low - up).value()
    }

    /// Returns the primal and dual objective.
    fn objectives(&self, c: f64) -> (Double, Double) {
        let one = Double::from(1.0);
        let square = self.sums.iter().zip(self.beta).fold(Double::default(), |sum, (f, b)| sum + *f * Double::from(*b));
        let half = self.square.map_or(square, |(_, of_sum)| of_sum) * Double::from(0.5);
        let (mut slack, mut mass) = (Double::default(), Double::default());
        for (i, &y) in self.labels.iter().enumerate() {
            let margin = (self.decisions[i] + Double::from(self.bias)) * Double::from(y);
            slack = slack + (one - margin).max(Double::default());
            mass = mass + Double::from(self.alpha(i));
        }
        let norm = self.square.map_or(half, |(own, _)| own * Double::from(0.5));
        (norm + Double::from(c) * slack, mass - half)
    }

    /// Returns the best dual objective that exchanges of mass between two samples reach from some
    /// corners of the box, for kernels that are not convex.
    fn best_nearby(&self, c: f64) -> f64 {
        let n = self.beta.len();
        let k = |i: usize, j: usize| self.values[i][j].value();
        let mut best = f64::NEG_INFINITY;
        for corner in 0..4 {
            let mut beta = vec![0.0; n];
            for step in 0..40 * n {
                let (i, j) = (step * 7 % n, (step * 5 + step / n + corner) % n);
                let sum = |i: usize| (0..n).map(|l| beta[l] * k(i, l)).sum::<f64>();
                let slope = (self.labels[i] - sum(i)) - (self.labels[j] - sum(j));
                let curve = k(i, i) + k(j, j) - 2.0 * k(i, j);
                let room = |i: usize, up: bool| if (self.labels[i] > 0.0) == up { c - beta[i].abs() } else { beta[i].abs() };
                let most = room(i, true).min(room(j, false)).max(0.0);
                let by = if curve > 0.0 {
                    (slope / curve).clamp(0.0, most)
                } else if slope - 0.5 * most * curve > 0.0 {
                    most
                } else {
                    0.0
                };
                if i != j && by > 0.0 {
                    beta[i] += by;
                    beta[j] -= by;
                }
            }
            let square: f64 = (0..n).map(|i| beta[i] * (0..n).map(|j| beta[j] * k(i, j)).sum::<f64>()).sum();
            let dual = (0..n).map(|i| self.labels[i] * beta[i]).sum::<f64>() - 0.5 * square;
            // Where f64 cannot decide, neither can this search.
            let noise = (0..n).map(|i| beta[i].abs() * (0..n).map(|j| beta[j].abs() * k(i, j).abs()).sum::<f64>()).sum::<f64>();
            if dual.is_finite() && 1e-12 * noise < 1e-3 * dual.abs() {
                best = best.max(dual);
            }
        }
        best
    }
}

/// Returns a kernel value.
fn value(kernel: &Kernel, x: &[f64], z: &[f64]) -> Double {
    let dot = || x.iter().zip(z).fold(Double::default(), |sum, (a, b)| sum + Double::from(*a) * Double::from(*b));
    match *kernel {
        Kernel::Rbf { gamma } => {
            let square = |(a, b): (&f64, &f64)| (Double::from(*a) - Double::from(*b)) * (Double::from(*a) - Double::from(*b));
            (-(x.iter().zip(z).map(square).fold(Double::default(), |sum, d| sum + d) * Double::from(gamma))).exp()
        }
        Kernel::Poly { gamma, coef0, degree } => (Double::from(gamma) * dot() + Double::from(coef0)).power(degree),
        Kernel::Sigmoid { gamma, coef0 } => {
            let u = Double::from(gamma) * dot() + Double::from(coef0);
            if u.value().abs() > 40.0 {
                return Double::from(u.value().signum());
            }
            let back = (-(u + u)).exp();
            (Double::from(1.0) - back) * (Double::from(1.0) + back).inverse()
        }
        _ => dot(),
    }
}
