//! The limit on the bytes of a file that is read.

use crate::console::failure::Failure;
use crate::console::format;
use crate::machine::memory;

/// The limit on the unpacked bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxSize {
    pub(super) bytes: u64,
    source: Source,
}

/// The source of a limit.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The memory, in a command without the option.
    Memory,
    /// The memory, as the option is not given.
    Default,
    /// The option `--max-size`.
    Given,
}

impl MaxSize {
    /// Half of the free memory, in a command without `--max-size`: the other half is for the parsed
    /// data.
    pub(crate) fn usual() -> Self {
        Self { bytes: memory::free() / 2, source: Source::Memory }
    }

    /// Returns the limit of `--max-size`; half of the free memory if it is not given.
    pub(crate) fn of(given: Option<u64>) -> Self {
        given.map_or_else(|| Self { source: Source::Default, ..Self::usual() }, |bytes| Self { bytes, source: Source::Given })
    }

    pub(super) fn exceeded(self, name: &str) -> Failure {
        Failure::input(name, format!("unpacked, {}", self.in_words()))
    }

    pub(super) fn in_words(self) -> String {
        let size = format::bytes(self.bytes);
        match self.source {
            Source::Memory => {
                format!("the file has more than {size}, half of the free memory; the other half is for what it holds")
            }
            Source::Default => {
                format!("the file has more than {size}, half of the free memory; raise --max-size SIZE to read it")
            }
            Source::Given => format!("the file has more than {size} (--max-size); raise --max-size SIZE to read it"),
        }
    }
}
