//! Files that are written whole or not at all.

use crate::console::failure::{Failure, reason};
use crate::console::notes::Notes;
use crate::files::atomic_write::AtomicFile;
use crate::files::lock::{IfLocked, WriteLock, exclusive};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A place for a result, opened before the work begins so that hours of training never end in
/// `permission denied`.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Written to a file beside it, which then takes its name (and the permissions of the file that
    /// was there).
    File {
        target: PathBuf,
        permissions: Option<fs::Permissions>,
        /// The right to write there, if it was asked for before.
        lock: Option<WriteLock>,
    },
    /// A device or pipe: there is nothing to rename.
    Device(File),
    Stdout,
}

impl Output {
    /// Makes sure that `path` can be written (`-` is standard output); what is lost thereby is for
    /// [`crate::places`].
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        if name == "-" {
            return Ok(Self { name: "standard output".to_owned(), sink: Sink::Stdout });
        }
        let failed = |error: &io::Error| Failure::input(&name, format!("cannot write here: {}", reason(error)));
        // Only a trial: whatever ends the program during the work, no file is left behind.
        let sink = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(Failure::input(&name, "this is a directory; name a file in it"));
            }
            Ok(found) if !found.is_file() => Sink::Device(OpenOptions::new().write(true).open(path).map_err(|e| failed(&e))?),
            Ok(found) => {
                // A link keeps pointing where it points; what it points to is replaced.
                let target = fs::canonicalize(path).map_err(|e| failed(&e))?;
                OpenOptions::new().write(true).open(&target).map_err(|e| failed(&e))?;
                AtomicFile::new(&target).map_err(|e| failed(&e))?;
                Sink::File { target, permissions: Some(found.permissions()), lock: None }
            }
            Err(_) => {
                AtomicFile::new(path).map_err(|e| failed(&e))?;
                Sink::File { target: path.to_owned(), permissions: None, lock: None }
            }
        };
        Ok(Self { name, sink })
    }

    /// The same with nobody else writing there from now until it is written: for who reads what is
    /// there first.
    pub(crate) fn locked(mut self, if_locked: IfLocked) -> Result<Self, Failure> {
        if let Sink::File { target, lock, .. } = &mut self.sink {
            *lock = exclusive(target, &self.name, if_locked)?;
        }
        Ok(self)
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the content and gives the file its name; on failure the old file, if there was one,
    /// is untouched.
    pub(crate) fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let name = self.name;
        let failed = |error: &io::Error| Failure::write(&name, error);
        match self.sink {
            Sink::Stdout => buffered(io::stdout().lock(), content).map_err(|e| failed(&e)),
            Sink::Device(file) => buffered(file, content).map_err(|e| failed(&e)),
            Sink::File { target, permissions, lock } => {
                let _held = match lock {
                    None => exclusive(&target, &name, IfLocked::Wait)?,
                    lock => lock,
                };
                write_whole(&target, permissions, content).map_err(|e| failed(&e))
            }
        }
    }
}

/// Writes the content beside `target` and gives it that name: what was there is replaced by all of
/// it or stays.
pub(crate) fn write_whole(
    target: &Path,
    permissions: Option<fs::Permissions>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = AtomicFile::new(target)?;
    if let Some(permissions) = permissions {
        file.file().set_permissions(permissions)?;
    }
    buffered(file.file(), content)?;
    file.persist(target)
}

fn buffered(sink: impl Write, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, sink);
    content(&mut out)?;
    out.flush()
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Failure::write("standard output", &e))
}

/// Prints one JSON document.
fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|e| Failure::input("JSON", e))?;
    print(&(text + "\n"))
}

/// Prints the document, or its text; the text goes where notes go when standard output is a file of
/// the command.
pub(crate) fn show<T: serde::Serialize>(
    document: &T,
    json: bool,
    text: impl FnOnce(&T) -> String,
    on_stdout: Option<&Notes>,
) -> Result<(), Failure> {
    match on_stdout {
        _ if json => print_json(document),
        Some(notes) => {
            notes.note(text(document).trim_end());
            Ok(())
        }
        None => print(&text(document)),
    }
}
