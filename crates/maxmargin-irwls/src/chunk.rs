//! A working set as a small dense problem, and who solves it.

use maxmargin_data::Par;

/// `min ½ βᵀKβ + (f₀ − Kβ₀)ᵀβ` over `low ≤ β ≤ high` and `Σ β = Σ β₀`: the dual in the variables of
/// the working set with all others fixed, written in `β = s α`.
///
/// `β₀` is the point that the solver is given, feasible, and `f₀ = s (Qα + linear_term)` the
/// optimality indicator of it. The Hessian is `K` itself, without labels, with the ridge on its
/// diagonal.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Rows of `K`, one behind the other.
    pub(crate) kernel: Vec<f64>,
    /// β, where the solution goes.
    pub(crate) beta: Vec<f64>,
    /// `f` at the β given; solvers of this crate keep it that of the present β.
    pub(crate) f: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    /// Threads for what goes over all of `kernel`: the same bits for any number.
    pub(crate) par: Par,
}

impl Chunk {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.beta.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.beta.is_empty()
    }

    /// Row `i` of the Hessian.
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn row(&self, i: usize) -> &[f64] {
        let m = self.len();
        &self.kernel[i * m..(i + 1) * m]
    }

    /// β: on entry a feasible point.
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// The optimality indicator at the β that the solver is given.
    pub fn indicator(&self) -> &[f64] {
        &self.f
    }

    /// Lower bounds.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// Upper bounds.
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// The linear term `f₀ − Kβ₀`; to be asked before β is replaced.
    pub fn linear(&self) -> Vec<f64> {
        let mut linear = self.f.clone();
        for (i, &b) in self.beta.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            linear.iter_mut().zip(self.row(i)).for_each(|(l, k)| *l -= b * k);
        }
        linear
    }

    /// Replaces β by a point near one that is feasible: it is moved into the box and to the sum.
    /// What is on a bound stays there if the others can make up the sum.
    ///
    /// # Panics
    ///
    /// When there is not one value per sample.
    pub fn set(&mut self, beta: &[f64]) {
        assert_eq!(beta.len(), self.len(), "one value per sample");
        let sum = self.beta.iter().sum();
        self.beta.copy_from_slice(beta);
        crate::project::rebalance(&mut self.beta, &self.low, &self.high, sum);
    }
}

/// Solves working sets.
pub trait ChunkSolver: Sync {
    /// Improves `β` in place, feasibly, until the KKT violation inside the chunk (`max f` over what
    /// may fall minus `min f` over what may rise) is at most `tol`, or nothing is gained any more,
    /// or `more` says no.
    ///
    /// `more` is asked before every iteration, counts it, and looks at limits and at the caller's
    /// watch. Solvers whose iterations cannot be interrupted ask once.
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut dyn FnMut() -> bool);
}
