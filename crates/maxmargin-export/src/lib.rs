//! Trained models for other runtimes.
//!
#![doc = include_str!("../README.md")]
//!
//! In reading order:
//! - [`Program`] describes the predictions of a model: [`program`] has its parts.
//! - [`fn@graph`] prints it as an ONNX graph ([`onnx`]), [`c_source`] as C, [`fn@json`] as JSON.
//! - [`fn@check`] runs a graph on rows and compares it with its model; [`check_single`] bounds the
//!   rounding of single precision ([`bound`]).
//!
//! Layer 4 of maxmargin.

pub mod bound;
mod c;
mod check;
mod error;
mod json;
pub mod onnx;
pub mod program;

pub use c::{CSource, c_source};
pub use check::{Checked, SingleChecked, check, check_single};
pub use error::ExportError;
pub use json::json;
pub use onnx::{Graph, Precision, graph};
pub use program::{Labels, Program};
