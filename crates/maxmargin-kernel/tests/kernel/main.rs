//! Gram matrices: values, blocks, caches.

mod common;
mod gram;
mod levels;
mod neighbours;
mod predict;
mod products;
mod rows;
mod user;
