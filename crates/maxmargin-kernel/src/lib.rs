//! Kernels: functions of two rows, Gram matrices, and a store of rows.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 1 of maxmargin, and the only crate that evaluates kernels. The main types, in reading
//! order:
//!
//! - [`Kernel`] is a kernel function with its parameters, [`KernelKind`] the table of their names,
//!   and [`Gamma`] a rule for the parameter gamma. [`UserKernel`] is a function of the caller.
//! - [`Gram`] is a matrix `K_ij = k(x_i, x_j)` that is computed on demand, in blocks: in `f32` for
//!   solvers, in `f64` for certificates. [`KernelGram`] is the matrix of samples and a kernel;
//!   internally, a store holds the samples as bits, bytes, dense panels or inverted lists.
//!   [`FnGram`] is the matrix of a function of two numbers. [`Subset`] and [`OffsetGram`] are views
//!   of a matrix.
//! - [`Rows`] caches rows of a Gram matrix within a memory budget. Solvers read [`Entries`] of
//!   these rows. [`DistinctRows`] are the rows of a matrix without copies of equal samples.
//! - [`Neighbours`] are the values of a matrix that is mostly zero.
//! - [`GaussianLattice`] sums Gaussians of few features without their values.
//! - [`Matrix`] holds the features of a linear problem, whose solvers need no kernel values.
//! - [`Space`] is either of both, and [`Exact`] its inner products in `f64`.
//! - [`apply_exact`] multiplies with `K` in `f64` without storing it, [`apply`] in `f32`.
//! - [`Predictor`] predicts: support vectors and coefficients that are prepared once.
//! - [`diagnose`] detects kernels that do not suit the data, and [`fallbacks`] lists wrong results
//!   of vector instructions, for which slower ones were used.

mod apply;
mod checks;
pub mod features;
mod function;
mod gram;
mod kernel_gram;
mod lattice;
mod neighbours;
mod predict;
mod rows;
mod space;
mod store;

pub use apply::{MemberSums, apply, apply_exact, products, submatrix};
pub use checks::{Backend, Diagnosis, Fallback, diagnose, fallbacks};
pub use features::{Matrix, MemoryBudget, Reservation};
pub use function::{
    Fault, Gamma, Kernel, KernelError, KernelKind, LARGEST_SQUARE, UserKernel, gamma_auto, gamma_mean, gamma_scale,
};
pub use gram::{Distinct, FnGram, Gram, KeptValues, Mark, OffsetGram, PROVABLE, Subset, Tile, part_of};
pub use kernel_gram::KernelGram;
pub use lattice::GaussianLattice;
pub use maxmargin_simd::level;
pub use maxmargin_simd::pages::Pages;
pub use maxmargin_simd::row::{CodeTable, RowSlice};
pub use maxmargin_simd::selftest;
pub use neighbours::{NeighbourRow, Neighbours};
pub use predict::{Expansion, Labels, Predictor, decision_table, decision_values, linear_values};
pub use rows::{DistinctRows, Entries, PartPages, RowRef, RowReservation, RowWork, Rows};
pub use space::{Exact, Space};
