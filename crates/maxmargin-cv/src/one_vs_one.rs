//! One-versus-one: a problem for each pair of classes, all over the kernel of all samples.

use crate::watch::{CvWatch, Relay, Stage};
use maxmargin_core::{Certificate, Dual, DualError, Solution, Start, Stop, Watch};
use maxmargin_data::classes::pairs;
use maxmargin_data::{ClassLabels, Par};
use maxmargin_kernel::{Gram, RowWork, Rows, Subset};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Samples sorted by class: the samples of a pair of classes are then two contiguous ranges of every kernel row.
#[derive(Clone, Debug)]
pub struct ClassOrder {
    original: Vec<usize>,
    classes: Vec<Range<usize>>,
}

impl ClassOrder {
    /// Sorts by class, classes in the order of their labels; inside a class the order of the data is kept.
    pub fn new(labels: &ClassLabels) -> Self {
        let mut original: Vec<usize> = (0..labels.of().len()).collect();
        original.sort_by_key(|&i| labels.of()[i]);
        let ends = labels.sizes().iter().scan(0, |end, size| {
            *end += size;
            Some(*end - size..*end)
        });
        Self { original, classes: ends.collect() }
    }

    /// Position in the data of each sorted sample.
    pub fn original(&self) -> &[usize] {
        &self.original
    }

    /// One value per sample of the data, in sorted order.
    pub fn sort<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.original.iter().map(|&i| values[i].clone()).collect()
    }

    /// Sorted positions of the samples of a class.
    pub fn class(&self, class: usize) -> Range<usize> {
        self.classes[class].clone()
    }

    /// All pairs, in the order of [`pairs`].
    pub fn pairs(&self) -> Vec<ClassPair> {
        let pair = |(a, b)| ClassPair { classes: (a, b), ranges: [self.class(a), self.class(b)] };
        pairs(self.classes.len()).map(pair).collect()
    }
}

/// Two classes and where their samples are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassPair {
    /// The earlier class, which is the negative one, and the later, which is the positive one.
    pub classes: (usize, usize),
    ranges: [Range<usize>; 2],
}

impl ClassPair {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Never true: a class has at least one sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sorted positions of the samples, the negative class first.
    pub fn ids(&self) -> impl Iterator<Item = usize> + Clone {
        self.ranges[0].clone().chain(self.ranges[1].clone())
    }

    /// −1 for the samples of the earlier class, +1 for those of the later, in the order of [`ClassPair::ids`].
    pub fn signs(&self) -> Vec<f64> {
        let mut signs = vec![-1.0; self.len()];
        signs[self.ranges[0].len()..].fill(1.0);
        signs
    }
}

/// A pair's problem over kernel rows. Variable `k` is the sample at `pair.ids().nth(k)`, whatever its id in `rows` is.
pub struct PairProblem<'r> {
    /// The pair.
    pub pair: &'r ClassPair,
    /// Its place among all pairs.
    pub index: usize,
    /// Gram index in `rows` of each variable.
    pub ids: Vec<usize>,
    /// Rows that hold the pair's samples: those of all samples, or only its own.
    pub rows: &'r Rows<'r>,
    /// What the training may use.
    pub par: Par,
}

/// Calls `each(index, par)` for every pair of classes: side by side where there are enough of them for the threads, otherwise one after the other
/// on all threads. Results are in order.
///
/// # Errors
///
/// The first error of `each`.
pub fn map_pairs<T: Send, E: Send>(
    count: usize,
    par: Par,
    each: impl Fn(usize, Par) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    if count < 2 * par.threads() {
        return (0..count).map(|p| each(p, par)).collect();
    }
    par.map(count, |p| each(p, Par::Seq)).into_iter().collect()
}

/// Where the rows of a pair come from. Samples are in the order of a [`ClassOrder`].
#[derive(Clone, Copy)]
pub enum PairRows<'g> {
    /// From one store for all pairs: no kernel value is computed twice, but every row has the samples of all classes. For kernels whose
    /// values cost more than memory.
    Shared(&'g Rows<'g>),
    /// Every pair keeps rows of its own samples and computes what it needs of them, all pairs that run at once within `budget` bytes. Only values of
    /// two samples of one class can be computed more than once.
    Own {
        /// The kernel of all samples.
        gram: &'g dyn Gram,
        /// Bytes of kernel rows.
        budget: u64,
        /// For blocks of rows.
        par: Par,
    },
}

impl PairRows<'_> {
    /// The kernel of all samples.
    pub fn gram(&self) -> &dyn Gram {
        match self {
            PairRows::Shared(rows) => rows.gram(),
            PairRows::Own { gram, .. } => *gram,
        }
    }
}

/// Trains every pair over the kernel of `rows`; `train` may use any solver.
///
/// # Errors
///
/// The first error of `train`.
pub fn train_pairs<T: Send, E: Send>(
    order: &ClassOrder,
    rows: PairRows,
    par: Par,
    watch: &dyn CvWatch,
    train: impl Fn(PairProblem, &mut dyn Watch) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let done = AtomicUsize::new(0);
    let pairs = order.pairs();
    map_pairs(pairs.len(), par, |index, par| {
        let pair = &pairs[index];
        let mut relay = Relay { watch, stage: Stage::Pair(index), done: &done, folds: pairs.len() };
        let trained = match rows {
            PairRows::Shared(rows) => train(PairProblem { pair, index, ids: pair.ids().collect(), rows, par }, &mut relay),
            PairRows::Own { gram, budget, par: blocks } => {
                let part = Subset::new(gram, pair.ids().collect());
                let rows = Rows::new(&part, budget / blocks.threads() as u64, blocks);
                train(PairProblem { pair, index, ids: (0..part.len()).collect(), rows: &rows, par }, &mut relay)
            }
        };
        done.fetch_add(1, Ordering::Relaxed);
        trained
    })
}

/// The machine of one pair.
#[derive(Clone, Debug)]
pub struct PairSolution {
    /// Its classes and samples.
    pub pair: ClassPair,
    /// Its problem; ids are of no use to others, `sign` and `upper` are in the order of [`ClassPair::ids`].
    pub dual: Dual,
    /// Its solution, without the gradient.
    pub solution: Solution,
    /// Exact judgement of the solution.
    pub certificate: Certificate,
    /// What its own store of rows did, where it had one.
    pub kernel: RowWork,
}

impl PairSolution {
    /// (sorted position, `s α`) of the support vectors.
    pub fn terms(&self) -> Vec<(usize, f64)> {
        let all = self.pair.ids().zip(self.solution.alpha.iter().zip(self.dual.sign()));
        all.filter(|(_, (a, _))| **a != 0.0).map(|(id, (a, s))| (id, s * a)).collect()
    }

    /// (row of the data, `s α`) of the support vectors, rows ascending.
    pub fn terms_of_data(&self, order: &ClassOrder) -> Vec<(usize, f64)> {
        let mut terms = self.terms();
        terms.iter_mut().for_each(|term| term.0 = order.original()[term.0]);
        terms.sort_by_key(|t| t.0);
        terms
    }

    /// Support vectors at their bound.
    pub fn bounded(&self) -> usize {
        self.solution.alpha.iter().zip(self.dual.upper()).filter(|(a, u)| **a > 0.0 && a >= u).count()
    }
}

/// Trains the C-SVC of every pair from zero by `solve(problem, rows, start, threads, stop, watch)`, which any solver with a certificate can be: `upper` is
/// the `C` of each sample in sorted order; `stop.max_time` is for all pairs together.
///
/// # Errors
///
/// When a pair is no problem (a `C` that is not possible, or a class whose `C` is 0), and the first error of `solve`.
///
/// # Panics
///
/// When there are not as many `C` as samples, or not as many samples as in the kernel.
pub fn train_c_svc<E: From<DualError> + Send>(
    order: &ClassOrder,
    upper: &[f64],
    rows: PairRows,
    stop: &Stop,
    par: Par,
    watch: &dyn CvWatch,
    solve: impl Fn(&Dual, &Rows, Start, Par, &Stop, &mut dyn Watch) -> Result<(Solution, Certificate), E> + Sync,
) -> Result<Vec<PairSolution>, E> {
    let begun = Instant::now();
    train_pairs(order, rows, par, watch, |problem, watch| {
        let upper = problem.pair.ids().map(|id| upper[id]).collect();
        let dual = Dual::c_svc(problem.ids, problem.pair.signs(), upper)?;
        let start = Start::zero(&dual).expect("0 is feasible for a C-SVC");
        let left = stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
        let (mut solution, certificate) =
            solve(&dual, problem.rows, start, problem.par, &Stop { max_time: left, ..*stop }, watch)?;
        solution.gradient = Vec::new();
        let kernel = match rows {
            PairRows::Shared(_) => RowWork::default(),
            PairRows::Own { .. } => problem.rows.work(),
        };
        Ok(PairSolution { pair: problem.pair.clone(), dual, solution, certificate, kernel })
    })
}
