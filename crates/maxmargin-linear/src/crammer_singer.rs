//! The machine of all classes at once: a sequential dual method (Keerthi, Sundararajan, Chang,
//! Hsieh and Lin, KDD 2008) with shrinking of classes and samples.
//!
//! ```text
//!   1  w_m ← Σ α_im x_i;  active: all samples, and all classes of each
//!   2  for i in a random permutation of the active samples:
//!   3    G_m ← w_m·x_i + [m ≠ y_i] for its active classes
//!   4    set classes aside whose α_im is at its bound and whose G_m is below min {G_m : α_im may rise}
//!   5    α_i ← the minimum over α_i alone (subproblem.rs);  w += Δα_im x_i
//!   6  when the violation is within a tolerance: all are active again; when it was so on all,
//!      check the gap, from w summed anew
//! ```
//!
//! Where the weights of all classes are few, a few sweeps are the start of proximal Newton steps
//! (proximal.rs). Where rounding ends the progress of these, sweeps go on from their best point.

mod free;
mod hessian;
mod passes;
mod proximal;
mod sample;
mod subproblem;
mod two_classes;

use crate::config::{Config, LinearWork, Method};
use crate::coordinate::order::shuffle;
use crate::crammer_singer::hessian::LARGEST;
use crate::crammer_singer::proximal::{NewtonEnd, ProximalSteps};
use crate::crammer_singer::sample::{ClassDescent, Visit};
use crate::crammer_singer::two_classes::solve_two_classes;
use crate::run::SweepControl;
use crate::solve::LinearError;
use maxmargin_core::{Certificate, CertifiedClasses, CrammerSinger, Goal, RunControl, Status, Stop, certify_crammer_singer};
use maxmargin_kernel::features::{FeatureRows, Job};
use maxmargin_kernel::{Matrix, Reservation};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The weights of all classes with their certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassesSolution {
    /// The weights of each class, one for each column of the matrix ([`Matrix::unpack`]).
    pub weights: Vec<Vec<f64>>,
    /// The dual variables, row by row.
    pub alpha: Vec<f64>,
    /// The certificate, computed from the dual variables alone.
    pub certificate: Certificate,
    /// The end of the run.
    pub status: Status,
    /// The cost of the run.
    pub work: LinearWork,
}

/// The violation that sweeps aim at first if the goal is a gap, and its share after a gap that was
/// missed.
const AIMS: (f64, f64) = (0.1, 0.3);

/// The most sweeps to one violation (LIBLINEAR's cap).
const MOST: u32 = 100_000;

/// The sweeps before Newton steps, and their factor where systems are still too large.
const FEW: u64 = 10;
const LATER: u64 = 4;

/// The most sweeps after Newton steps that made no more progress, in passes over all entries.
const LAST: u64 = 1000;

/// The least violation that sweeps aim at.
const LEAST: f64 = 1e-11;

/// Minimises `problem` from zero until the certificate meets `stop.goal`. The same seed gives the
/// same bits for any number of threads.
///
/// Two classes are one machine of the hinge loss, which [`Method::Hybrid`] and [`Method::Newton`]
/// solve as such. With more classes these go from sweeps to Newton steps, as soon as weights or
/// free variables are few enough; the other methods make sweeps alone.
///
/// # Errors
///
/// When the matrix has another number of rows than the problem.
pub fn solve_crammer_singer(
    matrix: &Matrix,
    problem: &CrammerSinger,
    config: &Config,
    stop: &Stop,
    control: &RunControl,
) -> Result<ClassesSolution, LinearError> {
    if problem.len() != matrix.len() {
        return Err(LinearError::Rows { found: problem.len(), expected: matrix.len() });
    }
    if problem.classes() == 2
        && matches!(config.method, Method::Hybrid | Method::Newton)
        && let Some(solved) = solve_two_classes(matrix, problem, config, stop, control)
    {
        return solved;
    }
    Ok(matrix.visit(Begin { matrix, problem, config, control: SweepControl::new(stop, control), goal: stop.goal }))
}

struct Begin<'a, 's> {
    matrix: &'a Matrix<'s>,
    problem: &'a CrammerSinger,
    config: &'a Config,
    control: SweepControl<'a>,
    goal: Goal,
}

impl Job for Begin<'_, '_> {
    type Out = ClassesSolution;

    fn run<R: FeatureRows>(mut self, rows: &R) -> ClassesSolution {
        let mut descent = ClassDescent::new(rows, self.matrix.squares(), self.problem);
        let mut random = ChaCha8Rng::seed_from_u64(self.config.seed);
        let mut work = LinearWork::default();
        let mut tol = self.goal.kkt().unwrap_or(AIMS.0);
        let certify = |alpha: &[f64]| certify_crammer_singer(self.problem, self.matrix, alpha, self.config.par);
        let config = self.config.for_passes(rows.entries() * self.problem.classes(), descent.alpha.len());
        let newton = ProximalSteps { rows, matrix: self.matrix, problem: self.problem, par: config.par };
        let held = self.reserve_system(rows);
        let (mut is_last, pass) = (false, (rows.entries() * self.problem.classes()) as u64);
        let mut before_newton = if held.is_some() { self.entries_before_newton(rows) } else { u64::MAX };
        loop {
            let sweeps = self.sweeps(&mut descent, tol, before_newton, &mut random, &mut work);
            (work.steps, work.entries) = (descent.steps, descent.entries);
            let mut ended = sweeps == SweepsEnd::Ended;
            match sweeps {
                SweepsEnd::Ended => {}
                SweepsEnd::Within => {
                    tol *= AIMS.1;
                    ended = tol < LEAST;
                }
                SweepsEnd::Spent if is_last => ended = true,
                SweepsEnd::Spent if newton.is_small_enough(&descent.alpha) => {
                    let alpha = std::mem::take(&mut descent.alpha);
                    let end;
                    (descent.alpha, end) = newton.run(alpha, &mut self.control, &mut work);
                    ended = end == NewtonEnd::Done;
                    // Sweeps have less rounding than proximal steps, and end what these cannot.
                    is_last = end == NewtonEnd::Still;
                    before_newton = if is_last { descent.entries + LAST * pass } else { LATER * descent.entries.max(1) };
                }
                // More sweeps leave fewer variables free.
                SweepsEnd::Spent => {
                    before_newton = LATER * descent.entries.max(1);
                    continue;
                }
            }
            let CertifiedClasses { weights, certificate } = certify(&descent.alpha);
            let met = self.goal.met(&certificate);
            if met || ended {
                let status = if met { Status::Converged } else { self.control.ended.unwrap_or(Status::Stalled) };
                return ClassesSolution { weights, alpha: descent.alpha, certificate, status, work };
            }
            descent.set_weights(&weights);
        }
    }
}

/// The end of some sweeps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SweepsEnd {
    /// The violation is within the tolerance.
    Within,
    /// The run ended.
    Ended,
    /// Newton steps are to follow.
    Spent,
}

impl<'a> Begin<'a, '_> {
    /// The memory of Newton systems, if such steps are to be made.
    fn reserve_system<R: FeatureRows>(&self, rows: &R) -> Option<Reservation<'a>> {
        let unknowns = LARGEST.min(rows.width() * self.problem.classes());
        let (matrix, wanted) = (self.matrix, matches!(self.config.method, Method::Hybrid | Method::Newton));
        if wanted { matrix.memory_budget().reserve(hessian::bytes(unknowns)) } else { None }
    }

    /// The entries of the sweeps before Newton steps: as many as a few sweeps have.
    fn entries_before_newton<R: FeatureRows>(&self, rows: &R) -> u64 {
        if self.config.method == Method::Newton { 0 } else { FEW * (rows.entries() * self.problem.classes()) as u64 }
    }

    /// Sweeps until the violation of all samples is within `tol`, or `most` entries were used in
    /// all.
    fn sweeps<R: FeatureRows>(
        &mut self,
        descent: &mut ClassDescent<R>,
        tol: f64,
        most: u64,
        random: &mut ChaCha8Rng,
        work: &mut LinearWork,
    ) -> SweepsEnd {
        let mut active: Vec<u32> = (0..self.problem.len() as u32).filter(|&i| self.problem.cost()[i as usize] > 0.0).collect();
        let mut count = active.len();
        descent.activate();
        // The tolerance on the active samples falls to the goal, as all are active in between.
        let mut rough = (10.0 * tol).max(1.0);
        let (mut from_all, mut made) = (true, 0);
        loop {
            if descent.entries >= most {
                return SweepsEnd::Spent;
            }
            shuffle(&mut active[..count], random);
            let (mut at, mut largest) = (0, 0.0_f64);
            let before = descent.entries;
            while at < count {
                match descent.visit(active[at] as usize) {
                    Visit::SetAside => {
                        count -= 1;
                        active.swap(at, count);
                        continue;
                    }
                    Visit::Violation(violation) => largest = largest.max(violation),
                }
                at += 1;
            }
            work.sweeps += 1;
            made += 1;
            if made >= MOST {
                self.control.ended.get_or_insert(Status::Slow);
                return SweepsEnd::Ended;
            }
            let _ = self.control.control().check(descent.entries - before);
            if self.control.check(descent.steps, largest) || self.control.spent(descent.steps + count as u64) {
                return SweepsEnd::Ended;
            }
            if largest < rough {
                if largest < tol && from_all {
                    return SweepsEnd::Within;
                }
                count = active.len();
                descent.activate();
                rough = (0.5 * rough).max(tol);
                from_all = true;
            } else {
                from_all = false;
            }
        }
    }
}
