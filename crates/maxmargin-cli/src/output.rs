//! Files that are written whole or not at all.

use crate::failure::{Failure, reason};
use crate::interrupt;
use crate::notes::Notes;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// A place for a result, opened before the work begins so that hours of training never end in `permission denied`.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Written to a file beside it, which then takes its name (and the permissions of the file that was there).
    Beside {
        target: PathBuf,
        permissions: Option<fs::Permissions>,
    },
    /// A device or pipe: there is nothing to rename.
    Device(File),
    Stdout,
}

impl Output {
    /// Makes sure that `path` can be written (`-` is standard output); what is lost thereby is for [`crate::places`].
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        if name == "-" {
            return Ok(Self { name: "standard output".to_owned(), sink: Sink::Stdout });
        }
        let failed = |error: &io::Error| Failure::input(&name, format!("cannot write here: {}", reason(error)));
        let sink = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                return Err(Failure::input(&name, "this is a directory; name a file in it"));
            }
            Ok(found) if !found.is_file() => Sink::Device(OpenOptions::new().write(true).open(path).map_err(|e| failed(&e))?),
            Ok(found) => {
                // A link keeps pointing where it points; what it points to is replaced.
                let target = fs::canonicalize(path).map_err(|e| failed(&e))?;
                OpenOptions::new().write(true).open(&target).map_err(|e| failed(&e))?;
                try_beside(&target).map_err(|e| failed(&e))?;
                Sink::Beside { target, permissions: Some(found.permissions()) }
            }
            Err(_) => {
                try_beside(path).map_err(|e| failed(&e))?;
                Sink::Beside { target: path.to_owned(), permissions: None }
            }
        };
        Ok(Self { name, sink })
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the content and gives the file its name; on failure the old file, if there was one, is untouched.
    pub(crate) fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let name = self.name;
        let failed = |error: &io::Error| Failure::write(&name, error);
        match self.sink {
            Sink::Stdout => buffered(io::stdout().lock(), content).map_err(|e| failed(&e)),
            Sink::Device(file) => buffered(file, content).map_err(|e| failed(&e)),
            Sink::Beside { target, permissions } => write_whole(&target, permissions, content).map_err(|e| failed(&e)),
        }
    }
}

/// Writes the content beside `target` and gives it that name: what was there is replaced by all of it or stays.
pub(crate) fn write_whole(
    target: &Path,
    permissions: Option<fs::Permissions>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let _unbroken = interrupt::unbroken();
    let temporary = beside(target)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    buffered(temporary.as_file(), content)?;
    temporary.as_file().sync_all()?;
    temporary.persist(target)?;
    // The name itself survives a power cut only when the directory is on disk; not every system can do that.
    if let Ok(folder) = File::open(folder_of(target)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn buffered(sink: impl Write, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, sink);
    content(&mut out)?;
    out.flush()
}

/// Only a trial: whatever ends the program during the work, no file is left behind.
fn try_beside(target: &Path) -> io::Result<()> {
    let _unbroken = interrupt::unbroken();
    beside(target).map(drop)
}

fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".maxmargin-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The usual permissions of a new file: the system's mask is taken off these.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(target))
}

pub(crate) fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Prints to standard output.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Failure::write("standard output", &e))
}

/// Prints one JSON document.
fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|e| Failure::input("JSON", e))?;
    print(&(text + "\n"))
}

/// Prints the document, or its text; the text goes where notes go when standard output is a file of the command.
pub(crate) fn show<T: serde::Serialize>(
    document: &T,
    json: bool,
    text: impl FnOnce(&T) -> String,
    on_stdout: Option<&Notes>,
) -> Result<(), Failure> {
    match on_stdout {
        _ if json => print_json(document),
        Some(notes) => {
            notes.say(text(document).trim_end());
            Ok(())
        }
        None => print(&text(document)),
    }
}
