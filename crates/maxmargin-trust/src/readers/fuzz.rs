//! Runs of a target: a seed and a number determine each input, and each is checked.

use crate::draws::Draws;
use crate::readers::mutate::changed;
use crate::readers::targets::{Outcome, Target, named};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest input. A few lines suffice to show the faults of a reader, and short inputs are
/// faster.
const LONGEST: usize = 4096;

/// The longest time that a reader may take for an input of [`LONGEST`] bytes; they take
/// microseconds.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// The result of a run of a target.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The inputs tried, including those of the corpus.
    pub inputs: u64,
    /// The inputs that the reader accepted.
    pub accepted: u64,
    /// The inputs that the reader refused with an error.
    pub refused: u64,
    /// The time of the run.
    pub seconds: f64,
}

/// An input that breaks a guarantee.
#[derive(Clone, Debug)]
pub struct Found {
    /// The number of the input in the run.
    pub number: u64,
    /// The input.
    pub input: Vec<u8>,
    /// The message of the target's panic.
    pub said: String,
}

/// The folder of the inputs that come first in every run: one folder for each target.
pub fn corpus_of(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// Returns the corpus of a target, in the order of names.
///
/// # Errors
///
/// When the folder cannot be read; a missing folder is empty.
pub fn kept(target: &Target) -> std::io::Result<Vec<Vec<u8>>> {
    let folder = corpus_of(target);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.sort();
    files.iter().map(std::fs::read).collect()
}

/// Returns input `number` of the run of a seed: almost valid, or one of the corpus, usually
/// changed.
pub fn input(target: &Target, seed: u64, number: u64, corpus: &[Vec<u8>]) -> Vec<u8> {
    if let Some(first) = corpus.get(number as usize) {
        return first.clone();
    }
    let mut draws = Draws::new(seed, number);
    let mut input = match draws.below(10) {
        0..4 if !corpus.is_empty() => corpus[draws.below(corpus.len())].clone(),
        _ => (target.make)(&mut draws),
    };
    if !draws.once_in(3) {
        let (head, mut body) = (target.open)(input);
        body = changed(body, target.words, corpus, &mut draws);
        input = (target.close)(head, body, &mut draws);
    }
    input.truncate(LONGEST);
    input
}

/// Checks an input of a fuzzer that knows nothing of checksums: it first gets one that fits. A
/// violation is a panic.
///
/// # Panics
///
/// When there is no such target, and when a guarantee is broken.
///
/// When there is no such target, and where a promise is broken.
pub fn guided(name: &str, input: &[u8]) {
    let target = named(name).unwrap_or_else(|error| panic!("{error}"));
    let (head, body) = (target.open)(input.to_vec());
    let length = body.len() as u64;
    (target.run)(&(target.close)(head, body, &mut Draws::new(length, 0)));
}

/// Checks one input.
///
/// # Errors
///
/// The message of the target's panic.
pub fn check_input(target: &Target, input: &[u8]) -> Result<Outcome, String> {
    let begun = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        said.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.to_owned())).unwrap_or_else(|| "a panic without words".to_owned())
    })?;
    let took = begun.elapsed();
    if took > TIME_LIMIT { Err(format!("it took {} s", took.as_secs())) } else { Ok(outcome) }
}

/// Tries up to `runs` inputs, or for `seconds`; ends at the first that breaks a guarantee.
///
/// # Errors
///
/// Those of reading the corpus.
pub fn run(target: &Target, runs: u64, seconds: Option<f64>, seed: u64) -> std::io::Result<(Tally, Option<Found>)> {
    let corpus = kept(target)?;
    let begun = Instant::now();
    let mut tally = Tally::default();
    let mut found = None;
    for number in 0..runs {
        if number.is_multiple_of(64) && seconds.is_some_and(|most| begun.elapsed().as_secs_f64() > most) {
            break;
        }
        let input = input(target, seed, number, &corpus);
        tally.inputs += 1;
        match check_input(target, &input) {
            Ok(Outcome::Accepted) => tally.accepted += 1,
            Ok(Outcome::Refused) => tally.refused += 1,
            Err(said) => {
                found = Some(Found { number, input, said });
                break;
            }
        }
    }
    tally.seconds = begun.elapsed().as_secs_f64();
    Ok((tally, found))
}
