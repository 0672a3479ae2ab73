//! Runs of a target: inputs that a seed and a number determine, judged one by one.

use crate::draws::Draws;
use crate::mutate::changed;
use crate::targets::{Outcome, Target, named};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest input: what a reader does wrong it does with a few lines, and they are read sooner.
const LONGEST: usize = 4096;

/// No reader may take longer over an input of [`LONGEST`] bytes; they take microseconds.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a run of a target came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Inputs tried, those of the corpus included.
    pub inputs: u64,
    /// Inputs that the reader took.
    pub accepted: u64,
    /// Inputs that it refused with an error.
    pub refused: u64,
    /// Time that it took.
    pub seconds: f64,
}

/// An input over which a promise is broken.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its number in the run.
    pub number: u64,
    /// The input itself.
    pub input: Vec<u8>,
    /// What the target said.
    pub said: String,
}

/// Where the inputs are kept that come first in every run: one folder for each target.
pub fn corpus_of(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// The inputs kept for a target, in the order of their names.
///
/// # Errors
///
/// Those of reading the folder; a folder that is not there is empty.
pub fn kept(target: &Target) -> std::io::Result<Vec<Vec<u8>>> {
    let folder = corpus_of(target);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.sort();
    files.iter().map(std::fs::read).collect()
}

/// Input `number` of the run of a seed: made almost valid, or a kept one, mostly changed.
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

/// An input of a fuzzer that knows nothing of checksums: given one that fits, then judged. What is
/// found is a panic.
///
/// # Panics
///
/// When there is no such target, and where a promise is broken.
pub fn guided(name: &str, input: &[u8]) {
    let target = named(name).unwrap_or_else(|error| panic!("{error}"));
    let (head, body) = (target.open)(input.to_vec());
    let length = body.len() as u64;
    (target.run)(&(target.close)(head, body, &mut Draws::new(length, 0)));
}

/// Judges one input.
///
/// # Errors
///
/// What the target panics with.
pub fn judge(target: &Target, input: &[u8]) -> Result<Outcome, String> {
    let begun = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        said.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.to_owned())).unwrap_or_else(|| "a panic without words".to_owned())
    })?;
    let took = begun.elapsed();
    if took > PATIENCE { Err(format!("it took {} s", took.as_secs())) } else { Ok(outcome) }
}

/// Tries up to `runs` inputs, or for `seconds`; ends at the first over which a promise is broken.
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
        match judge(target, &input) {
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
