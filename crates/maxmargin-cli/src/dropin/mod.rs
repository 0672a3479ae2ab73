//! Drop-in replacements of LIBSVM's and LIBLINEAR's programs: the same options, streams, exit
//! codes, text and files, but not the same number of iterations.
//!
//! The program is chosen by the name under which it is called (`links` creates such names) or by
//! the first argument: `maxmargin svm-train …`.

mod arguments;
mod data;
mod exit;
mod linear_predict;
mod linear_train;
mod svm_predict;
mod svm_scale;
mod svm_train;

use exit::Exit;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The program that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    SvmTrain,
    SvmPredict,
    SvmScale,
    LinearTrain,
    LinearPredict,
}

impl Program {
    /// All names, in Debian and in the original sources.
    pub(crate) const NAMES: [(&'static str, Self); 7] = [
        ("svm-train", Self::SvmTrain),
        ("svm-predict", Self::SvmPredict),
        ("svm-scale", Self::SvmScale),
        ("liblinear-train", Self::LinearTrain),
        ("liblinear-predict", Self::LinearPredict),
        ("train", Self::LinearTrain),
        ("predict", Self::LinearPredict),
    ];

    /// Returns the program that a command line calls, and its arguments. Under our own name our own
    /// commands take precedence.
    pub(crate) fn from_command_line(words: impl Iterator<Item = OsString>) -> Option<(Self, Vec<OsString>)> {
        let mut words = words;
        let called = words.next()?;
        let called = Path::new(&called).file_name()?.to_string_lossy().into_owned();
        let called = called.strip_suffix(".exe").unwrap_or(&called);
        if let Some(program) = Self::named(called) {
            return Some((program, words.collect()));
        }
        let first = words.next()?;
        let program = Self::named(first.to_str()?).filter(|_| first.to_string_lossy().contains('-'))?;
        Some((program, words.collect()))
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    /// Runs the program.
    pub(crate) fn run(self, words: &[OsString]) -> ExitCode {
        crate::console::interrupt::install();
        let done = match self {
            Self::SvmTrain => svm_train::run(words),
            Self::SvmPredict => svm_predict::run(words),
            Self::SvmScale => svm_scale::run(words),
            Self::LinearTrain => linear_train::run(words),
            Self::LinearPredict => linear_predict::run(words),
        };
        done.map_or_else(Exit::report, |()| ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(line: &str) -> Option<(Program, usize)> {
        Program::from_command_line(line.split_whitespace().map(OsString::from)).map(|(program, words)| (program, words.len()))
    }

    #[test]
    fn programs_go_by_their_name_or_the_first_word() {
        assert_eq!(called("/usr/lib/links/svm-train -q a"), Some((Program::SvmTrain, 2)));
        assert_eq!(called("maxmargin svm-predict a b c"), Some((Program::SvmPredict, 3)));
        assert_eq!(called("links/train a"), Some((Program::LinearTrain, 1)));
        assert_eq!(called("maxmargin liblinear-train a"), Some((Program::LinearTrain, 1)));
        // Our own command.
        assert_eq!(called("maxmargin train a"), None);
        assert_eq!(called("maxmargin"), None);
    }
}
