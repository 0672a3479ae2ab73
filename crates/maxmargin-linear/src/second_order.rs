//! Newton steps: the inner problem, its line search and its linear systems.

pub(crate) mod conjugate;
pub(crate) mod newton;
pub(crate) mod orthogonal;
pub(crate) mod products;
pub(crate) mod search;
pub(crate) mod shared;
pub(crate) mod stiff;
pub(crate) mod system;
pub(crate) mod variables;
