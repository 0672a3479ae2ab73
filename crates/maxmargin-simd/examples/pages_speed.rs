//! Seconds a gigabyte of the first touch of memory, on pages of the usual size and on huge ones.
//!
//! `cargo run --release -p maxmargin-simd --example pages_speed [MEGABYTES]`
//!
//! The mappings are made five times in turns, after waits of five seconds: a virtual machine that
//! returns free memory to its host does so after two.
#![allow(clippy::print_stdout, reason = "an example")]

use memmap2::MmapMut;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes between two touches: the smallest page.
const PAGE: usize = 4096;

/// Seconds of the touch of each page of a new mapping.
fn touched(bytes: usize, huge: bool) -> f64 {
    let mut map = MmapMut::map_anon(bytes).expect("memory");
    #[cfg(target_os = "linux")]
    if huge {
        map.advise(memmap2::Advice::HugePage).expect("huge pages");
    }
    let start = Instant::now();
    for at in (0..bytes).step_by(PAGE) {
        map[at] = 1;
    }
    black_box(&map);
    start.elapsed().as_secs_f64()
}

fn main() {
    let megabytes = std::env::args().nth(1).map_or(600, |text| text.parse::<usize>().expect("a number of megabytes"));
    let gigabytes = megabytes as f64 / 1024.0;
    for _ in 0..5 {
        for (name, huge) in [("usual pages", false), ("huge pages", true)] {
            std::thread::sleep(Duration::from_secs(5));
            println!("{name:>12}: {:.2} s/GB", touched(megabytes << 20, huge) / gigabytes);
        }
    }
}
