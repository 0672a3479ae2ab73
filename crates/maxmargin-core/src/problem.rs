//! The problem: formulations, their duals, feasible starts and solutions.

pub(crate) mod crammer_singer;
pub(crate) mod dual;
pub(crate) mod formulation;
pub(crate) mod formulation_kind;
pub mod levels;
pub(crate) mod loss;
pub(crate) mod machine;
pub(crate) mod margin;
pub(crate) mod solution;
pub mod start;
pub(crate) mod twins;
