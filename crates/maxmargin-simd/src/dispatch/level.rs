//! Detection and selection of vector instructions.

use std::sync::atomic::{AtomicU8, Ordering};

/// A set of vector instructions for which this crate has code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust.
    Portable = 1,
    /// AVX2 with FMA.
    Avx2 = 2,
    /// AVX-512 F, BW, DQ and VL (with AVX2 and FMA).
    Avx512 = 3,
}

impl Level {
    /// The readable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "AVX2",
            Self::Avx512 => "AVX-512",
        }
    }
}

/// The selected level; 0 before the first selection.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// The level in use: the best one of the machine, unless [`restrict`] lowered it.
#[inline]
pub fn level() -> Level {
    match CHOSEN.load(Ordering::Relaxed) {
        1 => Level::Portable,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => restrict(Level::Avx512),
    }
}

/// The best level of this machine.
pub fn detect() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma");
        let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        if avx2 && avx512 {
            return Level::Avx512;
        }
        if avx2 {
            return Level::Avx2;
        }
    }
    Level::Portable
}

/// Every level of this machine, lowest first, for tests of all levels.
pub fn levels() -> impl Iterator<Item = Level> {
    let best = detect();
    [Level::Portable, Level::Avx2, Level::Avx512].into_iter().filter(move |&level| level <= best)
}

/// Uses at most `highest` in the whole process from now on, and returns the selected level. For
/// tests and measurements.
pub fn restrict(highest: Level) -> Level {
    let chosen = detect().min(highest);
    CHOSEN.store(chosen as u8, Ordering::Relaxed);
    chosen
}
