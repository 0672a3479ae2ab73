//! Derivatives of a trained machine's decision values by C and γ: one bordered system of its free
//! support vectors for each parameter.

use maxmargin_core::{Dual, Factor, Solution};
use maxmargin_data::{Cancelled, RunControl, Samples};
use maxmargin_kernel::Gram;

/// Number of kernel rows in a block.
const BLOCK: usize = 64;

/// The distance of α from a bound that counts as rounding, relative to the largest bound; the same
/// as for the bias.
const ROUNDING: f64 = 1e-12;

/// The parameters of the derivatives.
#[derive(Clone, Copy)]
pub enum GradientParameters<'s> {
    /// log C and log γ.
    Common,
    /// log C, and log γ of each feature in `exp(−Σ_l γ_l (x_l − z_l)²)`: a Gaussian kernel of
    /// features times `√γ_l`.
    Features {
        /// The samples of the kernel matrix, row by row.
        samples: &'s Samples,
        /// The common factor of all squared differences.
        gamma: f64,
    },
}

/// Decision values of some rows, and their derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The decision value of each row.
    pub decisions: Vec<f64>,
    /// Row-major rows × parameters: by log C, and by log γ or by that of each feature.
    pub derivatives: Vec<f64>,
}

/// A solved C-SVC (hinge loss, free bias) of a Gaussian kernel, as a function of its parameters.
///
/// While the sets do not change, free samples (M) keep `y f = 1`, bounded samples (B) stay at C,
/// and `Σ β = 0`, with `β = y α`. With `A = [K_MM 1; 1ᵀ 0]` the derivative solves `A [dβ_M; db] =
/// [−(Ḱβ)_M − K_MB dβ_B; −1ᵀdβ_B]`. By log C, `dβ_B = β_B` and `Ḱ = 0`; by log γ, `dβ_B = 0` and
/// `Ḱ = K ln K` (`docs/math/gradient.md`).
///
/// A bounded sample exactly on the margin has the derivative of the side on which it stays bounded.
/// Free samples with linearly dependent kernel rows (equal rows) keep their coefficients. Without
/// free samples, the bias is the middle of an interval between two bounded samples, and moves with
/// them.
pub struct Sensitivity<'g> {
    gram: &'g dyn Gram,
    /// Row and β of the support vectors: free ones, bounded ones, and those that depend on free
    /// ones.
    rows: Vec<usize>,
    beta: Vec<f64>,
    /// The number of free ones, and of free or bounded ones.
    free: usize,
    bounded: usize,
    bias: f64,
    /// The factor of the system of the first `free` support vectors.
    factor: Factor,
    /// The rows that bound the bias, if no sample is free.
    ends: Vec<usize>,
}

impl<'g> Sensitivity<'g> {
    /// The sensitivity of a solution of a C-SVC dual over rows of a Gaussian kernel's matrix. The
    /// solution's gradient is only read if no sample is free.
    ///
    /// # Errors
    ///
    /// When the run was cancelled.
    pub fn new(gram: &'g dyn Gram, dual: &Dual, solution: &Solution, control: &RunControl) -> Result<Self, Cancelled> {
        let alpha = &solution.alpha;
        let near = ROUNDING * alpha.iter().fold(0.0, |most: f64, a| most.max(*a));
        let (mut free, mut bounded) = (Vec::new(), Vec::new());
        for (k, &upper) in dual.upper().iter().enumerate() {
            let term = (dual.ids()[k], dual.sign()[k] * alpha[k]);
            match (alpha[k] <= near, upper - alpha[k] <= near) {
                (false, false) => free.push(term),
                (false, true) => bounded.push(term),
                (true, _) => {}
            }
        }
        let ends = if free.is_empty() { ends(dual, alpha, &solution.gradient, near) } else { Vec::new() };
        let rows: Vec<usize> = free.iter().map(|term: &(usize, f64)| term.0).collect();
        let mut matrix = Vec::with_capacity(rows.len() * rows.len());
        exact_rows(gram, &rows, &rows, 0, control, |_, kernel| matrix.extend_from_slice(kernel))?;
        // The diagonal of a Gaussian kernel is 1.
        let (factor, kept) = Factor::independent(1.0, &matrix, control)?;
        // A dependent sample keeps its coefficient: it is treated as bounded, but does not follow
        // C.
        let (mut terms, mut idle) = (Vec::new(), Vec::new());
        free.into_iter().enumerate().for_each(|(at, term)| if kept[at] { terms.push(term) } else { idle.push(term) });
        let free = terms.len();
        terms.extend(bounded);
        let bounded = terms.len();
        terms.extend(idle);
        let (rows, beta) = terms.into_iter().unzip();
        Ok(Self { gram, rows, beta, free, bounded, bias: solution.bias, factor, ends })
    }

    /// Decision values of these rows of the matrix, and their derivatives.
    ///
    /// # Errors
    ///
    /// When the run was cancelled.
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn of_rows(&self, rows: &[usize], parameters: GradientParameters, control: &RunControl) -> Result<Moved, Cancelled> {
        let way = KernelDerivatives::new(parameters, &self.rows);
        let count = way.count();
        let (change, bias) = self.solved(&way, control)?;
        let mut moved = Moved { decisions: vec![0.0; rows.len()], derivatives: vec![0.0; rows.len() * count] };
        self.each(rows, &way, control, |at, kernel| {
            let own = &mut moved.derivatives[at * count..(at + 1) * count];
            moved.decisions[at] = self.bias + kernel.iter().zip(&self.beta).map(|(k, beta)| k * beta).sum::<f64>();
            way.kernel_moves(rows[at], kernel, &self.beta, &mut own[1..]);
            kernel.iter().zip(change.chunks_exact(count)).for_each(|(k, change)| {
                own.iter_mut().zip(change).for_each(|(sum, change)| *sum += k * change);
            });
            own.iter_mut().zip(&bias).for_each(|(sum, bias)| *sum += bias);
        })?;
        Ok(moved)
    }

    /// Returns dβ of every support vector, row-major support vectors × parameters, and db.
    fn solved(&self, way: &KernelDerivatives, control: &RunControl) -> Result<(Vec<f64>, Vec<f64>), Cancelled> {
        let (count, free) = (way.count(), self.free);
        let bounded = free..self.bounded;
        // The change of each free row's sum that free samples do not cause: a column for each
        // parameter.
        let mut right = vec![0.0; free * count];
        let mut own = vec![0.0; count];
        self.each(&self.rows[..free], way, control, |at, kernel| {
            own[0] = bounded.clone().map(|j| kernel[j] * self.beta[j]).sum();
            way.kernel_moves(self.rows[at], kernel, &self.beta, &mut own[1..]);
            own.iter().enumerate().for_each(|(p, sum)| right[p * free + at] = -sum);
        })?;
        let (mut change, mut bias) = (vec![0.0; self.rows.len() * count], vec![0.0; count]);
        for (p, bias) in bias.iter_mut().enumerate() {
            let follows = if p == 0 { 1.0 } else { 0.0 };
            bounded.clone().for_each(|j| change[j * count + p] = follows * self.beta[j]);
            if free > 0 {
                control.check(2 * (free * free) as u64)?;
                let column = &mut right[p * free..(p + 1) * free];
                *bias = self.factor.solve(column, -follows * self.beta[bounded.clone()].iter().sum::<f64>());
                column.iter().enumerate().for_each(|(j, value)| change[j * count + p] = *value);
            }
        }
        // The bias is minus the mean of the sums at the two ends of its interval.
        self.each(&self.ends, way, control, |at, kernel| {
            way.kernel_moves(self.ends[at], kernel, &self.beta, &mut own[1..]);
            own[0] = 0.0;
            for (j, k) in kernel.iter().enumerate() {
                own.iter_mut().zip(&change[j * count..]).for_each(|(sum, change)| *sum += k * change);
            }
            bias.iter_mut().zip(&own).for_each(|(bias, sum)| *bias -= sum / self.ends.len() as f64);
        })?;
        Ok((change, bias))
    }

    /// Calls `each` with each of `rows` and its exact kernel values with the support vectors.
    fn each(
        &self,
        rows: &[usize],
        way: &KernelDerivatives,
        control: &RunControl,
        each: impl FnMut(usize, &[f64]),
    ) -> Result<(), Cancelled> {
        let passes = (way.count() * rows.len().min(BLOCK) * self.rows.len()) as u64;
        exact_rows(self.gram, rows, &self.rows, passes, control, each)
    }
}

/// The rows at both ends of the interval of the bias.
fn ends(dual: &Dual, alpha: &[f64], gradient: &[f64], near: f64) -> Vec<usize> {
    let (mut low, mut high) = (None::<(f64, usize)>, None::<(f64, usize)>);
    for (k, &upper) in dual.upper().iter().enumerate().filter(|(_, upper)| **upper > 0.0) {
        let (s, at_zero) = (dual.sign()[k], alpha[k] <= near);
        let f = s * gradient[k];
        if at_zero && upper - alpha[k] <= near {
            continue;
        }
        if at_zero == (s > 0.0) {
            high = high.filter(|high| high.0 <= f).or(Some((f, dual.ids()[k])));
        } else {
            low = low.filter(|low| low.0 >= f).or(Some((f, dual.ids()[k])));
        }
    }
    low.into_iter().chain(high).map(|end| end.1).collect()
}

/// Calls `each` with the index of each of `rows` and its exact kernel values with `columns`.
/// `passes` is the number of further operations for a block of rows, for the cancellation check.
fn exact_rows(
    gram: &dyn Gram,
    rows: &[usize],
    columns: &[usize],
    passes: u64,
    control: &RunControl,
    mut each: impl FnMut(usize, &[f64]),
) -> Result<(), Cancelled> {
    let n = gram.len();
    let mut block = vec![0.0; rows.len().min(BLOCK) * n];
    let mut own = vec![0.0; columns.len()];
    for (b, rows) in rows.chunks(BLOCK).enumerate() {
        control.check(gram.value_operations() * (rows.len() * n) as u64 + passes)?;
        let block = &mut block[..rows.len() * n];
        gram.fill_exact(rows, 0..n, block);
        for (at, row) in block.chunks_exact(n).enumerate() {
            own.iter_mut().zip(columns).for_each(|(own, &j)| *own = row[j]);
            each(b * BLOCK + at, &own);
        }
    }
    Ok(())
}

/// The derivatives of kernel values by each parameter but C.
enum KernelDerivatives {
    Common,
    Features {
        /// The common factor of all squared differences.
        gamma: f64,
        /// Features of the support vectors, row-major; `all` has those of all samples.
        support: Vec<f64>,
        all: Vec<f64>,
        width: usize,
    },
}

impl KernelDerivatives {
    fn new(parameters: GradientParameters, support: &[usize]) -> Self {
        let GradientParameters::Features { samples, gamma } = parameters else { return Self::Common };
        let width = samples.features();
        let mut all = vec![0.0; samples.len() * width];
        (0..samples.len()).for_each(|i| samples.row(i).for_each(|l, value| all[i * width + l] = value));
        let support = support.iter().flat_map(|&j| &all[j * width..(j + 1) * width]).copied().collect();
        Self::Features { gamma, support, all, width }
    }

    /// The number of parameters, including C.
    fn count(&self) -> usize {
        match self {
            Self::Common => 2,
            Self::Features { width, .. } => 1 + width,
        }
    }

    /// `Σ_j Ḱ_ij β_j` for each parameter but C, from the kernel values of row `i` with the support
    /// vectors.
    fn kernel_moves(&self, i: usize, kernel: &[f64], beta: &[f64], out: &mut [f64]) {
        let terms = kernel.iter().zip(beta);
        match self {
            // −γ d² is the logarithm of the kernel value. A kernel value of 0 has the derivative 0.
            Self::Common => out[0] = terms.filter(|(k, _)| **k > 0.0).map(|(k, beta)| beta * k * k.ln()).sum(),
            Self::Features { gamma, support, all, width } => {
                out.fill(0.0);
                let own = &all[i * width..(i + 1) * width];
                for ((k, beta), other) in terms.zip(support.chunks_exact((*width).max(1))) {
                    let share = -gamma * k * beta;
                    for ((sum, x), z) in out.iter_mut().zip(own).zip(other) {
                        *sum += share * (x - z) * (x - z);
                    }
                }
            }
        }
    }
}
