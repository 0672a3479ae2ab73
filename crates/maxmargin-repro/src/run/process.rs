//! Processes of measured programs: their seconds and what they print.

use crate::workspace::failure::{Context, Outcome, fail};
use serde_json::{Value, json};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The pause between two looks at a process with a time limit.
const POLL: Duration = Duration::from_millis(5);

/// Returns data of a generator in LIBSVM format, seed 1, written by the measured program.
pub(crate) fn generate(bench: &Path, generator: &str, rows: usize) -> Outcome<String> {
    let cell = json!({
        "job": "write", "data": { "generator": generator, "rows": rows, "seed": 1 }, "kernel": "linear", "c": 1, "tol": 1,
    });
    let (_, output) = timed(&mut Command::new(bench), Some(&cell))?;
    output.or_else(fail)
}

/// Runs a process to its end. Returns wall-clock seconds and standard output, or how it failed.
pub(crate) fn timed(command: &mut Command, request: Option<&Value>) -> Outcome<(f64, Result<String, String>)> {
    // Records are published and name no folder of the machine.
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(format_args!("cannot start {name}"))?;
    if let (Some(mut pipe), Some(request)) = (child.stdin.take(), request) {
        // A program that ends before it reads has an exit status that says so.
        let _ = pipe.write_all(request.to_string().as_bytes());
    }
    let output = child.wait_with_output().context(&name)?;
    Ok((start.elapsed().as_secs_f64(), outcome(&name, output.status, &output.stdout, &output.stderr)))
}

/// Runs a process to its end or to the time limit, and returns its seconds, to [`POLL`], and what
/// [`timed`] returns, none after the time limit.
pub(crate) fn limited(command: &mut Command, limit: Duration) -> Outcome<(f64, Option<Result<String, String>>)> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A pipe that nobody reads would stop a process that prints much.
    let mut streams = [tempfile::tempfile().context("a temporary file")?, tempfile::tempfile().context("a temporary file")?];
    let copies = [streams[0].try_clone().context(&name)?, streams[1].try_clone().context(&name)?];
    let [out, err] = copies;
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().context(format_args!("cannot start {name}"))?;
    let status = loop {
        if let Some(status) = child.try_wait().context(&name)? {
            break status;
        }
        if start.elapsed() >= limit {
            child.kill().and_then(|()| child.wait()).context(&name)?;
            return Ok((start.elapsed().as_secs_f64(), None));
        }
        std::thread::sleep(POLL);
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut texts = [Vec::new(), Vec::new()];
    for (stream, text) in streams.iter_mut().zip(&mut texts) {
        stream.rewind().and_then(|()| stream.read_to_end(text)).context(&name)?;
    }
    Ok((seconds, Some(outcome(&name, status, &texts[0], &texts[1]))))
}

/// Returns the standard output of a process that succeeded, or how it failed.
fn outcome(name: &str, status: ExitStatus, out: &[u8], err: &[u8]) -> Result<String, String> {
    if status.success() {
        return Ok(String::from_utf8_lossy(out).into_owned());
    }
    let message = String::from_utf8_lossy(err);
    let last: Vec<&str> = message.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect();
    Err(format!("{name} ended with {status}: {}", last.join(" ")))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(script: &str, limit: u64) -> (f64, Option<Result<String, String>>) {
        limited(Command::new("sh").args(["-c", script]), Duration::from_secs(limit)).expect("sh runs")
    }

    #[test]
    fn processes_end_at_the_limit_and_may_print_much() {
        let (_, output) = run("i=0; while [ $i -lt 4000 ]; do echo 'a line of some thirty letters or so'; i=$((i+1)); done", 60);
        assert_eq!(output.expect("within the limit").expect("success").lines().count(), 4000);
        let (seconds, output) = run("sleep 30", 0);
        assert!(output.is_none() && seconds < 30.0);
        let (_, output) = run("echo no such thing >&2; exit 3", 60);
        let reason = output.expect("within the limit").expect_err("status 3");
        assert!(reason.contains("sh ended with") && reason.contains("no such thing"), "{reason}");
    }
}
