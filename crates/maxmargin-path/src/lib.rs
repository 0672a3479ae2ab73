//! Exact path following: samples come and go, `C` and weights move, the solution stays exact.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 3 of maxmargin. [`Path`] is the multiple incremental and decremental algorithm (MID) of
//! Karasuyama and Takeuchi (2009), with the single one (SID, Cauwenberghs and Poggio 2000) as a
//! [`Mode`]; [`polish`] is the active-set finish that every call ends with, offered for the
//! solutions of other solvers. [`Updatable`] owns its samples and kernel. The mathematics is in
//! `docs/math/path.md`.

mod begin;
mod columns;
mod descend;
mod empty;
mod exact;
mod follow;
mod margin;
mod model;
mod path;
mod polish;
mod pool;
mod state;
mod updatable;
mod update;

pub use exact::{Polished, polish};
pub use path::Path;
pub use updatable::{SavedUpdatable, Updatable, UpdatableError};
pub use update::{Added, Config, Mode, PathError, Saved, Update};
