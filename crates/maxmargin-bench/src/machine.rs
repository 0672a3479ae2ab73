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
