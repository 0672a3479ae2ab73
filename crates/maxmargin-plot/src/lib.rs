//! Pictures in SVG.
#![doc = include_str!("../README.md")]
//! # Reading order
//!
//! [`Svg`] is a picture that is being drawn: lines, bars, points and words, on a card that is
//! light or dark as the reader's screen is. [`Axis`] places numbers and chooses round ticks.
//! [`chart()`] draws [`Panel`]s of lines with common axes, [`BarChart`] blocks of bars, [`HeatMap`]
//! squares coloured by a score. [`Svg::document`] returns the document: the crate opens no file.

mod axis;
mod bars;
mod chart;
mod heat;
mod svg;
mod text;

pub use axis::Axis;
pub use bars::{Bar, BarBlock, BarChart, BarLine};
pub use chart::{AxisStyle, ChartPoint, ChartStyle, Line, Panel, chart};
pub use heat::{CellMark, HeatCell, HeatMap};
pub use svg::{Anchor, Point, Svg};
pub use text::{capital, count, escaped, width, wrapped};
