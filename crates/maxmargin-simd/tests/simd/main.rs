//! Every pass at every level of this machine: the results of a plain loop, with the same bits.

mod bits;
mod bytes;
mod categories;
mod clipped;
mod distances;
mod exp;
mod lengths;
mod passes;
mod power;
mod products;
mod row_sums;
mod sliced;
mod transpose;

use maxmargin_simd::level::{Level, levels, restrict};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// The level belongs to the process, so only one test at a time may change it.
static LEVEL: Mutex<()> = Mutex::new(());

/// Calls `check` at each level of this machine.
fn at_each_level(check: impl Fn(Level)) {
    let _guard = LEVEL.lock().unwrap_or_else(PoisonError::into_inner);
    for level in levels() {
        assert_eq!(restrict(level), level, "a level of this machine can be chosen");
        check(level);
    }
}

/// The results of `pass` at each level of this machine, the portable one first.
fn answers<T>(pass: impl Fn() -> T) -> Vec<T> {
    let found = RefCell::new(Vec::new());
    at_each_level(|_| found.borrow_mut().push(pass()));
    found.into_inner()
}

/// A stream of numbers in 0…1 from a seed.
fn stream(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn levels_begin_with_the_portable_one_and_ascend() {
    let found: Vec<Level> = levels().collect();
    assert_eq!(found[0], Level::Portable);
    assert!(found.is_sorted() && found.last() == Some(&maxmargin_simd::level::detect()), "{found:?}");
}
