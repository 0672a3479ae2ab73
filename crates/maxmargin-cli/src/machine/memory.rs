//! How much memory there is, and how much was used.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Where the system does not say what is free.
const UNKNOWN: u64 = 1 << 30;

/// All memory and what is free of it. Inside a container its limit counts, not the machine's
/// memory.
fn look() -> Option<[u64; 2]> {
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::everything());
    let system = System::new_with_specifics(wanted).ok()?;
    let limits = system.cgroup_limits().map_or([u64::MAX; 2], |limits| [limits.total_memory, limits.free_memory]);
    Some([system.total_memory().min(limits[0]), system.available_memory().min(limits[1])])
}

/// All memory; 0 where the system does not say.
pub(crate) fn whole() -> u64 {
    look().map_or(0, |[whole, _]| whole)
}

/// The memory that is free.
pub(crate) fn free() -> u64 {
    look().map_or(UNKNOWN, |[_, free]| free)
}

/// Kernel values may take 70 % of the memory that is free: the rest is for data, solvers and
/// everybody else.
pub(crate) fn default_budget() -> u64 {
    free() / 10 * 7
}

/// The most memory this process ever held, in bytes; 0 where the system does not say.
pub(crate) fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
