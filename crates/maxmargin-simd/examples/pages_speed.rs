//! Seconds a gigabyte of the first touch of memory, on pages of the usual size and on huge ones.
//!
//! `cargo run --release -p maxmargin-simd --example pages_speed [MEGABYTES]`
//!
//! Five times in turns: a mapping after a wait of five seconds, and another one at once, for which
//! the memory of the first was freed just before. A virtual machine that returns free memory to its
//! host does so after two seconds.
#![allow(clippy::print_stdout, reason = "an example")]

use memmap2::MmapMut;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes between two touches: the smallest page.
const PAGE: usize = 4096;

/// A request for some kind of pages.
type Advise = fn(&MmapMut);

fn usual(_: &MmapMut) {}

fn huge(map: &MmapMut) {
    #[cfg(target_os = "linux")]
    map.advise(memmap2::Advice::HugePage).expect("a system with huge pages");
    #[cfg(not(target_os = "linux"))]
    let _ = map;
}

/// Seconds of the touch of each page of a new mapping.
fn touched(bytes: usize, advise: Advise) -> f64 {
    let mut map = MmapMut::map_anon(bytes).expect("memory");
    advise(&map);
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
    let pages: [(&str, Advise); 2] = [("usual pages", usual), ("huge pages", huge)];
    for _ in 0..5 {
        for (name, advise) in pages {
            std::thread::sleep(Duration::from_secs(5));
            let [first, again] = [(); 2].map(|()| touched(megabytes << 20, advise) / gigabytes);
            println!("{name:>12}: {first:.2} s/GB, at once again {again:.2} s/GB");
        }
    }
}
