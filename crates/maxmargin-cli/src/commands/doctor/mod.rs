//! `doctor`: a description of the machine and a self-test.

mod checks;
mod machine;

use crate::args::DoctorArgs;
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::notes::Notes;
use crate::files::output::show;
use crate::machine::threads::Threads;
use crate::machine::version::VERSION;
use crate::report::SCHEMA;
use checks::Check;
use machine::Machine;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct DoctorDocument {
    schema: u32,
    command: &'static str,
    version: &'static str,
    machine: Machine,
    checks: Vec<Check>,
    healthy: bool,
    total_seconds: f64,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let notes = Notes::new(args.run.quiet);
    let threads = Threads::new(args.run.threads)?;
    let machine = Machine::inspect(&threads);
    let checks = checks::all(&threads, &notes);
    let healthy = checks.iter().all(|check| check.ok);
    let document = DoctorDocument {
        schema: SCHEMA,
        command: "doctor",
        version: VERSION,
        machine,
        checks,
        healthy,
        total_seconds: begun.elapsed().as_secs_f64(),
    };
    show(&document, args.run.json, text, None)?;
    Ok(if healthy { Outcome::Finished } else { Outcome::Refuted })
}

fn text(document: &DoctorDocument) -> String {
    let mut text = format!("maxmargin {}\n{}\n\n", document.version, document.machine.text());
    for check in &document.checks {
        let word = if check.ok { "ok" } else { "FAILED" };
        let _ = writeln!(text, " {:<14} {word}: {}", check.what, check.detail);
    }
    let wrong = document.checks.iter().filter(|check| !check.ok).count();
    let (all, seconds) = (document.checks.len(), format::seconds(document.total_seconds));
    let verdict = if wrong == 0 {
        format!("healthy: {all} of {all} checks, {seconds}")
    } else {
        format!("NOT healthy: {wrong} of {all} checks failed, {seconds}; please report this output")
    };
    let _ = writeln!(text, "{verdict}");
    text
}
