//! Exact path following: samples are added and removed, `C` and weights move, and the solution
//! stays exact.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 3 of maxmargin. The main types, in reading order:
//!
//! - [`Path`] is a trained classifier over rows of a Gram matrix. It follows the multiple
//!   incremental and decremental algorithm (MID) of Karasuyama and Takeuchi (2009), with the single
//!   one (SID, Cauwenberghs and Poggio 2000) as a [`Mode`]. [`PathConfig`] has its options.
//! - [`Update`] is the report of a call, [`PathError`] its refusal. [`Added`] is a sample to add,
//!   and [`Saved`] a solution on disk.
//! - [`Updatable`] is a path that owns its samples and kernel, and [`SavedUpdatable`] its form on
//!   disk.
//! - [`polish()`] is the active-set finish that ends every call, for the solutions of other
//!   solvers; it returns [`Polished`].
//!
//! `walk` follows a path, `finish` refines its end, `model` checks requests and carries them out.
//! The mathematics is in `docs/math/path.md`.
//!
//! Types of `maxmargin-core` in public signatures are exported here: the crate needs no other than
//! `maxmargin-data` and `maxmargin-kernel` beside it.

mod finish;
mod model;
mod path;
mod pool;
mod updatable;
mod update;
mod walk;

pub use finish::exact::{Polished, polish};
pub use maxmargin_core::{Certificate, Dual, DualError, EqualityConstraint, GapScreening, Solution, Status, Work, certify};
pub use maxmargin_data::SamplesError;
pub use maxmargin_kernel::{Gram, Kernel, KernelError};
pub use path::Path;
pub use updatable::{SavedUpdatable, Updatable, UpdatableError};
pub use update::{Added, Mode, PathConfig, PathError, Saved, Update};
