//! Shared parts of the tests: points with a kernel, a plain pairwise solver for comparison, random
//! numbers.

use maxmargin_core::{AuditPoint, Dual, Status};
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{FnGram, Gram};
use maxmargin_path::{Path, Update};

/// A small generator of uniform numbers in 0…1 (an xorshift), so that scripts are reproducible.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.roll() * n as f64) as usize).min(n - 1)
    }

    /// Returns a standard normal number (a sum of twelve uniform ones).
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Rbf(f64),
    Linear,
    Poly,
}

pub(crate) fn gram(points: &[[f64; 2]], form: Form) -> impl Gram + use<> {
    let points = points.to_vec();
    FnGram::new(points.len(), move |i, j| {
        let (a, b) = (points[i], points[j]);
        let dot = a[0] * b[0] + a[1] * b[1];
        match form {
            Form::Rbf(gamma) => (-gamma * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp(),
            Form::Linear => dot,
            Form::Poly => (dot + 1.0).powi(2),
        }
    })
}

/// Returns the artificial data of the paper (section 4.1): a mixture of two Gaussians against one.
pub(crate) fn artificial(n: usize, seed: u64) -> (Vec<[f64; 2]>, Vec<f64>) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let point = |label: f64, dice: &mut Dice| {
        let centre = if label < 0.0 {
            0.0
        } else if dice.roll() < 0.5 {
            -1.2
        } else {
            1.2
        };
        [centre + 0.6 * dice.normal(), 0.5 * centre + 0.6 * dice.normal()]
    };
    (0..n)
        .map(|_| {
            let label = if dice.roll() < 0.5 { 1.0 } else { -1.0 };
            (point(label, &mut dice), label)
        })
        .unzip()
}

/// Solves by the maximal violating pair, in `f64`, until its violation is below `tol`: the plainest
/// solver.
pub(crate) fn pairwise(dual: &Dual, gram: &dyn Gram, tol: f64) -> Vec<f64> {
    let n = dual.len();
    let mut k = vec![0.0; gram.len() * n];
    gram.fill_exact(dual.ids(), 0..gram.len(), &mut k);
    let entry = |i: usize, j: usize| k[i * gram.len() + dual.ids()[j]];
    let (s, u) = (dual.sign(), dual.upper());
    let mut beta = vec![0.0; n];
    let mut f: Vec<f64> = (0..n).map(|i| s[i] * dual.linear_term()[i]).collect();
    let bounds = |i: usize| if s[i] > 0.0 { (0.0, u[i]) } else { (-u[i], 0.0) };
    for _ in 0..2_000_000 {
        let up = (0..n).filter(|&i| beta[i] < bounds(i).1).min_by(|&a, &b| f[a].total_cmp(&f[b]));
        let down = (0..n).filter(|&i| beta[i] > bounds(i).0).max_by(|&a, &b| f[a].total_cmp(&f[b]));
        let (Some(i), Some(j)) = (up, down) else { break };
        if f[j] - f[i] <= tol {
            break;
        }
        let curvature = (entry(i, i) + entry(j, j) - 2.0 * entry(i, j)).max(1e-12);
        let step = ((f[j] - f[i]) / curvature).min(bounds(i).1 - beta[i]).min(beta[j] - bounds(j).0);
        beta[i] = if step == bounds(i).1 - beta[i] { bounds(i).1 } else { beta[i] + step };
        beta[j] = if step == beta[j] - bounds(j).0 { bounds(j).0 } else { beta[j] - step };
        for (l, f) in f.iter_mut().enumerate() {
            *f += step * (entry(i, l) - entry(j, l));
        }
    }
    beta.iter().zip(s).map(|(b, s)| b * s).collect()
}

/// Returns `½ αᵀQα + linᵀα`.
pub(crate) fn objective(dual: &Dual, gram: &dyn Gram, alpha: &[f64]) -> f64 {
    -maxmargin_core::audit(
        gram,
        &[AuditPoint { dual, alpha, bias: 0.0, weights: None, known: None }],
        Par::Seq,
        &RunControl::unlimited(),
    )
    .expect("unlimited")[0]
        .certificate
        .dual
}

/// Returns the violation that an exact solution may show, independent of the tested code's own
/// tolerance.
///
/// A residual is a sum of `m` products `K β` and the bias, of size about `K Σ|β|`. Computed in
/// `f64` its error is at most `(m + 2) ε K Σ|β|`. A refinement step with a factor whose pivots are
/// above 10⁻¹³ of the diagonal (smaller ones are refused) leaves at most a few times that: its
/// relative error is `κ ε ≤ 10³ ε·10¹⁰`, less than 1. It contracts until only the rounding of the
/// residual itself is left. A violation is the difference of two residuals. Below 10⁻¹⁰ of the
/// margin 1 no solver has to reduce it.
pub(crate) fn allowed(path: &Path, gram: &dyn Gram) -> f64 {
    let Some(dual) = path.dual() else { return 0.0 };
    let alpha = path.solution().alpha;
    let largest = dual.ids().iter().map(|&id| gram.diagonal()[id].abs()).fold(0.0, f64::max);
    let (mass, m) = (alpha.iter().sum::<f64>(), alpha.iter().filter(|a| **a > 0.0).count() as f64);
    2e-10 + 4.0 * (m + 2.0) * f64::EPSILON * largest * mass
}

/// Asserts by the core crate's certificate that the path is exact and feasible, by a tolerance of
/// this test's own.
pub(crate) fn assert_exact(path: &Path, gram: &dyn Gram, update: &Update, what: &str) {
    assert_eq!(update.status, Status::Converged, "{what}: {update:?}");
    let Some(certificate) = path.certify(Par::Seq) else { return };
    let allowed = allowed(path, gram);
    assert!(certificate.kkt <= allowed, "{what}: {allowed} {certificate:?} {update:?}");
    // The tested code's tolerance is 10⁻⁸, or rounding.
    assert!(update.tolerance <= 1e-8 + allowed, "{what}: {allowed} {update:?}");
    assert!(certificate.infeasible <= 1e-11, "{what}: {certificate:?}");
    // The gap is at most the violation times the mass that could move.
    let dual = path.dual().expect("it was certified");
    let room: f64 = dual.upper().iter().sum();
    let rounding = 8.0 * f64::EPSILON * dual.len() as f64 * certificate.primal.abs().max(1.0);
    assert!(certificate.gap().abs() <= allowed * room + rounding, "{what}: {certificate:?}");
}

/// Asserts that objective and decision values agree with the plain solver from 0.
pub(crate) fn assert_optimal(path: &Path, gram: &dyn Gram, what: &str) {
    let Some(dual) = path.dual() else { return };
    let solution = path.solution();
    let reference = pairwise(&dual, gram, 1e-9);
    let (ours, theirs) = (objective(&dual, gram, &solution.alpha), objective(&dual, gram, &reference));
    assert!((ours - theirs).abs() <= 1e-7 * theirs.abs().max(1.0), "{what}: objective {ours}, expected {theirs}");
    let decide = |alpha: &[f64]| {
        maxmargin_core::audit(
            gram,
            &[AuditPoint { dual: &dual, alpha, bias: 0.0, weights: None, known: None }],
            Par::Seq,
            &RunControl::unlimited(),
        )
        .expect("unlimited")
        .remove(0)
        .sums
    };
    for (i, (a, b)) in decide(&solution.alpha).iter().zip(decide(&reference)).enumerate() {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{what}: decision {i}: {a}, expected {b}");
    }
}
