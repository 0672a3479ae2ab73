//! Problems of seeds that are worked out by hand: a kernel matrix, labels and a solution.

use super::Seeding;
use super::problem::{FoldProblem, Trained, without};
use super::row_boxes::RowBoxes;
use super::rows::SeedRows;
use super::start_draft::StartDraft;
use maxmargin_core::Dual;
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{FnGram, Rows};

/// A problem of `N` samples with one C, and the solution from which a seed starts.
pub(super) struct Worked<const N: usize> {
    /// The kernel matrix. Its values are exact in `f32`.
    pub(super) kernel: [[f64; N]; N],
    pub(super) labels: [f64; N],
    pub(super) c: f64,
    /// The solution on the samples that are not in `before`.
    pub(super) alpha: [f64; N],
    /// Its bias.
    pub(super) bias: f64,
    /// The samples that its training set lacks, ascending.
    pub(super) before: &'static [usize],
    /// The samples that the training set of the fold lacks, ascending.
    pub(super) hidden: &'static [usize],
}

impl<const N: usize> Worked<N> {
    /// Calls `work` with the solution and with the problem that needs a start.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Trained, FoldProblem) -> T) -> T {
        let kernel = self.kernel;
        for (i, row) in kernel.iter().enumerate() {
            assert!((0..N).all(|j| row[j] == kernel[j][i] && f64::from(row[j] as f32) == row[j]), "row {i}");
        }
        let gram = FnGram::new(N, move |i, j| kernel[i][j]);
        let rows = Rows::new(&gram, 1 << 20, Par::Seq);
        let dual = |ids: Vec<usize>| {
            let labels = ids.iter().map(|&i| self.labels[i]).collect();
            let upper = vec![self.c; ids.len()];
            Dual::c_svc(ids, labels, upper).expect("two classes")
        };
        let (all, own) = (dual((0..N).collect()), dual(without(0..N, self.hidden).collect()));
        let beta: Vec<f64> = self.signed(&self.alpha);
        assert!(beta.iter().sum::<f64>().abs() < 1e-15 * N as f64, "the solution is feasible");
        assert!(self.before.iter().all(|&i| beta[i] == 0.0), "no alpha outside its training set");
        let sums = (0..N).map(|i| self.sum(&beta, i)).collect();
        let (path, free_sums, dual) = (None, None, all.clone());
        let rows = SeedRows::of(&rows);
        let from = Trained { dual, beta, sums, rows: Some(rows), bias: self.bias, hidden: self.before, free_sums, path };
        let (boxes, control) = (RowBoxes::new(&all, N), RunControl::unlimited());
        let (tol, memory) = (1e-3, 1 << 20);
        work(
            &from,
            FoldProblem { dual: &own, hidden: self.hidden, boxes: &boxes, rows, tol, control: &control, memory, bounded: None },
        )
    }

    /// Asserts that `seeding` starts at `alpha`, to rounding, with the kernel sums of that point.
    pub(super) fn assert_start(&self, seeding: Seeding, alpha: [f64; N]) {
        self.with(|from, fold| {
            let draft = seeding.draft(from, fold).expect("no limit").expect("a start");
            self.assert_draft(&draft, alpha);
        });
    }

    /// Asserts that `draft` is at `alpha`, to rounding, with the kernel sums of that point.
    pub(super) fn assert_draft(&self, draft: &StartDraft, alpha: [f64; N]) {
        self.assert_point(draft.beta(), alpha);
        for i in 0..N {
            let (sum, expected) = (draft.sum(i), self.sum(&self.signed(&alpha), i));
            assert!((sum - expected).abs() < 1e-12, "sum {i}: {sum} is not {expected}");
        }
    }

    /// Asserts that `beta` is `y α`, to rounding.
    pub(super) fn assert_point(&self, beta: &[f64], alpha: [f64; N]) {
        let expected = self.signed(&alpha);
        let close = beta.iter().zip(&expected).all(|(b, e)| (b - e).abs() < 1e-12);
        assert!(close && beta.len() == N, "y α is {beta:?}, not {expected:?}");
    }

    fn signed(&self, alpha: &[f64; N]) -> Vec<f64> {
        alpha.iter().zip(&self.labels).map(|(a, y)| a * y).collect()
    }

    fn sum(&self, beta: &[f64], i: usize) -> f64 {
        beta.iter().zip(&self.kernel[i]).map(|(b, k)| b * k).sum()
    }
}
