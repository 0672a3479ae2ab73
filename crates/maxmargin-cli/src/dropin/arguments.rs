//! Command lines as LIBSVM reads them: only the second character of an option counts, its value is
//! always the next argument, and numbers are parsed as in C.

use super::data;
use super::exit::Exit;
use crate::args::{bytes, threads};
use crate::files::model_file::reason_of;
use crate::files::output::Output;
use crate::machine::memory;
use crate::machine::threads::Threads;
use maxmargin::model::ModelError;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Options that LIBSVM's programs do not have. None of theirs begins with two dashes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnOptions {
    pub(super) threads: Option<usize>,
    /// Bytes.
    pub(super) memory: Option<u64>,
    pub(super) certificate: bool,
    pub(super) seed: u64,
}

impl Default for OwnOptions {
    fn default() -> Self {
        Self { threads: None, memory: None, certificate: false, seed: 1 }
    }
}

/// The lines about these options in usages.
macro_rules! own_options_usage {
    () => {
        "\nOf maxmargin:
--threads N     threads (default: all processors); results do not depend on it
--memory SIZE   budget for kernel values, such as 512M or 4G (default: 70 % of the memory that is free)
--seed N        of random orders (default 1)
--certificate   print what proves the solution
"
    };
}
pub(super) use own_options_usage;

impl OwnOptions {
    /// Starts the threads.
    pub(super) fn threads(&self) -> Result<Threads, Exit> {
        Ok(Threads::new(self.threads)?)
    }

    /// Returns the budget for kernel values in bytes; `-m` gives megabytes.
    pub(super) fn budget(&self, megabytes: Option<f64>) -> u64 {
        let request = megabytes.map(|size| (size * 1_048_576.0) as u64);
        self.memory.or(request).unwrap_or_else(memory::default_budget)
    }

    /// Parses a long option and returns the number of arguments it used.
    fn take(&mut self, word: &str, next: Option<&str>) -> Result<usize, String> {
        let (name, glued) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let unknown = || format!("Unknown option: {name}");
        let value = || glued.or(next).ok_or_else(|| format!("{name} needs a value"));
        let whole = |text: &str| text.parse::<u64>().map_err(|_| format!("{name}: `{text}` is not a whole number"));
        match name {
            "--certificate" => self.certificate = true,
            "--threads" => self.threads = Some(threads(value()?).map_err(|what| format!("{name}: {what}"))?),
            "--seed" => self.seed = whole(value()?)?,
            "--memory" => self.memory = Some(bytes(value()?).map_err(|what| format!("{name}: {what}"))?),
            _ => return Err(unknown()),
        }
        Ok(if name == "--certificate" || glued.is_some() { 1 } else { 2 })
    }
}

/// The arguments of a command line.
pub(super) struct Arguments<'a> {
    words: &'a [OsString],
    usage: &'static str,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(words: &'a [OsString], usage: &'static str) -> Self {
        Self { words, usage }
    }

    /// Returns the usage, after the message `wrong`.
    pub(super) fn usage(&self, wrong: impl Into<Option<String>>) -> Exit {
        Exit::Usage { wrong: wrong.into(), usage: self.usage }
    }

    /// Passes each option with its value to `take`, and returns the arguments after the options.
    /// The options in `alone` have no value. As in LIBSVM, every option needs a next argument.
    /// `take` returns the message for an unknown option.
    pub(super) fn options(
        &self,
        alone: &str,
        ours: Option<&mut OwnOptions>,
        mut take: impl FnMut(&str, &str) -> Result<(), String>,
    ) -> Result<&'a [OsString], Exit> {
        let mut ours = ours;
        let mut at = 0;
        while let Some(word) = self.words.get(at).map(|word| word.to_string_lossy()).filter(|word| word.starts_with('-')) {
            let next = self.words.get(at + 1).map(|word| word.to_string_lossy());
            if let (true, Some(ours)) = (word.starts_with("--"), ours.as_deref_mut()) {
                at += ours.take(&word, next.as_deref()).map_err(|wrong| self.usage(wrong))?;
                continue;
            }
            let next = next.ok_or_else(|| self.usage(None))?;
            take(&word, &next).map_err(|wrong| self.usage(wrong))?;
            at += if letter(&word).is_some_and(|letter| alone.contains(letter)) { 1 } else { 2 };
        }
        Ok(&self.words[at..])
    }

    /// Returns the files of a training: the data, and the model, which is named after the data if
    /// it is not given.
    pub(super) fn training_files(&self, files: &[OsString]) -> Result<(OsString, PathBuf), Exit> {
        match files {
            [] => Err(self.usage(None)),
            [data] => Ok((data.clone(), data::default_model(data))),
            [data, model, ..] => Ok((data.clone(), PathBuf::from(model))),
        }
    }
}

/// The command line of a program that predicts.
pub(super) struct PredictRequest<'a> {
    pub(super) test: &'a OsStr,
    pub(super) model: &'a OsStr,
    pub(super) output: Output,
    pub(super) threads: Threads,
    /// Probabilities are wanted.
    pub(super) probabilities: bool,
    pub(super) quiet: bool,
}

impl<'a> PredictRequest<'a> {
    /// Reads a command line, and opens the output. `unknown` are the first words of the message for
    /// an unknown option.
    pub(super) fn new(words: &'a [OsString], usage: &'static str, unknown: &str) -> Result<Self, Exit> {
        let words = Arguments::new(words, usage);
        let (mut probabilities, mut quiet, mut ours) = (false, false, OwnOptions::default());
        let files = words.options("q", Some(&mut ours), |word, value| {
            match letter(word) {
                Some('b') => probabilities = atoi(value) != 0,
                Some('q') => quiet = true,
                other => return Err(unknown_option(unknown, other)),
            }
            Ok(())
        })?;
        let [test, model, output, ..] = files else { return Err(words.usage(None)) };
        let threads = ours.threads()?;
        data::check_opens(test, "input")?;
        let unwritable = |_| Exit::Error(format!("can't open output file {}", output.to_string_lossy()));
        let output = Output::open(Path::new(output)).map_err(unwritable)?;
        Ok(Self { test, model, output, threads, probabilities, quiet })
    }

    /// Returns the failure of a model that cannot be read.
    pub(super) fn unreadable(&self, error: &ModelError) -> Exit {
        Exit::Error(format!("can't open model file {} ({})", self.model.to_string_lossy(), reason_of(error)))
    }
}

/// Returns the message for an unknown option: `Unknown option: -x`.
pub(super) fn unknown_option(words: &str, letter: Option<char>) -> String {
    format!("{words}: -{}", letter.map_or_else(String::new, String::from))
}

/// Parses the value of `-v`.
pub(super) fn fold_count(value: &str) -> Result<usize, String> {
    match atoi(value) {
        count if count < 2 => Err("n-fold cross validation: n must >= 2".to_owned()),
        count => Ok(count as usize),
    }
}

/// Returns the character that identifies an option.
pub(super) fn letter(word: &str) -> Option<char> {
    word.chars().nth(1)
}

/// Returns the whole number at the beginning of a text: 0 without one, and the nearest 64-bit
/// number if it overflows.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let value = digits[..count].parse::<i64>().unwrap_or(if count > 0 { i64::MAX } else { 0 });
    if text.starts_with('-') { value.saturating_neg() } else { value }
}

/// C's `atoi`: the whole number at the beginning of a text, or 0.
pub(super) fn atoi(text: &str) -> i32 {
    leading_integer(text).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// Parses the label in `-w1`, as [`atoi`] does.
pub(super) fn weighted_label(word: &str) -> Result<i32, String> {
    let label = leading_integer(word.get(2..).unwrap_or_default());
    i32::try_from(label).map_err(|_| format!("{word}: the class label does not fit 32 bits"))
}

/// C's `atof`: the longest prefix that is a number, or 0.
pub(super) fn atof(text: &str) -> f64 {
    let text = text.trim_start();
    let mut ends = (0..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    ends.find_map(|end| text[..end].parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_c_makes_of_them() {
        assert_eq!(
            [atoi("12x"), atoi("-3"), atoi("x"), atoi(""), atoi(" +7.9"), atoi("99999999999")],
            [12, -3, 0, 0, 7, i32::MAX]
        );
        assert_eq!(
            [atof("0.5abc"), atof("1e-3"), atof("1e"), atof("-"), atof("abc"), atof(" .5")],
            [0.5, 1e-3, 1.0, 0.0, 0.0, 0.5]
        );
    }

    #[test]
    fn labels_of_weights_have_32_bits() {
        let labels = ["-w1", "-w-1", "-w", "-w2147483647", "-w-2147483648"].map(weighted_label);
        assert_eq!(labels, [Ok(1), Ok(-1), Ok(0), Ok(i32::MAX), Ok(i32::MIN)]);
        for word in ["-w2147483648", "-w-2147483649", "-w99999999999999999999"] {
            assert_eq!(weighted_label(word), Err(format!("{word}: the class label does not fit 32 bits")));
        }
    }

    #[test]
    fn values_are_the_next_word_whatever_it_is() {
        let words: Vec<OsString> = ["-cost", "5", "-q", "-w-1", "-2", "--threads=3", "data", "-x"].map(OsString::from).to_vec();
        let (mut seen, mut ours) = (Vec::new(), OwnOptions::default());
        let words = Arguments::new(&words, "usage");
        let rest = words.options("q", Some(&mut ours), |word, value| {
            seen.push((word.to_owned(), value.to_owned()));
            Ok(())
        });
        assert_eq!(rest.expect("options"), ["data", "-x"]);
        assert_eq!(ours.threads, Some(3));
        let expected = [("-cost", "5"), ("-q", "-w-1"), ("-w-1", "-2")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(seen, expected);
    }
}
