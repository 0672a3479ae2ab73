//! Temporary files that are renamed to the result once they are complete.
//!
//! Each is locked by the process that writes it. The system releases the lock when the process
//! ends, however it ends. A temporary file that can be locked is therefore stale, and the next run
//! that writes to the folder removes it.

use crate::console::interrupt;
use crate::files::lock::{is_at, try_lock};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::MutexGuard;
use tempfile::{Builder, NamedTempFile};

/// Prefix and suffix of their names.
const NAME: (&str, &str) = (".maxmargin-", ".tmp");

/// Attempts to create a file: another process may take a new file for a stale one before it is
/// locked.
const ATTEMPTS: usize = 100;

/// A file that is being written. It is removed on drop. While one exists, Ctrl-C does not end the
/// program.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    // Dropped in this order.
    file: NamedTempFile,
    _unbroken: MutexGuard<'static, ()>,
}

impl AtomicFile {
    /// An empty file in the folder of `target`.
    pub(crate) fn new(target: &Path) -> io::Result<Self> {
        let unbroken = interrupt::unbroken();
        let folder = folder_of(target);
        sweep(folder);
        let mut builder = Builder::new();
        builder.prefix(NAME.0).suffix(NAME.1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The usual permissions of a new file, before the umask.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        for _ in 0..ATTEMPTS {
            let file = builder.tempfile_in(folder)?;
            // File systems without locks: no process removes anything.
            if try_lock(file.as_file()).is_none_or(|locked| locked && is_at(file.as_file(), file.path())) {
                return Ok(Self { file, _unbroken: unbroken });
            }
        }
        Err(io::Error::other("its temporary files are removed by another program"))
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Renames the file to `target` after its content is on disk.
    pub(crate) fn persist(self, target: &Path) -> io::Result<()> {
        self.file().sync_all()?;
        self.file.persist(target).map_err(|e| e.error)?;
        // The rename survives a power cut only once the directory is on disk, which not every
        // system supports.
        if let Ok(folder) = File::open(folder_of(target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Removes the temporary files that ended processes left in `folder`. Files that cannot be removed
/// stay.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().and_then(|name| name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)).is_some();
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::options().read(true).write(true).open(&path) else { continue };
        // A file with the same name may have replaced it: only the holder of the lock removes the
        // name.
        if try_lock(&file) == Some(true) && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Returns the folder of a file.
pub(crate) fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).expect("a folder").count()
    }

    #[test]
    fn what_the_dead_left_is_swept_and_what_the_living_write_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("m");
        for stale in [".maxmargin-a.tmp", ".maxmargin-b.tmp"] {
            fs::write(folder.path().join(stale), "half of a model").expect("room");
        }
        for other in [".maxmargin-a", "maxmargin-c.tmp", ".other.tmp"] {
            fs::write(folder.path().join(other), "of somebody else").expect("room");
        }
        let living = AtomicFile::new(&target).expect("room");
        assert_eq!(names(folder.path()), 4);
        sweep(folder.path());
        assert_eq!(names(folder.path()), 4);
        living.file().write_all(b"whole").expect("room");
        living.persist(&target).expect("room");
        assert_eq!(fs::read(&target).expect("a file"), b"whole");
        drop(AtomicFile::new(&target).expect("room"));
        assert_eq!(names(folder.path()), 4);
    }
}
