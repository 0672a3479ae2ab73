//! The problems: raw data, and data made ill-conditioned, with values of C and kernels that do not
//! fit.

use super::Error;
use crate::draws::Draws;
use maxmargin::core::Formulation;
use maxmargin::data::Dataset;
use maxmargin::prelude::{Kernel, Samples, Solver};
use maxmargin_testkit::outside::dataset;

/// One training.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The number of the problem, from 1.
    pub number: usize,
    /// The name of the data.
    pub data: &'static str,
    /// The formulation.
    pub formulation: Formulation,
    /// The kernel, on unscaled values.
    pub kernel: Kernel,
    /// The solver.
    pub solver: Solver,
}

/// The number of rows taken from real data, evenly spread.
const MOST: usize = 2000;

/// Draws a row and its label or value.
type Maker = fn(usize, &mut Draws) -> (Vec<f64>, f64);

/// Generated data: its name, its rows, and the function that draws one.
const MADE: [(&str, usize, Maker); 15] = [
    // One feature spans 1 to 100,001.
    ("span", 2000, |_, r| {
        let x = [r.unit(), normal(r), normal(r)];
        (vec![(5e4 * (x[0] + 1.0) + 1.0).round(), x[1], x[2]], side(x[0] + 0.5 * x[1], r))
    }),
    // Every point five times, with different labels.
    ("contradictions", 1000, |i, r| {
        let mut own = Draws::new(5, (i / 5) as u64);
        (vec![normal(&mut own), normal(&mut own)], if r.once_in(2) { 1.0 } else { -1.0 })
    }),
    // Random features, next to two with information.
    ("constants", 1000, |_, r| {
        let x = [normal(r), normal(r)];
        (vec![x[0], 7.0, x[1], 700.0], side(x[0] + 0.5 * x[1], r))
    }),
    // One point with both labels.
    ("one-point", 400, |i, _| (vec![1.0, 2.0, 3.0], if i % 2 == 0 { 1.0 } else { -1.0 })),
    // Random labels.
    ("noise", 1000, |_, r| ((0..10).map(|_| normal(r)).collect(), if r.once_in(2) { 1.0 } else { -1.0 })),
    // Distant points: the best α is tiny.
    ("separable", 2000, |i, r| {
        let label = if i % 2 == 0 { 1.0 } else { -1.0 };
        ((0..5).map(|k| normal(r) + if k == 0 { 6.0 * label } else { 0.0 }).collect(), label)
    }),
    // Ten thousand from the origin, one apart.
    ("far", 1000, |_, r| {
        let x = [normal(r), normal(r)];
        (vec![1e4 + x[0], 1e4 + x[1]], side(x[0] + 0.5 * x[1], r))
    }),
    // All distances near 0.
    ("tiny", 1000, |_, r| {
        let x = [normal(r), normal(r)];
        (vec![1e-6 * x[0], 1e-6 * x[1]], side(x[0] + 0.5 * x[1], r))
    }),
    // One row in a hundred a million times as long.
    ("outliers", 1000, |i, r| {
        let x = [normal(r), normal(r), normal(r)];
        let scale = if i % 100 == 0 { 1e6 } else { 1.0 };
        (x.map(|v| scale * v).to_vec(), side(x[0] + 0.5 * x[1], r))
    }),
    // Five against the rest.
    ("five", 2000, |i, r| ((0..4).map(|_| normal(r)).collect(), if i % 400 == 0 { 1.0 } else { -1.0 })),
    // Small integers.
    ("integers", 3000, |_, r| {
        let x: Vec<f64> = (0..5).map(|_| r.below(100) as f64).collect();
        let label = if x.iter().sum::<f64>() > 250.0 { 1.0 } else { -1.0 };
        (x, label)
    }),
    ("chessboard", 2000, |_, r| {
        let x = [0.5 * (r.unit() + 1.0), 0.5 * (r.unit() + 1.0)];
        let odd = ((4.0 * x[0]) as i32 + (4.0 * x[1]) as i32) % 2 == 1;
        (x.to_vec(), if odd { 1.0 } else { -1.0 })
    }),
    // Values: a wave, the same with a factor of a hundred thousand, and one feature that spans 1 to
    // 100,001.
    ("wave", 1500, |_, r| {
        let x = [2.0 * r.unit(), normal(r)];
        (x.to_vec(), (3.0 * x[0]).sin() + x[1] + 0.1 * normal(r))
    }),
    ("high-wave", 1500, |_, r| {
        let x = [2.0 * r.unit(), normal(r)];
        (x.to_vec(), 1e5 * ((3.0 * x[0]).sin() + x[1] + 0.1 * normal(r)))
    }),
    ("slope", 1500, |_, r| {
        let x = [(5e4 * (r.unit() + 1.0) + 1.0).round(), normal(r)];
        (x.to_vec(), 3e-5 * x[0] + x[1] + 0.1 * normal(r))
    }),
];

/// Draws an approximately normal deviate.
fn normal(draws: &mut Draws) -> f64 {
    (0..6).map(|_| draws.unit()).sum::<f64>() / 2.0_f64.sqrt()
}

/// Returns a label from a value with some noise.
fn side(value: f64, draws: &mut Draws) -> f64 {
    if value + 0.3 * normal(draws) > 0.0 { 1.0 } else { -1.0 }
}

/// Returns a value with the digits of LIBSVM's files.
fn rounded(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

impl Problem {
    /// Returns the data; `None` if it is real and missing.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn data(&self) -> Result<Option<Dataset>, Error> {
        let Some((_, rows, make)) = MADE.iter().find(|made| made.0 == self.data) else {
            let Some(data) = dataset(self.data) else { return Ok(None) };
            let rows = data.labels.len();
            let kept = rows.min(MOST);
            return Ok(Some(data.select(&(0..kept).map(|k| k * rows / kept).collect::<Vec<_>>())));
        };
        let mut draws = Draws::new(13, self.data.len() as u64);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..*rows {
            let (row, label) = make(i, &mut draws);
            values.extend(row.iter().map(|v| rounded(*v)));
            labels.push(rounded(label));
        }
        let samples = Samples::from_dense(*rows, values.len() / rows, values)?;
        Ok(Some(Dataset::from_samples(samples.compact(), &labels)?))
    }

    /// Returns the kernel in short.
    pub fn kernel_name(&self) -> String {
        match self.kernel {
            Kernel::Rbf { gamma } => format!("rbf {gamma:e}"),
            Kernel::Poly { gamma, coef0, degree } => format!("poly {degree}, {gamma}, {coef0}"),
            Kernel::Sigmoid { gamma, coef0 } => format!("sigmoid {gamma}, {coef0}"),
            ref other => other.name().to_owned(),
        }
    }

    /// Returns the formulation in short.
    pub fn formulation_name(&self) -> String {
        let f = self.formulation;
        let of = |name: &str, value: Option<f64>| value.map_or_else(String::new, |v| format!(" {name} {v:e}"));
        format!("{}{}{}{}", f.name(), of("C", f.c()), of("ν", f.nu()), of("ε", f.epsilon()))
    }
}

/// Returns the problems, fifty of them.
pub fn all() -> Vec<Problem> {
    let problem = |(number, (data, formulation, kernel, solver))| Problem { number, data, formulation, kernel, solver };
    (1..).zip(on_real_data().into_iter().chain(on_generated_data())).map(problem).collect()
}

/// The data, the formulation, the kernel and the solver of a problem.
type Entry = (&'static str, Formulation, Kernel, Solver);

fn poly(degree: u32, gamma: f64, coef0: f64) -> Kernel {
    Kernel::poly(gamma, coef0, degree)
}

fn on_real_data() -> Vec<Entry> {
    use Solver::{Auto, Smo};
    let (svc, rbf) = (Formulation::c_svc, Kernel::rbf);
    let (nu_svc, one) = (|nu| Formulation::NuSvc { nu }, |nu| Formulation::OneClass { nu });
    let linear = || Kernel::Linear;
    vec![
        ("heart", svc(1e6), rbf(1e-5), Auto),
        ("heart", svc(1e4), linear(), Auto),
        ("heart", svc(1.0), linear(), Smo),
        ("heart", svc(1.0), poly(3, 1.0, 0.0), Auto),
        ("heart", svc(1e-3), poly(5, 1.0, 1.0), Auto),
        ("heart", svc(100.0), Kernel::sigmoid(1e-3, -1.0), Auto),
        ("heart", nu_svc(0.3), rbf(1e-3), Auto),
        ("diabetes", svc(1e8), rbf(1e-4), Auto),
        ("diabetes", svc(1e4), rbf(1e-6), Auto),
        ("diabetes", svc(1e3), linear(), Auto),
        ("diabetes", svc(1.0), linear(), Smo),
        ("diabetes", svc(1.0), poly(3, 1.0, 0.0), Auto),
        ("diabetes", svc(1e-6), poly(3, 1.0, 1.0), Auto),
        ("diabetes", nu_svc(0.5), linear(), Auto),
        ("diabetes", one(0.1), linear(), Auto),
        ("banana", svc(1e8), rbf(1.0), Auto),
        ("banana", svc(1e6), poly(3, 1.0, 1.0), Auto),
        ("shuttle", svc(1e6), rbf(1e-4), Auto),
        ("shuttle", svc(1.0), poly(3, 0.01, 1.0), Auto),
        ("shuttle", one(0.1), rbf(1e-4), Auto),
        ("splice", svc(1e8), rbf(1e-3), Auto),
        ("splice", svc(1.0), poly(3, 1.0, 0.0), Auto),
        ("splice", svc(1e4), linear(), Smo),
        ("madelon", svc(1e4), rbf(1e-7), Auto),
    ]
}

fn on_generated_data() -> Vec<Entry> {
    use Solver::{Auto, Smo};
    let (svc, rbf) = (Formulation::c_svc, Kernel::rbf);
    let (svr, nu_svr) = (Formulation::epsilon_svr, |c, nu| Formulation::NuSvr { c, nu });
    let (nu_svc, one) = (|nu| Formulation::NuSvc { nu }, |nu| Formulation::OneClass { nu });
    let linear = || Kernel::Linear;
    vec![
        ("span", svc(1.0), linear(), Auto),
        ("span", svc(1.0), linear(), Smo),
        ("span", svc(100.0), rbf(1e-8), Auto),
        ("span", svc(1e8), rbf(1e-3), Auto),
        ("span", svc(1.0), poly(3, 1.0, 0.0), Auto),
        ("span", svc(1e-6), poly(5, 1.0, 1.0), Auto),
        ("span", one(0.1), poly(3, 1.0, 1.0), Auto),
        ("contradictions", svc(1e8), rbf(10.0), Auto),
        ("contradictions", svc(1e-6), rbf(1.0), Auto),
        ("constants", svc(1e6), rbf(1e-6), Auto),
        ("constants", svc(1e4), linear(), Smo),
        ("one-point", svc(10.0), rbf(1.0), Auto),
        ("noise", svc(1e8), rbf(1e-3), Auto),
        ("noise", nu_svc(0.3), rbf(1e-3), Auto),
        ("separable", svc(1e8), rbf(1e-4), Auto),
        ("far", svc(1e4), rbf(0.5), Auto),
        ("tiny", svc(1e8), rbf(1.0), Auto),
        ("outliers", svc(1.0), poly(3, 1.0, 1.0), Auto),
        ("outliers", svc(1e6), rbf(1e-10), Auto),
        ("five", svc(1e6), rbf(0.1), Auto),
        ("integers", svc(1.0), poly(5, 0.01, 1.0), Auto),
        ("chessboard", svc(1e8), rbf(10.0), Auto),
        ("wave", svr(1e4, 0.1), rbf(1.0), Auto),
        ("high-wave", svr(1e8, 0.1), rbf(1.0), Auto),
        ("high-wave", nu_svr(1e6, 0.3), rbf(0.1), Auto),
        ("slope", nu_svr(1e3, 0.3), linear(), Auto),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_50_problems_and_their_data_is_the_same_each_time() {
        let problems = all();
        assert_eq!(problems.len(), 50);
        for problem in problems.iter().filter(|p| MADE.iter().any(|made| made.0 == p.data)) {
            let make = || problem.data().expect("data").expect("made data");
            let data = make();
            assert!(data.labels.len() <= 5000 && data.labels == make().labels, "{}", problem.data);
        }
    }
}
