//! The certificate of the machine of all classes at once, computed from its dual variables alone.

use crate::certificate::figures::Certificate;
use crate::certificate::rounding::Rounding;
use crate::problem::crammer_singer::CrammerSinger;
use maxmargin_data::Par;
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::{FeatureRows, Job, combine, products};

/// The error of a sum in units in the last place, relative to the sum of its absolute terms.
const UNITS: f64 = 8.0 * f64::EPSILON;

/// The weights of dual variables, with their certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct CertifiedClasses {
    /// The weights of each class, one for each column of the matrix.
    pub weights: Vec<Vec<f64>>,
    /// The certificate. Its KKT violation is the largest of a sample: the greatest gradient of its
    /// classes, less the least of those whose variable may rise (LIBLINEAR's stopping quantity).
    pub certificate: Certificate,
}

/// Certifies dual variables, `alpha[i · classes + m]` for row `i` and class `m`, from the features
/// of `matrix`. The bits do not depend on `par`.
///
/// # Panics
///
/// When the numbers of rows or variables differ.
pub fn certify_crammer_singer(problem: &CrammerSinger, matrix: &Matrix, alpha: &[f64], par: Par) -> CertifiedClasses {
    assert_eq!(problem.len(), matrix.len(), "one class for each row");
    assert_eq!(alpha.len(), problem.len() * problem.classes(), "one variable for each row and class");
    matrix.visit(Certify { problem, alpha, par, squares: matrix.squares() })
}

struct Certify<'a> {
    problem: &'a CrammerSinger,
    alpha: &'a [f64],
    par: Par,
    squares: &'a [f64],
}

impl Job for Certify<'_> {
    type Out = CertifiedClasses;

    fn run<R: FeatureRows>(self, rows: &R) -> CertifiedClasses {
        let (n, classes) = (self.problem.len(), self.problem.classes());
        let ids: Vec<usize> = (0..n).collect();
        let mut weights = Vec::with_capacity(classes);
        let mut gradient = vec![0.0; n * classes];
        let mut column = vec![0.0; n];
        for m in 0..classes {
            let coef: Vec<f64> = (0..n).map(|i| self.alpha[i * classes + m]).collect();
            let w = combine(rows, &ids, &coef, self.par);
            products(rows, &ids, &w, &mut column, self.par);
            for (i, value) in column.iter().enumerate() {
                gradient[i * classes + m] = value + f64::from(u8::from(self.problem.class()[i] != m));
            }
            weights.push(w);
        }
        let certificate = self.figures(&weights, &gradient);
        CertifiedClasses { weights, certificate }
    }
}

/// The figures of one sample.
struct SampleFigures {
    slack: f64,
    violation: f64,
    infeasible: f64,
}

impl Certify<'_> {
    fn figures(&self, weights: &[Vec<f64>], gradient: &[f64]) -> Certificate {
        let classes = self.problem.classes();
        let quadratic: f64 = 0.5 * weights.iter().flatten().map(|w| w * w).sum::<f64>();
        let norm = (2.0 * quadratic).sqrt();
        let (mut losses, mut linear, mut kkt, mut infeasible) = (0.0, 0.0, 0.0_f64, 0.0_f64);
        let mut rounding = Rounding::NONE;
        for (i, &class) in self.problem.class().iter().enumerate() {
            let of = i * classes..(i + 1) * classes;
            let (alpha, cost) = (&self.alpha[of.clone()], self.problem.cost()[i]);
            let sample = sample_figures(alpha, &gradient[of], class, cost);
            losses += cost * sample.slack;
            linear += alpha.iter().sum::<f64>() - alpha[class];
            kkt = kkt.max(sample.violation);
            infeasible = infeasible.max(sample.infeasible);
            let error = 2.0 * UNITS * norm * self.squares[i].sqrt();
            rounding.gap += (cost + alpha[class].abs()) * error;
            rounding.kkt = rounding.kkt.max(error);
        }
        rounding.gap += UNITS * (quadratic + losses + linear.abs());
        let finite = (quadratic + losses + linear).is_finite();
        Certificate {
            primal: if finite { quadratic + losses } else { f64::INFINITY },
            dual: if finite { -quadratic - linear } else { f64::NEG_INFINITY },
            kkt: if finite { kkt } else { f64::INFINITY },
            infeasible: if finite { infeasible } else { f64::INFINITY },
            rounding,
        }
    }
}

fn sample_figures(alpha: &[f64], gradient: &[f64], class: usize, cost: f64) -> SampleFigures {
    let greatest = gradient.iter().fold(f64::NEG_INFINITY, |most, g| most.max(*g));
    let upper = |m: usize| if m == class { cost } else { 0.0 };
    let may_rise = (0..alpha.len()).filter(|&m| alpha[m] < upper(m));
    let least = may_rise.map(|m| gradient[m]).fold(f64::INFINITY, f64::min);
    let beyond = (0..alpha.len()).map(|m| alpha[m] - upper(m)).fold(0.0, f64::max);
    let off = beyond.max(alpha.iter().sum::<f64>().abs());
    SampleFigures {
        slack: greatest - gradient[class],
        // A sample of cost 0 has no variable that may rise.
        violation: if cost > 0.0 { (greatest - least).max(0.0) } else { 0.0 },
        infeasible: if off == 0.0 { 0.0 } else { off / cost.max(f64::MIN_POSITIVE) },
    }
}
