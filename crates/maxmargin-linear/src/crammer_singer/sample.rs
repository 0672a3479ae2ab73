//! The step on the variables of one sample.

use crate::crammer_singer::subproblem::minimise;
use maxmargin_core::CrammerSinger;
use maxmargin_kernel::features::FeatureRows;

/// The least violation for which a step is made.
const NOTHING: f64 = 1e-12;

/// The result of a visit to a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Visit {
    /// One class at most is active: the sample is set aside.
    SetAside,
    /// The violation before the step.
    Violation(f64),
}

/// The state of the descent. Weights of one column are neighbours: `w[column · classes + class]`.
pub(super) struct ClassDescent<'a, R> {
    rows: &'a R,
    squares: &'a [f64],
    problem: &'a CrammerSinger,
    pub(super) alpha: Vec<f64>,
    w: Vec<f64>,
    /// The active classes of each sample first, and their number.
    classes: Vec<u32>,
    counts: Vec<u32>,
    pub(super) steps: u64,
    pub(super) entries: u64,
    gradient: Vec<f64>,
    all: Vec<f64>,
    linear: Vec<f64>,
    new: Vec<f64>,
    scratch: Vec<f64>,
    moved: Vec<(usize, f64)>,
}

impl<'a, R: FeatureRows> ClassDescent<'a, R> {
    pub(super) fn new(rows: &'a R, squares: &'a [f64], problem: &'a CrammerSinger) -> Self {
        let (n, k) = (problem.len(), problem.classes());
        let mut alpha = vec![0.0; n * k];
        // The gradient of a row without entries is constant: its variables are at their bounds.
        for i in (0..n).filter(|&i| squares[i] == 0.0) {
            let (class, cost) = (problem.class()[i], problem.cost()[i]);
            alpha[i * k + class] = cost;
            alpha[i * k + (class + 1) % k] = -cost;
        }
        Self {
            rows,
            squares,
            problem,
            alpha,
            w: vec![0.0; rows.width() * k],
            classes: (0..n).flat_map(|_| 0..k as u32).collect(),
            counts: vec![k as u32; n],
            steps: 0,
            entries: 0,
            gradient: vec![0.0; k],
            all: vec![0.0; k],
            linear: vec![0.0; k],
            new: vec![0.0; k],
            scratch: Vec::with_capacity(k),
            moved: Vec::with_capacity(k),
        }
    }

    /// Replaces the weights by those of the dual variables, summed anew.
    pub(super) fn set_weights(&mut self, weights: &[Vec<f64>]) {
        for (m, of) in weights.iter().enumerate() {
            self.w.iter_mut().skip(m).step_by(weights.len()).zip(of).for_each(|(w, new)| *w = *new);
        }
    }

    /// Makes all classes of all samples active.
    pub(super) fn activate(&mut self) {
        self.counts.fill(self.problem.classes() as u32);
    }

    /// Minimises over the active variables of sample `i` (steps 3 to 5).
    pub(super) fn visit(&mut self, i: usize) -> Visit {
        let (k, square) = (self.problem.classes(), self.squares[i]);
        if square == 0.0 {
            return Visit::SetAside;
        }
        self.gradients(i);
        let (class, cost) = (self.problem.class()[i], self.problem.cost()[i]);
        let upper = |m: usize| if m == class { cost } else { 0.0 };
        let alpha = &mut self.alpha[i * k..(i + 1) * k];
        let active = &mut self.classes[i * k..(i + 1) * k];
        let mut count = self.counts[i] as usize;
        // 4: shrinking.
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (&m, &g) in active[..count].iter().zip(&self.gradient) {
            greatest = greatest.max(g);
            if alpha[m as usize] < upper(m as usize) {
                least = least.min(g);
            }
        }
        let mut at = 0;
        while at < count {
            let m = active[at] as usize;
            if alpha[m] >= upper(m) && self.gradient[at] < least {
                count -= 1;
                active.swap(at, count);
                self.gradient.swap(at, count);
            } else {
                at += 1;
            }
        }
        self.counts[i] = count as u32;
        if count <= 1 {
            return Visit::SetAside;
        }
        let violation = greatest - least;
        if violation.is_nan() || violation <= NOTHING {
            return Visit::Violation(0.0);
        }
        // 5: the minimum.
        let active = &active[..count];
        for (linear, (&m, g)) in self.linear.iter_mut().zip(active.iter().zip(&self.gradient)) {
            *linear = g - square * alpha[m as usize];
        }
        let own = active.iter().position(|&m| m as usize == class);
        minimise(square, &self.linear[..count], own, cost, &mut self.scratch, &mut self.new[..count]);
        self.moved.clear();
        for (&m, new) in active.iter().zip(&self.new) {
            let m = m as usize;
            let delta = new - alpha[m];
            // A variable reaches its bound exactly, or it would seem to violate its condition. The
            // smallest change is added to the weights: left out in sweep after sweep, changes of
            // 10⁻¹² led α away from them by 10⁻⁵.
            alpha[m] = *new;
            if delta != 0.0 {
                self.moved.push((m, delta));
            }
        }
        self.add_moved(i);
        Visit::Violation(violation)
    }

    /// Adds the changes of sample `i` to the weights.
    fn add_moved(&mut self, i: usize) {
        let (k, w, moved) = (self.problem.classes(), &mut self.w, &self.moved);
        self.steps += 1;
        self.entries += (self.rows.entries_of(i) * moved.len()) as u64;
        self.rows.each(i, |j, v| {
            let w = &mut w[j * k..(j + 1) * k];
            moved.iter().for_each(|&(m, delta)| w[m] += delta * v);
        });
    }

    /// Computes the gradients of the active classes of sample `i` (step 3).
    fn gradients(&mut self, i: usize) {
        let k = self.problem.classes();
        let (class, count) = (self.problem.class()[i], self.counts[i] as usize);
        let active = &self.classes[i * k..i * k + count];
        self.entries += (self.rows.entries_of(i) * count) as u64;
        let w = &self.w;
        if 3 * count > k {
            // All classes at once: neighbours in memory.
            let all = &mut self.all;
            all.fill(0.0);
            self.rows.each(i, |j, v| all.iter_mut().zip(&w[j * k..(j + 1) * k]).for_each(|(g, w)| *g += v * w));
            active.iter().zip(&mut self.gradient).for_each(|(&m, g)| *g = all[m as usize]);
        } else {
            let gradient = &mut self.gradient[..count];
            gradient.fill(0.0);
            self.rows.each(i, |j, v| {
                let w = &w[j * k..(j + 1) * k];
                gradient.iter_mut().zip(active).for_each(|(g, &m)| *g += v * w[m as usize]);
            });
        }
        for (&m, g) in active.iter().zip(&mut self.gradient) {
            *g += f64::from(u8::from(m as usize != class));
        }
    }
}
