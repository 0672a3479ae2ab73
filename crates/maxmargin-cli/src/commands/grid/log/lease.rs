//! Leases: the right to work on one column of a search. A lease is a file that its holder creates,
//! locks and touches regularly.
//!
//! On one machine the lock shows whether the holder still runs, however it ended. On another
//! machine, where locks may be invisible, the file is taken over once it has not been touched for a
//! while, by the clock of the observer. Two processes that take over at once both do the work, with
//! identical results.

use crate::files::lock::{is_at, try_lock};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The interval at which a holder touches its file.
const BEAT: Duration = Duration::from_secs(10);

/// A lease of another machine that was not touched for this long is stale.
const STALE: Duration = Duration::from_mins(1);

/// The leases that a search holds, and its observations of others.
#[derive(Debug)]
pub(super) struct Leases {
    /// The identity of this machine since its start.
    host: String,
    held: Arc<Mutex<BTreeMap<PathBuf, File>>>,
    seen: Mutex<BTreeMap<PathBuf, (Option<SystemTime>, Instant)>>,
    /// Ends the touching thread on drop.
    _beating: Sender<()>,
}

impl Leases {
    /// No leases yet.
    pub(super) fn new() -> Self {
        let held: Arc<Mutex<BTreeMap<PathBuf, File>>> = Arc::default();
        let (beating, ended) = channel::<()>();
        let files = Arc::clone(&held);
        thread::spawn(move || {
            // Any error but a timeout is the end of the search.
            while ended.recv_timeout(BEAT).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout) {
                let files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.values().for_each(|file| {
                    // A lease that cannot be touched becomes stale, and its column is computed
                    // twice.
                    let _ = file.set_modified(SystemTime::now());
                });
            }
        });
        Self { host: host(), held, seen: Mutex::default(), _beating: beating }
    }

    /// Takes the lease `path`; returns false if another process holds it.
    pub(super) fn take(&self, path: &Path) -> io::Result<bool> {
        match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            Ok(file) => self.hold(path, file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.take_over(path),
            Err(error) => Err(error),
        }
    }

    /// Releases a lease.
    pub(super) fn release(&self, path: &Path) {
        let file = self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        if file.is_some_and(|file| is_at(&file, path)) {
            let _ = fs::remove_file(path);
        }
    }

    /// Writes the identity of this machine into a file and keeps it locked.
    fn hold(&self, path: &Path, mut file: File) -> io::Result<bool> {
        // Another process may have taken it since it was created.
        if try_lock(&file) == Some(false) || !is_at(&file, path) {
            return Ok(false);
        }
        file.set_len(0)?;
        writeln!(file, "{}\n{}", self.host, std::process::id())?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), file);
        Ok(true)
    }

    fn take_over(&self, path: &Path) -> io::Result<bool> {
        let gone = |error: io::Error| if error.kind() == ErrorKind::NotFound { Ok(false) } else { Err(error) };
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) => return gone(error),
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return gone(error),
        };
        let locked = if text.lines().next() == Some(&self.host) { try_lock(&file) } else { None };
        match locked {
            // Its holder has ended.
            Some(true) => self.hold(path, file),
            None if self.is_stale(path, &file) => {
                let _ = fs::remove_file(path);
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
                Ok(false)
            }
            Some(false) | None => Ok(false),
        }
    }

    /// Returns whether the lease was not touched for [`STALE`].
    fn is_stale(&self, path: &Path, file: &File) -> bool {
        let touched = file.metadata().and_then(|found| found.modified()).ok();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.entry(path.to_owned()).or_insert((touched, Instant::now()));
        if known.0 != touched {
            *known = (touched, Instant::now());
        }
        known.1.elapsed() >= STALE
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        let held: Vec<PathBuf> = self.held.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        held.iter().for_each(|path| self.release(path));
    }
}

/// Returns an identity of this machine since its start. Processes with the same identity see each
/// other's locks.
fn host() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let name = || sysinfo::System::host_name().unwrap_or_else(|_| "unknown".to_owned());
    boot.map_or_else(name, |boot| boot.trim().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_one_holders_until_it_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("column.lease");
        let (one, other) = (Leases::new(), Leases::new());
        assert!(one.take(&path).expect("room"));
        assert!(!other.take(&path).expect("a file"));
        one.release(&path);
        assert!(!path.exists() && other.take(&path).expect("room"));
        drop(other);
        assert!(!path.exists());
        // Left by a killed process, so without a lock.
        fs::write(&path, format!("{}\n1\n", host())).expect("room");
        assert!(one.take(&path).expect("a file"));
    }

    #[test]
    fn a_lease_of_another_machine_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("column.lease");
        fs::write(&path, "elsewhere\n1\n").expect("room");
        let leases = Leases::new();
        assert!(!leases.take(&path).expect("a file") && path.exists());
        // As if it had been observed long ago.
        for (_, since) in leases.seen.lock().expect("one thread").values_mut() {
            *since = Instant::now().checked_sub(STALE).expect("the machine has run for a minute");
        }
        assert!(!leases.take(&path).expect("a file") && !path.exists(), "given free");
        assert!(leases.take(&path).expect("room"));
        // Touched again: its holder runs.
        fs::write(&path, "elsewhere\n2\n").expect("room");
        assert!(!leases.take(&path).expect("a file"));
    }
}
