//! Exact path following: samples are taken into a trained classifier and given up, `C` and weights move, and the solution
//! stays exact all the way.
//!
//! Layer 3 of maxmargin. [`Path`] is the multiple incremental and decremental algorithm (MID) of Karasuyama and Takeuchi
//! (2009), with the single one (SID, Cauwenberghs and Poggio 2000) as a [`Mode`]; [`polish`] is the active-set finish that every call ends with,
//! offered for the solutions of other solvers. [`Updatable`] owns its samples and kernel. The mathematics is in `docs/math/path.md`.
//!
//! ```
//! use maxmargin_kernel::FnGram;
//! use maxmargin_path::{Added, Config, Path};
//!
//! // Points 0, 1, 3 and 0.5 on a line, linear kernel.
//! let points = [0.0, 1.0, 3.0, 0.5];
//! let gram = FnGram::new(4, move |i, j| points[i] * points[j]);
//! let mut path = Path::new(&gram, &[-1.0, 1.0, 1.0, -1.0], Config::default())?;
//! path.change(&[Added { id: 0, upper: 100.0 }, Added { id: 1, upper: 100.0 }], &[])?;
//! let update = path.change(&[Added { id: 3, upper: 100.0 }], &[0])?;
//! assert!(update.kkt <= 1e-8);
//! assert!((path.bias() + 3.0).abs() < 1e-12);
//! # Ok::<(), maxmargin_path::PathError>(())
//! ```

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
mod state;
mod updatable;
mod update;

pub use exact::{Polished, polish};
pub use path::{Path, Saved};
pub use updatable::{SavedUpdatable, Updatable, UpdatableError};
pub use update::{Added, Config, Mode, PathError, Update};
