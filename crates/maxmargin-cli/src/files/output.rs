//! Files that are written whole or not at all.

use crate::console::failure::{Failure, reason};
use crate::console::notes::Notes;
use crate::console::wrap::wrapped_report;
use crate::files::atomic_write::AtomicFile;
use crate::files::lock::{IfLocked, WriteLock, exclusive};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An output of a command. It is opened before the work begins, so that hours of training never end
/// in `permission denied`.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Written to a temporary file in the same folder, which is then renamed (and gets the
    /// permissions of the file that it replaces).
    File {
        target: PathBuf,
        permissions: Option<fs::Permissions>,
        /// The write lock, if [`Output::locked`] has taken it.
        lock: Option<WriteLock>,
    },
    /// A device or pipe, which cannot be renamed.
    Device(File),
    Stdout,
}

impl Output {
    /// Checks that `path` can be written (`-` is standard output). [`crate::files::output_paths`]
    /// checks what would be overwritten.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        if name == "-" {
            return Ok(Self { name: "standard output".to_owned(), sink: Sink::Stdout });
        }
        let failed = |error: &io::Error| Failure::input(&name, format!("cannot write here: {}", reason(error)));
        // A trial: the temporary file is removed at once, so that an aborted run leaves nothing
        // behind.
        let sink = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(Failure::input(&name, "this is a directory; name a file in it"));
            }
            Ok(found) if !found.is_file() => Sink::Device(OpenOptions::new().write(true).open(path).map_err(|e| failed(&e))?),
            Ok(found) => {
                // A symbolic link stays; its target is replaced.
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

    /// Takes the write lock now and keeps it until the output is written, for commands that first
    /// read the file that they replace.
    pub(crate) fn locked(mut self, if_locked: IfLocked) -> Result<Self, Failure> {
        if let Sink::File { target, lock, .. } = &mut self.sink {
            *lock = exclusive(target, &self.name, if_locked)?;
        }
        Ok(self)
    }

    /// The name of the output in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the content, then renames the file. On failure an existing file is untouched.
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

/// Writes the content to a temporary file and renames it to `target`: an existing file is replaced
/// completely or not at all.
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

/// Refuses a document and an output that both go to standard output.
pub(crate) fn check_standard_output(json: bool, output_on_stdout: bool) -> Result<(), Failure> {
    if json && output_on_stdout {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a file with -o".to_owned()));
    }
    Ok(())
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

/// As [`show`], for the document of a file that has been written: `written` is its name.
pub(crate) fn show_written<T: serde::Serialize>(
    document: &T,
    written: impl Fn(&T) -> &str,
    json: bool,
    text: impl FnOnce(&T) -> String,
    on_stdout: Option<&Notes>,
) -> Result<(), Failure> {
    show(document, json, text, on_stdout).map_err(|failure| failure.after_writing(written(document)))
}

/// Prints the document as JSON or as text. The text goes to standard error where standard output is
/// an output of the command.
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
        None => print(&wrapped_report(&io::stdout(), &text(document))),
    }
}
