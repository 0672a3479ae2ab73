//! The memory of the machine, and the memory used.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Assumed free memory where the system does not report it.
const UNKNOWN: u64 = 1 << 30;

/// Returns the total and the free memory. Inside a container its limit counts, not the machine's
/// memory.
fn query() -> Option<[u64; 2]> {
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::everything());
    let system = System::new_with_specifics(wanted).ok()?;
    let limits = system.cgroup_limits().map_or([u64::MAX; 2], |limits| [limits.total_memory, limits.free_memory]);
    Some([system.total_memory().min(limits[0]), system.available_memory().min(limits[1])])
}

/// Returns the total memory, or 0 where the system does not report it.
pub(crate) fn whole() -> u64 {
    query().map_or(0, |[whole, _]| whole)
}

/// Returns the free memory.
pub(crate) fn free() -> u64 {
    query().map_or(UNKNOWN, |[_, free]| free)
}

/// Returns the default budget for kernel values: 70 % of the free memory. The rest is for data,
/// solvers and other processes.
pub(crate) fn default_budget() -> u64 {
    free() / 10 * 7
}

/// Returns the peak memory of this process in bytes, or 0 where the system does not report it.
pub(crate) fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
