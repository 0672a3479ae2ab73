//! Text: decimal numbers, and quotations in messages.

pub mod number;
pub mod quote;
