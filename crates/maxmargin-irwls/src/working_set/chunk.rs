//! A working set as a small dense problem, and the trait of its solvers.

use maxmargin_data::Par;
use maxmargin_simd::sums::add_scaled;

/// The entries of a product that are summed together.
const PIECE: usize = 1024;

/// The problem `min ½ βᵀKβ + (f₀ − Kβ₀)ᵀβ` over `low ≤ β ≤ high` and `Σ β = Σ β₀`: the dual in the
/// variables of the working set with all others fixed, written in `β = s α`.
///
/// `β₀` is the feasible point that the solver gets, and `f₀ = s (Qα + linear_term)` its optimality
/// indicator. The Hessian is `K` itself, without labels, with the ridge on its diagonal.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// The rows of `K`, one after the other.
    pub(crate) kernel: Vec<f64>,
    /// β; the solver writes its solution here.
    pub(crate) beta: Vec<f64>,
    /// The indicator `f` at the given β; solvers of this crate keep it up to date with β.
    pub(crate) f: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    /// True if the sum of β may change: eliminated samples take up the difference.
    pub(crate) any_sum: bool,
    /// Threads for passes over all of `kernel`. The result has the same bits for any number of
    /// threads.
    pub(crate) par: Par,
}

impl Chunk {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.beta.len()
    }

    /// Returns true if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.beta.is_empty()
    }

    /// Returns row `i` of the Hessian.
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn row(&self, i: usize) -> &[f64] {
        let m = self.len();
        &self.kernel[i * m..(i + 1) * m]
    }

    /// Returns `K x`, from the rows where x is not 0.
    pub(crate) fn multiply(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; x.len()];
        self.par.for_chunks(&mut product, PIECE, |piece, product| {
            let from = piece * PIECE;
            for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                add_scaled(product, x, &self.row(k)[from..from + product.len()]);
            }
        });
        product
    }

    /// Returns β: on entry a feasible point.
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// Returns the optimality indicator at the given β.
    pub fn indicator(&self) -> &[f64] {
        &self.f
    }

    /// Returns the lower bounds.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// Returns the upper bounds.
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// Returns the linear term `f₀ − Kβ₀`; call it before β is replaced.
    pub fn linear(&self) -> Vec<f64> {
        let mut linear = self.f.clone();
        for (i, &b) in self.beta.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            linear.iter_mut().zip(self.row(i)).for_each(|(l, k)| *l -= b * k);
        }
        linear
    }

    /// Replaces β by a nearby feasible point: it is moved into the box and to the sum. Values on a
    /// bound stay there if the others can make up the sum.
    ///
    /// # Panics
    ///
    /// When there is not one value per sample.
    pub fn set(&mut self, beta: &[f64]) {
        assert_eq!(beta.len(), self.len(), "one value per sample");
        let sum = self.beta.iter().sum();
        self.beta.copy_from_slice(beta);
        crate::working_set::project::rebalance(&mut self.beta, &self.low, &self.high, sum);
    }
}

/// A solver of working sets.
pub trait ChunkSolver: Sync {
    /// Improves `β` in place and feasibly. It ends when the KKT violation inside the chunk (`max f`
    /// over the variables that may fall minus `min f` over those that may rise) is at most `tol`,
    /// when no gain is left, or when `more` returns false.
    ///
    /// Call `more` before every iteration: it counts the iteration and checks limits and the
    /// caller's control. Solvers whose iterations cannot be interrupted call it once.
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut (dyn FnMut() -> bool + Send));
}
