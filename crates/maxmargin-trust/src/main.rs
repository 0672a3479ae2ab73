//! `maxmargin-trust`: readers over made-up input.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use clap::{Args, Parser, Subcommand};
use maxmargin_trust::memory::Counting;
use maxmargin_trust::targets::{TARGETS, Target};
use maxmargin_trust::{claims, differential, fuzz, ill_conditioned, table, targets};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Parser)]
#[command(about = "Tries what the readers and solvers of maxmargin promise")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Gives every reader almost valid and corrupted input: one line for each, exit code 1 if a
    /// guarantee is broken
    Fuzz(FuzzArgs),
    /// Compares 315 pinned trainings with svm-train and liblinear-train: exit code 1 if a
    /// requirement does not hold
    Differential(DifferentialArgs),
    /// Compares every formulation on real sets with svm-train and liblinear-train: exit code 1
    /// if an objective of ours is worse
    Table {
        /// Path of the page
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Recomputes the claims of certificates in twice the precision: exit code 1 if one is
    /// false
    Claims {
        /// Number of problems
        #[arg(long, default_value_t = 2_000)]
        runs: u64,
        /// Seed of the problems
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Trains 50 problems on unscaled data and compares with svm-train: exit code 1 if one ends
    /// neither certified nor with the reason why that is impossible
    #[command(name = "nasty")]
    IllConditioned(IllConditionedArgs),
}

#[derive(Args)]
struct IllConditionedArgs {
    /// Path of the page of results
    #[arg(long)]
    out: Option<PathBuf>,
    /// Try this problem only
    #[arg(long)]
    case: Option<usize>,
    /// Without svm-train
    #[arg(long)]
    alone: bool,
}

#[derive(Args)]
struct DifferentialArgs {
    /// Path of the page of results
    #[arg(long)]
    out: Option<PathBuf>,
    /// Try every n-th case only
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Try this case only
    #[arg(long)]
    case: Option<usize>,
}

#[derive(Args)]
struct FuzzArgs {
    /// One target only
    #[arg(long)]
    target: Option<String>,
    /// Number of inputs for each target
    #[arg(long, default_value_t = 10_000)]
    runs: u64,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds after which each target ends
    #[arg(long)]
    seconds: Option<f64>,
    /// Check this file only (with --target) and print the result
    #[arg(long, requires = "target")]
    input: Option<PathBuf>,
    /// Folder for inputs that break a guarantee
    #[arg(long, default_value = ".")]
    found: PathBuf,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Fuzz(args) => fuzz_all(&args),
        Command::Differential(args) => compare(&args),
        Command::Table { out } => formulations(out.as_deref()),
        Command::IllConditioned(args) => unscaled(&args),
        Command::Claims { runs, seed } => Ok(claimed(runs, seed)),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

fn claimed(runs: u64, seed: u64) -> ExitCode {
    match claims::run(runs, seed) {
        Ok(claims::Counts { cases, refused, held, optimal }) => {
            println!(
                "{cases} problems: {held} certificates hold, {optimal} are called optimal, {refused} were refused; every claim is so"
            );
            ExitCode::SUCCESS
        }
        Err(what) => {
            println!("{what}");
            ExitCode::FAILURE
        }
    }
}

fn fuzz_all(args: &FuzzArgs) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let chosen: Vec<&Target> = match &args.target {
        None => TARGETS.iter().collect(),
        Some(name) => vec![targets::named(name)?],
    };
    // What a target panics with is reported in one line.
    std::panic::set_hook(Box::new(|_| {}));
    let mut code = ExitCode::SUCCESS;
    for target in chosen {
        if let Some(path) = &args.input {
            println!("{}: {:?}", target.name, fuzz::check_input(target, &std::fs::read(path)?));
            continue;
        }
        let (tally, found) = fuzz::run(target, args.runs, args.seconds, args.seed)?;
        let fuzz::Tally { inputs, accepted, refused, seconds } = tally;
        let count = u32::from(found.is_some());
        println!("{:<14} {inputs} inputs, {accepted} accepted, {refused} refused, {count} found, {seconds:.1} s", target.name);
        if let Some(found) = found {
            let path = args.found.join(format!("{}-{}-{}", target.name, args.seed, found.number));
            std::fs::write(&path, &found.input)?;
            println!("  input {} of seed {}: {}", found.number, args.seed, found.said);
            println!("  saved; see it again with: maxmargin-trust fuzz --target {} --input {}", target.name, path.display());
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn unscaled(args: &IllConditionedArgs) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let version = if args.alone { None } else { differential::versions().libsvm };
    if version.is_none() && !args.alone {
        println!("skipped beside ours: svm-train and svm-predict are not installed (Debian: libsvm-tools)");
    }
    let mut rows = Vec::new();
    for problem in ill_conditioned::all() {
        if args.case.is_some_and(|case| case != problem.number) {
            continue;
        }
        let Some(data) = problem.data()? else {
            println!("{:>2} {}: skipped, no such data", problem.number, problem.data);
            continue;
        };
        let outcome = ill_conditioned::compare(&problem, &data, version.is_some())?;
        println!(
            "{:>2} {:<14} {:<26} {:<18} {:<4} {:<10} KKT {:.0e} gap {:.0e} {:>8} iterations {:>5.2} s{}",
            problem.number,
            problem.data,
            problem.formulation_name(),
            problem.kernel_name(),
            problem.solver.name(),
            outcome.ended.as_ref().map_or_else(|_| "refused".to_owned(), |status| format!("{status:?}").to_lowercase()),
            outcome.kkt,
            outcome.gap,
            outcome.iterations,
            outcome.seconds,
            outcome.theirs.as_ref().map_or_else(String::new, |t| {
                let gap = t.certificate.map_or_else(|| "no model".to_owned(), |c| format!("gap {:.0e}", c.1));
                format!("; LIBSVM {gap} {:.2} s", t.seconds)
            }),
        );
        if let Some(words) = &outcome.impossible {
            println!("   impossible: {words}");
        }
        rows.push((problem, outcome));
    }
    let wrong = rows.iter().filter(|row| !row.1.is_right()).count();
    let late = rows.iter().filter(|row| row.1.is_late()).count();
    println!(
        "nasty: {} problems, {wrong} neither certified nor impossible, {late} longer than {} s",
        rows.len(),
        ill_conditioned::EXPECTED_TIME
    );
    if let Some(out) = &args.out {
        std::fs::write(out, ill_conditioned::page(&rows, version.as_deref()))?;
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn compare(args: &DifferentialArgs) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let version = differential::versions();
    if version.libsvm.is_none() {
        println!("skipped: svm-train and svm-predict are not installed (Debian: libsvm-tools)");
    }
    if version.liblinear.is_none() {
        println!("skipped: liblinear-train and liblinear-predict are not installed (Debian: liblinear-tools)");
    }
    let begun = std::time::Instant::now();
    let (mut rows, mut faults) = (Vec::new(), 0);
    for case in differential::all() {
        let chosen = args.case.map_or((case.number - 1).is_multiple_of(args.every as usize), |number| case.number == number);
        let there = match case.peer {
            differential::Peer::Libsvm => version.libsvm.is_some(),
            differential::Peer::Liblinear => version.liblinear.is_some(),
        };
        if !chosen {
            continue;
        }
        let data = if there { case.data()? } else { None };
        let outcome = data.map(|data| differential::compare(&case, &data)).transpose();
        let outcome = outcome.map_err(|error| format!("case {}: {error}", case.number))?;
        if let Some(outcome) = &outcome
            && (args.case.is_some() || matches!(outcome.verdict, differential::Verdict::Fault(_)))
        {
            println!("case {} ({}, {}, C = {}): {outcome:?}", case.number, case.data_name(), case.kernel_name(), case.c);
            faults += u32::from(matches!(outcome.verdict, differential::Verdict::Fault(_)));
        }
        rows.push((case, outcome));
    }
    let tried = rows.iter().filter(|(_, outcome)| outcome.is_some()).count();
    let skipped = rows.len() - tried;
    let seconds = begun.elapsed().as_secs_f64();
    println!("differential: {tried} cases, {skipped} skipped, {faults} at fault, {seconds:.1} s");
    if let Some(out) = &args.out {
        std::fs::write(out, differential::page(&rows, &version))?;
    }
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn formulations(out: Option<&Path>) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let begun = std::time::Instant::now();
    let rows = table::table(|row| {
        let (seconds, equal) = (row.seconds, 100.0 * row.equal);
        println!(
            "{:<52} {:<14} {:>9.1e} {equal:>6.1} % {:>8.3} {:>8.3}",
            row.kind.name(),
            row.set,
            row.worse,
            seconds[0],
            seconds[1]
        );
    })?;
    let faults = rows.iter().filter(|row| row.worse > table::OBJECTIVE).count();
    println!("table: {} trainings, {faults} with a worse objective, {:.1} s", rows.len(), begun.elapsed().as_secs_f64());
    if let Some(out) = out {
        std::fs::write(out, table::page(&rows, &differential::versions()))?;
    }
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
