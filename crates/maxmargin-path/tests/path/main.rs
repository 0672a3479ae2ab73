//! Tests of path following.

mod common;
mod hand;
mod limits;
mod scripts;
mod updatable;
