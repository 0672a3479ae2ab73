//! Write locks: one writer of a file at a time.
//!
//! The lock is on the file itself, so that nothing is left behind. It is advisory, readers do not
//! take it, and it ends with the process. Writing replaces the file under its name. A process that
//! waited for the lock therefore checks whether the name now belongs to another file, and starts
//! again if so. There are no locks on systems other than Unix, where they would keep readers out,
//! and on file systems without them.

use crate::console::failure::Failure;
use crate::console::stderr::note_unless_quiet;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Silent part of the waiting time; after it a note is printed.
const SILENT: Duration = Duration::from_secs(1);

/// Behaviour when another process holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfLocked {
    /// Wait until the lock is free.
    Wait,
    /// Fail.
    Fail,
}

/// A write lock, released on drop.
#[derive(Debug)]
pub(crate) struct WriteLock {
    _file: File,
}

/// Locks the file at `path` for writing; `name` is used in messages. Returns None for a file that
/// does not exist yet, or without locks.
pub(crate) fn exclusive(path: &Path, name: &str, if_locked: IfLocked) -> Result<Option<WriteLock>, Failure> {
    if !cfg!(unix) {
        return Ok(None);
    }
    loop {
        let file = match File::options().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::write(name, &error)),
        };
        let locked = match (try_lock(&file), if_locked) {
            (None, _) => None,
            (Some(true), _) => Some(file),
            (Some(false), IfLocked::Fail) => {
                let what = "another maxmargin is writing this file; try again, or leave --no-wait out to wait";
                return Err(Failure::input(name, what));
            }
            (Some(false), IfLocked::Wait) => wait_for(file, name),
        };
        match locked {
            None => return Ok(None),
            Some(file) if is_at(&file, path) => return Ok(Some(WriteLock { _file: file })),
            Some(_) => {}
        }
    }
}

/// Tries to lock the file. Returns whether it succeeded, or None where files cannot be locked.
pub(crate) fn try_lock(file: &File) -> Option<bool> {
    match file.try_lock() {
        Ok(()) => Some(true),
        Err(TryLockError::WouldBlock) => Some(false),
        Err(TryLockError::Error(_)) => None,
    }
}

/// Waits for the lock in another thread, so that this one can print a note. Ctrl-C ends the program
/// meanwhile.
fn wait_for(file: File, name: &str) -> Option<File> {
    let (done, heard) = channel();
    thread::spawn(move || {
        let locked = loop {
            match file.lock() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                locked => break locked,
            }
        };
        // The receiver is gone only when the program ends.
        let _ = done.send(locked.is_ok().then_some(file));
    });
    heard
        .recv_timeout(SILENT)
        .or_else(|_| {
            note_unless_quiet(&format!("{name}: waiting for another maxmargin that is writing this file"));
            heard.recv()
        })
        .ok()
        .flatten()
}

/// Returns whether `path` still names this file.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(ours), Ok(theirs)) = (file.metadata(), fs::metadata(path)) else { return false };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Returns whether `path` names a file; identities of files are unknown here.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    fs::metadata(path).is_ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Instant;

    fn held(path: &Path, if_locked: IfLocked) -> Result<Option<WriteLock>, Failure> {
        exclusive(path, "m", if_locked)
    }

    #[test]
    fn the_lock_is_that_of_the_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m");
        assert!(held(&path, IfLocked::Wait).expect("no file").is_none());
        fs::write(&path, "first").expect("room");
        let first = held(&path, IfLocked::Wait).expect("nobody writes").expect("a file");
        let refused = held(&path, IfLocked::Fail);
        assert!(matches!(refused, Err(Failure::Input(ref text)) if text.contains("--no-wait")), "{refused:?}");
        let second = {
            let path = path.clone();
            thread::spawn(move || {
                let held = held(&path, IfLocked::Wait).expect("in the end").expect("a file");
                (held, fs::read_to_string(&path).expect("text"))
            })
        };
        thread::sleep(Duration::from_millis(100));
        assert!(!second.is_finished());
        // Another file takes the name, as when a model is written. The lock of the old file no
        // longer counts.
        let next = folder.path().join("next");
        fs::write(&next, "second").expect("room");
        fs::rename(&next, &path).expect("one folder");
        drop(first);
        let begun = Instant::now();
        while !second.is_finished() && begun.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(5));
        }
        let (second, text) = second.join().expect("no panic");
        assert_eq!(text, "second");
        assert!(held(&path, IfLocked::Fail).is_err(), "the lock is that of the new file");
        drop(second);
        assert!(held(&path, IfLocked::Fail).is_ok());
    }
}
