//! The files that a command reads and writes. It overwrites neither its inputs nor files of another
//! kind.

use crate::console::failure::Failure;
use crate::files::atomic_write::folder_of;
use crate::files::output::Output;
use crate::files::signature::{is_native_model, looks_like_model};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The kind of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Model,
    /// A new version of the file that was read, whose kind was checked by reading it.
    Changed,
    Text,
}

/// The files of one command.
#[derive(Debug, Default)]
pub(crate) struct OutputPaths {
    force: bool,
    read: Vec<Identity>,
    written: Vec<(String, PathBuf)>,
}

/// The identity of a file, equal for hard and symbolic links to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: PathBuf,
}

impl Identity {
    /// Returns the identity of an existing regular file.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self { device_and_inode: (found.dev(), found.ino()) })
        }
        #[cfg(not(unix))]
        {
            let _ = found;
            fs::canonicalize(path).ok().map(|path| Self { path })
        }
    }
}

impl OutputPaths {
    /// No files yet. With `force` everything but a folder may be replaced.
    pub(crate) fn new(force: bool) -> Self {
        Self { force, ..Self::default() }
    }

    /// Records files that the command reads. Other names are ignored.
    pub(crate) fn reads(&mut self, sources: impl IntoIterator<Item = impl AsRef<Path>>) {
        // Standard input may be a file as well.
        let path = |source: &Path| if source == Path::new("-") { PathBuf::from("/dev/stdin") } else { source.to_owned() };
        self.read.extend(sources.into_iter().filter_map(|source| Identity::of(&path(source.as_ref()))));
    }

    /// Opens an output (`-` is standard output), checked before the work begins.
    ///
    /// # Errors
    ///
    /// If it cannot be written, if another output of the command goes to the same file, or if
    /// something of value would be overwritten.
    pub(crate) fn output(&mut self, path: &Path, content: Content) -> Result<Output, Failure> {
        let name = path.display().to_string();
        let place = place(path);
        if let Some((other, _)) = self.written.iter().find(|(_, known)| *known == place) {
            let what = format!("two outputs of this command go to this file ({other}); name two files");
            return Err(Failure::Usage(format!("{name}: {what}")));
        }
        if !self.force
            && name != "-"
            && let Some(what) = self.would_lose(path, content)
        {
            return Err(Failure::input(&name, format!("{what}; choose another name, or pass --force to replace it")));
        }
        let output = Output::open(path)?;
        self.written.push((name, place));
        Ok(output)
    }

    /// Returns the reason not to overwrite `path`, if there is one.
    fn would_lose(&self, path: &Path, content: Content) -> Option<&'static str> {
        if fs::symlink_metadata(path).is_ok() && fs::metadata(path).is_err() {
            return Some("this is a dangling symbolic link");
        }
        let identity = Identity::of(path)?;
        if self.read.contains(&identity) {
            return Some("this command reads the file that it would overwrite");
        }
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
        match content {
            // An empty file has nothing to lose.
            Content::Model if read.is_err() || !(head.is_empty() || is_native_model(&head)) => {
                Some("the file exists and is not a maxmargin model; a model would overwrite it")
            }
            Content::Text if looks_like_model(&head) => Some("the file is a model; text would overwrite it"),
            _ => None,
        }
    }
}

/// Returns one canonical path for all names of a file, whether it exists or not.
fn place(path: &Path) -> PathBuf {
    let absent = || {
        let folder = fs::canonicalize(folder_of(path)).ok()?;
        Some(folder.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(absent).unwrap_or_else(|| path.to_owned())
}
