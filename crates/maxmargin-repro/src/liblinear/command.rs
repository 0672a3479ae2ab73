//! `cargo xtask liblinear`: trainings by all of LIBLINEAR's solvers and by our program under its
//! name, at equal gap.

use super::model::Rows;
use super::objective::SOLVERS;
use super::record::{Comparison, Record};
use super::tolerance::{DEFAULT_GAP, Reach, first_within, ours, theirs};
use super::train::{Program, Task};
use crate::searches::page::{Bench, Page, PeerProgram, SearchArguments, text_of};
use crate::specs::problem::Problem;
use crate::workspace::failure::{Outcome, fail};
use crate::workspace::tools::read;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// The page of this command.
pub(super) const PAGE: Page = Page("liblinear");

/// LIBLINEAR's program, as Debian calls it.
const TRAIN: PeerProgram = PeerProgram { name: "liblinear-train", package: "liblinear-tools" };

/// Options of `cargo xtask liblinear`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    common: SearchArguments,
    /// Only this solver of LIBLINEAR's; repeat it for another
    #[arg(long, value_name = "S")]
    solver: Vec<u8>,
    /// The relative gap that both programs must reach, between 1e-9 and 0.01
    #[arg(long, value_name = "GAP", default_value_t = 1e-3, value_parser = level)]
    gap: f64,
    /// Measure every training so many times, in turn; the best counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Time limit of one training of LIBLINEAR
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
    /// Threads of our program
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

fn level(text: &str) -> Result<f64, String> {
    let level: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (1e-9..=1e-2).contains(&level) { Ok(level) } else { Err("not between 1e-9 and 0.01".to_owned()) }
}

/// Runs `cargo xtask liblinear`.
///
/// # Errors
///
/// If a measurement fails or a file cannot be read or written.
pub fn run(arguments: &Arguments) -> Outcome<()> {
    if let Some(solver) = arguments.solver.iter().find(|solver| !SOLVERS.contains(solver)) {
        return fail(format!("LIBLINEAR has no -s {solver}; there is {SOLVERS:?}"));
    }
    PAGE.update(&arguments.common, &TRAIN, |bench, problem| measure(bench, problem, arguments))
}

fn measure(bench: &Bench, problem: &Problem, arguments: &Arguments) -> Outcome<Option<Record>> {
    let Some(input) = bench.inputs.of(problem)? else { return Ok(None) };
    let rows = Rows::parse(&text_of(&input.path)?)?;
    let model = bench.inputs.write(&format!("{}.model", problem.name), "")?;
    let c = problem.set.get("c").and_then(Value::as_f64).unwrap_or(1.0);
    let train = bench.theirs(TRAIN.name);
    let programs = [Program::Theirs(&train), Program::Ours(&bench.ours, arguments.threads)];
    let mut solvers = Vec::new();
    for solver in SOLVERS.into_iter().filter(|solver| arguments.solver.is_empty() || arguments.solver.contains(solver)) {
        let limit = Duration::from_secs(arguments.limit);
        let task = Task { solver, c, data: &input.path, rows: &rows, model: model.clone(), limit };
        let comparison = compare(&task, programs, arguments)?;
        println!("{}: {comparison}", problem.name);
        solvers.push(comparison);
    }
    Ok(Some(Record {
        problem: problem.name.clone(),
        note: problem.note.clone(),
        rows: rows.labels.len(),
        c,
        gap: arguments.gap,
        repeats: arguments.repeats,
        threads: arguments.threads.unwrap_or(bench.machine.cores),
        version: version(&train),
        solvers,
        machine: bench.machine.clone(),
    }))
}

/// Finds the tolerances of both programs, and measures them in turn.
fn compare(task: &Task, programs: [Program; 2], arguments: &Arguments) -> Outcome<Comparison> {
    let Arguments { gap, repeats, .. } = *arguments;
    let [theirs_program, ours_program] = programs;
    let bound = task.bound(ours_program, DEFAULT_GAP.min(1e-3 * gap))?;
    let tolerances = ours(task.solver, gap);
    let Reach::Within(mut own) = first_within(gap, &tolerances, |epsilon| task.trial(ours_program, epsilon, bound))? else {
        return fail(format!("-s {}: our program did not reach a gap of {gap:e}", task.solver));
    };
    let mut reach = first_within(gap, &theirs(task.solver), |epsilon| task.trial(theirs_program, epsilon, bound))?;
    let (mut best, mut own_best) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeats {
        if let Some(epsilon) = reach.repeated() {
            best = best.min(task.seconds(theirs_program, epsilon)?);
        }
        own_best = own_best.min(task.seconds(ours_program, own.epsilon)?);
    }
    own.seconds = own_best;
    reach.set_seconds(best);
    Ok(Comparison { solver: task.solver, bound, theirs: reach, ours: own })
}

/// Returns the version of Debian's package, if the program is Debian's.
fn version(program: &str) -> String {
    let query = |package: &str| read(Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]));
    match query(TRAIN.package) {
        Ok(version) if program == TRAIN.name => version,
        _ => "of another build".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn gaps_are_those_that_both_programs_can_reach() {
        assert_eq!(level("1e-3"), Ok(1e-3));
        assert!(["0", "0.1", "nan", "x", "-1e-3"].iter().all(|text| level(text).is_err()));
    }
}
