//! One benchmark cell in, one JSON line out. `cargo xtask bench` starts one process of this for every cell, so that cells cannot
//! disturb each other.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the JSON line and the failure are what this program is for")]

mod cell;
mod classes;
mod cv;
mod input;
mod interior;
mod irwls;
mod linear;
mod machine;
mod measured;
mod simplex;
mod split;
mod train;
mod update;

use cell::{Cell, Failure, Job, Solver};
use clap::Parser;
use maxmargin::data::Par;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures one cell: a JSON object as described in xtask/specs, from a file or standard input.
#[derive(Parser)]
#[command(name = "maxmargin-bench", version)]
struct Arguments {
    /// The cell [default: standard input]
    cell: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(line) => {
            println!("{}", line.trim_end());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let text = match &arguments.cell {
        Some(path) => std::fs::read_to_string(path),
        None => std::io::read_to_string(std::io::stdin()),
    };
    let text =
        text.map_err(|source| Failure::Read { path: arguments.cell.clone().unwrap_or("standard input".into()), source })?;
    let cell: Cell = serde_json::from_str(&text)?;
    if cell.job == Job::Write {
        return input::text(&cell.data);
    }
    let threads = cell.threads.unwrap_or_else(machine::threads);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let par = Par::Pool;
    let mut measured = match cell.job {
        Job::Train if cell.solver == Solver::Irwls => irwls::measure(&cell, par)?,
        Job::Train if linear::knows(cell.solver) => linear::measure(&cell, par)?,
        _ if linear::knows(cell.solver) => return Err(Failure::Solver),
        Job::Cv => cv::measure(&cell, par)?,
        Job::Train => train::measure(&cell, par)?,
        Job::Update => update::measure(&cell, par)?,
        Job::Write => return input::text(&cell.data),
    };
    measured.peak_rss_bytes = machine::peak_bytes();
    measured.threads = threads;
    Ok(serde_json::to_string(&measured)?)
}
