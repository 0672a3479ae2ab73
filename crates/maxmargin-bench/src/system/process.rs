//! Other programs: a process on files, its clock, and what it prints.

use crate::failure::Failure;
use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often to look whether a process with a time limit has ended.
const POLL: Duration = Duration::from_millis(1);

/// A process that is over.
pub(crate) struct ProcessResult {
    /// From its start to its end.
    pub(crate) seconds: f64,
    /// What it printed, on either stream; nothing when it took longer than its limit and was
    /// stopped.
    pub(crate) output: Option<String>,
}

/// Runs a program to its end, or to its limit. `name` is what it is called in messages: a path is
/// nobody else's.
pub(crate) fn run(name: &'static str, command: &mut Command, limit: Option<Duration>) -> Result<ProcessResult, Failure> {
    // Its output goes to a file: a pipe that nobody empties would stop it.
    let output = tempfile::NamedTempFile::new().map_err(Failure::Temporary)?;
    let said = output.reopen().map_err(Failure::Temporary)?;
    let errors = said.try_clone().map_err(Failure::Temporary)?;
    let begun = Instant::now();
    let ended = command.stdin(Stdio::null()).stdout(said).stderr(errors).spawn().and_then(|child| wait(child, limit));
    let why = |error| Failure::outside(name, format!("cannot be run ({error}); install it or name its program"));
    let status = ended.map_err(why)?;
    let seconds = begun.elapsed().as_secs_f64();
    let Some(status) = status else { return Ok(ProcessResult { seconds, output: None }) };
    let said = String::from_utf8_lossy(&fs::read(output.path()).map_err(Failure::Temporary)?).into_owned();
    if status.success() {
        return Ok(ProcessResult { seconds, output: Some(said) });
    }
    Err(Failure::outside(name, format!("ended with {status}: {}", said.trim())))
}

/// How the process ended; nothing when it took longer than `limit` and was stopped.
fn wait(mut child: Child, limit: Option<Duration>) -> std::io::Result<Option<ExitStatus>> {
    let Some(limit) = limit else { return child.wait().map(Some) };
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(POLL);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::run;
    use std::process::Command;
    use std::time::Duration;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_it_prints_on_both_streams() {
        let ended = run("sh", &mut shell("echo one; echo two >&2; echo three"), None).expect("ended");
        let said = ended.output.expect("said");
        assert_eq!(said, "one\ntwo\nthree\n");
        let failed = run("sh", &mut shell("echo the reason; exit 3"), None).err().expect("failed").to_string();
        assert!(failed.starts_with("sh: ended with") && failed.ends_with("the reason"), "{failed}");
        let missing = run("name", &mut Command::new("no/such/program"), None).err().expect("missing").to_string();
        assert!(missing.starts_with("name: cannot be run") && missing.contains("name its program"), "{missing}");
    }

    #[test]
    fn what_takes_too_long_is_stopped() {
        let child = |seconds: &str, limit| run("sleep", Command::new("sleep").arg(seconds), Some(limit)).expect("ran");
        assert_eq!(child("100", Duration::from_millis(20)).output, None);
        assert_eq!(child("0", Duration::from_mins(1)).output.as_deref(), Some(""));
    }
}
