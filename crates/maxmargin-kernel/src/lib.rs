//! Kernels: functions of two rows, Gram matrices, and a store of rows.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 1 of maxmargin. Nobody else evaluates a kernel. Solvers meet a kernel at row granularity:
//! [`Rows`] hands out rows of `K` in `f32`, [`Gram::fill_exact`] recomputes entries in `f64` for
//! certificates and refinement, [`apply_exact`] multiplies with `K` in `f64` without storing it,
//! and [`decision_values`] predicts.

pub mod apply;
mod bits;
mod block;
mod blocks;
mod bytes;
pub mod cross;
mod definite;
mod dense;
pub mod diagnose;
mod distances;
mod distinct;
mod entries;
mod entry;
mod fallback;
pub mod features;
mod fn_gram;
mod gamma;
pub mod gram;
mod integers;
pub mod kernel;
mod kernel_gram;
mod late;
mod ledger;
mod lru;
mod offset;
mod panel;
mod precomputed;
mod probes;
pub mod rows;
mod shares;
mod space;
mod sparse;
mod store;
mod subset;
mod survey;
mod user;
mod value_errors;

pub use apply::{apply, apply_asking, apply_exact, apply_exact_asking, products, submatrix};
pub use cross::{Expansion, decision_table, decision_values};
pub use definite::PROVABLE;
pub use diagnose::{Diagnosis, diagnose};
pub use distinct::{Distinct, Mark, Merged};
pub use entries::Entries;
pub use fallback::{Fallback, Way, fallbacks};
pub use features::Matrix;
pub use fn_gram::FnGram;
pub use gamma::{Gamma, gamma_auto, gamma_scale};
pub use gram::{Gram, Tile, part_of};
pub use kernel::{Kernel, KernelError};
pub use kernel_gram::KernelGram;
pub use ledger::{Holding, MemoryBudget};
pub use maxmargin_simd::level;
pub use maxmargin_simd::pages::Pages;
pub use maxmargin_simd::row::{Row, Table};
pub use maxmargin_simd::selftest;
pub use offset::OffsetGram;
pub use probes::Fault;
pub use rows::{PartPages, Reservation, RowRef, RowWork, Rows};
pub use space::{Exact, Space};
pub use subset::Subset;
pub use user::UserKernel;
