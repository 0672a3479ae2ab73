//! Processes of measured programs: their seconds and what they print.

use crate::workspace::failure::{Context, Outcome, fail};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Data of a generator in LIBSVM format, seed 1, written by the measured program.
pub(crate) fn generate(bench: &Path, generator: &str, rows: usize) -> Outcome<String> {
    let cell = json!({
        "job": "write", "data": { "generator": generator, "rows": rows, "seed": 1 }, "kernel": "linear", "c": 1, "tol": 1,
    });
    let (_, output) = timed(&mut Command::new(bench), Some(&cell))?;
    output.or_else(fail)
}

/// Runs a process to its end: wall-clock seconds and standard output, or how it failed.
pub(crate) fn timed(command: &mut Command, request: Option<&Value>) -> Outcome<(f64, Result<String, String>)> {
    // Records are published: no folder of the machine in them.
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(format_args!("cannot start {name}"))?;
    if let (Some(mut pipe), Some(request)) = (child.stdin.take(), request) {
        // A program that ends before it reads says so by its exit status.
        let _ = pipe.write_all(request.to_string().as_bytes());
    }
    let output = child.wait_with_output().context(&name)?;
    let seconds = start.elapsed().as_secs_f64();
    if output.status.success() {
        return Ok((seconds, Ok(String::from_utf8_lossy(&output.stdout).into_owned())));
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = message.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect();
    Ok((seconds, Err(format!("{name} ended with {}: {}", output.status, last.join(" ")))))
}
