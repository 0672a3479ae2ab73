//! Vector code with run-time dispatch: the passes of solvers and the exponentials of kernels.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 0 of maxmargin, and its only crate with `unsafe`: every block is either a load or store
//! whose bounds were checked at the door, or a call of code for instructions that [`level`] found
//! on this machine.
#![allow(unsafe_code, reason = "vector loads and stores and run-time dispatch; all of it is in this crate")]
#![allow(clippy::wildcard_imports, reason = "intrinsics: a vector routine names dozens of them")]
#![allow(clippy::inline_always, reason = "plain loops must be compiled inside the function that enables the instructions")]
#![allow(clippy::approx_constant, reason = "high and low parts of ln 2, whose split is the point")]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_imports, dead_code, reason = "what chooses between the levels of x86, and serves them")
)]

pub mod bits;
pub mod bytes;
pub mod codes;
pub mod distances;
pub mod exp;
mod lengths;
pub mod level;
pub mod moves;
pub mod pages;
pub mod passes;
pub mod products;
pub mod row;
pub mod selftest;
pub mod sparse;
pub mod sums;
pub mod transpose;
