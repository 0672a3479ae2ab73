//! Cross-validation, updates and verification.

mod along_c;
mod common;
mod crafted;
mod engine;
mod equal;
mod gradient;
mod grid;
mod limits;
mod linear;
mod multiclass;
mod numbers;
mod plans;
mod studies;
mod update;
mod verify;
