//! Vector code with run-time dispatch: the passes of solvers and the exponentials of kernels.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 0 of maxmargin. It contains the numerical `unsafe` code: loads and stores whose bounds the
//! public functions have checked, and calls of code for instructions that [`level`] has found on
//! this machine. The modules, in reading order:
//!
//! - [`level`] selects the vector instructions at run time. All levels return the same bits.
//! - [`products`], [`bytes`], [`bits`] and [`categories`] are dot products of a group of rows with
//!   a panel of samples.
//! - [`exp`], [`power`], [`codes`] and [`distances`] turn dot products into kernel values.
//! - [`row`] is the form of kernel rows in memory; [`sums`] and [`transpose`] work on rows.
//! - [`passes`] and [`moves`] are the passes of SMO; [`sparse`] has products with compressed rows;
//!   [`clipped`] are the passes of Newton steps with bounds.
//! - [`pages`] is memory for kernel values, and [`selftest`] compares passes with plain code.
#![allow(unsafe_code, reason = "vector loads and stores and run-time dispatch")]
#![allow(clippy::wildcard_imports, reason = "intrinsics: a vector routine uses dozens of them")]
#![allow(clippy::inline_always, reason = "plain loops must be compiled inside the function that enables the instructions")]
#![allow(clippy::approx_constant, reason = "high and low parts of ln 2, whose split is the point")]
#![cfg_attr(not(target_arch = "x86_64"), allow(unused_imports, dead_code, reason = "dispatch and helpers for the levels of x86"))]

pub mod clipped;
mod dispatch;
mod dot;
pub mod pages;
mod rows;
pub mod selftest;
mod smo;
pub mod sparse;
mod values;

pub use dispatch::level;
pub use dot::{bits, bytes, categories, products};
pub use rows::{row, row_sums, sums, transpose};
pub use smo::{moves, passes};
pub use values::{codes, distances, exp, power};
