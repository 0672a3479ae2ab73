//! The properties of the machine that matter here.

use crate::console::format;
use crate::machine::memory;
use crate::machine::threads;
use crate::machine::threads::Threads;
use crate::machine::version::level_names;
use maxmargin::kernel::level::level;
use serde::Serialize;
use std::env::consts::{ARCH, OS};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

/// The setting of huge pages in Linux.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// The text for an unknown property.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Serialize)]
pub(super) struct Machine {
    system: String,
    processor: String,
    /// The SIMD level in use.
    vectors: &'static str,
    /// All SIMD levels of the processor.
    levels: Vec<&'static str>,
    /// Physical cores, if known.
    cores: Option<usize>,
    threads: usize,
    memory_bytes: u64,
    free_bytes: u64,
    budget_bytes: u64,
    /// `always`, `madvise`, `never` or `unknown`.
    huge_pages: String,
}

impl Machine {
    pub(super) fn inspect(threads: &Threads) -> Self {
        let wanted = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
        let brand = |system: System| system.cpus().first().map(|cpu| cpu.brand().trim().to_owned());
        let processor = System::new_with_specifics(wanted).ok().and_then(brand).filter(|brand| !brand.is_empty());
        let pages = std::fs::read_to_string(HUGE_PAGES).unwrap_or_default();
        Self {
            system: format!("{ARCH}-{OS}"),
            processor: processor.unwrap_or_else(|| UNKNOWN.to_owned()),
            vectors: level().name(),
            levels: level_names(),
            cores: System::physical_core_count().ok(),
            threads: threads.count(),
            memory_bytes: memory::whole(),
            free_bytes: memory::free(),
            budget_bytes: memory::default_budget(),
            huge_pages: chosen(&pages).unwrap_or(UNKNOWN).to_owned(),
        }
    }

    pub(super) fn text(&self) -> String {
        let cores = self.cores.map_or_else(String::new, |count| format!("{count} core{}, ", if count == 1 { "" } else { "s" }));
        let [whole, free, budget] = [self.memory_bytes, self.free_bytes, self.budget_bytes].map(format::bytes);
        let pages = match self.huge_pages.as_str() {
            "always" => "the system uses them for kernel values",
            "madvise" | "never" => "not used",
            _ => "unknown to the system",
        };
        [
            format!(" system         {}", self.system),
            format!(" processor      {}", self.processor),
            format!(" vectors        {} in use, of {}", self.vectors, self.levels.join(", ")),
            format!(" cores          {cores}{}", threads::text(self.threads)),
            format!(" memory         {whole}, {free} free; default kernel budget {budget}"),
            format!(" huge pages     {}: {pages}", self.huge_pages),
        ]
        .join("\n")
    }
}

/// Returns the word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never\n"), Some("madvise"));
        assert_eq!(chosen(""), None);
    }
}
