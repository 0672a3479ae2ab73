//! Gram matrices: the interface that solvers and certificates use, views of a matrix, equal
//! samples, and proofs of semidefiniteness.

mod definite;
mod distinct;
mod exact_values;
mod fn_gram;
mod kept;
mod matrix;
mod offset;
mod reference;
mod subset;

pub use definite::PROVABLE;
pub use distinct::{Distinct, Mark};
pub use fn_gram::FnGram;
pub use kept::KeptValues;
pub use matrix::{Gram, Tile};
pub use offset::OffsetGram;
pub use subset::{Subset, part_of};

pub(crate) use exact_values::{ComputeExact, ExactValues};
pub(crate) use matrix::indefiniteness;
pub(crate) use reference::GramRef;
