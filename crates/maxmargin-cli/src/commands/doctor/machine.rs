//! What the machine has that matters here.

use crate::console::format;
use crate::machine::memory;
use crate::machine::threads;
use crate::machine::threads::Threads;
use crate::machine::version::level_names;
use maxmargin::kernel::level::level;
use serde::Serialize;
use std::env::consts::{ARCH, OS};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

/// Where the kernel of Linux says when it gives huge pages.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Where the system does not say.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Serialize)]
pub(super) struct Machine {
    system: String,
    processor: String,
    /// The level of vector instructions in use.
    vectors: &'static str,
    /// All levels that the processor has.
    levels: Vec<&'static str>,
    /// Cores, where the system says; hardware threads are more.
    cores: Option<usize>,
    threads: usize,
    memory_bytes: u64,
    free_bytes: u64,
    budget_bytes: u64,
    /// `always`, `madvise`, `never` or `unknown`.
    huge_pages: String,
}

impl Machine {
    pub(super) fn look(threads: &Threads) -> Self {
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
            "always" | "madvise" => "used for kernel values",
            "never" => "disabled on this machine; large problems are a few per cent slower",
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

/// The word in brackets: `always [madvise] never`.
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
