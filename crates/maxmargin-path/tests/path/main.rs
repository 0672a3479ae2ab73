//! Tests of path following.

mod common;
mod hand;
mod scripts;
mod updatable;
