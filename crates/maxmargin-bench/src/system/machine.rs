//! Threads and memory of this machine.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The budget where the system does not say what is free.
const FALLBACK: u64 = 4 << 30;

/// All processors.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// 70 % of the memory that is free, for kernel values.
pub(crate) fn budget() -> u64 {
    let system = System::new_with_specifics(RefreshKind::nothing().with_memory(MemoryRefreshKind::everything()));
    system.map_or(FALLBACK, |system| system.available_memory() / 10 * 7)
}

/// The most memory that this process ever held, where the system says.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let rest = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Seconds that the threads of this process have been running on a processor, where the system
/// says. On a machine that others use as well it is the better clock for one thread.
pub(crate) fn cpu_seconds() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let of = |task: std::path::PathBuf| -> Option<u64> {
        let text = std::fs::read_to_string(task.join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let nanoseconds: Option<u64> = tasks.map(|task| of(task.ok()?.path())).sum();
    nanoseconds.map(|sum| sum as f64 * 1e-9)
}
