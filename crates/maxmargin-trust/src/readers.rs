//! Readers on generated input: their targets, the input, and the memory they take.

pub mod fuzz;
pub mod make;
pub mod memory;
pub mod mutate;
pub mod targets;
