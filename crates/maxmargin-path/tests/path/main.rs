//! Tests of path following.

mod common;
mod exports;
mod hand;
mod limits;
mod scripts;
mod updatable;
