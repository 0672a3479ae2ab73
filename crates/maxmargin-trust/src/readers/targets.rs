//! One function for each reader. A refusal is one line that names the place, an accepted input can
//! be written and read back unchanged, and neither panics nor takes memory out of proportion.

mod model;
mod table;
mod text;

use crate::draws::Draws;
use crate::readers::make;
use std::fmt::Display;

/// The response of a reader to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The reader accepted it.
    Accepted,
    /// The reader returned an error.
    Refused,
}

/// The part before the bytes of a checksum, and those bytes.
pub type Opened = (Vec<u8>, Vec<u8>);

/// A reader and its inputs.
#[derive(Debug)]
pub struct Target {
    /// The name on the command line.
    pub name: &'static str,
    /// Reads the input; panics if a guarantee is broken.
    pub run: fn(&[u8]) -> Outcome,
    /// Returns almost valid input.
    pub make: fn(&mut Draws) -> Vec<u8>,
    /// Pieces of the format, for insertion anywhere.
    pub words: &'static [&'static str],
    /// Splits an input into the bytes of its checksum and the part before them.
    pub open: fn(Vec<u8>) -> Opened,
    /// Joins the two parts, usually with a checksum that fits.
    pub close: fn(Vec<u8>, Vec<u8>, &mut Draws) -> Vec<u8>,
}

/// All targets.
pub const TARGETS: [Target; 11] = [
    plain(
        "data",
        text::data,
        make::data,
        &["qid:1", "#", "\u{feff}", "\r\n", "0:0", "4294967294:1", "1e308", "nan", "-0", " 1:"],
    ),
    plain(
        "table",
        table::table,
        make::table,
        &[
            "\"", "\"\"", ",", ";", "\t", "|", "\r\n", "\r", "\u{feff}", "NA", "?", "yes", "1,5", "1e999", "inf", "target,",
            "\u{e4}", "\0",
        ],
    ),
    plain("labels", text::labels, make::labels, &["-0", "1e-320", "9007199254740993", "nan", "\n"]),
    plain("folds", text::folds, make::folds, &["#", "\n", "4294967295", "-1", "+1", " ", "!0", "-\n", " 1"]),
    plain("range", text::range, make::range, &["x\n", "y\n", "-1 1\n", "4294967295 0 1\n", "nan", "1e999", "\r", "0 "]),
    plain("numbers", text::numbers, make::numbers, &["18446744073709551615", "0", "3-1", "-", ",", "\t"]),
    Target {
        name: "model",
        run: model::native,
        make: make::native_model,
        words: &["maxmargin-model 10 ", "\n"],
        open: make::open_model,
        close: make::close_model,
    },
    plain(
        "libsvm-model",
        model::libsvm,
        make::libsvm_model,
        &[
            "nr_sv 1 1\n",
            "nr_class 2\n",
            "rho 0\n",
            "SV\n",
            "label 1 -1\n",
            "total_sv 18446744073709551615\n",
            "probA 1\n",
            " 0:1",
            "1e999",
        ],
    ),
    plain(
        "liblinear-model",
        model::liblinear,
        make::liblinear_model,
        &[
            "w\n",
            "nr_class 1\n",
            "nr_class 4294967295\n",
            "nr_feature 4294967295\n",
            "bias 1\n",
            "rho 0\n",
            "label 1 1\n",
            "solver_type ",
            "1e999",
            "\n\n",
        ],
    ),
    Target {
        name: "cache",
        run: model::cache,
        make: make::cache,
        words: &["mmdata\r\n"],
        open: make::open_seal,
        close: make::close_cache,
    },
    Target {
        name: "cell",
        run: model::cell,
        make: make::cell,
        words: &["mmcell\r\n", "accuracy"],
        open: make::open_seal,
        close: make::close_cell,
    },
];

/// Returns a target without a checksum.
const fn plain(
    name: &'static str,
    run: fn(&[u8]) -> Outcome,
    make: fn(&mut Draws) -> Vec<u8>,
    words: &'static [&'static str],
) -> Target {
    fn open(input: Vec<u8>) -> Opened {
        (Vec::new(), input)
    }
    fn close(_: Vec<u8>, body: Vec<u8>, _: &mut Draws) -> Vec<u8> {
        body
    }
    Target { name, run, make, words, open, close }
}

/// Returns the target of this name.
///
/// # Errors
///
/// When there is none; the error names all targets.
pub fn named(name: &str) -> Result<&'static Target, String> {
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    TARGETS
        .iter()
        .find(|target| target.name == name)
        .ok_or_else(|| format!("no target is called `{name}`; there are {}", names()))
}

/// Checks that an error is one line of printable text; with `place`, also that it names a line.
fn refused(error: &impl Display, place: bool) -> Outcome {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.chars().any(char::is_control), "an error is one line of text: {text:?}");
    assert!(text.len() < 1000, "an error is one line that can be read: {} bytes", text.len());
    assert!(!place || text.contains("line "), "an error names the place: {text:?}");
    Outcome::Refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for target in &TARGETS {
            assert_eq!(TARGETS.iter().filter(|other| other.name == target.name).count(), 1);
            assert!(named(target.name).is_ok());
        }
        assert!(named("nothing").expect_err("no such target").contains("data, table, labels"));
    }

    #[test]
    #[should_panic(expected = "an error is one line")]
    fn errors_of_two_lines_break_the_promise() {
        refused(&"line 1: bad\nline 2: worse", true);
    }

    #[test]
    #[should_panic(expected = "an error names the place")]
    fn errors_without_a_place_break_the_promise() {
        refused(&"it is bad", true);
    }
}
