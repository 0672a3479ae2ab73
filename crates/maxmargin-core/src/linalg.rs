//! Dense linear algebra: vector loops, the Cholesky factor and its updates.

pub(crate) mod cholesky;
pub mod dense;
pub(crate) mod factor;
